"""The field values that the arguments of a call give, and the records they reference."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias, cast

from mcp_sim.backends.records.arguments import ABSENT, Fetch, argument
from mcp_sim.backends.records.refusals import invalid, neighbours, not_found
from mcp_sim.generate.conformance import field_schemas
from mcp_sim.generate.lookup import found_key
from mcp_sim.types import Json, Observation, Record, Tool, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import as_object, at, expanded, items, takes_null, type_name, types_of
from mcp_sim.types.json_values import decode_strict
from mcp_sim.types.plans import Plan

Convert: TypeAlias = Callable[[Json], Json]

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d)?)?")
_PLAIN = frozenset(("integer", "number", "boolean"))


def amount_check(tool: Tool, plan: Plan) -> Callable[[Turn], Observation | None]:
    """The failure that an amount is nothing, or less."""
    asked = [(name, argument(name)) for name in plan.positive]

    def check(turn: Turn) -> Observation | None:
        for name, fetch in asked:
            value = fetch(turn.call.arguments)
            if isinstance(value, int | float) and value <= 0:
                return invalid(tool, name, value, f"{name} must be positive, got {value}")
        return None

    return check


@dataclass(frozen=True, slots=True)
class Assignment:
    """An argument, the field that it sets ('*': each by its own name), and what it is where it is not given.

    `keep` tells how the field keeps it.
    """

    fetch: Fetch
    field: str
    default: Json
    takes_null: bool
    keep: Convert


def assignments_of(tool: Tool, plan: Plan, domain: Domain, *, defaults: bool = True) -> list[Assignment]:
    """What each argument sets, compiled."""
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
    """The schema of the arguments for one record: where several are written at once, of one item beside the others."""
    return with_item(expanded(tool.input_schema), plan.each.split(".")) if plan.each else expanded(tool.input_schema)


def with_item(schema: Record, path: Sequence[str]) -> Record:
    """The schema with a list replaced by one of its items."""
    if not path:
        return items(schema) or schema
    parts = as_object(schema.get("properties"))
    return {**schema, "properties": {**parts, path[0]: with_item(as_object(parts.get(path[0])), path[1:])}}


def assigned_values(turn: Turn, sets: Sequence[Assignment]) -> Record:
    """The fields that the arguments set; what has an argument of its own is not taken from an object of many.

    A default of null says nothing, nor does null for a field that takes none.
    """
    arguments, said, many = turn.call.arguments, Record(), Record()
    for rule in sets:
        value = rule.fetch(arguments)
        if value is ABSENT or (value is None and not rule.takes_null):
            if rule.default is not ABSENT and rule.default is not None:
                said[rule.field] = rule.default
        elif rule.field != "*":
            said[rule.field] = rule.keep(value)
        elif isinstance(value, Mapping):
            many.update(cast("Record", value))
    return {**many, **said} if many else said


@dataclass(frozen=True, slots=True)
class Link:
    """A field that arguments set, the entity that it links to, and the argument."""

    field: str
    target: Entity
    path: str


def links_of(plan: Plan, entity: Entity, domain: Domain) -> list[Link]:
    """The links that arguments set; what is taken out of a list needs no record any more."""
    return [
        Link(field, domain.entities[entity.fields[field].link or ""], path)
        for path, field in plan.sets.items()
        if field in entity.fields
        and (entity.fields[field].link or "") in domain.entities
        and plan.how.get(field) != "remove"
    ]


def resolve_links(turn: Turn, tool: Tool, links: Sequence[Link], said: Record) -> Record | Observation:
    """What is said, with the keys of the records that it names; or the failure that there is no such record."""
    found = Record()
    for link in links:
        value: Json = said.get(link.field)
        if value is None:
            continue
        named = cast("list[Json]", value) if isinstance(value, list) else [value]
        keys = [found_key(turn.view, link.target.name, one) for one in named]
        if None in keys:
            return not_found(
                tool, link.target.name, named[keys.index(None)], link.path, neighbours(turn.view, link.target)
            )
        found[link.field] = keys if isinstance(value, list) else keys[0]
    return {**said, **found} if found else said


def converter(domain: Domain, entity: Entity, field: str) -> Convert:
    """A number becomes a text where there are only texts, a text the number or the flag that it says where there are
    only these, and a day or a time of a day the moment that results promise.
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
    found = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    return value if found is None else f"{found[1]}T{found[2] or '00:00'}{found[3] or ':00'}"


def _plain(value: Json, kinds: frozenset[str]) -> Json:
    if isinstance(value, str):
        with suppress(ValueError):
            said = decode_strict(value.strip().lower())
            return said if type_name(said) in kinds or (isinstance(said, int) and "number" in kinds) else value
    return value
