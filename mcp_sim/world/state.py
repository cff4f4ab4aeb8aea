"""The state of a world: entity -> key -> record, persistent and in the order of creation.

A `Table` is frozen and shared by all worlds of a scenario and seed. A `State` puts an overlay of the world's writes
over it. A snapshot or a fork is one reference, and every past version stays readable.

An `Overlay` is a persistent map of the newest writes to one entity, above frozen segments of older ones. A full map
becomes a segment, and a segment is merged with the next older one that is not larger. So there are few segments, and a
write is copied few times, however many writes there are. Each segment is searched like the initial records, with
indexes of its own.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import merge
from itertools import chain, islice
from operator import itemgetter
from typing import cast

from rpds import HashTrieMap

from mcp_sim.types import Bound, Change, Due, Json, Key, Record
from mcp_sim.types.errors import StaleChange
from mcp_sim.types.json_values import encode
from mcp_sim.world.tables import EMPTY_TABLE, Hit, Rows, Table, Tables

PROBES = 16
"""How many neighbours are tried for a record that still exists. More would make a call on a world that has lost most of
its records slow; then the newest serves as well."""

RECENT = 32
"""The most writes in the map. rpds maps iterate in random order, at a microsecond a row."""

_FEW = 64  # row by row is cheaper than a pass over all rows, as long as few have changed

Find = Callable[[Table], Sequence[Hit]]
"""Returns the rows of a table that match something."""


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
        return self._table(entity).records.get(key)

    def version(self, entity: str, key: Key) -> int:
        overlay = self.overlays.get(entity)
        row = overlay.get(key) if overlay is not None else None
        return 0 if row is None else row.version

    def rows(self, entity: str) -> Iterator[tuple[Key, Record]]:
        overlay = self.overlays.get(entity)
        table = self._table(entity)
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
        table = self._table(change.entity)
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
        table, overlay = self._table(entity), self.overlays.get(entity)
        hits = find(table)
        return hits if overlay is None else overlay.found(hits, table, find)

    def _table(self, entity: str) -> Table:
        """Return the initial records of an entity, which may be none; without a call if they are built already."""
        return (self.base.known or self.base.built()).get(entity, EMPTY_TABLE)

    def _untouched(self, entity: str) -> Overlay:
        table = self._table(entity)
        return Overlay((), HashTrieMap(), 0, len(table.records), table.last_key)


# overlays -------------------------------------------------------------------------------------------------------------


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


class Segment:
    """Written rows, frozen. The `older` segments below it stay the same as long as it is in use."""

    def __init__(self, rows: dict[Key, Row], older: tuple[Segment, ...] = ()) -> None:
        self.rows, self.older = rows, older
        self._replaced: dict[Key, Row] | None = None

    @cached_property
    def table(self) -> Table:
        """The records that are not removed, in the order of creation, those of the base first."""
        live = [(row.born, key) for key, row in self.rows.items() if row.record is not None]
        ordered = sorted(live, key=itemgetter(0))
        return Table({key: cast("Record", self.rows[key].record) for _, key in ordered})

    @cached_property
    def overlaps(self) -> frozenset[Key]:
        """The keys that older segments have, too."""
        return frozenset(key for segment in self.older for key in self.rows.keys() & segment.rows.keys())

    @cached_property
    def created(self) -> list[tuple[int, Key]]:
        """The places and keys of the records that were created, in the order of creation."""
        rows = self.rows.items()
        return sorted([(row.born, key) for key, row in rows if row.born >= 0 and row.record is not None])

    @cached_property
    def changed(self) -> frozenset[Key]:
        """The keys that were removed, are those of initial records, or were written more than once."""
        rows = self.rows.items()
        return frozenset(key for key, row in rows if row.record is None or row.born < 0 or row.version > 1)

    def replaced(self, base: Table) -> Mapping[Key, Row]:
        """Return the rows instead of those of the base with the same keys."""
        if self._replaced is None:
            self._replaced = {key: row for key, row in self.rows.items() if key in base.records}
        return self._replaced


class Overlay:
    """What a world has written to one entity. Immutable; what is derived from it is kept."""

    __slots__ = ("_newest", "_rows", "born", "count", "last_key", "recent", "segments")

    def __init__(
        self, segments: tuple[Segment, ...], recent: HashTrieMap[Key, Row], born: int, count: int, last_key: Key | None
    ) -> None:
        self.segments = segments
        """Newest first."""
        self.recent = recent
        self.born = born
        self.count = count
        self.last_key = last_key
        self._newest: Segment | None = None
        self._rows: dict[Key, Row] | None = None

    def get(self, key: Key) -> Row | None:
        row = self.recent.get(key) if key != "" else None
        if row is None:
            for segment in self.segments:
                row = segment.rows.get(key)
                if row is not None:
                    break
        return row

    def rows(self) -> dict[Key, Row]:
        """Return all written rows, in no particular order."""
        if self._rows is None:
            self._rows = {key: row for segment in reversed(self._parts()) for key, row in segment.rows.items()}
        return self._rows

    def changed(self) -> frozenset[Key]:
        """Return the keys of records that were changed or removed after they were written or given first."""
        return frozenset[Key]().union(*(segment.changed for segment in self._parts()))

    def created(self) -> Iterator[Hit]:
        """Yield the records that were created since the world began, in the order of creation."""
        last = -1
        for born, key in merge(*[segment.created for segment in self._parts()]):
            row = self.get(key) if born != last else None
            if row is not None and row.born == born and row.record is not None:
                yield key, row.record
            last = born

    def current(self, base: Table) -> Iterator[Hit]:
        """Yield the rows of the base as they are now, without those that are removed or created again."""
        left = iter(base.records.items())
        if not any(segment.replaced(base) for segment in self._parts()):
            yield from left
            return
        # A page needs only the first rows: they are looked up one by one before a map of all written rows is made.
        for key, record in islice(left, _FEW):
            yield from _now(key, record, self.get(key))
        rows = self.rows()
        for key, record in left:
            yield from _now(key, record, rows.get(key))

    def found(self, hits: Sequence[Hit], base: Table, find: Find) -> Sequence[Hit]:
        """Return what `find` finds now, in the order of creation; `hits` is what it finds in the base."""
        gone, moved, created = set[Key](), list[Hit](), list[Sequence[Hit]]()
        for segment in self._parts():
            replaced = segment.replaced(base)
            hits = _without(hits, replaced, base)
            rows = find(segment.table)
            if gone:
                rows = [hit for hit in rows if hit[0] not in gone]
            if replaced:
                moved += [hit for hit in rows if segment.rows[hit[0]].born < 0]
                rows = [hit for hit in rows if segment.rows[hit[0]].born >= 0]
            gone |= segment.overlaps
            created.append(rows)
        hits = _inserted(hits, moved, base) if moved else hits
        if not any(created):
            return hits
        later = [hit for group in reversed(created) for hit in group]
        # Segments follow each other in time, so that only rewritten rows can be out of order.
        return [*hits, *(sorted(later, key=self._birth) if gone else later)]

    def _birth(self, hit: Hit) -> int:
        row = self.get(hit[0])
        return -1 if row is None else row.born

    def written(self, key: Key, row: Row, born: int, count: int, last_key: Key | None) -> Overlay:
        if key == "":  # its hash is that of 0, and such a map panics where it has to compare a text with a number
            newest = {**dict(self.recent.items()), key: row}
            return Overlay(_merged(newest, self.segments), HashTrieMap(), born, count, last_key)
        recent = self.recent.insert(key, row)
        if len(recent) <= RECENT:
            return Overlay(self.segments, recent, born, count, last_key)
        return Overlay(_merged(dict(recent.items()), self.segments), HashTrieMap(), born, count, last_key)

    def _parts(self) -> Sequence[Segment]:
        """Return all rows as segments, newest first."""
        if not len(self.recent):
            return self.segments
        if self._newest is None:
            self._newest = Segment(dict(self.recent.items()), self.segments)
        return (self._newest, *self.segments)


def _merged(newest: dict[Key, Row], segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """Return the segments with a new one before them, merged with those that are not larger."""
    # As in a log-structured tree: a row is copied once for each doubling, so that a create costs the same in a world of
    # any size.
    at = 0
    while at < len(segments) and len(segments[at].rows) <= len(newest):
        newest = {**segments[at].rows, **newest}
        at += 1
    older = segments[at:]
    return (Segment(newest, older), *older)


def _now(key: Key, record: Record, row: Row | None) -> Iterator[Hit]:
    if row is None:
        yield key, record
    elif row.born < 0 and row.record is not None:
        yield key, row.record


def _without(hits: Sequence[Hit], gone: Mapping[Key, Row], table: Table) -> Sequence[Hit]:
    """Return the hits without some keys. Few keys are found by their positions, so that most rows are not visited."""
    if not gone:
        return hits
    if len(gone) >= len(hits) // _FEW:
        return [hit for hit in hits if hit[0] not in gone]
    kept, places = list(hits), list[int]()
    for key in gone:
        at = bisect_left(kept, table.position(key), key=lambda hit: table.position(hit[0]))
        if at < len(kept) and kept[at][0] == key:
            places.append(at)
    for at in sorted(places, reverse=True):
        del kept[at]
    return kept


def _inserted(hits: Sequence[Hit], moved: Rows, table: Table) -> Rows:
    """Return the hits with others at their places in the base."""
    if len(moved) >= _FEW:
        return sorted([*hits, *moved], key=lambda hit: table.position(hit[0]))
    kept = list(hits)
    for hit in moved:
        insort(kept, hit, key=lambda hit: table.position(hit[0]))
    return kept
