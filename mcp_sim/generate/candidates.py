"""Propose numbers, texts and sizes that the keywords of a JSON Schema make likely to be valid, or likely not to be."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, count, takewhile
from typing import Any, Final

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.makers import UNMERGED
from mcp_sim.generate.patterns import matching_text
from mcp_sim.generate.setting import plain_setting
from mcp_sim.generate.texts import text_maker
from mcp_sim.generate.time_fields import format_time
from mcp_sim.generate.timeline import Moment
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties, required
from mcp_sim.types.time_formats import parse_time

LARGEST_LIST: Final = 10_000  # `minItems` of a stranger's schema may be a billion
LONGEST_TEXT: Final = 1_000_000
"""The most items, properties and characters that are generated because a schema requires them."""

_IN_PLACE = ("allOf", "anyOf", "oneOf", UNMERGED)
_CONDITIONS = ("not", "if", "then", "else")
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_TEXTS = ("", "a", "b", "A", "0", "1", "x1", "aA1!", " ", "-", "abcdefgh", "2030-01-01", "a@b.example")
_PER_PATTERN = 12  # a few texts, as other keywords of the schema may reject some
_BESIDE = (0, 1, -1, Fraction(1, 2), Fraction(-1, 2))


def about(schema: Json) -> Iterator[Record]:
    """Yield a schema and all schemas in it that are about the same value."""
    body = as_object(schema)
    yield body
    for word in _IN_PLACE:
        for item in as_list(body.get(word)):
            yield from about(item)
    for word in _CONDITIONS:
        if isinstance(body.get(word), dict):
            yield from about(body[word])
    for item in as_object(body.get("dependentSchemas")).values():
        yield from about(item)


def mentioned(schema: Record) -> Iterator[tuple[str, Record]]:
    """Yield the properties that the parts of a schema mention, with what is said about each."""
    parts = about(schema)
    next(parts)
    for subschema in parts:
        yield from properties(subschema).items()
        yield from ((name, {}) for name in sorted(required(subschema)))
        for name, others in as_object(subschema.get("dependentRequired")).items():
            yield from ((str(other), {}) for other in (name, *as_list(others)))


def lengths(schema: Record, *words: str) -> list[int]:
    """Return the sizes at which the keywords of a schema decide, and those beside them; none that is too large."""
    sizes = [int(subschema[word]) for subschema in about(schema) for word in words if _is_number(subschema.get(word))]
    return [near for size in sizes for near in (size, size + 1, size - 1) if 0 <= near <= LARGEST_LIST]


# numbers --------------------------------------------------------------------------------------------------------------


def number_candidates(way: Record, schema: Record, hint: Json, *, whole: bool) -> Iterator[Json]:
    """Yield numbers at and beside all bounds, then others: multiples where the schema asks for them."""
    parts = [way, *about(schema)]
    points = [Fraction(str(hint))] if _is_number(hint) else []
    points += [*chain.from_iterable(map(_points, parts)), Fraction(0)]
    steps = _steps([way]) or [Fraction(1)] * whole
    others = [step for step in _steps(parts) if step not in steps]
    grid = [*steps, *others, math.prod((*steps, *others), start=Fraction(1))] if steps or others else []
    for step in grid if steps else (*grid, None):
        for point in points:
            yield from (_number(value, whole=whole) for value in _around(point, step))
    yield from _series(way, steps, points, whole=whole)


def _around(point: Fraction, step: Fraction | None) -> list[Fraction]:
    """Return numbers at and beside a point: the multiples of a step, if there is one."""
    if step is None:
        return [point + beside for beside in _BESIDE]
    first = math.ceil(point / step)
    return [(first + at) * step for at in (0, -1, 1, 2)]


def _series(way: Record, steps: list[Fraction], points: list[Fraction], *, whole: bool) -> Iterator[Json]:
    """Yield one number after the other, upwards from the lowest point, or downwards if only the top is bounded."""
    step = max(steps, default=Fraction(1))
    start = Fraction(math.ceil(min(points, default=Fraction(0)) / step)) * step
    upwards = "minimum" in way or "exclusiveMinimum" in way or "maximum" not in way
    return (_number(start + at * (step if upwards else -step), whole=whole) for at in count())


def _points(schema: Record) -> list[Fraction]:
    """Return the bounds of a schema, and the middle between two."""
    points = [Fraction(str(schema[word])) for word in _BOUNDS if _is_number(schema.get(word))]
    return [sum(points, Fraction(0)) / len(points), *points] if len(points) > 1 else points


def _steps(parts: list[Record]) -> list[Fraction]:
    steps: list[Json] = [schema.get("multipleOf") for schema in parts]
    return [Fraction(str(step)) for step in steps if _is_number(step) and step > 0]


def _number(value: Fraction, *, whole: bool) -> Json:
    """Return a number as JSON has it: whole if it is, and zero if it is too large for a fraction."""
    if value.denominator == 1:
        return int(value)
    if whole:
        return math.ceil(value)
    try:
        return float(value)
    except OverflowError:
        return 0


def divides(value: Json, step: Json) -> bool:
    """Whether a number is a multiple of a step for validators that divide floating-point numbers, too."""
    if not _is_number(value) or not isinstance(step, float):
        return True
    try:
        return (value / step).is_integer()
    except (OverflowError, ZeroDivisionError):
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# texts ----------------------------------------------------------------------------------------------------------------


def _matching(pattern: str, shortest: int, longest: int, chance: Chance) -> Iterator[str]:
    drawn = (matching_text(pattern, chance, shortest, longest) for _ in range(_PER_PATTERN))
    return (text for text in takewhile(lambda text: text is not None, drawn) if text is not None)


def _formatted(form: str, hint: Json, chance: Chance) -> Iterator[str]:
    """Yield the given time in a format, if it is one, then texts of the format."""
    schema: Record = {"type": "string", "format": form}
    moment = parse_time(hint) if isinstance(hint, str) else None
    if moment is not None and form in {"date", "date-time", "time"}:
        yield str(format_time(moment, "", schema))
    make = text_maker("", "", schema, plain_setting())
    yield from (str(make(chance, {}, Moment.unknown())) for _ in range(_PER_PATTERN))


def text_candidates(way: Record, schema: Record, hint: Json, chance: Chance) -> Iterator[str]:
    """Yield texts of the formats and patterns of the schema, then those of the lengths at which it decides."""
    parts = (way, *about(schema))
    for form in dict.fromkeys(str(part["format"]) for part in parts if "format" in part):
        yield from _formatted(form, hint, chance)
    shortest, longest = int(way.get("minLength", 0)), int(min(way.get("maxLength", LONGEST_TEXT), LONGEST_TEXT))
    patterns = [str(part["pattern"]) for part in parts if isinstance(part.get("pattern"), str)]
    for pattern in dict.fromkeys(patterns):
        yield from _matching(pattern, shortest, longest, chance)
    text = hint if isinstance(hint, str) and hint else "text"
    sizes = [*lengths(schema, "minLength", "maxLength"), shortest, longest if longest < LARGEST_LIST else shortest]
    for size in dict.fromkeys((*sizes, len(text))):
        if shortest <= size <= longest:
            yield text[:size] + "x" * (size - len(text))
    yield from _TEXTS
    filler = "x" * (shortest - 1)
    yield from (f"{number}{filler}"[: max(shortest, len(str(number)))] for number in count(1))
