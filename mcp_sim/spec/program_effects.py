"""Find what the functions of a program do to tables, by a plain scan of their syntax trees.

The scan reads a function once, in the order of its text, and the functions that it calls. A name is what was assigned
to it last. What it gets wrong, `@tool(reads=, verb=, entity=, key=)` corrects.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from mcp_sim.types.domain import Entity
from mcp_sim.types.programs import TableEffects

_OWN = {"now", "random", "caller", "each", "invent", "input_schema"}
"""Attributes of a world that are neither tables nor libraries, but `imagine`."""
_MUTATING = {"append", "extend", "insert", "remove", "pop", "clear", "update", "setdefault", "sort", "reverse"}
_PASSING = {"list", "sorted", "reversed", "iter", "tuple", "enumerate", "filter", "islice", "each", "int", "str"}
"""Functions that return the items that they get."""
_CHOOSING = {"next", "min", "max", "choice"}
"""Functions that return an item of what they get."""
_TAKING = {"get", "pop", "items", "values", "setdefault"}
"""Methods that return an item of a list of rows, or a value in a row."""
_STORED = {"table", "rows", "row", "copy"}
"""Kinds of values that come from a table."""
_MOST_CALLS = 200
"""The most different calls that a scan follows, so that it takes linear time. Shipped programs have at most 67."""


class _Value(NamedTuple):
    """What an expression is, as far as the scan knows: `row` also for values in a row, `copy` if computed from rows."""

    kind: Literal["world", "argument", "text", "table", "rows", "row", "copy"]
    name: str = ""
    """The table, the path of the argument, or the text."""
    by: str = ""
    """The argument by which a row was found."""


def read_effects(
    nodes: Mapping[str, Sequence[ast.AST]], tables: Mapping[str, Entity], names: Iterable[str]
) -> dict[str, TableEffects]:
    """Return the effects of functions of a program: of those with these names.

    `nodes`: all nodes of the program, whose name is empty, and of the modules beside it by their names, as
    `ast.walk` yields them.
    """
    functions = dict[str, ast.FunctionDef]()
    for module, inner in nodes.items():
        for node in [node for node in inner if isinstance(node, ast.FunctionDef)]:
            functions.setdefault(f"{module.rpartition('.')[2]}.{node.name}", node)
            functions.setdefault(node.name, node)
    return {name: _Scan(functions, tables).effects(functions[f".{name}"]) for name in names}


@dataclass
class _Scan(ast.NodeVisitor):
    """Reads one function. Visiting an expression returns what it is, None if nothing is known."""

    functions: Mapping[str, ast.FunctionDef]
    """The functions by name, and by module and name: `known`, `parts.known`."""
    tables: Mapping[str, Entity]
    names: dict[str, _Value] = field(default_factory=dict[str, _Value])
    notes: defaultdict[str, dict[str, str]] = field(default_factory=lambda: defaultdict[str, dict[str, str]](dict))
    """What is done -> the tables -> the argument that names the record, '' if none does."""
    flags: set[str] = field(default_factory=set[str])
    calls: dict[str, _Value | None] = field(default_factory=dict[str, "_Value | None"])
    """Function and what it gets -> what it returns."""
    returned: list[_Value] = field(default_factory=list[_Value])

    def effects(self, function: ast.FunctionDef) -> TableEffects:
        """Return what a function does that answers a tool."""
        world, *others = _parameters(function) or [""]
        arguments = [*others, *(arg.arg for arg in function.args.kwonlyargs)]
        self.names = {name: _Value("argument", name) for name in arguments} | {world: _Value("world")}
        self.names |= {function.args.kwarg.arg: _Value("argument")} if function.args.kwarg else {}
        self.read(function.body)
        for value in self.returned:
            if value.kind in _STORED:
                self._note("shows", value.name, value.by)
        notes, flags = self.notes, self.flags
        keys = (item for what in ("reads", "shows", "updates", "deletes") for item in notes[what].items() if item[1])
        return TableEffects(
            *(tuple(notes[what]) for what in ("creates", "updates", "deletes", "reads", "shows")),
            keys=dict(keys),
            new_keys={table: by for table, by in notes["creates"].items() if by},
            uses_libraries="uses_libraries" in flags,
            imagines="imagines" in flags,
            is_partial="is_partial" in flags,
        )

    def _note(self, what: str, table: str, by: str = "") -> None:
        """Note a table, and the argument that names the record; the first one counts."""
        self.notes[what][table] = self.notes[what].get(table) or by

    def read(self, nodes: Iterable[ast.AST]) -> None:
        """Scan some nodes in order. What nests too deeply is not understood."""
        for node in nodes:
            try:
                self.visit(node)
            except RecursionError:
                self.flags.add("is_partial")

    def generic_visit(self, node: ast.AST) -> _Value | None:
        return _computed([self.visit(child) for child in ast.iter_child_nodes(node)])

    def visit_Assign(self, node: ast.Assign | ast.AnnAssign | ast.AugAssign | ast.NamedExpr) -> _Value | None:
        targets, known = node.targets if isinstance(node, ast.Assign) else [node.target], None
        values = [node.value] * len(targets)
        if isinstance(targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            targets, values = targets[0].elts, node.value.elts
        for target, value in zip(targets, values, strict=False):
            known = value and self.visit(value)
            self._assign(target, known)
        return known

    visit_AnnAssign = visit_AugAssign = visit_NamedExpr = visit_Assign

    def _assign(self, target: ast.expr, value: _Value | None) -> None:
        match target:
            case ast.Name(id=name) if value is not None:
                self.names[name] = value
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element in elements:
                    self._assign(element, _item(value))
            case _:
                self.visit(target)

    def visit_For(self, node: ast.For | ast.comprehension) -> None:
        value = _item(self.visit(node.iter))
        self._assign(node.target, value and value._replace(by=""))
        self.read([*node.body, *node.orelse] if isinstance(node, ast.For) else node.ifs)

    visit_comprehension = visit_For

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> _Value | None:
        before = dict(self.names)
        self.read(node.generators)
        value, self.names = self.visit(node.value if isinstance(node, ast.DictComp) else node.elt), before
        return value._replace(kind="rows") if value is not None and value.kind == "row" else value

    visit_SetComp = visit_GeneratorExp = visit_DictComp = visit_ListComp

    def visit_Return(self, node: ast.Return | ast.Yield) -> None:
        value = node.value and self.visit(node.value)
        self.returned += [value] if value is not None else []

    visit_Yield = visit_Return

    def visit_Name(self, node: ast.Name) -> _Value | None:
        return self.names.get(node.id)

    def visit_Constant(self, node: ast.Constant) -> _Value | None:
        return _Value("text", str(node.value)) if node.value in self.tables else None

    def visit_BoolOp(self, node: ast.BoolOp | ast.IfExp) -> _Value | None:
        operands = node.values if isinstance(node, ast.BoolOp) else [node.body, node.orelse, node.test]
        return next((value for value in [self.visit(operand) for operand in operands] if value is not None), None)

    visit_IfExp = visit_BoolOp

    def visit_Attribute(self, node: ast.Attribute) -> _Value | None:
        owner = self.visit(node.value)
        return self._of_world(node.attr) if owner is not None and owner.kind == "world" else owner

    def visit_Subscript(self, node: ast.Subscript) -> _Value | None:
        owner, key = self.visit(node.value), self.visit(node.slice)
        if owner is not None and owner.kind == "row" and not isinstance(node.ctx, ast.Load):
            self._note("updates", owner.name, owner.by)
        match owner, node.slice:
            case _Value("world"), _:
                return self._of_world(key.name if key is not None and key.kind == "text" else "")
            case _Value("argument", name), ast.Constant(value=str(field)):
                return _Value("argument", f"{name}.{field}".removeprefix("."))
            case _Value("table", name), _:
                return self._of_table(name, "get", [key], {})
            case _:
                return owner if isinstance(node.slice, ast.Slice) else _item(owner)

    def _of_world(self, name: str) -> _Value | None:
        if name in self.tables:
            self._note("reads", name)
            return _Value("row" if self.tables[name].singleton else "table", name)
        if name not in _OWN:
            self.flags.add({"imagine": "imagines", "": "is_partial"}.get(name, "uses_libraries"))
        return None

    def visit_Call(self, node: ast.Call) -> _Value | None:
        function = node.func
        is_method = isinstance(function, ast.Attribute)
        name = function.attr if is_method else getattr(function, "id", "")
        if name == "getattr" and len(node.args) > 1:
            return self.visit_Subscript(ast.Subscript(node.args[0], node.args[1], ast.Load()))
        owner = self.visit(function.value) if is_method else None
        given = [self.visit(arg.value if isinstance(arg, ast.Starred) else arg) for arg in node.args]
        named = {keyword.arg or "": self.visit(keyword.value) for keyword in node.keywords}
        if owner is not None and owner.kind == "table":
            return self._of_table(owner.name, name, given, named)
        if owner is not None and owner.kind != "world":
            if owner.kind == "row" and name in _MUTATING:
                self._note("updates", owner.name, owner.by)
            return _item(owner) if name in _TAKING or owner.kind != "row" else _computed([owner])
        if owner is not None:
            self._of_world(name)
        module = getattr(function.value, "id", getattr(function.value, "attr", "-")) if is_method else ""
        called = self.functions.get(f"{module}.{name}" if module else name)
        if called is not None and owner is None:
            return self._called(called, given, named)
        values = [value for value in (*given, *named.values()) if value is not None]
        if name in _PASSING | _CHOOSING:
            value = next(iter(values), None)
            return _item(value) if name in _CHOOSING else value
        self.flags |= {"is_partial" for value in values if value.kind == "world"}
        return _computed(values)

    def _called(
        self, function: ast.FunctionDef, given: list[_Value | None], named: Mapping[str, _Value | None]
    ) -> _Value | None:
        """Scan a function of the program with what it gets, and return what it returns."""
        names = {**dict(zip(_parameters(function), given, strict=False)), **named}
        known = {name: value for name, value in names.items() if value is not None}
        call = f"{id(function)} {sorted(known.items())}"
        if call not in self.calls and len(self.calls) >= _MOST_CALLS:
            self.flags.add("is_partial")
        elif call not in self.calls:
            self.calls[call] = None  # it adds nothing where it calls itself
            inner = replace(self, names=known, returned=[])
            inner.read(function.body)
            self.calls[call] = next(iter(inner.returned), None)
        return self.calls.get(call)

    def _of_table(
        self, table: str, method: str, given: list[_Value | None], named: Mapping[str, _Value | None]
    ) -> _Value | None:
        first, key = given[0] if given else None, named.get(self.tables[table].key)
        given_key = first if method in {"get", "delete"} else None
        by = next((name for name in map(_argument, (key, *[*named.values()][::-1], given_key)) if name), "")
        match method:
            case "add":
                self._note("creates", table, _argument(key))
                return _Value("row", table)
            case "delete":
                self._note("deletes", table, by or (first.by if first is not None else ""))
                return None
            case "public":
                return _computed([first])
            case _:
                self._note("reads", table, by if method == "get" or _argument(key) else "")
                return _Value("row" if method == "get" else "rows", table, by)


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]


def _item(value: _Value | None) -> _Value | None:
    """Return an item of a list of rows, or a value in a row."""
    return value._replace(kind="row") if value is not None and value.kind in {"table", "rows"} else value


def _computed(values: Iterable[_Value | None]) -> _Value | None:
    """Return what is computed from some values: a copy of the first that comes from a table."""
    return next((value._replace(kind="copy") for value in values if value is not None and value.kind in _STORED), None)


def _argument(value: _Value | None) -> str:
    """Return the argument that a value is; empty if it is not an argument."""
    return value.name if value is not None and value.kind == "argument" else ""
