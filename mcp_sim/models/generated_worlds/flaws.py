"""What is wrong with records: with one that a model said, and in the tables of a whole world?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from mcp_sim.generate.times import moment_of, sense
from mcp_sim.generate.uniqueness import is_unique, once_together
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.clock import iso
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_schema.validation import Validator

_FORMS: dict[str, re.Pattern[str]] = {
    "email": re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:\S+"),
}
"""What a text of a format looks like at least; no judge of schemas looks at formats."""


class Taken:
    """The values that only one record of an entity may have: names, addresses, codes, however they are written."""

    def __init__(self, entity: Entity) -> None:
        alone = [(field.name,) for field in entity.fields.values() if is_unique(entity, field, namesakes=False)]
        pair = once_together(entity, namesakes=False)
        self._seen: dict[tuple[str, ...], dict[tuple[str, ...], None]] = {
            names: {} for names in (*alone, pair) if names
        }

    def add(self, record: Record) -> None:
        """Nobody else may have what this record has."""
        for names, seen in self._seen.items():
            if (value := _said(record, names)) is not None:
                seen[value] = None

    def problems(self, record: Record) -> list[str]:
        """What of a record another one has."""
        told = ((names, _said(record, names)) for names in self._seen)
        found = [names for names, value in told if value is not None and value in self._seen[names]]
        return [f"{' and '.join(names)}: another record has {_shown(record, names)}" for names in found]

    def latest(self, most: int) -> dict[str, list[str]]:
        """By field, so many of the values that were taken last."""
        found = {" ".join(names): [" ".join(value) for value in seen][-most:] for names, seen in self._seen.items()}
        return {name: values for name, values in found.items() if values}


def row_problems(row: Json, validator: Validator, fields: Mapping[str, Record], taken: Taken) -> list[str]:
    """What is wrong with what a model said of one record."""
    found = list(validator.problems(row))
    if found or not isinstance(row, dict):
        return found
    record = as_object(row)
    ill_formed = [
        f"{name}: no {fields[name]['format']}" for name in fields if not _has_form(record[name], fields[name])
    ]
    return [*ill_formed, *_unwritable(record), *taken.problems(record)]


def doubles(entity: Entity, table: Mapping[Key, Record], given: int) -> list[Key]:
    """The records that have what only one may have, and an earlier one has already; not of those that are given."""
    taken, found = Taken(entity), list[Key]()
    for place, (key, record) in enumerate(table.items()):
        if place >= given and taken.problems(record):
            found.append(key)
        else:
            taken.add(record)
    return found


def flaws(domain: Domain, tables: Mapping[str, Mapping[Key, Record]], given: Mapping[str, int]) -> Iterator[str]:
    """Everything that is wrong in a world: values, links to nothing, what stands twice, times out of order.

    The first records of an entity are `given` by whoever wrote the scenario, who may have meant two of one name.
    """
    for name, table in tables.items():
        entity, taken = domain.entities[name], Taken(domain.entities[name])
        judges = [(field, Validator(field.schema)) for field in entity.fields.values() if field.derived is None]
        for place, (key, record) in enumerate(table.items()):
            found = [
                *_field_problems(judges, record),
                *_lost(entity, record, tables),
                *_disorder(entity, record, domain),
            ]
            found += taken.problems(record) if place >= given.get(name, 0) else []
            taken.add(record)
            yield from (f"{name} {key}: {problem}" for problem in found)


def _field_problems(judges: Iterable[tuple[Field, Validator]], record: Record) -> Iterator[str]:
    for field, judge in judges:
        if field.name in record:
            yield from (f"{field.name}: {problem}" for problem in judge.problems(record[field.name]))
        elif field.required:
            yield f"{field.name}: is missing"


def _lost(entity: Entity, record: Record, tables: Mapping[str, Mapping[Key, Record]]) -> Iterator[str]:
    """The links that lead to no record."""
    for field in entity.fields.values():
        told: Json = record.get(field.name)
        known = tables.get(field.link or "")
        if known is None or field.derived is not None or told is None:
            continue
        keys = as_list(told) if isinstance(told, list) else [told]
        yield from (f"{field.name}: there is no {field.link} {key!r}" for key in keys if key not in known)


def _disorder(entity: Entity, record: Record, domain: Domain) -> Iterator[str]:
    """Times that are not in their order: created, updated, now."""
    told = {sense(field.name, field.schema): field.name for field in entity.fields.values() if field.derived is None}
    names = [told[one] for one in ("created", "updated") if one in told]
    moments = [(name, moment) for name in names if (moment := moment_of(record.get(name))) is not None]
    for (one, before), (other, after) in pairwise([*moments, (f"now, {iso(domain.now)}", domain.now)]):
        if before > after:
            yield f"{one} is later than {other}"


def _said(record: Record, names: Sequence[str]) -> tuple[str, ...] | None:
    """The values as they are compared; None where one of them is not said."""
    values = [record.get(name) for name in names]
    if any(value is None or value == "" for value in values):
        return None
    return tuple(" ".join(str(value).casefold().split()) for value in values)


def _shown(record: Record, names: Sequence[str]) -> str:
    return " ".join(repr(record[name]) for name in names)


def _has_form(value: Json, schema: Record) -> bool:
    form = _FORMS.get(str(schema.get("format")))
    return form is None or not isinstance(value, str) or form.fullmatch(value) is not None


def _unwritable(record: Record) -> list[str]:
    """Half of a sign that takes two cannot be written to a file."""
    try:
        json.dumps(record, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return ["holds a character that is none"]
    return []
