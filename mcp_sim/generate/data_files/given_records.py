"""Read the records that a scenario gives, inline and in files, and convert them to the types of their fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from mcp_sim.generate.data_files.tables import KEY, Table, files_in, find_entity, read_tables, records_in
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.spec.messages import shown
from mcp_sim.spec.parts.scenario import EVERY, RecordsPart
from mcp_sim.spec.places import Place
from mcp_sim.spec.sources import Sources, is_file_name
from mcp_sim.types import Json, Record, frozen
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import Problem, did_you_mean
from mcp_sim.types.json_schema.shapes import is_nullable, main_type, types_of
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import decode_strict, is_key
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.scenario import GivenRecords

MAX_PROBLEMS = 20  # how many problems of one table are reported


def given_records(
    place: Place, parts: Mapping[str, RecordsPart], document: Path, sources: Sources, domain: Domain
) -> dict[str, GivenRecords]:
    """Return the given records of each entity that a scenario mentions. `place` is that of `world.records`."""
    records = {name: list(entry.rows) for name, entry in parts.items() if name != EVERY}
    counts = {name: entry.count for name, entry in parts.items()}
    for name, records_part in parts.items():
        if records_part.file is not None:
            at = place if not place.is_mapping else place.at(name)
            rows = _from_file(at, records_part.file, name, document, sources, domain)
            for entity, more in rows.items():
                records[entity] = [*more, *records.get(entity, ())]
    given = {name: _with_count(place.at(name), rows, counts.get(name)) for name, rows in records.items()}
    # Warn, once per field, of links to records that will not exist.
    keys = {name: {row.get(domain.entities[name].key) for row in records.rows} for name, records in given.items()
            if name in domain.entities and records.count == len(records.rows)}  # fmt: skip
    for name, records in given.items():
        fields = domain.entities[name].fields.values() if name in domain.entities else ()
        for field in fields:
            # The values of a link that are not among the keys of its target, if these are known.
            known = keys.get(field.link or "")
            if known is None or main_type(field.schema) == "array":
                lost = []
            else:
                values = (row.get(field.name) for row in records.rows)
                lost = [value for value in values if isinstance(value, str | int) and value not in known]
            if lost:
                message = f"{len(lost)} of its records link to no {field.link}, as {shown(lost[0])} in {field.name}"
                place.at(name).warning(message)
    return given


def _with_count(place: Place, rows: list[Record], count: int | None) -> GivenRecords:
    if count is not None and count < len(rows):
        place.error(f"count is {count}, but there are {len(rows)} rows, which count includes")
    return GivenRecords(len(rows) if count is None else count, tuple(rows))


def _from_file(
    at: Place, file: str, name: str, document: Path, sources: Sources, domain: Domain
) -> dict[str, list[Record]]:
    """Return the rows of a file by entity: of all entities, or of the one that the scenario names."""
    path = sources.named_file(file, document, may_be_folder=True)
    if isinstance(path, str):
        is_name = name == EVERY or is_file_name(file)
        at.error(path if is_name else f"expected a number of records or a file beside {document.name}, got {file!r}")
        return {}
    tables = [table for data_file in _data_files(path, at, document, sources)
              for table in read_tables(data_file, sources, domain.entities)]  # fmt: skip
    if name == EVERY:
        return _all_tables(tables, sources, domain)
    chosen = _chosen([table for table in tables if not table.is_unread], at, file, name)
    if chosen is None or name not in domain.entities:
        return {}
    return _typed(chosen, domain.entities[name], sources, domain)


def _data_files(path: Path, at: Place, document: Path, sources: Sources) -> Iterator[Path]:
    """Yield a file, or the data files in a folder. A link that leads to where the document may not read is an error."""
    for file in files_in(path) if path.is_dir() else ():
        named = sources.named_file(str(file.absolute()), document)
        if isinstance(named, str):
            at.error(named)
        else:
            yield file
    if not path.is_dir():
        yield path


def _chosen(tables: list[Table], at: Place, file: str, name: str) -> Table | None:
    """Return the table of an entity: the one of its name, or the only one."""
    only = tables[0] if len(tables) == 1 else None
    chosen = next((table for table in tables if find_entity(table.name, [name])), only)
    if chosen is None and tables:
        at.error(f"{file} has no table {name!r}{did_you_mean(name, [table.name for table in tables])}")
    return chosen


def _all_tables(tables: list[Table], sources: Sources, domain: Domain) -> dict[str, list[Record]]:
    by_entity: dict[str, list[Record]] = {}
    for table in tables:
        entity = find_entity(table.name, domain.entities)
        if entity is None:
            message = f"no tool uses this table, and it is ignored{did_you_mean(table.name, domain.entities)}"
            sources.problems.append(table.problem(-1, "", message, is_warning=True))
            continue
        for name, rows in _typed(table, domain.entities[entity], sources, domain).items():
            by_entity[name] = [*by_entity.get(name, ()), *rows]
    return by_entity


# rows -----------------------------------------------------------------------------------------------------------------

_Wrong: TypeAlias = tuple[int, str, str]
"""A row, its column, and what is wrong there."""


@frozen
class _Column:
    """The field of a column, and its JSON types except null, () if it takes any. `is_name`: it is a key or a link."""

    field: str
    validator: Validator | None
    kinds: tuple[str, ...]
    takes_null: bool
    is_name: bool


def _typed(table: Table, entity: Entity, sources: Sources, domain: Domain) -> dict[str, list[Record]]:
    """Return the rows, converted to the types of their fields, and the rows of other entities nested in them."""
    rows, nested = unnested(table, entity, domain)
    columns = _columns(replace(table, rows=rows), entity, sources)
    problems: list[_Wrong] = []
    records = [_record(table, index, row, columns, problems) for index, row in enumerate(rows)]
    seen: set[Json] = set()
    for index, row in enumerate(records):
        key = row.get(entity.key)
        if key is None:
            continue
        if not is_key(key):
            problems.append((index, entity.key, f"a key must be a string or a whole number, not {shown(key)}"))
        elif key in seen:
            problems.append((index, entity.key, f"a second {entity.name} {key!r}"))
        else:
            seen.add(key)
    sources.problems += [table.problem(*problem) for problem in problems[:MAX_PROBLEMS]]
    if len(problems) > MAX_PROBLEMS:
        sources.problems.append(table.problem(-1, "", f"{len(problems) - MAX_PROBLEMS} more values are wrong"))
    tables = {entity.name: records}
    for name, inner in nested.items():
        inner_table = Table(name, table.file, inner, is_loose=table.is_loose)
        for other, more in _typed(inner_table, domain.entities[name], sources, domain).items():
            tables[other] = [*tables.get(other, ()), *more]
    return tables


def _columns(table: Table, entity: Entity, sources: Sources) -> dict[str, _Column]:
    """Return the fields of a table's columns. Warn once of each column that no tool uses."""
    fields = {snake(name): name for name in entity.fields} | {name: name for name in entity.fields}
    columns: dict[str, _Column] = {}
    for name in dict.fromkeys(column for row in table.rows for column in row):
        field = entity.key if name == KEY else fields.get(name, fields.get(snake(name), name))
        if field not in entity.fields and field != entity.key:
            message = f"column {name!r} of {entity.name} is not used by any tool{did_you_mean(name, entity.fields)}"
            sources.problems.append(table.problem(-1, name, message, is_warning=True))
        columns[name], schema = _column(field, entity)
        if time_meaning(field, schema) is not None:
            sources.problems += _days_first(table, name, schema)
    return columns


