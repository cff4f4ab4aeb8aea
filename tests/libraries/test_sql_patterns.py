"""Patterns of callers: what they match, and the limits of their size and work."""

from __future__ import annotations

import pytest

from mcp_sim.libraries.sql import SqlError
from mcp_sim.libraries.sql.patterns import compile_pattern


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
    with pytest.raises(SqlError, match=r"too large|is longer than|Invalid regular expression"):
        compile_pattern(pattern).is_in(text)
    assert compile_pattern(r"\d").is_in("b 1")
    assert not compile_pattern(r"\d").is_in("b")
