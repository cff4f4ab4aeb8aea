"""Operations of backends, and the roles of their arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cache
from pkgutil import get_data
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_sim.types.frozen import frozen
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.plans import Verb

if TYPE_CHECKING:
    from mcp_sim.plans.matching.tool_profiles import ToolProfile
    from mcp_sim.plans.outcome import Outcome

Run: TypeAlias = Callable[[Any], "Outcome"]
"""Runs an operation: takes the `Request` of its backend. Raises `Refused` if the call fails."""

Test: TypeAlias = "Callable[[ToolProfile], bool]"
"""Whether a tool means an operation."""

Names: TypeAlias = Mapping[str, tuple[str, ...]]
"""Fact of an outcome -> other names that a result may have for it."""

TEXT = frozenset({"string"})
NUMBER = frozenset({"number", "integer"})
FLAG = frozenset({"boolean"})
LIST = frozenset({"array"})
TEXTS = frozenset({"strings"})
NUMBERS = frozenset({"numbers"})
ANY: frozenset[str] = frozenset()


@frozen
class Role:
    """The role of an argument in an operation."""

    name: str
    names: tuple[str, ...] = ()
    """Usual names of the argument, without separators, the most telling first."""
    types: frozenset[str] = ANY
    """Its possible types, as `argument_types` names them; empty: any."""
    optional: bool = False
    positional: bool = False
    """Whether the first argument of a fitting type has the role if none has one of the names."""
    similar: bool = False
    """Whether an argument has the role too if its name ends with one of the names (`target_path` for `path`)."""


@frozen
class Operation:
    """What a backend can do: its name, what it needs, and how it runs."""

    name: str
    run: Run | str
    """The function that runs it. A text names it within the package of the backend, `module:function`; it is imported
    when the operation is first used."""
    verb: Verb = "compute"
    """What it does to records, for faults and expectations."""
    roles: tuple[Role, ...] = ()
    """The roles of its arguments. Callers from Python give them in this order, or by name."""
    means: Test | None = None
    """Whether a tool means this operation, by its words and arguments; None: no tool does."""
    entity: str = ""
    """The entity that it works on; empty: the first one of its backend."""
    names: Names = field(default_factory=dict[str, tuple[str, ...]])
    """Fact of the outcome -> other names that a result may have for it, besides those of the backend."""
    is_open: bool = False
    """Whether a tool that means it may require other arguments, which become fields of what it stores."""

    def role(self, name: str) -> Role | None:
        """Return the role of this name, or None."""
        return next((role for role in self.roles if role.name == name), None)


def compact(name: str) -> str:
    """Return the words of a name without separators: `touppercase` for `toUpperCase` and `to_uppercase`."""
    return "".join(words(name))


def role(
    name: str,
    names: str = "",
    types: frozenset[str] = ANY,
    *,
    optional: bool = False,
    positional: bool = False,
    similar: bool = False,
) -> Role:
    """Return a role with the names of a line, separated by spaces, and then its own name."""
    listed = dict.fromkeys(compact(piece) for piece in (*names.split(), name))
    return Role(name, tuple(listed), types, optional, positional, similar)


def roles(*known: Role) -> dict[str, Role]:
    """Return the roles of a backend, by name."""
    return {known_role.name: known_role for known_role in known}


def pick(line: str, known: Mapping[str, Role]) -> tuple[Role, ...]:
    """Return the roles that a line names, separated by spaces. `?` after a name makes it optional."""
    return tuple(replace(known[name.rstrip("?")], optional=name.endswith("?")) for name in line.split())


@frozen
class BackendNames:
    """What the tools of a backend call things, as `names.txt` beside it lists."""

    roles: dict[str, Role]
    facts: Names
    lists: Mapping[str, tuple[str, ...]]
    """Other lists of words by name. The parts of a name such as `commit.hash` are those of `table`."""

    def ordered(self, name: str) -> tuple[str, ...]:
        """Return the words of a list in the order of the file."""
        return self.lists[name]

    def terms(self, *names: str) -> frozenset[str]:
        """Return the words of one or several lists, as a set for lookups."""
        return frozenset(word for name in names for word in self.lists[name])

    def line(self, name: str) -> str:
        """Return the words of a list, separated by spaces."""
        return " ".join(self.lists[name])

    def table(self, group: str) -> dict[str, tuple[str, ...]]:
        """Return the lists of a group by the rest of their names: `hash` for `commit.hash`."""
        return {name.partition(".")[2]: listed for name, listed in self.lists.items() if name.startswith(f"{group}.")}


_NAMES_LINE = re.compile(r"(role|fact|words) ([\w.]+)(?:=(\w+))?((?: \w+)*):(.*)")
_TYPES = TEXT | NUMBER | FLAG | LIST | TEXTS | NUMBERS | {"object", "objects"}


def read_names(module: str) -> BackendNames:
    """Return the names in `names.txt` beside the module of this name.

    A line is `role NAME: NAMES`, `fact NAME: NAMES` or `words NAME: WORDS`; lines that begin with a space go on with
    the names. Behind the name of a role are the types of its argument (`string`), `positional` and `similar`.
    `KEY=NAME` is another role of the same name. Raises `ValueError` for any other line, except for comments.
    """
    return _read_names(module.rpartition(".")[0])


@cache
def _read_names(package: str) -> BackendNames:
    text = (get_data(package, "names.txt") or b"").decode().replace("\n ", " ")
    roles, lists = dict[str, Role](), {"fact": dict[str, tuple[str, ...]](), "words": dict[str, tuple[str, ...]]()}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = _NAMES_LINE.fullmatch(line)
        marks = frozenset(match[4].split() if match is not None else ())
        if match is None or marks - _TYPES - {"positional", "similar"}:
            raise ValueError(f"{package}/names.txt: {line!r} is no role, fact or list of words")
        kind, key, name, _, names = match.groups()
        if kind == "role":
            flags = {mark: mark in marks for mark in ("positional", "similar")}
            roles[key] = role(name or key, names, marks & _TYPES, **flags)
        else:
            lists[kind][key] = tuple(names.split())
    return BackendNames(roles, lists["fact"], lists["words"])
