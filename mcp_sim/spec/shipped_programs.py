"""The programs of shipped tool specs, attached to the tool lists of the vendors that they simulate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from mcp_sim.spec import yaml12
from mcp_sim.spec.places import Place
from mcp_sim.spec.programs import DeclaredProgram, read_program
from mcp_sim.spec.sources import Sources, shipped
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties, required
from mcp_sim.types.programs import ProgramFunction

FEWEST = 3
"""The fewest tools by which a server is recognised, unless it has the same tools with the same arguments.

With more than half of the names, none of 54 published lists of other servers is recognised; the nearest one has half.
"""


@frozen
class Match:
    """A shipped tool spec whose program answers tools of a server."""

    name: str
    answered: tuple[str, ...]
    share: float
    """How many of the tools are answered, of those of the server or of the program, whichever are fewer."""
    errors: Json
    """How the shipped spec words failures; None if it does not say."""
    sim: Record
    """What the shipped spec says of the tools that keep their plans, where they take the same arguments."""


def attach_program(place: Place, name: str, sources: Sources, tools: Mapping[str, Record]) -> DeclaredProgram | None:
    """Read the program of a shipped tool spec for the tools of another. Problems are noted at `place`.

    A tool that takes other arguments than the function keeps its plan.
    """
    known = _with_programs()
    if name not in known:
        place.error(f"unknown program {name!r}{did_you_mean(name, known)}; a file needs its suffix: {name}.py")
        return None
    program = _program(place, known[name], sources)
    if program is None:
        return None
    functions = _functions(program)
    for tool in functions.keys() & tools.keys():
        for problem in misfits(functions[tool], tools[tool]):
            place.warning(f"{tool} keeps its plan: the program of {name} {problem}")
    fitting = {tool: functions[tool] for tool in _answered(functions, tools)}
    return replace(program, program=replace(program.program, functions=fitting))


def recognise(tools: Iterable[Json]) -> Match | None:
    """Return the shipped tool spec whose program answers a list of tools best; None if the list is of another server.

    More than half of the tools of the server or of the shipped spec must have names that both have, counting those of
    other versions of the server. At least three tools, or both of a shipped spec that has two, must have arguments that
    the program knows, and half of those whose names it knows. Else the lists must be equal, argument by argument.
    """
    listed = _by_name(tools)
    matches = [_match(name, path, listed) for name, path in _with_programs().items()]
    fitting = [match for match in matches if match is not None]
    return max(fitting, key=lambda match: (match.share, len(match.answered), match.name), default=None)


def misfits(function: ProgramFunction, tool: Record) -> Iterable[str]:
    """Yield why a function cannot answer a tool: arguments that only one of them knows."""
    schema = expanded(as_object(tool.get("inputSchema")))
    arguments = {function.parameter(name) for name in properties(schema)}
    for name in function.parameters:
        if name not in arguments and name not in function.defaults and name not in function.fixed:
            yield f"needs {name!r}"
    for name in sorted(required(schema)):
        if function.parameter(name) not in function.parameters and not function.takes_all:
            yield f"does not take {name!r}"


def _functions(declared: DeclaredProgram) -> Mapping[str, ProgramFunction]:
    """Return what a program answers, also of other versions of the server."""
    return {**declared.others, **declared.program.functions}


def _answered(functions: Mapping[str, ProgramFunction], tools: Mapping[str, Record]) -> list[str]:
    return [tool for tool in tools if tool in functions and not [*misfits(functions[tool], tools[tool])]]


def _match(name: str, path: Path, tools: Mapping[str, Record]) -> Match | None:
    document = _document(path)
    known_tools = _by_name(_tools(path, document))
    is_same = known_tools.keys() == tools.keys() and _arguments(known_tools) == _arguments(tools)
    fewest = max(2, min(FEWEST, len(known_tools)))
    if len(known_tools.keys() & tools.keys()) < fewest and not is_same:  # most lists; versions share some names
        return None
    sources = Sources()
    root = sources.open(path)
    program = root and _program(root, path, sources)
    if not program:
        return None
    functions = _functions(program)
    answered, by_name = _answered(functions, tools), functions.keys() & tools.keys()
    known = by_name | (known_tools.keys() & tools.keys())
    fewer = min(len(tools), len(known_tools))
    share = len(answered) / fewer
    theirs, ours = _arguments(tools), _arguments(known_tools)
    sim = {tool: said for tool, said in as_object(document.get("sim")).items() if theirs.get(tool) == ours[tool]}
    is_match = len(answered) >= fewest and 2 * len(known) > fewer and 2 * len(answered) >= len(by_name)
    return Match(name, tuple(answered), share, document.get("errors"), sim) if is_match or is_same else None


def _by_name(tools: Iterable[Json]) -> dict[str, Record]:
    return {str(tool["name"]): tool for tool in map(as_object, tools) if isinstance(tool.get("name"), str)}


def _arguments(tools: Mapping[str, Record]) -> dict[str, frozenset[str]]:
    return {name: frozenset(properties(expanded(as_object(tool.get("inputSchema"))))) for name, tool in tools.items()}


def _program(place: Place, path: Path, sources: Sources) -> DeclaredProgram | None:
    """Read the program of a shipped spec for that spec's own tools."""
    root = sources.open(path)
    if root is None:
        return None
    known_tools = _by_name(_tools(path, as_object(root.value)))
    return read_program(place, str(root.value["program"]), path, sources, known_tools)


@cache
def _with_programs() -> Mapping[str, Path]:
    """Return the shipped tool specs that have a program."""
    return {name: path for name, path in shipped("tool_specs").items() if "program" in _document(path)}


def _document(path: Path) -> Record:
    return as_object(yaml12.load(path.read_bytes(), path.name).value)


def _tools(path: Path, document: Record) -> list[Json]:
    """Return the tools of a shipped spec, which has them in a file of its own."""
    file = path.parent / str(document["tools"])
    return as_list(as_object(yaml12.load(file.read_bytes(), file.name).value).get("tools"))
