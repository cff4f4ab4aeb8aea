"""The changes between two lists of lines, as GNU diff finds them: the fewest, by Myers' algorithm.

difflib prefers long equal blocks, and so shows other changes than diff and git do.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TypeAlias

Step: TypeAlias = tuple[str, int, int, int, int]
"""A kind (equal, replace, delete, insert), and its lines in both lists, as difflib has them."""

MOST_COMPARED = 100_000_000  # 10,000 lines in another order take a second
"""The product of the numbers of lines between the first and the last that differ: more are replaced as a whole."""

_MOST_ROUNDS = 256
"""How many differences are looked for at once: the time grows with their square. GNU diff gives up later."""


def steps(old: Sequence[str], new: Sequence[str], context: int = 0) -> list[Step]:
    """Return the steps that turn one list of lines into the other, equal lines included.

    `context`: how many lines around changes will be shown. As in GNU diff, changes move over at most as many of the
    lines that both lists begin or end with.
    """
    start, end, last = _different(old, new)
    is_whole = (end - start) * (last - start) > MOST_COMPARED
    context = 0 if is_whole else context
    shared = min(context, len(old) - end)
    start, end, last = max(0, start - context), end + shared, last + shared
    every = list[Step]([("equal", 0, start, 0, start)])
    inner = _replaced(end - start, last - start) if is_whole else _inner_steps(old[start:end], new[start:last])
    for kind, *places in inner:
        first_old, end_old, first_new, end_new = (place + start for place in places)
        every.append((kind, first_old, end_old, first_new, end_new))
    return _joined([*every, ("equal", end, len(old), last, len(new))])


def _different(old: Sequence[str], new: Sequence[str]) -> tuple[int, int, int]:
    """Return the first line that differs, and the ends of both lists before what they share at the end."""
    start, end, last = 0, len(old), len(new)
    while start < min(end, last) and old[start] == new[start]:
        start += 1
    while min(end, last) > start and old[end - 1] == new[last - 1]:
        end, last = end - 1, last - 1
    return start, end, last


def _replaced(old_count: int, new_count: int) -> Iterator[Step]:
    yield "replace", 0, old_count, 0, new_count


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
    changed = _Changes(old, new)
    changed.compare()
    flags = [_Flags(flags) for flags in changed.flags]
    flags[0].shift(old, flags[1])
    flags[1].shift(new, flags[0])
    return _steps(flags[0], flags[1], len(old), len(new))


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
    for group in grouped(steps(old, new, context), context):
        (_, start, _, first, _), (_, _, end, _, last) = group[0], group[-1]
        yield f"@@ -{_span(start, end)} +{_span(first, last)} @@"
        for kind, start, end, first, last in group:
            yield from (f"{' ' if kind == 'equal' else '-'}{line}" for line in old[start:end])
            yield from (f"+{line}" for line in new[first:last] if kind != "equal")


def _span(start: int, end: int) -> str:
    count = end - start
    return str(end) if count == 1 else f"{start + bool(count)},{count}"


class _Changes:
    """Marks the lines that one list has and the other has not. Lines without an equal one are not compared."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        self.flags = [[True] * len(old), [True] * len(new)]
        both = {*old} & {*new}
        self._places = [[at for at, line in enumerate(lines) if line in both] for lines in (old, new)]
        self._old, self._new = ([line for line in lines if line in both] for lines in (old, new))

    def compare(self) -> None:
        """Unmark the lines of the longest common part."""
        ranges = [(0, len(self._old), 0, len(self._new))]
        while ranges:
            start, end, first, last = ranges.pop()
            while start < end and first < last and self._old[start] == self._new[first]:
                self._keep(start, first)
                start, first = start + 1, first + 1
            while start < end and first < last and self._old[end - 1] == self._new[last - 1]:
                end, last = end - 1, last - 1
                self._keep(end, last)
            if start < end and first < last:
                middle, line = self._middle(start, end, first, last)
                ranges += [(start, middle, first, line), (middle, end, line, last)]

    def _keep(self, start: int, first: int) -> None:
        self.flags[0][self._places[0][start]] = self.flags[1][self._places[1][first]] = False

    def _middle(self, start: int, end: int, first: int, last: int) -> tuple[int, int]:
        """Return where searches from the beginning and from the end of a range meet, by the diagonals of Myers."""
        lowest, highest = start - last, end - first
        front, back = defaultdict[int, int](lambda: -1), defaultdict[int, int](lambda: end + last + 1)
        begin, finish = start - first, end - last
        front[begin], back[finish] = start, end
        is_odd = bool((begin - finish) % 2)
        near, far = (begin, begin), (finish, finish)
        for _ in range(_MOST_ROUNDS):
            near = _widened(near, lowest, highest)
            for diagonal in range(near[1], near[0] - 1, -2):
                below, above = front[diagonal - 1], front[diagonal + 1]
                at = above if below < above else below + 1
                while at < end and at - diagonal < last and self._old[at] == self._new[at - diagonal]:
                    at += 1
                front[diagonal] = at
                if is_odd and far[0] <= diagonal <= far[1] and back[diagonal] <= at:
                    return at, at - diagonal
            far = _widened(far, lowest, highest)
            for diagonal in range(far[1], far[0] - 1, -2):
                below, above = back[diagonal - 1], back[diagonal + 1]
                at = below if below < above else above - 1
                while at > start and at - diagonal > first and self._old[at - 1] == self._new[at - diagonal - 1]:
                    at -= 1
                back[diagonal] = at
                if not is_odd and near[0] <= diagonal <= near[1] and at <= front[diagonal]:
                    return at, at - diagonal
        return max(
            (
                (place := min(front[diagonal], end, last + diagonal), place - diagonal)
                for diagonal in range(near[0], near[1] + 1, 2)
            ),
            key=sum,
        )


