"""Tables of a generated world: how many records each has, and which fields a model invents."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

from mcp_sim.generate.coherence import adjustments
from mcp_sim.generate.links import indirect_link, inherited_fields
from mcp_sim.generate.record_counts import DEFAULT_COUNT
from mcp_sim.generate.records import Draft
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.generate.uniqueness import is_unique, unique_together
from mcp_sim.generate.values import chance_of
from mcp_sim.models.language_model.tighten import IMPOSSIBLE, tighten
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.clock import iso
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object, constants, is_nullable, items, main_type, properties
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.scenario import GivenRecords
from mcp_sim.types.time_formats import parse_time

DEFAULT_TOTAL = 400  # default number of records of a generated world
MOST_CANDIDATES = 32
"""How many records a model may choose a link target from. The question lists each of them with its description."""

_DRAWS = 8 * MOST_CANDIDATES


def divide_total(domain: Domain, given: Mapping[str, GivenRecords], total: int) -> dict[str, GivenRecords]:
    """Divide `total` records among the entities; keep the rows that the scenario gives.

    The shares follow the scenario's counts. Without counts, an entity with more links gets more records. Singletons,
    entities given as rows only, and entities without records stay as they are.
    """
    asked = {name: given.get(name, GivenRecords(_weight(entity, given))) for name, entity in domain.entities.items()}
    fixed = {name: _fixed(domain.entities[name], records) for name, records in asked.items()}
    counts = {name: count for name, count in fixed.items() if count is not None}
    counts |= _divided({name: asked[name] for name in asked if name not in counts}, total - sum(counts.values()))
    return {name: replace(asked[name], count=counts[name]) for name in domain.entities}


def _weight(entity: Entity, given: Mapping[str, GivenRecords]) -> int:
    """Return the relative number of records of an entity that the scenario does not mention."""
    links = [f for f in entity.fields.values() if f.is_single_link]
    return DEFAULT_COUNT * (1 if given else 1 + len(links))


def _fixed(entity: Entity, asked: GivenRecords) -> int | None:
    """Return the number of records if it must not change, else None."""
    if entity.singleton:
        return 1
    return len(asked.rows) if asked.count <= len(asked.rows) else None


def _divided(asked: Mapping[str, GivenRecords], total: int) -> dict[str, int]:
    """Divide the total in proportion to the counts. No share is smaller than its given rows, or than one."""
    least = {name: max(1, len(records.rows)) for name, records in asked.items()}
    whole = sum(records.count for records in asked.values())
    counts = {name: max(least[name], round(total * records.count / whole)) for name, records in asked.items()}
    while counts and (over := sum(counts.values()) - total):
        step = 1 if over < 0 else -1
        free = [name for name in counts if counts[name] + step >= least[name]]
        if not free:
            break
        counts[max(free, key=lambda name: counts[name])] += step
    return counts


@frozen
class OpenFields:
    """The fields of an entity that a model invents, with their schemas. `links` are those that refer to records."""

    entity: Entity
    fields: Mapping[str, Record]
    links: Mapping[str, str]
    """Field -> the entity that it links to."""


def find_open_fields(domain: Domain, entity: Entity, keys: Mapping[str, Sequence[Key]]) -> OpenFields:
    """Return the open fields of an entity, in a world that will have these keys."""
    settled = {rule.name for rule in inherited_fields(domain, entity)} | {name for name, _ in adjustments(entity)}
    fields = dict[str, Record]()
    links = dict[str, str]()
    for field in entity.fields.values():
        if field.name in settled or not _is_open(field, entity):
            continue
        if field.link is not None:
            if not _is_free(domain, entity, field, keys):
                continue
            links[field.name] = field.link
        fields[field.name] = field.schema
    return OpenFields(entity, fields, links)


def candidates(draft: Draft, link: str, when: datetime, *place: object) -> list[Key]:
    """Return the keys that a record created at `when` may link to, in the order of creation."""
    target = draft.targets[link]
    there = list(target.keys[: bisect_right(target.created_at, when) or 1])
    if len(there) <= MOST_CANDIDATES:
        return there
    chance = chance_of(draft.seed, link, "candidates", *place)
    drawn = dict[Key | None, None]()
    for _ in range(_DRAWS):
        drawn[target.one(chance, when)] = None
        if len(drawn) == MOST_CANDIDATES:
            break
    return [key for key in there if key in drawn]


def record_schema(open_fields: OpenFields, among: Mapping[str, Sequence[Key]]) -> Record:
    """Return the schema of one record in a reply; `among` has the candidates of each link."""
    fields = {
        name: _linking(schema, among[name]) if name in among else schema for name, schema in open_fields.fields.items()
    }
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


def _linking(schema: Record, keys: Sequence[Key]) -> Record:
    """Return the schema of a link to one of these records, or to several."""
    if main_type(schema) == "array":
        return {**schema, "items": {"enum": [*keys]}, "maxItems": min(int(schema.get("maxItems", 3)), len(keys))}
    return {"enum": [*keys, None] if is_nullable(schema) else [*keys]}


def _is_open(field: Field, entity: Entity) -> bool:
    """Whether the model may invent the field."""
    if field.name == entity.key or holds_time(field.name, field.schema):
        return False
    return len(constants(field.schema)) != 1 and tighten(field.schema) != IMPOSSIBLE


def _is_free(domain: Domain, entity: Entity, field: Field, keys: Mapping[str, Sequence[Key]]) -> bool:
    """Whether the link does not follow from another link, and always has enough records to choose from."""
    if field.link == entity.name or not keys.get(field.link or "") or int(field.schema.get("minItems", 0)) > 1:
        return False
    way = indirect_link(domain, entity, field) if main_type(field.schema) != "array" else None
    return way is None or not keys.get(way[1])


def holds_time(name: str, schema: Record) -> bool:
    """Whether a field, or a part of it, is a time."""
    return time_meaning(name, schema) is not None or any(holds_time(*pair) for pair in _parts(name, schema))


def _parts(name: str, schema: Record) -> Iterator[tuple[str, Record]]:
    yield from properties(schema).items()
    if items(schema):
        yield name, items(schema)


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
        return [f"{' and '.join(names)}: another record has {_shown(record, names)}" for names in problems]

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
        keys = as_list(value) if isinstance(value, list) else [value]
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


def _shown(record: Record, names: Sequence[str]) -> str:
    return " ".join(repr(record[name]) for name in names)


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
