"""Check generated records: single rows of a model's reply, and the tables of a whole world."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.generate.uniqueness import is_unique, unique_together
from mcp_sim.types import Json, Key, Record, as_object
from mcp_sim.types.clock import iso
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import in_list
from mcp_sim.types.time_formats import parse_time

_FORMAT_PATTERNS: dict[str, re.Pattern[str]] = {
    "email": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"),
}
"""Minimal patterns of formats, which the validation of schemas ignores."""


class TakenValues:
    """The values that only one record of an entity may have (names, addresses, codes), ignoring case and spaces."""

    def __init__(self, entity: Entity) -> None:
        alone = [(field.name,) for field in entity.fields.values() if is_unique(entity, field, namesakes=False)]
        pair = unique_together(entity, namesakes=False)
        self._seen: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {
            names: {} for names in (*alone, pair) if names
        }

    def add(self, record: Record) -> None:
        """Mark the unique values of a record as taken."""
        for names, seen in self._seen.items():
            if (value := _comparable(record, names)) is not None:
                seen[value] = None

    def problems(self, record: Record) -> list[str]:
        """Return the values of a record that another one has already."""
        values = ((names, _comparable(record, names)) for names in self._seen)
        problems = [names for names, value in values if value is not None and value in self._seen[names]]
        taken = [(" and ".join(names), " ".join(repr(record[name]) for name in names)) for names in problems]
        return [f"{names}: another record has {shown}" for names, shown in taken]

    def latest(self, most: int) -> dict[str, list[str]]:
        """Return the `most` values that were taken last, by field."""
        latest = {" ".join(names): [" ".join(value) for value in seen][-most:] for names, seen in self._seen.items()}
        return {name: values for name, values in latest.items() if values}


def row_problems(row: Json, validator: Validator, fields: Mapping[str, Record], taken: TakenValues) -> list[str]:
    """Return the problems of one record of a model's reply."""
    problems = list(validator.problems(row))
    if problems or not isinstance(row, dict):
        return problems
    record = as_object(row)
    ill_formed = [
        f"{name}: no {fields[name]['format']}" for name in fields if not _has_format(record[name], fields[name])
    ]
    return [*ill_formed, *_unencodable(record), *taken.problems(record)]


def find_duplicates(entity: Entity, table: Mapping[Key, Record], given: int) -> list[Key]:
    """Return the keys of records that repeat a unique value of an earlier one. The first `given` records are exempt."""
    taken, duplicates = TakenValues(entity), list[Key]()
    for place, (key, record) in enumerate(table.items()):
        if place >= given and taken.problems(record):
            duplicates.append(key)
        else:
            taken.add(record)
    return duplicates


def find_problems(
    domain: Domain, tables: Mapping[str, Mapping[Key, Record]], given: Mapping[str, int]
) -> Iterator[str]:
    """Yield all problems of a world: invalid values, broken links, duplicates, times out of order.

    The first records of an entity are `given` by the scenario, which may contain duplicates on purpose.
    """
    for name, table in tables.items():
        entity, taken = domain.entities[name], TakenValues(domain.entities[name])
        validators = [(field, Validator(field.schema)) for field in entity.fields.values()]
        for place, (key, record) in enumerate(table.items()):
            problems = [
                *_field_problems(validators, record),
                *_broken_links(entity, record, tables),
                *_unordered_times(entity, record, domain),
            ]
            problems += taken.problems(record) if place >= given.get(name, 0) else []
            taken.add(record)
            yield from (f"{name} {key}: {problem}" for problem in problems)


def _field_problems(validators: Iterable[tuple[Field, Validator]], record: Record) -> Iterator[str]:
    for field, validator in validators:
        if field.name in record:
            yield from (f"{field.name}: {problem}" for problem in validator.problems(record[field.name]))
        elif field.required:
            yield f"{field.name}: is missing"


def _broken_links(entity: Entity, record: Record, tables: Mapping[str, Mapping[Key, Record]]) -> Iterator[str]:
    """Yield the links to records that do not exist."""
    for field in entity.fields.values():
        value: Json = record.get(field.name)
        known = tables.get(field.link or "")
        if known is None or value is None:
            continue
        keys = in_list(value)
        yield from (f"{field.name}: there is no {field.link} {key!r}" for key in keys if key not in known)


def _unordered_times(entity: Entity, record: Record, domain: Domain) -> Iterator[str]:
    """Yield the times that are out of order: created, updated, now."""
    times = {time_meaning(field.name, field.schema): field.name for field in entity.fields.values()}
    names = [times[word] for word in ("created", "updated") if word in times]
    moments = [(name, moment) for name in names if (moment := parse_time(record.get(name))) is not None]
    for (label, before), (other, after) in pairwise([*moments, (f"now, {iso(domain.now)}", domain.now)]):
        if before > after:
            yield f"{label} is later than {other}"


def _comparable(record: Record, names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the values in the form for comparison; None if one of them is missing."""
    values = [record.get(name) for name in names]
    if any(value is None or value == "" for value in values):
        return None
    return tuple(" ".join(str(value).casefold().split()) for value in values)


def _has_format(value: Json, schema: Record) -> bool:
    form = _FORMAT_PATTERNS.get(str(schema.get("format")))
    return form is None or not isinstance(value, str) or form.fullmatch(value) is not None


def _unencodable(record: Record) -> list[str]:
    """Report lone surrogates, which cannot be written to a file."""
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return ["holds a character that is none"]
    return []
