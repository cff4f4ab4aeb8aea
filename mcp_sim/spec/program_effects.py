"""Find what the functions of a program do to tables, by a plain scan of their syntax trees.

The scan reads a function once, in the order of its text, and the module functions that it calls. A name is what was
assigned to it last. What it gets wrong, `@tool(reads=, verb=, entity=, key=)` corrects.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from mcp_sim.types.domain import Entity
from mcp_sim.types.programs import TableEffects

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_OWN = frozenset({"now", "random", "caller", "each", "invent"})
"""Attributes of a world that are neither tables nor libraries, but `imagine`."""
_MUTATING = frozenset(
    {"append", "extend", "insert", "remove", "pop", "clear", "update", "setdefault", "sort", "reverse"}
)
_CHOOSING = frozenset({"next", "min", "max", "choice"})
"""Functions that return one of the items that they get."""
_PASSING = frozenset(
    {"list", "sorted", "reversed", "iter", "tuple", "enumerate", "filter", "islice", "each", "int", "str"}
)
"""Functions that return the items that they get."""
_MOST_WAYS = 8
"""How many kinds of arguments of one function are distinguished, so that the scan takes linear time."""


class _Value(NamedTuple):
    """What an expression is, as far as the scan knows."""

    kind: Literal["world", "argument", "text", "table", "rows", "row", "part", "copy"]
    """`part` is a value in a row, and `copy` is computed from rows."""
    name: str = ""
    """The table, the path of the argument, or the text."""
    by: str = ""
    """The argument by which a row was found."""


@dataclass(slots=True)
class _Effects:
    """What a function does: table -> the argument that names the record, '' if none does."""

    creates: dict[str, str] = field(default_factory=dict[str, str])
    updates: dict[str, str] = field(default_factory=dict[str, str])
    deletes: dict[str, str] = field(default_factory=dict[str, str])
    reads: dict[str, str] = field(default_factory=dict[str, str])
    shows: dict[str, str] = field(default_factory=dict[str, str])
    uses_libraries: bool = False
    imagines: bool = False
    is_partial: bool = False

    def final(self) -> TableEffects:
        keys: dict[str, str] = {}
        for tables in (self.deletes, self.updates, self.shows, self.reads):
            for table, by in tables.items():
                _note(keys, table, by)
        return TableEffects(
            *map(tuple, (self.creates, self.updates, self.deletes, self.reads, self.shows)),
            keys={table: by for table, by in keys.items() if by},
            new_keys={table: by for table, by in self.creates.items() if by},
            uses_libraries=self.uses_libraries,
            imagines=self.imagines,
            is_partial=self.is_partial,
        )


def _note(tables: dict[str, str], table: str, by: str = "") -> None:
    """Note a table, and the argument that names the record; the first one counts."""
    tables[table] = tables.get(table) or by


def read_effects(
    nodes: Mapping[str, Sequence[ast.AST]], tables: Mapping[str, Entity], names: Iterable[str]
) -> dict[str, TableEffects]:
    """Return the effects of functions of a program: of those with these names.

    `nodes`: all nodes of the program, whose name is empty, and of the modules beside it by their names, as
    `ast.walk` yields them.
    """
    functions = _Functions(nodes)
    return {name: _effects(functions, tables, name) for name in names}


def _effects(functions: _Functions, tables: Mapping[str, Entity], name: str) -> TableEffects:
    function = functions.of[""][name]
    arguments = function.args
    first, *others = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)] or [""]
    names = {other: _Value("argument", other) for other in (*others, *(arg.arg for arg in arguments.kwonlyargs))}
    if arguments.kwarg is not None:
        names[arguments.kwarg.arg] = _Value("argument")
    scan = _Scan(functions, "", tables, {**names, first: _Value("world")})
    scan.read(function.body)
    for value in scan.returned:
        if value.kind in {"table", "rows", "row", "part", "copy"}:
            _note(scan.effects.shows, value.name, value.by)
    return scan.effects.final()


class _Functions:
    """The functions of a program, whose name is empty, and of the modules beside it."""

    def __init__(self, nodes: Mapping[str, Sequence[ast.AST]]) -> None:
        self.of = {module: {node.name: node for node in _functions(inner)} for module, inner in nodes.items()}
        self._imports = {module: dict(_imports(inner)) for module, inner in nodes.items()}

    def find(self, module: str, called: ast.expr) -> tuple[str, str] | None:
        """Return the module and the name of a function that a module calls, if it is one of these."""
        imports = self._imports[module]
        match called:
            case ast.Name(id=name) if name in self.of[module]:
                return module, name
            case ast.Name(id=name):
                return self._imported(imports.get(name) or f"{imports.get('*', '')}.{name}")
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if owner in imports:
                return self._imported(f"{imports[owner]}.{name}")
            case ast.Attribute(value=ast.Attribute(value=ast.Name(), attr=owner), attr=name):
                return self._imported(f"{owner}.{name}")
            case _:
                return None

    def _imported(self, origin: str) -> tuple[str, str] | None:
        """Return a function by the last two words of its import: `parts.known`."""
        owner, _, name = origin.rpartition(".")
        module = next((other for other in self.of if other and other.split(".")[-1] == owner.split(".")[-1]), None)
        if module is None:
            return None
        again = self._imports[module].get(name)
        if name in self.of[module]:
            return module, name
        return None if again is None else self._imported(again)


def _functions(nodes: Iterable[ast.AST]) -> list[Function]:
    """Return all functions of a module, those within others first: a function of the module itself wins."""
    return [node for node in nodes if isinstance(node, Function)][::-1]


def _imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
    """Yield how a module calls what it imports, and what that is: `known`, `parts.known`."""
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = node.module if isinstance(node, ast.ImportFrom) else None
            for alias in node.names:
                origin = module if alias.name == "*" else ".".join(filter(None, (module, alias.name)))
                yield alias.asname or alias.name.partition(".")[0], origin or ""


@dataclass
class _Scan(ast.NodeVisitor):
    """Reads one function. Visiting an expression returns what it is, None if nothing is known."""

    functions: _Functions
    module: str
    tables: Mapping[str, Entity]
    names: dict[str, _Value]
    effects: _Effects = field(default_factory=_Effects)
    calls: dict[tuple[str, str], dict[frozenset[tuple[str, _Value]], _Value | None]] = field(
        default_factory=dict[tuple[str, str], "dict[frozenset[tuple[str, _Value]], _Value | None]"]
    )
    """Function -> what it gets -> what it returns."""
    returned: list[_Value] = field(default_factory=list[_Value])

    def read(self, statements: Iterable[ast.AST]) -> None:
        """Scan some nodes in order. What nests too deeply is not understood."""
        for statement in statements:
            try:
                self.visit(statement)
            except RecursionError:
                self.effects.is_partial = True

    def generic_visit(self, node: ast.AST) -> _Value | None:
        """Scan the parts of any other node. Its value is computed from the first that comes from a table."""
        values = [self.visit(child) for child in ast.iter_child_nodes(node)]
        stored = (value for value in values if value is not None and value.kind in {"rows", "row", "part", "copy"})
        return next((value._replace(kind="copy") for value in stored), None)

    # variables

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        values = [node.value] * len(targets)
        match targets, node.value:
            case [ast.Tuple(elts=parts)], ast.Tuple(elts=others) if len(parts) == len(others):
                targets, values = parts, others
            case _:
                pass
        for target, value in zip(targets, [value and self.visit(value) for value in values], strict=True):
            self._assign(target, value)

    visit_AnnAssign = visit_AugAssign = visit_Assign

    def visit_NamedExpr(self, node: ast.NamedExpr) -> _Value | None:
        value = self.visit(node.value)
        self._assign(node.target, value)
        return value

    def _assign(self, target: ast.expr, value: _Value | None) -> None:
        match target:
            case ast.Name(id=name):
                if value is not None:
                    self.names[name] = value
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for element in parts:
                    self._assign(element, _item(value))
            case ast.Subscript(value=holder):
                self._write(self.visit(holder))
            case _:
                pass

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._assign(target, None)

    def _write(self, value: _Value | None) -> None:
        if value is not None and value.kind in {"row", "part"}:
            _note(self.effects.updates, value.name, value.by)

    def visit_For(self, node: ast.For | ast.comprehension) -> None:
        value = _item(self._read_all(self.visit(node.iter)))
        self._assign(node.target, value and value._replace(by=""))
        self.read(node.body if isinstance(node, ast.For) else node.ifs)
        self.read(node.orelse if isinstance(node, ast.For) else ())

    visit_comprehension = visit_For

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> _Value | None:
        before = dict(self.names)
        self.read(node.generators)
        value, self.names = self.visit(node.elt), before
        return value._replace(kind="rows") if value is not None and value.kind == "row" else value

    visit_ListComp = visit_SetComp = visit_GeneratorExp = _comprehension

    def visit_DictComp(self, node: ast.DictComp) -> _Value | None:
        return self._comprehension(ast.GeneratorExp(node.value, node.generators))

    def visit_Return(self, node: ast.Return | ast.Yield) -> None:
        value = node.value and self.visit(node.value)
        self.returned += [value] if value is not None else []

    visit_Yield = visit_Return

    # expressions

    def visit_Name(self, node: ast.Name) -> _Value | None:
        return self.names.get(node.id)

    def visit_Constant(self, node: ast.Constant) -> _Value | None:
        return _Value("text", node.value) if isinstance(node.value, str) and node.value in self.tables else None

    def visit_Attribute(self, node: ast.Attribute) -> _Value | None:
        owner = self.visit(node.value)
        if owner is not None and owner.kind == "world":
            return self._of_world(node.attr)
        return owner

    def _of_world(self, name: str) -> _Value | None:
        if name in self.tables:
            if not self.tables[name].singleton:
                return _Value("table", name)
            _note(self.effects.reads, name)
            return _Value("row", name)
        self.effects.imagines |= name == "imagine"
        self.effects.uses_libraries |= name not in _OWN and name != "imagine"
        return None

    def _of_world_named(self, world: _Value, name: _Value | None) -> _Value | None:
        return self._of_world(name.name) if name is not None and name.kind == "text" else self._unknown([world])

    def visit_Subscript(self, node: ast.Subscript) -> _Value | None:
        owner, key = self.visit(node.value), node.slice
        name = self.visit(key)
        if owner is None or isinstance(key, ast.Slice):
            return owner
        if owner.kind == "world":
            return self._of_world_named(owner, name)
        if owner.kind == "argument" and isinstance(key, ast.Constant) and isinstance(key.value, str):
            return owner._replace(name=f"{owner.name}.{key.value}".removeprefix("."))
        if owner.kind == "table":
            return self._method(owner, "get", [self.visit(key)], {})
        return _item(owner)

    def visit_Starred(self, node: ast.Starred) -> _Value | None:
        value = self._read_all(self.visit(node.value))
        return value._replace(kind="rows") if value is not None and value.kind == "table" else value

    def visit_BoolOp(self, node: ast.BoolOp) -> _Value | None:
        return next((value for value in [self.visit(operand) for operand in node.values] if value is not None), None)

    def visit_IfExp(self, node: ast.IfExp) -> _Value | None:
        self.visit(node.test)
        values = [self.visit(node.body), self.visit(node.orelse)]
        return next((value for value in values if value is not None), None)

    def visit_Compare(self, node: ast.Compare) -> None:
        first, *others = [self.visit(operand) for operand in (node.left, *node.comparators)]
        for value in others:
            if value is not None and value.kind == "table":
                _note(self.effects.reads, value.name, _argument(first))

    def _read_all(self, value: _Value | None) -> _Value | None:
        if value is not None and value.kind == "table":
            _note(self.effects.reads, value.name)
        return value

    # calls

    def visit_Call(self, node: ast.Call) -> _Value | None:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        owner = self.visit(function.value) if isinstance(function, ast.Attribute) else None
        given = [self.visit(arg.value if isinstance(arg, ast.Starred) else arg) for arg in node.args]
        named = {keyword.arg or "": self.visit(keyword.value) for keyword in node.keywords}
        if owner is not None and not (owner.kind == "world" and name in _OWN):
            return self._method(owner, name, given, named)
        first = given[0] if given else None
        if name == "getattr" and first is not None and first.kind == "world" and len(given) > 1:
            return self._of_world_named(first, given[1])
        called = self.functions.find(self.module, function) if owner is None else None
        if called is not None:
            return self._called(called, given, named)
        if name in _PASSING or name in _CHOOSING:
            values = [self._read_all(value) for value in given if value is not None]
            return _item(values[0]) if values and name in _CHOOSING else next(iter(values), None)
        return self._unknown([*given, *named.values()])

    def _unknown(self, given: Iterable[_Value | None]) -> _Value | None:
        """Return what a function returns that is not scanned."""
        values = [value for value in given if value is not None]
        self.effects.is_partial |= any(value.kind == "world" for value in values)
        stored = (self._read_all(value) for value in values if value.kind not in {"world", "argument", "text"})
        return next((value._replace(kind="copy") for value in stored if value is not None), None)

    def _called(
        self, called: tuple[str, str], given: list[_Value | None], named: Mapping[str, _Value | None]
    ) -> _Value | None:
        """Scan a function of the program with what it gets, and return what it returns."""
        module, name = called
        function = self.functions.of[module][name]
        parameters = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
        names = {**dict(zip(parameters, given, strict=False)), **named}
        known = {name: value for name, value in names.items() if value is not None}
        ways, way = self.calls.setdefault(called, {}), frozenset(known.items())
        if way not in ways and len(ways) < _MOST_WAYS:
            ways[way] = None  # it adds nothing where it calls itself
            inner = _Scan(self.functions, module, self.tables, known, self.effects, self.calls)
            inner.read(function.body)
            rows = (value for value in inner.returned if value.kind in {"row", "rows", "table", "part"})
            ways[way] = next(rows, next(iter(inner.returned), None))
        return ways.get(way)

    def _method(
        self, owner: _Value, name: str, given: list[_Value | None], named: Mapping[str, _Value | None]
    ) -> _Value | None:
        if owner.kind == "table":
            return self._of_table(self.tables[owner.name], name, given[0] if given else None, named)
        if owner.kind == "world":
            self._of_world(name)
            return None
        if owner.kind in {"row", "part"} and name in _MUTATING:
            self._write(owner)
        if owner.kind == "argument":
            return owner
        if name in {"get", "pop", "items", "values", "setdefault"}:
            return _item(owner)
        return owner if owner.kind == "rows" else owner._replace(kind="copy")

    def _of_table(
        self, table: Entity, method: str, first: _Value | None, named: Mapping[str, _Value | None]
    ) -> _Value | None:
        by = _argument(first)
        match method:
            case "add":
                _note(self.effects.creates, table.name, _argument(named.get(table.key)))
                return _Value("row", table.name)
            case "delete":
                _note(self.effects.deletes, table.name, first.by if first is not None and first.by else by)
                return None
            case "public":
                return first and first._replace(kind="copy")
            case "get":
                _note(self.effects.reads, table.name, by)
                return _Value("row", table.name, by)
            case _:
                names = [_argument(value) for value in (*named.values(), named.get(table.key))]
                by = next((name for name in reversed(names) if name), "")
                _note(self.effects.reads, table.name, by if table.key in named else "")
                return _Value("rows", table.name, by)


def _item(value: _Value | None) -> _Value | None:
    """Return an item of a list of rows, or a value in a row."""
    if value is None or value.kind in {"world", "text", "argument", "copy"}:
        return value
    return value._replace(kind="row" if value.kind in {"table", "rows"} else "part")


def _argument(value: _Value | None) -> str:
    """Return the argument that a value is; empty if it is not an argument."""
    return value.name if value is not None and value.kind == "argument" else ""
