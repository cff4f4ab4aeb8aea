"""Programs: Python files that answer the tools of a server, as far as they are known without running them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from keyword import iskeyword
from pathlib import Path
from typing import Any

from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import Json

_NO_NAME = re.compile(r"\W")

LIBRARIES = ("files", "git", "screens", "search", "shell", "sql")
"""What programs call besides tables. Each is a package in `mcp_sim.libraries`."""

EXTRAS = {"shell": ("bashkit", "terminal")}
"""Library -> the package that it needs, and the extra of mcp-sim that installs it."""

PROGRAM = "program"
"""The backend of tools that a program answers. Documents cannot choose it by name."""


@frozen
class TableEffects:
    """What a function does to tables, by its syntax tree. Tables are in the order in which the function uses them."""

    creates: tuple[str, ...] = ()
    updates: tuple[str, ...] = ()
    deletes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    """Those whose rows are in the result."""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Table -> the path of the argument that names the record (`task.id`), the parameter as Python has it."""
    new_keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Table -> the path of the argument that becomes the key of a new record."""
    uses_libraries: bool = False
    """Whether it works on files, SQL or another library."""
    imagines: bool = False
    """Whether it may ask a language model."""
    is_partial: bool = False
    """Whether it gives the world to something that could not be followed."""


GESTURES: Mapping[str, int] = {"click": 1, "fill": 2, "choose": 2}
"""What a person does on a screen -> how many parameters its tool has for it: a reference, and what is entered."""


@frozen
class ProgramFunction:
    """A decorated function of a program."""

    name: str
    line: int
    parameters: tuple[str, ...] = ()
    """Names of the parameters after the world, as Python has them (`from_`)."""
    defaults: frozenset[str] = frozenset()
    """The parameters that may be left out."""
    world: str = "world"
    """The name of the first parameter."""
    takes_all: bool = False
    """Whether it takes all arguments (`**arguments`)."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The keyword arguments of its decorator, such as verb, entity and key of a tool."""
    effects: TableEffects = TableEffects()
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    """Argument of another version of the server -> the parameter that takes it."""
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Parameters that a tool of another version does not have -> their values."""

    @property
    def only_reads(self) -> bool:
        """Whether it writes nothing, as its decorator declares or its syntax tree shows."""
        effects, options = self.effects, self.options
        writes = effects.creates or effects.updates or effects.deletes or effects.uses_libraries or effects.is_partial
        return bool(options.get("reads")) or not (writes or options.get("verb") in {"create", "update", "delete"})

    def parameter(self, argument: str) -> str:
        """Return the parameter that takes an argument."""
        name = parameter_name(argument)
        return name if name in self.parameters else self.renamed.get(argument, name)

    def takes(self, argument: str) -> bool:
        """Whether an argument gets to the function."""
        return self.takes_all or self.parameter(argument) in self.parameters


@frozen
class Program:
    """A program, and the tools of the server that it answers."""

    path: Path
    functions: Mapping[str, ProgramFunction]
    """Tool id -> the function that answers it."""
    tables: tuple[str, ...] = ()
    """The entities that it declares, by their names in the program."""
    libraries: frozenset[str] = frozenset()
    """The libraries that it calls, which have tables of their own."""
    hooks: Mapping[str, ProgramFunction] = field(default_factory=dict[str, ProgramFunction])
    """`initial`, `unknown_tool` and `invalid_arguments`, as far as the program has them."""
    prefix: str = ""
    """What precedes the names of its tables in the names of entities, where servers have separate state."""
    state: Json = None
    """The given state of the world, or None."""
    server: str = ""
    """The name of the server in the scenario."""
    code: Mapping[Path, bytes] = field(default_factory=dict[Path, bytes])
    """Its files as they were read, and as the user trusts them: nothing else is run. The first one is at `path`."""

    @property
    def entities(self) -> frozenset[str]:
        """The entities of its tables, by their names in the domain."""
        return frozenset(f"{self.prefix}{table}" for table in self.tables)


def parameter_name(argument: str) -> str:
    """Return the parameter that takes an argument: `from` arrives as `from_`, `due-date` as `due_date`."""
    name = _NO_NAME.sub("_", argument)
    if name[:1].isdecimal():
        return f"_{name}"
    return f"{name}_" if iskeyword(name) else name


def module_name(file: Path, folder: Path) -> str:
    """Return the name under which a program in a folder imports a file beside it."""
    parts = file.relative_to(folder).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
