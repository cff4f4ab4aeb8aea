"""A repository over a view of the state.

Its working tree is the world's tree of files. A commit stores its changes relative to its first parent (path ->
content, null for a deleted file). The index is stored as the difference from the last commit. Both use absolute paths.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from mcp_sim.backends.files.entities import FILE
from mcp_sim.backends.files.paths import ROOT, is_within, normalize, parent, resolve_path
from mcp_sim.backends.git.entities import BRANCH, COMMIT, REPOSITORY, STAGED, TAG
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.request import Request
from mcp_sim.types import Json, Record
from mcp_sim.types.clock import iso
from mcp_sim.types.draws import Draws

Snapshot: TypeAlias = Mapping[str, str]
"""Files by absolute path."""

Difference: TypeAlias = Mapping[str, "tuple[str | None, str | None]"]
"""Path -> the content before and after; None if there is no file."""


def identifier(draws: Draws, profile: str) -> str:
    """Return 40 hexadecimal digits."""
    return "".join(f"{int(draws.unit(f'{profile}/{part}') * 2**32):08x}" for part in range(5))


def difference(before: Snapshot, after: Snapshot) -> Difference:
    """Return the changed paths of two snapshots, sorted."""
    paths = sorted(before.keys() | after.keys())
    return {one: (before.get(one), after.get(one)) for one in paths if before.get(one) != after.get(one)}


def apply_changes(before: Snapshot, changes: Mapping[str, Json]) -> dict[str, str]:
    """Return a snapshot with changed contents; None removes a file."""
    return {path: content for path, content in {**before, **changes}.items() if content is not None}


_MIN_DIGITS = 4
"""The fewest digits of an abbreviated id."""
_MAX_MOVES = 200
"""Maximum number of stored head moves."""


class Repository:
    """The repository as one call sees it, with the changes of the call.

    `root` is the directory of its working tree, `place` the path that the client uses for it.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self.place = request.text("repository")
        known = str(self.record.get("root") or ROOT)
        wanted = normalize(self.place) if self.place not in {"", ".", "./"} else known
        is_above = is_within(known, [wanted])
        self.root = wanted if is_above and wanted != ROOT else known
        self.is_here = is_above or is_within(wanted, [known])
        """Whether the place is in the repository, or contains it."""

    # read

    @property
    def record(self) -> Record:
        """What is stored once: what is checked out, the root, the owner, remotes, stashes and worktrees."""
        return self._request.record(self._request.entity_named(REPOSITORY), REPOSITORY) or {}

    @property
    def time(self) -> Json:
        """The time of the call, in the format of the commits."""
        return self._request.time("date", COMMIT)

    @property
    def moves(self) -> list[Record]:
        """Moves of the head by calls, oldest first."""
        return self.record.get("moves") or []

    @property
    def branch(self) -> str | None:
        """The branch that is checked out; None if a commit is."""
        return self.record.get("branch")

    @property
    def head(self) -> str | None:
        """The commit that is checked out; None if there is none yet."""
        return self.tip(self.branch) if self.branch is not None else self.record.get("commit")

    def get(self, entity: str, key: str) -> Record | None:
        """Return a record of the repository, None if there is none."""
        return self._request.record(key, entity)

    def rows(self, entity: str) -> list[Record]:
        """Return the records of an entity of the repository, in the order of creation."""
        return [*self._request.rows(entity)]

    def tip(self, branch: str) -> str | None:
        """Return the commit of a branch."""
        return (self.get(BRANCH, branch) or {}).get("commit")

    def commit(self, commit: str) -> Record:
        """Return a commit. One without a date has the time at which the world began, if that is known."""
        found, turn = self.get(COMMIT, commit) or {}, self._request.turn
        return {**found, "date": found.get("date") or iso(self._request.now if turn is None else turn.start)}

    def first_parents(self, commit: str | None) -> Iterator[Record]:
        """Yield a commit, its first parent, and so on."""
        while commit is not None and self.get(COMMIT, commit) is not None:
            found = self.commit(commit)
            yield found
            commit = next(iter(found.get("parents") or []), None)

    def history(self, commit: str | None) -> list[Record]:
        """Return a commit and all its ancestors, newest first."""
        waiting, found = [commit] if commit is not None else [], dict[str, Record]()
        while waiting:
            one = waiting.pop()
            if one not in found and self.get(COMMIT, one) is not None:
                found[one] = self.commit(one)
                waiting += found[one].get("parents") or []
        order = {row["hash"]: at for at, row in enumerate(self.rows(COMMIT))}
        return sorted(found.values(), key=lambda one: -order.get(one["hash"], -1))

    def is_ancestor(self, commit: str, other: str | None) -> bool:
        """Return whether a commit is another one or one of its ancestors."""
        return any(row["hash"] == commit for row in self.history(other))

    def snapshot(self, commit: str | None) -> dict[str, str]:
        """Return the files of a commit."""
        files: dict[str, str] = {}
        for one in reversed(list(self.first_parents(commit))):
            files = apply_changes(files, one.get("files") or {})
        return files

    def committed(self, path: str) -> str | None:
        """Return the content of a file in the last commit."""
        return next(
            (one["files"][path] for one in self.first_parents(self.head) if path in (one.get("files") or {})), None
        )

    def staged(self) -> dict[str, Json]:
        return {row["path"]: row.get("content") for row in self.rows(STAGED)}

    def staged_content(self, path: str) -> str | None:
        """Return the content of a file in the index."""
        row = self.get(STAGED, path)
        return self.committed(path) if row is None else row.get("content")

    def index(self) -> dict[str, str]:
        """Return the files in the index."""
        return apply_changes(self.snapshot(self.head), self.staged())

    def working(self) -> dict[str, str]:
        """Return the files of the working tree."""
        rows = ((str(row["path"]), str(row.get("content") or "")) for row in self.rows(FILE))
        return {path: content for path, content in rows if is_within(path, [self.root])}

    def content(self, path: str) -> str | None:
        """Return the content of a file in the working tree."""
        row = self.get(FILE, path)
        return None if row is None else str(row.get("content") or "")

    def shown(self, path: str) -> str:
        """Return a path relative to the root."""
        return path.removeprefix(self.root.rstrip("/")).removeprefix("/")

    def at(self, path: str) -> str:
        """Return the absolute path of a client's path: relative to the root, or to the client's name for it."""
        below = path.removeprefix(self.place) if self.place and path.startswith(f"{self.place}/") else path
        places = [normalize(path)] if is_within(normalize(path), [self.root]) and path.startswith("/") else []
        places += [resolve_path(below.lstrip("/"), one) for one in (self.root, normalize(self.place))]
        known = (one for one in places if self.content(one) is not None or self.staged_content(one) is not None)
        return next(known, places[0])

    def resolve(self, revision: str) -> str:
        """Return the commit of a revision: a branch, a tag, HEAD or an abbreviated id, each with `~2` or `^`.

        Raises `Refused` if there is no such commit.
        """
        name = revision.rstrip("^")
        steps = len(revision) - len(name)
        name, mark, count = name.partition("~")
        steps += int(count or 1) if mark and (count or "1").isdigit() else 0
        line = list(self.first_parents(self._named(name)))
        if (mark and not (count or "1").isdigit()) or len(line) <= steps:
            raise unknown_revision(revision)
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
        rows = self.rows(COMMIT) if len(name) >= _MIN_DIGITS else []
        matches = [row["hash"] for row in rows if row["hash"].startswith(name.lower())]
        return matches[0] if len(matches) == 1 else None

    # write

    def put(self, entity: str, key: str, record: Record | None) -> None:
        """Write a record; None removes it."""
        key = self._request.entity_named(REPOSITORY) if entity == REPOSITORY else key
        if record is None:
            self._request.drop(key, entity)
        else:
            self._request.put(key, record, entity)

    def stage(self, path: str, content: str | None) -> None:
        """Stage a content of a file."""
        if content != self.committed(path):
            self.put(STAGED, path, {"path": path, "content": content})
        elif self.get(STAGED, path) is not None:
            self.put(STAGED, path, None)

    def unstage(self) -> None:
        """Empty the index."""
        for path in self.staged():
            self.put(STAGED, path, None)

    def write(self, path: str, content: str | None) -> None:
        """Write a file in the working tree; None removes it."""
        from mcp_sim.backends.files.tree import Tree  # noqa: PLC0415 (serving must not wait for it)

        tree = Tree(self._request)
        entry = tree.find(path)
        if content is not None:
            tree.make(parent(path))
            tree.write(path, content)
        elif entry is not None:
            tree.remove(entry)

    def point_branch(self, commit: str) -> None:
        """Point the current branch, or a detached head, to a commit."""
        if self.branch is not None:
            self.put(BRANCH, self.branch, {"name": self.branch, "commit": commit})
        else:
            self.update_record(commit=commit)

    def record_move(self, action: str, message: str, *, is_made: bool = False) -> None:
        """Record a move of the head; `is_made` if the commit is new."""
        move: Record = {"hash": self.head, "action": action, "message": f"{action}: {message}"}
        move |= {"date": self.time, "is_made": is_made}
        self.update_record(moves=[*self.moves, move][-_MAX_MOVES:])

    def update_record(self, **fields: Json) -> None:
        """Update fields of the singleton record."""
        self.put(REPOSITORY, "", {**self.record, **fields})

    def add(
        self, message: str, parents: list[str], files: Mapping[str, Json], author: Record, action: str = "commit"
    ) -> Record:
        """Add a commit and point the head to it."""
        count = self._request.view.count(self._request.entity_named(COMMIT))
        made = identifier(self._request.draws, f"commit/{count}/{'/'.join(parents)}")
        row: Record = {"hash": made, "short_hash": made[:7], "message": message, **author, "date": self.time}
        row |= {"parents": parents, "files": dict(files)}
        self.put(COMMIT, made, row)
        self.point_branch(made)
        self.record_move(action if parents else "commit (initial)", message, is_made=True)
        return row


def unknown_revision(revision: str) -> Refused:
    """Return the failure for a revision that does not exist."""
    return Refused("not_found", f"Unknown revision or branch: {revision}", key=revision, entity=COMMIT)
