"""Git repositories.

`world.git` is a `Git`: it creates and finds repositories, each with a working tree in `world.files`. The tables are
`repository`, `commit`, `branch`, `tag` and `blob`, and those of files.
"""

from __future__ import annotations

from mcp_sim.libraries.files.tree import entities as entities_of_files
from mcp_sim.libraries.git import history
from mcp_sim.libraries.git.changes import Difference, Snapshot, count_lines, difference, kind_of, render_patch
from mcp_sim.libraries.git.errors import (
    BadName,
    CheckedOut,
    Conflict,
    GitError,
    NameTaken,
    NotARepository,
    NothingToDo,
    NotMerged,
    Overwritten,
    UnknownName,
    UnknownPath,
    UnknownRevision,
    Unmerged,
)
from mcp_sim.libraries.git.git import Git
from mcp_sim.libraries.git.history import Commit
from mcp_sim.libraries.git.repository import Repository, Status
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity

__all__ = [
    "BadName", "CheckedOut", "Commit", "Conflict", "Difference", "Git", "GitError", "NameTaken", "NotARepository",
    "NotMerged", "NothingToDo", "Overwritten", "Repository", "Snapshot", "Status", "UnknownName", "UnknownPath",
    "UnknownRevision", "Unmerged", "count_lines", "difference", "entities", "kind_of", "library", "render_patch",
]  # fmt: skip

library = Git


def entities(_state: Json) -> list[Entity]:
    """Return the entities of repositories, and of the files in them."""
    return [*entities_of_files(), *history.entities()]
