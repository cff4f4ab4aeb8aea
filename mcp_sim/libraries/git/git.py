"""The repositories of a world, and those of a given state: commits, branches, tags, remotes, and marked files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pkgutil import get_data

from mcp_sim.libraries.files import Files, is_within, join, normalize
from mcp_sim.libraries.files.tree import read_given_files
from mcp_sim.libraries.git.changes import Snapshot
from mcp_sim.libraries.git.errors import NotARepository
from mcp_sim.libraries.git.history import REPOSITORY
from mcp_sim.libraries.git.repository import Repository
from mcp_sim.libraries.store import Store
from mcp_sim.types import Json, Record
from mcp_sim.types.clock import iso_seconds
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import snake

_NAMES: dict[str, list[str]] = json.loads(get_data(__name__.rpartition(".")[0], "names.json") or b"{}")
_MARKS = ("staged", "untracked", "modified")
_DEPTH = 4
"""How many levels of wrappers are searched for repositories."""
_OWNER = {"name": "Robin Vale", "email": "robin@example.com"}
"""Who commits if nothing says who does."""


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
        return [self._load(place, parts) for place, parts in _repositories_in(given, root)]

    def _load(self, root: str, parts: Record) -> Repository:
        repository = self.init(root)
        _Loader(self._store, root, parts).load(repository)
        return repository


def _repositories_in(value: Json, root: str, depth: int = _DEPTH) -> Iterator[tuple[str, Record]]:
    """Yield the path and the parts of each repository in a state. `root` is that of one without a path."""
    parts = _parts(value)
    if "commits" in parts or ("branches" in parts and len(parts) > 1) or any(mark in parts for mark in _MARKS):
        place = parts.get("root")
        yield normalize(place if isinstance(place, str) else root), parts
        return
    for name, inner in as_object(value).items() if depth else ():
        yield from _repositories_in(inner, name if name.startswith("/") else root, depth - 1)
    for inner in as_list(value) if depth else ():
        yield from _repositories_in(inner, root, depth - 1)


def _parts(value: Json, group: str = "") -> Record:
    """Return the parts of a repository or, with a group, the fields of a commit, under the library's names."""
    known = {name.removeprefix(group): names for name, names in _NAMES.items() if name.startswith(group)}
    body = {snake(name): inner for name, inner in as_object(value).items()}
    return {
        field: body[next(name for name in names if name in body)]
        for field, names in known.items()
        if "." not in field and not body.keys().isdisjoint(names)
    }


