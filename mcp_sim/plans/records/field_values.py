"""The field values that the arguments of a call give, and the records they reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias, cast

from mcp_sim.generate.conformance import field_schemas
from mcp_sim.generate.time_fields import time_formatter
from mcp_sim.plans.records.arguments import ABSENT, Fetch, argument
from mcp_sim.plans.refusal import neighbours, not_found
from mcp_sim.types import Json, Observation, Record, Tool, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, at, items, takes_null, type_name, types_of
from mcp_sim.types.json_values import decode_strict
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key

Convert: TypeAlias = Callable[[Json], Json]

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d)?)?")
_NOW = "{now}"
_PLAIN = frozenset(("integer", "number", "boolean"))


@frozen
class Assignment:
    """An argument, the field that it sets (`*`: each property by its own name), and its default.

    `keep` converts the value to what the field stores.
    """

    fetch: Fetch
    field: str
    default: Json
    takes_null: bool
    keep: Convert


def assignments_of(tool: Tool, plan: Plan, domain: Domain, *, defaults: bool = True) -> list[Assignment]:
    """Compile what each argument sets."""
    schema, entity = input_of(tool, plan), domain.entities[plan.entity or ""]
    return [
        Assignment(
            argument(path.removesuffix(".*")),
            field,
            at(schema, path).get("default", ABSENT) if defaults and field != "*" else ABSENT,
            field not in entity.fields or takes_null(entity.fields[field].schema),
            converter(domain, entity, field),
        )
        for path, field in plan.sets.items()
    ]


def input_of(tool: Tool, plan: Plan) -> Record:
    """Return the schema of the arguments for one record. In a batch, one item replaces the list."""
    return with_item(expanded(tool.input_schema), plan.each.split(".")) if plan.each else expanded(tool.input_schema)


def with_item(schema: Record, path: Sequence[str]) -> Record:
    """Return the schema with the list at a path replaced by one of its items."""
    if not path:
        return items(schema) or schema
    parts = as_object(schema.get("properties"))
    return {**schema, "properties": {**parts, path[0]: with_item(as_object(parts.get(path[0])), path[1:])}}


def assigned_values(turn: Turn, sets: Sequence[Assignment]) -> Record:
    """Return the fields that the arguments set.

    An argument for a field wins over an object of many fields. Null sets no field that cannot be null, nor does a
    default of null.
    """
    arguments, values, many = turn.call.arguments, Record(), Record()
    for rule in sets:
        value = rule.fetch(arguments)
        if value is ABSENT or (value is None and not rule.takes_null):
            if rule.default is not ABSENT and rule.default is not None:
                values[rule.field] = rule.default
        elif rule.field != "*":
            values[rule.field] = rule.keep(value)
        elif isinstance(value, Mapping):
            many.update(cast("Record", value))
    return {**many, **values} if many else values


def fixed_values(plan: Plan, entity: Entity) -> Callable[[Turn], Mapping[str, Json]]:
    """Return what gives the values that the tool itself implies; `{now}` is the time of the call."""
    schemas = {name: entity.fields[name].schema if name in entity.fields else {} for name in plan.fixed}
    times = {name: time_formatter(name, schemas[name]) for name, value in plan.fixed.items() if value == _NOW}
    if not times:
        return lambda _turn: plan.fixed
    return lambda turn: {**plan.fixed, **{name: write(turn.now) for name, write in times.items()}}


@frozen
class Link:
    """A link field that an argument sets, the entity that it links to, and the path of the argument."""

    field: str
    target: Entity
    path: str


def links_of(plan: Plan, entity: Entity, domain: Domain) -> list[Link]:
    """Return the links that arguments set, except those that are removed from a list."""
    return [
        Link(field, domain.entities[entity.fields[field].link or ""], path)
        for path, field in plan.sets.items()
        if field in entity.fields
        and (entity.fields[field].link or "") in domain.entities
        and plan.how.get(field) != "remove"
    ]


def resolve_links(turn: Turn, tool: Tool, links: Sequence[Link], values: Record) -> Record | Observation:
    """Replace the names of linked records by keys, or return the failure that a record does not exist."""
    record = Record()
    for link in links:
        value: Json = values.get(link.field)
        if value is None:
            continue
        named = cast("list[Json]", value) if isinstance(value, list) else [value]
        keys = [find_key(turn.view, link.target.name, item) for item in named]
        if None in keys:
            return not_found(
                tool, link.target.name, named[keys.index(None)], link.path, neighbours(turn.view, link.target)
            )
        record[link.field] = keys if isinstance(value, list) else keys[0]
    return {**values, **record} if record else values


def converter(domain: Domain, entity: Entity, field: str) -> Convert:
    """Return what converts an argument to what a field stores.

    Numbers become texts in fields that hold only texts. Texts become numbers or booleans in fields that hold only
    those. Dates become date-times where results declare them.
    """
    if field not in entity.fields:
        return _unchanged
    shown = [*field_schemas(domain, entity, field)]
    kinds = {frozenset(types_of(schema)) - {"null"} for schema in (entity.fields[field].schema, *shown)}
    held = next(iter(kinds)) if len(kinds) == 1 else frozenset[str]()
    if shown and all(schema.get("format") == "date-time" for schema in shown):
        return _moment
    if held == frozenset(("string",)):
        return _text
    return _unchanged if not held or held - _PLAIN else lambda value: _plain(value, held)


def _unchanged(value: Json) -> Json:
    return value


def _text(value: Json) -> Json:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _moment(value: Json) -> Json:
    match = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    return value if match is None else f"{match[1]}T{match[2] or '00:00'}{match[3] or ':00'}"


def _plain(value: Json, kinds: frozenset[str]) -> Json:
    if isinstance(value, str):
        with suppress(ValueError):
            values = decode_strict(value.strip().lower())
            return values if type_name(values) in kinds or (isinstance(values, int) and "number" in kinds) else value
    return value
