"""How is a version of a state looked at?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any, Protocol

from mcp_sim.types.change import Change
from mcp_sim.types.values import Json, Key, Record

COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {"gt": gt, "gte": ge, "lt": lt, "lte": le}


@dataclass(frozen=True, slots=True)
class Bound:
    """How far a field may go: `op` is one of COMPARISONS.

    `measure` makes a number of a value; not-a-number, where it is none, is within no bound.
    """

    field: str
    op: str
    value: float
    measure: Callable[[Json], float]

    def holds(self, record: Record) -> bool:
        """Is the record within it?"""
        return bool(COMPARISONS[self.op](self.measure(record.get(self.field)), self.value))


class Written(Protocol):
    """A record as it was written (None: removed), and its place among those created since the world began.

    `born` is -1 where it has the place that it had at the beginning.
    """

    @property
    def record(self) -> Record | None: ...

    @property
    def born(self) -> int: ...


class View(Protocol):
    """A read-only version of a world's state. Iteration is always in the order of creation."""

    def get(self, entity: str, key: Key) -> Record | None:
        """The record, or None."""
        ...

    def version(self, entity: str, key: Key) -> int:
        """How many times the record was written since the world began (0: as generated, or absent)."""
        ...

    def rows(self, entity: str) -> Iterator[tuple[Key, Record]]:
        """All records of an entity."""
        ...

    def find(self, entity: str, field: str, value: Json) -> Sequence[tuple[Key, Record]]:
        """The records whose field equals a value, by index; a path reaches into it (`address.city`, `items.*.sku`)."""
        ...

    def compare(self, entity: str, bounds: Sequence[Bound]) -> Sequence[tuple[Key, Record]]:
        """The records within all of these bounds."""
        ...

    def search(self, entity: str, fields: Sequence[str], words: Sequence[str]) -> Sequence[tuple[Key, Record]]:
        """The records in whose fields all of these words occur, each in one of them; in lower case, without spaces."""
        ...

    def count(self, entity: str) -> int:
        """How many records there are; O(1)."""
        ...

    def last_key(self, entity: str) -> Key | None:
        """The key most recently created, also when that record is gone: what the next id follows."""
        ...

    def sample_key(self, entity: str, share: float) -> Key | None:
        """The key of a record that the share, in [0, 1), falls on; None where there is none. O(1)."""
        ...

    def entities(self) -> Sequence[str]:
        """The names of all entities."""
        ...

    def initial_records(self, entity: str) -> Mapping[Key, Record]:
        """The records that the world began with: one object for all worlds that begin alike."""
        ...

    def written(self, entity: str) -> Mapping[Key, Written]:
        """What was written since the world began, by key, in no particular order."""
        ...

    def after(self, changes: Iterable[Change]) -> View:
        """The state as it would be after these changes."""
        ...