class _Loader:
    """Creates one given repository."""

    def __init__(self, store: Store, root: str, parts: Record) -> None:
        self._store, self._root, self._parts = store, root, parts
        given = read_given_files({"files": parts.get("files")}, root)
        self._work = {join("", path[len(root.rstrip("/")) :].lstrip("/")).lstrip("/"): str(fields["content"])
                      for path, fields in given.items() if fields is not None}  # fmt: skip
        marked = parts.get("untracked")
        self._work |= {path: text for path, text in as_object(marked).items() if isinstance(text, str)}
        self._tips = dict[str, str]()

    def load(self, repository: Repository) -> None:
        """Write the commits, branches, tags, remotes and files of a new repository."""
        rows, trees = self._rows(), dict[str, dict[str, str]]()
        authors = [row["author"] for row in rows if row.get("author")]
        owner = {**_OWNER, **_person(authors[-1] if authors else None), **_person(self._parts.get("author"))}
        repository.update(author=owner["name"], email=owner["email"])
        branches, current = self._by_name("branches", "name", "commit"), self._parts.get("current")
        if not isinstance(current, str):
            current = next((name for name in ("main", "master", *branches) if name in branches), "main")
        is_listed = any(as_object(row.get("files")) or as_list(row.get("files")) for row in rows)
        for at, row in enumerate(rows):
            branch = str(row.get("branch") or current)
            before = trees.get(branch) or trees.get(current) or {}
            changes = self._changes(row, before) if is_listed else self._tracked() if at == 0 else {}
            trees[branch] = {path: text for path, text in {**before, **changes}.items() if text is not None}
            tip = self._tips.get(branch) or self._tips.get(current)
            repository.update(branch=branch)
            self._tips[branch] = self._commit(repository, row, tip, trees[branch], len(rows) - at)
        self._refer(repository, branches, current)
        head = repository.tree()
        staged = self._paths("staged").items()
        index = {**head, **{path: self._work.get(path, "") if text is None else text for path, text in staged}}
        repository.set_index(index)
        work = self._work if "files" in self._parts else {**index, **self._work}
        files = Files(self._store)
        files.make(self._root)
        for path, text in work.items():
            files.write(join(self._root, path), text, parents=True)

    def _by_name(self, part: str, name: str, value: str) -> dict[str, Json]:
        """Return a part by name, which is given as names, as objects with a name and a value, or by name."""
        given = self._parts.get(part)
        rows = {str(as_object(row).get(name, row)): as_object(row).get(value) for row in as_list(given)}
        return {**rows, **as_object(given)}

    def _rows(self) -> list[Record]:
        """Return the given commits, the oldest first: in the order of their dates, if all have one."""
        given = self._parts.get("commits")
        by_branch = [
            {"branch": name, **row} for name, rows in as_object(given).items() for row in rows_of(rows, "") or ()
        ]
        commits = [_parts(row, "commit.") for row in by_branch or rows_of(given, "hash") or ()]
        if all(isinstance(row.get("date"), str) for row in commits):
            commits.sort(key=lambda row: row["date"])
        return commits or ([{"message": "Initial commit"}] if self._tracked() else [])

    def _commit(self, repository: Repository, row: Record, tip: str | None, tree: Snapshot, age: int) -> str:
        person = _person(row.get("author"))
        date = row.get("date")
        commit = repository.add_commit(
            f"{str(row.get('message') or '').rstrip()}\n",  # as `git commit` stores it
            [] if tip is None else [tip],
            {path: repository.store_text(text) for path, text in tree.items()},
            person.get("name", ""),
            str(row.get("email") or person.get("email", "")),
            date=date if isinstance(date, str) else iso_seconds(self._store.now - timedelta(days=age)),
            identity=str(row.get("hash") or ""),
        )
        return commit.hash

    def _changes(self, row: Record, before: Snapshot) -> Mapping[str, str | None]:
        files = row.get("files")
        named = {str(path): self._committed(str(path), before) for path in as_list(files)}
        return {**named, **{path: None if text is None else str(text) for path, text in as_object(files).items()}}

    def _committed(self, path: str, before: Snapshot) -> str:
        """Return a text for a file that is given by name only: that of the working tree, or a part of it."""
        text = self._work.get(path, "")
        return text if path not in self._paths("modified") or path in before else _earlier(text)

    def _tracked(self) -> dict[str, str]:
        """Return the files of the first commit if no commit lists any: all but new ones."""
        new = {*self._paths("untracked"), *self._paths("staged")}
        modified = {path: _earlier(self._work.get(path, "")) if text is None else text
                    for path, text in self._paths("modified").items()}  # fmt: skip
        return {path: text for path, text in {**self._work, **modified}.items() if path not in new}

    def _paths(self, mark: str) -> dict[str, str | None]:
        """Return marked files: path -> their text, if it is given."""
        marked = self._by_name(mark, "path", "content")
        return {path: text if isinstance(text, str) else None for path, text in marked.items()}

    def _refer(self, repository: Repository, branches: Mapping[str, Json], current: str) -> None:
        """Point branches, tags and the head to commits, and add the remotes."""
        newest = self._tips.get(current)
        for name, commit in {current: None, **branches}.items():
            tip = self._tips.get(name) or (repository.resolve(commit) if isinstance(commit, str) and commit else newest)
            if tip is not None:
                repository.put_branch(name, tip)
        is_branch = current in repository.branches or newest is None
        target = None if is_branch else repository.resolve(current)
        repository.update(branch=current if is_branch else None, commit=target)
        for name, commit in self._by_name("tags", "name", "commit").items():
            repository.create_tag(name, str(commit or "HEAD"))
        for name, url in self._by_name("remotes", "name", "url").items():
            repository.add_remote(name, str(as_object(url).get("url", url)))


def _person(value: Json) -> dict[str, str]:
    """Return name and e-mail of `Ann Vos <ann@example.com>`, either alone, or an object with both."""
    body = as_object(value)
    if body:
        return {field: str(body[field]) for field in ("name", "email") if body.get(field)}
    name, _, rest = str(value or "").partition("<")
    parts = {"name": name.strip(), "email": rest.rstrip("> ")}
    return {field: text for field, text in parts.items() if text}


def _earlier(text: str) -> str:
    """Return a text without its last line; without its last word if there is only one line."""
    lines = text.splitlines(keepends=True)
    return "".join(lines[:-1]) if len(lines) > 1 else " ".join(text.split()[:-1])
