"""The world as a program sees it: tables, backends, the time, chance and inventions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar

from mcp_sim.programs.inventions import Inventions
from mcp_sim.programs.tables import Table, table_type
from mcp_sim.programs.writes import Savepoint, Writes
from mcp_sim.types import Change, Json, Record, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import UnknownKind, did_you_mean
from mcp_sim.types.kinds import Invent, backends

if TYPE_CHECKING:
    from mcp_sim.plans.library import Library

T = TypeVar("T")

_SHORT_NAMES = {"keys": "key_value"}
"""Backends that programs name otherwise."""


class World:
    """What a program reads and writes in one call.

    `world.NAME` is the table NAME, the record of a singleton, or a backend (`world.files.write(...)`). Nothing is
    written before the function returns.
    """

    def __init__(self, domain: Domain, prefix: str, turn: Turn, invent: Invent) -> None:
        self._domain, self._prefix, self._turn = domain, prefix, turn
        self._writes = Writes(turn)
        self._inventions = Inventions(turn, invent)
        self._tables = dict[str, Table]()
        self._libraries: dict[str, Library] = {}

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
            libraries = {name: {**vars(library)} for name, library in self._libraries.items()} if lost else {}
            self._begin(at)
            try:
                yield item
            finally:
                self._writes.collect()
                if savepoint is not None:
                    self._undo_libraries(libraries)
                    self._undo_to(savepoint)
                self._begin(None)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        entity = self._domain.entities.get(f"{self._prefix}{name}")
        if entity is not None:
            return self._table(entity, name)
        return self._library(name)

    def changes(self) -> tuple[Change, ...]:
        """Return what the call has written."""
        entities = self._domain.entities
        natural = frozenset(table for table in self._tables if entities[table].natural)
        changes = self._writes.changes(natural)
        for library in self._libraries.values():
            changes += library.changes
        return tuple(changes)

    def _table(self, entity: Entity, name: str) -> Any:
        table = self._tables.get(entity.name)
        if table is None:
            type_ = table_type(self._domain, entity, name)
            table = self._tables[entity.name] = Table(type_, self._turn, self._writes)
        if not entity.singleton:
            return table
        record = table.get(entity.name)
        return table.add() if record is None else record

    def _library(self, name: str) -> Library:
        """Return the operations of a backend. Raises `AttributeError` for other names."""
        kind = _SHORT_NAMES.get(name, name)
        if kind not in self._libraries:
            try:
                library = self._new_library(kind)
            except (UnknownKind, TypeError):
                known = {*self._domain.entities, *(backend for backend in backends.names() if backend != "program")}
                raise AttributeError(f"the world has no table or backend {name!r}{did_you_mean(name, known)}") from None
            library.part = self._writes.part
            self._libraries[kind] = library
        return self._libraries[kind]

    def _new_library(self, kind: str) -> Library:
        from mcp_sim.programs.libraries import RefusingLibrary  # noqa: PLC0415 (most programs use tables alone)

        turn, kept = self._turn, self._domain.kept
        return RefusingLibrary(kind, turn.view, self.now, draws=turn.draws, prefix=self._prefix, kept=kept)

    def _begin(self, item: int | None) -> None:
        self._writes.part = item
        for library in self._libraries.values():
            library.part = item

    def _undo_to(self, savepoint: Savepoint) -> None:
        for entity, key in self._writes.undo(savepoint):
            if entity in self._tables:
                self._tables[entity].reread(key, self._writes.get(entity, key))

    def _undo_libraries(self, before: Mapping[str, Record]) -> None:
        """Return all backends to what they were. The program may hold them in variables."""
        for name, library in self._libraries.items():
            vars(library).update(before.get(name) or vars(self._new_library(name)))
