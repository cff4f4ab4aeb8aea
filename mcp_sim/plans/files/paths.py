"""Entities of a tree of files, and their paths: absolute and normalized, as `/docs/a.md`; the root is `/`."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from mcp_sim.plans.refusal import Refused
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field

FILE, DIRECTORY, SHELL = "file", "directory", "shell"
ROOT = "/"
_LONGEST_PATH = 4096  # PATH_MAX of Linux
_LONGEST_NAME = 255  # NAME_MAX of Linux


def entities() -> list[Entity]:
    """Return the entities. `above` is the prefix that clients use if no state locates the files on their disk."""
    text: Record = {"type": "string"}
    time: Record = {"type": "string", "format": "date-time"}
    place = {"path": Field("path", text, required=True), "folder": Field("folder", text)}
    content = {"content": Field("content", text, required=True)}
    times = {name: Field(name, time, required=True) for name in ("created_at", "modified_at")}
    settings = {"working_directory": text, "allowed": {"type": "array", "items": text},
                "above": {"type": ["string", "null"]}}  # fmt: skip
    return [
        Entity(FILE, "path", None, {**place, **content, **times}, natural=True),
        Entity(DIRECTORY, "path", None, {**place, **times}, natural=True),
        Entity(SHELL, SHELL, None, {name: Field(name, setting) for name, setting in settings.items()}, singleton=True),
    ]


def resolve_path(path: str, working: str = ROOT) -> str:
    """Return the absolute path. Raises `Refused` if `..` leaves the root, and for impossible paths."""
    plain = path.replace("\\", "/").removeprefix("file://")
    if plain == "~" or plain.startswith("~/"):
        plain = plain[1:].lstrip("/") or "."
    parts = [] if plain.startswith("/") else split_path(working)
    for segment in plain.split("/"):
        if segment == ".." and not parts:
            raise Refused("forbidden", f"Access denied: {path} is outside the root directory", path=path)
        if segment == "..":
            parts.pop()
        elif segment not in {"", "."}:
            parts.append(segment)
    return _checked(ROOT + "/".join(parts))


def _checked(path: str) -> str:
    if "\0" in path:
        raise Refused("invalid", "Invalid path: it holds a NUL character", path=path)
    if len(path) > _LONGEST_PATH or any(len(name) > _LONGEST_NAME for name in path.split("/")):
        raise Refused("invalid", f"File name too long: {path[:_LONGEST_NAME]}...", path=path)
    return path


def normalize(path: str) -> str:
    """Return the absolute path of a path in a document; `..` at the root has no effect."""
    return ROOT + posixpath.normpath(ROOT + path.replace("\\", "/")).strip("/")


def split_path(path: str) -> list[str]:
    """Return the names in a path; none for the root."""
    return [segment for segment in path.split("/") if segment]


def parent(path: str) -> str:
    """Return the directory of a path; the root is its own parent."""
    return posixpath.dirname(path)


def directories_above(path: str) -> list[str]:
    """Return the parent directories of a path, without the root."""
    parts = split_path(path)
    return [ROOT + "/".join(parts[:end]) for end in range(1, len(parts))]


def join_path(directory: str, name: str) -> str:
    """Return the path of `name` in a directory."""
    return f"{directory.rstrip('/')}/{name}"


def is_within(path: str, directories: Sequence[str]) -> bool:
    """Return whether a path is one of these directories, or in one."""
    return any(path == directory or path.startswith(f"{directory.rstrip('/')}/") for directory in directories)


def is_absolute(path: str) -> bool:
    """Return whether a path begins at the root of a disk or with a drive letter."""
    return path.startswith(("/", "file:///")) or path[1:3] in {":\\", ":/"}
