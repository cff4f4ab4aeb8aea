"""Patterns of callers: what they match, and the limits of their size and work."""

from __future__ import annotations

import pytest

from mcp_sim.libraries.patterns import PatternError, search_test


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
