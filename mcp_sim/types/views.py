"""Changes of a world's state, and read-only views of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from operator import ge, gt, le, lt
from typing import Any, Literal, Protocol

from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import Json, Key, Record, to_integer

COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}
_MOST_DIGITS = 400  # int() refuses texts of more than 4,300 digits, and takes quadratic time for shorter ones


@frozen
class Change:
    """One write to the state."""

    op: Literal["put", "remove", "reserve"]
    """`reserve` writes no record: the key counts as used from now on, so that no other record gets it."""
    entity: str
    key: Key
    record: Record | None = None
    """The whole new record of a `put`."""
    part: int | None = None
    """The index of the item of a batch that the change belongs to."""
    expected: int | None = None
    """The version of the record that the change was computed from; None: any."""

    def to_json(self) -> Record:
        """Return the form that a ledger keeps."""
        body: Record = {"op": self.op, "entity": self.entity, "key": self.key}
        if self.record is not None:
            body["record"] = self.record
        if self.part is not None:
            body["part"] = self.part
        return body

    @classmethod
    def from_json(cls, body: Record) -> Change:
        """Return the change that `to_json` wrote."""
        return cls(body["op"], body["entity"], body["key"], body.get("record"), body.get("part"))


@frozen
class Due:
    """Changes by someone other than the agent: an entry of the agenda, or an event."""

    at: datetime
    """The world time of the changes."""
    actor: str
    changes: tuple[Change, ...]
    call: int | None = None
    """If set, they are due when the world's call of this index begins, whatever the time."""


@frozen
class Bound:
    """A bound on a field of records."""

    field: str
    op: str
    """A key of COMPARISONS."""
    value: float
    measure: Callable[[Json], float]
    """Converts a value of the field to a number; not-a-number is within no bound."""

    def holds(self, record: Record) -> bool:
        """Whether the record is within the bound."""
        return bool(COMPARISONS[self.op](self.measure(record.get(self.field)), self.value))


class Written(Protocol):
    """A record that was written since the world began."""

    @property
    def record(self) -> Record | None:
        """The record; None if it was removed."""
        ...

    @property
    def born(self) -> int:
        """Its place among the records created since the world began; -1 if it is one of the initial records."""
        ...

    @property
    def removed(self) -> Record | None:
        """The record that was removed, if the newest write removed one."""
        ...


class View(Protocol):
    """A read-only version of a world's state. Iteration is always in the order of creation."""

    @property
    def size(self) -> int:
        """The size of the written records, in bytes as JSON."""
        ...

    def get(self, entity: str, key: Key) -> Record | None:
        """Return the record, or None."""
        ...

    def version(self, entity: str, key: Key) -> int:
        """Return how many times the record was written since the world began; 0: never."""
        ...

    def rows(self, entity: str) -> Iterator[tuple[Key, Record]]:
        """Iterate over all records of an entity."""
        ...

    def find(self, entity: str, field: str, value: Json) -> Sequence[tuple[Key, Record]]:
        """Return the records whose field equals a value, by index. The field may be a path: `items.*.sku`."""
        ...

    def compare(self, entity: str, bounds: Sequence[Bound]) -> Sequence[tuple[Key, Record]]:
        """Return the records within all of these bounds."""
        ...

    def search(self, entity: str, fields: Sequence[str], words: Sequence[str]) -> Sequence[tuple[Key, Record]]:
        """Return the records in whose fields every word occurs. The words are in lower case and have no spaces."""
        ...

    def count(self, entity: str) -> int:
        """Return the number of records; O(1)."""
        ...

    def last_key(self, entity: str) -> Key | None:
        """Return the key most recently created or reserved, even if its record is gone; the next id follows it."""
        ...

    def sample_key(self, entity: str, share: float) -> Key | None:
        """Return the key of the record at a share, in [0, 1), of the records, or None. O(1)."""
        ...

    def entities(self) -> Sequence[str]:
        """Return the names of all entities."""
        ...

    def initial_records(self, entity: str) -> Mapping[Key, Record]:
        """Return the records that the world began with: one object for all worlds with the same start."""
        ...

    def written(self, entity: str) -> Mapping[Key, Written]:
        """Return what was written since the world began, by key, in no particular order."""
        ...

    def latest_write(self, entity: str, key: Key) -> Written | None:
        """Return what was written last under a key since the world began; None if nothing was."""
        ...

    def changed(self, entity: str) -> AbstractSet[Key]:
        """Return the keys of records that were changed or removed after they were written or given first.

        The time is in proportion to their number, not to that of all writes.
        """
        ...

    def after(self, changes: Iterable[Change]) -> View:
        """Return the state as it would be after these changes."""
        ...


class Readable(Protocol):
    """Records that can be read by key, such as those of a view."""

    def get(self, entity: str, key: Key) -> Record | None:
        """Return the record, or None."""
        ...


def find_key(view: Readable, entity: str, value: Json) -> Key | None:
    """Return the key of the record that a value identifies, or None. 7 and "7" are the same key."""
    value = to_integer(value)
    if not isinstance(value, str | int) or isinstance(value, bool):
        return None
    if view.get(entity, value) is not None:
        return value
    return next((key for key in _notations(value) if view.get(entity, key) is not None), None)


def find_named(view: View, entity: str, value: Json) -> Key | None:
    """Return the key of the record that a value identifies, else of the only one with this name or title, or None."""
    key = find_key(view, entity, value)
    if key is not None or not isinstance(value, str) or not value:
        return key
    rows = [view.find(entity, field, value) for field in ("name", "title", f"{entity}_name")]
    named = {key for found in rows for key, _ in found}
    return named.pop() if len(named) == 1 else None


def was_written(view: View, entity: str, key: Key) -> bool:
    """Whether a record of this key has ever been written or deleted. 7 and "7" are the same key."""
    return any(view.version(entity, notation) > 0 for notation in _notations(key))


def _notations(key: Key) -> Iterator[Key]:
    """Yield a key as it is, and as a text or as a number if it may be written so."""
    yield key
    if isinstance(key, int):
        yield str(key)
    elif key.isdecimal() and len(key) < _MOST_DIGITS:
        yield int(key)
