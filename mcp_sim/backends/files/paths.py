"""Which file does a path mean? Every path is absolute and normal in the world: `/docs/a.md`; the root is `/`."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, PastCall
from mcp_sim.types.json_schema.shapes import as_list, as_object

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


_FIRST_CALLS = 30
"""So many calls are looked at for a path that tells where the tree is."""


def is_absolute(path: str) -> bool:
    """Does a caller name a place on a disk: from its root on, or with the letter of a drive?"""
    return path.startswith(("/", "file:///")) or path[1:3] in {":\\", ":/"}


def above_of(path: str, exists: Callable[[str], bool], history: Sequence[PastCall]) -> str:
    """What is above the tree, by an absolute path of which the whole is not there; `/` where that tells nothing."""
    found = above_told(path, exists)
    if found is None:
        earlier = (above_told(one, exists) for one in islice(_paths_said(history), _FIRST_CALLS))
        found = next((one for one in earlier if one is not None), None)
    if found is None and len(names_of(path)) > 1 and not exists(ROOT + names_of(path)[0]):
        return parent(path) if "." in names_of(path)[-1] else path
    return found if found is not None else ROOT


def above_told(path: str, exists: Callable[[str], bool]) -> str | None:
    """What is above, where the rest of a path is there, or the directory that it would be in; None where neither is."""
    names = names_of(path)
    if names and exists(ROOT + names[0]):
        return ROOT
    for kept in (names, names[:-1]):
        for start in range(1, len(kept)):
            if exists(ROOT + "/".join(kept[start:])):
                return ROOT + "/".join(names[:start])
    return None


def _paths_said(history: Sequence[PastCall]) -> Iterator[str]:
    for past in history[:_FIRST_CALLS]:
        yield from (one for value in past.arguments.values() for one in _texts(value) if is_absolute(one))


def _texts(value: Json) -> Iterable[str]:
    within = (part for one in as_list(value) for part in as_object(one).values())
    return [one for one in (value, *as_list(value), *within) if isinstance(one, str)]


def below(path: str, above: str) -> str:
    """The path within the tree; the whole where it is somewhere else."""
    if above == ROOT or not is_within(path, [above]):
        return path
    return path[len(above) :] or ROOT
