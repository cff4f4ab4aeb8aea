"""What does a statement tell and change: SQLite over the tables of a view, rolled back, with the changes as records?

A database is kept between calls and brought up to the view of each: rows are looked at again only in the tables that a
statement names, and written again only where the records are others.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mcp_sim.abilities.refusal import Refused
from mcp_sim.domain import Entity
from mcp_sim.schemas import as_list, as_object, main_type, type_name
from mcp_sim.sql_tables.recognition import SCHEMA
from mcp_sim.sql_tables.sandbox import MOST_ROWS, Sandbox
from mcp_sim.sql_tables.tables import ROWID, entity_statement, from_sql, quoted, shown, to_sql
from mcp_sim.types import Change, Json, Key, Record, Turn, View
from mcp_sim.words import plural

Row: TypeAlias = tuple[Any, ...]
_WORD = re.compile(r"\w+")
_REACHES = re.compile(r"\b(references|trigger|view)\b", re.IGNORECASE)
_WITHOUT = re.compile(r"\bwithout\s+rowid\b", re.IGNORECASE)


@dataclass(slots=True)
class Told:
    """What a statement told: its rows, if it has any, and how many it changed."""

    columns: Sequence[str] = ()
    rows: Sequence[Record] = ()
    affected: int = 0
    last: int | None = None
    has_rows: bool = False
    changes: list[Change] = field(default_factory=list[Change])


@dataclass(slots=True)
class _Loaded:
    """A table as it stands in SQLite: by rowid the key, the record, and the row."""

    statement: str
    columns: tuple[str, ...]
    key: str | None
    order: list[tuple[Key, Record]] = field(default_factory=list[tuple[Key, Record]])
    rows: dict[int, Row] = field(default_factory=dict[int, Row])


class Database:
    """SQLite over the tables of a world: those of its entities, and those that a state gave or SQL made."""

    def __init__(self, entities: Mapping[str, Entity], prefix: str = "") -> None:
        self._entities = entities
        self._schema = prefix + SCHEMA
        self._prefix = prefix
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._sandbox = Sandbox(self._connection)
        self._loaded: dict[str, _Loaded] = {}
        self._others: dict[str, str] = {}
        self._own = self._statements()

    def tables(self, view: View) -> dict[str, str]:
        """Table -> the statement that makes it."""
        made = {str(key): str(record["sql"]) for key, record in view.rows(self._schema)}
        own = self._own.items()
        return {**{name: told for name, (told, entity) in own if name not in made and entity not in made}, **made}

    def run(self, turn: Turn, statements: Sequence[str], parameters: Json, allowed: frozenset[str]) -> list[Told]:
        """Run statements, all or none of them; `allowed` are the first words that they may begin with, if not any."""
        for statement in statements:
            _check(statement, allowed)
        self._bring(turn.view, statements)
        self._connection.execute("BEGIN")
        try:
            told = [self._one(turn, statement, parameters) for statement in statements]
            if told and (any(one.affected for one in told) or self._is_reshaped()):
                told[-1].changes.extend(self._changes(turn.view))
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        return told

    # what is made of the view

    def _statements(self) -> dict[str, tuple[str, str]]:
        """The tables of entities that tools work on: table -> its statement, and the entity."""
        kept = {name: entity for name, entity in self._entities.items() if self._is_table(name, entity)}
        names = {name: plural(name.removeprefix(self._prefix)) for name in kept}
        return {names[name]: (entity_statement(names[name], entity, names), name) for name, entity in kept.items()}

    def _is_table(self, name: str, entity: Entity) -> bool:
        return not entity.singleton and name != self._schema and name.startswith(self._prefix) and entity.key != ROWID

    def entity_of(self, table: str) -> str:
        """The entity whose records are the rows of a table."""
        return self._own[table][1] if table in self._own else self._prefix + table

    def _bring(self, view: View, statements: Sequence[str]) -> None:
        """Make the database what the view is, as far as the statements can look."""
        tables = self.tables(view)
        self._connection.execute("PRAGMA foreign_keys = OFF")
        if {name: one.statement for name, one in self._loaded.items()} | self._others != tables:
            self._reshape(tables, view)
        said = {word.lower() for statement in statements for word in _WORD.findall(statement)}
        everything = any(_REACHES.search(statement) for statement in tables.values())
        for name in self._loaded:
            if everything or said.intersection(_WORD.findall(name.lower())):
                self._fill(name, view)
        self._connection.execute("PRAGMA foreign_keys = ON" if self._own else "PRAGMA foreign_keys = OFF")

    def _reshape(self, tables: Mapping[str, str], view: View) -> None:
        for name, kind in self._connection.execute(
            "SELECT name, type FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type = 'table'"
        ).fetchall():
            self._connection.execute(f"DROP {kind} IF EXISTS {quoted(name)}")
        self._loaded, self._others = {}, {}
        for name, statement in sorted(tables.items(), key=lambda one: not _makes_table(one[1])):
            self._connection.execute(statement)
            if _makes_table(statement):
                self._loaded[name] = self._shape(name, statement)
            else:
                self._others[name] = statement

    def _shape(self, name: str, statement: str) -> _Loaded:
        told = self._connection.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
        keys = [row[1] for row in told if row[5]]
        return _Loaded(statement, tuple(row[1] for row in told), keys[0] if len(keys) == 1 else None)

    def _fill(self, name: str, view: View) -> None:
        """The rows of a table as the view has them; the order of rows is that of creation."""
        table = self._loaded[name]
        order = list(view.rows(self.entity_of(name)))
        same = len(order) >= len(table.order) and all(
            one[1] is other[1] for one, other in zip(order, table.order, strict=False)
        )
        if not same:
            self._connection.execute(f"DELETE FROM {quoted(name)}")  # noqa: S608 (quoted)
            table.order, table.rows = [], {}
        fresh = order[len(table.order) :]
        if fresh:
            self._insert(name, table, fresh)
            table.order = order
            table.rows = dict(self._rows(name, table.columns))

    def _insert(self, name: str, table: _Loaded, fresh: Sequence[tuple[Key, Record]]) -> None:
        named = ", ".join(quoted(column) for column in table.columns)
        marks = ", ".join("?" * len(table.columns))
        rows = [tuple(to_sql(record.get(column)) for column in table.columns) for _, record in fresh]
        if table.key is None and ROWID not in (column.lower() for column in table.columns):
            named, marks = f"rowid, {named}", f"?, {marks}"
            rows = [(key, *row) for (key, _), row in zip(fresh, rows, strict=True)]
        self._connection.executemany(f"INSERT INTO {quoted(name)} ({named}) VALUES ({marks})", rows)  # noqa: S608 (quoted)

    def _rows(self, name: str, columns: Sequence[str]) -> Iterator[tuple[int, Row]]:
        named = ", ".join(quoted(column) for column in columns)
        for rowid, *row in self._connection.execute(f"SELECT rowid, {named} FROM {quoted(name)} ORDER BY rowid"):  # noqa: S608 (quoted)
            yield rowid, tuple(row)

    # what a statement does

    def _one(self, turn: Turn, statement: str, parameters: Json) -> Told:
        self._sandbox.enter(turn.now, turn.draws)
        before = self._connection.total_changes
        try:
            cursor = self._connection.execute(_WITHOUT.sub("", statement), _bound(parameters))
            columns = [one[0] for one in cursor.description or ()]
            rows = cursor.fetchmany(MOST_ROWS + 1)
        except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
            raise self._refusal(error, turn.view) from None
        finally:
            self._sandbox.leave()
        if len(rows) > MOST_ROWS:
            raise Refused("invalid", f"The result has more than {MOST_ROWS:,} rows; add a LIMIT")
        told = [dict(zip(columns, map(shown, row), strict=True)) for row in rows]
        affected = self._connection.total_changes - before
        return Told(columns, told, affected, cursor.lastrowid, has_rows=bool(columns))

    def _refusal(self, error: Exception, view: View) -> Refused:
        """What SQLite says, and what there is instead of a table that is not there."""
        if self._sandbox.reason is not None:
            return Refused("forbidden", self._sandbox.reason)
        told = str(error)
        if told.startswith("no such table"):
            told += f"; tables: {', '.join(self.tables(view)) or 'none'}"
        kind = "conflict" if isinstance(error, sqlite3.IntegrityError) else "invalid"
        return Refused(kind, f"SQL error: {told}", error=told)

    def _is_reshaped(self) -> bool:
        return self._standing() != {name: one.statement for name, one in self._loaded.items()} | self._others

    def _standing(self) -> dict[str, str]:
        """What is made now: table, view, index or trigger -> its statement."""
        found = self._connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        )
        return dict(found.fetchall())

    def _changes(self, view: View) -> Iterator[Change]:
        for count, change in enumerate(self._written(view), 1):
            if count > MOST_ROWS:
                raise Refused("invalid", f"The statement changes more than {MOST_ROWS:,} rows; change fewer at once")
            yield change

    def _written(self, view: View) -> Iterator[Change]:
        standing = self._standing()
        before = {name: one.statement for name, one in self._loaded.items()} | self._others
        for name, statement in standing.items():
            if before.get(name) != statement:
                yield self._put(view, self._schema, name, {"name": name, "sql": statement})
        for name in before.keys() - standing.keys():
            if name in self._own and view.get(self._schema, name) is None:
                raise Refused("forbidden", f"The table {name} cannot be dropped")
            yield Change("remove", self._schema, name, expected=view.version(self._schema, name))
        for name in dict.fromkeys((*self._loaded, *standing)):
            if name in self._loaded or _makes_table(standing[name]):
                yield from self._rows_written(view, name, standing)

    def _rows_written(self, view: View, name: str, standing: Mapping[str, str]) -> Iterator[Change]:
        old = self._loaded.get(name)
        entity = self.entity_of(name)
        if name not in standing:
            for key, _ in view.rows(entity):
                yield Change("remove", entity, key, expected=view.version(entity, key))
            return
        is_same = old is not None and old.statement == standing[name]
        shape = old if old is not None and is_same else self._shape(name, standing[name])
        after = dict(self._rows(name, shape.columns))
        known = _known(old) if old is not None else {}
        rows = old.rows if old is not None else {}
        gone = [known[rowid][0] for rowid in rows if rowid not in after]
        put: dict[Key, Record] = {}
        for rowid, row in after.items():
            if not is_same or rows.get(rowid) != row:
                key, record = self._record(entity, shape, rowid, row, known.get(rowid))
                put[key] = record
                gone += [known[rowid][0]] if rowid in known and known[rowid][0] != key else []
        yield from (Change("remove", entity, key, expected=view.version(entity, key)) for key in gone if key not in put)
        yield from (self._put(view, entity, key, record) for key, record in put.items())

    def _record(
        self, entity: str, shape: _Loaded, rowid: int, row: Row, was: tuple[Key, Record] | None
    ) -> tuple[Key, Record]:
        """The record that a row is, and its key."""
        before = was[1] if was is not None else {}
        known = self._entities.get(entity)
        kinds = {name: main_type(one.schema) for name, one in known.fields.items()} if known is not None else {}
        record: Record = {}
        for column, value in zip(shape.columns, row, strict=True):
            declared = kinds.get(column, "")
            record[column] = from_sql(value, type_name(before[column]) if before.get(column) is not None else declared)
        if shape.key is None:
            return rowid, {ROWID: rowid, **record}
        key: Json = record[shape.key]
        if was is not None and str(was[0]) == str(key):
            return was[0], {**record, shape.key: was[0]}
        if not isinstance(key, str | int) or isinstance(key, bool):
            raise Refused("conflict", f"{shape.key} names the row: it must be a text or a whole number, not {key}")
        return key, record

    @staticmethod
    def _put(view: View, entity: str, key: Key, record: Record) -> Change:
        return Change("put", entity, key, record, expected=view.version(entity, key))


def _known(table: _Loaded) -> dict[int, tuple[Key, Record]]:
    """The key and the record of each row. A column may hold a number as text."""
    by_key = {str(key): (key, record) for key, record in table.order}
    at = table.columns.index(table.key) if table.key is not None else None
    return {rowid: by_key[str(rowid if at is None else row[at])] for rowid, row in table.rows.items()}


def _makes_table(statement: str) -> bool:
    return bool(re.match(r"\s*create\s+table\b", statement, re.IGNORECASE))


def _bound(parameters: Json) -> Any:
    """Parameters of a statement, by name or by place."""
    if isinstance(parameters, dict):
        return {name: to_sql(value) for name, value in as_object(parameters).items()}
    return tuple(to_sql(value) for value in as_list(parameters))


_COMMENTS = re.compile(r"^(\s|--[^\n]*(\n|$)|/\*.*?\*/|\()*", re.DOTALL)


def first_word(statement: str) -> str:
    """The word that a statement begins with, in upper case."""
    found = _WORD.match(_COMMENTS.sub("", statement, count=1))
    return found[0].upper() if found else ""


def _check(statement: str, allowed: frozenset[str]) -> None:
    word = first_word(statement)
    if not word:
        raise Refused("invalid", "The statement is empty")
    if allowed and word not in allowed:
        raise Refused("invalid", f"{word} is not allowed with this tool; it takes {', '.join(sorted(allowed))}")
