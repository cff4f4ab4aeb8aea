"""Compute operations: their names, their argument roles, and the function that computes the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from mcp_sim.types import Json
from mcp_sim.types.draws import Draws
from mcp_sim.types.lexicon.english import words


@dataclass(frozen=True, slots=True)
class ComputeContext:
    """The inputs of an operation besides its arguments: the world's time and the draws of the call."""

    now: datetime
    draws: Draws


Arguments: TypeAlias = Mapping[str, Any]
Compute: TypeAlias = Callable[[Arguments, ComputeContext], Json]


@dataclass(frozen=True, slots=True)
class Role:
    """An argument role. `names` are the usual names of the argument, `types` its possible types.

    If no argument has a known name, a `positional` role takes the first one of a fitting type.
    """

    name: str
    types: frozenset[str]
    names: frozenset[str]
    optional: bool = False
    positional: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """A compute operation. `phrases` are tool names that mean it; `places` are properties that hold the result.

    If a phrase is ambiguous, the name or description of a tool must contain one of the words `hints`, and none of
    `excludes`. `guesses`: the result is a guess, as a translation is.
    """

    name: str
    phrases: frozenset[str]
    roles: Sequence[Role]
    compute: Compute
    places: Sequence[str] = ()
    hints: frozenset[str] = frozenset()
    excludes: frozenset[str] = frozenset()
    guesses: bool = False


NUMBER = frozenset({"number", "integer"})
TEXT = frozenset({"string"})
LIST = frozenset({"numbers"})
ANY = frozenset({"number", "integer", "string", "array", "object", "boolean", ""})


def compact(name: str) -> str:
    """Return the words of a name without separators: `touppercase` for `toUpperCase` and `to_uppercase`."""
    return "".join(words(name))


def phrases(text: str) -> frozenset[str]:
    """Return the phrases of a comma-separated line, each compact."""
    return frozenset(compact(part) for part in text.split(","))


def role(name: str, types: frozenset[str], names: str = "", *, optional: bool = False, positional: bool = True) -> Role:
    """Return a role with its own name and those of a comma-separated line."""
    return Role(name, types, phrases(f"{name}, {names}") - {""}, optional, positional)
