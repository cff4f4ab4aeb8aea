"""What of a server's list of tools can be served, and what was changed or left out so that it can?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from mcp_sim.spec import yaml12
from mcp_sim.spec.foreign.dialects import proper
from mcp_sim.spec.lint import usable_tools
from mcp_sim.spec.places import Place
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import DocumentError, Problem
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_schema.validation import compiled

_TYPES = {"title": str, "description": str, "annotations": dict, "icons": list, "_meta": dict}
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_MOST_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class Served:
    """The tools that can be served, and in sentences what is not as the server has it."""

    tools: list[Json]
    doubts: tuple[str, ...]


def served(tools: Sequence[Json]) -> Served:
    """The tools as they are, where a client would take them; those that are broken mended, or left out."""
    if not _refusals(tools):
        return Served([*tools], ())
    doubts: list[str] = []
    mended = [_mended(tool, f"tools[{index}]", doubts) for index, tool in enumerate(tools)]
    for index, reason in _refusals(mended).items():
        doubts.append(f"tools[{index}]{_named(mended[index])} is left out: {reason}")
    left_out = _refusals(mended)
    return Served([tool for index, tool in enumerate(mended) if index not in left_out], tuple(doubts))


def _refusals(tools: Sequence[Json]) -> dict[int, str]:
    """The tools that cannot be served, by number, each with the reason."""
    problems: list[Problem] = []
    text = json.dumps(tools)
    try:
        root = Place(yaml12.load(text.encode(), "tools.json"), problems, [*tools])
    except DocumentError as error:
        return dict.fromkeys(range(len(tools)), str(error.problems[0].message))
    usable = {place.path[0] for place in usable_tools(root).values()}
    errors = [problem for problem in reversed(problems) if problem.severity == "error"]
    reasons = {int(problem.path[1:].partition("]")[0]): problem.message for problem in errors}
    refused = [index for index in range(len(tools)) if index not in usable]
    return {index: reasons.get(index, "its name stands before it already") for index in refused}


def _named(tool: Json) -> str:
    name = as_object(tool).get("name")
    return f" ({name})" if isinstance(name, str) and name else ""


def _mended(tool: Json, where: str, doubts: list[str]) -> Json:
    if not isinstance(tool, dict):
        return tool
    body = dict(cast("Record", tool))
    at = f"{where}{_named(body)}"
    for key, kind in _TYPES.items():
        if body.get(key) is not None and not isinstance(body[key], kind):
            doubts.append(f"{at}: its {key} is no {kind.__name__}, and is left out")
            del body[key]
    _mend_hints(body, at, doubts)
    body["inputSchema"] = _mended_schema(body.get("inputSchema"), f"{at}.inputSchema", doubts)
    if "outputSchema" in body:
        body["outputSchema"] = _mended_schema(body["outputSchema"], f"{at}.outputSchema", doubts)
    return body


def _mend_hints(body: Record, at: str, doubts: list[str]) -> None:
    hints = as_object(body.get("annotations"))
    wrong = [hint for hint in _HINTS if hints.get(hint) is not None and not isinstance(hints[hint], bool)]
    if wrong:
        doubts.append(f"{at}: {', '.join(wrong)} must be true or false, and is left out")
        body["annotations"] = {name: value for name, value in hints.items() if name not in wrong}


def _mended_schema(schema: Json, at: str, doubts: list[str]) -> Json:
    """The schema as one of an object that can be enforced; what breaks it is taken out."""
    if not isinstance(schema, dict):
        doubts.append(f"{at}: is no schema; it takes any object")
        return {"type": "object"}
    body = as_object(proper(schema, lambda sentence: doubts.append(f"{at}: {sentence}")))
    if body.get("type") != "object":
        doubts.append(f"{at}: {json.dumps(body.get('type'))} as its type, and not object; it takes an object")
        body = {**body, "type": "object"}
    for _ in range(_MOST_ROUNDS):
        fault = _fault(body)
        if fault is None:
            return body
        path, message = fault
        doubts.append(f"{at}{''.join(f'.{part}' for part in path)}: {message[:120]}; it is left out")
        if not path:
            return {"type": "object"}
        body = as_object(_without(body, path))
    return {"type": "object"}


def _fault(schema: Record) -> tuple[list[str | int], str] | None:
    """The first keyword that makes it no schema, and why; None where it is one."""
    try:
        compiled(schema)
    except ValueError as error:
        return next(_faults(schema), None) or ([], str(error))
    return None


def _faults(schema: Record) -> Iterator[tuple[list[str | int], str]]:
    from jsonschema.validators import Draft202012Validator, validator_for  # noqa: PLC0415 (80 ms, errors only)

    dialect = validator_for(schema, default=Draft202012Validator)
    for error in dialect(dialect.META_SCHEMA).iter_errors(schema):
        yield list(error.absolute_path), error.message


def _without(value: Json, path: list[str | int]) -> Json:
    """A copy of a value without the part at a path."""
    part, *rest = path
    if isinstance(value, dict):
        body = dict(cast("Record", value))
        kept = {key: inner for key, inner in body.items() if key != part}
        return {**body, part: _without(body[str(part)], rest)} if rest else kept
    items = as_list(value)
    if not rest:
        return [inner for index, inner in enumerate(items) if index != part]
    return [_without(inner, rest) if index == part else inner for index, inner in enumerate(items)]
