"""Recognize tools for files, git and SQL, and write their functions as calls of the libraries.

This is an aid for authors: a person reads the file, and words the answers as the server does.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from mcp_sim.types import Tool
from mcp_sim.types.json_schema.shapes import properties, required
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.programs import parameter_name


@dataclass(slots=True)
class Adapter:
    """How a tool calls a library: its decorator, the lines of its function, and what these import."""

    library: str
    decorator: str
    lines: Sequence[str]
    imports: Sequence[str]


def adapters(tools: Mapping[str, Tool]) -> dict[str, Adapter]:
    """Return the tools that a library answers, by id. A library is used if enough tools of the server need it.

    `adapters.json` has for each function of a library the words of tools that mean it, one of each group, and usual
    names of the arguments that it takes.
    """
    table: dict[str, Any] = json.loads(
        files("mcp_sim.runs.starter").joinpath("adapters.json").read_text(encoding="utf-8")
    )
    written: dict[str, Adapter] = {}
    for library, declared in table.items():
        mentions = frozenset(declared["mentions"].split())
        fitting = {
            name: adapter
            for name, tool in tools.items()
            if name not in written and not mentions.isdisjoint(_words_of(tool))
            for adapter in [_adapter(tool, library, declared)]
            if adapter is not None
        }
        if len(fitting) >= declared["least"]:
            written |= fitting
    return written


def _words_of(tool: Tool) -> set[str]:
    return {*words(tool.name), *words(tool.description), *(word for name in _arguments(tool) for word in words(name))}


def _arguments(tool: Tool) -> list[str]:
    return [*properties(tool.input_schema)]


def _adapter(tool: Tool, library: str, declared: Mapping[str, Any]) -> Adapter | None:
    """Return the first function that a tool means by its name, and whose arguments it has."""
    named = {*words(tool.name)}
    for function in declared["functions"]:
        if all(not named.isdisjoint(group.split("|")) for group in function["words"].split()):
            roles = {role.rstrip("?"): _argument(tool, names) for role, names in function["takes"].items()}
            missing = [role for role in function["takes"] if not role.endswith("?") and roles[role] is None]
            needed = {*required(tool.input_schema)} - {*roles.values()}
            if not missing and not needed:
                return _written(tool, library, declared["entity"], function, roles)
    return None


def _argument(tool: Tool, names: str) -> str | None:
    """Return the argument with one of these names, in any style, or None."""
    plain = {"_".join(words(argument)): argument for argument in _arguments(tool)}
    return next((plain[name] for name in names.split() if name in plain), None)


def _written(
    tool: Tool, library: str, entity: str, function: Mapping[str, Any], roles: Mapping[str, str | None]
) -> Adapter:
    parameters = {role: "None" if name is None else parameter_name(name) for role, name in roles.items()}
    options = [f'verb="{function["verb"]}"', f'entity="{entity}"']
    options += [f'key="{roles[function["key"]]}"'] if function.get("key") else []
    options += [] if tool.output_schema is None else ["conforms=False"]
    lines = [line.format(**parameters) for line in function["code"]]
    return Adapter(library, ", ".join(options), lines, function.get("imports", ()))


def beginning(libraries: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the function that reads the given state into libraries."""
    yield from ("", "", "", "@initial", "def begin(given, world):")
    yield from (f"    world.{library}.load(given)" for library in libraries)
