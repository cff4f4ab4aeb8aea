"""Read the tables and the functions that a program declares, without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import field, replace
from difflib import get_close_matches
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from mcp_sim.spec.places import Place
from mcp_sim.spec.program_effects import WORLD, read_effects
from mcp_sim.spec.program_files import local_modules, not_python, read_module
from mcp_sim.spec.program_state import add_resource, module_state
from mcp_sim.spec.program_tables import TooManyProblems, read_tables, why_no_json
from mcp_sim.spec.sources import Sources, display
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.errors import Problem, Severity, did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object, properties, required
from mcp_sim.types.options import duration
from mcp_sim.types.programs import (
    EXTRAS,
    GESTURES,
    LIBRARIES,
    Program,
    ProgramFunction,
    TableEffects,
    parameter_name,
)
from mcp_sim.types.surface import Resource

HOOKS = ("initial", "unknown_tool", "invalid_arguments")
"""The decorators of functions that answer no tool."""

_DECORATORS = frozenset({"tool", "resource", *HOOKS})

_OPTIONS: Mapping[str, Mapping[str, type]] = {
    "tool": {
        "reads": bool,
        "validate": bool,
        "conforms": bool,
        "verb": str,
        "entity": str,
        "key": str,
        "rows": str,
        "idempotency": str,
        "expires": str,
        "gesture": str,
    },
    "resource": {"name": str, "description": str, "mime_type": str},
}
"""The options of each decorator that takes some."""
_VERBS = ("create", "get", "list", "search", "update", "delete", "compute", "none")
_OTHERWISE = ", else serve it in a container with mcp-sim's Dockerfile"


def _is_world(node: ast.expr) -> bool:
    """Whether an expression is called like the world of a function: `world.files`, `self.world.sql`."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name.strip("_") == "world"


def _unknown_fields(nodes: Iterable[ast.AST], tables: Mapping[str, Entity]) -> Iterator[tuple[int, str]]:
    """Yield the fields that `add` and `find` name and their table does not declare, by line."""
    for node in nodes:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(value=world, attr=table), attr="add" | "find"), keywords=keywords
            ) if table in tables and _is_world(world):
                entity = tables[table]
                known = {entity.key, *entity.fields}
                for name in [word.arg for word in keywords if word.arg and word.arg not in known]:
                    if len(known) > 1:  # a table that declares no fields takes any
                        yield node.lineno, f"{table} has no field {name!r}{did_you_mean(name, known)}"
            case _:
                pass


@frozen
class DeclaredProgram:
    """A program as read for one server: its functions by tool name, its tables as entities, and its resources."""

    program: Program
    entities: Mapping[str, Entity]
    resources: tuple[Resource, ...] = ()
    others: Mapping[str, ProgramFunction] = field(default_factory=dict[str, ProgramFunction])
    """Tools of other versions of the server -> the functions that answer them."""


def read_program(
    place: Place, value: str, document: Path, sources: Sources, tools: Mapping[str, Record]
) -> DeclaredProgram | None:
    """Read the program that a tool spec names. `tools` are the definitions of its tools by name.

    Problems are noted: those of the program at its own lines. None if there is nothing to read.
    """
    read = read_module(place, value, document, sources)
    if read is None:
        return None
    file, data, module = read
    code, helpers = local_modules(file, data, module, sources)
    action = f"runs the Python program {value}"
    sources.require_trust(place, document, action, [*code], otherwise=_OTHERWISE)
    declared = _Reader(file, module, helpers, sources, _digest(code)).read(tools)
    for library in sorted(declared.program.libraries & EXTRAS.keys()):
        package, extra = EXTRAS[library]
        if find_spec(package) is None:
            place.error(
                f"{value} uses world.{library}, which needs the package {package}: pip install 'mcp-sim[{extra}]'"
            )
    return replace(declared, program=replace(declared.program, code=code))


