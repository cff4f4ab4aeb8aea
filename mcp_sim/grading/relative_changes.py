"""Changes of a field that depend on its value before: numbers that are added, values that are appended."""

from __future__ import annotations

from collections.abc import Iterable
from math import isclose
from typing import cast

from mcp_sim.types import Json, Record
from mcp_sim.types.call_matchers import times
from mcp_sim.types.conditions import equal
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import canonical
from mcp_sim.types.plans import How

_PRECISION = 1e-6
"""The difference that is left to the rounding of fractions."""
_LONGEST = 60
"""The most characters of a value in a sentence."""


@frozen
class RelativeChange:
    """What a call does to a field, where its value does not replace the field's."""

    field: str
    how: How
    value: Json

    def direction(self, before: Record, after: Record) -> int:
        """Return 1 if a write made the change, -1 if it took it back, else 0."""
        old, new = before.get(self.field), after.get(self.field)
        if self.how in ("add", "subtract"):
            return _direction_of_number(_number(old), _number(new), self._amount)
        gains = [_occurrences(new, value) - _occurrences(old, value) for value in _values(self.value)]
        gain = max(gains, key=abs, default=0) * (-1 if self.how == "remove" else 1)
        return (gain > 0) - (gain < 0)

    def needs_nothing(self, record: Record) -> bool:
        """Whether the change has no effect on a record: it adds 0, removes what is absent, or appends a name again."""
        if self.how in ("add", "subtract"):
            return self._amount == 0
        found = [_occurrences(record.get(self.field), value) for value in _values(self.value)]
        if self.how == "remove":
            return not any(found)
        is_list_of_names = isinstance(record.get(self.field), list) and all(
            isinstance(value, str) for value in _values(self.value)
        )
        return self.how == "append" and is_list_of_names and all(found)

    def problem(self, n: int, record: str) -> str | None:
        """Return what is wrong with the number of times that it took effect, as a sentence; None if it is 1."""
        if n == 1:
            return None
        subject, did = f"{self.field} of {record}", self._words
        return f"{subject} {did} {times(n)}, expected once" if n > 1 else f"{subject} never {did}"

    @property
    def _amount(self) -> float:
        return _number(self.value) * (-1 if self.how == "subtract" else 1)

    @property
    def _words(self) -> str:
        if self.how in ("add", "subtract"):
            return f"changed by {self._amount}"
        text = canonical(self.value)
        shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
        return f"got {shown} appended" if self.how == "append" else f"had {shown} removed"


@frozen
class Write:
    """A write of a record."""

    before: Record | None
    """The record before; None: as the world began."""
    after: Record
    is_own: bool
    """Whether the tool in question wrote it, or an event did, such as a change that a fault deferred."""


def times_made(change: RelativeChange, writes: Iterable[Write], first: Record) -> int:
    """Return how often writes made a change, less how often they took it back.

    What other tools made counts only if nothing else is left. `first` is the record as the world began.
    """
    n = others = 0
    for write in writes:
        direction = change.direction(first if write.before is None else write.before, write.after)
        if direction > 0 and not write.is_own:
            others += 1
        else:
            n += direction
    return n if n > 0 else n + others


def _number(value: Json) -> float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def _direction_of_number(old: float, new: float, amount: float) -> int:
    try:
        difference = new - old
        is_made, is_undone = (isclose(difference, one, abs_tol=_PRECISION) for one in (amount, -amount))
    except OverflowError:
        return 0
    return is_made - is_undone


def _values(value: Json) -> list[Json]:
    return cast("list[Json]", value) if isinstance(value, list) else [value]


def _occurrences(held: Json, value: Json) -> int:
    """Return how often a value occurs in a list, also as the id or name of an entry; or in a text."""
    if isinstance(held, str):
        text = str(value)
        return held.count(text) if text else 0
    return sum(_is_entry(one, value) for one in as_list(held))


def _is_entry(entry: Json, value: Json) -> bool:
    """Whether an entry of a list is a value. An entry may have more fields than were given, such as a price."""
    if not isinstance(entry, dict):
        return equal(entry, value)
    parts = as_object(entry)
    if isinstance(value, dict):
        return all(name in parts and equal(parts[name], part) for name, part in as_object(value).items())
    return any(equal(part, value) for part in parts.values())
