"""What stands in a field: a value that is valid under its JSON Schema and looks like what the field's name promises."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from mcp_sim.draws import SEPARATOR
from mcp_sim.records.chance import Chance
from mcp_sim.records.meanings import number_meaning, text_meaning
from mcp_sim.records.patterns import matching
from mcp_sim.records.timeline import Moment, time_maker
from mcp_sim.records.times import sense
from mcp_sim.schemas import IMPOSSIBLE, as_list, as_object, constants, items, main_type, properties, required, type_name
from mcp_sim.types import Json, Record, Turn
from mcp_sim.words import snake

Make: TypeAlias = Callable[[Chance, Record, Moment], Json]
"""Makes a value: from chance, the record so far, and the moment in which the record came to be."""

_OPTIONAL = 0.8
_MANY = 2**31 - 1
_MOST_ITEMS = 1000
_LONGEST = 100_000
"""A schema that asks for more than these is not satisfied: no record is worth all memory."""


def value_maker(entity: str, name: str, schema: Record) -> Make:
    """The maker of a field's values, compiled once. `schema` has no references (`schemas.expanded`)."""
    choices = [value for value in constants(schema) if value is not None] or constants(schema)
    if choices:
        return lambda chance, _record, _moment: chance.choice(choices)
    branch = _branch(schema)
    if branch is not None:
        return value_maker(entity, name, branch)
    match main_type(schema):
        case "string" | "":
            return _text_maker(entity, name, schema)
        case "integer" | "number":
            return _number_maker(entity, name, schema)
        case "boolean":
            return _flag_maker(name)
        case "array":
            return _array_maker(entity, name, schema)
        case "object":
            return _object_maker(entity, name, schema)
        case _:
            return lambda _chance, _record, _moment: None