def _widened(diagonals: tuple[int, int], lowest: int, highest: int) -> tuple[int, int]:
    """Return the diagonals of the next round: one more on each side, or one less at the edge."""
    low, high = diagonals
    return low - 1 if low > lowest else low + 1, high + 1 if high < highest else high - 1


class _Flags:
    """Which lines of a list are changed. There is an unchanged one before the first, and one after the last."""

    def __init__(self, flags: Sequence[bool]) -> None:
        self._flags = [*flags, False, False]
        self._count = len(flags)

    def __getitem__(self, at: int) -> bool:
        return self._flags[at]  # -1 is the last, which is unchanged

    def shift(self, lines: Sequence[str], other: _Flags) -> None:
        """Move each run of changes as far down as equal lines let it, or to where the other list has one."""
        at = there = 0
        while True:
            while at < self._count and not self[at]:
                there = other.after_run(there) + 1
                at += 1
            if at == self._count:
                return
            start, at, there = at, self.after_run(at), other.after_run(there)
            at, there = self._shift_run(lines, other, start, at, there)

    def after_run(self, at: int) -> int:
        """Return the first unchanged line from one on."""
        while self[at]:
            at += 1
        return at

    def before(self, at: int) -> int:
        """Return the last unchanged line before one."""
        at -= 1
        while self[at]:
            at -= 1
        return at

    def _before_run(self, at: int) -> int:
        while self[at - 1]:
            at -= 1
        return at

    def _shift_run(self, lines: Sequence[str], other: _Flags, start: int, at: int, there: int) -> tuple[int, int]:
        """Move a run of changes. Return where it ends, here and in the other list."""
        length = -1
        corresponding = self._count
        while length != at - start:
            length = at - start
            while start and lines[start - 1] == lines[at - 1]:
                start, at = start - 1, at - 1
                self._flags[start], self._flags[at] = True, False
                start = self._before_run(start)
                there = other.before(there)
            corresponding = at if other[there - 1] else self._count
            while at < self._count and lines[start] == lines[at]:
                self._flags[start], self._flags[at] = False, True
                start, at = start + 1, self.after_run(at + 1)
                there += 1
                if other[there]:
                    there, corresponding = other.after_run(there), at
        while corresponding < at:
            start, at = start - 1, at - 1
            self._flags[start], self._flags[at] = True, False
            there = other.before(there)
        return at, there


def _steps(old: _Flags, new: _Flags, old_count: int, new_count: int) -> Iterator[Step]:
    start = first = 0
    while start < old_count or first < new_count:
        end, last = old.after_run(start), new.after_run(first)
        if end > start or last > first:
            kind = "replace" if end > start and last > first else "delete" if end > start else "insert"
            yield kind, start, end, first, last
        start, first = end, last
        while start < old_count and not old[start] and not new[first]:
            start, first = start + 1, first + 1
        if start > end:
            yield "equal", end, start, last, first
