"""Read the resources that functions of a program show, without running it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from mcp_sim.spec.program_tables import Note
from mcp_sim.spec.sources import Sources, display
from mcp_sim.types import Record
from mcp_sim.types.errors import Problem, did_you_mean
from mcp_sim.types.programs import ProgramFunction, parameter_name
from mcp_sim.types.surface import Resource, has_unknown_expressions, shape_of, variables

_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.+")


def add_resource(resources: list[Resource], uri: str, function: ProgramFunction, note: Note) -> None:
    """Add the resource that a function shows at a URI, or at those of a template.

    Problems are noted at the function.
    """
    same = next((resource for resource in resources if shape_of(resource.uri) == shape_of(uri)), None)
    problems = [*_problems(uri, function)]
    if same is not None and same.function is not None:
        problems.append(f"shows {uri!r}, as {same.function.name} does; remove one of them")
    for problem in problems:
        note(function.line, function.name, problem, "error")
    if not problems:
        _warn_of_writes(function, note)
        resources.append(Resource(_definition(uri, function), function=function))


def with_program_resources(
    declared: Sequence[Resource], shown: Sequence[Resource], path: Path, sources: Sources
) -> tuple[Resource, ...]:
    """Return the declared resources, and then those of a program that are not declared: templates last."""
    known = {shape_of(known_resource.uri) for known_resource in declared}
    for resource in shown:
        if resource.function is not None and shape_of(resource.uri) in known:
            message = f"shows {resource.uri!r}, which the spec declares under resources:; the spec wins"
            sources.problems.append(
                Problem(display(path), resource.function.line, resource.function.name, message, "warning")
            )
    added = [known_resource for known_resource in shown if shape_of(known_resource.uri) not in known]
    return (*declared, *sorted(added, key=lambda known_resource: known_resource.is_template))


def _definition(uri: str, function: ProgramFunction) -> Record:
    """Return the entry in the list."""
    options = function.options
    definition = {"uriTemplate" if variables(uri) else "uri": uri, "name": options.get("name") or function.name}
    others = {"description": options.get("description"), "mimeType": options.get("mime_type")}
    return {**definition, **{key: value for key, value in others.items() if value}}


def _problems(uri: str, function: ProgramFunction) -> Iterator[str]:
    """Yield what is wrong with a URI, and where its variables and the parameters differ."""
    if not uri:
        yield 'needs a URI: @resource("notes://{id}")'
        return
    if not _URI.fullmatch(uri):
        yield f"{uri!r} is no URI; it begins with a scheme, such as notes://"
    if has_unknown_expressions(uri):
        yield f"{uri!r}: write variables as {{name}}, or {{+name}} if values may contain slashes"
    names = [*map(parameter_name, variables(uri))]
    if len({*names}) < len(names):
        yield f"{uri!r} has a variable twice"
    for name in dict.fromkeys(names):
        if name not in function.parameters and not function.takes_all:
            yield f"does not take {name!r}, a variable of {uri}{did_you_mean(name, function.parameters)}"
    for name in function.parameters:
        if name not in names and name not in function.defaults:
            yield f"takes {name!r}, which is no variable of {uri}{did_you_mean(name, names)}"


def _warn_of_writes(function: ProgramFunction, note: Note) -> None:
    effects = function.effects
    written = dict.fromkeys((*effects.creates, *effects.updates, *effects.deletes))
    if written:
        message = f"writes {', '.join(written)}, but resources only read: reading this one fails"
        note(function.line, function.name, message, "warning")
