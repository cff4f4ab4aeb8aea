"""Changes between lists of lines, beside what GNU diff prints for them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_sim.libraries.line_changes import Step, grouped, steps, unified

GNU = (
    ("ccbdacdc", "bccdbaacdc", "0a1 3d3 4a5,6"),
    ("adddddaab", "adddaab", "5,6d4"),
    ("cbbbaccb", "cbbaccba", "4d3 8a8"),
    ("cdbccaa", "dbcaa", "1d0 4d2"),
    ("caddadbcc", "acadadbcbcb", "0a1 4d4 8a9 9a11"),
    ("cbdcbab", "cbcbbb", "3d2 6c5"),
    ("bcaddd", "bcbdaadddd", "2a3,4 3a6,7"),
    ("dabdbcccb", "daabdbcb", "2a3 6,7d6"),
    ("bab", "aaba", "1c1 3a4"),
    ("ab", "ba", "1d0 2a2"),
    ("bc", "abb", "0a1,2 2d3"),
    ("ab", "bba", "1d0 2a2,3"),
    ("baa", "ab", "1,2d0 3a2"),
)
"""Old and new lines of one letter each, and the changes by `diff`. difflib finds other ones for each of them."""
LINES = st.lists(st.sampled_from("abcd"), max_size=20)


def commands(every: list[Step]) -> str:
    """Return changes in the notation of diff."""
    letters = {"insert": "a", "delete": "d", "replace": "c"}
    return " ".join(
        f"{_span(start, end)}{letters[kind]}{_span(first, last)}"
        for kind, start, end, first, last in every
        if kind != "equal"
    )


def _span(start: int, end: int) -> str:
    return str(end) if end - start <= 1 else f"{start + 1},{end}"


@pytest.mark.parametrize(("old", "new", "expected"), GNU)
def test_changes_are_those_of_gnu_diff(old: str, new: str, expected: str) -> None:
    assert commands(steps(old, new)) == expected


@given(LINES, LINES, st.integers(0, 3))
def test_steps_lead_from_one_list_to_the_other(old: list[str], new: list[str], context: int) -> None:
    every = steps(old, new, context)
    assert [line for _, start, end, _, _ in every for line in old[start:end]] == old
    assert [line for _, _, _, first, last in every for line in new[first:last]] == new
    assert all(old[start:end] == new[first:last] for kind, start, end, first, last in every if kind == "equal")
    hunks = [step for group in grouped(every, context) for step in group]
    assert [step for step in hunks if step[0] != "equal"] == [step for step in every if step[0] != "equal"]


def test_lists_with_hardly_a_line_in_its_place_are_compared_too() -> None:
    old = [str(number) for number in range(3000)]
    every = steps(old, old[::-1])
    assert [line for _, _, _, first, last in every for line in old[::-1][first:last]] == old[::-1]
    assert sum(end - start for kind, start, end, _, _ in every if kind == "equal") >= 1


MANY = [f"line {n % 100}" for n in range(100_000)]


def test_a_unified_difference_has_hunks_with_context() -> None:
    assert [*unified("abcde", "abxde", 1)] == ["@@ -2,3 +2,3 @@", " b", "-c", "+x", " d"]
    assert [*unified("", "a", 3)] == ["@@ -0,0 +1 @@", "+a"]
    assert [*unified("a", "a", 3)] == []


@pytest.mark.time_limit(60)
def test_a_change_of_one_line_of_many_is_shown_as_such() -> None:
    new = [*MANY[:60_000], "other", *MANY[60_001:]]
    assert [*unified(MANY, new, 1)] == ["@@ -60000,3 +60000,3 @@", " line 99", "-line 0", "+other", " line 1"]
    assert steps(MANY, MANY[::-1], 3) == [("replace", 0, len(MANY), 0, len(MANY))]