def _column(field: str, entity: Entity) -> tuple[_Column, Record]:
    """Return the column of a field, and the field's schema."""
    known, is_key = entity.fields.get(field), field == entity.key
    key_schema: Record = {"type": "integer" if isinstance(entity.key_like, int) else "string"}
    schema = known.schema if known is not None else key_schema if is_key else {}
    kinds = tuple(kind for kind in types_of(schema) if kind != "null")
    validator = Validator(schema) if known is not None else None
    return _Column(field, validator, kinds, is_nullable(schema), bool(known and known.link) or is_key), schema


def _days_first(table: Table, column: str, schema: Record) -> Iterator[Problem]:
    """Yield a problem for the first ambiguous date of a column: an error if its schema requires dates."""
    texts = ((index, row.get(column)) for index, row in enumerate(table.rows))
    index = next((index for index, text in texts if isinstance(text, str) and _YEAR_LAST.fullmatch(text)), None)
    if index is not None:
        message = f"{shown(table.rows[index][column])} is no ISO 8601 date: write the year first, as in 2030-01-31"
        is_warning = schema.get("format") not in {"date", "date-time"}
        yield table.problem(index, column, message, is_warning=is_warning)


def _record(table: Table, index: int, row: Record, columns: Mapping[str, _Column], problems: list[_Wrong]) -> Record:
    record: Record = {}
    for name, value in row.items():
        column = columns[name]
        if name == KEY and record.get(column.field) is not None:
            continue
        try:
            # Convert a value to the type of its field; return `ABSENT` for an empty one.
            if (table.is_text or name == KEY) and isinstance(value, str):
                typed = _from_text(value, column)
            else:
                typed = _from_sqlite(value, column) if table.is_loose else value
        except ValueError as error:
            problems.append((index, name, str(error)))
            continue
        if typed is ABSENT:
            continue
        record[column.field] = typed
        wrong = column.validator.problems(typed) if column.validator is not None else ()
        problems += [(index, name, message) for message in wrong]
    return record


