"""The repositories of a world."""

from __future__ import annotations

from mcp_sim.libraries.files import Files, is_within, normalize
from mcp_sim.libraries.git.errors import NotARepository
from mcp_sim.libraries.git.given import Loader, repositories_in
from mcp_sim.libraries.git.repository import REPOSITORY, Repository
from mcp_sim.libraries.store import Store
from mcp_sim.types import Json, Record


class Git:
    """Creates and finds repositories."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def repositories(self) -> list[Repository]:
        """All repositories, in the order of creation."""
        return [Repository(self._store, str(row["root"])) for row in self._store.rows(REPOSITORY)]

    def at(self, path: str) -> Repository:
        """Return the repository whose working tree has a path. Raises `NotARepository`."""
        place = normalize(path)
        roots = [known.root for known in self.repositories if is_within(place, [known.root])]
        if not roots:
            raise NotARepository(path)
        return Repository(self._store, max(roots, key=len))

    def init(self, path: str, branch: str = "main") -> Repository:
        """Create an empty repository around a directory, unless there is one."""
        root = normalize(path)
        if self._store.get(REPOSITORY, root) is None:
            Files(self._store).make(root)
            empty: Record = {"root": root, "branch": branch, "commit": None, "author": "", "email": "", "index": {}}
            self._store.put(REPOSITORY, root, {**empty, "remotes": {}, "stashes": [], "moves": []})
        return Repository(self._store, root)

    def load(self, given: Json, root: str = "/repo") -> list[Repository]:
        """Create the repositories of a given state; one without a path is at `root`. Returns them.

        A repository has `commits` (message, author, date, and files: path -> text), `branches`, a current `branch`,
        `tags`, `remotes`, the `files` of its working tree, and which of them are `staged`, `modified` or `untracked`.
        """
        return [self._load(place, parts) for place, parts in repositories_in(given, root)]

    def _load(self, root: str, parts: Record) -> Repository:
        repository = self.init(root)
        Loader(self._store, root, parts).load(repository)
        return repository
