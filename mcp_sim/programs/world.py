"""The world as a program sees it: tables, libraries, the time, chance and inventions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property, lru_cache
from random import Random
from typing import Any, TypeVar

from mcp_sim.libraries import LIBRARIES, Store, open_library
from mcp_sim.programs.tables import Table, table_type
from mcp_sim.programs.writes import Writes
from mcp_sim.types import Change, Json, Key, Record, Turn, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_values import decode, encode
from mcp_sim.types.kinds import Invent


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


class Inventions:
    """The inventions of one call. Each has draws of its own."""

    __slots__ = ("_count", "_invent", "_turn")

    def __init__(self, turn: Turn, invent: Invent) -> None:
        self._turn, self._invent, self._count = turn, invent, 0

    def invent(self, schema: Record, about: str) -> Json:
        """Return a generated value, valid under a schema."""
        return self._invent(self._next_turn(), "", about, _expanded(encode(schema)), {})

    def imagine(self, schema: Record, about: str) -> Json:
        """Return what the language model says, or a generated value without one."""
        return self._invent.imagine(self._next_turn(), _expanded(encode(schema)), about)

    def _next_turn(self) -> Turn:
        self._count += 1
        draws = replace(self._turn.draws, scope=f"{self._turn.draws.scope}/invention/{self._count}")
        return replace(self._turn, draws=draws)


@lru_cache(maxsize=256)
def _expanded(schema: bytes) -> Record:
    """Return the expansion of a schema, by its text: programs may change its object between calls."""
    return expanded(decode(schema))


T = TypeVar("T")


class World:
    """What a program reads and writes in one call.

    `world.NAME` is the table NAME, the record of a singleton, or a library (`world.files.write(...)`). Nothing is
    written before the function returns.
    """

    def __init__(self, domain: Domain, prefix: str, turn: Turn, invent: Invent) -> None:
        self._domain, self._prefix, self._turn = domain, prefix, turn
        self._writes = Writes(turn)
        self._inventions = Inventions(turn, invent)
        self._tables = dict[str, Table]()
        self._library_writes = LibraryWrites(self._writes, self._tables)
        self._libraries: dict[str, Any] = {}

    @property
    def now(self) -> datetime:
        """The time in the world, in UTC."""
        return self._turn.now

    @cached_property
    def random(self) -> Random:
        """Random numbers: the same for the same seed and call."""
        return self._turn.draws.generator("program")

    @property
    def caller(self) -> str:
        """Who calls: the principal of the token that the client presented; '' without tokens."""
        return self._turn.call.caller

    @property
    def input_schema(self) -> Record:
        """The inputSchema of the called tool. It must not be changed."""
        return self._turn.tool.input_schema

    def invent(self, schema: Record | None = None, about: str = "") -> Json:
        """Return a plausible value that is valid under a JSON Schema; any text without one.

        `about` names what it is for, like a field ("city"). The next call gets another value: store what must stay.
        """
        return self._inventions.invent(schema or {"type": "string"}, about)

    def imagine(self, schema: Record | None = None, about: str = "") -> Json:
        """Return what the language model says about something, valid under a JSON Schema.

        Without a language model it is invented.
        """
        return self._inventions.imagine(schema or {"type": "string"}, about)

    def each(self, items: Iterable[T]) -> Iterator[T]:
        """Iterate over the items of a batch. Each one is a savepoint: `partial_batch` loses what single ones wrote."""
        if self._writes.part is not None:  # a batch within an item belongs to that item
            yield from items
            return
        for at, item in enumerate(items):
            lost = at in self._turn.lost
            savepoint = self._writes.savepoint() if lost else None
            self._writes.part = at
            try:
                yield item
            finally:
                self._writes.collect()
                if savepoint is not None:
                    for entity, key in self._writes.undo(savepoint):
                        if entity in self._tables:
                            self._tables[entity].reread(key, self._writes.get(entity, key))
                self._writes.part = None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        entity = self._domain.entities.get(f"{self._prefix}{name}")
        if entity is not None:
            table = self._tables.get(entity.name)
            if table is None:
                type_ = table_type(self._domain, entity, name)
                table = self._tables[entity.name] = Table(type_, self._turn, self._writes)
            if not entity.singleton:
                return table
            record = table.get(entity.name)
            return table.add() if record is None else record
        if name not in self._libraries:
            if name not in LIBRARIES:
                known = {*self._domain.entities, *LIBRARIES}
                raise AttributeError(f"the world has no table or library {name!r}{did_you_mean(name, known)}")
            turn, kept = self._turn, self._domain.kept
            store = Store(self._library_writes, turn.now, turn.draws, kept, self._prefix)
            self._libraries[name] = open_library(name, store)
        return self._libraries[name]

    def __getitem__(self, name: str) -> Any:
        """Return the table or library with a name that a program computes."""
        return self.__getattr__(name)

    def changes(self) -> tuple[Change, ...]:
        """Return what the call has written."""
        entities = self._domain.entities
        natural = {table for table in self._tables if entities[table].natural}
        return tuple(self._writes.changes(frozenset(natural | self._library_writes.entities)))
