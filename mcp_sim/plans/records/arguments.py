"""The arguments of a call: reading them, the field values that they set, and the records that they refer to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.conformance import field_schemas
from mcp_sim.generate.instances import Shaped
from mcp_sim.generate.numbers import unit_of
from mcp_sim.generate.time_fields import Moment, time_formatter
from mcp_sim.plans.infer.arguments import named_value
from mcp_sim.plans.refusal import neighbours, not_found
from mcp_sim.types import Json, Key, Observation, Record, Tool, Transition, Turn, View
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE, expanded
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    at,
    items,
    main_type,
    properties,
    property_of,
    takes_null,
    types_of,
)
from mcp_sim.types.json_values import NOWHERE, in_list, is_number, multiplied, to_integer, value_at
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.lexicon.english import is_id, last_word, snake
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key, find_named

Fetch: TypeAlias = Callable[[Mapping[str, Json]], Json]
Convert: TypeAlias = Callable[[Json, Turn], Json]

_NOW = "{now}"
_IDS = frozenset({"id", "ids"})
_ENTERING = frozenset({"add", "subtract", "append"})
"""How values enter what a record has, instead of replacing it."""


def argument(path: str) -> Fetch:
    """Return a getter for the argument at a dotted path. It returns ABSENT if the argument is not given."""
    if "." not in path:
        return lambda arguments: arguments.get(path, ABSENT)

    def fetch(arguments: Mapping[str, Json]) -> Json:
        value = arguments[path] if path in arguments else value_at(arguments, path)
        return ABSENT if value is NOWHERE else value

    return fetch


def with_whole_numbers(tool: Tool, plan: Plan, domain: Domain, answer: Answer) -> Answer:
    """Return an answer that gets whole numbers as integers.

    A number that is declared as `number` is whole if it is an id, names a record, or sets a link or an integer field.
    """
    entity, schema = domain.entities.get(plan.entity or "", Entity("")), expanded(tool.input_schema)
    fields = {**plan.sets, **{path: rule.field for path, rule in plan.filters.items()}}
    known = {path: entity.fields.get(field) for path, field in fields.items()}
    whole = {plan.key, *(path for path, field in fields.items() if field == entity.key)}
    whole |= {path for path, field in known.items() if field and (field.link or main_type(field.schema) == "integer")}

    def read(value: Json, schema: Record, path: str) -> Json:
        if isinstance(value, dict):
            inner = cast("Record", value)
            return {name: read(inner[name], property_of(schema, name), f"{path}.{name}".lstrip(".")) for name in inner}
        if isinstance(value, list):
            return [read(item, items(schema), path) for item in as_list(value)]
        is_whole = path in whole or last_word(path.rpartition(".")[2]) in _IDS
        return to_integer(value) if is_whole or main_type(schema) != "number" else value

    def answered(turn: Turn, invent: Invent) -> Transition:
        arguments = turn.call.arguments
        if not _holds_float(arguments):
            return answer(turn, invent)
        return answer(replace(turn, call=replace(turn.call, arguments=as_object(read(arguments, schema, "")))), invent)

    return answered


def _holds_float(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_float, cast("Record", value).values()))
    return any(map(_holds_float, as_list(value))) if isinstance(value, list) else isinstance(value, float)


# field values ---------------------------------------------------------------------------------------------------------


@frozen
class Assignment:
    """An argument, the field that it sets (`*`: each property by its own name), and its default.

    `keep_named` returns the field that the call names with what it stores: `set_option(key, value)`.

    `keep` converts the value to what the field stores, `ABSENT` if it can store nothing like it.
    """

    fetch: Fetch
    field: str
    default: Json
    takes_null: bool
    keep: Convert
    keep_named: Callable[[Json, Turn], Record] | None = None


def assignments_of(tool: Tool, plan: Plan, domain: Domain, *, defaults: bool = True) -> list[Assignment]:
    """Compile what each argument sets.

    Without `defaults`, only those of what enters a list or a number apply: a part is used once if no call says more.
    """
    schema, entity = input_of(tool, plan), domain.entities[plan.entity or ""]
    others = {name: part for name, part in properties(schema).items() if name != plan.key}
    name, value = named_value(others, entity.name) or ("", "")
    return [
        Assignment(
            argument(path.removesuffix(".*")),
            field,
            at(schema, path).get("default", ABSENT)
            if field != "*" and (defaults or plan.how.get(field.partition(".")[0]) in _ENTERING)
            else ABSENT,
            field not in entity.fields or takes_null(entity.fields[field].schema),
            converter(plan, domain, entity, field),
            _keeper(plan, domain, entity, argument(name)) if field == "*" and path == value else None,
        )
        if (unit := _unit_of_move(plan, entity, path, field, schema)) is None
        else _moving(path, field, unit, at(schema, path).get("default", ABSENT))
        for path, field in plan.sets.items()
    ]


def _unit_of_move(plan: Plan, entity: Entity, path: str, field: str, schema: Record) -> float | None:
    """Return how many seconds the unit of an argument has that moves a time; None for others."""
    is_moved = plan.how.get(field) in {"add", "subtract"} and main_type(entity.schema_of(field)) == "string"
    return unit_of("", path, str(at(schema, path).get("description"))) if is_moved else None


def _moving(path: str, field: str, unit: float, default: Json) -> Assignment:
    """Return the assignment of a duration, in seconds, to a time that moves by it."""

    def seconds(value: Json) -> Json:
        moved = multiplied(value, unit) if is_number(value) else None
        return ABSENT if moved is None else moved

    return Assignment(
        argument(path), field, seconds(default), takes_null=False, keep=lambda value, _turn: seconds(value)
    )


def _keeper(plan: Plan, domain: Domain, entity: Entity, fetch: Fetch) -> Callable[[Json, Turn], Record]:
    """Return what stores a value in the field that a call names. No call renames a record in this way."""
    fields = {snake(name): (name, converter(plan, domain, entity, name)) for name in entity.fields}

    def keep(value: Json, turn: Turn) -> Record:
        asked = fetch(turn.call.arguments)
        if not isinstance(asked, str) or not asked or snake(asked) == snake(entity.key or ""):
            return {}
        name, convert = fields.get(snake(asked), (asked, None))
        kept = value if convert is None else convert(value, turn)
        return {} if kept is ABSENT else {name: kept}

    return keep


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
            kept = rule.keep(value, turn)
            values |= {} if kept is ABSENT else {rule.field: kept}
        elif rule.keep_named is not None:
            many |= rule.keep_named(value, turn)
        elif isinstance(value, Mapping):
            many.update(cast("Record", value))
    return {**many, **values} if many else values


def lost_fields(turn: Turn, sets: Sequence[Assignment], values: Record) -> frozenset[str]:
    """Return the fields whose argument is not among these values, since the schema of the field does not allow it."""
    unset = [rule for rule in sets if rule.field != "*" and rule.field not in values]
    return frozenset(rule.field for rule in unset if rule.fetch(turn.call.arguments) not in (ABSENT, None))


def fixed_values(plan: Plan, entity: Entity) -> Callable[[Turn], Mapping[str, Json]]:
    """Return what gives the values that the tool itself implies; `{now}` is the time of the call."""
    schemas = {name: entity.schema_of(name) for name in plan.fixed}
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
    find: Callable[[View, str, Json], Key | None]
    """Finds a record by its key, or also by its name, unless the argument is called an id."""
    is_guessed: bool = False
    """Whether only names say so, and nothing specifies the records, or only the values of given records.

    A value that names none is then kept as it is."""


def finder_for(path: str) -> Callable[[View, str, Json], Key | None]:
    """Return what finds the record that an argument names."""
    return find_key if is_id(snake(path)) else find_named


def links_of(plan: Plan, entity: Entity, domain: Domain) -> list[Link]:
    """Return the links that arguments set, except those that are removed from a list."""
    fields = {path: entity.fields[name] for path, name in plan.sets.items() if name in entity.fields}
    creates = [other for other in domain.plans.values() if other.verb == "create" and not other.guessed]
    issued = {
        other.entity for other in creates if not domain.entities[other.entity or ""].natural and other.tool != plan.tool
    }
    return [
        Link(
            field.name,
            domain.entities[field.link],
            path,
            finder_for(path),
            is_guessed=field.link_is_guessed
            and (entity.name in domain.given or field.link not in {*domain.specified, *issued}),
        )
        for path, field in fields.items()
        if field.link is not None and field.link in domain.entities and plan.how.get(field.name) != "remove"
    ]


def resolve_links(turn: Turn, tool: Tool, links: Sequence[Link], values: Record) -> Record | Observation:
    """Replace the names of linked records by keys, or return the failure that a record does not exist."""
    record = Record()
    for link in links:
        value: Json = values.get(link.field)
        if value is None:
            continue
        named = in_list(value)
        keys = [link.find(turn.view, link.target.name, item) for item in named]
        unknown: list[Json] = [item for item, key in zip(named, keys, strict=True) if key is None]
        if link.is_guessed:  # those that were deleted are known
            unknown = [
                item for item in unknown if isinstance(item, str | int) and turn.view.version(link.target.name, item)
            ]
        if unknown:
            return not_found(tool, link.target.name, unknown[0], link.path, neighbours(turn.view, link.target))
        if None in keys:
            continue
        record[link.field] = keys if isinstance(value, list) else keys[0]
    return {**values, **record} if record else values


def converter(plan: Plan, domain: Domain, entity: Entity, field: str) -> Convert:
    """Return what converts an argument to what a field stores: the form in which results show it.

    If no result shows the field, only its type counts. What no result could show is not stored.
    """
    known = entity.fields.get(field)
    how = plan.how.get(field, "set")
    if known is None or known.link is not None or how not in {"set", "append"}:
        return lambda value, _turn: value
    schemas: list[Record] = []
    for schema in field_schemas(domain, entity, field):
        if schema != IMPOSSIBLE and schema not in schemas:
            schemas.append(schema)
    if not schemas and types_of(known.schema):
        schemas = [{"type": [*types_of(known.schema)]}]
    if how == "append":
        schemas = [items(schema) if "array" in types_of(schema) else schema for schema in schemas]
    shapes = [Shaped(entity.name, field, schema) for schema in schemas if schema]
    if not shapes:
        return lambda value, _turn: value

    def convert(value: Json, turn: Turn) -> Json:
        if how == "set" and any(shape.allows(value) for shape in shapes):
            return value  # nearly always
        chance, moment = Chance(turn.draws.key + f"{entity.name}.{field}".encode()), Moment(turn.now, turn.now)
        if how == "append" and isinstance(value, list):
            entered = [_shaped(shapes, item, chance, moment) for item in as_list(value)]
            return [item for item in entered if item is not ABSENT]
        return _shaped(shapes, value, chance, moment)

    return convert


def _shaped(shapes: Sequence[Shaped], value: Json, chance: Chance, moment: Moment) -> Json:
    shaped = (shape(value, chance, moment) for shape in shapes)
    return next((form for form in shaped if form is not ABSENT), ABSENT)
