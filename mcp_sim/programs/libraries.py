"""Libraries as programs see them: on the tables of the world, together with what the program itself writes."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.programs.tables import Table
from mcp_sim.programs.writes import Writes
from mcp_sim.types import Key, Record, View


class LibraryWrites:
    """The writes of a call as libraries make them. Rows that the program holds show what a library writes."""

    def __init__(self, writes: Writes, tables: Mapping[str, Table]) -> None:
        self._writes, self._tables = writes, tables
        self.entities: set[str] = set()
        """The entities that libraries have written."""

    @property
    def view(self) -> View:
        """The state after all writes so far."""
        return self._writes.whole_view

    def get(self, entity: str, key: Key) -> Record | None:
        """Return a record as it was last written."""
        if self._tables:
            self._writes.collect()
        return self._writes.get(entity, key)

    def put(self, entity: str, key: Key, record: Record) -> None:
        """Write a record."""
        self._writes.collect()
        self._writes.put(entity, key, record)
        self._reread(entity, key, record)

    def remove(self, entity: str, key: Key) -> None:
        """Remove a record."""
        self._writes.remove(entity, key)
        self._reread(entity, key, None)

    def _reread(self, entity: str, key: Key, record: Record | None) -> None:
        self.entities.add(entity)
        if entity in self._tables:
            self._tables[entity].reread(key, record)
