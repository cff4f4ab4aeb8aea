"""A Linux shell over the files of a world.

`world.shell` is a `Shell`. Its files are those of `world.files`: a file may have a `mode`, the `target` of a symbolic
link, and the `encoding` base64 if its bytes are not UTF-8. The other tables are `shell_session` (directory, variables
and functions), `service` (processes and ports), `partition` and `package`.
"""

from __future__ import annotations

from mcp_sim.libraries.git import entities as entities_of_git
from mcp_sim.libraries.shell.given import TABLES
from mcp_sim.libraries.shell.shell import Blocked, Output, Shell, ShellError
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity, Field

__all__ = ["Blocked", "Output", "Shell", "ShellError", "entities", "library"]

library = Shell


def entities(state: Json) -> list[Entity]:
    """Return the entities of files, repositories, sessions, services, partitions and packages."""
    return [
        *entities_of_git(state),
        *(
            Entity(
                name,
                next(iter(fields)),
                None,
                {key: Field(key, schema) for key, schema in fields.items()},
                natural=True,
            )
            for name, fields in TABLES.items()
        ),
    ]
