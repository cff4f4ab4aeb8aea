"""Which file does a path mean? Every path is absolute and normal in the world: `/docs/a.md`; the root is `/`."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from mcp_sim.backends.refusal import Refused

ROOT = "/"
LONGEST_PATH = 4096
LONGEST_NAME = 255


def resolved(path: str, working: str = ROOT) -> str:
    """The absolute path. Raises Refused where `..` leads out of the root, and for what no path can be."""
    plain = path.replace("\\", "/").removeprefix("file://")
    if plain == "~" or plain.startswith("~/"):
        plain = plain[1:].lstrip("/") or "."
    parts = [] if plain.startswith("/") else names_of(working)
    for part in plain.split("/"):
        if part == ".." and not parts:
            raise Refused("forbidden", f"Access denied: {path} is outside the root directory", path=path)
        if part == "..":
            parts.pop()
        elif part not in {"", "."}:
            parts.append(part)
    return _possible(ROOT + "/".join(parts))


def _possible(path: str) -> str:
    """The path, as it is. Raises Refused where no disk could hold it."""
    if "\0" in path:
        raise Refused("invalid", "Invalid path: it holds a NUL character", path=path)
    if len(path) > LONGEST_PATH or any(len(name) > LONGEST_NAME for name in path.split("/")):
        raise Refused("invalid", f"File name too long: {path[:LONGEST_NAME]}...", path=path)
    return path


def normal(path: str) -> str:
    """The same for a path of a document, where `..` at the root stays there."""
    return ROOT + posixpath.normpath(ROOT + path.replace("\\", "/")).strip("/")


def names_of(path: str) -> list[str]:
    """The names that lead to it; none for the root."""
    return [part for part in path.split("/") if part]


def parent(path: str) -> str:
    """The directory that it is in; the root is in itself."""
    return posixpath.dirname(path)


def directories_above(path: str) -> list[str]:
    """The directories that lead to a path, without the root."""
    parts = names_of(path)
    return [ROOT + "/".join(parts[:end]) for end in range(1, len(parts))]


def joined(directory: str, name: str) -> str:
    """What is called `name` in a directory."""
    return f"{directory.rstrip('/')}/{name}"


def is_within(path: str, directories: Sequence[str]) -> bool:
    """Is it one of these directories, or in one?"""
    return any(path == one or path.startswith(f"{one.rstrip('/')}/") for one in directories)
