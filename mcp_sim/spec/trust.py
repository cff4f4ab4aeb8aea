"""Which documents the user trusts.

A document from a stranger must do no harm when it is checked or served. Only a trusted one may

- name files outside its folder, the folder above that of the document that the user named, and the working directory,
- have the value of an environment variable sent as a key to the endpoint that it names,
- have Python functions called.

A document is trusted if it ships with mcp-sim, if the caller trusts it or a folder above it (`--trust PATH`,
`MCP_SIM_TRUST`; the pytest plugin trusts its rootdir) or everything (`trust=True`), or if `mcp-sim trust PATH` has
remembered its content and it has not changed since. Trust is per document: a trusted scenario may name any tool spec,
but a Python function of that spec is called only if the spec and the module of the function are trusted, too.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping
from errno import EFBIG
from pathlib import Path

from mcp_sim.spec.yaml12 import LARGEST
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_object

VARIABLE = "MCP_SIM_TRUST"
"""The environment variable with trusted files and folders, separated like those in PATH."""

_PROVIDED = tuple(Path(path) for path in ("/proc", "/sys", "/dev"))
"""Folders whose files the kernel makes. No document may name one."""


class Trust:
    """What the user trusts: everything, or files and folders, and files whose content was remembered."""

    def __init__(self, trusted: bool | Iterable[Path] = False) -> None:
        self._everything = trusted is True
        given = () if isinstance(trusted, bool) else trusted
        paths = os.environ.get(VARIABLE, "").split(os.pathsep)
        self._paths = [real_path(path) for path in (*given, *(Path(name).expanduser() for name in paths if name))]
        self._remembered: Mapping[str, str] | None = None

    def covers(self, path: Path) -> bool:
        """Whether the caller trusts a file or a folder that contains it, whatever the file's content is."""
        return self._everything or any(real_path(path).is_relative_to(folder) for folder in self._paths)

    def remembers(self, path: Path, digest: str) -> bool:
        """Whether the user has trusted this file with this content, given as SHA-256."""
        return self._known.get(str(path.resolve())) == digest

    def has_changed(self, path: Path, digest: str) -> bool:
        """Whether the user has trusted this file with another content."""
        return str(path.resolve()) in self._known and not self.remembers(path, digest)

    def lost(self, folder: Path) -> list[Path]:
        """Return the remembered Python files in a folder that do not exist any more: others may take their place."""
        paths = [Path(path) for path in self._known if path.endswith(".py")]
        return [path for path in paths if path.is_relative_to(folder.resolve()) and not path.exists()]

    @property
    def _known(self) -> Mapping[str, str]:
        if self._remembered is None:
            self._remembered = remembered()
        return self._remembered


def remembered() -> dict[str, str]:
    """Return the remembered files by absolute path, with the SHA-256 of their content. Raises `UsageError`."""
    try:
        store = store_file()
    except RuntimeError:  # the home is unknown
        return {}
    try:
        value = json.loads(store.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{store}: cannot be read ({type(error).__name__}); remove it, and trust your files again"
        ) from None
    return {path: value for path, value in as_object(as_object(value).get("files")).items() if isinstance(value, str)}


def store_text(files: Mapping[str, str]) -> str:
    """Return the text of the file that remembers trust."""
    return json.dumps({"files": dict(sorted(files.items()))}, indent=2, ensure_ascii=False) + "\n"


def store_file() -> Path:
    """Return the file that remembers trust, in the user's folder for configurations."""
    home = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA") or "~/.config"
    return Path(home).expanduser() / "mcp-sim" / "trust.json"


_ROOT_OF_PROJECT = (".git", "pyproject.toml", "package.json")
"""Names that are in the root of a project only."""


# files ----------------------------------------------------------------------------------------------------------------


def real_path(path: Path) -> Path:
    """Return a path without links. Unlike `Path.resolve` before Python 3.13, leave a loop of links as it is."""
    return Path(os.path.realpath(path))


def is_inside(path: Path, document: Path) -> bool:
    """Whether a path, its links resolved, is below a document's folder or the working directory.

    If the working directory is the root of the file system, only the document's folder counts.
    """
    here = Path.cwd().resolve()
    return is_below(path, document.parent) or (here != Path(here.anchor) and is_below(path, here))


def is_beside(path: Path, named: Path) -> bool:
    """Whether a path is below the folder above that of the document that the user named.

    Projects have scenarios in one folder, and tools in another. What is above the root of a project belongs to others,
    as where repositories are cloned side by side. A folder that others share does not count: the home of the user or
    above, and those where everyone may write. Hidden files do not count either, nor does any folder if the home is
    unknown.
    """
    own, resolved = named.resolve().parent, path.resolve()
    folder = own.parent
    if any((own / name).exists() for name in _ROOT_OF_PROJECT):
        return False
    try:
        home = Path.home().resolve()
    except RuntimeError:  # as in a container with the id of a user that it does not list
        return False
    is_shared = home.is_relative_to(folder) or bool(folder.stat().st_mode & stat.S_IWOTH)
    if is_shared or folder == Path(folder.anchor) or not resolved.is_relative_to(folder):
        return False
    return not any(name.startswith(".") for name in resolved.relative_to(folder).parts)


def is_below(path: Path, folder: Path) -> bool:
    """Whether a path is below a folder once links are resolved."""
    return path.resolve().is_relative_to(folder.resolve())


def is_special(path: Path, *, may_be_folder: bool = False) -> bool:
    """Whether a path is something else than a file on a disk: a pipe, a device, a socket, a file of the kernel."""
    resolved = path.resolve()
    mode = resolved.stat().st_mode
    is_usual = stat.S_ISREG(mode) or (may_be_folder and stat.S_ISDIR(mode))
    return not is_usual or any(resolved.is_relative_to(folder) for folder in _PROVIDED)


def read_regular(path: Path, limit: int) -> bytes:
    """Return at most the first `limit` bytes of a regular file. Raises `OSError`, also for anything else than a file.

    A pipe that has replaced the file in the meantime does not block.
    """
    with open(path, "rb", opener=_without_waiting) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(0, "is not a regular file")
        return stream.read(limit)


def read_whole(path: Path) -> bytes:
    """Return the bytes of a file that the user names, which may be a pipe.

    Raises `OSError` if it cannot be read, or does not end within what a document may have.
    """
    with path.open("rb") as stream:
        data = stream.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise OSError(EFBIG, f"is larger than {LARGEST >> 20} MiB", str(path))
    return data


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
