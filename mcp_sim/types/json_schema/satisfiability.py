"""Prove that a JSON Schema allows no value, or that it allows some."""

from __future__ import annotations

from typing import Any, cast

import jsonschema_rs
from jsonschema_rs.canonical import Cause, Satisfiability, UnsatisfiableReason, find_unsatisfiable

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.expansion import resolve_reference
from mcp_sim.types.json_schema.shapes import as_list, as_object

_MOST_ALTERNATIVES = 4
"""jsonschema-rs combines the alternatives of one value: 4 under `allOf` take it 2 ms, 5 take 60 ms, 8 take 7 s."""

_BRANCHING = ("anyOf", "oneOf", "not", "if")
_CONDITIONS = ("patternProperties", "dependentSchemas", "dependentRequired", "dependencies")
_COUNTED = frozenset({*_BRANCHING, *_CONDITIONS})
_SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas")
"""Keywords whose schemas apply to the value itself, not to its parts."""
_APPLIED = frozenset({*_COUNTED, *_SAME_VALUE, "$ref"})

_OPTIONS: dict[str, Any] = {"validate_formats": False, "offline": True}


class NoInstance(Exception):
    """No valid value of a schema was found. The message is the reason: a bound that was exceeded, or none."""


def is_satisfiable(schema: Record) -> bool | None:
    """Return whether some value is valid, None if that is not decided. Formats are not checked."""
    return None if _has_many_cases(schema) else _is_satisfiable(schema)


def _is_satisfiable(schema: Record) -> bool | None:
    try:
        answer = jsonschema_rs.canonicalize(schema, **_OPTIONS).satisfiability()
    except ValueError:  # not a schema, or a pattern or reference that is not supported
        return None
    return None if answer == Satisfiability.UNKNOWN else answer == Satisfiability.YES


def canonical_form(schema: Record) -> Record | None:
    """Return an equivalent schema in which exclusions and alternatives are resolved; None if that is not decided."""
    if _has_many_cases(schema):
        return None
    try:
        form = jsonschema_rs.canonicalize(schema, **_OPTIONS).to_json_schema()
    except ValueError:
        return None
    return form if isinstance(form, dict) else None


def impossible_parts(schema: Record, *, with_whole: bool = True) -> dict[tuple[str, ...], str]:
    """Return why parts of a schema allow no value, by their paths. `false` is left out.

    `with_whole`: also why the schema itself allows none, at `()`.
    """
    if _has_many_cases(schema):
        return {}
    try:
        reasons = find_unsatisfiable(schema, **_OPTIONS)
    except ValueError:
        return {}
    sentences = {_path(pointer): _sentence(pointer, reason) for pointer, reason in reasons.items()}
    if not with_whole:
        sentences.pop((), None)
    elif () not in sentences and _is_satisfiable(schema) is False:
        sentences[()] = "a required part contains itself, without end"
    return {path: sentence for path, sentence in sentences.items() if sentence}


def _has_many_cases(schema: Record) -> bool:
    parts = list[Record]()
    waiting: list[Json] = [schema]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            body = cast("Record", value)
            parts.append(body)
            waiting += body.values()
        elif isinstance(value, list):
            waiting += cast("list[Json]", value)
    if all(_COUNTED.isdisjoint(inner) for inner in parts):  # as in most of the hundreds of schemas of a catalogue
        return False
    branching = (inner for inner in parts if not _APPLIED.isdisjoint(inner))
    return any(_alternatives(inner, schema, set()) > _MOST_ALTERNATIVES for inner in branching)


def _alternatives(schema: Json, root: Record, followed: set[str]) -> int:
    """Return how many alternatives apply to one value. Each of the references is followed once."""
    body = as_object(schema)
    count = sum(word in body for word in _BRANCHING) + sum(len(as_object(body.get(word))) for word in _CONDITIONS)
    parts = [subschema for word in _SAME_VALUE if word in body for subschema in as_list(body[word]) or [body[word]]]
    reference: Json = body.get("$ref")
    if isinstance(reference, str) and reference not in followed:
        followed.add(reference)
        parts.append(resolve_reference(root, reference))
    return count + sum(_alternatives(subschema, root, followed) for subschema in parts)


def _path(pointer: str) -> tuple[str, ...]:
    return tuple(name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:])


def _sentence(pointer: str, reason: UnsatisfiableReason) -> str:
    causes: list[Cause] = []
    if isinstance(reason, UnsatisfiableReason.Empty):
        causes = [reason.cause]
    elif isinstance(reason, UnsatisfiableReason.Conflict):
        causes = reason.causes
    words = [word for cause in causes for word in cause.keywords or [cause.pointer.removeprefix(f"{pointer}/")]]
    if len(words) < 2:
        return f"its {words[0]} allows no value" if words else ""
    return f"its {', '.join(words[:-1])} and {words[-1]} exclude each other"
