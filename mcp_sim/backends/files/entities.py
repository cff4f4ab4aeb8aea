"""Entities of a tree of files."""

from __future__ import annotations

from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field

FILE, DIRECTORY, SHELL = "file", "directory", "shell"

_TEXT: Record = {"type": "string"}
_TIME: Record = {"type": "string", "format": "date-time"}
_TIMES = {name: Field(name, _TIME, required=True) for name in ("created_at", "modified_at")}
_PLACE = {"path": Field("path", _TEXT, required=True), "folder": Field("folder", _TEXT)}


def entities() -> list[Entity]:
    """Return the entities `file`, `directory` and `shell`."""
    listed: Record = {"type": "array", "items": _TEXT}
    shell = {
        "working_directory": Field("working_directory", _TEXT),
        "allowed": Field("allowed", listed),
        "above": Field("above", {"type": ["string", "null"]}),
    }
    return [
        Entity(
            FILE, "path", None, {**_PLACE, "content": Field("content", _TEXT, required=True), **_TIMES}, natural=True
        ),
        Entity(DIRECTORY, "path", None, {**_PLACE, **_TIMES}, natural=True),
        Entity(SHELL, SHELL, None, shell, singleton=True),
    ]
