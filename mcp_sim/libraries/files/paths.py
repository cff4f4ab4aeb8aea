"""Paths of files: absolute and normalized, as `/docs/a.md`; the root is `/`."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable

ROOT = "/"


def normalize(path: str, base: str = ROOT) -> str:
    """Return the absolute path of a path that may be relative to a directory; `..` at the root has no effect."""
    plain = path.replace("\\", "/").removeprefix("file://")
    return ROOT + posixpath.normpath(posixpath.join(ROOT, base, plain)).strip("/")


def parent(path: str) -> str:
    """Return the directory of a path; the root is its own parent."""
    return posixpath.dirname(path)


def name_of(path: str) -> str:
    """Return the last name in a path; empty for the root."""
    return posixpath.basename(path)


def directories_above(path: str) -> list[str]:
    """Return the parent directories of a path, the outermost first, without the root."""
    names = path.strip("/").split("/")
    return [ROOT + "/".join(names[:end]) for end in range(1, len(names))]


def join(directory: str, name: str) -> str:
    """Return the path of `name` in a directory."""
    return f"{directory.rstrip('/')}/{name}"


def is_within(path: str, directories: Iterable[str]) -> bool:
    """Return whether a path is one of these directories, or in one."""
    return any(path == directory or path.startswith(f"{directory.rstrip('/')}/") for directory in directories)


def below(path: str, directory: str) -> str:
    """Return the rest of a path below a directory: `b/c.md` for `/a/b/c.md` in `/a`; empty for the directory itself."""
    return path[len(directory.rstrip("/")) :].lstrip("/")
