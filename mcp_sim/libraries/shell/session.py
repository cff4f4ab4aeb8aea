"""What a shell remembers between commands: its directory, variables, functions, aliases and options.

It is a script that makes them again, so that a session is a record like any other, and forks and restarts need no code.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mcp_sim.libraries.shell.system import SYSTEM
from mcp_sim.libraries.store import LibraryError

if TYPE_CHECKING:
    from mcp_sim.libraries.shell.machine import Machine

_VOLATILE = frozenset(SYSTEM["own_variables"])
"""Variables that the shell sets by itself."""
_REST = "builtin shopt -p; builtin alias; builtin declare -f"
_LARGEST = 1 << 18
"""The longest script of a session: a record that each change of a variable writes again."""


def capture(machine: Machine, fresh: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what a shell remembers: name -> the line that sets it. `fresh` is what a new shell remembers, left out."""
    state = machine.bash.shell_state()
    lines = {
        name: f"{'export ' if name in state.env else ''}{name}={shlex.quote(value)}"
        for name, value in state.variables.items()
        if name not in _VOLATILE
    }
    kinds: dict[str, Mapping[str, Mapping[Any, str]]] = {"a": state.arrays, "A": state.assoc_arrays}
    for letter, arrays in kinds.items():
        for name, items in arrays.items():
            if name not in _VOLATILE:
                inner = " ".join(f"[{shlex.quote(str(key))}]={shlex.quote(items[key])}" for key in sorted(items))
                lines[name] = f"declare -{letter} {name}=({inner})"
    lines = {name: lines[name] for name in sorted(lines)}
    lines |= dict(_blocks(machine.execute(_REST).stdout))
    if fresh is not None:
        lines = {name: line for name, line in lines.items() if fresh.get(name) != line}
    if sum(map(len, lines.values())) > _LARGEST:
        raise LibraryError("bash: xmalloc: cannot allocate memory: the variables of the session are too long")
    return lines


def script(lines: Mapping[str, str]) -> str:
    """Return the script that makes a session again."""
    return "\n".join(lines.values())


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each option, alias and function that the shell prints."""
    lines = iter(text.splitlines())
    for line in lines:
        words = line.split(None, 2)
        if line.startswith("shopt -"):
            yield f"shopt {words[2]}", line
        elif line.startswith("alias "):
            yield f"alias {words[1].partition('=')[0]}", line
        elif line.endswith(" () "):
            body = [line]
            for inner in lines:
                body.append(inner)
                if inner == "}":
                    break
            yield f"function {words[0]}", "\n".join(body)
