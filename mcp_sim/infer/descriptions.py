"""What descriptions say about arguments: docstring lines, examples of calls, listed choices."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace

from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.json_schema.shapes import as_object, constants, type_name
from mcp_sim.types.json_values import decode_strict
from mcp_sim.types.lexicon.english import snake

_LINE = re.compile(r"^\s*+(?:[-*•]\s*+)?[`\"']?(\w++)[`\"']?\s*+(?:\([^()]*+\)\s*+)?(?::|[-–—](?=\s))\s*+(\S.*)$")
_EMPTY_SCHEMA_KEYS = frozenset({"type", "properties", "required", "additionalProperties", "$schema"})
"""Keys of a schema that describes no arguments."""

_HEADING = re.compile(r"^\s*\w[\w ]{0,30}:\s*$")
_CALL = re.compile(r"^\s*(?:[-*•]|\d+\.)\s*+([^{]*+)(\{[^{}]*\})")
_NOT_A_CALL = re.compile(
    r"\b(?:incorrect|wrong|invalid|bad|not|never|returns?|response|result|output)\b", re.IGNORECASE
)
_CHOICE = re.compile(r"^\s*[-*•]\s*[`\"']?([a-z]\w*)[`\"']?\s*:\s+[^\s{]")
_MIN_EXAMPLES = 2
"""Number of examples from which arguments are inferred."""

_ANNOUNCED = re.compile(
    r"(?:\[enum\]:?|one of:?|either|must be|should be(?: either)?|valid (?:values|options)(?: are)?:?|options:?|"
    r"allowed values(?: are)?:?|can be:?|possible values(?: are)?:?)\s*+[\[(]?"
    r"((?:\s*+(?:,\s*+(?:or|and)?|or|and)?\s*+[\"'`][^\"'`]{1,40}[\"'`](?: ?\([^()\"'`]*\))?)+)",
    re.IGNORECASE,
)
_VALUE = r"[\"'`][\w -]{1,30}[\"'`](?: ?\([^()]*\))?"
_LISTED = re.compile(
    rf"^(?:[\w ]{{0,24}}(?::| by| to) *)?((?:{_VALUE}(?:\s*,\s*(?:or\s+|and\s+)?|\s*[/|]\s*|\s+or\s+))+{_VALUE})"
)
"""`"open", "done" or "all" (default)`, `Filter by "high"/"low"`."""

_STRICT = re.compile(r"\b(?:one of|must be|(?:allowed|valid|possible) values)\b", re.IGNORECASE)
_LOOSE = re.compile(r"\be\.g\.|\bfor example\b|\bsuch as\b|\betc\b|\bor any\b|\bcustom\b", re.IGNORECASE)
_PIPED = re.compile(r"(?<![\w|])([a-z][\w-]{0,30}(?:\|[a-z][\w-]{0,30}){1,})(?![\w|])", re.IGNORECASE)
"""`open|done|all`."""

_QUOTED = re.compile(r"[\"'`]([^\"'`]{1,40})[\"'`]")
_SYNONYMS = (
    ("start", "running", "started", "in_progress", "on", "active", "open"),
    ("stop", "stopped", "off", "inactive", "halted"),
    ("enable", "enabled", "on", "active"),
    ("disable", "disabled", "off", "inactive"),
    ("activate", "active", "activated", "engaged", "enabled", "on"),
    ("deactivate", "inactive", "deactivated", "released", "disabled", "off"),
    ("engage", "engaged", "active", "on"),
    ("release", "released", "inactive", "off"),
    ("close", "closed", "done", "completed", "resolved"),
    ("reopen", "open", "reopened", "active"),
    ("open", "open", "opened"),
    ("resolve", "resolved", "closed", "done"),
    ("complete", "completed", "complete", "done", "finished", "closed"),
    ("finish", "finished", "completed", "done"),
    ("cancel", "cancelled", "canceled", "void"),
    ("archive", "archived", "inactive"),
    ("approve", "approved", "accepted"),
    ("reject", "rejected", "declined", "denied"),
    ("pause", "paused", "suspended", "on_hold"),
    ("resume", "active", "running", "resumed", "in_progress"),
)


def describe_arguments(tool: Tool) -> Tool:
    """Add the descriptions of arguments that the description of the tool gives. Schemas win."""
    schema = as_object(tool.definition.get("inputSchema"))
    parts = as_object(schema.get("properties"))
    if not parts and schema.keys() <= _EMPTY_SCHEMA_KEYS and schema.get("additionalProperties") is not False:
        shown = schema_of_examples(tool.description)
        return replace(tool, definition={**tool.definition, "inputSchema": shown}) if shown else tool
    bare = {name for name, part in parts.items() if isinstance(part, dict) and not _is_described(name, as_object(part))}
    described = parse_argument_lines(tool.description, bare) if bare and "\n" in tool.description else {}
    if not described:
        return tool
    parts = {
        name: {**part, "description": described[name]} if name in described else part for name, part in parts.items()
    }
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


def schema_of_examples(description: str) -> Record:
    """Return the schema of the arguments that examples of calls have. Empty if there are too few."""
    calls = list(_example_calls(description))
    if len(calls) < _MIN_EXAMPLES:
        return {}
    first = {name: value for call in reversed(calls) for name, value in call.items()}
    needed = [name for name in first if all(name in call for call in calls)]
    listed = [found[1] for line in description.splitlines() if (found := _CHOICE.match(line))]
    parts = {name: _schema_of_values([call[name] for call in calls if name in call], listed) for name in first}
    return {"type": "object", "properties": parts, "required": needed} if needed else {}


def _example_calls(description: str) -> Iterator[Record]:
    for line in description.splitlines():
        found = _CALL.match(line)
        if found is None or _NOT_A_CALL.search(found[1]):
            continue
        try:
            value = decode_strict(found[2])
        except ValueError:
            continue
        if isinstance(value, dict) and value:
            yield value


def _schema_of_values(values: list[Json], listed: list[str]) -> Record:
    """Return the schema of the values shown.

    It is an enum of the values that the description lists, if all are among them.
    """
    part: Record = {"type": type_name(values[0])} if len({type_name(value) for value in values}) == 1 else {}
    return {**part, "enum": listed} if len(listed) > 1 and all(value in listed for value in values) else part


def choices_of(schema: Record) -> list[Json]:
    """Return the values of an enum, or those that the description lists in quotes or between bars."""
    listed = constants(schema)
    if listed:
        return listed
    text = str(schema.get("description", ""))
    found = _ANNOUNCED.search(text) or _LISTED.search(text)
    if found:
        return [*dict.fromkeys(_QUOTED.findall(found[1]))]
    barred = _PIPED.search(text)
    return [*dict.fromkeys(barred[1].split("|"))] if barred else []


def strict_choices(schema: Record) -> list[Json]:
    """Return the only values that a description allows, if the schema allows more."""
    text = str(schema.get("description", ""))
    strict = not constants(schema) and _STRICT.search(text) and _ANNOUNCED.search(text) and not _LOOSE.search(text)
    found = choices_of(schema) if strict else []
    return found if len(found) > 1 else []


def nearest_choice(word: str, choices: Sequence[Json]) -> Json:
    """Return the choice that a verb leads to: `close` to `Closed`, `start` to `running`. None if there is none."""
    by_name = {snake(str(value)).replace("canceled", "cancelled"): value for value in reversed(choices)}
    group = next((names for names in _SYNONYMS if names[0] == word), (word,))
    for name in (f"{word}d", f"{word}ed", f"{word}led", *group, f"{word}{word[-1:]}ed"):
        if name.replace("canceled", "cancelled") in by_name:
            return by_name[name.replace("canceled", "cancelled")]
    return None
