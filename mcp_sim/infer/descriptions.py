"""What descriptions say about arguments: docstring lines and listed choices."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import replace

from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.json_schema.shapes import as_object, constants
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import groups

_LINE = re.compile(r"^\s*+(?:[-*•]\s*+)?[`\"']?(\w++)[`\"']?\s*+(?:\([^()]*+\)\s*+)?(?::|[-–—](?=\s))\s*+(\S.*)$")
_HEADING = re.compile(r"^\s*\w[\w ]{0,30}:\s*$")
_ANNOUNCED = re.compile(
    r"(?:\[enum\]:?|one of:?|either|must be|should be(?: either)?|valid (?:values|options)(?: are)?:?|options:?|"
    r"allowed values(?: are)?:?|can be:?|possible values(?: are)?:?)\s*+[\[(]?"
    r"((?:\s*+(?:,\s*+(?:or|and)?|or|and)?\s*+[\"'`][^\"'`]{1,40}[\"'`](?: ?\([^()\"'`]*\))?)+)",
    re.IGNORECASE,
)
_PIPED = re.compile(r"^\s*+((?:[\"'`][^\"'`]{1,40}[\"'`]\s*+\|\s*+)+[\"'`][^\"'`]{1,40}[\"'`])")
_STATES_AFTER = groups("states.after")
_QUOTED = re.compile(r"[\"'`]([^\"'`]{1,40})[\"'`]")


def describe_arguments(tool: Tool) -> Tool:
    """Add the descriptions of arguments that the description of the tool gives. Schemas win."""
    schema = as_object(tool.definition.get("inputSchema"))
    parts = as_object(schema.get("properties"))
    bare = {name for name, part in parts.items() if isinstance(part, dict) and not _is_described(name, as_object(part))}
    described = parse_argument_lines(tool.description, bare) if bare and "\n" in tool.description else {}
    if not described:
        return tool
    parts |= {name: {**as_object(parts[name]), "description": line} for name, line in described.items()}
    return replace(tool, definition={**tool.definition, "inputSchema": {**schema, "properties": parts}})


def _is_described(name: str, part: Record) -> bool:
    """Whether the description of an argument says more than its name."""
    words = str(part.get("description", "")).replace(name, "").strip(" .").lower()
    return words not in {"", "parameter", "argument"}


def parse_argument_lines(description: str, names: Container[str]) -> dict[str, str]:
    """Return the lines of a description about these arguments. Continuation lines are joined."""
    lines: dict[str, str] = {}
    current = ""
    for line in description.splitlines():
        found = _LINE.match(line)
        if found is not None and found[1] in names and found[1] not in lines:
            current = found[1]
            lines[current] = found[2].strip()
        elif not line.strip() or found is not None or _HEADING.match(line):
            current = ""
        elif current:
            lines[current] += f" {line.strip()}"
    return lines


def choices_of(schema: Record) -> list[Json]:
    """Return the values of an enum, or those in quotes that the description lists: `one of "open", "done"`."""
    listed, about = constants(schema), str(schema.get("description", ""))
    found = None if listed else _PIPED.match(about) or _ANNOUNCED.search(about)
    return [*dict.fromkeys(_QUOTED.findall(found[1]))] if found else listed


def nearest_choice(word: str, choices: Sequence[Json]) -> Json:
    """Return the choice that a verb leads to: `close` to `Closed`, `start` to `running`. None if there is none."""
    by_name = {_spelled(str(value)): value for value in reversed(choices)}
    names = (f"{word}d", f"{word}ed", f"{word}led", word, *_STATES_AFTER.get(word, ()), f"{word}{word[-1:]}ed")
    return next((by_name[name] for name in map(_spelled, names) if name in by_name), None)


def _spelled(value: str) -> str:
    """Return the words of a value with one spelling of `canceled`."""
    return snake(value).replace("canceled", "cancelled")
