"""Edit the text of a program: take out the functions of some tools, and leave everything else as it is written."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from mcp_sim.types.programs import ProgramFunction


@dataclass(frozen=True, slots=True)
class _Cut:
    """Lines to take out, from 1, both inclusive."""

    first: int
    last: int


def without_tools(text: str, functions: Mapping[str, ProgramFunction], dropped: Collection[str]) -> str:
    """Return a program without the functions of some tools. `functions` are those that it has, by tool.

    A function that also answers another tool loses a decorator only. Comments right above a function go with it.
    """
    kept = {function.name for tool, function in functions.items() if tool not in dropped}
    names = {functions[tool].name for tool in dropped if tool in functions}
    lines = text.split("\n")
    cuts = [cut for node in ast.parse(text).body for cut in _cuts(node, names, kept, dropped, lines)]
    for cut in sorted(cuts, key=lambda cut: cut.first, reverse=True):
        del lines[cut.first - 1 : cut.last]
    return "\n".join(lines)


def functions_in(text: str) -> dict[str, ProgramFunction]:
    """Return the functions with `@tool` at the top of a file, by the tools that they answer."""
    return {
        _tool_of(decorator, node.name): ProgramFunction(node.name, node.lineno)
        for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator).rpartition(".")[2] == "tool"
    }


def enclosing_function(text: str, line: int) -> str | None:
    """Return the name of the function at the top of a file that a line belongs to; None if there is none."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and _first_line(node) <= line <= (node.end_lineno or node.lineno):
            return node.name
    return None


def _cuts(
    node: ast.stmt, names: Collection[str], kept: Collection[str], dropped: Collection[str], lines: list[str]
) -> Iterator[_Cut]:
    if not isinstance(node, ast.FunctionDef) or node.name not in names or not node.decorator_list:
        return
    if node.name not in kept:
        first, last = _first_line(node), node.end_lineno or node.lineno
        while first > 1 and lines[first - 2].startswith("#"):
            first -= 1
        while last < len(lines) and not lines[last].strip():
            last += 1
        yield _Cut(first, last)
        return
    for decorator in node.decorator_list:
        if _tool_of(decorator, node.name) in dropped:
            yield _Cut(decorator.lineno, decorator.end_lineno or decorator.lineno)


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _tool_of(decorator: ast.expr, function: str) -> str:
    """Return the tool that a decorator names; the name of the function if it names none."""
    if isinstance(decorator, ast.Call) and decorator.args and isinstance(decorator.args[0], ast.Constant):
        return str(decorator.args[0].value)
    return function
