"""Read tables from data files: JSON, YAML, CSV, SQLite, or a folder with one file per table."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import field
from itertools import count
from pathlib import Path
from typing import Any, cast

from mcp_sim.spec.places import Place
from mcp_sim.spec.sources import SUFFIXES, Sources, display
from mcp_sim.spec.yaml12 import dotted
from mcp_sim.types import Json, Record, as_list, as_object, frozen
from mcp_sim.types.errors import Problem
from mcp_sim.types.lexicon.english import singular_phrase, snake, words

MAX_ROWS = 1_000_000  # the largest number of rows per table

DATABASES = (".sqlite", ".sqlite3", ".db")
CSVS = (".csv", ".tsv")
MOST_COLUMNS = 2_000  # as many as a table of SQLite
MOST_CELLS = 10_000_000
"""The largest number of values in a file. Python takes some fifty bytes for each."""
MOST_BYTES = 64 * 1024 * 1024
"""The largest size of texts and blobs in a database. Views and generated columns could make any amount from nothing."""
_STEPS = 100_000  # SQLite's counter is looked at once in so many steps: oftener would slow the view down
_MAX_STEPS = 50_000_000
"""The largest number of SQLite virtual machine steps for reading a view. A join without a condition would otherwise not
end."""

_LONGEST_VALUE = 64 * 1024 * 1024  # as long as a whole file

MAX_CSV_VALUE = 256 * 1024  # the largest number of characters of a value in a CSV file


@frozen
class Table:
    """The rows of one table. `is_text`: every value is a text, as in CSV; `is_loose`: types are those of SQLite.

    `is_unread`: it is a view that matches no entity, so its rows were not read.
    """

    name: str
    file: str
    rows: Sequence[Record]
    place: Place | None = None
    lines: Sequence[int] = field(default=())
    is_text: bool = False
    is_loose: bool = False
    is_unread: bool = False

    def problem(self, row: int, column: str, message: str, *, is_warning: bool = False) -> Problem:
        """Return a problem of a row, counted from 0, or of the whole table (-1)."""
        where = (self.name, *(() if row < 0 else (row,)), *((column,) if column else ()))
        line = self.lines[row] if 0 <= row < len(self.lines) else self._line(row)
        return Problem(self.file, line, dotted(where), message, "warning" if is_warning else "error")

    def _line(self, row: int) -> int:
        if self.place is None:
            return 0
        keys = list(as_object(self.place.value)) if self.place.is_mapping else []
        place = (keys[row] if keys else row,) if row >= 0 else ()
        return self.place.document.line((*self.place.path, *place))


def find_entity(table: str, entities: Iterable[str]) -> str | None:
    """Return the entity that a table is named after, in singular or plural and in any case style, or None."""
    wanted = {snake(table), singular_phrase(words(table))}
    return next((name for name in entities if name == table or snake(name) in wanted), None)


def read_tables(path: Path, sources: Sources, entities: Iterable[str]) -> list[Table]:
    """Return the tables of a file. Problems are added to `sources`.

    `entities` distinguish a mapping of tables from one table that maps keys to records.
    """
    if path.suffix.lower() in CSVS:
        return list(_csv(path, sources))
    if path.suffix.lower() in DATABASES:
        return list(_database(path, sources, entities))
    return list(_document(path, sources, entities))


def files_in(folder: Path) -> list[Path]:
    """Return the data files in a folder, sorted by name."""
    known = (*SUFFIXES, *CSVS, *DATABASES)
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in known and path.is_file())


def _document(path: Path, sources: Sources, entities: Iterable[str]) -> Iterator[Table]:
    root = sources.open(path)
    if root is None:
        return
    for name, place in _parts(path.stem, root, entities).items():
        rows = records_in(place.value)
        if rows is None:
            place.error("must be a list of records, or a mapping from keys to records")
        elif _is_within(rows, display(path), sources):
            yield Table(name, place.document.file, rows, place)


def _parts(name: str, root: Place, entities: Iterable[str]) -> dict[str, Place]:
    """Return the tables in a document: those in a mapping, or the document itself."""
    names = list(root.mapping)
    has_tables = any(find_entity(member, entities) for member in names)
    if has_tables or any(isinstance(item, list) for item in root.mapping.values()):
        return {member: root.at(member) for member in names}
    return {name: root}


def records_in(value: Json) -> list[Record] | None:
    """Return the records in a list, or in a mapping from keys, which get theirs in the field `KEY`; else None."""
    if isinstance(value, dict):
        body = cast("Record", value)
        return [{**row, KEY: key} for key, row in body.items()] if all(map(_is_record, body.values())) else None
    rows = as_list(value)
    return rows if isinstance(value, list) and all(map(_is_record, rows)) else None


def _is_record(value: Json) -> bool:
    return isinstance(value, dict)


KEY = "\0key"  # the field that holds the key of a row from a mapping


def _csv(path: Path, sources: Sources) -> Iterator[Table]:
    """Yield the table in a CSV file, whose first line holds the names."""
    data = sources.bytes_of(path)
    file = display(path)
    if data is None:
        return
    try:
        text = data.decode("utf-8-sig")
        names, rows, lines = _separated(text, "\t" if path.suffix.lower() == ".tsv" else ",")
    except UnicodeDecodeError:
        return sources.problems.append(Problem(file, 0, "", "is not UTF-8"))
    except csv.Error as error:
        return sources.problems.append(Problem(file, 0, "", f"is not CSV: {error}"))
    if len(names) > MOST_COLUMNS or sum(map(len, rows)) > MOST_CELLS:
        most = f"{MOST_COLUMNS} columns or {MOST_CELLS} values"
        return sources.problems.append(Problem(file, 1, "", f"has more than {most}"))
    records: list[Record] = [dict(zip(names, row, strict=False)) for row in rows]
    table = Table(path.stem, file, records, lines=lines, is_text=True)
    for index, row in enumerate(rows):
        if len(row) != len(names):
            message = f"has {len(row)} values, and the first line {len(names)}"
            sources.problems.append(table.problem(index, "", message))
    for name in (name for name, times in Counter(names).items() if times > 1 or not name):
        message = f"the column {name!r} {'occurs twice' if name else 'has no name'}"
        sources.problems.append(Problem(file, 1, "", message))
    if _is_within(rows, file, sources):
        yield table
    return None


def _separated(text: str, sign: str) -> tuple[list[str], list[list[str]], list[int]]:
    """Return the names in the first line, the rows, and the line number of each."""
    csv.field_size_limit(MAX_CSV_VALUE)
    if sign == "," and ";" in text.partition("\n")[0] and "," not in text.partition("\n")[0]:
        sign = ";"
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)
    first = list(next(reader, ()))
    names = [name.strip() for name in first]
    rows: list[list[str]] = []
    lines: list[int] = []
    begin = reader.line_num + 1
    for row in reader:
        if row:
            rows.append(row)
            lines.append(begin)
        begin = reader.line_num + 1
    return names, rows, lines


def _database(path: Path, sources: Sources, entities: Iterable[str]) -> Iterator[Table]:
    """Yield the tables of a SQLite file, which is never opened for writing.

    A view is read if it matches an entity that has no table.
    """
    data = sources.bytes_of(path)
    if data is None:
        return
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        note = f"is not up to date: {log.name} holds newer changes; close the program that has the file open"
        sources.problems.append(Problem(display(path), 0, "", note, "warning"))
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            if data[18:20] == b"\x02\x02":  # a database in memory has no write-ahead log
                data = data[:18] + b"\x01\x01" + data[20:]
            connection.deserialize(data)
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
            steps = count()
            connection.set_progress_handler(lambda: next(steps) > _MAX_STEPS // _STEPS, _STEPS)
            for name, rows in _read_tables(connection, entities).items():
                if rows is None:
                    yield Table(name, display(path), (), is_unread=True)
                elif _is_within(rows, display(path), sources):
                    yield Table(name, display(path), rows, is_loose=True)
    except sqlite3.Error as error:
        sources.problems.append(Problem(display(path), 0, "", f"cannot be read as SQLite: {error}"))


def _read_tables(connection: sqlite3.Connection, entities: Iterable[str]) -> dict[str, list[Record] | None]:
    """Return the rows of tables and views; None for a view that matches no entity."""
    listed = connection.execute(
        "SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite^_%' ESCAPE '^'"
    ).fetchall()
    names = [str(name) for kind, name in listed if kind == "table"]
    tables: dict[str, list[Record] | None] = {name: _rows_of(connection, name) for name in names}
    held = {find_entity(name, entities) for name in tables}
    for name in (str(name) for kind, name in listed if kind == "view"):
        entity = find_entity(name, entities)
        if entity not in held or entity is None:
            held.add(entity)
            try:
                tables[name] = None if entity is None else _rows_of(connection, name)
            except (sqlite3.OperationalError, sqlite3.DataError) as error:
                raise sqlite3.OperationalError(f"the view {name}: {error}") from None
    return tables


def _rows_of(connection: sqlite3.Connection, table: str) -> list[Record]:
    quoted = table.replace('"', '""')
    cursor = connection.execute(f'SELECT * FROM "{quoted}" LIMIT {MAX_ROWS + 1}')  # noqa: S608 (a quoted name)
    columns, rows, size = [column[0] for column in cursor.description], list[Record](), 0
    for row in cursor:
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
        if size > MOST_BYTES or len(rows) * len(columns) > MOST_CELLS:
            raise sqlite3.DataError(f"{table} has more than {MOST_BYTES >> 20} MiB or {MOST_CELLS} values")
        rows.append(dict(zip(columns, row, strict=True)))
    return rows


def _is_within(rows: Sequence[Any], file: str, sources: Sources) -> bool:
    if len(rows) > MAX_ROWS:
        sources.problems.append(Problem(file, 0, "", f"has more than {MAX_ROWS} rows"))
    return len(rows) <= MAX_ROWS
