"""What is in a repository, over a view of the state, and what is written to change it?

The working tree is the tree of files of the world. A commit keeps what it changed in its first parent (path -> content,
or null where a file went), what is staged is kept as the difference from the last commit; both by absolute path.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from mcp_sim.backends.files.entities import FILE
from mcp_sim.backends.files.paths import ROOT, is_within, normal, parent, resolved
from mcp_sim.backends.files.tree import Tree
from mcp_sim.backends.git.entities import BRANCH, COMMIT, REPOSITORY, STAGED, TAG
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Change, Json, Record, Turn, View
from mcp_sim.types.clock import iso
from mcp_sim.types.draws import Draws

Snapshot: TypeAlias = Mapping[str, str]
"""Files by absolute path."""

Difference: TypeAlias = Mapping[str, "tuple[str | None, str | None]"]
"""Path -> the content before and after; None where there is no file."""


def identifier(draws: Draws, purpose: str) -> str:
    """40 hexadecimal digits."""
    return "".join(f"{int(draws.unit(f'{purpose}/{part}') * 2**32):08x}" for part in range(5))


def difference(before: Snapshot, after: Snapshot) -> Difference:
    """What is not the same in two snapshots, by path in alphabetical order."""
    paths = sorted(before.keys() | after.keys())
    return {one: (before.get(one), after.get(one)) for one in paths if before.get(one) != after.get(one)}


def applied(before: Snapshot, changes: Mapping[str, Json]) -> dict[str, str]:
    """A snapshot with other contents; None removes a file."""
    return {path: content for path, content in {**before, **changes}.items() if content is not None}


_MOST_MOVES = 200
"""So many moves of the head are remembered."""


@dataclass(slots=True)
class Repository:
    """The repository as one call sees it, and the changes that the call makes, each seen by what follows.

    `root` is where its working tree is, `place` what the caller calls it.
    """

    turn: Turn
    view: View
    prefix: str
    place: str = ""
    root: str = ROOT
    changes: list[Change] = field(default_factory=list[Change])

    @classmethod
    def of(cls, turn: Turn, entity: str, place: str, *, is_new: bool = False) -> Repository:
        """`entity` is that of commits. Raises Refused where there is none at the place, unless one is to be made."""
        found = cls(turn, turn.view, entity.removesuffix(COMMIT), place)
        known = str(found.record.get("root") or ROOT)
        asked = normal(place) if place and place not in {".", "./"} else known
        if not is_new and not is_within(known, [asked]) and not is_within(asked, [known]):
            raise Refused("not_found", f"Not a git repository: {place}", path=place, key=place)
        found.root = asked if is_within(known, [asked]) and asked != ROOT else known
        return found

    # looking

    @property
    def record(self) -> Record:
        name = self.prefix + REPOSITORY
        return self.view.get(name, name) or {}

    @property
    def moves(self) -> list[Record]:
        """Where calls made the head lead to, the oldest first."""
        return self.record.get("moves") or []

    @property
    def branch(self) -> str | None:
        """The branch that is checked out; None where a commit is."""
        return self.record.get("branch")

    @property
    def head(self) -> str | None:
        """The commit that is checked out; None where there is none yet."""
        return self.tip(self.branch) if self.branch is not None else self.record.get("commit")

    def get(self, entity: str, key: str) -> Record | None:
        return self.view.get(self.prefix + entity, key)

    def rows(self, entity: str) -> list[Record]:
        return [row for _, row in self.view.rows(self.prefix + entity)]

    def tip(self, branch: str) -> str | None:
        """The commit that a branch leads to."""
        return (self.get(BRANCH, branch) or {}).get("commit")

    def commit(self, commit: str) -> Record:
        """A commit that is there; one of which no time is told was made when the world began."""
        found = self.get(COMMIT, commit) or {}
        return {**found, "date": found.get("date") or iso(self.turn.start)}

    def line(self, commit: str | None) -> Iterator[Record]:
        """A commit, its first parent, and so on, as far as they are known."""
        while commit is not None and self.get(COMMIT, commit) is not None:
            found = self.commit(commit)
            yield found
            commit = next(iter(found.get("parents") or []), None)

    def history(self, commit: str | None) -> list[Record]:
        """A commit and all that it follows from, the newest first."""
        waiting, found = [commit] if commit is not None else [], dict[str, Record]()
        while waiting:
            one = waiting.pop()
            if one not in found and self.get(COMMIT, one) is not None:
                found[one] = self.commit(one)
                waiting += found[one].get("parents") or []
        order = {key: at for at, (key, _) in enumerate(self.view.rows(self.prefix + COMMIT))}
        return sorted(found.values(), key=lambda one: -order.get(one["hash"], -1))

    def snapshot(self, commit: str | None) -> dict[str, str]:
        """The files of a commit."""
        files: dict[str, str] = {}
        for one in reversed(list(self.line(commit))):
            files = applied(files, one.get("files") or {})
        return files

    def committed(self, path: str) -> str | None:
        """The content of a file in the last commit."""
        return next((one["files"][path] for one in self.line(self.head) if path in (one.get("files") or {})), None)

    def staged(self) -> dict[str, Json]:
        return {row["path"]: row.get("content") for row in self.rows(STAGED)}

    def indexed(self, path: str) -> str | None:
        """The content of a file as the next commit would have it."""
        row = self.get(STAGED, path)
        return self.committed(path) if row is None else row.get("content")

    def index(self) -> dict[str, str]:
        """The files as the next commit would have them."""
        return applied(self.snapshot(self.head), self.staged())

    def working(self) -> dict[str, str]:
        """The files of the working tree."""
        rows = ((str(path), str(row.get("content") or "")) for path, row in self.view.rows(self.prefix + FILE))
        return {path: content for path, content in rows if is_within(path, [self.root])}

    def content(self, path: str) -> str | None:
        """The content of a file in the working tree."""
        row = self.view.get(self.prefix + FILE, path)
        return None if row is None else str(row.get("content") or "")

    def shown(self, path: str) -> str:
        """A path as it is told: below the root."""
        return path.removeprefix(self.root.rstrip("/")).removeprefix("/")

    def at(self, path: str) -> str:
        """The absolute path that a caller means: below the root, or below what the caller calls the repository."""
        below = path.removeprefix(self.place) if self.place and path.startswith(f"{self.place}/") else path
        places = [normal(path)] if is_within(normal(path), [self.root]) and path.startswith("/") else []
        places += [resolved(below.lstrip("/"), one) for one in (self.root, normal(self.place))]
        known = (one for one in places if self.content(one) is not None or self.indexed(one) is not None)
        return next(known, places[0])

    def resolve(self, revision: str) -> str:
        """The commit that a revision names: a branch, a tag, HEAD, the beginning of an id; each with `~2` or `^`."""
        name = revision.rstrip("^")
        steps = len(revision) - len(name)
        name, mark, count = name.partition("~")
        steps += int(count or 1) if mark and (count or "1").isdigit() else 0
        line = list(self.line(self._named(name)))
        if (mark and not (count or "1").isdigit()) or len(line) <= steps:
            raise unknown(revision)
        return line[steps]["hash"]

    def _named(self, name: str) -> str | None:
        if name in {"HEAD", "@"}:
            return self.head
        for entity in (BRANCH, TAG):
            row = self.get(entity, name)
            if row is not None:
                return row["commit"]
        if self.get(COMMIT, name) is not None:
            return name
        found = self.view.find(self.prefix + COMMIT, "short_hash", name[:7]) if len(name) >= 7 else ()
        rows = [row for _, row in found] if len(name) >= 7 else self.rows(COMMIT) if len(name) >= 4 else []
        alike = [row["hash"] for row in rows if row["hash"].startswith(name.lower())]
        return alike[0] if len(alike) == 1 else None

    # writing

    def put(self, entity: str, key: str, record: Record | None) -> None:
        """Write a record, or remove it."""
        name = self.prefix + entity
        key = name if entity == REPOSITORY else key
        op = "remove" if record is None else "put"
        change = Change(op, name, key, record, expected=self.view.version(name, key))
        self.changes.append(change)
        self.view = self.view.after((change,))

    def stage(self, path: str, content: str | None) -> None:
        """Have the next commit hold this content."""
        if content != self.committed(path):
            self.put(STAGED, path, {"path": path, "content": content})
        elif self.get(STAGED, path) is not None:
            self.put(STAGED, path, None)

    def unstage(self) -> None:
        for path in self.staged():
            self.put(STAGED, path, None)

    def write(self, path: str, content: str | None) -> None:
        """Another content of a file in the working tree; None removes it."""
        tree = Tree(self.view, self.turn.now, self.prefix)
        entry = tree.find(path)
        if content is not None:
            tree.make(parent(path))
            tree.write(path, content)
        elif entry is not None:
            tree.remove(entry)
        self.changes += tree.changes
        self.view = tree.view

    def lead(self, commit: str) -> None:
        """Have the branch that is checked out, or else the head itself, lead to a commit."""
        if self.branch is not None:
            self.put(BRANCH, self.branch, {"name": self.branch, "commit": commit})
        else:
            self.say(commit=commit)

    def moved(self, action: str, message: str, *, is_made: bool = False) -> None:
        """Remember that the head leads elsewhere and by what; `is_made`: to a commit that there was not before."""
        date = iso(self.turn.now.replace(microsecond=0))
        move: Record = {"hash": self.head, "action": action, "message": f"{action}: {message}"}
        move |= {"date": date, "is_made": is_made}
        self.say(moves=[*self.moves, move][-_MOST_MOVES:])

    def say(self, **said: Json) -> None:
        """Other fields of the only record of the repository."""
        self.put(REPOSITORY, "", {**self.record, **said})

    def add(
        self, message: str, parents: list[str], files: Mapping[str, Json], author: Record, action: str = "commit"
    ) -> Record:
        """A new commit, which the head leads to from now on."""
        count = self.view.count(self.prefix + COMMIT)
        made = identifier(self.turn.draws, f"commit/{count}/{'/'.join(parents)}")
        date = iso(self.turn.now.replace(microsecond=0))
        row: Record = {"hash": made, "short_hash": made[:7], "message": message, **author, "date": date}
        row |= {"parents": parents, "files": dict(files)}
        self.put(COMMIT, made, row)
        self.lead(made)
        self.moved(action if parents else "commit (initial)", message, is_made=True)
        return row


def unknown(revision: str) -> Refused:
    """The failure that a revision names nothing."""
    return Refused("not_found", f"Unknown revision or branch: {revision}", key=revision, entity=COMMIT)
