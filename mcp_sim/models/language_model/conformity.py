"""Hold answers to the outputSchema, and keep the prompt's own properties out of them.

Both are asked for again. At the last attempt the parts that violate the schema are written in the type that it wants,
such as 2.5 for "2.5", or left out if the rest is valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, reduce

from mcp_sim.models.language_model.observations import Readable
from mcp_sim.models.language_model.reply import load_json
from mcp_sim.types import Json, Observation, Record, ToolResult
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties, property_of
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import Path, canonical, get_part, is_number, replace_part, without_part

FACTS = ("likely", "written")
PHRASES = ("related records", "since the last turn", "invalid arguments")
"""The names of facts in a turn. The phrases are not property of a real system, the others only if it declares them."""

MAX_CHANGED = 100
"""How many parts of one answer are changed at most. An answer that violates its schema everywhere is another answer,
and is asked for again."""


def conform(
    observation: Observation, schema: Record | None, validator: Validator | None, *, is_last: bool
) -> tuple[Observation, list[Path]]:
    """Return an observation that conforms to the outputSchema, and the parts that the last attempt changes for that.

    Raises `Rejected` if it does not conform, with all problems.
    """
    body = observation.body
    if not isinstance(body, ToolResult) or body.is_error:
        return observation, []
    if validator is not None and body.form != "structured":
        raise Rejected("", ["the answer is not structured"])
    copied: list[Path] = [(name,) for name in _copied_facts(body, schema)]
    problems = [f"{path[0]!r} is a part of the turn, not of the observation" for path in copied]
    problems += validator.problems(body.value) if validator is not None else ()
    if not problems:
        return observation, []
    if not is_last:
        raise Rejected("", problems)
    readable = Readable.of(Observation(body)) if copied else None
    body = body if readable is None else readable.write(reduce(without_part, copied, readable.value))
    if validator is None:
        return replace(observation, body=body), copied
    valid, omitted = _valid_rest(body.value, validator, problems)
    return replace(observation, body=body.with_value(valid)), [*copied, *omitted]


def _copied_facts(body: ToolResult, schema: Record | None) -> Iterator[str]:
    """Yield the properties of an answer that a model copied from the turn."""
    readable = Readable.of(Observation(body))
    declared = properties(schema or {})
    for name, value in as_object(None if readable is None else readable.value).items():
        is_fact = name in FACTS and (isinstance(value, dict) or any(isinstance(row, dict) for row in as_list(value)))
        if name not in declared and (is_fact or name in PHRASES):
            yield name


def _valid_rest(value: Json, validator: Validator, problems: list[str]) -> tuple[Json, list[Path]]:
    """Return the value with the smallest parts changed that violate the schema, and their paths.

    Raises `Rejected` with the problems if what remains is still invalid.
    """
    if value is None and validator.is_valid({}):
        return {}, [()]
    changed = list[Path]()
    while len(changed) < MAX_CHANGED:
        invalid = validator.invalid_parts(value)
        for path, mended in _mended(value, invalid[0]) if invalid else ():
            if len(validator.invalid_parts(mended)) < len(invalid):
                value = mended
                changed.append(path)
                break
        else:
            break
    if not validator.is_valid(value):
        raise Rejected("", problems)
    return value, changed


def _mended(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """Yield the value with a part of it in another type, then without it, then without each part around it.

    A number replaces its text, and a text a number.
    """
    part = get_part(value, path)
    if isinstance(part, str):
        with suppress(ValueError):
            number = load_json(part)
            if isinstance(number, int | float):
                yield path, replace_part(value, path, number)
    elif is_number(part):
        yield path, replace_part(value, path, canonical(part))
    for length in range(len(path), 0, -1):
        yield path[:length], without_part(value, path[:length])


class DeclaredValues:
    """The parts of an outputSchema, each compiled at its first use."""

    def __init__(self, schema: Record) -> None:
        self._schema = schema
        self._tests = dict[int, tuple[Record, Callable[[Json], bool]]]()
        """By the identity of the part, which is kept beside its test."""

    @cached_property
    def _expanded(self) -> Record:
        return expanded(self._schema)

    def allow(self, path: Path, value: Json) -> bool:
        """Whether a place of an answer may have a value; True for places that the schema does not declare."""
        parts = [self._expanded]
        for step in path:
            parts = [inner for schema in parts for inner in _inside(schema, step)]
        return not parts or any(self._test_of(schema)(value) for schema in parts)

    def _test_of(self, schema: Record) -> Callable[[Json], bool]:
        if id(schema) not in self._tests:
            try:
                validator = Validator(schema)
            except ValueError:
                validator = Validator({})
            self._tests[id(schema)] = schema, validator.is_valid
        return self._tests[id(schema)][1]


def _inside(schema: Record, step: str | int) -> Iterator[Record]:
    """Yield the schemas of a property or an item, also those of alternatives."""
    if isinstance(step, int):
        candidates: list[Json] = [*as_list(schema.get("prefixItems")), schema.get("items")]
    else:
        candidates = [property_of(schema, step) or schema.get("additionalProperties")]
    yield from (as_object(candidate) for candidate in candidates if candidate and isinstance(candidate, dict))
    for branch in (*as_list(schema.get("anyOf")), *as_list(schema.get("oneOf"))):
        yield from _inside(as_object(branch), step)
