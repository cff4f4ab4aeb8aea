"""Would an MCP client accept these tools, and can their schemas be enforced? One bad tool breaks a whole tools/list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

from mcp_sim.spec.messages import shown
from mcp_sim.spec.places import Place
from mcp_sim.spec.recursion import has_end
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.contradictions import contradiction
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_schema.validation import Validator, compiled, compiles

_USUAL_NAME = re.compile(r"[A-Za-z0-9_.\-/]{1,128}")
_OPTIONAL: Mapping[str, tuple[type, str]] = {
    "title": (str, "a string"),
    "description": (str, "a string"),
    "annotations": (dict, "a mapping"),
    "icons": (list, "a list"),
    "_meta": (dict, "a mapping"),
}
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
_SCHEMA_MAPS = ("properties", "$defs", "definitions", "dependentSchemas", "patternProperties")
_SCHEMA_PARTS = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
MOST_SCHEMA_PROBLEMS = 5


def usable_tools(tools: Place) -> dict[str, Place]:
    """The tools of a server that can be served, by name; what is wrong with the others is noted."""
    usable: dict[str, Place] = {}
    if not tools.is_list:
        tools.error(f"must be a list of tools, not {shown(tools.value)}")
    for tool in tools.items:
        if not _is_usable(tool):
            continue
        name = tool.value["name"]
        if name in usable:
            tool.at("name").warning(f"a second tool {name!r} is left out: names are unique within a server")
            continue
        usable[name] = tool
    return usable


def example_problems(example: Place, tool: Record) -> None:
    """Note where a recorded call violates the schemas of its tool."""
    for part, schema in (("arguments", "inputSchema"), ("result", "outputSchema")):
        if schema in tool and not (part == "result" and "blocks" in example.mapping):
            for problem in Validator(tool[schema]).problems(example.value.get(part, {})):
                example.at(part).error(f"violates the {schema} of {tool['name']}: {problem}")


def _is_usable(tool: Place) -> bool:
    """Is it a tool, by everything that a client checks? Notes what is wrong."""
    if not tool.is_mapping:
        tool.error(f"must be a tool, not {shown(tool.value)}")
        return False
    before = len(tool.problems)
    _check_name(tool)
    _check_optional_keys(tool)
    for key, is_needed in (("inputSchema", True), ("outputSchema", False)):
        if key in tool.mapping:
            _check_schema(tool.at(key), tool.value.get("name"))
        elif is_needed:
            tool.error('has no inputSchema; a tool without arguments has {"type": "object"}')
    return not any(problem.severity == "error" for problem in tool.problems[before:])


def _check_name(tool: Place) -> None:
    name = tool.value.get("name")
    if not isinstance(name, str) or not name:
        tool.error("has no name" if name is None else f"its name must be a string that is not empty, not {shown(name)}")
    elif not _USUAL_NAME.fullmatch(name):
        tool.at("name").warning(f"{shown(name)}: some clients take only letters, digits, `_`, `-` and `.`, 128 at most")


def _check_optional_keys(tool: Place) -> None:
    for key, (kind, wanted) in _OPTIONAL.items():
        value = tool.value.get(key)
        if value is not None and not isinstance(value, kind):
            tool.at(key).error(f"must be {wanted}, not {shown(value)}")
    annotations = tool.at("annotations").mapping
    for hint in _HINTS:
        value = annotations.get(hint)
        if value is not None and not isinstance(value, bool):
            tool.at("annotations", hint).error(f"must be true or false, not {shown(value)}")


def _check_schema(schema: Place, tool: Json) -> None:
    if not schema.is_mapping:
        return schema.error(f"must be a JSON Schema, not {shown(schema.value)}")
    declared = schema.mapping.get("type")
    if declared != "object":
        _tell_what_clients_refuse(schema, "without a type" if declared is None else f"of type {shown(declared)}")
    try:
        compiled(schema.value)
    except ValueError as error:
        return _tell_what_is_invalid(schema, str(error))
    if not has_end(schema.value):
        schema.warning(f"no value fits in {tool}: what is required holds itself, without an end")
    for path, part in _parts(schema.value):
        _check_part(schema.at(*path), part, tool)
    return None


def _check_part(place: Place, part: Record, tool: Json) -> None:
    """Note what cannot be enforced in one schema of a tool, or cannot be fulfilled."""
    pattern = part.get("pattern")
    if isinstance(pattern, str) and not compiles(pattern):
        place.at("pattern").warning(f"the pattern {pattern!r} cannot be compiled, and is not enforced")
    reason = contradiction(part)
    if reason is not None:
        place.warning(f"no value fits in {tool}: {reason}")


def _tell_what_clients_refuse(schema: Place, found: str) -> None:
    """Note a schema that is not of type object: as an outputSchema, newer protocols know it."""
    if schema.path[-1] == "outputSchema":
        schema.warning(f"is {found}; clients with a handshake (up to 2025-11-25) get the tool without it")
    else:
        schema.error(f"is {found}; clients take only schemas with `type: object`, and refuse the whole list otherwise")


def _tell_what_is_invalid(schema: Place, otherwise: str) -> None:
    """Note each fault of a schema; `otherwise` is what is said of one that only cannot be compiled."""
    from jsonschema.validators import Draft202012Validator, validator_for  # noqa: PLC0415 (80 ms, errors only)

    dialect = validator_for(schema.value, default=Draft202012Validator)
    told = 0
    for error in dialect(dialect.META_SCHEMA).iter_errors(schema.value):
        if told < MOST_SCHEMA_PROBLEMS:
            schema.at(*error.absolute_path).error(f"is no valid JSON Schema: {error.message[:200]}")
            told += 1
    if not told:
        schema.error(f"is no usable JSON Schema: {otherwise}")


def _parts(schema: Json) -> Iterator[tuple[tuple[str | int, ...], Record]]:
    """A schema and all schemas in it, with their places."""
    if not isinstance(schema, dict):
        return
    body = cast("dict[str, Any]", schema)
    yield (), body
    for place, inner in _inner(body):
        for path, part in _parts(inner):
            yield (*place, *path), part


def _inner(schema: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """The schemas directly in a schema."""
    for key in _SCHEMA_PARTS:
        if key in schema:
            yield (key,), schema[key]
    for key in _SCHEMA_MAPS:
        for name, part in as_object(schema.get(key)).items():
            yield (key, name), part
    for key in _SCHEMA_LISTS:
        for index, part in enumerate(as_list(schema.get(key))):
            yield (key, index), part
