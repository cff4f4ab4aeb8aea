"""Induce a text with slots, and with a part that is repeated for each row, from recorded texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeAlias

from mcp_sim.plans.rendering.templates import Scope
from mcp_sim.recordings.learning.merging import merged
from mcp_sim.recordings.learning.skeletons import skeletons
from mcp_sim.types import Json, Record
from mcp_sim.types.frozen import frozen

_NUMBER = re.compile(r"[^\w\n]{0,4}(\d{1,4})[.):]\s")
"""The number of a row at its beginning."""

ShownText: TypeAlias = "tuple[str, Scope]"


@frozen
class _Listed:
    """A text that lists rows: what is before them, each row with its scope, and what is after them."""

    head: str
    rows: Sequence[ShownText]
    tail: str
    between: str


def induce_text(shown: Sequence[ShownText]) -> Json:
    """Return the `text` of a template for recorded texts."""
    split = [(_split(text, scope), scope) for text, scope in shown]
    listed = [(listing, scope) for listing, scope in split if listing is not None]
    several = [listing is not None for listing, scope in split if len(scope.rows) > 1]
    if listed and (sum(several) * 2 > len(several) or not several):
        return _with_rows(listed)
    return merged(skeletons(shown))


def head_of(text: str, scope: Scope) -> str:
    """Return what is before the rows in a text that lists them, else the text."""
    listed = _split(text, scope)
    return text if listed is None else listed.head


def _with_rows(listed: Sequence[tuple[_Listed, Scope]]) -> Json:
    row = _merged_rows([row for listing, _ in listed for row in listing.rows])
    head = _around([(listing.head, scope) for listing, scope in listed])
    tail = _around([(listing.tail, scope) for listing, scope in listed])
    joints = [listing.between for listing, _ in listed if len(listing.rows) > 1]
    between = max(set(joints), key=joints.count) if joints else "\n"
    line: Record = {"rows": row, **({} if between == "\n" else {"between": between})}
    return [*head, line, *tail]


def _merged_rows(shown: Sequence[ShownText]) -> str:
    """Return the text of one row. The numbers with which all rows begin are the numbers of the rows."""
    begun = [_NUMBER.match(text) for text, _ in shown]
    if any(
        number is None or int(number[1]) != scope.get("number") for number, (_, scope) in zip(begun, shown, strict=True)
    ):
        return merged(skeletons(shown))
    rest = [(text[number.end(1) :], scope) for number, (text, scope) in zip(begun, shown, strict=True) if number]
    before = shown[0][0][: begun[0].start(1)] if begun[0] is not None else ""
    return f"{before}{{number}}{merged(skeletons(rest))}"


def _around(shown: Sequence[ShownText]) -> list[str]:
    """Return the text before or after rows, as a list without or with it."""
    texts = [(text, scope) for text, scope in shown if text]
    if len(texts) * 2 <= len(shown):
        return []
    return [merged(skeletons([(text, _bare(scope)) for text, scope in texts]))]


def _bare(scope: Scope) -> Scope:
    return Scope(scope.arguments, scope.now, scope.start, scope.record, (), scope.facts)


def _split(text: str, scope: Scope) -> _Listed | None:
    """Split a text into the rows that a call found; None if it does not show them on lines of their own."""
    lines = text.split("\n")
    if not scope.rows:
        return None
    places = dict[int, Record]()
    for row in scope.rows:
        at = _line_of(lines, row, places)
        if at is not None:
            places[at] = row
    if len(places) * 2 < len(scope.rows) or (len(places) == 1 and len(lines) == 1 and len(scope.rows) > 1):
        return None
    starts = _aligned(lines, sorted(places))
    size = min((b - a for (a, _), (b, _) in pairwise(starts)), default=0)
    first, (last, _) = starts[0][0], starts[-1]
    end = min(len(lines), last + size) if len(starts) > 1 else _end_of_only(lines, last)
    bounds = [*(at for at, _ in starts), end]
    blocks = ["\n".join(lines[a:b]) for a, b in pairwise(bounds)]
    joints = [re.search(r"\n*$", block) for block in blocks]
    between = "\n" + (joints[0][0] if joints[0] is not None and len(blocks) > 1 else "")
    numbered = enumerate(zip(blocks, starts, strict=True), 1)
    rows = [(block.rstrip("\n"), scope.of_row(at, places[line])) for at, (block, (_, line)) in numbered]
    return _Listed("\n".join(lines[:first]), rows, "\n".join(lines[end:]), between)


def _line_of(lines: Sequence[str], row: Record, taken: Record | dict[int, Record]) -> int | None:
    """Return the line that shows most values of a row."""
    values = [str(value) for value in row.values() if isinstance(value, str | int) and not isinstance(value, bool)]
    distinctive = [value for value in values if len(value) > 1]
    scores = {
        at: sum(len(value) for value in distinctive if value in line)
        for at, line in enumerate(lines)
        if at not in taken
    }
    best = max(scores, key=lambda at: (scores[at], -at), default=None)
    return best if best is not None and scores[best] >= 2 else None


def _aligned(lines: Sequence[str], places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first line of each row with the line where it was found: rows begin at the same distance before it."""
    if len(places) < 2:
        return [(at, at) for at in places]
    size = min(b - a for a, b in pairwise(places))
    back = 0
    while back + 1 < size and places[0] - back - 1 >= 0 and _alike(lines, [at - back - 1 for at in places]):
        back += 1
    return [(at - back, at) for at in places]


def _alike(lines: Sequence[str], at: Sequence[int]) -> bool:
    """Whether lines begin alike and none is blank."""
    starts = {re.match(r"\W*\w*", lines[place]) for place in at}
    texts = {start[0] for start in starts if start is not None}
    return len(texts) == 1 and texts != {""} and all(lines[place].strip() for place in at)


def _end_of_only(lines: Sequence[str], first: int) -> int:
    """Return the end of the only row: the lines below it that are indented deeper."""
    indent = len(lines[first]) - len(lines[first].lstrip())
    end = first + 1
    while end < len(lines) and lines[end].strip() and len(lines[end]) - len(lines[end].lstrip()) > indent:
        end += 1
    return end
