"""A tree of files over a view of the state.

Files and directories are records of two entities, keyed by path; `folder` is the directory of each, and indexed. All
directories but the root have records. A singleton stores the working directory, the allowed directories, and the mount
point if no state gives it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from mcp_sim.backends.files.entities import DIRECTORY, FILE, SHELL
from mcp_sim.backends.files.paths import (
    ROOT,
    directories_above,
    find_mount_point,
    infer_mount_point,
    is_absolute,
    is_within,
    join_path,
    parent,
    resolve_path,
    split_path,
    strip_mount_point,
)
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Change, PastCall, Record, Turn, View
from mcp_sim.types.clock import iso


@dataclass(frozen=True, slots=True)
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
    def size(self) -> int:
        """The size in bytes; 0 for a directory."""
        return len((self.content or "").encode("utf-8", "surrogatepass"))


@dataclass(slots=True)
class Tree:
    """The tree as one call sees it. Its changes are visible to later operations of the call."""

    view: View
    now: datetime
    prefix: str = ""
    history: Sequence[PastCall] = ()
    mount_point: str = ROOT
    changes: list[Change] = field(default_factory=list[Change])

    @classmethod
    def of(cls, turn: Turn, entity: str) -> Tree:
        """Return the tree of a turn. `entity` is that of files; `server.file` if servers have separate state."""
        return cls(turn.view, turn.now, entity.removesuffix(FILE), turn.history)

    # read

    @property
    def shell(self) -> Record:
        name = self.prefix + SHELL
        return self.view.get(name, name) or {}

    @property
    def working(self) -> str:
        """The working directory, by default the root."""
        return self.shell.get("working_directory") or ROOT

    @property
    def allowed(self) -> Sequence[str]:
        """The directories that clients may access."""
        return self.shell.get("allowed") or [ROOT]

    def at(self, path: str) -> str:
        """Return the absolute path for a path of a client. Raises `Refused` outside the allowed directories."""
        found = self._placed(path, resolve_path(path, self.working))
        if not is_within(found, self.allowed):
            inside = ", ".join(self.allowed)
            raise Refused("forbidden", f"Access denied: {path} is outside the allowed directories: {inside}", path=path)
        return found

    def _placed(self, given: str, path: str) -> str:
        """Return the path within the tree, without the mount point if no state gives it."""
        if "above" not in self.shell or not is_absolute(given) or self._exists(path):
            return path
        known = self.shell["above"]
        self.mount_point = known or infer_mount_point(path, self._exists, self.history)
        inside = strip_mount_point(path, self.mount_point)
        return (
            inside
            if inside != path or known is None
            else strip_mount_point(path, find_mount_point(path, self._exists) or ROOT)
        )

    def _exists(self, path: str) -> bool:
        return self.find(path) is not None

    def display_path(self, path: str) -> str:
        """Return a path of the tree as clients write it."""
        prefix = self.shell.get("above") or self.mount_point
        return path if prefix == ROOT else prefix + path.removesuffix("/")

    def find(self, path: str) -> Entry | None:
        """Return the file or directory at an absolute path, if any."""
        record = self.view.get(self.prefix + FILE, path)
        if record is not None:
            return Entry(path, record, str(record.get("content") or ""))
        record = {"path": ROOT} if path == ROOT else self.view.get(self.prefix + DIRECTORY, path)
        return None if record is None else Entry(path, record, None)

    def entry(self, given: str) -> Entry:
        """Return the file or directory at a path of a client. Raises `Refused` if there is none."""
        found = self.find(self.at(given))
        if found is None:
            raise Refused("not_found", f"No such file or directory: {given}", path=given, key=given, entity=FILE)
        return found

    def file(self, given: str) -> Entry:
        """Return the file at a path of a client. Raises `Refused` if there is none."""
        found = self.entry(given)
        if not found.is_file:
            raise Refused("invalid", f"Is a directory, not a file: {given}", path=given)
        return found

    def directory(self, given: str) -> Entry:
        """Return the directory at a path of a client. Raises `Refused` if there is none."""
        found = self.entry(given)
        if found.is_file:
            raise Refused("invalid", f"Not a directory: {given}", path=given)
        return found

    def inside(self, directory: str) -> list[Entry]:
        """Return the content of a directory, sorted by name."""
        directories = self.view.find(self.prefix + DIRECTORY, "folder", directory)
        files = self.view.find(self.prefix + FILE, "folder", directory)
        entries = [Entry(str(path), record, None) for path, record in directories]
        entries += [Entry(str(path), record, str(record.get("content") or "")) for path, record in files]
        return sorted(entries, key=lambda entry: entry.path)

    def below(self, directory: str, levels: int | None = None) -> Iterator[Entry]:
        """Yield everything below a directory, each directory before its content, down to `levels`."""
        deeper = None if levels is None else levels - 1
        for entry in self.inside(directory):
            yield entry
            if not entry.is_file and deeper != 0:
                yield from self.below(entry.path, deeper)

    # write

    def write(self, path: str, content: str) -> None:
        """Create or overwrite a file."""
        self._put(FILE, path, {"content": content})

    def make(self, path: str) -> None:
        """Create a directory and its parents. Raises `Refused` if one of them is a file."""
        for one in (*directories_above(path), path):
            found = self.find(one)
            if found is not None and found.is_file:
                raise Refused("invalid", f"Not a directory: {one}", path=one)
            if found is None:
                self._put(DIRECTORY, one, {})

    def remove(self, entry: Entry) -> None:
        """Remove a file, or a directory with its content."""
        gone = [*self.below(entry.path), entry] if not entry.is_file else [entry]
        for one in gone:
            self._change(Change("remove", self._entity(one), one.path, expected=self._version(one)))

    def copy(self, entry: Entry, path: str) -> None:
        """Copy a file or directory. Raises `Refused` for a directory that would contain itself."""
        if is_within(path, [entry.path]):
            raise Refused("invalid", f"Cannot put {entry.path} into itself: {path}", path=path)
        if entry.is_file:
            self.write(path, entry.content or "")
            return
        children = list(self.inside(entry.path))
        self.make(path)
        for one in children:
            self.copy(one, join_path(path, one.name))

    def go(self, path: str) -> None:
        """Change the working directory."""
        self._set_shell("working_directory", path)

    def _set_shell(self, name: str, value: str) -> None:
        entity = self.prefix + SHELL
        self._change(
            Change("put", entity, entity, {**self.shell, name: value}, expected=self.view.version(entity, entity))
        )

    def _put(self, kind: str, path: str, fields: Record) -> None:
        entity = self.prefix + kind
        before, now = self.view.get(entity, path), iso(self.now.replace(microsecond=0))
        fresh: Record = {"path": path, "folder": parent(path), "created_at": now}
        record = {**(before or fresh), **fields, "modified_at": now}
        if self.mount_point != ROOT and self.shell.get("above", ROOT) is None:
            self._set_shell("above", self.mount_point)
        self._change(Change("put", entity, path, record, expected=self.view.version(entity, path)))

    def _change(self, change: Change) -> None:
        self.changes.append(change)
        self.view = self.view.after((change,))

    def _entity(self, entry: Entry) -> str:
        return self.prefix + (FILE if entry.is_file else DIRECTORY)

    def _version(self, entry: Entry) -> int:
        return self.view.version(self._entity(entry), entry.path)
