"""A tree of files over a view of the state.

Files and directories are records of two entities, keyed by path; `folder` is the directory of each, and indexed. All
directories but the root have records. A singleton stores the working directory, the allowed directories, and the mount
point if no state gives it.

Unless a state locates the tree, it begins at `/` in the world, while clients may use `/home/ada/notes/a.md` from
the first call on. The mount point is the prefix to remove so that the rest of a path exists. If no path shows it, the
first directory that a client names is the mount point.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, islice

from mcp_sim.plans.files.paths import (
    DIRECTORY,
    FILE,
    ROOT,
    SHELL,
    directories_above,
    is_absolute,
    is_within,
    join_path,
    normalize,
    parent,
    resolve_path,
    split_path,
)
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.request import Request
from mcp_sim.types import PastCall, Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object

_FIRST_CALLS = 30
"""Number of calls, and of paths in them, that are searched for one that shows the mount point. A scripted run names its
folder at once; all calls would be read at each start."""


@frozen
class Entry:
    """A file or a directory. `content` is None for a directory."""

    path: str
    record: Record
    content: str | None

    @property
    def name(self) -> str:
        return split_path(self.path)[-1] if self.path != ROOT else ROOT

    @property
    def is_file(self) -> bool:
        return self.content is not None

    @property
    def text(self) -> str:
        """The content; empty for a directory."""
        return self.content or ""

    @property
    def size(self) -> int:
        """The size in bytes; 0 for a directory."""
        return len(self.text.encode("utf-8", "surrogatepass"))

    @property
    def facts(self) -> Record:
        """What a result may show of it."""
        kind, permissions = ("file", "644") if self.is_file else ("directory", "755")
        times = {"created": self.record.get("created_at"), "modified": self.record.get("modified_at")}
        facts: Record = {"name": self.name, "path": self.path, "type": kind, "is_directory": not self.is_file}
        facts |= {"is_file": self.is_file, **times, "permissions": permissions}
        return {**facts, "size": self.size} if self.is_file else facts

    def after(self, base: Entry) -> str:
        """Return what follows the path of a directory that contains it: `/b.md`; empty for the directory itself."""
        return self.path[len(base.path.rstrip("/")) :]


class Tree:
    """The tree as one call sees it, with the changes that the call has made.

    If the call names a space or a folder, all its paths are below that. `is_located`: the paths of the records are
    those that clients use, even if no state locates the files.
    """

    def __init__(self, request: Request, space: str = "", folder: str = "", *, is_located: bool = False) -> None:
        self._request, self._space, self._folder = request, space, folder
        self._is_located = is_located
        self._mount_point = ROOT

    @property
    def shell(self) -> Record:
        """The working directory and the other settings of the tree."""
        return self._request.record(self._request.entity_named(SHELL), SHELL) or {}

    @property
    def is_located(self) -> bool:
        """Whether the paths of the records are those that clients use."""
        return self._is_located or "above" not in self.shell

    @property
    def working(self) -> str:
        """The working directory, by default the root; the space and folder that the call names, if it does."""
        return self._inside or self.shell.get("working_directory") or ROOT

    @cached_property
    def _inside(self) -> str:
        """The directory that the call names. The given files may be those of one space without a name in the state."""
        is_unnamed = not self.is_located and any(entry.is_file for entry in self.inside(ROOT)) and bool(self._space)
        is_unnamed = is_unnamed and self.find(ROOT + self._space) is None
        names = [folder for folder in ("" if is_unnamed else self._space, self._folder) if folder]
        return normalize("/".join(names)) if names else ""

    @property
    def allowed(self) -> Sequence[str]:
        """The directories that clients may access."""
        return [self._inside] if self._inside else self.shell.get("allowed") or [ROOT]

    def at(self, path: str) -> str:
        """Return the absolute path for a path of a client. Raises `Refused` outside the allowed directories."""
        plain = path.lstrip("/") if self._inside else path
        placed = self._placed(plain, resolve_path(plain, self.working))
        if not is_within(placed, self.allowed):
            inside = ", ".join(self.allowed)
            raise Refused("forbidden", f"Access denied: {path} is outside the allowed directories: {inside}", path=path)
        return placed

    def _placed(self, given: str, path: str) -> str:
        """Return the path within the tree, without the mount point if no state gives it."""
        if self.is_located or not is_absolute(given) or self._exists(path):
            return path
        known = self.shell["above"]
        self._mount_point = known or self._infer_mount_point(path)
        inside = _without_prefix(path, self._mount_point)
        is_known = known is None or inside != path
        return inside if is_known else _without_prefix(path, self._find_mount_point(path) or ROOT)

    def _infer_mount_point(self, path: str) -> str:
        """Infer the mount point from an absolute path that does not exist as a whole; `/` if nothing shows it."""
        known = islice(_absolute_paths(self._request.history[:_FIRST_CALLS]), _FIRST_CALLS)
        mount_point = next(
            (mount for mount in map(self._find_mount_point, chain([path], known)) if mount is not None), None
        )
        names = split_path(path)
        if mount_point is None and len(names) > 1 and not self._exists(ROOT + names[0]):
            return parent(path) if "." in names[-1] else path
        return mount_point if mount_point is not None else ROOT

    def _find_mount_point(self, path: str) -> str | None:
        """Return the prefix of a path before an existing rest, or before an existing parent, or None."""
        names = split_path(path)
        if names and self._exists(ROOT + names[0]):
            return ROOT
        for candidate in (names, names[:-1]):
            for start in range(1, len(candidate)):
                if self._exists(ROOT + "/".join(candidate[start:])):
                    return ROOT + "/".join(names[:start])
        return None

    def _exists(self, path: str) -> bool:
        return self.find(path) is not None

    def display_path(self, path: str) -> str:
        """Return a path of the tree as clients write it."""
        if self._inside:
            return path.removeprefix(self._inside).lstrip("/")
        prefix = (not self.is_located and self.shell["above"]) or self._mount_point
        return path if prefix == ROOT else prefix + path.removesuffix("/")

    def find(self, path: str) -> Entry | None:
        """Return the file or directory at an absolute path, if any."""
        record = self._request.record(path, FILE)
        if record is not None:
            return _file(path, record)
        record = {"path": ROOT} if path == ROOT else self._request.record(path, DIRECTORY)
        return None if record is None else Entry(path, record, None)

    def entry(self, given: str) -> Entry:
        """Return the file or directory at a path of a client. Raises `Refused` if it does not exist."""
        entry = self.find(self.at(given))
        if entry is None:
            missing = self._space if self._inside and not self._exists(self._inside) else given
            raise Refused("not_found", f"No such file or directory: {missing}", path=given, key=given, entity=FILE)
        return entry

    def file(self, given: str) -> Entry:
        """Return the file at a path of a client. Raises `Refused` if it does not exist."""
        entry = self.entry(given)
        if not entry.is_file:
            raise Refused("invalid", f"Is a directory, not a file: {given}", path=given)
        return entry

    def directory(self, given: str) -> Entry:
        """Return the directory at a path of a client. Raises `Refused` if it does not exist."""
        entry = self.entry(given)
        if entry.is_file:
            raise Refused("invalid", f"Not a directory: {given}", path=given)
        return entry

    def inside(self, directory: str) -> list[Entry]:
        """Return the content of a directory, sorted by name."""
        view, called = self._request.view, self._request.entity_named
        entries = [Entry(str(path), row, None) for path, row in view.find(called(DIRECTORY), "folder", directory)]
        entries += [_file(str(path), row) for path, row in view.find(called(FILE), "folder", directory)]
        return sorted(entries, key=lambda entry: entry.path)

    def below(self, directory: str, levels: int | None = None) -> Iterator[Entry]:
        """Yield everything below a directory, each directory before its content, down to `levels`."""
        for entry in self.inside(directory):
            yield entry
            if not entry.is_file and levels != 1:
                yield from self.below(entry.path, None if levels is None else levels - 1)

    def write(self, path: str, content: str) -> None:
        """Create or overwrite a file."""
        self._put(FILE, path, {"content": content})

    def make(self, path: str) -> None:
        """Create a directory and its parents. Raises `Refused` if one of them is a file."""
        for segment in (*directories_above(path), path):
            entry = self.find(segment)
            if entry is not None and entry.is_file:
                raise Refused("invalid", f"Not a directory: {segment}", path=segment)
            if entry is None:
                self._put(DIRECTORY, segment, {})

    def remove(self, entry: Entry) -> None:
        """Remove a file, or a directory with its content."""
        for inner in [*self.below(entry.path), entry] if not entry.is_file else [entry]:
            self._request.drop(inner.path, FILE if inner.is_file else DIRECTORY)

    def copy(self, entry: Entry, path: str) -> None:
        """Copy a file or directory. Raises `Refused` for a directory that would contain itself."""
        if is_within(path, [entry.path]):
            raise Refused("invalid", f"Cannot put {entry.path} into itself: {path}", path=path)
        if entry.is_file:
            self.write(path, entry.text)
            return
        children = self.inside(entry.path)
        self.make(path)
        for child in children:
            self.copy(child, join_path(path, child.name))

    def set(self, name: str, value: str) -> None:
        """Change a setting, such as the working directory."""
        self._request.put(self._request.entity_named(SHELL), {**self.shell, name: value}, SHELL)

    def _put(self, kind: str, path: str, fields: Record) -> None:
        if self._mount_point != ROOT and self.shell.get("above", ROOT) is None:
            self.set("above", self._mount_point)
        before = self._request.record(path, kind) or {
            "path": path, "folder": parent(path), "created_at": self._request.time("created_at", kind)
        }  # fmt: skip
        self._request.put(path, {**before, **fields, "modified_at": self._request.time("modified_at", kind)}, kind)


def _file(path: str, record: Record) -> Entry:
    return Entry(path, record, str(record.get("content") or ""))


def _absolute_paths(history: Sequence[PastCall]) -> Iterator[str]:
    """Yield the absolute paths in the arguments of calls, and in lists and lists of objects among them."""
    for value in (value for past in history for value in past.arguments.values()):
        within = (item for element in as_list(value) for item in as_object(element).values())
        yield from (item for item in (value, *as_list(value), *within) if isinstance(item, str) and is_absolute(item))


def _without_prefix(path: str, prefix: str) -> str:
    """Return the path within the tree; unchanged if it is elsewhere."""
    return (path[len(prefix) :] or ROOT) if prefix != ROOT and is_within(path, [prefix]) else path
