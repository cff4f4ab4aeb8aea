"""Find what the functions of a program do to tables, by an abstract interpretation of their syntax trees.

A function is interpreted once for each kind of arguments that it gets, at most `_MOST_WAYS` times. Loops are
interpreted twice, so that what one round leaves is there in the next one.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from mcp_sim.spec.program_bodies import Body
from mcp_sim.spec.program_calls import Effects
from mcp_sim.spec.program_modules import Modules
from mcp_sim.spec.program_values import Atom, Value
from mcp_sim.types.domain import Entity
from mcp_sim.types.programs import TableEffects

_MOST_WAYS = 8
"""How many kinds of arguments of one function are distinguished. Each branch on an argument doubles them."""


def read_effects(
    trees: Mapping[str, ast.Module], tables: Mapping[str, Entity], names: Iterable[str]
) -> dict[str, TableEffects]:
    """Return the effects of functions of a program: of those with these names.

    `trees`: the program, whose name is empty, and the modules beside it by their names.
    """
    reader = _Reader(Modules(trees, tables))
    return {name: reader.read(name) for name in names}


class _Reader:
    """Interprets functions, each kind of arguments once."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self._known: dict[tuple[str, tuple[Value, ...]], tuple[Effects, Value]] = {}
        self._ways: dict[str, int] = {}

    def read(self, name: str) -> TableEffects:
        """Return the effects of a function that answers a tool."""
        function = Atom("function", f":{name}")
        arguments = self.modules.function(function)[1].args
        first, *others = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)] or [""]
        given = {name: (Atom("argument", name),) for name in (*others, *(arg.arg for arg in arguments.kwonlyargs))}
        if arguments.kwarg is not None:
            given[arguments.kwarg.arg] = (Atom("arguments"),)
        effects, returned = self.call(function, {first: (Atom("world"),), **given})
        return effects.of(returned)

    def call(self, function: Atom, given: Mapping[str, Value]) -> tuple[Effects, Value]:
        """Return what a function does with these arguments, and what it returns."""
        module, node = self.modules.function(function)
        key = function.name, tuple(given.values())
        if key not in self._known:
            self._ways[function.name] = self._ways.get(function.name, 0) + 1
            if self._ways[function.name] > _MOST_WAYS:
                given = {name: tuple(atom for atom in value if atom.kind == "world") for name, value in given.items()}
                key = function.name, tuple(given.values())
        if key not in self._known:
            body = Body(self.modules, module, {**given}, self.call)
            self._known[key] = body.effects, ()  # it adds nothing where it calls itself
            body.read(node.body)
            self._known[key] = body.effects, body.returned
        return self._known[key]
