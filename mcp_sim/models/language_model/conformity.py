"""Hold answers to the outputSchema, and keep the prompt's own properties out of them.

Both are asked for again; at the last attempt the parts that violate the schema are left out if the rest is valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from mcp_sim.models.language_model.readable import Readable
from mcp_sim.types import Json, Observation, Record, ToolResult
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.shapes import as_object, properties
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.result_parts import Path

FACTS = ("likely", "written")
PHRASES = ("related records", "since the last turn", "invalid arguments")
"""The names of facts in a turn. The phrases are no property of a real system, the others only if it declares them."""

MAX_OMITTED = 100
"""How many parts of one answer are left out at most."""


def conform(
    observation: Observation, schema: Record | None, validator: Validator | None, *, is_last: bool
) -> tuple[Observation, list[Path]]:
    """Return an observation that conforms to the outputSchema, and the parts that were left out at the last attempt.

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
    body = _without_parts(body, copied)
    if validator is None:
        return replace(observation, body=body), copied
    valid, omitted = _valid_rest(body.value, validator, problems)
    return replace(observation, body=body.with_value(valid)), [*copied, *omitted]


def _without_parts(body: ToolResult, paths: list[Path]) -> ToolResult:
    readable = Readable.of(Observation(body)) if paths else None
    return body if readable is None else readable.write(_without(readable.value, paths))


def _copied_facts(body: ToolResult, schema: Record | None) -> Iterator[str]:
    """Yield the properties of an answer that a model copied from the turn."""
    readable = Readable.of(Observation(body))
    declared = properties(schema or {})
    for name, part in as_object(None if readable is None else readable.value).items():
        is_fact = name in FACTS and (isinstance(part, dict) or _has_objects(part))
        if name not in declared and (is_fact or name in PHRASES):
            yield name


def _has_objects(part: Json) -> bool:
    return isinstance(part, list) and any(isinstance(one, dict) for one in cast("list[Json]", part))


def _valid_rest(value: Json, validator: Validator, problems: list[str]) -> tuple[Json, list[Path]]:
    """Return the value without the smallest parts that violate the schema, and their paths.

    Raises `Rejected` with the problems if what remains is still invalid.
    """
    omitted = list[Path]()
    while len(omitted) < MAX_OMITTED:
        invalid = validator.invalid_parts(value)
        for path in _enclosing(invalid[0]) if invalid else ():
            rest = _without(value, [path])
            if len(validator.invalid_parts(rest)) < len(invalid):
                value = rest
                omitted.append(path)
                break
        else:
            break
    if not validator.is_valid(value):
        raise Rejected("", problems)
    return value, omitted


def _enclosing(path: Path) -> Iterator[Path]:
    """Yield a path and those of the parts around it, without the whole."""
    for length in range(len(path), 0, -1):
        yield path[:length]


def _without(value: Json, paths: list[Path]) -> Json:
    """Return the value without these parts."""
    for path in paths:
        value = _removed(value, path)
    return value


def _removed(value: Json, path: Path) -> Json:
    step, *rest = path
    if isinstance(value, list) and isinstance(step, int):
        items = cast("list[Json]", value)
        new = [_removed(items[step], tuple(rest))] if rest else []
        return [*items[:step], *new, *items[step + 1 :]]
    body = cast("Record", value)
    name = cast("str", step)
    if rest:
        return {**body, name: _removed(body[name], tuple(rest))}
    return {other: part for other, part in body.items() if other != name}
