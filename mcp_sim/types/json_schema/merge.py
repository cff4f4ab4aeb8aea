"""Merge two JSON Schemas into one that allows what both allow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, cast

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import canonical, in_list, is_integral_float

NEVER: Record = {"not": {}}
"""The schema of no value at all."""

_LARGER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_SMALLER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
_INNER = ("items", "additionalProperties", "propertyNames")
_NAMED = ("properties", "patternProperties", "$defs", "definitions")
_NOTES = frozenset({"title", "description", "default", "examples", "$comment", "format", "deprecated", "readOnly"})


def merge_schemas(first: Json, second: Json) -> Json:
    """Return a schema of the values that both allow. What cannot be merged is kept under `allOf`.

    Of annotations (titles, descriptions, formats) those of the second schema win.
    """
    if first is False or second is False:
        return False
    if not isinstance(first, dict):
        return second
    return _met(cast("Record", first), cast("Record", second)) if isinstance(second, dict) else cast("Json", first)


def _met(first: Record, second: Record) -> Record:
    if NEVER in (first, second):
        return NEVER
    if not second:
        return _agreeing(first)
    first, second = _aligned(first, second), _aligned(second, first)
    met: Record = {**_closed(first, second), **_closed(second, first)}
    apart: list[Json] = []
    for word in first.keys() & second.keys():
        if first[word] == second[word] or word in _NOTES or not _is_meant(word, first[word], second[word]):
            continue
        join = _JOINS.get(word)
        joined = join(first[word], second[word]) if join is not None else None
        if joined is NEVER:
            return NEVER
        if joined is None:
            apart.append({word: first[word]})
        else:
            met[word] = joined
    met |= {word: _named(_closed(first, second), _closed(second, first), word) for word in _NAMED if word in met}
    if apart:
        met["allOf"] = [*cast("list[Json]", met.get("allOf", [])), *apart]
    return _agreeing(met)


def _is_meant(word: str, *values: Json) -> bool:
    """Whether the values are of the keyword's type. A dialect that does not know a keyword allows anything there."""
    return word not in _MEANT or all(isinstance(value, _MEANT[word]) for value in values)


def _aligned(schema: Record, other: Record) -> Record:
    """Return the schema with as many items in `prefixItems` as the other schema has."""
    mine, others = (as_list(row.get("prefixItems")) for row in (schema, other))
    if "items" not in schema or len(mine) >= len(others):
        return schema
    return {**schema, "prefixItems": [*mine, *[schema["items"]] * (len(others) - len(mine))]}


def _closed(schema: Record, other: Record) -> Record:
    """Return the schema with the properties forbidden by name that the other declares and its closed object lacks."""
    if schema.get("additionalProperties") is not False or "patternProperties" in schema:
        return schema
    mine, others = as_object(schema.get("properties")), as_object(other.get("properties"))
    return {**schema, "properties": {**mine, **{name: False for name in others if name not in mine}}}


def _named(first: Record, second: Record, word: str) -> Record:
    left, right = as_object(first.get(word)), as_object(second.get(word))
    both = {name: merge_schemas(left[name], right[name]) for name in left if name in right}
    return {**left, **right, **both}


def _agreeing(schema: Record) -> Record:
    """Return the schema with the constants that its types allow; NEVER if they are missing."""
    allowed = schema.get("type")
    if allowed is None or not schema.keys() & {"const", "enum"}:
        return schema
    types = cast("Sequence[str]", allowed if isinstance(allowed, list) else [allowed])
    word = "const" if "const" in schema else "enum"
    values = [schema["const"]] if word == "const" else cast("list[Json]", schema["enum"])
    kept = [value for value in values if any(_is_of(value, name) for name in types)]
    if not kept:
        return NEVER
    return {**schema, "enum": kept} if word == "enum" else schema


def _is_of(value: Json, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    kinds: dict[str, type | tuple[type, ...]] = {
        "null": type(None), "integer": int, "number": (int, float), "string": str, "array": list, "object": dict,
    }  # fmt: skip
    return name not in kinds or isinstance(value, kinds[name]) or (name == "integer" and is_integral_float(value))


def _types(first: Json, second: Json) -> Json:
    left, right = in_list(first), in_list(second)
    both = [name for name in left if name in right or (name == "integer" and "number" in right)]
    both += [name for name in right if name == "integer" and "number" in left and name not in both]
    return (both[0] if len(both) == 1 else both) if both else NEVER


def _constants(first: Json, second: Json) -> Json:
    allowed = {canonical(value) for value in second}
    return [value for value in first if canonical(value) in allowed] or NEVER


def _multiples(first: Json, second: Json) -> Json:
    if not all(isinstance(number, int | float) and number > 0 for number in (first, second)):
        return None
    left, right = Fraction(str(first)), Fraction(str(second))
    common = Fraction(math.lcm(left.numerator, right.numerator), math.gcd(left.denominator, right.denominator))
    return common.numerator if common.denominator == 1 else float(common)


def _patterns(first: Json, second: Json) -> Json:
    """Return one pattern for two, if one of them matches the beginning of a text and the other its end."""
    for head, tail in ((first, second), (second, first)):
        if not head.endswith("$") and not tail.startswith("^") and "|" not in head + tail:
            return f"{head}[a-z0-9]*{tail}"
    return None


def _united(first: Json, second: Json) -> Json:
    return [*dict.fromkeys([*first, *second])]


def _prefix(first: Json, second: Json) -> Json:
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    return [*(merge_schemas(left, right) for left, right in zip(first, second, strict=False)), *longer[len(shorter) :]]


def _following(first: Json, second: Json) -> Json:
    return {**first, **{name: _united(first.get(name, []), names) for name, names in second.items()}}


_MEANT: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys((*_LARGER, *_SMALLER), (int, float)),
    **dict.fromkeys(("enum", "required", "allOf", "prefixItems"), list),
    **dict.fromkeys((*_NAMED, "dependentRequired"), dict),
    "pattern": str,
    "type": (str, list),
}

_JOINS: dict[str, Callable[[Any, Any], Json]] = {
    "type": _types,
    "enum": _constants,
    "const": lambda _first, _second: NEVER,
    "multipleOf": _multiples,
    "pattern": _patterns,
    "required": _united,
    "allOf": lambda first, second: [*first, *second],
    "uniqueItems": lambda first, second: first or second,
    "prefixItems": _prefix,
    "dependentRequired": _following,
    **dict.fromkeys(_LARGER, max),
    **dict.fromkeys(_SMALLER, min),
    **dict.fromkeys(_INNER, merge_schemas),
    **dict.fromkeys(_NAMED, lambda _first, second: second),
}
