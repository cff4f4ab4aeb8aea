"""What is in a tree of files, over a view of the state, and what is written to change it?

Files and directories are records of two entities, keyed by path; `folder` is the directory that each is in, which the
state can look up. All directories but the root are records of their own. The working directory, the directories that
may be seen, and what is above the tree where no state says so, stand in a singleton.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from mcp_sim.backends.files.entities import DIRECTORY, FILE, SHELL
from mcp_sim.backends.files.paths import (
    ROOT,
    above_of,
    above_told,
    below,
    directories_above,
    is_absolute,
    is_within,
    joined,
    names_of,
    parent,
    resolved,
)
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Change, PastCall, Record, Turn, View
from mcp_sim.types.clock import iso


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or a directory. `content` is None where it is a directory."""

    path: str
    record: Record
    content: str | None

    @property
    def name(self) -> str:
        return names_of(self.path)[-1] if self.path != ROOT else ROOT

    @property
    def is_file(self) -> bool:
        return self.content is not None

    @property
    def size(self) -> int:
        """In bytes; nothing for a directory."""
        return len((self.content or "").encode("utf-8", "surrogatepass"))


@dataclass(slots=True)
class Tree:
    """The tree as one call sees it, and the changes that the call makes, each seen by what follows."""

    view: View
    now: datetime
    prefix: str = ""
    history: Sequence[PastCall] = ()
    above: str = ROOT
    changes: list[Change] = field(default_factory=list[Change])

    @classmethod
    def of(cls, turn: Turn, entity: str) -> Tree:
        """`entity` is that of files; where servers are kept apart it is `server.file`."""
        return cls(turn.view, turn.now, entity.removesuffix(FILE), turn.history)

    # looking

    @property
    def shell(self) -> Record:
        name = self.prefix + SHELL
        return self.view.get(name, name) or {}

    @property
    def working(self) -> str:
        """The working directory; the root where there is none."""
        return self.shell.get("working_directory") or ROOT

    @property
    def allowed(self) -> Sequence[str]:
        """The directories that may be seen."""
        return self.shell.get("allowed") or [ROOT]

    def at(self, path: str) -> str:
        """The absolute path that a caller means. Raises Refused where it is outside of what may be seen."""
        found = self._placed(path, resolved(path, self.working))
        if not is_within(found, self.allowed):
            inside = ", ".join(self.allowed)
            raise Refused("forbidden", f"Access denied: {path} is outside the allowed directories: {inside}", path=path)
        return found

    def _placed(self, asked: str, path: str) -> str:
        """The path within the tree, where nobody has said what is above it."""
        if "above" not in self.shell or not is_absolute(asked) or self._stands(path):
            return path
        known = self.shell["above"]
        self.above = known or above_of(path, self._stands, self.history)
        inside = below(path, self.above)
        return inside if inside != path or known is None else below(path, above_told(path, self._stands) or ROOT)

    def _stands(self, path: str) -> bool:
        return self.find(path) is not None

    def told(self, path: str) -> str:
        """A path of the tree as callers would write it."""
        above = self.shell.get("above") or self.above
        return path if above == ROOT else above + path.removesuffix("/")

    def find(self, path: str) -> Entry | None:
        """What stands at an absolute path."""
        record = self.view.get(self.prefix + FILE, path)
        if record is not None:
            return Entry(path, record, str(record.get("content") or ""))
        record = {"path": ROOT} if path == ROOT else self.view.get(self.prefix + DIRECTORY, path)
        return None if record is None else Entry(path, record, None)

    def entry(self, asked: str) -> Entry:
        """What stands at the path that a caller gave."""
        found = self.find(self.at(asked))
        if found is None:
            raise Refused("not_found", f"No such file or directory: {asked}", path=asked, key=asked, entity=FILE)
        return found

    def file(self, asked: str) -> Entry:
        """The file at the path that a caller gave."""
        found = self.entry(asked)
        if not found.is_file:
            raise Refused("invalid", f"Is a directory, not a file: {asked}", path=asked)
        return found

    def directory(self, asked: str) -> Entry:
        """The directory at the path that a caller gave."""
        found = self.entry(asked)
        if found.is_file:
            raise Refused("invalid", f"Not a directory: {asked}", path=asked)
        return found

    def inside(self, directory: str) -> list[Entry]:
        """What a directory holds, by name."""
        directories = self.view.find(self.prefix + DIRECTORY, "folder", directory)
        files = self.view.find(self.prefix + FILE, "folder", directory)
        entries = [Entry(str(path), record, None) for path, record in directories]
        entries += [Entry(str(path), record, str(record.get("content") or "")) for path, record in files]
        return sorted(entries, key=lambda entry: entry.path)

    def below(self, directory: str, levels: int | None = None) -> Iterator[Entry]:
        """Everything below a directory, each directory ahead of what it holds; at most so many levels."""
        further = None if levels is None else levels - 1
        for entry in self.inside(directory):
            yield entry
            if not entry.is_file and further != 0:
                yield from self.below(entry.path, further)

    # writing

    def write(self, path: str, content: str) -> None:
        """A file with this content, whether it was there or not."""
        self._put(FILE, path, {"content": content})

    def make(self, path: str) -> None:
        """A directory, and those that lead to it."""
        for one in (*directories_above(path), path):
            found = self.find(one)
            if found is not None and found.is_file:
                raise Refused("invalid", f"Not a directory: {one}", path=one)
            if found is None:
                self._put(DIRECTORY, one, {})

    def remove(self, entry: Entry) -> None:
        """A file, or a directory with all it holds."""
        gone = [*self.below(entry.path), entry] if not entry.is_file else [entry]
        for one in gone:
            self._change(Change("remove", self._entity(one), one.path, expected=self._version(one)))

    def copy(self, entry: Entry, path: str) -> None:
        """The same under another path. Raises Refused for a directory that would hold itself."""
        if is_within(path, [entry.path]):
            raise Refused("invalid", f"Cannot put {entry.path} into itself: {path}", path=path)
        if entry.is_file:
            self.write(path, entry.content or "")
            return
        held = list(self.inside(entry.path))
        self.make(path)
        for one in held:
            self.copy(one, joined(path, one.name))

    def go(self, path: str) -> None:
        """Another working directory."""
        self._note("working_directory", path)

    def _note(self, what: str, said: str) -> None:
        name = self.prefix + SHELL
        self._change(Change("put", name, name, {**self.shell, what: said}, expected=self.view.version(name, name)))

    def _put(self, kind: str, path: str, said: Record) -> None:
        entity = self.prefix + kind
        before, now = self.view.get(entity, path), iso(self.now.replace(microsecond=0))
        fresh: Record = {"path": path, "folder": parent(path), "created_at": now}
        record = {**(before or fresh), **said, "modified_at": now}
        if self.above != ROOT and self.shell.get("above", ROOT) is None:
            self._note("above", self.above)
        self._change(Change("put", entity, path, record, expected=self.view.version(entity, path)))

    def _change(self, change: Change) -> None:
        self.changes.append(change)
        self.view = self.view.after((change,))

    def _entity(self, entry: Entry) -> str:
        return self.prefix + (FILE if entry.is_file else DIRECTORY)

    def _version(self, entry: Entry) -> int:
        return self.view.version(self._entity(entry), entry.path)
