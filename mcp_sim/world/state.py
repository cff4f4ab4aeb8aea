"""The state of a world: entity -> key -> record, persistent and in the order of creation.

A `Table` is frozen and shared by all worlds of a scenario and seed. A `State` puts an overlay over it: a persistent map
of the recent writes above a frozen dict of the settled ones. A snapshot or a fork is one reference, and every past
version stays readable. rpds maps iterate in random order, at a microsecond a row: they hold at most `SETTLE` recent
writes and never define an order.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from rpds import HashTrieMap

from mcp_sim.types import Bound, Change, Due, Json, Key, Record
from mcp_sim.types.errors import StaleChange
from mcp_sim.types.json_values import encode
from mcp_sim.world.tables import EMPTY_TABLE, Rows, Table, Tables, comparable, comparables, lowered

SETTLE = 256
_FEW = 64
PROBES = 16
"""How many neighbours are tried for a record that still exists."""


def _born(rows: Mapping[Key, Row]) -> Iterator[tuple[Key, Record]]:
    """Yield the records that were created since the world began, in the order of creation."""
    made = [(row.born, key, row.record) for key, row in rows.items() if row.born >= 0 and row.record is not None]
    return ((key, record) for _, key, record in sorted(made, key=lambda row: row[0]))


def _without(hits: Sequence[tuple[Key, Record]], gone: Mapping[Key, Row], table: Table) -> Rows:
    """Return the hits without a few keys, found by their positions so that most of the rows are not visited."""
    kept = list(hits)
    places: list[int] = []
    for key in gone:
        at = (
            bisect_left(kept, table.position(key), key=lambda hit: table.position(hit[0]))
            if key in table.records
            else -1
        )
        if 0 <= at < len(kept) and kept[at][0] == key:
            places.append(at)
    for at in sorted(places, reverse=True):
        del kept[at]
    return kept


@dataclass(slots=True)
class Row:
    """A written record."""

    record: Record | None
    """None: removed."""
    version: int
    born: int
    """Its place among the records created since the world began; -1 if it has its place in the base."""
    size: int = 0
    """In bytes, as JSON."""
    removed: Record | None = None
    """What was removed, if the newest write removed a record."""


class Overlay:
    """What a world has written to one entity. Immutable; `rows` is derived once and kept."""

    __slots__ = ("_rows", "born", "count", "last_key", "recent", "settled")

    def __init__(
        self, settled: dict[Key, Row], recent: HashTrieMap[Key, Row], born: int, count: int, last_key: Key | None
    ) -> None:
        self.settled = settled
        self.recent = recent
        self.born = born
        self.count = count
        self.last_key = last_key
        self._rows: dict[Key, Row] | None = None

    def get(self, key: Key) -> Row | None:
        row = self.recent.get(key) if key != "" else None
        return self.settled.get(key) if row is None else row

    def rows(self) -> dict[Key, Row]:
        """Return all written rows, in no particular order."""
        if self._rows is None:
            self._rows = {**self.settled, **dict(self.recent.items())} if len(self.recent) else self.settled
        return self._rows

    def written(self, key: Key, row: Row, born: int, count: int, last_key: Key | None) -> Overlay:
        if key == "":  # its hash is that of 0, and such a map panics where it has to compare a text with a number
            return Overlay({**self.settled, key: row}, self.recent, born, count, last_key)
        recent = self.recent.insert(key, row)
        if len(recent) <= SETTLE:
            return Overlay(self.settled, recent, born, count, last_key)
        return Overlay({**self.settled, **dict(recent.items())}, HashTrieMap(), born, count, last_key)


def size_of(overlay: Overlay, key: Key) -> int:
    """Return the size of what was written under this key, in bytes as JSON."""
    row = overlay.get(key)
    return 0 if row is None else row.size


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
        return self._table(entity).records.get(key) if row is None else row.record

    def version(self, entity: str, key: Key) -> int:
        overlay = self.overlays.get(entity)
        row = overlay.get(key) if overlay is not None else None
        return 0 if row is None else row.version

    def rows(self, entity: str) -> Iterator[tuple[Key, Record]]:
        overlay = self.overlays.get(entity)
        base = self._table(entity).records
        if overlay is None:
            return iter(base.items())
        return chain(self._merged(base.items(), overlay.rows()), _born(overlay.rows()))

    def find(self, entity: str, field: str, value: Json) -> Sequence[tuple[Key, Record]]:
        hits = self._table(entity).find_equal(field, value)
        if entity not in self.overlays:
            return hits
        wanted = comparable(value)
        return self._with_writes(entity, hits, lambda record: wanted in comparables(record, field))

    def compare(self, entity: str, bounds: Sequence[Bound]) -> Sequence[tuple[Key, Record]]:
        hits = self._table(entity).find_within(bounds)
        if entity not in self.overlays:
            return hits
        return self._with_writes(entity, hits, lambda record: all(bound.holds(record) for bound in bounds))

    def search(self, entity: str, fields: Sequence[str], words: Sequence[str]) -> Sequence[tuple[Key, Record]]:
        hits = self._table(entity).find_words(fields, words)
        if entity not in self.overlays:
            return hits

        def matches(record: Record) -> bool:
            text = lowered(record, fields)
            return all(word in text for word in words)

        return self._with_writes(entity, hits, matches)

    def count(self, entity: str) -> int:
        overlay = self.overlays.get(entity)
        return len(self._table(entity).records) if overlay is None else overlay.count

    def last_key(self, entity: str) -> Key | None:
        overlay = self.overlays.get(entity)
        return self._table(entity).last_key if overlay is None else overlay.last_key

    def sample_key(self, entity: str, share: float) -> Key | None:
        """Return the key of one of the initial records that still exist; else the newest, or the first of all."""
        keys = self._table(entity).keys()
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
        return self._table(entity).records

    def written(self, entity: str) -> Mapping[Key, Row]:
        overlay = self.overlays.get(entity)
        return {} if overlay is None else overlay.rows()

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
            written = self._write(overlay, change)
            overlays = overlays.insert(change.entity, written)
            size += size_of(written, change.key) - size_of(overlay, change.key)
        due = tuple(sorted((*self.agenda, *agenda), key=lambda entry: entry.at)) if agenda else self.agenda
        return State(self.base, overlays, due, size)

    def split_agenda(self, is_due: Callable[[Due], bool]) -> tuple[tuple[Due, ...], State]:
        """Return the entries that are due, earliest first, and the state without them."""
        due = tuple(entry for entry in self.agenda if is_due(entry))
        if not due:
            return (), self
        return due, replace(self, agenda=tuple(entry for entry in self.agenda if not is_due(entry)))

    def _write(self, overlay: Overlay, change: Change) -> Overlay:
        table = self._table(change.entity)
        before = overlay.get(change.key)
        version = before.version if before is not None else 0
        if change.expected is not None and change.expected != version:
            raise StaleChange(change.entity, change.key, change.expected, version)
        existed = before.record is not None if before is not None else change.key in table.records
        if change.op == "reserve" and existed:
            return overlay
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
        return overlay.written(change.key, row, overlay.born + (1 if is_new else 0), count, last_key)

    def _with_writes(self, entity: str, hits: Sequence[tuple[Key, Record]], matches: Callable[[Record], bool]) -> Rows:
        """Return `hits` of the base as they are now, and written records that match, in the order of creation."""
        table, rows = self._table(entity), self.overlays[entity].rows()
        kept = (
            _without(hits, rows, table)
            if len(rows) < len(hits) // _FEW
            else [hit for hit in hits if hit[0] not in rows]
        )
        changed = ((key, row.record) for key, row in rows.items() if row.born < 0 and row.record is not None)
        moved = [hit for hit in changed if matches(hit[1])]
        for hit in moved if len(moved) < _FEW else ():
            insort(kept, hit, key=lambda hit: table.position(hit[0]))
        if len(moved) >= _FEW:
            kept = sorted([*kept, *moved], key=lambda hit: table.position(hit[0]))
        return [*kept, *(hit for hit in _born(rows) if matches(hit[1]))]

    @staticmethod
    def _merged(hits: Iterable[tuple[Key, Record]], rows: Mapping[Key, Row]) -> Iterator[tuple[Key, Record]]:
        for key, record in hits:
            row = rows.get(key)
            if row is None:
                yield key, record
            elif row.born < 0 and row.record is not None:
                yield key, row.record

    def _table(self, entity: str) -> Table:
        return self.base.built().get(entity, EMPTY_TABLE)

    def _untouched(self, entity: str) -> Overlay:
        table = self._table(entity)
        return Overlay({}, HashTrieMap(), 0, len(table.records), table.last_key)
