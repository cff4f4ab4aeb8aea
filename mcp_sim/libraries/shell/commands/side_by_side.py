"""The two columns of `diff -y`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from mcp_sim.libraries.line_changes import Step

WIDTH = 130
"""The usual width of GNU diff, in characters."""
_GUTTER = 3
_TAB = 8


def side_by_side(
    old: Sequence[str], new: Sequence[str], steps: Sequence[Step], width: int, *, shows_common: bool
) -> Iterator[str]:
    """Yield the lines of both files beside each other, with `|`, `<` or `>` between those that differ."""
    offset = (width + _TAB + _GUTTER) // (2 * _TAB) * _TAB
    half = max(0, min(offset - _GUTTER, width - offset))
    right = offset if half else width
    for kind, start, end, first, last in steps:
        if kind == "equal" and not shows_common:
            continue
        for left_line, right_line in zip_longest(old[start:end], new[first:last]):
            sign = " " if kind == "equal" else "<" if right_line is None else ">" if left_line is None else "|"
            yield _row(left_line, sign, right_line, half, right)


def _row(left: str | None, sign: str, right: str | None, half: int, offset: int) -> str:
    text, column = _cut(left, 0, half)
    if sign != " ":
        middle = (half + offset - 1) // 2
        text, column = f"{text}{_filling(column, middle)}{sign}", middle + 1
    if right is not None and right != "\n":
        text += _filling(column, offset) + _cut(right, offset, half)[0]
    return f"{text}\n"


def _cut(line: str | None, start: int, half: int) -> tuple[str, int]:
    """Return what of a line fits into a column that begins at `start`, and where it ends."""
    text, column = "", 0
    for character in (line or "").rstrip("\n"):
        wide = _TAB - column % _TAB if character == "\t" else 1
        if column + wide > half - (character == "\t"):  # a tab does not end where the column does
            break
        text += _filling(start + column, start + column + wide) if character == "\t" else character
        column += wide
    return text, start + column


def _filling(start: int, end: int) -> str:
    """Return tabs and spaces from one place to another."""
    tabs = max(0, end // _TAB - start // _TAB)
    return "\t" * tabs + " " * (end - (end // _TAB * _TAB if tabs else start))
