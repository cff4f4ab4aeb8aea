"""Tables: the records of one entity, as programs read and write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from mcp_sim.generate.keys import KeyMaker, key_maker, next_key
from mcp_sim.programs.results import Refused, plain
from mcp_sim.programs.rows import Row
from mcp_sim.programs.writes import Writes
from mcp_sim.types import Json, Key, Record, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.views import find_key


@dataclass(frozen=True, slots=True)
class TableType:
    """What all tables of one entity share, in all calls."""

    entity: Entity
    name: str
    """The entity's name in the program."""
    keys: KeyMaker
    defaults: Mapping[str, Json]
    hidden: frozenset[str]

    @classmethod
    def of(cls, entity: Entity, name: str) -> TableType:
        fields = entity.fields.values()
        defaults = {field.name: field.schema["default"] for field in fields if "default" in field.schema}
        return cls(entity, name, key_maker(entity), defaults, frozenset(f.name for f in fields if f.hidden))


def table_type(domain: Domain, entity: Entity, name: str) -> TableType:
    """Return the type of an entity's tables, compiled once for a domain."""
    at = ("program table", entity.name)
    if at not in domain.kept:
        domain.kept[at] = TableType.of(entity, name)
    return domain.kept[at]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of rows."""

    rows: list[Row]
    total: int
    """How many rows there are on all pages."""
    offset: int
    """The position of the first row, from 0."""
    cursor: str | None
    """The cursor of the next page; None on the last one."""

    @property
    def more(self) -> bool:
        """Whether there is another page."""
        return self.cursor is not None


class Table:
    """The records of one entity. Each record is the same row throughout a call."""

    __slots__ = ("_rows", "_turn", "_type", "_writes")

    def __init__(self, type_: TableType, turn: Turn, writes: Writes) -> None:
        self._type, self._turn, self._writes = type_, turn, writes
        self._rows = dict[Key, Row]()

    # reading

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the row with this key, or the default. 7 and "7" are the same key."""
        row = self._rows.get(key) if isinstance(key, str | int) else None
        if row is not None:
            return row
        found = find_key(self._writes.view, self._type.entity.name, key)
        return default if found is None else self._row(found)

    def __contains__(self, key: Any) -> bool:
        return self.get(key) is not None

    def __len__(self) -> int:
        return self._writes.view.count(self._type.entity.name)

    def __iter__(self) -> Iterator[Row]:
        """Iterate over all rows in the order of creation. Rows that the loop itself adds do not come up."""
        for key, record in self._writes.view.rows(self._type.entity.name):
            row = self._rows.get(key)
            if row is None:
                row = self._rows[key] = Row(record, key, self._changed)
            if row.is_there:
                yield row

    def find(self, **equals: Json) -> list[Row]:
        """Return the rows whose fields have these values; all rows without any."""
        if not equals:
            return list(self)
        entity, view = self._type.entity, self._writes.view
        if entity.key in equals and entity.key not in entity.fields:
            row = self.get(equals[entity.key])
            return [row] if row is not None and _has(row, equals) else []
        (name, value), *rest = equals.items()
        found = view.find(entity.name, name, value)
        return [self._row(key) for key, record in found if _has(record, dict(rest))]

    def search(self, text: str, *fields: str) -> list[Row]:
        """Return the rows in whose fields each word of a text occurs, in any letter case. Default: all fields."""
        entity = self._type.entity
        names = fields or (entity.key, *(name for name in entity.fields if name not in self._type.hidden))
        found = self._writes.view.search(entity.name, names, text.lower().split())
        return [self._row(key) for key, _ in found]

    def page(
        self,
        rows: Iterable[Row] | None = None,
        *,
        limit: int | None = 20,
        offset: int = 0,
        page: int | None = None,
        cursor: str | None = None,
        sort: str | Callable[[Row], Any] | None = None,
        descending: bool = False,
    ) -> Page:
        """Return one page of rows; of all rows of the table without any.

        Where it begins: after `offset` rows, at page number `page` (from 1), or at the `cursor` of an earlier page.
        `limit` None: all rows. `sort`: a field, whose missing values come last, or a function. Raises `Refused` for a
        cursor that no page had.
        """
        whole = list(self) if rows is None else list(rows)
        if sort is not None:
            _sort(whole, sort, descending=descending)
        size = len(whole) if limit is None else max(limit, 0)
        start = offset if page is None else (max(page, 1) - 1) * size
        if cursor:
            if not (cursor.isascii() and cursor.isdecimal() and len(cursor) < 10):
                raise Refused(f"Invalid cursor: {cursor}")
            start = int(cursor)
        start = max(start, 0)
        end = start + size
        return Page(whole[start:end], len(whole), start, str(end) if size and end < len(whole) else None)

    # writing

    def add(self, record: Mapping[str, Json] | None = None, /, **fields: Json) -> Row:
        """Create a record, with the defaults of the fields that are left out. Without a key it gets the next id.

        Raises `Refused` if there is a record with this key.
        """
        entity = self._type.entity
        given: Record = {**(record or {}), **fields}
        key = entity.name if entity.singleton else self._key(plain(given.get(entity.key)))
        self._refuse_used(key)
        named: Record = {} if entity.singleton else {entity.key: key}
        values: Record = {**deepcopy(dict(self._type.defaults)), **plain(given), **named}
        order = dict.fromkeys((*named, *entity.fields, *values))
        self._writes.put(entity.name, key, {name: values[name] for name in order if name in values})
        return self._row(key)

    def delete(self, key: Key | Row) -> bool:
        """Remove a record. Returns whether there was one."""
        row = key if isinstance(key, Row) else self.get(key)
        if row is None or self._rows.get(row.key) is not row:
            return False
        del self._rows[row.key]
        row.detach()
        self._writes.remove(self._type.entity.name, row.key)
        return True

    def public(self, row: Row) -> Record:
        """Return a copy of a row without the hidden fields."""
        return {name: plain(value) for name, value in row.items() if name not in self._type.hidden}

    def reread(self, key: Key, record: Record | None) -> None:
        """Let a row show its record again, None if it is gone, after writes were undone."""
        row = self._rows.get(key)
        if row is None:
            return
        if record is None:
            del self._rows[key]
            row.detach()
        else:
            row.reset(record)

    def _key(self, given: Json) -> Key:
        entity = self._type.entity
        if isinstance(given, str | int) and not isinstance(given, bool):
            return given
        if given is not None:
            raise TypeError(
                f"the key {entity.key} of {self._type.name} must be a text or a whole number, not {given!r}"
            )
        if entity.natural:
            raise TypeError(f"{self._type.name}.add needs {entity.key}: callers choose the keys of this table")
        return next_key(entity, self._type.keys, self._writes.view, self._turn.draws)

    def _refuse_used(self, key: Key) -> None:
        if self.get(key) is not None:
            raise Refused(f"{self._type.name.replace('_', ' ').capitalize()} {key!r} already exists")

    def _row(self, key: Key) -> Row:
        row = self._rows.get(key)
        if row is None:
            record = self._writes.known(self._type.entity.name, key)
            row = self._rows[key] = Row(record or {}, key, self._changed)
        return row

    def _changed(self, row: Row) -> None:
        """Note a row that may have changed; one whose key was assigned is renamed."""
        entity = self._type.entity
        new = row.raw(entity.key, row.key)
        if new != row.key and not entity.singleton:
            self._rename(row, new)
        self._writes.note(entity.name, row)

    def _rename(self, row: Row, new: Json) -> None:
        old, key = row.key, self._key(new)
        row.restore(self._type.entity.key, old)
        self._refuse_used(key)
        row.restore(self._type.entity.key, key)
        del self._rows[old]
        self._writes.remove(self._type.entity.name, old)
        row.key, self._rows[key] = key, row


def _has(record: Mapping[str, Json], equals: Mapping[str, Json]) -> bool:
    return all(record.get(name) == value for name, value in equals.items())


def _sort(rows: list[Row], sort: str | Callable[[Row], Any], *, descending: bool) -> None:
    """Sort rows in place. Missing values come last in both directions."""
    if callable(sort):
        rows.sort(key=sort, reverse=descending)
        return
    there = [row for row in rows if row.get(sort) is not None]
    missing = [row for row in rows if row.get(sort) is None]
    there.sort(key=lambda row: _comparable(row[sort]), reverse=descending)
    rows[:] = [*there, *missing]


def _comparable(value: Json) -> tuple[int, Any]:
    """Return a value that can be compared with those of other types: numbers come before texts, these before others."""
    if isinstance(value, bool | int | float):
        return 0, value
    return (1, value) if isinstance(value, str) else (2, str(value))
