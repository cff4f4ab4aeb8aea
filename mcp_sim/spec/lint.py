"""Check that MCP clients accept the tools, that schemas can be enforced, and that texts do not instruct the agent.

One bad tool makes clients reject the whole tools/list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from mcp_sim.spec import yaml12
from mcp_sim.spec.messages import shown
from mcp_sim.spec.places import Place
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import nearest
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.merge import NEVER
from mcp_sim.types.json_schema.satisfiability import impossible_parts
from mcp_sim.types.json_schema.shapes import KEYWORDS, SCHEMA_LISTS, SCHEMA_MAPS, SCHEMA_PARTS, as_list, as_object
from mcp_sim.types.json_schema.validation import Validator, compiled, enforceable
from mcp_sim.types.json_values import texts_in

_COMMON_NAME = re.compile(r"[A-Za-z0-9_.\-/]{1,128}")
OPTIONAL: Mapping[str, tuple[type, str]] = {
    "title": (str, "a string"),
    "description": (str, "a string"),
    "annotations": (dict, "a mapping"),
    "icons": (list, "a list"),
    "_meta": (dict, "a mapping"),
}
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_HOLDERS = frozenset({*SCHEMA_PARTS, *SCHEMA_MAPS, *SCHEMA_LISTS})
MOST_SCHEMA_PROBLEMS = 5  # one mistake causes several, and the first ones name it


def usable_tools(tools: Place) -> dict[str, Place]:
    """Return the tools of a server that can be served, by name. Problems of the others are noted."""
    usable: dict[str, Place] = {}
    if not tools.is_list:
        tools.error(f"expected a list of tools, got {shown(tools.value)}")
    for tool in tools.items:
        if not _is_usable(tool):
            continue
        name = tool.value["name"]
        if name in usable:
            tool.at("name").warning(f"duplicate tool {name!r} is left out; names must be unique within a server")
            continue
        usable[name] = tool
    return usable


def example_problems(example: Place, tool: Record) -> None:
    """Note where a recorded call violates the schemas of its tool."""
    for key, schema in (("arguments", "inputSchema"), ("result", "outputSchema")):
        if schema in tool and not (key == "result" and "blocks" in example.mapping):
            for problem in Validator(tool[schema]).problems(example.value.get(key, {})):
                example.at(key).error(f"violates the {schema} of {tool['name']}: {problem}")


def _is_usable(tool: Place) -> bool:
    """Whether it passes all checks of a client. Notes what is wrong."""
    if not tool.is_mapping:
        tool.error(f"expected a tool, got {shown(tool.value)}")
        return False
    before = len(tool.problems)
    name = tool.value.get("name")
    if not isinstance(name, str) or not name:
        tool.error("has no name" if name is None else f"its name must be a non-empty string, got {shown(name)}")
    elif not _COMMON_NAME.fullmatch(name):
        tool.at("name").warning(
            f"{shown(name)}: some clients accept only letters, digits, `_`, `-` and `.`, at most 128 characters"
        )
    _check_optional_keys(tool)
    for key, is_required in (("inputSchema", True), ("outputSchema", False)):
        if key in tool.mapping:
            _check_schema(tool.at(key))
        elif is_required:
            tool.error('has no inputSchema; for a tool without arguments write {"type": "object"}')
    return not any(problem.severity == "error" for problem in tool.problems[before:])


def _check_optional_keys(tool: Place) -> None:
    for key, (kind, expected) in OPTIONAL.items():
        value = tool.value.get(key)
        if value is not None and not isinstance(value, kind):
            tool.at(key).error(f"expected {expected}, got {shown(value)}")
    annotations = tool.at("annotations").mapping
    for hint in HINTS:
        value = annotations.get(hint)
        if value is not None and not isinstance(value, bool):
            tool.at("annotations", hint).error(f"expected true or false, got {shown(value)}")


def _check_schema(schema: Place) -> None:
    if not schema.is_mapping:
        return schema.error(f"expected a JSON Schema, got {shown(schema.value)}")
    declared = schema.mapping.get("type")
    if declared != "object":
        # Note a schema that is not of type object. Newer protocols accept it as an outputSchema.
        kind = "without a type" if declared is None else f"of type {shown(declared)}"
        if schema.path[-1] == "outputSchema":
            schema.warning(f"is {kind}; clients with a handshake (up to 2025-11-25) get the tool without it")
        else:
            schema.error(f"is {kind}; clients accept only `type: object`, and otherwise reject the whole list")
    try:
        compiled(schema.value)
    except ValueError as error:
        # Note each error of a schema; `reason` is why it could not be compiled, used if no other error is found.
        reason = str(error)
        noted = [*islice(meta_problems(schema.value), MOST_SCHEMA_PROBLEMS)]
        for path, message in noted:
            schema.at(*path).error(f"is not a valid JSON Schema: {message[:200]}")
        if not noted:
            schema.error(f"is not a usable JSON Schema: {reason}")
    return None


def check_values(schema: Place, tool: str, *, is_result: bool) -> None:
    """Note patterns that are not enforced, and parts that no value fits, except a whole result."""
    for path, subschema in schema_parts(schema.value):
        if path and subschema == NEVER:
            continue  # it forbids a property
        if "pattern" in subschema:
            _check_pattern(schema.at(*path), subschema)
    for path, reason in impossible_parts(schema.value, with_whole=not is_result).items():
        schema.at(*path).warning(f"no value fits in {tool}: {reason}")


def check_declared_schema(schema: Place) -> None:
    """Note the patterns of a schema that cannot be enforced, and keywords that are misspelt."""
    for path, subschema in schema_parts(schema.value):
        _check_pattern(schema.at(*path), subschema)
        for word in subschema.keys() - KEYWORDS:
            near = nearest(word, KEYWORDS)
            if near is not None:
                schema.at(*path, word).warning(f"unknown keyword; did you mean {near!r}?")


def _check_pattern(place: Place, schema: Record) -> None:
    """Note a pattern that cannot be enforced."""
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and enforceable(pattern) is None:
        place.at("pattern").warning(f"the pattern {pattern!r} cannot be compiled; it is not enforced")


def meta_problems(schema: Record) -> Iterator[tuple[list[str | int], str]]:
    """Yield what is wrong with a schema by its dialect, with the paths."""
    from jsonschema.validators import Draft202012Validator, validator_for  # noqa: PLC0415 (80 ms, errors only)

    is_named = isinstance(schema.get("$schema", ""), str)
    dialect = validator_for(schema if is_named else {}, default=Draft202012Validator)
    for error in dialect(dialect.META_SCHEMA).iter_errors(schema):
        yield list(error.absolute_path), error.message


def schema_parts(schema: Json) -> Iterator[tuple[tuple[str | int, ...], Record]]:
    """Yield a schema and all schemas in it, with their paths."""
    waiting: list[tuple[tuple[str | int, ...], Json]] = [((), schema)]
    while waiting:
        path, inner = waiting.pop()
        if isinstance(inner, dict):
            body = cast("dict[str, Any]", inner)
            yield path, body
            if _HOLDERS.isdisjoint(body):  # as four of five schemas of a catalogue
                continue
            waiting += [((*path, *place), inner) for place, inner in _inner(body)][::-1]


def _inner(schema: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Yield the schemas directly in a schema, with their paths."""
    for key in SCHEMA_PARTS:
        if key in schema:
            yield (key,), schema[key]
    for key in SCHEMA_MAPS:
        if key in schema:
            yield from (((key, name), value) for name, value in as_object(schema[key]).items())
    for key in SCHEMA_LISTS:
        if key in schema:
            yield from (((key, index), value) for index, value in enumerate(as_list(schema[key])))


