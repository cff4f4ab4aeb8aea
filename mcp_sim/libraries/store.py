"""What a library may use in one call: the tables of the world, the time, chance, and what calls share."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from mcp_sim.types import Json, Key, Record, View, Written
from mcp_sim.types.clock import iso_seconds
from mcp_sim.types.draws import Draws


def moved_keys(applied: Mapping[Key, Written], wanted: Mapping[Key, Written]) -> list[Key]:
    """Return the keys of the records that were written differently in two views."""

    def state(written: Written | None) -> tuple[int, int] | None:
        return None if written is None else (id(written.record), written.born)

    return [key for key in applied.keys() | wanted.keys() if state(applied.get(key)) != state(wanted.get(key))]


class LibraryError(Exception):
    """A call of a library that fails. Its text is what an unworded failure shows."""


class Writer(Protocol):
    """Collects the writes of one call."""

    @property
    def view(self) -> View:
        """The state after the writes so far."""
        ...

    def get(self, entity: str, key: Key) -> Record | None:
        """Return a record as it was last written."""
        ...

    def put(self, entity: str, key: Key, record: Record) -> None:
        """Write a record."""
        ...

    def remove(self, entity: str, key: Key) -> None:
        """Remove a record."""
        ...


@dataclass(slots=True)
class Store:
    """The tables of a library in one call. `prefix` precedes their names where servers have separate state."""

    writer: Writer
    now: datetime
    draws: Draws
    kept: dict[Hashable, Any]
    """What the calls of one scenario share, such as a database that follows their views."""
    prefix: str = ""

    @property
    def view(self) -> View:
        """The state after the writes so far."""
        return self.writer.view

    @property
    def time(self) -> str:
        """The time of the call as text (RFC 3339)."""
        return iso_seconds(self.now)

    def get(self, table: str, key: Key) -> Record | None:
        """Return a record, or None. It must not be changed."""
        return self.writer.get(self.prefix + table, key)

    def rows(self, table: str) -> Iterator[Record]:
        """Iterate over the records of a table in the order of creation."""
        return (record for _, record in self.view.rows(self.prefix + table))

    def find(self, table: str, field: str, value: Json) -> list[Record]:
        """Return the records with this value of a field, which is indexed."""
        return [record for _, record in self.view.find(self.prefix + table, field, value)]

    def count(self, table: str) -> int:
        """Return the number of records of a table."""
        return self.view.count(self.prefix + table)

    def put(self, table: str, key: Key, record: Record) -> None:
        """Write a record."""
        self.writer.put(self.prefix + table, key, record)

    def remove(self, table: str, key: Key) -> None:
        """Remove a record."""
        self.writer.remove(self.prefix + table, key)
