"""The state of a world: entity -> key -> record, persistent and in the order of creation.

A `Table` is frozen and shared by all worlds of a scenario and seed. A `State` puts an overlay of the world's writes
over it (`overlay.py`). A snapshot or a fork is one reference, and every past version stays readable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain

from rpds import HashTrieMap

from mcp_sim.types import Bound, Change, Due, Json, Key, Record
from mcp_sim.types.errors import StaleChange
from mcp_sim.types.json_values import encode
from mcp_sim.world.overlay import Find, Overlay, Row
from mcp_sim.world.tables import EMPTY_TABLE, Tables

PROBES = 16
"""How many neighbours are tried for a record that still exists. More would make a call on a world that has lost most of
its records slow; then the newest serves as well."""


@dataclass(slots=True)
class State:
    """One version of a world's state. Implements `View`; `apply` makes the next version, atomically."""

    base: Tables
    overlays: HashTrieMap[str, Overlay]
    agenda: tuple[Due, ...] = ()
    size: int = 0
    """The size of the written records, in bytes as JSON."""

    @classmethod
    def of(cls, records: Mapping[str, Mapping[Key, Record]]) -> State:
        """Return the first version, with these records."""
        state = cls.later(lambda: records)
        state.base.built()
        return state

    @classmethod
    def later(cls, build: Callable[[], Mapping[str, Mapping[Key, Record]]]) -> State:
        """Return the first version, whose records are built when they are first read."""
        return cls(Tables(build), HashTrieMap())

    # reading

    def get(self, entity: str, key: Key) -> Record | None:
        overlay = self.overlays.get(entity)
        row = overlay.get(key) if overlay is not None else None
        if row is not None:
            return row.record
        return (self.base.known or self.base.built()).get(entity, EMPTY_TABLE).records.get(key)

    def version(self, entity: str, key: Key) -> int:
        overlay = self.overlays.get(entity)
        row = overlay.get(key) if overlay is not None else None
        return 0 if row is None else row.version

    def rows(self, entity: str) -> Iterator[tuple[Key, Record]]:
        overlay = self.overlays.get(entity)
        table = self.base.table(entity)
        if overlay is None:
            return iter(table.records.items())
        return chain(overlay.current(table), overlay.created())

    def find(self, entity: str, field: str, value: Json) -> Sequence[tuple[Key, Record]]:
        return self._found(entity, lambda table: table.find_equal(field, value))

    def compare(self, entity: str, bounds: Sequence[Bound]) -> Sequence[tuple[Key, Record]]:
        return self._found(entity, lambda table: table.find_within(bounds))

    def search(self, entity: str, fields: Sequence[str], words: Sequence[str]) -> Sequence[tuple[Key, Record]]:
        return self._found(entity, lambda table: table.find_words(fields, words))

    def count(self, entity: str) -> int:
        overlay = self.overlays.get(entity)
        return len(self.base.table(entity).records) if overlay is None else overlay.count

    def last_key(self, entity: str) -> Key | None:
        overlay = self.overlays.get(entity)
        return self.base.table(entity).last_key if overlay is None else overlay.last_key

    def sample_key(self, entity: str, share: float) -> Key | None:
        """Return the key of one of the initial records that still exist; else the newest, or the first of all."""
        keys = self.base.table(entity).keys()
        for probe in range(min(PROBES, len(keys))):
            key = keys[(int(share * len(keys)) + probe) % len(keys)]
            if self.get(entity, key) is not None:
                return key
        newest = self.last_key(entity)
        if newest is not None and self.get(entity, newest) is not None:
            return newest
        return next((key for key, _ in self.rows(entity)), None) if self.count(entity) else None

    def entities(self) -> Sequence[str]:
        return [*self.base, *sorted(entity for entity in self.overlays if entity not in self.base)]

    def initial_records(self, entity: str) -> Mapping[Key, Record]:
        return self.base.table(entity).records

    def written(self, entity: str) -> Mapping[Key, Row]:
        overlay = self.overlays.get(entity)
        return {} if overlay is None else overlay.rows()

    def latest_write(self, entity: str, key: Key) -> Row | None:
        overlay = self.overlays.get(entity)
        return None if overlay is None else overlay.get(key)

    def changed(self, entity: str) -> AbstractSet[Key]:
        overlay = self.overlays.get(entity)
        return frozenset() if overlay is None else overlay.changed()

    def counts(self) -> dict[str, int]:
        """Return the number of records of each entity."""
        return {entity: self.count(entity) for entity in self.entities()}

    def after(self, changes: Iterable[Change]) -> State:
        return self.apply(tuple(changes))

    # writing

    def apply(self, changes: Sequence[Change], agenda: Sequence[Due] = ()) -> State:
        """Return the next version, with these changes written and these entries on the agenda. Raises `StaleChange`."""
        overlays, size = self.overlays, self.size
        for change in changes:
            overlay = overlays.get(change.entity) or self._untouched(change.entity)
            written, grown = self._write(overlay, change)
            overlays = overlays.insert(change.entity, written)
            size += grown
        due = tuple(sorted((*self.agenda, *agenda), key=lambda entry: entry.at)) if agenda else self.agenda
        return State(self.base, overlays, due, size)

    def split_agenda(self, is_due: Callable[[Due], bool]) -> tuple[tuple[Due, ...], State]:
        """Return the entries that are due, earliest first, and the state without them."""
        due = tuple(entry for entry in self.agenda if is_due(entry))
        if not due:
            return (), self
        return due, replace(self, agenda=tuple(entry for entry in self.agenda if not is_due(entry)))

    def _write(self, overlay: Overlay, change: Change) -> tuple[Overlay, int]:
        """Return the overlay after a change, and by how much its records have grown. Raises `StaleChange`."""
        table = self.base.table(change.entity)
        before = overlay.get(change.key)
        version = before.version if before is not None else 0
        if change.expected is not None and change.expected != version:
            raise StaleChange(change.entity, change.key, change.expected, version)
        existed = before.record is not None if before is not None else change.key in table.records
        if change.op == "reserve" and existed:
            return overlay, 0
        keeps_place = existed or change.op != "put"
        place = before.born if before is not None else -1 if change.key in table.records else overlay.born
        born = place if keeps_place else overlay.born
        record = change.record if change.op == "put" else None
        held = before.record if before is not None else table.records.get(change.key)
        removed = held if change.op == "remove" else None
        row = Row(record, version + 1, born, 0 if record is None else len(encode(record)), removed)
        is_new = change.op == "put" and not existed
        count = overlay.count + (1 if is_new else -1 if existed and change.op == "remove" else 0)
        last_key = change.key if is_new or change.op == "reserve" else overlay.last_key
        written = overlay.written(change.key, row, overlay.born + (1 if is_new else 0), count, last_key)
        return written, row.size - (0 if before is None else before.size)

    def _found(self, entity: str, find: Find) -> Sequence[tuple[Key, Record]]:
        """Return the rows that match, in the order of creation."""
        table, overlay = self.base.table(entity), self.overlays.get(entity)
        hits = find(table)
        return hits if overlay is None else overlay.found(hits, table, find)

    def _untouched(self, entity: str) -> Overlay:
        table = self.base.table(entity)
        return Overlay((), HashTrieMap(), 0, len(table.records), table.last_key)
