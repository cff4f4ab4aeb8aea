"""What do the arguments of a call say about the record that it writes?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from mcp_sim.backends.records.arguments import ABSENT, Fetch, argument
from mcp_sim.backends.records.kept import Keep, keeper
from mcp_sim.backends.records.owners import owner_check
from mcp_sim.backends.records.refusals import invalid, neighbours, not_found
from mcp_sim.generate.named import found_key
from mcp_sim.types import Json, Key, Observation, Record, Tool, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import as_object, at, expanded, items, takes_null
from mcp_sim.types.lexicon.words import snake
from mcp_sim.types.plans import Plan

Find = Callable[[Turn], "Key | Observation"]


def finder(tool: Tool, plan: Plan, entity: Entity) -> Find:
    """The key of the record that a call names, or the failure that there is none; an only record needs no name."""
    name, only = entity.name, entity.singleton and plan.key is None
    fetch = argument(plan.key or "")

    if plan.key is None and plan.filters and not entity.singleton:
        return _finder_by_fields(tool, plan, entity)
    belongs, others = owner_check(tool, plan), _other_names(plan, entity)

    def find(turn: Turn) -> Key | Observation:
        asked: Json = name if only else fetch(turn.call.arguments)
        key = found_key(turn.view, name, asked)
        if key is None and others:
            named = (one for field in others for one, _ in turn.view.find(name, field, asked))
            key = next(named, None)
        if key is not None:
            return belongs(turn, key) or key
        if asked is ABSENT and plan.key is not None:
            return invalid(tool, plan.key, None, f"{plan.key} is required")
        return not_found(tool, name, None if asked is ABSENT else asked, plan.key, neighbours(turn.view, entity))

    return find


def _other_names(plan: Plan, entity: Entity) -> list[str]:
    """The fields by which an argument may name a record as well as by its key: the name, of `id_or_name`."""
    either = snake(plan.key or "").split("_or_")
    return [name for name in entity.fields if name != entity.key and snake(name) in either[1:] + either[:-1]]


def _finder_by_fields(tool: Tool, plan: Plan, entity: Entity) -> Find:
    """The key of the first record that has all the values which a call names it by."""
    asked = [(path, argument(path), rule.field) for path, rule in plan.filters.items()]

    def find(turn: Turn) -> Key | Observation:
        arguments = turn.call.arguments
        given = [(path, field, value) for path, fetch, field in asked if (value := fetch(arguments)) is not ABSENT]
        if not given:
            return invalid(tool, asked[0][0], None, f"{asked[0][0]} is required")
        (path, field, first), *others = given
        for key, record in turn.view.find(entity.name, field, first):
            if all(record.get(name) == value for _, name, value in others):
                return key
        named = (path, first) if not others else (others[-1][0], others[-1][2])
        return not_found(tool, entity.name, named[1], named[0])

    return find


def amounts_given(tool: Tool, plan: Plan) -> Callable[[Turn], Observation | None]:
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
class Set:
    """An argument, the field that it sets ('*': each by its own name), and what it is where it is not given.

    `keep` tells how the field keeps it.
    """

    fetch: Fetch
    field: str
    default: Json
    takes_null: bool
    keep: Keep


def sets_of(tool: Tool, plan: Plan, domain: Domain, *, defaults: bool = True) -> list[Set]:
    """What each argument sets, compiled."""
    schema, entity = input_of(tool, plan), domain.entities[plan.entity or ""]
    return [
        Set(
            argument(path.removesuffix(".*")),
            field,
            at(schema, path).get("default", ABSENT) if defaults and field != "*" else ABSENT,
            field not in entity.fields or takes_null(entity.fields[field].schema),
            keeper(domain, entity, field),
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


def given(turn: Turn, sets: Sequence[Set]) -> Record:
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


def linked(turn: Turn, tool: Tool, links: Sequence[Link], said: Record) -> Record | Observation:
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
