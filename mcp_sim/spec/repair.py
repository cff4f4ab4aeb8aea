"""Repair a server's list of tools so that it can be served, and report every change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from mcp_sim.spec import yaml12
from mcp_sim.spec.foreign.dialects import to_json_schema
from mcp_sim.spec.lint import HINTS, OPTIONAL, meta_problems, usable_tools
from mcp_sim.spec.places import Place
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import DocumentError, Problem
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.satisfiability import impossible_parts, is_satisfiable
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_schema.validation import compiled
from mcp_sim.types.json_values import without_part

_MOST_ROUNDS = 50  # each round removes one error; a schema with more is beyond repair


@frozen
class RepairedTools:
    """The tools that can be served, and a message for each change to what the server has."""

    tools: list[Json]
    doubts: tuple[str, ...]


def repair_tools(tools: Sequence[Json]) -> RepairedTools:
    """Return the tools unchanged if each can be served; else repair broken tools, or leave them out."""
    doubts: list[str] = []
    repaired, left_out = [*tools], _refusals(tools)
    if left_out:
        repaired = [_repaired(tool, f"tools[{index}]", doubts) for index, tool in enumerate(tools)]
        left_out = _refusals(repaired)
    repaired = [
        tool if index in left_out else _answerable(cast("Record", tool), f"tools[{index}]", doubts)
        for index, tool in enumerate(repaired)
    ]
    for index, reason in left_out.items():
        doubts.append(f"tools[{index}]{_named(repaired[index])} is left out: {reason}")
    return RepairedTools([tool for index, tool in enumerate(repaired) if index not in left_out], tuple(doubts))


def _refusals(tools: Sequence[Json]) -> dict[int, str]:
    """Return the indexes of the tools that cannot be served, each with the reason."""
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
    return {index: reasons.get(index, "an earlier tool has the same name") for index in refused}


def _named(tool: Json) -> str:
    name = as_object(tool).get("name")
    return f" ({name})" if isinstance(name, str) and name else ""


def _repaired(tool: Json, where: str, doubts: list[str]) -> Json:
    if not isinstance(tool, dict):
        return tool
    body = dict(cast("Record", tool))
    at = f"{where}{_named(body)}"
    for key, (kind, _) in OPTIONAL.items():
        if body.get(key) is not None and not isinstance(body[key], kind):
            doubts.append(f"{at}: its {key} is not of type {kind.__name__}, and is left out")
            del body[key]
    hints = as_object(body.get("annotations"))
    wrong = [hint for hint in HINTS if hints.get(hint) is not None and not isinstance(hints[hint], bool)]
    if wrong:
        doubts.append(f"{at}: {', '.join(wrong)} must be true or false, and is left out")
        body["annotations"] = {name: value for name, value in hints.items() if name not in wrong}
    body["inputSchema"] = _repaired_schema(body.get("inputSchema"), f"{at}.inputSchema", doubts)
    if "outputSchema" in body:
        body["outputSchema"] = _repaired_schema(body["outputSchema"], f"{at}.outputSchema", doubts)
    return body


def _answerable(tool: Record, where: str, doubts: list[str]) -> Record:
    """Return the tool without an outputSchema that no result fits, and with `anyOf` for `oneOf` if that is unknown.

    Alternatives that overlap are a usual slip, and a value that fits several is what their authors meant.
    """
    schema = as_object(tool.get("outputSchema"))
    is_possible = is_satisfiable(schema)
    if is_possible is not False:
        return tool if is_possible else {**tool, "outputSchema": _inclusive(schema)}
    reason = impossible_parts(schema)[()]
    doubts.append(f"{where}{_named(tool)}.outputSchema: no result fits, since {reason}; it is left out")
    return {key: value for key, value in tool.items() if key != "outputSchema"}


def _inclusive(schema: Json) -> Json:
    """Return a schema with `anyOf` for each `oneOf`, except beside an `anyOf`."""
    if isinstance(schema, list):
        return [_inclusive(item) for item in as_list(cast("Json", schema))]
    body = as_object(schema)
    words = {"oneOf": "anyOf"} if isinstance(body.get("oneOf"), list) and "anyOf" not in body else {}
    return {words.get(name, name): _inclusive(value) for name, value in body.items()} if body else schema


def _repaired_schema(schema: Json, at: str, doubts: list[str]) -> Json:
    """Return the schema as a valid schema of an object; invalid keywords are left out."""
    if not isinstance(schema, dict):
        doubts.append(f"{at}: is not a schema; any object is accepted")
        return {"type": "object"}
    body = as_object(to_json_schema(schema, lambda message: doubts.append(f"{at}: {message}")))
    if body.get("type") != "object":
        doubts.append(f"{at}: its type is {json.dumps(body.get('type'))}, expected object; it is read as object")
        body = {**body, "type": "object"}
    for _ in range(_MOST_ROUNDS):
        fault = _fault(body)
        if fault is None:
            return body
        path, message = fault
        doubts.append(f"{at}{''.join(f'.{segment}' for segment in path)}: {message[:120]}; it is left out")
        if not path:
            return {"type": "object"}
        body = as_object(without_part(body, tuple(path)))
    return {"type": "object"}


def _fault(schema: Record) -> tuple[list[str | int], str] | None:
    """Return the path of the first invalid keyword and why it is invalid, None if the schema is valid."""
    try:
        compiled(schema)
    except ValueError as error:
        return next(meta_problems(schema), None) or ([], str(error))
    return None