def invent(turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
    """The built-in `Invent`: drawn from the turn, so that the same call in the same world invents the same."""
    make = value_maker(entity, field, schema)
    return make(Chance(turn.draws.key + f"{entity}.{field}".encode()), record, Moment(turn.now, turn.now))


def chance_of(*parts: object) -> Chance:
    """The chance that belongs to these parts, and to nothing else."""
    return Chance(SEPARATOR.join(str(part) for part in parts).encode("utf-8", "surrogatepass"))


def fits(value: Json, schema: Record) -> bool:
    """Does a text or a number keep to type, bounds, length and pattern? (Formats are taken on trust.)"""
    kind = main_type(schema)
    if kind and type_name(value) != kind and not (kind == "number" and type_name(value) == "integer"):
        return False
    if isinstance(value, str):
        length_ok = schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", _MANY)
        return length_ok and ("pattern" not in schema or _matches(schema["pattern"], value))
    if isinstance(value, int | float):
        low, high = _bounds(schema)
        return (low is None or value >= low) and (high is None or value <= high)
    return True


def _branch(schema: Record) -> Record | None:
    for word in ("anyOf", "oneOf"):
        branches = [as_object(part) for part in as_list(schema.get(word))]
        possible = [part for part in branches if part != IMPOSSIBLE and main_type(part) != "null"]
        if possible:
            rest = {name: part for name, part in schema.items() if name != word}
            return _joined(rest, possible[0])
    return None


def _joined(schema: Record, branch: Record) -> Record:
    both = {**schema, **branch}
    if "properties" in schema and "properties" in branch:
        both["properties"] = {**schema["properties"], **branch["properties"]}
        both["required"] = [*schema.get("required", ()), *branch.get("required", ())]
    return both


# texts ----------------------------------------------------------------------------------------------------------------


def _text_maker(entity: str, name: str, schema: Record) -> Make:
    make = time_maker(name, schema) if sense(name, schema) else text_meaning(entity, name, schema)
    if not schema.keys() & {"minLength", "maxLength", "pattern"}:
        return make

    def fitting(chance: Chance, record: Record, moment: Moment) -> Json:
        value = make(chance, record, moment)
        return value if fits(value, schema) else _fitted(str(value), schema, chance)

    return fitting


def _fitted(text: str, schema: Record, chance: Chance) -> str:
    """The text brought into the bounds of its schema, or another one that matches its pattern."""
    if "pattern" in schema:
        return matching(schema["pattern"], chance) or text
    shortest, longest = min(schema.get("minLength", 0), _LONGEST), schema.get("maxLength", _MANY)
    if len(text) < shortest:
        text = " ".join([text or "x"] * shortest)[:shortest]
    if shortest <= len(text) <= longest:
        return text
    cut = text[:longest] if len(text) > longest else text
    return cut.rstrip() if len(cut.rstrip()) >= shortest else cut


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return True


# numbers --------------------------------------------------------------------------------------------------------------


def _number_maker(_entity: str, name: str, schema: Record) -> Make:
    if sense(name, schema):
        timed = time_maker(name, schema)
        return lambda chance, record, moment: _within(timed(chance, record, moment), schema)
    low, high, step = number_meaning(name, whole=main_type(schema) == "integer")
    least, most = _bounds(schema)
    low = max(low, least) if least is not None else low
    high = min(high, most) if most is not None else high
    if low > high:
        low = least if least is not None else (most or 0) - 100
        high = most if most is not None else low + 100
    step = _step(schema) or step
    first = math.ceil(low / step)
    count = max(1, math.floor(high / step) - first + 1)
    if main_type(schema) == "integer":
        return lambda chance, _record, _moment: round((first + chance.below(count)) * step)
    return lambda chance, _record, _moment: round((first + chance.below(count)) * step, 6)


def _step(schema: Record) -> float | None:
    multiple = schema.get("multipleOf")
    return multiple if isinstance(multiple, int | float) and multiple > 0 else None


def _bounds(schema: Record) -> tuple[float | None, float | None]:
    nudge = 1 if main_type(schema) == "integer" else 1e-6
    lows = (_number(schema, "minimum", 0), _number(schema, "exclusiveMinimum", nudge))
    highs = (_number(schema, "maximum", 0), _number(schema, "exclusiveMaximum", -nudge))
    low = max((bound for bound in lows if bound is not None), default=None)
    return low, min((bound for bound in highs if bound is not None), default=None)


def _number(schema: Record, word: str, nudge: float) -> float | None:
    bound: Any = schema.get(word)
    return bound + nudge if isinstance(bound, int | float) and not isinstance(bound, bool) else None


def _within(value: Json, schema: Record) -> Json:
    low, high = _bounds(schema)
    value = value if low is None or value >= low else math.ceil(low)
    return value if high is None or value <= high else math.floor(high)


def _flag_maker(name: str) -> Make:
    likely = 0.85 if re.search(r"active|enabled|available|visible|verified|valid|in_stock", snake(name)) else 0.25
    return lambda chance, _record, _moment: chance.unit() < likely


# arrays and objects ---------------------------------------------------------------------------------------------------


def _array_maker(entity: str, name: str, schema: Record) -> Make:
    inner = items(schema)
    least = min(int(schema.get("minItems", 0)), _MOST_ITEMS)
    most = 0 if inner == IMPOSSIBLE else int(schema.get("maxItems", max(3, least)))
    most = min(most, max(3, least))
    make = value_maker(entity, name, inner)
    unique = bool(schema.get("uniqueItems")) or main_type(inner) == "string"

    def array(chance: Chance, record: Record, moment: Moment) -> Json:
        wanted = chance.between(least, max(least, most))
        made: list[Json] = []
        for _ in range(wanted * 6 if unique else wanted):
            value = make(chance, record, moment)
            if not unique or value not in made:
                made.append(value)
            if len(made) == wanted:
                break
        return made

    return array


def _object_maker(entity: str, name: str, schema: Record) -> Make:
    needed = required(schema)
    parts = [
        (field, value_maker(name or entity, field, part), field in needed)
        for field, part in properties(schema).items()
        if part != IMPOSSIBLE
    ]

    def made(chance: Chance, _record: Record, moment: Moment) -> Json:
        body: Record = {}
        for field, make, is_needed in parts:
            if is_needed or chance.unit() < _OPTIONAL:
                body[field] = make(chance, body, moment)
        return body

    return made


@dataclass(frozen=True, slots=True)
class Stable:
    """Values that a record shows though nobody stored them: the same whenever the same record is shown."""

    entity: str
    name: str
    make: Make

    def of(self, key: Json, record: Record, now: datetime) -> Json:
        return self.make(chance_of(self.entity, key, self.name), record, Moment(now, now))
