"""Makers of values: their types and limits, and those for schemas with alternatives, which draw, then validate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Final, TypeAlias

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.time_fields import Moment
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE
from mcp_sim.types.json_schema.merge import merge_schemas
from mcp_sim.types.json_schema.shapes import SEARCHED, as_list, as_object, properties, required, types_of
from mcp_sim.types.json_schema.validation import RESULT_FORMATS, compiled

Make: TypeAlias = Callable[[Chance, Record, Moment], Json]
"""Makes a value from chance, the record so far, and the times of the record."""

CompileMaker: TypeAlias = Callable[[str, str, Record], Make]
"""Returns the maker for an entity (or the object that contains the field), a field name and a schema."""

MAX_ITEMS = 10_000  # schemas of strangers may ask for billions
MAX_LENGTH = 100_000
MAX_NUMBER = 2**31 - 1
"""Limits on list items, text length and numbers. A schema that requires more is not satisfied."""

_LIMITS: Final = {"minItems": (MAX_ITEMS, "items"), "minProperties": (MAX_ITEMS, "properties"),
                  "minLength": (MAX_LENGTH, "characters")}  # fmt: skip

UNMERGED = "$apart"
"""The keyword under which a schema for makers holds the parts of `allOf` that could not be merged into it."""

_COMBINED = ("allOf", "anyOf", "oneOf", "if", "dependentSchemas", "not")
_MOST = 32  # the largest number of alternatives of one schema that are considered

_TRIES = 24  # bounds the search where alternatives exclude each other

Construct = Callable[[Record], Make]


def exceeded_limit(schema: Record, name: str = "") -> str:
    """Return the bound of a required part that is too large to be generated, in words, or ""."""
    for word, (most, units) in _LIMITS.items():
        if schema.get(word, 0) > most:
            reason = f"its {word} is {schema[word]:,}, and at most {most:,} {units} are generated"
            return f"{name}: {reason}" if name else reason
    fields = {name: as_object(properties(schema).get(name, {})) for name in sorted(required(schema))}
    return next(filter(None, (exceeded_limit(inner, f"{name}.{key}".strip(".")) for key, inner in fields.items())), "")


def is_plain(schema: Record) -> bool:
    """Return whether a schema has none of the keywords that require drawing and validating."""
    return not schema.keys() & SEARCHED


def constrained_maker(schema: Record, construct: Construct) -> Make:
    """Return a maker of values for any schema. It draws from one alternative after the other until a value is valid."""
    ways = alternatives(schema)
    if not ways:
        return lambda _chance, _record, _moment: None
    makers = [construct(way) for way in ways]
    allows = validity_test(schema)

    def made(chance: Chance, record: Record, moment: Moment) -> Json:
        start = chance.below(len(makers))
        value: Json = None
        for at in range(max(_TRIES, len(makers))):
            value = makers[(start + at) % len(makers)](chance, record, moment)
            if allows(value):
                break
        return value

    return made


def alternatives(schema: Record) -> list[Record]:
    """Return schemas without alternatives and conditions. A valid value satisfies one of them."""
    ways = [*islice(_ways(schema), _MOST)]
    ways = [way for way in ways if types_of(way) != ("null",)] or ways
    bare = {*_COMBINED, "then", "else"}
    return [{word: value for word, value in _without_forbidden(way).items() if word not in bare} for way in ways]


def _without_forbidden(way: Record) -> Record:
    """Rewrite `not: required` as a property that no value satisfies."""
    forbidden = as_list(as_object(way.get("not")).get("required"))
    alone = as_object(way.get("not")).keys() == {"required"} and forbidden
    return _both(way, {"properties": {str(forbidden[-1]): False}}) if alone else way


def validity_test(schema: Record) -> Callable[[Json], bool]:
    """Return a test whether a value is valid, also its formats. If the schema cannot be compiled, every value is."""
    try:
        return compiled(schema, RESULT_FORMATS).is_valid
    except ValueError:
        return lambda _value: True


def _ways(schema: Record) -> Iterator[Record]:
    """Yield schemas without alternatives that together allow at least what this one allows."""
    if schema == IMPOSSIBLE:
        return
    word = next((word for word in _COMBINED if word in schema and word != "not"), None)
    if word is None:
        yield schema
        return
    rest = {name: value for name, value in schema.items() if name != word}
    for option in _OPTIONS[word](rest, schema[word]):
        yield from _ways(option)


def _all(rest: Record, parts: Json) -> Iterator[Record]:
    """Merge all parts. Those that cannot be merged are kept under `UNMERGED` and checked by validation."""
    apart: list[Json] = []
    for inner in as_list(parts):
        rest = dict(_both(rest, inner))
        apart += as_list(rest.pop("allOf", None))
    yield {**rest, UNMERGED: apart} if apart else rest


def _conditional(rest: Record, condition: Json) -> Iterator[Record]:
    bare = {name: value for name, value in rest.items() if name not in {"then", "else"}}
    yield _both(_both(bare, condition), rest.get("then", True))
    yield _both(bare, rest.get("else", True))
    for name, inner in as_object(as_object(condition).get("properties")).items():
        yield _both(_both(bare, {"properties": {name: {"not": inner}}}), rest.get("else", True))


def _dependent(rest: Record, parts: Json) -> Iterator[Record]:
    """Yield the schema with all of the properties that have dependencies, and without them."""
    whole = rest
    for name, value in as_object(parts).items():
        whole = _both(_both(whole, {"required": [name]}), value)
    without: Json = {"properties": dict.fromkeys(as_object(parts), False)}
    return chain([whole], [_both(rest, without)])


def _both(first: Record, second: Json) -> Record:
    """Merge two schemas. `false` as the schema of a property becomes the impossible schema."""
    met = merge_schemas(first, second)
    if not isinstance(met, dict):
        return IMPOSSIBLE if met is False else first
    schema = as_object(met)
    parts = as_object(schema.get("properties"))
    if not any(subschema is False for subschema in parts.values()):
        return schema
    possible = {name: IMPOSSIBLE if subschema is False else subschema for name, subschema in parts.items()}
    return {**schema, "properties": possible}


_OPTIONS: dict[str, Callable[[Record, Json], Iterator[Record]]] = {
    "allOf": _all,
    "anyOf": lambda rest, parts: (_both(rest, inner) for inner in as_list(parts)),
    "oneOf": lambda rest, parts: (_both(rest, inner) for inner in as_list(parts)),
    "if": _conditional,
    "dependentSchemas": _dependent,
}
