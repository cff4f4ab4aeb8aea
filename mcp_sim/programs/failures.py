"""Failures as the SDKs of servers word them: wrong arguments, unknown tools, exceptions in tools."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_sim.programs.results import Refused
from mcp_sim.programs.world import World
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties

# any SDK --------------------------------------------------------------------------------------------------------------

_EXCEPTIONS = {
    "python": "Error executing tool {tool}: {message}",
    "fastmcp": "Error calling tool '{tool}': {message}",
    "python-lowlevel": "{message}",
    "typescript": "{message}",
    "typescript-lowlevel": "Error: {message}",
}
"""SDK -> how it shows an exception of a tool."""
_UNKNOWN = {
    "python": "Unknown tool: {tool}",
    "fastmcp": "Unknown tool: '{tool}'",
    "python-lowlevel": "Unknown tool: {tool}",
    "typescript": "MCP error -32602: Tool {tool} not found",
    "typescript-lowlevel": "Error: Unknown tool: {tool}",
}
_PATH = re.compile(r"[\w.\[\]-]+: ")
"""The path before a problem, which jsonschema's own messages lack."""


def tool_failure(sdk: str, tool: str, message: str) -> Refused:
    """Word an exception of a tool as an SDK does. Raises `ValueError` for SDKs that are not known."""
    return Refused(_words(_EXCEPTIONS, sdk).format(tool=tool, message=message))


def unknown_tool_failure(sdk: str, tool: str) -> Refused:
    """Word the call of an unknown tool as an SDK does."""
    return Refused(_words(_UNKNOWN, sdk).format(tool=tool))


def argument_failure(
    sdk: str, world: World, tool: str, arguments: Mapping[str, Json], problems: Sequence[str]
) -> Refused:
    """Word invalid arguments as an SDK does."""
    match sdk:
        case "python" | "fastmcp":
            return pydantic_refusal(world, tool, arguments, problems, fastmcp=sdk == "fastmcp")
        case "typescript":
            return zod_refusal(world, tool, arguments, problems)
        case "python-lowlevel":
            return Refused(f"Input validation error: {_PATH.sub('', problems[0], count=1)}")
        case _:
            return tool_failure(sdk, tool, "; ".join(problems))


def _words(texts: Mapping[str, str], sdk: str) -> str:
    if sdk not in texts:
        raise ValueError(f"unknown SDK {sdk!r}: expected one of {', '.join(texts)}")
    return texts[sdk]


# pydantic and zod -----------------------------------------------------------------------------------------------------

_PYDANTIC = {
    "string": (str, "string", "str"),
    "integer": (int, "integer", "int"),
    "number": ((int, float), "number", "float"),
    "boolean": (bool, "boolean", "bool"),
    "array": (list, "list", "list"),
    "object": (dict, "dictionary", "dict"),
}
"""JSON type -> its classes, what messages call it, and what the path of a union calls it."""


def pydantic_refusal(
    world: World, tool: str, arguments: Mapping[str, Json], problems: Sequence[str], *, fastmcp: bool = False
) -> Refused:
    """Word wrong arguments as servers of the Python SDK do, or those of FastMCP.

    `problems` are shown where pydantic's words are not known.
    """
    schema, wanted = expanded(world.input_schema), as_list(world.input_schema.get("required"))
    missing = ("Missing required argument", "missing_argument") if fastmcp else ("Field required", "missing")
    lines = list[str]()
    for name, inner in properties(schema).items():
        if name in arguments:
            lines += _pydantic_lines(name, inner, arguments[name])
        elif name in wanted:
            lines.append(pydantic_line(name, *missing, dict(arguments)))
    lines = lines or [*problems]
    return pydantic_refused(f"call[{tool}]", lines, "") if fastmcp else pydantic_refused(tool, lines)


def pydantic_refused(tool: str, lines: Sequence[str], before: str = "Error executing tool {}: ") -> Refused:
    """Put what pydantic reports, an entry of `lines` for each problem, into the words of the Python SDK."""
    model = f"{tool}Arguments" if before else tool
    count = f"{len(lines)} validation error{'s' * (len(lines) != 1)}"
    return Refused("\n".join([f"{before.format(tool)}{count} for {model}", *lines]))


def pydantic_line(name: str, message: str, kind: str, value: Any) -> str:
    """Return what pydantic reports about one value."""
    text = repr(value)
    text = text if len(text) <= 50 else f"{text[:25]}...{text[-24:]}"  # pydantic's own limit
    return (
        f"{name}\n  {message} [type={kind}, input_value={text}, input_type={type(value).__name__}]\n"
        f"    For further information visit https://errors.pydantic.dev/2.14/v/{kind}"
    )


