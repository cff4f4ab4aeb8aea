"""Arguments as a tool declares them: in alternatives of its schema, in a docstring, or wrapped in a single argument.

Switches are arguments of a write that say how it is done (`overwrite`, `append`, `mode`), or whether (`confirm`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import Any, Literal, TypeAlias, cast

from mcp_sim.types import Call, Json, Record, Tool
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, at, constants, main_type, properties, required
from mcp_sim.types.lexicon.english import last_word, snake
from mcp_sim.types.lexicon.terms import by_word, terms

_LINE = re.compile(r"^\s*+(?:[-*•]\s*+)?[`\"']?(\w++)[`\"']?\s*+(?:\([^()]*+\)\s*+)?(?::|[-–—](?=\s))\s*+(\S.*)$")
_HEADING = re.compile(r"^\s*\w[\w ]{0,30}:\s*$")


_WRAPPERS = terms("arguments.wrapper")
"""Last words of the names of such arguments."""


_ALTERNATIVES = ("anyOf", "oneOf")
_COMBINED = frozenset((*_ALTERNATIVES, "allOf", "$ref"))


def merge_alternatives(tool: Tool) -> Tool:
    """Return the tool with the arguments of all alternatives at the root of its inputSchema."""
    schema = with_alternatives(tool.input_schema)
    return tool if schema is tool.input_schema else replace(tool, definition={**tool.definition, "inputSchema": schema})


def describe_arguments(tool: Tool) -> Tool:
    """Merge alternatives, and add the descriptions of arguments that the description of the tool gives. Schemas win."""
    tool = merge_alternatives(tool)
    schema = tool.input_schema
    parts = as_object(schema.get("properties"))
    bare = {
        name for name, value in parts.items() if isinstance(value, dict) and not _is_described(name, as_object(value))
    }
    described = parse_argument_lines(tool.description, bare) if bare and "\n" in tool.description else {}
    if not described:
        return tool
    parts = {**parts, **{name: {**as_object(parts[name]), "description": line} for name, line in described.items()}}
    return replace(tool, definition={**tool.definition, "inputSchema": {**schema, "properties": parts}})


def _is_described(name: str, schema: Record) -> bool:
    """Whether the description of an argument says more than its name."""
    words = str(schema.get("description", "")).replace(name, "").strip(" .").lower()
    return words not in {"", "parameter", "argument"}


def parse_argument_lines(description: str, names: Container[str]) -> dict[str, str]:
    """Return the lines of a description about these arguments. Continuation lines are joined."""
    lines: dict[str, str] = {}
    current = ""
    for line in description.splitlines():
        match = _LINE.match(line)
        if match is not None and match[1] in names and match[1] not in lines:
            current = match[1]
            lines[current] = match[2].strip()
        elif not line.strip() or match is not None or _HEADING.match(line):
            current = ""
        elif current:
            lines[current] += f" {line.strip()}"
    return lines


def find_wrapper(schema: Record) -> str | None:
    """Return the path of the only argument under an expanded schema, if its name says that it holds the arguments.

    If that argument holds nothing but another such one, the path leads through both: `input.params`.
    """
    return ".".join(_wrappers(schema)) or None


def _wrappers(schema: Record) -> tuple[str, ...]:
    parts = properties(schema)
    name = next(iter(parts), "")
    if len(parts) != 1 or "." in name or main_type(parts[name]) != "object" or not properties(parts[name]):
        return ()
    return (name, *_wrappers(parts[name])) if last_word(name) in _WRAPPERS else ()


def unwrap_tool(tool: Tool, wrapper: str) -> Tool:
    """Return the tool as if it took the properties of the argument at path `wrapper` one by one."""
    inner = at(expanded(tool.input_schema), wrapper)
    return replace(tool, definition={**tool.definition, "inputSchema": inner})


def resolve_wrapper(tool: Tool, overrides: Mapping[str, Any]) -> str | None:
    """Return the path of the argument that holds the others, or None.

    A wrapper that the overrides of a spec name (`params.title`) stays.
    """
    names = _wrappers(expanded(tool.input_schema))
    return ".".join(takewhile(lambda name: not _names(overrides, name), names)) or None


def _names(override: Json, wrapper: str) -> bool:
    """Whether an override for a tool names a path below the wrapper: `sets: {params.title: title}`."""
    if isinstance(override, str):
        return override == wrapper or override.startswith(f"{wrapper}.")
    if isinstance(override, Mapping):
        parts = cast("Mapping[str, Json]", override)
        return any(_names(word, wrapper) for pair in parts.items() for word in pair)
    return isinstance(override, list | tuple) and any(_names(item, wrapper) for item in cast("list[Json]", override))


def unwrap_call(call: Call, wrapper: str) -> Call:
    """Return the call as if the properties of the argument at path `wrapper` had been given one by one."""
    inner: Json = call.arguments
    for name in wrapper.split("."):
        inner = as_object(inner).get(name)
    return replace(call, arguments=inner if isinstance(inner, dict) else {})


def with_alternatives(schema: Record) -> Record:
    """Return an object schema with the properties of all its alternatives, and without the alternatives.

    A property is required if all alternatives require it. References and `allOf` are merged in. The result allows
    more than the schema does: it says what may be given, not which properties exclude each other.
    """
    if _COMBINED.isdisjoint(schema):
        return schema
    merged = expanded(schema)
    for word in _ALTERNATIVES:
        forms = [as_object(form) for form in as_list(merged.get(word))]
        if any(map(properties, forms)):
            merged = _united({name: value for name, value in merged.items() if name != word}, forms)
    return merged


def _united(common: Record, forms: Sequence[Record]) -> Record:
    """Return the schema of what is common to all forms, with the properties of each."""
    properties_of_common = properties(common)
    names = dict.fromkeys(name for form in forms for name in properties(form) if name not in properties_of_common)
    parts = {name: _either([properties(form)[name] for form in forms if name in properties(form)]) for name in names}
    always = frozenset[str].intersection(*map(required, forms))
    needed = [name for name in {**properties_of_common, **parts} if name in required(common) | always]
    return {**common, "properties": {**properties_of_common, **parts}, "required": needed}


def _either(parts: Sequence[Record]) -> Record:
    """Return a schema for the values that any of these allows: all constants, else the first of one type."""
    values: list[Json] = [value for schema in parts for value in constants(schema)]
    if values and all(map(constants, parts)):
        rest = {word: value for word, value in parts[0].items() if word != "const"}
        return {**rest, "enum": [value for at, value in enumerate(values) if value not in values[:at]]}
    return parts[0] if len({main_type(schema) for schema in parts}) == 1 else {"anyOf": [*parts]}


# switches -------------------------------------------------------------------------------------------------------------


WriteMode: TypeAlias = Literal["refuse", "keep", "update", "replace", "append"]
"""What a write does to a record that exists."""

ReadMode: TypeAlias = Callable[[Mapping[str, Json]], WriteMode | None]
"""Returns what the arguments of a call say about the mode; None if they say nothing."""

_EFFECTS: Mapping[str, tuple[WriteMode | None, WriteMode | None]] = {
    "overwrite": ("replace", "refuse"),
    "append": ("append", None),
}
"""Flag -> what it means if it is true, and if it is false."""


def find_switch(name: str, schema: Record) -> str | None:
    """Return the kind of switch that an argument is: `overwrite`, `append`, `mode` or `confirm`; None for others.

    A mode is a switch only if all its values are known modes of writing.
    """
    kind = by_word("arguments.switch").get(snake(name))
    if kind != "mode":
        return kind if main_type(schema) == "boolean" else None
    values, known = [str(value).lower() for value in constants(schema)], by_word("arguments.write_mode")
    return kind if values and all(value in known for value in values) else None


def mode_reader(schema: Record, taken: Collection[str]) -> ReadMode | None:
    """Return what reads the mode of a write from its arguments, or None if no argument says it.

    `schema` is that of the arguments. Arguments in `taken` have another meaning.
    """
    parts = {name: subschema for name, subschema in properties(schema).items() if name not in taken}
    readers = [
        (name, kind, subschema.get("default"))
        for name, subschema in parts.items()
        if (kind := find_switch(name, subschema))
    ]
    switches = [pair for pair in readers if pair[1] != "confirm"]
    if not switches:
        return None

    def read(arguments: Mapping[str, Json]) -> WriteMode | None:
        modes: Iterator[WriteMode | None] = (
            _mode(kind, arguments.get(name, default)) for name, kind, default in switches
        )
        return next((mode for mode in modes if mode is not None), None)

    return read


def _mode(kind: str, value: Json) -> WriteMode | None:
    if isinstance(value, bool) and kind in _EFFECTS:
        return _EFFECTS[kind][0 if value else 1]
    return cast("WriteMode | None", by_word("arguments.write_mode").get(str(value).lower()))


def confirmation(schema: Record, taken: Collection[str]) -> tuple[str, bool] | None:
    """Return the flag that must be true for a tool to do anything, and its default, or None."""
    parts = {name: subschema for name, subschema in properties(schema).items() if name not in taken}
    flags = (name for name, value in parts.items() if find_switch(name, value) == "confirm")
    return next(((name, parts[name].get("default") is not False) for name in flags), None)
