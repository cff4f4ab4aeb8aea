"""Tables: the records of one entity, as programs read and write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from mcp_sim.generate.keys import KeyMaker, key_maker, next_key
from mcp_sim.programs.results import Refused, plain
from mcp_sim.programs.rows import Page, Row, offset_of, sort_rows
from mcp_sim.programs.writes import Writes
from mcp_sim.types import Json, Key, Record, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import is_key
from mcp_sim.types.views import find_key
from mcp_sim.world.tables import comparable, comparables


@frozen
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


class Missing(Refused, KeyError):
    """A key names no record: the call fails, if the program does not catch it."""

    __str__ = Exception.__str__  # without the quotes of a `KeyError`


class Table:
    """The records of one entity. Each record is the same row throughout a call."""

    __slots__ = ("_issued", "_rows", "_turn", "_type", "_writes")

    def __init__(self, type_: TableType, turn: Turn, writes: Writes) -> None:
        self._type, self._turn, self._writes = type_, turn, writes
        self._rows = dict[Key, Row]()
        self._issued = 0

    # reading

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the row with this key, or the default. 7 and "7" are the same key."""
        row = self._rows.get(key) if key.__class__ is str or key.__class__ is int else None
        if row is not None:
            return row
        found_key = find_key(self._writes, self._type.entity.name, key)
        return default if found_key is None else self._row(found_key)

    def __getitem__(self, key: Any) -> Row:
        """Return the row with this key. Raises `Missing`."""
        row = self.get(key)
        if row is None:
            raise Missing(f"{self._type.name.replace('_', ' ').capitalize()} {key!r} not found")
        return row

    if not TYPE_CHECKING:  # a type checker reports the name itself

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            raise AttributeError(
                f"tables have no {name!r}: use get or [key], find, search, page, add, delete, public, in, len, or "
                f"iterate over world.{self._type.name}"
            )

    def __contains__(self, key: Any) -> bool:
        return self.get(key) is not None

    def __len__(self) -> int:
        return self._writes.view.count(self._type.entity.name)

    def __iter__(self) -> Iterator[Row]:
        """Iterate over all rows in the order of creation, without those that the loop itself adds or deletes."""
        rows, writes, entity = self._rows, self._writes, self._type.entity.name
        for key, record in writes.view.rows(entity):
            row = rows.get(key)
            if row is None:
                if writes.get(entity, key) is None:
                    continue
                row = rows[key] = Row(record, key, self)
            yield row

    def find(self, /, **equals: Json) -> list[Row]:
        """Return the rows whose fields have these values; all rows without any.

        A missing field has the value None; 1 equals 1.0, but neither True nor "1".
        """
        if not equals:
            return list(self)
        entity = self._type.entity
        equals = {name: plain(value) for name, value in equals.items()}
        is_nested = any(isinstance(value, dict | list) for value in equals.values())
        view = self._writes.whole_view if is_nested else self._writes.view
        if entity.key in equals and not entity.singleton:
            key = find_key(view, entity.name, equals.pop(entity.key))
            hits = [] if key is None else [(key, view.get(entity.name, key) or {})]
        else:
            name, value = equals.popitem()
            hits = view.find(entity.name, name, value)
        wanted = [(name, comparable(value)) for name, value in equals.items()]
        rows = (key for key, record in hits if all(value in comparables(record, name) for name, value in wanted))
        return [self._row(key) for key in rows]

    def search(self, text: Any, *fields: str) -> list[Row]:
        """Return the rows in whose fields each word of a text occurs, in any letter case; all rows without a text.

        Default: all fields but the hidden ones.
        """
        entity, words = self._type.entity, [] if text is None else str(text).lower().split()
        if not words:
            return list(self)
        names = fields or (entity.key, *(name for name in entity.fields if name not in self._type.hidden))
        rows = self._writes.whole_view.search(entity.name, names, words)
        return [self._row(key) for key, _ in rows]

    def page(
        self,
        rows: Iterable[Row] | None = None,
        *,
        limit: int | None = 20,
        offset: int | None = 0,
        page: int | None = None,
        cursor: str | int | None = None,
        sort: str | Callable[[Row], Any] | None = None,
        descending: bool = False,
    ) -> Page:
        """Return one page of rows; of all rows of the table without any.

        Where it begins: after `offset` rows, at page number `page` (from 1), or at the `cursor` of an earlier page.
        `limit` None: all rows. `sort`: a field, whose missing values come last, or a function. Raises `Refused` for a
        cursor that no page had.
        """
        whole = None if rows is None and sort is None else list(self if rows is None else rows)
        if whole is not None and sort is not None:
            sort_rows(whole, sort, descending=descending)
        total = len(self) if whole is None else len(whole)
        size = total if limit is None else max(limit, 0)
        start = max(offset or 0 if page is None else (page - 1) * size, 0)
        if cursor not in {None, ""}:
            start = offset_of(str(cursor))
        end = start + size
        shown = self._slice(start, end) if whole is None else whole[start:end]
        return Page(shown, total, start, str(end) if size and end < total else None)

    def _slice(self, start: int, end: int) -> list[Row]:
        """Return the rows from one place to another in the order of creation."""
        keys = islice(self._writes.view.rows(self._type.entity.name), start, end)
        return [self._row(key) for key, _ in keys]

    # writing

    def add(self, record: Mapping[str, Json] | None = None, /, **fields: Json) -> Row:
        """Create a record, with the defaults of the fields that are left out. Without a key it gets the next id.

        Raises `Refused` if there is a record with this key.
        """
        entity = self._type.entity
        given: Record = {**(record or {}), **fields}
        key = entity.name if entity.singleton else self._new_key(plain(given.get(entity.key)))
        if self.get(key) is not None:
            raise self._used(key)
        named: Record = {} if entity.singleton else {entity.key: key}
        values: Record = {**plain(self._type.defaults), **plain(given), **named}
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
        return {name: value for name, value in plain(row).items() if name not in self._type.hidden}

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

    def _new_key(self, given: Json) -> Key:
        """Return the key of a new record: the given one, or the next id."""
        entity = self._type.entity
        if given is not None:
            return self._key(given)
        if entity.natural:
            raise TypeError(f"{self._type.name}.add needs {entity.key}: callers choose the keys of this table")
        draws = self._turn.draws
        if self._issued:  # each id of a call has draws of its own, so that none is tried twice
            draws = replace(draws, scope=f"{draws.scope}/key/{self._issued}")
        self._issued += 1
        return next_key(entity, self._type.keys, self._writes.view, draws)

    def _key(self, given: Json) -> Key:
        if is_key(given):
            return given
        name = self._type.entity.key
        raise TypeError(f"the key {name} of {self._type.name} must be a text or a whole number, not {given!r}")

    def _used(self, key: Key) -> Refused:
        return Refused(f"{self._type.name.replace('_', ' ').capitalize()} {key!r} already exists")

    def _row(self, key: Key) -> Row:
        row = self._rows.get(key)
        if row is None:
            record = self._writes.get(self._type.entity.name, key)
            row = self._rows[key] = Row(record or {}, key, self)
        return row

    # what rows report

    @property
    def key_name(self) -> str:
        """The field that identifies a record; '' for singletons."""
        return "" if self._type.entity.singleton else self._type.entity.key

    def changed(self, row: Row) -> None:
        """Note a row that may have changed; one whose key was assigned is renamed."""
        entity = self._type.entity
        new = row.raw(entity.key, row.key)
        if new != row.key and not entity.singleton:
            self._rename(row, new)
        self._writes.note(entity.name, row)

    def handed_out(self, row: Row) -> None:
        """Note a row whose nested value was read, and may be changed in place from now on."""
        self._writes.note_handed_out(self._type.entity.name, row)

    def _rename(self, row: Row, new: Json) -> None:
        old = row.key
        row.restore(self._type.entity.key, old)
        key = self._key(new)
        other = self.get(key)
        if other is row:
            return
        if other is not None:
            raise self._used(key)
        row.restore(self._type.entity.key, key)
        del self._rows[old]
        self._writes.remove(self._type.entity.name, old)
        row.key, self._rows[key] = key, row
        self.handed_out(row)
