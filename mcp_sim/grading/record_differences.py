"""Differences between two versions of a record: values that were replaced, and parts that were put in or taken out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import isclose
from typing import cast

from mcp_sim.types import Json, Record
from mcp_sim.types.conditions import ABSENT, equal
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.json_values import Path, canonical, is_number

_PRECISION = 1e-6
"""The difference that is left to the rounding of fractions."""


@frozen
class Difference:
    """One difference. Of a list, it is one item that was put in or taken out."""

    path: Path
    old: Json = ABSENT
    """The value before; ABSENT if there was none, or for an item of a list."""
    new: Json = ABSENT
    inserted: Json = ABSENT
    """The item that was put into a list, or the characters that were put into a text."""
    dropped: Json = ABSENT
    """What was taken out."""

    @property
    def amount(self) -> float | None:
        """What was added to a number; None for other values."""
        if not is_number(self.old) or not is_number(self.new):
            return None
        try:
            return self.new - self.old
        except OverflowError:
            return None


def is_same_amount(amount: float | None, other: Json) -> bool:
    return amount is not None and is_number(other) and isclose(amount, other, abs_tol=_PRECISION)


def differences(old: Json, new: Json, path: Path = ()) -> Iterator[Difference]:
    """Yield the differences between two values, the deepest where both have the same structure."""
    if isinstance(old, dict) and isinstance(new, dict):
        before, after = cast("Record", old), cast("Record", new)
        for name in {**before, **after}:
            yield from differences(before.get(name, ABSENT), after.get(name, ABSENT), (*path, name))
    elif (old is ABSENT) is (new is ABSENT) and equal(old, new):
        return
    elif isinstance(old, list) and isinstance(new, list):
        yield from _of_lists(cast("list[Json]", old), cast("list[Json]", new), path)
    elif isinstance(old, str) and isinstance(new, str):
        yield _of_texts(old, new, path)
    else:
        yield Difference(path, old, new)


def _of_texts(old: str, new: str, path: Path) -> Difference:
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    return Difference(path, old, new, new[head : len(new) - tail], old[head : len(old) - tail])


def _common(text: str, other: str) -> int:
    """Return the length of the common beginning of two texts."""
    low, high = 0, min(len(text), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if text[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _of_lists(old: Sequence[Json], new: Sequence[Json], path: Path) -> Iterator[Difference]:
    if len(old) == len(new) and all(_are_alike(*pair) for pair in zip(old, new, strict=True)):
        for place, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from differences(before, after, (*path, place))
        return
    gone, came = Counter(map(canonical, old)), Counter(map(canonical, new))
    if gone == came:
        yield Difference(path, [*old], [*new])  # the order alone has changed
        return
    yield from (Difference(path, inserted=item) for item in _without(new, gone))
    yield from (Difference(path, dropped=item) for item in _without(old, came))


def _are_alike(item: Json, other: Json) -> bool:
    return (isinstance(item, dict) and isinstance(other, dict)) or (isinstance(item, list) and isinstance(other, list))


def _without(items: Sequence[Json], others: Counter[str]) -> Iterator[Json]:
    """Yield the items that are left if each of the others takes away an equal one."""
    left = Counter(others)
    for item in items:
        text = canonical(item)
        if left[text]:
            left[text] -= 1
        else:
            yield item


def value_at(value: Json, path: Path) -> Json:
    """Return the value at a path, or ABSENT."""
    for step in path:
        if isinstance(value, dict):
            value = cast("Record", value).get(str(step), ABSENT)
        else:
            items = as_list(value)
            value = items[step] if isinstance(step, int) and step < len(items) else ABSENT
    return value
