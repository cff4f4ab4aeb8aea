"""Abstract values: what the syntax tree of a program reveals of the value of an expression."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import Literal, TypeAlias

from mcp_sim.types.frozen import frozen

Kind: TypeAlias = Literal[
    "world",  # the first parameter of a tool's function
    "table",  # `world.book`
    "page",  # what `world.book.page()` returns
    "row",
    "part",  # a value in a row: changing it in place changes the row
    "copy",  # a value computed from rows: changing it changes no row
    "argument",  # an argument of the tool, or a part of it: `task.title`
    "arguments",  # the mapping of all arguments
    "text",  # a literal that is the name of a table
    "function",  # of the program or a module beside it
    "module",
    "backend",
]

_STORED = frozenset({"table", "page", "row", "part", "copy"})
_MOST = 64
"""The largest number of atoms of a value. Values multiply where variables are combined."""


@frozen
class Atom:
    """One thing that a value may be."""

    kind: Kind
    name: str = ""
    """The table, the path of the argument, or the name of the function or module."""
    by: str = ""
    """The argument by which a row was found."""
    many: bool = False
    """Whether the value is a list, mapping or iterator of such things."""


Value: TypeAlias = tuple[Atom, ...]
"""What a value may be; empty if nothing is known of it."""


def joined(values: Iterable[Value]) -> Value:
    """Return a value that may be any of some."""
    return tuple(dict.fromkeys(atom for value in values for atom in value))[:_MOST]


def inside(value: Value) -> Value:
    """Return a list of a value."""
    return tuple(replace(atom, many=True) for atom in value)


def element(value: Value, *, is_one: bool = False) -> Value:
    """Return an item of a value. `is_one`: it is chosen, as by `[0]`, so the argument that found the list names it."""
    atoms: list[Atom] = []
    for atom in value:
        if atom.many:
            atoms.append(replace(atom, many=False, by=atom.by if is_one else ""))
        elif atom.kind == "table":
            atoms.append(Atom("row", atom.name))
        elif atom.kind in {"row", "part"}:
            atoms.append(replace(atom, kind="part"))
        elif atom.kind in {"argument", "copy"}:
            atoms.append(atom)
    return tuple(dict.fromkeys(atoms))


def copies(value: Value) -> Value:
    """Return a value that is computed from another one."""
    rows = (atom for atom in value if atom.kind in _STORED and (atom.many or atom.kind != "table"))
    return tuple(dict.fromkeys(replace(atom, kind="copy", many=False) for atom in rows))


def identity(value: Value) -> str:
    """Return the argument that a value is; empty if it is not an argument."""
    return next((atom.name for atom in value if atom.kind == "argument"), "")


def item_of(atom: Atom, key: ast.expr) -> Value:
    """Return the item of a value that a subscript chooses."""
    literal = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
    match atom.kind:
        case "arguments":
            return () if literal is None else (Atom("argument", literal),)
        case "argument" if not atom.many and literal is not None:
            return (replace(atom, name=f"{atom.name}.{literal}"),)
        case _ if isinstance(key, ast.Slice):
            return (atom,)
        case _:
            return element((atom,), is_one=True)
