"""Entities of a repository."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.backends.files.entities import entities as entities_of_files
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field

COMMIT, BRANCH, TAG, STAGED, REPOSITORY = "commit", "branch", "tag", "staged_file", "repository"
MAIN = "main"
DEFAULT_REMOTE = "origin"
"""Name of the default remote."""

_TEXT: Record = {"type": "string"}
_TEXTS: Record = {"type": "array", "items": _TEXT}
_ANY: Record = {}


def entities() -> list[Entity]:
    """Return the entities of a repository, including files and directories."""
    tables = {
        COMMIT: ("hash", {"short_hash": _TEXT, "message": _TEXT, "author": _TEXT, "email": _TEXT, "date": _ANY,
                          "parents": _TEXTS, "files": _ANY}),
        BRANCH: ("name", {"commit": _TEXT}),
        TAG: ("name", {"commit": _TEXT, "message": _ANY}),
        STAGED: ("path", {"content": _ANY}),
    }  # fmt: skip
    files = [one for one in entities_of_files() if not one.singleton]
    only = {
        "branch": _ANY,
        "commit": _ANY,
        "root": _ANY,
        "author": _TEXT,
        "email": _TEXT,
        "stashes": _ANY,
        "remotes": _ANY,
        "worktrees": _ANY,
    }
    return [
        *files,
        *(Entity(name, key, None, _fields({key: _TEXT, **more}), natural=True) for name, (key, more) in tables.items()),
        Entity(REPOSITORY, REPOSITORY, None, _fields(only), singleton=True),
    ]


def _fields(schemas: Mapping[str, Record]) -> dict[str, Field]:
    return {name: Field(name, schema) for name, schema in schemas.items()}
