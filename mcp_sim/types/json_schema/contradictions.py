"""Find contradictions within a JSON Schema, without generating a value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import reduce
from typing import Any, TypeGuard

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.merge import NEVER, merge_schemas
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    constants,
    fitting_type,
    items,
    main_type,
    property_of,
    required,
    types_of,
)
from mcp_sim.types.json_schema.validation import compiled

_NAMING = frozenset({"enum", "const", "type", "title", "description", "default", "examples"})
"""Keywords beside which a schema allows each of the values that it lists, if their types fit."""


class NoInstance(Exception):
    """No valid value of a schema was found. The message is the reason: a bound that was exceeded, or none."""


def contradiction(schema: Record) -> str | None:
    """Return why a schema allows no value, as far as its own keywords show; None if no contradiction is found.

    If several types are allowed there is no contradiction, since another type may do. If no type is declared, it is the
    one that the other keywords are about.
    """
    excluded = next(_of_parts(schema), None)
    if excluded is not None:
        return excluded
    kinds = [kind for kind in types_of(schema) if kind != "number" or "integer" not in types_of(schema)]
    if constants(schema) and not any(fitting_type(value, schema) for value in constants(schema)):
        return f"none of its values is of type {' or '.join(kinds)}"
    if constants(schema):
        return (
            None
            if schema.keys() <= _NAMING or any(map(_judge(schema), constants(schema)))
            else "none of its values is valid"
        )
    if len(kinds) > 1:
        return None
    meant = [_REASONS[kinds[0]]] if kinds and kinds[0] in _REASONS else [] if kinds else _REASONS.values()
    return next((reason for reasons in meant for reason in reasons(schema)), None)


def _of_parts(schema: Record) -> Iterator[str]:
    """Yield why the schemas inside a schema, which are about the same value, allow none."""
    if schema.get("not") in ({}, True):
        yield "its `not` excludes every value"
    if isinstance(schema.get("allOf"), list):
        rest = {word: part for word, part in schema.items() if word != "allOf"}
        whole: Json = reduce(merge_schemas, as_list(schema["allOf"]), rest)
        merged = as_object(whole)
        if whole is False or merged == NEVER:
            yield "its parts under allOf exclude each other"
        elif "allOf" not in merged and (reason := contradiction(merged)) is not None:
            yield f"its parts under allOf: {reason}"
    for word in ("anyOf", "oneOf"):
        reasons = [contradiction(as_object(form)) for form in as_list(schema.get(word)) if form is not False]
        if reasons and None not in reasons:
            yield f"each of its {word}: {reasons[0]}"


def _judge(schema: Record) -> Callable[[Json], bool]:
    """Return a test for valid values. If the schema cannot be compiled, every value is valid."""
    try:
        return compiled(schema).is_valid
    except ValueError:
        return lambda _value: True


def _of_numbers(schema: Record) -> Iterator[str]:
    for least, most in (
        ("minimum", "maximum"), ("exclusiveMinimum", "maximum"),
        ("minimum", "exclusiveMaximum"), ("exclusiveMinimum", "exclusiveMaximum"),
    ):  # fmt: skip
        low, high = schema.get(least), schema.get(most)
        if _is_number(low) and _is_number(high) and (low > high or (low == high and (least, most) != _CLOSED)):
            yield f"its {least} is {low}, its {most} {high}"
    if _lacks_multiple(schema):
        yield "there is no such number between its bounds"


_CLOSED = ("minimum", "maximum")


def _lacks_multiple(schema: Record) -> bool:
    """Whether there is no multiple, or no whole number, between the bounds."""
    multiple: Json = schema.get("multipleOf")
    step = Fraction(str(multiple)) if _is_number(multiple) and multiple > 0 else None
    if main_type(schema) == "integer":
        step = Fraction(1) if step is None else Fraction(step.numerator)
    lows = [Fraction(str(low)) for word in ("minimum", "exclusiveMinimum") if _is_number(low := schema.get(word))]
    highs = [Fraction(str(high)) for word in ("maximum", "exclusiveMaximum") if _is_number(high := schema.get(word))]
    if step is None or not lows or not highs:
        return False
    first, last = math.ceil(max(lows) / step), math.floor(min(highs) / step)
    low, high = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    first += _is_number(low) and first * step == Fraction(str(low))
    last -= _is_number(high) and last * step == Fraction(str(high))
    return first > last


def _of_texts(schema: Record) -> Iterator[str]:
    yield from _bounds(schema, "minLength", "maxLength")
    pattern = str(schema.get("pattern", ""))
    if "(?!)" in pattern and "|" not in pattern:
        yield f"no text matches its pattern {pattern!r}"


def _of_lists(schema: Record) -> Iterator[str]:
    yield from _bounds(schema, "minItems", "maxItems")
    choices = constants(items(schema))
    if schema.get("uniqueItems") and choices and not schema.get("prefixItems"):
        least: Json = schema.get("minItems", 0)
        if _is_number(least) and least > len(choices):
            yield f"its {least} items must differ, and there are {len(choices)} values"


def _of_objects(schema: Record) -> Iterator[str]:
    yield from _bounds(schema, "minProperties", "maxProperties")
    most: Json = schema.get("maxProperties")
    if _is_number(most) and len(required(schema)) > most:
        yield f"it requires {len(required(schema))} properties, and allows {most}"
    declared = as_object(schema.get("properties"))
    closed = schema.get("additionalProperties") is False and not schema.get("patternProperties")
    for name in as_list(schema.get("required")):
        if declared.get(name) is False or (closed and name not in declared):
            yield f"it requires {name!r}, and forbids it"
        reason = contradiction(property_of(schema, str(name)))
        if reason is not None:
            yield f"{name}: {reason}"


def _bounds(schema: Record, least: str, most: str) -> Iterator[str]:
    low, high = schema.get(least), schema.get(most)
    if _is_number(low) and _is_number(high) and low > high:
        yield f"its {least} is {low}, its {most} {high}"


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


_REASONS: dict[str, Callable[[Record], Iterator[str]]] = {
    "integer": _of_numbers,
    "number": _of_numbers,
    "string": _of_texts,
    "array": _of_lists,
    "object": _of_objects,
}
