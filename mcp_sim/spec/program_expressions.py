"""Interpret the expressions of a program's functions: which tables they stand for, and what they do to them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from typing import TypeAlias

from mcp_sim.spec.program_calls import Effects, Given, called_of_table, note
from mcp_sim.spec.program_modules import Modules
from mcp_sim.spec.program_values import Atom, Value, copies, element, identity, inside, item_of, joined

Interpret: TypeAlias = Callable[[Atom, Mapping[str, Value]], tuple[Effects, Value]]
"""Returns what a function does with some arguments, and what it returns."""

_MUTATES = frozenset(
    {"append", "extend", "insert", "remove", "pop", "clear", "update", "setdefault", "sort", "reverse", "popitem"}
    | {"add", "discard", "appendleft", "popleft"}
)
_ITEM = frozenset({"pop", "get", "popitem", "setdefault", "popleft"})
"""Methods of a list or mapping that return one of its values."""
_NORMALISED = frozenset({"strip", "lstrip", "rstrip", "lower", "upper", "casefold", "removeprefix", "removesuffix"})
"""Methods of a text after which it still names the same record."""
_SAME = frozenset(
    {"sorted", "list", "tuple", "set", "frozenset", "iter", "reversed", "enumerate", "zip", "filter", "chain", "islice"}
    | {"sample", "nlargest", "nsmallest"}
)
"""Functions that return the items that they get."""
_ONE = frozenset({"next", "min", "max", "choice"})
"""Functions that return one of the items that they get."""
_OWN = frozenset({"now", "random", "caller", "each", "invent", "imagine"})
"""Attributes of a world that are neither tables nor backends."""


class Expressions(ast.NodeVisitor):
    """Interprets the expressions of one function: visiting one returns its value."""

    def __init__(self, modules: Modules, module: str, names: dict[str, Value], call: Interpret) -> None:
        self._modules, self._module, self._names, self._call = modules, module, names, call
        self._tables = modules.tables
        self._branches = 0
        """How deep a statement is within others that may not run."""
        self._inner: dict[str, Value] = {}
        """Functions within the function -> what they return."""
        self.effects, self.returned = Effects(), ()

    def read(self, statements: Iterable[ast.AST]) -> None:
        """Interpret some nodes in order. What nests too deeply is not understood."""
        for statement in statements:
            try:
                self.visit(statement)
            except RecursionError:
                self.effects.is_partial = True

    def visit(self, node: ast.AST) -> Value:
        return super().visit(node) or ()

    def generic_visit(self, node: ast.AST) -> Value:
        """Interpret the parts of any other node. Its value is computed from theirs."""
        return copies(joined([self.visit(child) for child in ast.iter_child_nodes(node)]))

    # variables

    def assign(self, target: ast.expr, value: Value) -> None:
        """Let a variable, or each of several, be a value; note what is put into rows."""
        match target:
            case ast.Name(id=name):
                before = self._names.get(name, ()) if self._branches else ()
                self._names[name] = joined((before, value))
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for item in parts:
                    self.assign(item, element(value, is_one=True))
            case ast.Starred(value=inner):
                self.assign(inner, inside(value))
            case ast.Subscript(value=inner, slice=key):
                self.visit(key)
                self._put(inner, value)
            case _:
                pass

    def _put(self, holder: ast.expr, value: Value) -> None:
        """Note that a value is put into a row, or into a list or mapping of the function's own."""
        held = self.visit(holder)
        self.write(held)
        if isinstance(holder, ast.Name) and not any(atom.kind in {"row", "part"} and not atom.many for atom in held):
            self.grow(holder, inside(value))

    def grow(self, target: ast.Name, value: Value) -> None:
        """Let a variable be what it was, or this value."""
        self._names[target.id] = joined((self._names.get(target.id, ()), value))

    def write(self, value: Value) -> None:
        """Note that a value is changed in place."""
        for atom in value:
            if atom.kind in {"row", "part"} and not atom.many:
                note(self.effects.updates, atom.name, atom.by)

    def bind(self, target: ast.expr, items: ast.expr) -> None:
        """Let a loop variable be an item."""
        match target, items:
            case ast.Tuple(elts=[_, inner]), ast.Call(func=ast.Name(id="enumerate"), args=[rows, *_]):
                self.bind(inner, rows)
            case ast.Tuple(elts=[_, inner]), ast.Call(func=ast.Attribute(value=rows, attr="items"), args=[]):
                self.assign(inner, element(self.visit(rows)))
            case ast.Tuple(elts=parts), ast.Call(func=ast.Name(id="zip"), args=lists) if len(parts) == len(lists):
                for item, rows in zip(parts, lists, strict=True):
                    self.bind(item, rows)
            case _:
                self.assign(target, element(self._iterated(self.visit(items))))

    def _iterated(self, value: Value) -> Value:
        for atom in value:
            if atom.kind == "table":
                note(self.effects.reads, atom.name)
        return value

    # expressions

    def visit_Name(self, node: ast.Name) -> Value:
        if node.id in self._names:
            return self._names[node.id]
        return self._modules.find(self._module, node.id)

    def visit_Constant(self, node: ast.Constant) -> Value:
        return (Atom("text", node.value),) if isinstance(node.value, str) and node.value in self._tables else ()

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        return joined([self._attribute(atom, node.attr) for atom in self.visit(node.value)])

    def _attribute(self, atom: Atom, name: str) -> Value:
        match atom.kind:
            case "world":
                return self._of_world(name)
            case "module":
                return self._modules.find(atom.name, name)
            case "page" if name == "rows":
                return (Atom("row", atom.name, many=True),)
            case _:
                return copies((atom,))

    def _of_world(self, name: str) -> Value:
        if name in self._tables:
            if not self._tables[name].singleton:
                return (Atom("table", name),)
            note(self.effects.reads, name)
            return (Atom("row", name),)
        if name in _OWN:
            self.effects.imagines |= name == "imagine"
            return ()
        self.effects.uses_backends = True
        return (Atom("backend"),)

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        value = self.visit(node.value)
        self.visit(node.slice)
        return joined([item_of(atom, node.slice) for atom in value])

    def _list(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        return joined([self._part(item) for item in node.elts])

    visit_List = visit_Tuple = visit_Set = _list

    def _part(self, node: ast.expr) -> Value:
        """Return what an item adds to a list: the items of a starred one."""
        return self.items(self.visit(node.value)) if isinstance(node, ast.Starred) else inside(self.visit(node))

    def items(self, value: Value) -> Value:
        """Return a list of the items of a value."""
        return inside(element(self._iterated(value)))

    def visit_Dict(self, node: ast.Dict) -> Value:
        self.read(key for key in node.keys if key is not None)
        values = [(key, self.visit(value)) for key, value in zip(node.keys, node.values, strict=True)]
        return joined([self._spread(value) if key is None else inside(value) for key, value in values])

    def _spread(self, value: Value) -> Value:
        return joined([(atom,) if atom.many else inside(copies((atom,))) for atom in value])

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        return joined([self.visit(value) for value in node.values])

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        self.visit(node.test)
        return joined([self.visit(node.body), self.visit(node.orelse)])

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        return self._spread(joined([self.visit(node.left), self.visit(node.right)]))

    def visit_Compare(self, node: ast.Compare) -> None:
        values = [self.visit(comparator) for comparator in (node.left, *node.comparators)]
        for atom in joined(values[1:]):
            if atom.kind == "table":
                note(self.effects.reads, atom.name, identity(values[0]))

    def visit_Lambda(self, node: ast.Lambda) -> None:
        with self.shadowed(parameters(node.args)):
            self.visit(node.body)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value:
        targets = (name for clause in node.generators for name in ast.walk(clause.target))
        with self.shadowed([name.id for name in targets if isinstance(name, ast.Name)]):
            for generator in node.generators:
                self.bind(generator.target, generator.iter)
                self.read(generator.ifs)
            if isinstance(node, ast.DictComp):
                self.visit(node.key)
            return inside(self.visit(node.value if isinstance(node, ast.DictComp) else node.elt))

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension

    @contextmanager
    def shadowed(self, names: Iterable[str]) -> Generator[None]:
        """Let names mean nothing yet, as in a comprehension or an inner function."""
        before = {name: self._names.get(name) for name in names}
        self._names |= dict.fromkeys(before, ())
        yield
        for name, value in before.items():
            if value is None:
                del self._names[name]
            else:
                self._names[name] = value

    # calls

    def visit_Call(self, node: ast.Call) -> Value:
        function = node.func
        owner = self.visit(function.value) if isinstance(function, ast.Attribute) else ()
        given = self._given(node)
        match function:
            case ast.Attribute(attr=name) if owner:
                return joined([self._method(atom, name, function.value, given) for atom in owner])
            case ast.Attribute(value=ast.Name() as inner, attr=name) if name in _MUTATES:
                return self._list_method((), name, inner, given)
            case ast.Name(id=name) if name in self._inner:
                return self._inner[name]
            case ast.Name(id=name) | ast.Attribute(attr=name):
                called = () if isinstance(function, ast.Attribute) else self.visit(function)
                return self._called(called, given) if called else self._builtin(name, given)
            case _:
                return self._called(self.visit(function), given)

    def _given(self, node: ast.Call) -> Given:
        positional = [self.visit(arg.value if isinstance(arg, ast.Starred) else arg) for arg in node.args]
        return Given(node, positional, {keyword.arg or "": self.visit(keyword.value) for keyword in node.keywords})

    def _called(self, functions: Value, given: Given) -> Value:
        results: list[Value] = []
        for function in functions:
            if function.kind != "function" or function.many:
                results.append(self._unknown(given))
                continue
            _, node = self._modules.function(function)
            effects, returned = self._call(function, given.bound(node))
            self.effects.add(effects)
            results.append(returned)
        return joined(results)

    def _unknown(self, given: Given) -> Value:
        """Return what a function returns that is not followed."""
        self.effects.is_partial |= any(atom.kind == "world" for atom in given.all)
        return copies(self._iterated(given.all))

    def _builtin(self, name: str, given: Given) -> Value:
        """Return what a function of Python's own returns."""
        first = given.at(0)
        match name:
            case "getattr" if first == (Atom("world"),):
                tables = [atom.name for atom in given.at(1) if atom.kind == "text"] or [*self._tables]
                return joined([self._of_world(table) for table in tables])
            case "map":
                return inside(self._called(first, Given(given.call, [element(self._iterated(given.at(1)))], {})))
            case "int" | "str":
                return tuple(atom for atom in first if atom.kind == "argument") or copies(first)
            case _ if name in _SAME:
                return self.items(given.all)
            case _ if name in _ONE:
                return joined([element((atom,), is_one=True) if atom.many else (atom,) for atom in given.all])
            case _:
                return self._unknown(given)

    def _method(self, atom: Atom, name: str, owner: ast.expr, given: Given) -> Value:
        if atom.many:
            return self._list_method((atom,), name, owner, given)
        match atom.kind:
            case "table":
                return called_of_table(self._tables[atom.name], name, given, self.effects)
            case "row" | "part":
                return self._row_method(atom, name)
            case "world" if name == "each":
                return given.at(0)
            case "world" | "module":
                atoms = self._attribute(atom, name)
                return self._called(atoms, given) if atom.kind == "module" and atoms else self._unknown(given)
            case "argument" if name in _NORMALISED:
                return (atom,)
            case "argument" | "arguments" if name in {"get", "pop"} and given.call.args:
                return item_of(atom, given.call.args[0])
            case "argument" if name in {"values", "items", "copy"}:
                return (atom,)
            case _:
                return copies((atom,))

    def _list_method(self, value: Value, name: str, owner: ast.expr, given: Given) -> Value:
        """Return what a method of a list or mapping returns, which may get new items."""
        if name in _MUTATES and isinstance(owner, ast.Name):
            self.grow(owner, self.items(given.all) if name in {"extend", "update"} else inside(given.all))
        return element(value, is_one=True) if name in _ITEM else value

    def _row_method(self, atom: Atom, name: str) -> Value:
        if name in _MUTATES:
            self.write((atom,))
        if name in {"get", "pop", "setdefault"}:
            return element((atom,))
        return inside(element((atom,))) if name in {"values", "items"} else copies((atom,))


def parameters(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters."""
    given = (*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg)
    return [parameter.arg for parameter in given if parameter is not None]
