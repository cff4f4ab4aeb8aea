"""The names of a program: its functions, and those of the modules beside it that it imports."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from mcp_sim.spec.program_values import Atom, Value, inside, joined
from mcp_sim.types.domain import Entity

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where nodes have statements."""


@dataclass(slots=True)
class _Module:
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    constants: dict[str, ast.expr] = field(default_factory=dict[str, ast.expr])
    imports: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Name -> the module and the name in it; no name for a module itself."""
    stars: list[str] = field(default_factory=list[str])
    """Modules whose names are all imported."""


class Modules:
    """A program, whose name is empty, and the modules beside it, by dotted names."""

    def __init__(self, trees: Mapping[str, ast.Module], tables: Mapping[str, Entity]) -> None:
        self.tables = tables
        self._modules = {name: _module(name, tree, trees) for name, tree in trees.items()}
        self._constants: dict[tuple[str, str], Value] = {}

    def function(self, atom: Atom) -> tuple[str, Function]:
        """Return the module and the node of a function."""
        module, _, name = atom.name.rpartition(":")
        return module, self._modules[module].functions[name]

    def find(self, module: str, name: str) -> Value:
        """Return what a name of a module is; empty if nothing is known of it."""
        key = module, name
        if key not in self._constants:
            self._constants[key] = ()  # while it is computed: modules may import each other
            self._constants[key] = self._find(module, name)
        return self._constants[key]

    def _find(self, module: str, name: str) -> Value:
        known = self._modules.get(module)
        if known is None:
            return ()
        if name in known.functions:
            return (Atom("function", f"{module}:{name}"),)
        if name in known.constants:
            return self._constant(module, known.constants[name])
        if name in known.imports:
            origin, inner = known.imports[name]
            return self.find(origin, inner) or self._submodule(origin, inner)
        if (submodule := self._submodule(module, name)) and module:
            return submodule
        return joined(self.find(star, name) for star in known.stars)

    def _submodule(self, module: str, name: str) -> Value:
        dotted = ".".join(word for word in (module, name) if word)
        return (Atom("module", dotted),) if dotted in self._modules else ()

    def _constant(self, module: str, node: ast.expr) -> Value:
        """Return the names of tables and functions that a literal holds."""
        match node:
            case ast.Constant(value=str(text)) if text in self.tables:
                return (Atom("text", text),)
            case ast.Name(id=name):
                return self.find(module, name)
            case ast.Attribute(value=ast.Name(id=name), attr=inner):
                owners = (atom.name for atom in self.find(module, name) if atom.kind == "module")
                return joined(self.find(owner, inner) for owner in owners)
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return inside(joined(self._constant(module, element) for element in parts))
            case ast.Dict(keys=keys, values=values):
                named = joined(self._constant(module, key) for key in keys if key is not None)
                return inside(joined((named, *(self._constant(module, value) for value in values))))
            case _:
                return ()


def _module(name: str, tree: ast.Module, known: Collection[str]) -> _Module:
    module = _Module()
    for node in tree.body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                module.functions[node.name] = node
            case ast.Assign(targets=targets, value=value):
                module.constants |= {target.id: value for target in targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value):
                module.constants[target] = value
            case _:
                pass
    for node in imports(tree):
        _note_imports(module, name, node, known)
    return module


def imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports of a module, those within its functions included."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        for name in _BLOCKS:
            waiting += getattr(node, name, ())


def _note_imports(importing: _Module, name: str, node: ast.Import | ast.ImportFrom, known: Collection[str]) -> None:
    match node:
        case ast.Import(names=aliases):
            for alias in aliases:
                bound = alias.name if alias.asname else alias.name.partition(".")[0]
                if bound in known:
                    importing.imports[alias.asname or bound] = (bound, "")
        case ast.ImportFrom(module=module, names=aliases, level=level):
            origin = _origin(name, module or "", level, known)
            for alias in aliases:
                if alias.name == "*":
                    importing.stars.append(origin)
                else:
                    importing.imports[alias.asname or alias.name] = (origin, alias.name)


def _origin(name: str, module: str, level: int, known: Collection[str]) -> str:
    """Return the module that an import names, `level` packages above a module."""
    is_package = any(other.startswith(f"{name}.") for other in known)
    above = name.split(".")[: len(name.split(".")) - level + is_package] if level else []
    return ".".join(word for word in (*above, module) if word)
