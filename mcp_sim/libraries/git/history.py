"""The commits of a repository, and what names them: branches, tags and the head.

A commit has the whole tree as path -> id of a text, and equal texts are stored once, as in git.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from mcp_sim.libraries.git.changes import MOST_COMPARED, Difference, difference
from mcp_sim.libraries.git.errors import UnknownPath, UnknownRevision
from mcp_sim.libraries.store import Store
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field

REPOSITORY, COMMIT, BRANCH, TAG, BLOB = "repository", "commit", "branch", "tag", "blob"
_REVISION = re.compile(r"(?P<name>[^~^]+)(?P<steps>(?:~\d{0,9}|\^)*)")
_MIN_DIGITS = 4
"""The fewest digits of an abbreviated id."""


def entities() -> list[Entity]:
    """Return the entities of repositories. Branches and tags are keyed by `ROOT:NAME`."""
    text: Record = {"type": "string"}
    keys = {REPOSITORY: "root", COMMIT: "hash", BRANCH: "ref", TAG: "ref", BLOB: "hash"}
    fields = {
        REPOSITORY: "root branch commit author email index remotes stashes moves conflicts merging",
        COMMIT: "hash repository number message author email date parents tree",
        BRANCH: "ref repository name commit",
        TAG: "ref repository name commit message",
        BLOB: "hash content",
    }
    texts = {"root", "hash", "ref", "repository", "name", "author", "email", "content"}
    return [
        Entity(table, keys[table], None, {name: Field(name, text if name in texts else {}) for name in names.split()},
               natural=True)
        for table, names in fields.items()
    ]  # fmt: skip


@dataclass(slots=True)
class Commit:
    """A commit."""

    hash: str
    message: str
    author: str
    email: str
    date: str
    """RFC 3339."""
    parents: list[str]
    tree: Mapping[str, str]
    """Path -> the id of its text."""
    number: int = 0
    """Its place among the commits of the world."""

    @property
    def short(self) -> str:
        """The abbreviated id."""
        return self.hash[:7]

    @property
    def title(self) -> str:
        """The first line of the message."""
        return self.message.strip().partition("\n")[0]


class History:
    """The commits of one repository."""

    def __init__(self, store: Store, root: str) -> None:
        self._store, self.root = store, root

    @property
    def _record(self) -> Record:
        return self._store.get(REPOSITORY, self.root) or {}

    @property
    def branch(self) -> str | None:
        """The branch that is checked out; None if a commit is."""
        return self._record.get("branch")

    @property
    def head(self) -> str | None:
        """The commit that is checked out; None before the first one."""
        return self.branches.get(self.branch) if self.branch is not None else self._record.get("commit")

    @property
    def owner(self) -> tuple[str, str]:
        """Name and address of who commits."""
        return str(self._record.get("author") or ""), str(self._record.get("email") or "")

    @property
    def branches(self) -> dict[str, str]:
        """The commits of the branches, by name."""
        rows = self._store.find(BRANCH, "repository", self.root)
        return dict(sorted((row["name"], row["commit"]) for row in rows))

    @property
    def tags(self) -> dict[str, tuple[str, str]]:
        """The commit and message of the tags, by name; the message of a plain one is empty."""
        rows = self._store.find(TAG, "repository", self.root)
        return dict(sorted((row["name"], (row["commit"], row.get("message") or "")) for row in rows))

    def get(self, revision: str = "HEAD") -> Commit:
        """Return the commit of a revision such as `main~2`, `v1^` or `1f0c`. Raises `UnknownRevision`."""
        return self._commit(self.resolve(revision))

    def resolve(self, revision: str) -> str:
        """Return the id of the commit of a revision. Raises `UnknownRevision`."""
        parts = _REVISION.fullmatch(revision)
        known = self._named(parts["name"]) if parts is not None else None
        for step in re.findall(r"~\d*|\^", parts["steps"]) if parts is not None else ():
            count = int(step[1:] or 1) if step[0] == "~" else 1
            while count and known is not None:
                known, count = next(iter(self._commit(known).parents), None), count - 1
        if known is None:
            raise UnknownRevision(revision)
        return known

    def _named(self, name: str) -> str | None:
        if name in {"HEAD", "@"}:
            return self.head
        listed = self.branches.get(name) or self.tags.get(name, (None,))[0]
        if listed is not None or len(name) < _MIN_DIGITS:
            return listed
        if self._store.get(COMMIT, name) is not None:
            return name
        rows = self._store.find(COMMIT, "repository", self.root)
        matches = [row["hash"] for row in rows if row["hash"].startswith(name.lower())]
        return matches[0] if len(matches) == 1 else None

    def _commit(self, identity: str) -> Commit:
        row = self._store.get(COMMIT, identity)
        if row is None:
            raise UnknownRevision(identity)
        return Commit(*(row[name] for name in ("hash", "message", "author", "email", "date", "parents", "tree")),
                      number=row["number"])  # fmt: skip

    def log(self, revision: str = "HEAD") -> list[Commit]:
        """Return a commit and all its ancestors, the newest first. Raises `UnknownRevision`."""
        waiting, known = [self.resolve(revision)], dict[str, Commit]()
        while waiting:
            current = waiting.pop()
            if current not in known and self._store.get(COMMIT, current) is not None:
                known[current] = self._commit(current)
                waiting += known[current].parents
        return sorted(known.values(), key=lambda commit: -commit.number)

    def is_ancestor(self, commit: str, other: str) -> bool:
        """Return whether a commit is another one, or one of its ancestors."""
        return any(known.hash == commit for known in self.log(other))

    def tree(self, revision: str = "HEAD") -> dict[str, str]:
        """Return the files of a commit; none before the first one. Raises `UnknownRevision`."""
        if revision == "HEAD" and self.head is None:
            return {}
        return self._texts(self.get(revision).tree)

    def changes_of(self, commit: Commit) -> Difference:
        """Return what a commit changed since its first parent."""
        return difference(self.tree(commit.parents[0]) if commit.parents else {}, self._texts(commit.tree))

    def blame(self, path: str, revision: str = "HEAD") -> list[tuple[Commit, str]]:
        """Return the lines of a file, each with the commit that wrote it. Raises `UnknownPath` or `UnknownRevision`."""
        if path not in self.tree(revision):
            raise UnknownPath(path)
        known: dict[str, list[tuple[Commit, str]]] = {}
        for commit in reversed(self.log(revision)):
            text = self._texts({path: commit.tree[path]})[path] if path in commit.tree else ""
            lines = [(commit, line) for line in text.splitlines()]
            for parent_hash in commit.parents:
                lines = _blamed(known.get(parent_hash, []), commit, lines)
            known[commit.hash] = lines
        return known[self.resolve(revision)]

    def reflog(self) -> Iterator[Record]:
        """Yield the moves of the head, the newest first: commit, action, message, date."""
        yield from reversed(self._record.get("moves") or [])

    def _texts(self, blobs: Mapping[str, str]) -> dict[str, str]:
        rows = {path: self._store.get(BLOB, blob) or {} for path, blob in blobs.items()}
        return {path: str(row.get("content") or "") for path, row in rows.items()}


def _blamed(
    before: Sequence[tuple[Commit, str]], commit: Commit, lines: Sequence[tuple[Commit, str]]
) -> list[tuple[Commit, str]]:
    """Return the lines of a commit: those of its own that a parent has, too, with who wrote them there."""
    blamed = [*lines]
    if len(before) * len(lines) <= MOST_COMPARED:
        matcher = SequenceMatcher(None, [line for _, line in before], [line for _, line in lines], autojunk=False)
        for block in matcher.get_matching_blocks():
            for offset in range(block.size):
                if blamed[block.b + offset][0] is commit:
                    blamed[block.b + offset] = before[block.a + offset]
    return blamed
