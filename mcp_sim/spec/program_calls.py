"""Calls within the functions of a program: their arguments, and what methods of tables do."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from mcp_sim.spec.program_modules import Function
from mcp_sim.spec.program_values import Atom, Value, copies, element, identity, inside, joined
from mcp_sim.types.domain import Entity
from mcp_sim.types.programs import TableEffects


@dataclass(slots=True)
class Effects:
    """What a function does: table -> the argument that names the record, '' if none does."""

    creates: dict[str, str] = field(default_factory=dict[str, str])
    updates: dict[str, str] = field(default_factory=dict[str, str])
    deletes: dict[str, str] = field(default_factory=dict[str, str])
    reads: dict[str, str] = field(default_factory=dict[str, str])
    uses_backends: bool = False
    imagines: bool = False
    is_partial: bool = False
    """Whether the function gives the world to something that is not followed."""

    def add(self, other: Effects) -> None:
        """Add what a called function does."""
        for mine, its in zip(self.tables(), other.tables(), strict=True):
            for table, by in its.items():
                note(mine, table, by)
        self.uses_backends |= other.uses_backends
        self.imagines |= other.imagines
        self.is_partial |= other.is_partial

    def tables(self) -> tuple[dict[str, str], ...]:
        """Return creates, updates, deletes and reads."""
        return self.creates, self.updates, self.deletes, self.reads

    def of(self, returned: Value) -> TableEffects:
        """Return the effects of a function that returns a value."""
        rows = [atom for atom in returned if atom.kind in {"row", "part", "page", "table", "copy"}]
        shows: dict[str, str] = {}
        for atom in rows:
            note(shows, atom.name, atom.by)
        keys: dict[str, str] = {}
        for tables in (self.deletes, self.updates, shows, self.reads):
            for table, by in tables.items():
                note(keys, table, by)
        return TableEffects(
            creates=(*self.creates,),
            updates=(*self.updates,),
            deletes=(*self.deletes,),
            reads=(*self.reads,),
            shows=(*shows,),
            keys={table: by for table, by in keys.items() if by},
            new_keys={table: by for table, by in self.creates.items() if by},
            uses_backends=self.uses_backends,
            imagines=self.imagines,
            is_partial=self.is_partial,
        )


def note(tables: dict[str, str], table: str, by: str = "") -> None:
    """Note a table, and the argument that names the record; the first one counts."""
    tables[table] = tables.get(table) or by


@dataclass(slots=True)
class Given:
    """The arguments of a call."""

    call: ast.Call
    positional: list[Value]
    named: dict[str, Value]

    @property
    def all(self) -> Value:
        """What any argument may be."""
        return joined([*(_unpacked(self, at) for at in range(len(self.positional))), *self.named.values()])

    def at(self, place: int) -> Value:
        """Return a positional argument; empty if it is missing."""
        return self.positional[place] if place < len(self.positional) else ()

    def bound(self, function: Function) -> dict[str, Value]:
        """Return the values of a function's parameters, by name in their order."""
        arguments = function.args
        names = [arg.arg for arg in (*arguments.posonlyargs, *arguments.args)]
        stars = [at for at, arg in enumerate(self.call.args) if isinstance(arg, ast.Starred)]
        first = stars[0] if stars else len(self.positional)
        bound: dict[str, Value] = dict(zip(names, self.positional[:first], strict=False))
        rest = joined([_unpacked(self, at) for at in range(len(bound), len(self.positional))])
        for name in (*names, *(arg.arg for arg in arguments.kwonlyargs)):
            value = self.named.get(name)
            bound[name] = bound.get(name, rest if stars and value is None else ()) if value is None else value
        if arguments.vararg is not None:
            bound[arguments.vararg.arg] = inside(rest)
        if arguments.kwarg is not None:
            extra = [value for name, value in self.named.items() if name not in bound]
            bound[arguments.kwarg.arg] = inside(joined(extra))
        return bound


def _unpacked(given: Given, at: int) -> Value:
    value = given.positional[at]
    return element(value) if isinstance(given.call.args[at], ast.Starred) else value


def called_of_table(table: Entity, method: str, given: Given, effects: Effects) -> Value:
    """Note what a method of a table does, and return its result."""
    by = identity(given.at(0))
    match method:
        case "add":
            note(effects.creates, table.name, identity(given.named.get(table.key, ())))
            return (Atom("row", table.name),)
        case "delete":
            note(effects.deletes, table.name, next((atom.by for atom in given.at(0) if atom.kind == "row"), by))
            return ()
        case "public":
            return copies(given.at(0))
        case "find":
            return _found(table, given, effects)
        case "get":
            note(effects.reads, table.name, by)
            return (Atom("row", table.name, by), *given.at(1))
        case "page":
            note(effects.reads, table.name)
            return (Atom("page", table.name),)
        case _:
            note(effects.reads, table.name)
            return (Atom("row", table.name, many=True),)


def _found(table: Entity, given: Given, effects: Effects) -> Value:
    """Return the rows that `find` returns. An argument names them, too: that for the key, else the last one."""
    names = [identity(value) for value in (*given.named.values(), given.named.get(table.key, ()))]
    by = next((name for name in reversed(names) if name), "")
    note(effects.reads, table.name, by if table.key in given.named else "")
    return (Atom("row", table.name, by, many=True),)
