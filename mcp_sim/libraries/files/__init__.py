"""Files and directories by path.

`world.files` is a `Files`. The tables are `file` (path, folder, content, created_at, modified_at) and `directory`.
"""

from __future__ import annotations

from mcp_sim.libraries.files import tree
from mcp_sim.libraries.files.tree import (
    AlreadyExists,
    Entry,
    FileError,
    Files,
    IntoItself,
    IsADirectory,
    NotADirectory,
    NotEmpty,
    NotFound,
    TooManyLinks,
    allowed_directories,
    below,
    is_within,
    join,
    name_of,
    normalize,
    parent,
)
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity

__all__ = [
    "AlreadyExists", "Entry", "FileError", "Files", "IntoItself", "IsADirectory", "NotADirectory", "NotEmpty",
    "NotFound", "TooManyLinks", "allowed_directories", "below", "entities", "is_within", "join", "library", "name_of",
    "normalize", "parent",
]  # fmt: skip

library = Files


def entities(_state: Json) -> list[Entity]:
    """Return the entities of files and directories."""
    return tree.entities()
