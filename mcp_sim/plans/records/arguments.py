"""Read the arguments of a call: by path, and with whole numbers as integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias, cast

from mcp_sim.types import Json, Record, Tool, Transition, Turn
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, main_type, properties
from mcp_sim.types.json_values import to_integer
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.lexicon.english import last_word
from mcp_sim.types.plans import Plan

Fetch: TypeAlias = Callable[[Mapping[str, Json]], Json]
Convert: TypeAlias = Callable[[Json], Json]


def argument(path: str) -> Fetch:
    """Return a getter for the argument at a dotted path. It returns ABSENT if the argument is not given."""
    if "." not in path:
        return lambda arguments: arguments.get(path, ABSENT)
    parts = path.split(".")

    def fetch(arguments: Mapping[str, Json]) -> Json:
        value: Json = arguments
        if path in arguments:
            return arguments[path]
        for piece in parts:
            if not isinstance(value, dict) or piece not in value:
                return ABSENT
            value = cast("Record", value)[piece]
        return value

    return fetch


def with_whole_numbers(tool: Tool, plan: Plan, domain: Domain, answer: Answer) -> Answer:
    """Return an answer that gets whole numbers as integers.

    An argument is a whole number by its schema, its name or the field that it sets.
    """
    read = _converter(expanded(tool.input_schema), "", "", _fields_of_whole_numbers(plan, domain))
    if read is None:
        return answer

    def answered(turn: Turn, invent: Invent) -> Transition:
        arguments = turn.call.arguments
        if not _holds_float(arguments):
            return answer(turn, invent)
        return answer(replace(turn, call=replace(turn.call, arguments=as_object(read(arguments)))), invent)

    return answered


def _fields_of_whole_numbers(plan: Plan, domain: Domain) -> frozenset[str]:
    """Return the paths of arguments that name a record, or set a link or an integer field."""
    entity = domain.entities.get(plan.entity or "", Entity(""))
    fields = {**plan.sets, **{path: rule.field for path, rule in plan.filters.items()}}
    named = {path for path, field in fields.items() if field == entity.key or _is_whole(entity, field)}
    return frozenset({*named, plan.key or ""} - {""})


def _is_whole(entity: Entity, name: str) -> bool:
    field = entity.fields.get(name)
    return field is not None and (field.link is not None or main_type(field.schema) == "integer")


def _converter(schema: Record, path: str, name: str, known: frozenset[str]) -> Convert | None:
    """Return the converter for values of a schema, or None if the schema has no whole numbers."""
    if main_type(schema) == "integer" or path in known or (name and last_word(name) in {"id", "ids"}):
        return to_integer
    if main_type(schema) == "array":
        read = _converter(items(schema), path, name, known)
        return None if read is None else lambda value: _each(value, read)
    inner = {segment: _converter(subschema, f"{path}.{segment}" if path else segment, segment, known)
             for segment, subschema in properties(schema).items()}  # fmt: skip
    reads = {segment: read for segment, read in inner.items() if read is not None}
    return (lambda value: _object(value, reads)) if reads else None


def _each(value: Json, read: Convert) -> Json:
    return [read(item) for item in as_list(cast("Json", value))] if isinstance(value, list) else value


def _object(value: Json, reads: Mapping[str, Convert]) -> Json:
    if not isinstance(value, dict):
        return value
    return {name: reads[name](inner) if name in reads else inner for name, inner in cast("Record", value).items()}


def _holds_float(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_float, cast("Record", value).values()))
    return any(map(_holds_float, as_list(value))) if isinstance(value, list) else isinstance(value, float)
