"""The changes between two lists of lines, as GNU diff finds them: the fewest, by Myers' algorithm.

difflib prefers long equal blocks, and so shows other changes than diff and git do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

Step: TypeAlias = tuple[str, int, int, int, int]
"""A kind (equal, replace, delete, insert), and its lines in both lists, as difflib has them."""

MOST_COMPARED = 100_000_000  # 10,000 lines in another order take a second
"""The product of the numbers of lines between the first and the last that differ: more are replaced as a whole."""

_MOST_EDITS = 256
"""How many edits are searched from each corner: the time grows with their square. GNU diff gives up later."""

_NOWHERE = -(10**9)
"""A diagonal without a point that is reached: one more edit leaves it below zero."""


def steps(old: Sequence[str], new: Sequence[str], context: int = 0) -> list[Step]:
    """Return the steps that turn one list of lines into the other, equal lines included.

    `context`: how many lines around changes will be shown. As in GNU diff, changes move over at most as many of the
    lines that both lists begin or end with.
    """
    start, end, last = 0, len(old), len(new)
    while start < min(end, last) and old[start] == new[start]:
        start += 1
    while min(end, last) > start and old[end - 1] == new[last - 1]:
        end, last = end - 1, last - 1
    is_whole = (end - start) * (last - start) > MOST_COMPARED
    context = 0 if is_whole else context
    shared = min(context, len(old) - end)
    start, end, last = max(0, start - context), end + shared, last + shared
    every = list[Step]([("equal", 0, start, 0, start)])
    whole: Step = ("replace", 0, end - start, 0, last - start)
    inner = (whole,) if is_whole else _inner_steps(old[start:end], new[start:last])
    for kind, *places in inner:
        first_old, end_old, first_new, end_new = (place + start for place in places)
        every.append((kind, first_old, end_old, first_new, end_new))
    return _joined([*every, ("equal", end, len(old), last, len(new))])


def _joined(every: Sequence[Step]) -> list[Step]:
    """Return steps in which equal lines that follow each other are one step."""
    joined = list[Step]()
    for step in every:
        kind, start, end, first, last = step
        if joined and kind == joined[-1][0] == "equal":
            _, start, _, first, _ = joined.pop()
        if end > start or last > first:
            joined.append((kind, start, end, first, last))
    return joined


def _inner_steps(old: Sequence[str], new: Sequence[str]) -> Iterator[Step]:
    # A longest common subsequence. A line that occurs in one list only is left out of the search.
    common = {line: number for number, line in enumerate({*old} & {*new})}
    old_places = [place for place, line in enumerate(old) if line in common]
    new_places = [place for place, line in enumerate(new) if line in common]
    pairs = _matches([common[old[place]] for place in old_places], [common[new[place]] for place in new_places])
    kept = [(old_places[x], new_places[y]) for x, y in pairs]
    deleted = _runs([place for place, _ in kept], len(old))
    inserted = _runs([place for _, place in kept], len(new))
    deleted = _moved(deleted, old, len(kept), inserted)
    inserted = _moved(inserted, new, len(kept), deleted)
    return _steps(deleted, inserted, len(kept))


def grouped(every: Sequence[Step], context: int) -> Iterator[list[Step]]:
    """Yield the steps of each hunk, with this many equal lines around the changes."""
    group = list[Step]()
    for at, (kind, *span) in enumerate(every):
        start, end, first, last = span
        if kind != "equal":
            group.append((kind, start, end, first, last))
            continue
        count, is_last = end - start, at == len(every) - 1
        after = min(context, count) if group else 0
        if group and not is_last and count <= 2 * context:
            group.append((kind, start, end, first, last))
            continue
        if group:
            yield [*group, *([(kind, start, start + after, first, first + after)] if after else [])]
            group = []
        before = 0 if is_last else min(context, count)
        if before:
            group = [(kind, end - before, end, last - before, last)]
    if any(kind != "equal" for kind, *_ in group):
        yield group


def unified(old: Sequence[str], new: Sequence[str], context: int = 3) -> Iterator[str]:
    """Yield the hunks of a unified difference, a line each; the heads of hunks end with no newline."""
    yield from hunks(old, new, steps(old, new, context), context)


def hunks(old: Sequence[str], new: Sequence[str], every: Sequence[Step], context: int) -> Iterator[str]:
    """Yield the hunks of these steps, as `unified` does."""
    for group in grouped(every, context):
        (_, start, _, first, _), (_, _, end, _, last) = group[0], group[-1]
        yield f"@@ -{_span(start, end)} +{_span(first, last)} @@"
        for kind, start, end, first, last in group:
            yield from (f"{' ' if kind == 'equal' else '-'}{line}" for line in old[start:end])
            yield from (f"+{line}" for line in new[first:last] if kind != "equal")


def _span(start: int, end: int) -> str:
    count = end - start
    return str(end) if count == 1 else f"{start + bool(count)},{count}"


# kept lines -----------------------------------------------------------------------------------------------------------


def _matches(old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
    """Divide the lists where a shortest edit script has its middle, until what is left begins or ends alike."""
    pairs = list[tuple[int, int]]()
    boxes = [(0, len(old), 0, len(new))]
    while boxes:
        left, right, top, bottom = boxes.pop()
        while left < right and top < bottom and old[left] == new[top]:
            pairs.append((left, top))
            left, top = left + 1, top + 1
        while left < right and top < bottom and old[right - 1] == new[bottom - 1]:
            right, bottom = right - 1, bottom - 1
            pairs.append((right, bottom))
        if left < right and top < bottom:
            x, y = _middle(old[left:right], new[top:bottom])
            boxes += [(left, left + x, top, top + y), (left + x, right, top + y, bottom)]
    return sorted(pairs)


def _middle(old: Sequence[int], new: Sequence[int]) -> tuple[int, int]:
    """Return a point in the middle of a shortest edit script: so many lines of each list are before it.

    Two searches start at the ends of the lists and take one edit more in turn, until they meet: on several diagonals,
    GNU diff takes the one with most deletions before. If they need too many edits, the point that is furthest from its
    end is taken. See Myers, An O(ND) Difference Algorithm and Its Variations, 1986, section 4b.
    """
    width, height = len(old), len(new)
    forward, backward = _Search(old, new), _Search(old[::-1], new[::-1])
    for _ in range(_MOST_EDITS):
        forward.extend()
        if indices := _meetings(forward, backward):
            return forward.point(indices[-1])
        backward.extend()
        if indices := _meetings(backward, forward):
            x, y = backward.point(indices[0])
            return width - x, height - y
    ahead, back = forward.furthest(), backward.furthest()
    return ahead if sum(ahead) >= sum(back) else (width - back[0], height - back[1])


class _Search:
    """How far a number of edits leads from the beginning of two lists."""

    def __init__(self, old: Sequence[int], new: Sequence[int]) -> None:
        self.width, self.height = len(old), len(new)
        self._old, self._new = [*old, -1], [*new, -2]  # the ends differ, so that no run of equal lines passes them
        self.reached = [0]
        """The number of old lines passed on each diagonal, from the one with most insertions to that with most
        deletions. The beginnings differ, so that no edits lead nowhere."""

    def extend(self) -> None:
        """Take one edit more on each diagonal, and then all lines that are equal."""
        old, new, width, height = self._old, self._new, self.width, self.height
        diagonal = -len(self.reached)
        extended = list[int]()
        for before, after in zip([_NOWHERE, *self.reached], [*self.reached, _NOWHERE], strict=True):
            x = before + 1 if before < width else _NOWHERE
            if x < after <= height + diagonal:
                x = after
            if x >= 0:
                while old[x] == new[x - diagonal]:
                    x += 1
            extended.append(x)
            diagonal += 2
        self.reached = extended

    def point(self, index: int) -> tuple[int, int]:
        x = self.reached[index]
        return x, x + len(self.reached) - 1 - 2 * index

    def furthest(self) -> tuple[int, int]:
        return max((self.point(index) for index, x in enumerate(self.reached) if x >= 0), key=sum)


def _meetings(search: _Search, opposite: _Search) -> list[int]:
    """Return the indices of the diagonals on which a search has come to where the opposite one is, or passed it."""
    edits, other_edits = len(search.reached) - 1, len(opposite.reached) - 1
    both, is_between = divmod(search.width - search.height + edits + other_edits, 2)
    if is_between:
        return []
    return [
        index
        for index in range(max(0, both - other_edits), min(edits, both) + 1)
        if search.reached[index] + opposite.reached[both - index] >= search.width
    ]


# runs of changed lines ------------------------------------------------------------------------------------------------

_Runs: TypeAlias = dict[int, int]
"""The number of changed lines of one list by the number of kept lines before them.

