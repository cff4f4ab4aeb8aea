"""Values that fields begin with by their names: the first state of a record, counts and flags."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_sim.types.calls import Json, Record
from mcp_sim.types.json_schema.shapes import SEARCHED, as_list, constants, is_nullable, main_type, properties
from mcp_sim.types.json_values import NOWHERE
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import ordered, terms

_HOLDING, _COUNTED, _PAID = (terms(f"fields.{kind}") for kind in ("holding", "counted", "paid"))
_FAILING = terms("results.error", "results.nothing", "states.failed", "batches.failed_count")
_COUNTING = terms("figures.count") | {"of", "total"}
_DEMANDS = SEARCHED | {
    "format", "pattern", "minLength", "minItems", "minProperties", "prefixItems", "exclusiveMinimum",
    "exclusiveMaximum",
}  # fmt: skip
"""Keywords that the least value may not satisfy."""
_STATES, _INITIAL = terms("fields.state"), ordered("states.initial")
_CHOICE = re.compile(r"[a-z][a-z0-9]{0,30}(?:[_ -][a-z0-9]{1,30})?")


def initial_states(states: Sequence[Json]) -> list[Json]:
    """Return the states with a word for a beginning, such as `new` or `pending_approval`, the most usual first."""
    names = [(f"{snake(str(state))}_", state) for state in states]
    return [state for word in _INITIAL for name, state in names if name.startswith(f"{word}_")]


def is_ended(state: Json) -> bool:
    """Whether a state is one that records end in: `delivered`, `closed_won`."""
    return bool({snake(str(state)), *words(str(state))[:1]} & terms("states.ended"))


def first_state(states: Sequence[Json]) -> Json:
    """Return the state that records begin with: one with a usual word, else the first that does not end it."""
    usual = initial_states(states)
    return usual[0] if usual else next((state for state in states if not is_ended(state)), states[0])


def failures_named(name: str, schema: Record) -> set[str]:
    """Return the words by which a place reports failures: `error` of `error_code`. A rate of errors is measured."""
    named = {*words(name)}
    is_measured = main_type(schema) in {"integer", "number"} and not named <= _FAILING | _COUNTING
    return set() if is_measured else named & _FAILING


def least_value(schema: Record) -> Json:
    """Return the least that a place can hold: null, nothing, zero or false; NOWHERE if its schema demands more."""
    if is_nullable(schema):
        return None
    if constants(schema) or schema.keys() & _DEMANDS or schema.get("minimum", 0) > 0:
        return NOWHERE
    match main_type(schema):
        case "object":
            parts = {name: least_value(inner) for name, inner in properties(schema).items()}
            return NOWHERE if NOWHERE in parts.values() else parts
        case "array":
            return []
        case "string":
            return ""
        case "integer" | "number":
            return 0
        case kind:
            return False if kind == "boolean" else NOWHERE


def without_failed_states(schema: Record) -> Record:
    """Return a schema without those of its choices that are states of a failure, if others are left."""
    kept = [value for value in as_list(schema.get("enum")) if snake(str(value)) not in _FAILING]
    return {**schema, "enum": kept} if kept else schema


def first_value(name: str, schema: Record) -> Json:
    """Return the value that a required field begins with, by its name and type; NOWHERE if any value is possible."""
    kind, choices, last = main_type(schema), constants(schema), name.rsplit("_", 1)[-1]
    if choices and (len(choices) == 1 or last in _STATES):
        return first_state(choices)
    if failures_named(name, schema) and (least := least_value(schema)) is not NOWHERE:
        return least
    if kind == "boolean":
        return name.removeprefix("is_") in _HOLDING
    if kind == "array" and not schema.get("minItems"):
        return []
    if kind == "integer" and name in {"version", "revision", "rev"}:
        return max(1, schema.get("minimum", 1))
    is_count = kind == "integer" and name.endswith(("count", "_total"))
    is_counted = kind in {"integer", "number"} and (name in _PAID or not _COUNTED.isdisjoint(name.split("_")))
    return 0 if (is_count or is_counted) and schema.get("minimum", 0) <= 0 else NOWHERE


def are_choices(values: Sequence[Json]) -> bool:
    """Whether values are words like those of an enumeration: `weak`, `on_sale`. Names begin with a capital letter."""
    return bool(values) and all(isinstance(value, str) and _CHOICE.fullmatch(value) for value in values)
