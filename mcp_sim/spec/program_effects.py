"""Read from the syntax tree of a program what its functions do to tables."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from mcp_sim.types.programs import TableEffects

_CREATES, _DELETES = frozenset({"add"}), frozenset({"delete"})
_ROWS = frozenset({"get", "find", "search", "page", "add"})
"""Methods of a table that return its rows."""
_MUTATES = frozenset(
    {"append", "extend", "insert", "remove", "pop", "clear", "update", "setdefault", "sort", "reverse"}
)
_OWN = frozenset({"now", "random", "caller", "each", "invent", "imagine"})
"""Attributes of a world that are neither tables nor backends."""
_WORLD = "world"


@dataclass(slots=True)
class _Summary:
    """What one function does, and what it does to its own parameters."""

    parameters: list[str] = field(default_factory=list[str])
    creates: list[str] = field(default_factory=list[str])
    updates: list[str] = field(default_factory=list[str])
    deletes: list[str] = field(default_factory=list[str])
    reads: list[str] = field(default_factory=list[str])
    gets: dict[str, str] = field(default_factory=dict[str, str])
    uses_backends: bool = False
    imagines: bool = False
    written_parameters: set[int] = field(default_factory=set[int])
    """Positions of the parameters whose rows the function changes."""
    returned: list[str] = field(default_factory=list[str])
    """Tables whose rows the function returns."""

    def effects(self) -> TableEffects:
        """Return the tables without repetitions."""
        return TableEffects(
            tuple(dict.fromkeys(self.creates)),
            tuple(dict.fromkeys(self.updates)),
            tuple(dict.fromkeys(self.deletes)),
            tuple(dict.fromkeys(self.reads)),
            self.gets,
            self.uses_backends,
            self.imagines,
        )


def read_effects(modules: Iterable[ast.Module], tables: Collection[str]) -> dict[str, TableEffects]:
    """Return the effects of each function of some modules, including those of the functions that it calls.

    The modules import each other's functions by name; of two with the same name, that of the later module counts.
    """
    functions = {node.name: node for module in modules for node in module.body if isinstance(node, ast.FunctionDef)}
    summaries: dict[str, _Summary] = {}

    def summary(name: str) -> _Summary:
        if name not in summaries:
            summaries[name] = found = _Summary(_parameters(functions[name]))  # it adds nothing where it calls itself
            _Reader(functions[name], tables, {*functions}, summary, found).read()
        return summaries[name]

    return {name: summary(name).effects() for name in functions}


class _Reader:
    """Reads one function. Variables stand for rows of the tables that they were taken from."""

    def __init__(
        self,
        function: ast.FunctionDef,
        tables: Collection[str],
        known: Collection[str],
        summary: Callable[[str], _Summary],
        found: _Summary,
    ) -> None:
        self._function, self._tables, self._known, self._summary = function, tables, known, summary
        self._parameters, self._found = found.parameters, found
        self._worlds = {_WORLD, *(self._parameters[:1] if function.decorator_list else ())}
        self._rows: dict[str, list[str]] = {}

    def read(self) -> None:
        """Note what the function does. A second pass sees what loops carry over."""
        for _ in range(2):
            for node in ast.walk(self._function):
                self._bind(node)
        for node in ast.walk(self._function):
            self._note(node)

    def _bind(self, node: ast.AST) -> None:
        """Remember which rows variables stand for."""
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                self._assign(target, value)
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                self._assign(target, value)
            case _:
                pass

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            known = self._rows.setdefault(target.id, [])
            known += [table for table in self._tables_of(value) if table not in known]

    def _tables_of(self, value: ast.expr) -> list[str]:
        """Return the tables whose rows an expression yields."""
        match value:
            case ast.Name(id=name):
                return self._rows.get(name, [])
            case ast.Subscript(value=inner) | ast.Starred(value=inner) | ast.NamedExpr(value=inner):
                return self._tables_of(inner)
            case ast.BoolOp(values=parts):
                return [table for part in parts for table in self._tables_of(part)]
            case ast.IfExp(body=body, orelse=other):
                return [*self._tables_of(body), *self._tables_of(other)]
            case ast.ListComp(elt=inner) | ast.GeneratorExp(elt=inner):
                return self._tables_of(inner)
            case ast.Attribute():
                table = self._table(value)
                return [] if table is None else [table]
            case ast.Call():
                return self._tables_of_call(value)
            case _:
                return []

    def _tables_of_call(self, call: ast.Call) -> list[str]:
        match call.func:
            case ast.Attribute(value=inner, attr=method) if method in _ROWS:
                return self._tables_of(inner)
            case ast.Name(id=name) if name in self._known:
                return self._summary(name).returned
            case ast.Name(id="sorted" | "list" | "next" | "iter" | "reversed" | "max" | "min" | "filter"):
                return [table for part in call.args for table in self._tables_of(part)]
            case _:
                return []

    def _table(self, value: ast.expr) -> str | None:
        """Return the table that `world.NAME` is."""
        match value:
            case ast.Attribute(value=ast.Name(id=world), attr=name) if world in self._worlds and name in self._tables:
                return name
            case _:
                return None

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Attribute(value=ast.Name(id=world), attr=name) if world in self._worlds:
                self._note_attribute(name)
            case ast.Call():
                self._note_call(node)
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Delete():
                for target in _targets(node):
                    if isinstance(target, ast.Subscript):
                        self._note_written(target.value)
            case ast.Return(value=ast.expr() as value):
                self._found.returned += self._tables_of(value)
            case _:
                pass

    def _note_attribute(self, name: str) -> None:
        if name in self._tables:
            self._found.reads.append(name)
        elif name == "imagine":
            self._found.imagines = True
        elif name not in _OWN:
            self._found.uses_backends = True

    def _note_call(self, call: ast.Call) -> None:
        match call.func:
            case ast.Name(id=name) if name in self._known:
                self._note_called(name, call.args)
            case ast.Attribute(value=inner, attr=method):
                table = self._table(inner)
                if table is None:
                    if method in _MUTATES:
                        self._note_written(inner)
                    return
                self._found.creates += [table] if method in _CREATES else []
                self._found.deletes += [table] if method in _DELETES else []
                if method == "get" and call.args and isinstance(call.args[0], ast.Name):
                    self._note_key(table, call.args[0].id)
            case _:
                pass

    def _note_key(self, table: str, name: str) -> None:
        if name in self._parameters:
            self._found.gets.setdefault(table, name)

    def _note_called(self, name: str, arguments: list[ast.expr]) -> None:
        """Add what a function of the program does that this one calls."""
        called, found = self._summary(name), self._found
        if called is found:
            return
        found.creates += called.creates
        found.updates += called.updates
        found.deletes += called.deletes
        found.reads += called.reads
        found.uses_backends |= called.uses_backends
        found.imagines |= called.imagines
        for at in called.written_parameters:
            if at < len(arguments):
                self._note_written(arguments[at])
        given = dict(zip(called.parameters, arguments, strict=False))
        for table, parameter in called.gets.items():
            if isinstance(key := given.get(parameter), ast.Name):
                self._note_key(table, key.id)

    def _note_written(self, value: ast.expr) -> None:
        """Note that the rows which an expression yields are changed."""
        self._found.updates += self._tables_of(value)
        root = value
        while isinstance(root, ast.Subscript | ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in self._parameters:
            self._found.written_parameters.add(self._parameters.index(root.id))


def _parameters(function: ast.FunctionDef) -> list[str]:
    return [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]


def _targets(node: ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Delete) -> Iterable[ast.expr]:
    """Yield the single targets of a statement."""
    targets = node.targets if isinstance(node, ast.Assign | ast.Delete) else [node.target]
    for target in targets:
        yield from target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
