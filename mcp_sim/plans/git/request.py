"""One call of an operation on a repository, and the repository as it sees it.

The working tree is the world's tree of files. A commit stores its changes relative to its first parent (path ->
content, null for a deleted file). The index is stored as the difference from the last commit. Both use absolute paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from mcp_sim.plans.files.paths import FILE, ROOT, is_within, normalize, parent, resolve_path
from mcp_sim.plans.files.tree import Tree
from mcp_sim.plans.git.changes import Difference, apply_changes, difference
from mcp_sim.plans.git.entities import BRANCH, COMMIT, REPOSITORY, STAGED, TAG, identifier, parse_author
from mcp_sim.plans.outcome import Outcome
from mcp_sim.plans.patterns import matches_wildcards
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.request import Request
from mcp_sim.types import Json, Record
from mcp_sim.types.clock import iso
from mcp_sim.types.json_schema.shapes import as_object

HERE = frozenset({"", ".", "./"})
"""Paths of the working directory."""
_EVERYTHING = (".", "./", "*", "-A", "--all", ":/")
_REVISION = re.compile(r"(?P<name>[^~]*?)(~(?P<count>\d{0,9}))?(?P<parents>\^*)")
_MIN_DIGITS = 4
"""The fewest digits of an abbreviated id."""
_MAX_MOVES = 200
"""Maximum number of stored head moves."""


class GitRequest(Request):
    """One call on the repository at the path that it names. Empty arguments count as missing.

    `root` is the directory of the working tree, `place` the path that the client uses for it.
    """

    missing = (None, "")

    def __init__(self, *arguments: Any, **named: Any) -> None:
        """Find the repository. Raises `Refused` if it does not exist at the path of the call."""
        super().__init__(*arguments, **named)
        self.place, root = self.text("repository"), self.root_at(self.text("repository"))
        if root is None:
            raise Refused("not_found", f"Not a git repository: {self.place}", path=self.place, key=self.place)
        self.root = root

    def root_at(self, place: str) -> str | None:
        """Return the root of the repository for a path in it or above it, None elsewhere."""
        known = str(self.repository.get("root") or ROOT)
        wanted = known if place in HERE else normalize(place)
        if wanted != ROOT and is_within(known, [wanted]):
            return wanted
        return known if wanted == ROOT or is_within(wanted, [known]) else None

    def number(self, role: str) -> int | None:
        """Return a non-negative integer, None if it is missing. Raises `Refused` for anything else."""
        value = self.text(role)
        if value and not re.fullmatch(r"\s*\d{1,9}(\.0+)?\s*", value):
            raise Refused("invalid", f"Invalid {self.named(role)}: {value}")
        return int(float(value)) if value else None

    @cached_property
    def files(self) -> list[str]:
        """The named files, as written; empty if all files are meant."""
        return [text for text in self.texts("files") if text not in _EVERYTHING]

    def paths(self, known: Mapping[str, Json]) -> list[str]:
        """Return the known paths that are named, or all. Raises `Refused` if a name or pattern matches nothing."""
        paths: dict[str, None] = {}
        for file in self.files:
            path = self.at(file)
            inside = [other for other in known if is_within(other, [path])]
            here = inside or [other for other in known if matches_wildcards(self.shown(other), file)]
            if not here:
                raise Refused("not_found", f"pathspec '{file}' did not match any files", path=file, key=file)
            paths |= dict.fromkeys(here)
        return list(paths if self.files else known)

    def author(self) -> Record:
        """Return the author of a commit: from the call, else the owner of the repository."""
        given, known = parse_author(self.get("author")), self.repository
        name = str(given.get("name") or known.get("author") or "")
        email = str(self.text("email") or given.get("email") or known.get("email") or "")
        return {"author": name, "email": email}

    @property
    def repository(self) -> Record:
        """What is stored once: what is checked out, the root, the owner, and lists."""
        return self.record(self.entity_named(REPOSITORY), REPOSITORY) or {}

    def stored(self, name: str) -> list[Record]:
        """Return a list of the repository: `moves` of the head, `stashes`, `remotes`, `worktrees`."""
        return self.repository.get(name) or []

    @property
    def branch(self) -> str | None:
        """The branch that is checked out; None if a commit is."""
        return self.repository.get("branch")

    @property
    def head(self) -> str | None:
        """The commit that is checked out, or None yet."""
        return self.tip(self.branch) if self.branch is not None else self.repository.get("commit")

    def tip(self, branch: str) -> str | None:
        """Return the commit of a branch."""
        return (self.record(branch, BRANCH) or {}).get("commit")

    def find_branch(self, name: str) -> Record:
        """Return a branch. Raises `Refused` if it does not exist."""
        record = self.record(name, BRANCH)
        if record is None:
            raise unknown_revision(name)
        return record

    def commit(self, commit: str) -> Record:
        """Return a commit. One without a date has the time at which the world began, if that is known."""
        row = self.record(commit, COMMIT) or {}
        return {**row, "date": row.get("date") or iso(self.now if self.turn is None else self.turn.start)}

    def commit_facts(self, commit: Record) -> Record:
        """Return the facts of a commit."""
        files: list[Json] = [self.shown(path) for path in as_object(commit.get("files"))]
        return {**commit, "author_email": commit.get("email"), "files": files, "files_changed": len(files)}

    def changes_of(self, commit: Record) -> Difference:
        """Return what a commit changed since its first parent."""
        before = self.snapshot(next(iter(commit.get("parents") or []), None))
        return difference(before, self.snapshot(commit["hash"]))

    def first_parents(self, commit: str | None) -> Iterator[Record]:
        """Yield a commit, its first parent, and so on."""
        while commit is not None and self.record(commit, COMMIT) is not None:
            record = self.commit(commit)
            yield record
            commit = next(iter(record.get("parents") or []), None)

    def ancestry(self, commit: str | None) -> list[Record]:
        """Return a commit and all its ancestors, newest first."""
        waiting, history = [commit] if commit is not None else [], dict[str, Record]()
        while waiting:
            current = waiting.pop()
            if current not in history and self.record(current, COMMIT) is not None:
                history[current] = self.commit(current)
                waiting += history[current].get("parents") or []
        order = {row["hash"]: at for at, row in enumerate(self.rows(COMMIT))}
        return sorted(history.values(), key=lambda row: -order.get(row["hash"], -1))

    def is_ancestor(self, commit: str, other: str | None) -> bool:
        """Return whether a commit is another one or one of its ancestors."""
        return any(row["hash"] == commit for row in self.ancestry(other))

    def resolve(self, revision: str) -> str:
        """Return the commit of a revision such as `main~2`, `v1^` or `1f0c`. Raises `Refused` if it does not exist."""
        parts = _REVISION.fullmatch(revision)
        if parts is not None:
            steps = len(parts["parents"]) + (0 if parts["count"] is None else int(parts["count"] or 1))
            for first_parent in islice(self.first_parents(self._named(parts["name"])), steps, None):
                return first_parent["hash"]
        raise unknown_revision(revision)

    def _named(self, name: str) -> str | None:
        if name in {"HEAD", "@"}:
            return self.head
        for entity, field in ((BRANCH, "commit"), (TAG, "commit"), (COMMIT, "hash")):
            row = self.record(name, entity)
            if row is not None:
                return row[field]
        rows = self.rows(COMMIT) if len(name) >= _MIN_DIGITS else ()
        matches = [row["hash"] for row in rows if row["hash"].startswith(name.lower())]
        return matches[0] if len(matches) == 1 else None

    def snapshot(self, commit: str | None) -> dict[str, str]:
        """Return the files of a commit."""
        files: dict[str, str] = {}
        for first_parent in reversed(list(self.first_parents(commit))):
            files = apply_changes(files, first_parent.get("files") or {})
        return files

    def committed(self, path: str) -> str | None:
        """Return the content of a file in the last commit."""
        changes = (as_object(first_parent.get("files")) for first_parent in self.first_parents(self.head))
        return next((files[path] for files in changes if path in files), None)

    def staged(self) -> dict[str, Json]:
        """Return the staged contents by path; None for a removed file."""
        return {row["path"]: row.get("content") for row in self.rows(STAGED)}

    def index(self) -> dict[str, str]:
        """Return the files in the index."""
        return apply_changes(self.snapshot(self.head), self.staged())

    def working(self) -> dict[str, str]:
        """Return the files of the working tree."""
        rows = ((str(row["path"]), str(row.get("content") or "")) for row in self.rows(FILE))
        return {path: content for path, content in rows if is_within(path, [self.root])}

    def tracked(self, index: Mapping[str, str]) -> dict[str, str]:
        """Return the files of the working tree that an index has."""
        return {path: text for path, text in self.working().items() if path in index}

    def content(self, path: str) -> str | None:
        """Return the content of a file in the working tree."""
        row = self.record(path, FILE)
        return None if row is None else str(row.get("content") or "")

    def shown(self, path: str) -> str:
        """Return a path relative to the root."""
        return path.removeprefix(self.root.rstrip("/")).removeprefix("/")

    def at(self, path: str) -> str:
        """Return the absolute path of a client's path: relative to the root, or to the client's name for it."""
        below = path.removeprefix(self.place) if self.place and path.startswith(f"{self.place}/") else path
        places = [normalize(path)] if is_within(normalize(path), [self.root]) and path.startswith("/") else []
        places += [resolve_path(below.lstrip("/"), base) for base in (self.root, normalize(self.place))]
        return next((place for place in places if self._is_known(place)), places[0])

    def _is_known(self, path: str) -> bool:
        """Return whether a file is in the working tree or in the index."""
        row = self.record(path, STAGED)
        return self.content(path) is not None or (self.committed(path) if row is None else row["content"]) is not None

    def update(self, **fields: Json) -> None:
        """Change what is stored once."""
        self.put(self.entity_named(REPOSITORY), {**self.repository, **fields}, REPOSITORY)

    def stage(self, path: str, content: str | None) -> None:
        """Stage a content of a file."""
        if content != self.committed(path):
            self.put(path, {"path": path, "content": content}, STAGED)
        elif self.record(path, STAGED) is not None:
            self.drop(path, STAGED)

    def unstage(self) -> None:
        """Empty the index."""
        for path in self.staged():
            self.drop(path, STAGED)

    def write(self, files: Mapping[str, Json]) -> None:
        """Give files in the working tree these contents; None removes a file."""
        tree = Tree(self)
        for path, content in files.items():
            entry = tree.find(path)
            known = None if entry is None else entry.content
            if content is not None and content != known:
                tree.make(parent(path))
                tree.write(path, content)
            elif content is None and entry is not None and entry.is_file:
                tree.remove(entry)

    def point_branch(self, commit: str) -> None:
        """Point the current branch, or a detached head, to a commit."""
        if self.branch is not None:
            self.put(self.branch, {"name": self.branch, "commit": commit}, BRANCH)
        else:
            self.update(commit=commit)

    def record_move(self, action: str, message: str, *, is_made: bool = False) -> None:
        """Record a move of the head; `is_made` if the commit is new."""
        move: Record = {"hash": self.head, "action": action, "message": f"{action}: {message}"}
        move |= {"date": self.time("date", COMMIT), "is_made": is_made}
        self.update(moves=[*self.stored("moves"), move][-_MAX_MOVES:])

    def add_commit(
        self, message: str, parents: list[str], files: Mapping[str, Json], author: Record, action: str = "commit"
    ) -> Record:
        """Add a commit and point the head to it."""
        count = self.view.count(self.entity_named(COMMIT))
        identity = identifier(self.draws, f"commit/{count}/{'/'.join(parents)}")
        row: Record = {"hash": identity, "short_hash": identity[:7], "message": message, **author}
        row |= {"date": self.time("date", COMMIT), "parents": parents, "files": dict(files)}
        self.put(identity, row, COMMIT)
        self.point_branch(identity)
        self.record_move(action if parents else "commit (initial)", message, is_made=True)
        return row


def unknown_revision(revision: str) -> Refused:
    """Return the failure for a revision that does not exist."""
    return Refused("not_found", f"Unknown revision or branch: {revision}", key=revision, entity=COMMIT)


def listing(name: str, rows: Sequence[Json], lines: Iterable[str], **facts: Json) -> Outcome:
    """Return an outcome that lists rows, one to a line."""
    return Outcome("\n".join(lines) or f"No {name}", {name: [*rows], **facts, "count": len(rows)}, name)