def _pydantic_lines(name: str, schema: Record, value: Json) -> Iterator[str]:
    branches = [branch for branch in map(as_object, as_list(schema.get("anyOf"))) if branch.get("type") != "null"]
    if not branches:
        problem = _pydantic_problem(schema, value)
        if problem:
            yield pydantic_line(name, *problem, value)
        return
    if "anyOf" in schema and value is None and len(branches) < len(as_list(schema["anyOf"])):
        return
    problems = [(branch, _pydantic_problem(branch, value)) for branch in branches]
    if all(problem for _, problem in problems):
        for branch, problem in problems:
            assert problem
            path = name if len(branches) == 1 else f"{name}.{_PYDANTIC[str(branch['type'])][2]}"
            yield pydantic_line(path, *problem, value)


def _pydantic_problem(schema: Record, value: Json) -> tuple[str, str] | None:
    """Return pydantic's message and its name, or None for a valid value."""
    if "enum" in schema:
        *first, last = map(repr, as_list(schema["enum"]))
        words = f"{', '.join(first)} or {last}" if first else last
        return None if value in as_list(schema["enum"]) else (f"Input should be {words}", "literal_error")
    kinds = [kind for kind in as_list(schema.get("type", [])) or [schema.get("type")] if kind != "null"]
    if not kinds or str(kinds[0]) not in _PYDANTIC:
        return None
    classes, word, short = _PYDANTIC[str(kinds[0])]
    if isinstance(value, classes) and (short == "bool" or not isinstance(value, bool)):
        least, most = schema.get("minimum"), schema.get("maximum")
        if isinstance(value, int | float) and least is not None and value < least:
            return f"Input should be greater than or equal to {least}", "greater_than_equal"
        if isinstance(value, int | float) and most is not None and value > most:
            return f"Input should be less than or equal to {most}", "less_than_equal"
        return None
    plain = f"Input should be a valid {word}"
    match short, value:
        case (("int" | "float"), str()):
            article = "an" if word == "integer" else "a"
            return f"{plain}, unable to parse string as {article} {word}", f"{short}_parsing"
        case "int", float():
            return f"{plain}, got a number with a fractional part", "int_from_float"
        case "bool", (str() | int()):
            return f"{plain}, unable to interpret input", "bool_parsing"
        case _:
            return plain, {"str": "string_type"}.get(short, f"{short}_type")


def zod_refusal(world: World, tool: str, arguments: Mapping[str, Json], problems: Sequence[str]) -> Refused:
    """Word wrong arguments as servers of the TypeScript SDK do (zod 4).

    `problems` are shown where zod's words are not known.
    """
    lines = [f"{message} at {path}" for path, message in zod_problems(expanded(world.input_schema), {**arguments})]
    return zod_refused(tool, lines or ["; ".join(problems)])


def zod_refused(tool: str, lines: Sequence[str]) -> Refused:
    """Put the lines of a zod error into the words of the TypeScript SDK."""
    message = "\n".join(lines)
    return Refused(f"MCP error -32602: Input validation error: Invalid arguments for tool {tool}: {message}")


_ABSENT: Any = object()


def zod_problems(schema: Record, value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and message of what zod finds wrong in a value."""
    problem = _zod_problem(schema, value)
    if problem:
        yield path, problem
    elif schema.get("type") == "object":
        for name, inner in properties(schema).items():
            if name in value or name in as_list(schema.get("required")):
                yield from zod_problems(inner, value.get(name, _ABSENT), f"{path}.{name}".removeprefix("."))
    elif schema.get("type") == "array":
        for at, item in enumerate(value):
            yield from zod_problems(as_object(schema.get("items")), item, f"{path}[{at}]")


def _zod_problem(schema: Record, value: Any) -> str:
    """Return zod's message about a value itself, not about what is in it; empty for a valid one."""
    if "enum" in schema:
        choices = "|".join(f'"{choice}"' for choice in as_list(schema["enum"]))
        return "" if value in as_list(schema["enum"]) else f"Invalid option: expected one of {choices}"
    wanted, received = schema.get("type"), "undefined" if value is _ABSENT else javascript_type(value)
    if not isinstance(wanted, str):
        is_wrong = received == "undefined" or (isinstance(wanted, list) and received not in wanted)
        return "Invalid input" if is_wrong else ""
    if received != ("number" if wanted == "integer" else wanted):
        return f"Invalid input: expected {wanted.replace('integer', 'number')}, received {received}"
    if wanted == "integer" and value != int(value):
        return "Invalid input: expected int, received number"
    if received == "number" and value < schema.get("minimum", value):
        return f"Too small: expected number to be >={schema['minimum']}"
    return ""


def javascript_type(value: Json) -> str:
    """Return what JavaScript, and zod with it, calls the type of a JSON value."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case _:
            return "array" if isinstance(value, list) else "object"