def unnested(table: Table, entity: Entity, domain: Domain) -> tuple[list[Record], dict[str, list[Record]]]:
    """Split off nested records of entities that link to this one. Return the rows without them, and them."""
    # The columns that hold records of an entity which links to this one, with its name and the link field.
    inner = dict[str, tuple[str, str]]()
    for column in dict.fromkeys(name for row in table.rows for name, value in row.items() if records_in(value)):
        name = None if column in entity.fields else find_entity(column, domain.entities)
        fields = domain.entities[name].fields.values() if name is not None else ()
        link = next((field.name for field in fields if field.link == entity.name), None)
        if name is not None and link is not None:
            inner[column] = (name, link)
    if not inner:
        return list(table.rows), {}
    rows_by_table: dict[str, list[Record]] = {name: [] for name, _ in inner.values()}
    rows: list[Record] = []
    for row in table.rows:
        key = row.get(entity.key, row.get(KEY))
        for column, (name, link) in inner.items():
            rows_by_table[name] += [
                {**entry, link: entry.get(link, key)} for entry in records_in(row.get(column)) or ()
            ]
        rows.append({name: value for name, value in row.items() if name not in inner})
    return rows, rows_by_table


# values ---------------------------------------------------------------------------------------------------------------

_WHOLE = re.compile(r"[+-]?\d+")
_YEAR_LAST = re.compile(r"\s*\d{1,2}([./-])\d{1,2}\1(\d{4}|\d\d)\b.*", re.DOTALL)
"""Dates such as 05/01/2030, whose month is ambiguous."""

_YES, _NO = {"true", "yes", "1", "t", "y"}, {"false", "no", "0", "f", "n"}


def _from_text(text: str, column: _Column) -> Json:
    kinds = column.kinds
    if not text and (column.is_name or "string" not in kinds) and kinds:
        return None if column.takes_null else ABSENT
    if not kinds or "string" in kinds:
        return text
    typed = next((value for kind in kinds if (value := _read(text.strip(), kind)) is not ABSENT), ABSENT)
    if typed is ABSENT:
        raise ValueError(f"must be of type {' or '.join(kinds)}, not {shown(text)}")
    return typed


def _read(text: str, kind: str) -> Json:
    """Parse a text as a value of a type; return `ABSENT` if it is invalid."""
    if kind == "integer":
        return int(text) if _WHOLE.fullmatch(text) else ABSENT
    if kind == "boolean":
        return True if text.lower() in _YES else False if text.lower() in _NO else ABSENT
    try:
        result: Json = decode_strict(text)
    except ValueError:
        return ABSENT
    fits = {"number": int | float, "array": list, "object": dict}
    return result if isinstance(result, fits[kind]) and not isinstance(result, bool) else ABSENT


def _from_sqlite(value: Json, column: _Column) -> Json:
    kind = column.kinds[0] if column.kinds else ""
    if isinstance(value, bytes):
        raise ValueError("is binary; a record holds what JSON can")
    if value is None:
        return None if column.takes_null or not kind else ABSENT
    if isinstance(value, str):
        return _from_text(value, column) if kind in {"array", "object"} else value
    if kind == "boolean" and value in {0, 1}:
        return bool(value)
    if kind == "string":
        return str(value)
    return int(value) if kind == "integer" and isinstance(value, float) and value.is_integer() else value
