"""Find what the functions of a program do to tables, by a plain scan of their syntax trees.

The scan reads a function in the order of its text, and the functions that it calls with what they get. A name is the
last known value that was assigned to it. What it gets wrong, `@tool(reads=, verb=, entity=, key=)` corrects.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import Literal, NamedTuple

from mcp_sim.types.domain import Entity
from mcp_sim.types.programs import TableEffects

WORLD = ("now", "random", "caller", "each", "invent", "imagine", "input_schema")
"""Attributes of a world that are neither tables nor libraries."""
_MUTATING = {"append", "extend", "insert", "remove", "pop", "clear", "update", "setdefault", "sort", "reverse"}
_TAKING = {"get", "pop", "items", "values", "setdefault"}
"""Methods of a row that return a value in it."""
_PASSING = {"list", "sorted", "reversed", "iter", "tuple", "enumerate", "filter", "islice", "each", "int", "str"}
"""Functions that return the items that they get."""
_CHOOSING = {"next", "min", "max", "choice"}
"""Functions that return an item of what they get."""
_MOST_CALLS = 200
"""The most different calls that a scan follows, so that it takes linear time. Shipped programs have at most 68."""


class _Value(NamedTuple):
    """What an expression is, if it is known: `row` also for values in a row, `copy` if computed from rows."""

    kind: Literal["", "world", "argument", "text", "table", "rows", "row", "copy"] = ""
    name: str = ""
    """The table, the path of the argument, or the text."""

    @property
    def item(self) -> _Value:
        """A row of a table or of rows; of anything else, the same."""
        return _Value("row", self.name) if self.kind in {"table", "rows"} else self


_UNKNOWN = _Value()


def _first(values: Iterable[_Value]) -> _Value:
    """Return the first value that is known."""
    return next((value for value in values if value.kind), _UNKNOWN)


def _copy(values: Iterable[_Value]) -> _Value:
    """Return what is computed from values: a copy of the first that comes from a table."""
    return _first(_Value("copy", value.name) for value in values if value.kind in {"table", "rows", "row", "copy"})


def read_effects(
    nodes: Mapping[str, Sequence[ast.AST]], tables: Mapping[str, Entity], names: Iterable[str]
) -> dict[str, TableEffects]:
    """Return the effects of functions of a program: of those with these names.

    `nodes`: all nodes of the program, whose name is empty, and of the modules beside it by their names.
    """
    functions = dict[str, ast.FunctionDef]()
    for module, inner in nodes.items():
        for node in [node for node in inner if isinstance(node, ast.FunctionDef)]:
            functions.setdefault(f"{module.rpartition('.')[2]}.{node.name}", node)
            functions.setdefault(node.name, node)
    return {name: _Scan(functions, tables).effects(functions[f".{name}"]) for name in names}


class _Scan:
    """Reads the function of one tool."""

    def __init__(self, functions: Mapping[str, ast.FunctionDef], tables: Mapping[str, Entity]) -> None:
        self.functions, self.tables = functions, tables
        self.names, self.returned = dict[str, _Value](), list[_Value]()
        self.calls = dict[str, list[_Value]]()
        """Function and what it gets -> what it returns."""
        self.notes = defaultdict[str, dict[str, str]](dict)
        """What is done -> the tables -> the argument that names the record, '' if none does."""

    def effects(self, function: ast.FunctionDef) -> TableEffects:
        """Return what a function does that answers a tool."""
        world, *names = [arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)] or [""]
        given = {name: _Value("argument", name) for name in names} | {world: _Value("world")}
        given |= {function.args.kwarg.arg: _Value("argument")} if function.args.kwarg else {}
        shown = {_copy([value]).name: "" for value in self.called(function, given)}
        notes = self.notes
        return TableEffects(
            *(tuple(notes[what]) for what in ("creates", "updates", "deletes", "reads")),
            shows=tuple(filter(None, shown)),
            keys={table: by for what in ("reads", "deletes") for table, by in notes[what].items() if by},
            new_keys={table: by for table, by in notes["creates"].items() if by},
            uses_libraries="uses_libraries" in notes,
            imagines="imagines" in notes,
            is_partial="is_partial" in notes,
        )

    def note(self, what: str, table: str = "", by: _Value = _UNKNOWN) -> None:
        """Note a table, and the argument that names the record; the first one counts."""
        self.notes[what][table] = self.notes[what].get(table) or (by.name if by.kind == "argument" else "")

    def called(self, function: ast.FunctionDef, given: dict[str, _Value]) -> list[_Value]:
        """Read a function with what it gets, once, and return what it returns: nothing while it calls itself."""
        call = f"{id(function)} {sorted(given.items())}"
        if call not in self.calls and len(self.calls) < _MOST_CALLS:
            inner = copy(self)
            inner.names, inner.returned = given, self.calls.setdefault(call, [])
            inner.values(function.body)
        elif call not in self.calls:
            self.note("is_partial")
        return self.calls.get(call, [])

    def values(self, nodes: Iterable[ast.AST]) -> list[_Value]:
        """Return what some nodes are. What nests too deeply is not understood."""
        values = list[_Value]()
        for node in nodes:
            try:
                values.append(self.value(node))
            except RecursionError:
                self.note("is_partial")
                values.append(_UNKNOWN)
        return values

    def value(self, node: ast.AST) -> _Value:  # noqa: C901, PLR0912 (a case for each kind of node)
        """Note what a statement or an expression does, and return what it is."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name, _UNKNOWN)
            case ast.Constant(value=text):
                return _Value("text", str(text)) if text in self.tables else _UNKNOWN
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, key, *_]):
                return self.value(ast.Subscript(owner, key, ast.Load()))
            case ast.Call():
                return self.call(node, *self.values([node.func, *node.args, *node.keywords]))
            case ast.Attribute(value=owner, attr=name):
                value = self.value(owner)
                return self.of_world(name) if value.kind == "world" else value
            case ast.Subscript():
                return self.part(node, self.value(node.value), self.value(node.slice))
            case ast.Starred(value=inner) | ast.keyword(value=inner):
                return self.value(inner)
            case ast.BoolOp(values=parts):
                return _first(self.values(parts))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return _first(self.values([body, orelse, test]))
            case ast.Return(value=ast.expr() as inner) | ast.Yield(value=ast.expr() as inner):
                self.returned.append(self.value(inner))
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=parts)):
                for target, value in zip(targets, self.values(parts), strict=False):
                    self.assign(target, value)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                value = _UNKNOWN if node.value is None else self.value(node.value)
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    self.assign(target, value)
                return value
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                before = dict(self.names)
                self.values(node.generators)
                value = self.value(node.value if isinstance(node, ast.DictComp) else node.elt)
                self.names = before  # what its variables were outside it
                return _Value("rows", value.name) if value.kind == "row" else value
            case ast.For() | ast.comprehension():
                self.assign(node.target, self.value(node.iter).item)
                self.values([*node.body, *node.orelse] if isinstance(node, ast.For) else node.ifs)
            case _:
                return _copy(self.values(ast.iter_child_nodes(node)))
        return _UNKNOWN

    def assign(self, target: ast.AST, value: _Value) -> None:
        """Note that the name of a target is a value, or that those of a tuple are its items."""
        match target:
            case ast.Name(id=name):
                self.names[name] = value if value.kind else self.names.get(name, value)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                for element in elements:
                    self.assign(element, value.item)
            case _:
                self.value(target)

    def part(self, node: ast.Subscript, owner: _Value, key: _Value) -> _Value:
        """Return a part of something, and note if it is written."""
        match owner, node.slice:
            case _Value("world"), _:
                return self.of_world(key.name if key.kind == "text" else "")
            case _Value("argument", path), ast.Constant(value=str(name)):
                return _Value("argument", f"{path}.{name}".removeprefix("."))
            case _Value("row", table), _ if not isinstance(node.ctx, ast.Load):
                self.note("updates", table)
            case _:
                pass
        return owner if isinstance(node.slice, ast.Slice) else owner.item

    def of_world(self, name: str) -> _Value:
        if name in self.tables:
            self.note("reads", name)
            return _Value("row" if self.tables[name].singleton else "table", name)
        if name not in WORLD or name == "imagine":
            self.note({"imagine": "imagines", "": "is_partial"}.get(name, "uses_libraries"))
        return _UNKNOWN

    def call(self, node: ast.Call, owner: _Value, *values: _Value) -> _Value:
        """Return what a call returns for its arguments. `owner`: what its function is an attribute of, if known."""
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        module = f"{getattr(node.func.value, 'id', '-')}." if isinstance(node.func, ast.Attribute) else ""
        given, names = values[: len(node.args)], [keyword.arg or "" for keyword in node.keywords]
        named = dict(zip(names, values[len(node.args) :], strict=True))
        match owner.kind:
            case "table":
                key = given[0] if given and name in {"get", "delete"} else _UNKNOWN
                by = named.get(self.tables[owner.name].key, key)
                self.note({"add": "creates", "delete": "deletes"}.get(name, "reads"), owner.name, by)
                return _Value("row" if name in {"add", "get"} else "copy" if name == "public" else "rows", owner.name)
            case "row":
                if name in _MUTATING:
                    self.note("updates", owner.name)
                return _Value("row" if name in _TAKING else "copy", owner.name)
            case "" | "world":
                pass
            case _:
                return owner.item
        function = self.functions.get(f"{module}{name}")
        if function is not None and owner == _UNKNOWN:
            parameters = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
            bound = {**dict(zip(parameters, given, strict=False)), **named}
            return _first(self.called(function, {name: value for name, value in bound.items() if value.kind}))
        if name in _CHOOSING | _PASSING:
            return _first(values).item if name in _CHOOSING else _first(values)
        if any(value.kind == "world" for value in values):
            self.note("is_partial")
        return _copy(values)