# instructions to the agent --------------------------------------------------------------------------------------------


TextPath: TypeAlias = tuple[str | int, ...]

_EXCERPT = 60
"""The most characters of an instruction that are shown."""

_OTHER_TOOL = re.compile(
    r"\b(?:[Cc]all|[Uu]se|[Rr]un|[Ii]nvoke|[Ee]xecute)\s+(?:the\s+)?[`'\"]?([a-z][^\W_]*_\w+|[a-z]+[A-Z]\w+)[`'\"]?\s+(?:tool\s+)?(?:first|before)\b"
)
"""Names a tool that is to be called first. That is usual for tools of the same server only."""


@frozen
class _Pattern:
    what: str
    place: Literal["any", "description"]
    pattern: re.Pattern[str]


def instructions_in(text: str, *, is_description: bool = False) -> Iterator[str]:
    """Yield how a text may instruct the agent, with an excerpt."""
    for known in _patterns():
        if known.place == "any" or is_description:
            match = known.pattern.search(text)
            if match is not None:
                yield _sentence(known.what, match[0])


def instructions_in_tools(tools: Sequence[Json]) -> Iterator[tuple[TextPath, str]]:
    """Yield the instructions in a list of tools, with their paths in it."""
    names = {name for tool in tools if isinstance(name := as_object(tool).get("name"), str)}
    for number, tool in enumerate(tools):
        for path, text in texts_in(tool):
            calls = [match[0] for match in _OTHER_TOOL.finditer(text) if match[1] not in names]
            orders = (_sentence("orders a call of another server's tool", call) for call in calls)
            for sentence in (*instructions_in(text, is_description=True), *orders):
                yield (number, *path), sentence


def _sentence(what: str, excerpt: str) -> str:
    shown = excerpt if len(excerpt) <= _EXCERPT else f"{excerpt[: _EXCERPT - 3]}..."
    return f"may instruct the agent: it {what}: {shown!a}"


@cache
def _patterns() -> Sequence[_Pattern]:
    file = Path(__file__).with_name("agent_instructions.yaml")
    entries = yaml12.load(file.read_bytes(), file.name).value
    return [_Pattern(entry["what"], entry["in"], re.compile(entry["pattern"], re.IGNORECASE)) for entry in entries]