Runs of both lists with the same key are beside each other.
"""


def _runs(kept: Sequence[int], count: int) -> _Runs:
    """Return what is between the kept lines of a list with this many lines."""
    ends = zip([-1, *kept], [*kept, count], strict=True)
    return {before: end - start - 1 for before, (start, end) in enumerate(ends) if end - start > 1}


def _moved(runs: _Runs, lines: Sequence[str], kept_count: int, others: _Runs) -> _Runs:
    """Move each run as far down as equal lines allow, or to the last place beside a run of the other list.

    Runs that meet on the way, up or down, become one, which may move further.
    """
    waiting = [*reversed(runs.items())]
    moved = list[tuple[int, int]]()
    changed = 0
    while waiting:
        before, count = waiting.pop()
        limit = moved[-1][0] if moved else 0
        highest = before
        while highest > limit and lines[changed + highest - 1] == lines[changed + highest + count - 1]:
            highest -= 1
        if moved and highest == limit:
            _, count_above = moved.pop()
            changed -= count_above
            waiting.append((limit, count_above + count))
            continue
        limit = waiting[-1][0] if waiting else kept_count
        while before < limit and lines[changed + before] == lines[changed + before + count]:
            before += 1
        if waiting and before == limit:
            _, count_below = waiting.pop()
            waiting.append((limit, count + count_below))
            continue
        moved.append((next((place for place in range(before, highest - 1, -1) if place in others), before), count))
        changed += count
    return dict(moved)


def _steps(deleted: _Runs, inserted: _Runs, kept_count: int) -> Iterator[Step]:
    old = new = kept = 0
    for before in sorted({*deleted, *inserted, kept_count}):
        equal = before - kept
        yield "equal", old, old + equal, new, new + equal
        old, new, kept = old + equal, new + equal, before
        old_count, new_count = deleted.get(before, 0), inserted.get(before, 0)
        kind = "replace" if old_count and new_count else "delete" if old_count else "insert"
        yield kind, old, old + old_count, new, new + new_count
        old, new = old + old_count, new + new_count
