"""Patterns of callers: what they match, and the limits of their size and work."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.matched_tools import TEXT, refused, simulator, tool

from mcp_sim.plans.patterns import compile_expression, find_all, matches_wildcards
from mcp_sim.plans.refusal import Refused

SIGNS = st.text("ab-!*?[]^\\.", max_size=12)


@given(SIGNS, SIGNS)
def test_wildcards_mean_what_they_mean_in_names_of_files(text: str, wildcards: str) -> None:
    assert matches_wildcards(text, wildcards) == fnmatchcase(text, wildcards)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("a", "(" * 4_000 + "a" + ")*" * 4_000),
        ("a", "(" * 20_000 + "a" + ")*" * 20_000),
        ("a" * 1_000, "((a{0,30}){0,30}){0,1}" * 100),
        ("a" * 30_000, "(a)" * 1_000),
        ("a" * 1_000_000, "(a|b)*a" + "(a|b)" * 90 + "z"),
    ],
)
def test_expressions_that_are_too_large_are_refused(text: str, pattern: str) -> None:
    with pytest.raises(Refused, match=r"too large|is longer than"):
        next(find_all(compile_expression(pattern), text), None)
    assert [hit[0] for hit in find_all(compile_expression(r"\d"), "b 1")] == ["1"]


def test_matches_that_look_at_the_text_again_and_again_are_refused() -> None:
    compiled = compile_expression("a.*z|a")
    with pytest.raises(Refused, match="too large for a text of this length"):
        list(find_all(compiled, "a" * 300_000))
    assert len(list(find_all(compiled, "a" * 5_000))) == 5_000


@pytest.mark.parametrize("pattern", ["[" * 5_000, "*a" * 5_000])
async def test_wildcards_that_are_too_long_are_refused(tmp_path: Path, pattern: str) -> None:
    files = [tool("write_file", path=TEXT, content=TEXT), tool("read_file", path=TEXT)]
    files.append(tool("search_files", "Find files whose name matches a pattern", pattern=TEXT, path=TEXT))
    async with simulator(tmp_path, files, {"files": {"/a": "b"}}).open() as world:
        assert "longer than 1,000 characters" in await refused(world, "search_files", pattern=pattern, path="/")
