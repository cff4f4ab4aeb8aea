"""Show records as data: projected to what a schema shows of them, alone, in lists and by their keys.

A projection is always a new object, never the record of the world. A result may also show the records that refer to its
record: the animals of an owner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from mcp_sim.generate.conformance import schema_conformer
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.plans.records.effects import Facts, Fill, Render
from mcp_sim.plans.refusal import label
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    is_nullable,
    items,
    main_type,
    map_of,
    properties,
    required,
    takes_null,
)
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import last_word, singular, snake
from mcp_sim.types.lexicon.terms import terms

Show: TypeAlias = Callable[[Record], Json]

SECRETS = terms("fields.secret")
"""Names of fields that no result shows."""
_KEY_ENDINGS = terms("arguments.key_ending")


def data_renderer(tool: Tool, fill: Fill) -> Render:
    """Return what renders a result as data: structured where the tool declares a schema."""
    return lambda facts: tool.success(fill(facts))


def shown_record(entity: Entity, schema: Record) -> Fill:
    """Return what fills a place with the record of a call."""
    show = projector(entity, schema)
    return lambda facts: show(facts.record) if facts.record is not None else None


def shown_rows(entity: Entity, schema: Record) -> Fill:
    """Return what fills a list with the rows of a page."""
    show = projector(entity, items(schema))
    return lambda facts: [show(record) for _, record in facts.page.rows]


def shown_by_key(entity: Entity, values: Record, fields: Sequence[str] = ()) -> Fill:
    """Return what fills a map from keys: to the rows, or to the value that each of them has besides its key.

    `fields`: nothing else of the rows is shown. A text shows each of several in a line.
    """
    kind, names = main_type(values), fields or [name for name in entity.fields if name != entity.key]
    if kind == "string" and fields:
        lines = text_of_fields(fields)
        return lambda facts: {str(key): lines(record) for key, record in facts.page.rows}
    if kind in {"object", ""} or (kind == "array" and not fields):
        narrow = replace(entity, fields={name: entity.fields[name] for name in names}) if fields else entity
        show = projector(narrow, values)
        return lambda facts: {str(key): show(record) for key, record in facts.page.rows}
    allows = validity_test(values)

    def by_key(facts: Facts) -> Json:
        held = [(key, [record[name] for name in names if name in record]) for key, record in facts.page.rows]
        return {str(key): value for key, cells in held for value in [*filter(allows, cells)][:1]}

    return by_key


def text_of_fields(fields: Sequence[str]) -> Callable[[Record], str]:
    """Return what words these fields of a record: the only one alone, several with their names in a line each."""
    if len(fields) == 1:
        return lambda record: written(record.get(fields[0]))
    return lambda record: "\n".join(f"{label(snake(name))}: {written(record.get(name))}" for name in fields)


def written(value: Json) -> str:
    """Return a value as part of a sentence."""
    if isinstance(value, str):
        return value
    parts = as_list(value)
    if parts and all(isinstance(item, str | int | float) for item in parts):
        return ", ".join(str(item) for item in parts)
    return encode(value).decode()


def projector(entity: Entity, schema: Record) -> Show:
    """Compile the projection of a record to a schema: its declared properties, or all fields if it declares none.

    Where only other values than those of the record are valid, the projection keeps the record's.
    """
    show, conform = _projector(entity, schema), schema_conformer(entity, schema)
    if conform is None:
        return show

    def conformed(record: Record) -> Json:
        body: Json = show(record)
        if not isinstance(body, dict):
            return body
        shown = as_object(body)
        fitted = conform(shown, record, ())
        return fitted if all(record[name] == value for name, value in fitted.items() if name in record) else shown

    return conformed


def _projector(entity: Entity, schema: Record) -> Show:
    names = properties(schema)
    if main_type(schema) not in {"object", ""}:
        return _scalar(entity, schema)
    if not names:
        return _whole(entity, map_of(schema))
    plain = tuple(names)
    never_null = [name for name in plain if name not in required(schema) and not takes_null(names[name])]
    lacking = {name: _missing_value(entity, name, names[name], name in required(schema)) for name in plain}

    def show(record: Record) -> Json:
        try:
            body = {name: record[name] for name in plain}
        except KeyError:
            body = _partial(record, lacking)
        if None in body.values():
            for name in never_null:
                if body.get(name, ABSENT) is None:
                    del body[name]
        return body

    return show


def _whole(entity: Entity, values: Record) -> Show:
    """Return a projection to all fields, except hidden ones, passwords, and those that a mapping's schema forbids.

    A record that is only a name, as those of a list of names in the given state, is shown as this name.
    """
    hidden = frozenset(name for name, field in entity.fields.items() if field.hidden or snake(name) in SECRETS)
    allows, key = validity_test(values) if values else None, entity.key
    is_name = entity.natural and [*entity.fields] == [key] and key not in hidden

    def whole(record: Record) -> Json:
        if is_name and len(record) == 1:
            return record[key]
        shown = {name: value for name, value in record.items() if name not in hidden}
        return {name: value for name, value in shown.items() if allows(value)} if allows is not None else shown

    return whole


def _partial(record: Record, lacking: Mapping[str, Callable[[Record], Json]]) -> Record:
    """Return the fields of a record, with substitutes for missing ones."""
    body: Record = {}
    for name, instead in lacking.items():
        value = record[name] if name in record else instead(record)
        if value is not ABSENT:
            body[name] = value
    return body


def _missing_value(entity: Entity, name: str, schema: Record, needed: bool) -> Callable[[Record], Json]:
    """Return the substitute for a missing field: the key, nothing, null, or if required a fixed generated value."""
    if is_alias_of_key(entity, name) and main_type(schema) in {main_type(entity.schema_of(entity.key)), ""}:
        return lambda record: record.get(entity.key, ABSENT)
    if not needed:
        return lambda _record: ABSENT
    if is_nullable(schema):
        return lambda _record: None
    make = value_maker(entity.name, name, schema)
    return lambda record: make(chance_of(entity.name, record.get(entity.key), name), record, Moment.unknown())


def is_alias_of_key(entity: Entity, name: str) -> bool:
    """Whether a name means the key under another name: `id` and `order_id` of an order, `code` and `order_code`.

    Where the key has the name of the entity, as tools name it that ask for `telescope: T1`, it is any usual key.
    """
    nouns = {entity.name, entity.name.rpartition("_")[2]}
    is_noun = snake(entity.key) in nouns
    endings = _KEY_ENDINGS if is_noun else {last_word(entity.key)}
    ids = {*endings, *(f"{noun}_{ending}" for noun in nouns for ending in endings)}
    return name != entity.key and snake(name) in ids and (is_noun or snake(entity.key) in ids)


def _scalar(entity: Entity, schema: Record) -> Show:
    """Return the projection to a single value or a list: the key if the schema allows it, else a generated value.

    Instead of a hidden key, it is the first field that is not hidden: the member of a membership.
    """
    visible, kind = [name for name, field in entity.fields.items() if not field.hidden], main_type(schema)
    key = visible[0] if visible and entity.key in entity.fields and entity.key not in visible else entity.key
    make = value_maker(entity.name, key if kind == "integer" else entity.name, schema)
    allows = validity_test(schema)

    def show(record: Record) -> Json:
        value = str(record.get(key)) if kind == "string" else record.get(key)
        return value if allows(value) else make(chance_of(entity.name, record.get(key)), record, Moment.unknown())

    return show


def related_records(entity: Entity, name: str, schema: Record, domain: Domain) -> Fill | None:
    """Return what fills a list with the records of another entity that refer to the record of the result.

    None if nothing of the name refers to such records, or if it does so in several ways.
    """
    shape = items(schema)
    links = [
        (other, field.name)
        for other in domain.entities.values()
        if other.inside is None and _shows(name, shape, other)
        for field in other.fields.values()
        if field.link == entity.name and field.is_single_link
    ]
    if main_type(schema) != "array" or len(links) != 1:
        return None
    other, link = links[0]
    show, is_unspecified = projector(other, shape), other.name in domain.unspecified

    def related(facts: Facts) -> Json:
        rows = [] if facts.key is None else [*facts.view.find(other.name, link, facts.key)]
        first = facts.view.initial_records(other.name)
        if is_unspecified and any(key in first and facts.view.latest_write(other.name, key) is None for key, _ in rows):
            facts.guesses.append(name)
        return [show(row) for _, row in rows]

    return related


def _shows(name: str, shape: Record, other: Entity) -> bool:
    """Whether a property is named after an entity, and its objects show the key of such records, or only fields."""
    is_named, parts = singular(last_word(snake(name))) == last_word(other.name), properties(shape)
    is_keyed = any(part == other.key or is_alias_of_key(other, part) for part in parts)
    return is_named and (is_keyed or (len(parts) > 1 and parts.keys() <= other.fields.keys()))
