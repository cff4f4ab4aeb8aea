"""Find the resources of a program, and where it keeps state in its module, without running it.

All worlds would share such state."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from mcp_sim.spec.program_tables import Note
from mcp_sim.spec.sources import Sources, display
from mcp_sim.types.errors import Problem, did_you_mean
from mcp_sim.types.programs import ProgramFunction, parameter_name
from mcp_sim.types.surface import Resource, has_unknown_expressions, shape_of, variables

_CHANGES = frozenset(
    """
    add append appendleft clear discard extend extendleft insert pop popitem popleft remove reverse setdefault sort
    update
    """.split()  # noqa: SIM905 (a list of words reads better in lines)
)
"""Methods that change the list, map or set that they belong to."""

_ADVICE = "which all worlds share: keep it in a table, for instance a singleton"


_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.+")


def module_state(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the lines where functions of a program change what belongs to its module, and what they change.

    Changes under another name are not seen.
    """
    variables = {name for node in module.body for name in _assigned(node)}
    names = variables | {name for node in module.body for name in _defined(node)}
    waiting: list[tuple[ast.AST, frozenset[str] | None]] = [(module, None)]
    while waiting:  # generated programs nest statements too deeply for functions that call themselves
        node, local = waiting.pop()
        if local is not None:
            yield from _change(node, variables - local, names - local)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            local = (local or frozenset()) | {*_local(node)}
        waiting += [(child, local) for child in reversed([*ast.iter_child_nodes(node)])]


def _change(node: ast.AST, variables: Collection[str], names: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield what a node in a function changes, given the names in sight of its module: the variables, and all."""
    match node:
        case ast.Global(names=[name, *_]):
            yield node.lineno, f"changes the global variable {name}, {_ADVICE}"
        case (
            ast.Subscript(ctx=ast.Store() | ast.Del(), value=owner)
            | ast.Attribute(ctx=ast.Store() | ast.Del(), value=owner)
        ) if _root(owner) in names:
            yield node.lineno, f"changes {ast.unparse(node)} of its module, {_ADVICE}"
        case ast.Call(func=ast.Attribute(value=owner, attr=method)) if method in _CHANGES and _root(owner) in variables:
            yield node.lineno, f"changes {ast.unparse(owner)} of its module, {_ADVICE}"
        case ast.Call(func=ast.Name(id="next"), args=[ast.Name(id=name), *_]) if name in variables:
            yield node.lineno, f"takes the next of {name} of its module, {_ADVICE}"
        case _:
            pass


def _assigned(node: ast.stmt) -> Iterator[str]:
    """Yield the variables that a statement of a module sets."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for child in ast.walk(node):
        if isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id


def _defined(node: ast.stmt) -> Iterator[str]:
    """Yield the functions, classes and modules that a statement of a module names."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
        case _:
            pass


def _local(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[str]:
    """Yield the names that are a function's own: its parameters, and what it sets without `global`."""
    nodes = [node for node in ast.walk(function) if node is not function]
    shared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    for node in nodes:
        match node:
            case ast.arg(arg=name) | ast.ExceptHandler(name=str(name)) | ast.FunctionDef(name=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) if name not in shared:
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
            case _:
                pass


def _root(node: ast.expr) -> str:
    """Return the variable that an expression like `a.b[c]` begins with; '' for other expressions."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


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
        effects = function.effects
        written = dict.fromkeys((*effects.creates, *effects.updates, *effects.deletes))
        if written:
            message = f"writes {', '.join(written)}, but resources only read: reading this one fails"
            note(function.line, function.name, message, "warning")
        options = function.options
        definition = {"uriTemplate" if variables(uri) else "uri": uri, "name": options.get("name") or function.name}
        others = {"description": options.get("description"), "mimeType": options.get("mime_type")}
        shown = {**definition, **{key: value for key, value in others.items() if value}}
        resources.append(Resource(shown, function=function))


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
            yield f"takes {name!r}, which is not a variable of {uri}{did_you_mean(name, names)}"
