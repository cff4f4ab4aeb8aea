"""What is an operation: under which names is it known, what does it need, and what does it make of it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from mcp_sim.types import Json
from mcp_sim.types.draws import Draws
from mcp_sim.types.lexicon.words import words


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What an operation may look at beside its arguments: the world's time, the chance of the call."""

    now: datetime
    draws: Draws


Given: TypeAlias = Mapping[str, Any]
Compute: TypeAlias = Callable[[Given, Circumstances], Json]


@dataclass(frozen=True, slots=True)
class Role:
    """Something that an operation needs. `names` are the arguments it goes by, `types` what they may be.

    A `positional` role takes the first argument of a fitting type where none has a known name.
    """

    name: str
    types: frozenset[str]
    names: frozenset[str]
    optional: bool = False
    positional: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """`phrases` are the words by which tools are called that do it; `places` where results show the value.

    Where a phrase alone may mean other things, a tool must say one of the words `telling`, and none of `against`.
    `guesses`: what it makes of its arguments is made up, as a translation is.
    """

    name: str
    phrases: frozenset[str]
    roles: Sequence[Role]
    compute: Compute
    places: Sequence[str] = ()
    telling: frozenset[str] = frozenset()
    against: frozenset[str] = frozenset()
    guesses: bool = False


NUMBER = frozenset({"number", "integer"})
TEXT = frozenset({"string"})
LIST = frozenset({"numbers"})
ANY = frozenset({"number", "integer", "string", "array", "object", "boolean", ""})


def compact(name: str) -> str:
    """The words of a name without what separates them: `toUpperCase` and `to_uppercase` are the same."""
    return "".join(words(name))


def phrases(text: str) -> frozenset[str]:
    """The phrases of a comma-separated line, each compact."""
    return frozenset(compact(part) for part in text.split(","))


def role(name: str, types: frozenset[str], names: str = "", *, optional: bool = False, positional: bool = True) -> Role:
    """A role that goes by its own name and by those of a comma-separated line."""
    return Role(name, types, phrases(f"{name}, {names}") - {""}, optional, positional)
