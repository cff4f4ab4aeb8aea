"""Patterns of callers: what they match, and the limits of their size and work."""

from __future__ import annotations

import ast
import re

import pytest

from mcp_sim.libraries.patterns import PatternError, search_test
from mcp_sim.spec.sources import shipped


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("a", "(" * 4_000 + "a" + ")*" * 4_000),
        ("a", "(" * 20_000 + "a" + ")*" * 20_000),
        ("a" * 1_000, "((a{0,30}){0,30}){0,1}" * 100),
        ("a", "(?=a)"),
    ],
)
def test_expressions_that_are_too_large_or_not_known_are_refused(text: str, pattern: str) -> None:
    with pytest.raises(PatternError, match=r"too large|is longer than|Invalid regular expression"):
        search_test(pattern)(text)
    assert search_test(r"\d")("b 1")
    assert not search_test(r"\d")("b")


def is_ours(pattern: ast.expr, tree: ast.Module) -> bool:
    """Whether an expression in Python is a constant, one of a table of constants, or escapes everything else."""
    match pattern:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            loops = (loop for loop in ast.walk(tree) if isinstance(loop, ast.For) and name in ast.unparse(loop.target))
            return name.isupper() or any(ast.unparse(loop.iter).isupper() for loop in loops)
        case ast.Call(func=ast.Attribute(attr="escape")):
            return True
        case ast.BinOp(left=left, right=right):
            return is_ours(left, tree) and is_ours(right, tree)
        case ast.JoinedStr(values=values):
            return all(is_ours(part.value if isinstance(part, ast.FormattedValue) else part, tree) for part in values)
        case _:
            return False


def test_no_shipped_program_runs_an_expression_of_a_caller_in_python() -> None:
    """Python's expressions take exponential time, and hold all worlds meanwhile: `search_test` is for those."""
    folders = {path.parent for path in shipped("tool_specs").values()}
    sources = [path for folder in folders for path in folder.glob("*.py")]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sources}
    used = [
        (path, call)
        for path, tree in trees.items()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and re.fullmatch(r"re\.(?!escape)\w+", ast.unparse(call.func))
    ]
    assert len(used) > 100
    assert not [f"{path.name}:{call.lineno}" for path, call in used if not is_ours(call.args[0], trees[path])]