def read_trusted_program(file: Path, sources: Sources, tools: Mapping[str, Record]) -> DeclaredProgram | None:
    """Read a program that no document names but the user, who trusts it. None if it cannot be read, which is noted."""
    data = sources.bytes_of(file)
    if data is None:
        return None
    try:
        module = ast.parse(data, file.name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        sources.problems.append(not_python(file, error))
        return None
    declared = _Reader(file, module, {}, sources, _digest({file: data})).read(tools)
    return replace(declared, program=replace(declared.program, code={file: data}))


@frozen
class _Analysis:
    """What the syntax trees of a program show: its libraries, and the effects of its functions."""

    libraries: frozenset[str]
    changes: tuple[tuple[str, int, str], ...]
    """Changes of its modules: the module, the line, in words."""
    unknown: tuple[tuple[str, int, str], ...]
    """Names of fields that a table does not declare, in the same form."""
    effects: Mapping[str, TableEffects]


_analyses: dict[bytes, _Analysis] = {}
"""Analyses by a hash of the files: half of the time to load a document, and `check` and `hunt` load many."""

_MOST_ANALYSES = 256
"""Several times as many as ship. An analysis takes some kilobytes."""


def _digest(code: Mapping[Path, bytes]) -> bytes:
    """Return a hash of the files of a program. The first file is in the folder of the others."""
    whole, folder = sha256(), next(iter(code)).parent
    for file, data in code.items():
        whole.update(f"{file.relative_to(folder).as_posix()} {len(data)} ".encode() + data)
    return whole.digest()


class _Entry(NamedTuple):
    """An entry of the `tables` of a module: the key, None for `**value`."""

    key: ast.expr | None
    value: ast.expr
    place: ast.expr | None = None
    """The expression that includes the entry if it is of another module."""


class _Reader:
    """Reads one program, and notes problems at its lines. `digest` is that of its files."""

    def __init__(
        self, file: Path, module: ast.Module, helpers: Mapping[str, ast.Module], sources: Sources, digest: bytes
    ) -> None:
        self._file, self._module, self._sources, self._digest = file, module, sources, digest
        self._trees = {"": module, **helpers}
        # How a program calls the decorators of `mcp_sim.programs`: as it imports them -> their own names.
        interface_names: dict[str, str] = {}
        for node in module.body:
            match node:
                case ast.ImportFrom(module="mcp_sim.programs", names=names):
                    interface_names |= {
                        alias.asname or alias.name: alias.name for alias in names if alias.name in _DECORATORS
                    }
                case ast.ImportFrom(module="mcp_sim", names=names) | ast.Import(names=names):
                    for alias in names:
                        if alias.name in {"programs", "mcp_sim.programs"}:
                            interface_names |= {f"{alias.asname or alias.name}.{name}": name for name in _DECORATORS}
                case _:
                    pass
        self._names = interface_names
        self._known_entries = dict[str, Mapping[str, _Entry] | None]()

    def read(self, tools: Mapping[str, Record]) -> DeclaredProgram:
        tables = self._tables()
        nodes = [*self._functions()]
        analysis = _analyses.get(self._digest) or self._analysis(tables, nodes)
        libraries = analysis.libraries
        for name, line, change in analysis.changes:
            self._note(0 if name else line, "", f"{name}: line {line}: {change}" if name else change)
        for name, line, unknown in analysis.unknown:
            self._note(0 if name else line, "", f"{name}: line {line}: {unknown}" if name else unknown, "warning")
        functions, hooks = dict[str, ProgramFunction](), dict[str, ProgramFunction]()
        resources = list[Resource]()
        for node in nodes:
            for decorator in node.decorator_list:
                kind, name, options = self._decorator(decorator)
                function = replace(_function(node), options=options, effects=analysis.effects[node.name])
                if kind in HOOKS:
                    hooks[kind] = function
                elif kind == "resource" and name is not None:
                    add_resource(resources, name, function, self._note)
                elif kind == "tool":
                    self._add(functions, name or node.name, function, tools)
        for function in functions.values():
            self._check_options(function, tables, libraries)
        if not libraries:  # they have tables of their own
            self._check_tables(tables)
        others = self._others(functions)
        program = Program(self._file, functions, tuple(tables), libraries, hooks)
        return DeclaredProgram(program, tables, tuple(resources), others)

    def _analysis(self, tables: Mapping[str, Entity], functions: Iterable[ast.FunctionDef]) -> _Analysis:
        """Analyse the syntax trees, and keep the result."""
        nodes = {name: [*ast.walk(tree)] for name, tree in self._trees.items()}
        attributes = [node for inner in nodes.values() for node in inner if isinstance(node, ast.Attribute)]
        libraries = frozenset(node.attr for node in attributes if node.attr in LIBRARIES and _is_world(node.value))
        changes = tuple(
            (name, line, change) for name, tree in self._trees.items() for line, change in module_state(tree)
        )
        unknown = tuple(
            (name, line, problem) for name, inner in nodes.items() for line, problem in _unknown_fields(inner, tables)
        )
        effects = read_effects(nodes, tables, [node.name for node in functions if node.decorator_list])
        if len(_analyses) >= _MOST_ANALYSES:
            _analyses.clear()
        _analyses[self._digest] = analysis = _Analysis(libraries, changes, unknown, effects)
        return analysis

    def _others(self, functions: dict[str, ProgramFunction]) -> dict[str, ProgramFunction]:
        """Return the functions of tools of other versions, and add their names of arguments to the functions."""
        node = next((value for name, value in _assignments(self._module) if name == "other_versions"), None)
        if node is None:
            return {}
        versions = as_object(_literal_of(node))
        renamed = {str(name): str(parameter) for name, parameter in as_object(versions.get("arguments")).items()}
        functions.update({tool: replace(function, renamed=renamed) for tool, function in functions.items()})
        others = dict[str, ProgramFunction]()
        for tool, given in as_object(versions.get("tools")).items():
            function = functions.get(str(as_object(given).get("as")))
            if function is None:
                self._note(node.lineno, "other_versions", f"{tool} is no other tool: {given!r} names none")
                continue
            options = {name: value for name, value in function.options.items() if name != "verb"}
            options |= {name: given[name] for name in ("verb",) if name in given}
            others[tool] = replace(function, options=options, fixed=as_object(given.get("with")))
        return others

    def _functions(self) -> Iterator[ast.FunctionDef]:
        """Yield the functions of the file. Two of one name, and coroutines that answer tools, are errors."""
        lines: dict[str, int] = {}
        for node in self._module.body:
            if isinstance(node, ast.AsyncFunctionDef) and any(
                self._decorator(decorator)[0] for decorator in node.decorator_list
            ):
                self._note(node.lineno, node.name, "must not be async: a program waits for nothing")
            if not isinstance(node, ast.FunctionDef):
                continue
            if node.name in lines and node.decorator_list:
                self._note(node.lineno, node.name, f"has the name of the function in line {lines[node.name]}")
            lines[node.name] = node.lineno
            yield node

    def _note(self, line: int, path: str, message: str, severity: Severity = "error") -> None:
        self._sources.problems.append(Problem(display(self._file), line, path, message, severity))

    # functions

    def _decorator(self, node: ast.expr) -> tuple[str, str | None, dict[str, Any]]:
        """Return the name of a decorator ('' for those of others), the tool or URI that it names, and its options.

        The tool or URI is '' if it is missing, and None if it cannot be read.
        """
        call = node if isinstance(node, ast.Call) else None
        kind = self._names.get(_dotted_name(call.func if call is not None else node), "")
        known = _OPTIONS.get(kind)
        if call is None or known is None:
            return kind, "", {}
        name = self._literal(call.args[0], str, kind) if call.args else ""
        options: dict[str, Any] = {}
        for keyword in call.keywords:
            option = keyword.arg or "**"
            if option in known:
                options[option] = self._literal(keyword.value, known[option], option)
            else:
                self._note(keyword.value.lineno, kind, f"unknown option {option!r}{did_you_mean(option, known)}")
        return kind, name, {option: value for option, value in options.items() if value is not None}

    def _literal(self, node: ast.expr, wanted: type, name: str) -> Any:
        value = _literal_of(node)
        if type(value) is wanted and why_no_json(value) is None:
            return value
        words = {bool: "True or False", str: "a text"}
        self._note(
            node.lineno, name, f"must be written as {words[wanted]}, since the program is read without running it"
        )
        return None

    def _add(
        self, functions: dict[str, ProgramFunction], tool: str, function: ProgramFunction, tools: Mapping[str, Record]
    ) -> None:
        path = function.name
        if tool in functions:
            self._note(function.line, path, f"answers {tool}, as {functions[tool].name} does; remove one of them")
        elif tool not in tools:
            self._note(
                function.line, path, f"answers {tool!r}, which the server does not have{did_you_mean(tool, tools)}"
            )
        else:
            functions[tool] = function
            self._check_key(function, tools[tool])
            self._check_parameters(function, tools[tool])
            self._check_effects(function, tools[tool])

    def _check_parameters(self, function: ProgramFunction, tool: Record) -> None:
        """Note where parameters and inputSchema have drifted apart."""
        schema = as_object(tool.get("inputSchema"))
        known = properties(schema)
        if function.takes_all or not known:
            return
        arguments = {parameter_name(name): name for name in known}
        for name in function.parameters:
            if name not in arguments:
                message = f"takes {name!r}, which {tool['name']} does not have{did_you_mean(name, arguments)}"
                self._note(function.line, function.name, message, "warning")
        for name in sorted(required(schema)):
            if parameter_name(name) not in function.parameters:
                message = f"does not take {name!r}, which {tool['name']} requires"
                self._note(function.line, function.name, message, "warning")

    def _check_effects(self, function: ProgramFunction, tool: Record) -> None:
        """Note a function whose effects are unknown, or more than its tool's annotations allow, and not declared."""
        effects, options = function.effects, function.options
        if "verb" in options or options.get("reads"):
            return
        if effects.is_partial:
            message = "passes the world to code that is not followed; declare what it does: @tool(verb=..., entity=...)"
            self._note(function.line, function.name, message, "warning")
        written = [*effects.creates, *effects.updates, *effects.deletes]
        if written and as_object(tool.get("annotations")).get("readOnlyHint") is True:
            message = f"writes {written[0]}, but {tool['name']} has readOnlyHint; correct one, or declare reads=True"
            self._note(function.line, function.name, message, "warning")

    def _check_key(self, function: ProgramFunction, tool: Record) -> None:
        """Note a key that is not an argument of the tool, and an idempotency key that expires after no duration."""
        key, expires = function.options.get("idempotency"), function.options.get("expires")
        arguments = properties(as_object(tool.get("inputSchema")))
        known = {*arguments, *map(function.parameter, arguments)}
        if key is not None and known and key not in known:
            message = f"idempotency: {tool['name']} has no argument {key!r}{did_you_mean(key, known)}"
            self._note(function.line, function.name, message)
        named = function.options.get("key")
        if named is not None and known and named.split(".")[0] not in known:
            message = f"key: {tool['name']} has no argument {named!r}{did_you_mean(named, known)}"
            self._note(function.line, function.name, message, "warning")
        if expires is not None and key is None:
            self._note(function.line, function.name, "expires goes with idempotency, the argument with the key")
        try:
            duration(expires or "24h")
        except ValueError as error:
            self._note(function.line, function.name, f"expires: {error}")

    def _check_options(
        self, function: ProgramFunction, tables: Mapping[str, Entity], libraries: frozenset[str]
    ) -> None:
        options = function.options
        if options.get("verb", "none") not in _VERBS:
            self._note(function.line, function.name, f"verb {options['verb']!r}{did_you_mean(options['verb'], _VERBS)}")
        if options.get("reads") and options.get("verb") in {"create", "update", "delete"}:
            self._note(function.line, function.name, f"reads=True contradicts verb={options['verb']!r}")
        gesture = options.get("gesture", "click")
        if gesture not in GESTURES:
            self._note(function.line, function.name, f"gesture {gesture!r}{did_you_mean(gesture, GESTURES)}")
        elif "gesture" in options and len(function.parameters) < GESTURES[gesture]:
            message = f"gesture={gesture!r} needs {GESTURES[gesture]} parameters: the reference, and what is entered"
            self._note(function.line, function.name, message)
        if tables and not libraries and options.get("entity", next(iter(tables))) not in tables:
            name = options["entity"]
            self._note(function.line, function.name, f"unknown table {name!r}{did_you_mean(name, tables)}")

    def _check_tables(self, tables: Mapping[str, Entity]) -> None:
        """Note attributes of the world that resemble a table. Others may be tables that a spec declares."""
        known = {*tables, *WORLD, *LIBRARIES}
        for node in ast.walk(self._module):
            if isinstance(node, ast.Attribute) and _is_world(node.value) and node.attr not in known:
                for near in get_close_matches(node.attr, tables, n=1, cutoff=0.8):  # not 'booking' for 'book'
                    message = f"the world has no table {node.attr!r}; did you mean {near!r}?"
                    self._note(node.lineno, "", message, "warning")

    def _tables(self) -> dict[str, Entity]:
        """Return the `tables` of the program, with those that it includes by `**NAME.tables` of modules beside it."""
        node = _tables_node(self._module)
        if isinstance(node, ast.Dict) and None in node.keys:
            entries = [_at_place(entry) for entry in (self._entries("") or {}).values()]
            whole = ast.Dict([entry.key for entry in entries], [entry.value for entry in entries])
            node = ast.copy_location(whole, node)
        try:
            return {} if node is None else read_tables(node, self._note)
        except TooManyProblems:
            return {}

    def _entries(self, module: str) -> Mapping[str, _Entry] | None:
        """Return the entries of the `tables` of a module by their keys, those that it includes among them.

        None if they are not a literal mapping, or not read to their end: a module may include itself.
        """
        node = None if module in self._known_entries else _tables_node(self._trees[module])
        self._known_entries.setdefault(module, None)
        if isinstance(node, ast.Dict):
            entries = dict[str, _Entry]()
            for key, value in zip(node.keys, node.values, strict=True):
                match key, value:
                    case None, ast.Attribute(value=ast.Name(id=name), attr="tables") if name in self._trees:
                        included = self._entries(name)
                    case _:
                        included = None
                if included is None:
                    entries[ast.dump(key or value)] = _Entry(key, value)
                else:
                    entries |= {item: entry._replace(place=value) for item, entry in included.items()}
            self._known_entries[module] = entries
        return self._known_entries[module]


def declared_fields(file: Path) -> dict[str, frozenset[str]]:
    """Return the fields that a program's file declares, by table; {} if there is no such file."""
    if not file.exists():
        return {}
    node = _tables_node(ast.parse(file.read_bytes()))
    tables = {} if node is None else read_tables(node, lambda _line, _path, _message, _severity: None)
    return {name: frozenset(entity.fields) for name, entity in tables.items()}


def _function(node: ast.FunctionDef) -> ProgramFunction:
    arguments = node.args
    positional = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
    keyword_only = [arg.arg for arg in arguments.kwonlyargs]
    optional = {
        *positional[len(positional) - len(arguments.defaults) :],
        *(name for name, default in zip(keyword_only, arguments.kw_defaults, strict=True) if default is not None),
    }
    return ProgramFunction(
        node.name,
        node.lineno,
        (*positional[1:], *keyword_only),
        frozenset(optional),
        positional[0] if positional else "",
        arguments.kwarg is not None,
    )


def _dotted_name(node: ast.expr) -> str:
    """Return a name with dots (`programs.tool`); '' for any other expression."""
    parts = list[str]()
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _assignments(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    for node in module.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
            case _:
                pass


def _tables_node(module: ast.Module) -> ast.expr | None:
    return next((value for name, value in _assignments(module) if name == "tables"), None)


def _at_place(entry: _Entry) -> _Entry:
    """Return a copy of an entry of another file at the place that includes it; one of the program's file as it is."""
    if entry.place is None:
        return entry
    key, value = deepcopy((entry.key, entry.value))
    for node in (key, value):
        for inner in ast.walk(node) if node is not None else ():
            if isinstance(inner, ast.expr):
                ast.copy_location(inner, entry.place)
    return _Entry(key, value, entry.place)


def _literal_of(node: ast.expr) -> Any:
    """Return the value of a literal, or NotImplemented."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return NotImplemented
