"""Generate field values that are valid under their JSON Schema and plausible for the field's name."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Container, Sequence
from datetime import timedelta
from itertools import accumulate

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.containers import ObjectMaker, list_maker
from mcp_sim.generate.numbers import number_maker
from mcp_sim.generate.schema_constraints import Make, constrained_maker, is_plain, validity_test
from mcp_sim.generate.setting import Setting, plain_setting
from mcp_sim.generate.shipped_data import rule_for, word_set
from mcp_sim.generate.texts import text_maker
from mcp_sim.types import Json, Record
from mcp_sim.types.draws import SEPARATOR
from mcp_sim.types.json_schema.shapes import LIMITS, constants, fitting_type, main_type, types_of
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.record_kinds.usual_fields import field_schema

_ANNOTATIONS = frozenset({"title", "description", "default", "examples"})  # keywords that allow every value


def value_maker(entity: str, name: str, schema: Record, setting: Setting | None = None) -> Make:
    """Return the maker of a field's values, compiled once. `schema` has no references (see `expanded`)."""

    setting = setting or plain_setting()

    def compiled(entity: str, name: str, schema: Record) -> Make:
        if is_plain(schema):
            return constructed(entity, name, schema)
        return constrained_maker(schema, lambda way: constructed(entity, name, way))

    def constructed(entity: str, name: str, schema: Record) -> Make:
        schema = _with_usual_type(name, schema)
        choices = _choices(schema)
        if choices:
            return choice_maker(choices, setting.usual)
        if types_of(schema) == ("null",):
            return lambda _chance, _record, _moment: None
        match main_type(schema):
            case "string" | "":
                return text_maker(entity, name, schema, setting)
            case "integer" | "number":
                return number_maker(entity, name, schema, setting)
            case "boolean":
                likely = (rule_for("states", "flags", snake(name)) or {"likely": 0.25})["likely"]
                return lambda chance, _record, _moment: chance.unit() < likely
            case "array":
                return list_maker(entity, name, schema, compiled)
            case _:
                return ObjectMaker(entity, name, schema, compiled)

    return compiled(entity, name, schema)


def _with_usual_type(name: str, schema: Record) -> Record:
    """Return a schema that allows any value with the usual type of the field, if that is a number or a flag."""
    if schema.keys() - _ANNOTATIONS:
        return schema
    usual = field_schema(snake(name))
    return {**schema, **usual} if main_type(usual) in {"integer", "number", "boolean"} else schema


def _choices(schema: Record) -> list[Json]:
    """Return the values of an enum that the rest of the schema allows; null only if there is no other."""
    allowed = [value for value in constants(schema) if fitting_type(value, schema)]
    if allowed and schema.keys() & LIMITS:
        allowed = [*filter(validity_test(schema), allowed)] or allowed
    return [value for value in allowed if value is not None] or allowed


def chance_of(*parts: object) -> Chance:
    """Return the random numbers that are seeded with these parts."""
    return Chance(SEPARATOR.join(str(value) for value in parts).encode("utf-8", "surrogatepass"))


_LONG, _LATE, _EARLY = timedelta(days=60), 0.12, 0.3
"""Old tickets are rarely open, and new ones rarely closed: lists by state would look wrong otherwise."""


def choice_maker(values: Sequence[Json], usual: Container[Json] = ()) -> Make:
    """Return a maker that draws one of the values. Names of problems are rare, `usual` values frequent.

    If the values are states that end, most old records are in a final state, and most new ones are not.
    """
    weights = [8.0 if isinstance(value, str) and value in usual else _weight(value) for value in values]
    # States of something that ends, such as a task (and not a customer).
    names = {snake(value) for value in values if isinstance(value, str)}
    if len(names) > 1 and (names & word_set("states", "done") or {"open", "closed"} <= names):
        ended = [isinstance(value, str) and snake(value) in terms("states.ended") for value in values]
        old = _drawn(values, [weight * (1 if end else _LATE) for weight, end in zip(weights, ended, strict=True)])
        new = _drawn(values, [weight * (_EARLY if end else 1) for weight, end in zip(weights, ended, strict=True)])
        return lambda chance, _record, moment: (old if moment.now - moment.created > _LONG else new)(chance)
    draw = _drawn(values, weights)
    return lambda chance, _record, _moment: draw(chance)


def _drawn(values: Sequence[Json], weights: Sequence[float]) -> Callable[[Chance], Json]:
    if len(set(weights)) == 1:
        return lambda chance: chance.choice(values)
    bounds = list(accumulate(weights))
    total = bounds[-1]
    return lambda chance: values[bisect(bounds, chance.unit() * total)]


def _weight(value: Json) -> float:
    name = snake(value) if isinstance(value, str) else ""
    if name in word_set("states", "seldom"):
        return 0.25
    return 2.0 if name in word_set("states", "often") else 1.0
