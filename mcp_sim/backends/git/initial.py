"""Initial repository: as given, or generated around the existing files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_sim.backends.files.entities import DIRECTORY, FILE
from mcp_sim.backends.files.paths import ROOT, directories_above, is_within, join_path, normalize, parent, split_path
from mcp_sim.backends.git.entities import BRANCH, COMMIT, DEFAULT_REMOTE, MAIN, REPOSITORY, STAGED, TAG
from mcp_sim.backends.git.given import Given
from mcp_sim.backends.git.repository import identifier
from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.kinds import Tables

_GENERATED_COMMITS = 6
_TEXT: Record = {"type": "string"}


def initial_records(given: Given, *, has_state: bool) -> dict[str, list[Record]]:
    """Return the records of a state. What depends on the files is noted in the singleton record."""
    marks: Record = {**given.marks, "branches": given.branches, "tags": given.tags, "commits": given.commits,
                     "remotes": given.remotes}  # fmt: skip
    known: Record = {"branch": given.current, "root": given.root, "author": given.author.get("name")}
    noted = {"is_told": has_state, "email": given.author.get("email"), "given": marks}
    return {COMMIT: [], BRANCH: [], TAG: [], STAGED: [], REPOSITORY: [{**known, **noted}]}


def initialize_tables(tables: Tables, prefix: str, seed: int) -> Tables:
    """Return the tables with the initial repository."""
    noted = tables.get(prefix + REPOSITORY, {}).get(prefix + REPOSITORY, {})
    files = {normalize(str(path)): row for path, row in tables.get(prefix + FILE, {}).items()}
    builder = _Builder(noted, files, Draws(seed, "", "repository", 0))
    rows = builder.given() if noted.get("is_told") else builder.generated()
    by_key: dict[str, Mapping[Key, Record]] = {prefix + name: table for name, table in rows.items()}
    by_key[prefix + REPOSITORY] = {prefix + REPOSITORY: rows[REPOSITORY][REPOSITORY]}
    return {**tables, **_tree(tables, prefix, files), **by_key}


def _tree(tables: Tables, prefix: str, files: Mapping[str, Record]) -> dict[str, Mapping[Key, Record]]:
    """Return files under normalized paths, and their parent directories."""
    rows: dict[Key, Record] = {path: {**row, "path": path, "folder": parent(path)} for path, row in files.items()}
    known = tables.get(prefix + DIRECTORY, {})
    needed = dict.fromkeys(above for path in files for above in directories_above(path))
    missing: dict[Key, Record] = {
        one: {"path": one, "folder": parent(one), **_times(files, one)} for one in needed if one not in known
    }
    return {prefix + FILE: rows, prefix + DIRECTORY: {**known, **missing}}


def _times(files: Mapping[str, Record], directory: str) -> Record:
    inside = next(row for path, row in files.items() if is_within(path, [directory]))
    return {name: inside[name] for name in ("created_at", "modified_at") if name in inside}


class _Builder:
    """Builder of a repository. `noted` holds the given parts, `files` the files by path."""

    def __init__(self, noted: Record, files: Mapping[str, Record], draws: Draws) -> None:
        self._noted, self._files, self._draws = noted, files, draws
        self._given: Record = as_object(noted.get("given"))
        self._work = {path: str(row.get("content") or "") for path, row in files.items()}
        self._root = _root_of(files, noted.get("root"))
        self._commits: dict[str, Record] = {}

    # given

    def given(self) -> dict[str, dict[Key, Record]]:
        """Return the repository as given. By default all files are in the first commit."""
        rows: list[Record] = self._given.get("commits") or []
        contents = list(self._contents(rows))
        current = self._noted.get("branch") or self._main()
        tips: dict[str, str] = {}
        for at, row in enumerate(rows):
            branch = row.get("branch") or current
            made = self._commit(row, self._parents(row, tips.get(branch)), contents[at])
            tips[branch] = made["hash"]
        branches = {name: self._tip(commit, tips.get(name)) for name, commit in self._given_map("branches").items()}
        branches = {name: tip for name, tip in {**tips, **branches}.items() if tip is not None}
        is_branch = current in branches or not self._commits
        tags = {name: self._tip(commit, None) for name, commit in self._given_map("tags").items()}
        staged = {self._at(path): content for path, content in self._given_map("staged").items()}
        staged = {path: self._work.get(path) if text is None else text for path, text in staged.items()}
        head = {"branch": current if is_branch else None, "commit": None if is_branch else self._tip(current, None)}
        return self._tables(branches, {name: tip for name, tip in tags.items() if tip is not None}, staged, head)

    def _parents(self, row: Record, before: str | None) -> list[str]:
        """Return the given parents that exist; by default the tip of the branch, else the newest commit."""
        if row.get("parents"):
            return [known for prefix in row["parents"] for known in self._commits if known.startswith(prefix)]
        newest = before or next(reversed(self._commits), None)
        return [] if newest is None else [newest]

    def _given_map(self, name: str) -> Record:
        return as_object(self._given.get(name))

    def _main(self) -> str:
        named = [*self._given_map("branches")]
        return next((one for one in (MAIN, "master") if one in named), next(iter(named), MAIN))

    def _tip(self, prefix: Json, otherwise: str | None) -> str | None:
        """Return the commit of an abbreviated id; by default `otherwise`, else the newest commit."""
        matches = (one for one in self._commits if prefix and one.startswith(str(prefix)))
        return next(matches, otherwise or next(reversed(self._commits), None))

    def _contents(self, rows: Sequence[Record]) -> Iterator[Record]:
        """Yield what each commit changed, by absolute path."""
        changes: list[Record] = [
            {self._at(path): content for path, content in as_object(row.get("files")).items()} for row in rows
        ]
        if not any(changes):
            yield from ({} if at else self._tracked() for at, _ in enumerate(rows))
            return
        for at, files in enumerate(changes):
            later = {path for others in changes[at + 1 :] for path in others}
            yield {path: self._content_then(path, text, is_last=path not in later) for path, text in files.items()}

    def _content_then(self, path: str, content: Json, *, is_last: bool) -> Json:
        """Return the content of a file in a commit: given, the current one, or shortened before its last commit."""
        if isinstance(content, str):
            return content
        return self._modified().get(path, self._work.get(path, "")) if is_last else _shortened(self._work.get(path, ""))

    def _modified(self) -> Record:
        """Return modified files as committed: as given, else the current content shortened."""
        changed = {self._at(path): content for path, content in self._given_map("modified").items()}
        return {
            path: content if isinstance(content, str) else _shortened(self._work.get(path, ""))
            for path, content in changed.items()
        }

    def _tracked(self) -> Record:
        """Return all tracked files as they were before they were modified."""
        new = {self._at(path) for name in ("untracked", "staged") for path in self._given_map(name)}
        files = {path: text for path, text in self._work.items() if path not in new and is_within(path, [self._root])}
        return {**files, **self._modified()}

    def _at(self, path: str) -> str:
        return normalize(path) if path.startswith("/") else normalize(join_path(self._root, path))

    # generated

    def generated(self) -> dict[str, dict[Key, Record]]:
        """Generate commits that add the files one after the other. One file is modified since, and one is new."""
        paths = sorted(self._work, key=lambda path: (str(self._files[path].get("created_at") or ""), path))
        old = paths[:-1] if len(paths) > 1 else paths
        size = max(1, -(-len(old) // _GENERATED_COMMITS))
        names = [self._generated_author(at) for at in range(3)]
        for start in range(0, len(old), size):
            self._add_commit(
                old[start : start + size],
                names[int(self._draws.unit(f"by/{start}") * 3)],
                is_changed=start + size >= len(old),
            )
        commits = [*self._commits]
        tips = {MAIN: commits[-1], "develop": commits[max(0, len(commits) - 2)]} if commits else {}
        return self._tables(tips, {}, {}, {"branch": MAIN, "commit": None})

    def _add_commit(self, paths: Sequence[str], author: Record, *, is_changed: bool) -> None:
        named = posixpath.basename(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
        files = {path: self._work[path] for path in paths}
        files |= {paths[-1]: _shortened(files[paths[-1]])} if is_changed else {}
        before = [next(reversed(self._commits))] if self._commits else []
        message = f"Add {named}" if before else "Initial commit"
        date = max(str(self._files[path].get("created_at") or "") for path in paths)
        self._commit({"message": message, **author, "date": date or None}, before, files)

    def _generated_author(self, at: int) -> Record:
        name = str(
            value_maker("person", "full_name", _TEXT)(chance_of(self._draws.seed, "author", at), {}, Moment.unknown())
        )
        return {"author": name, "email": f"{'.'.join(name.lower().split())}@example.com"}

    # both

    def _remotes(self) -> list[Record]:
        """Return the given remotes; the default one if there is no state."""
        if self._noted.get("is_told"):
            return self._given.get("remotes") or []
        called = next(reversed(split_path(self._root)), "project")
        return [{"name": DEFAULT_REMOTE, "url": f"https://git.example.com/{called}.git"}]

    def _commit(self, fields: Record, parents: Sequence[str], files: Record) -> Record:
        author = self._generated_author(0)
        name = fields.get("author") or self._noted.get("author") or author["author"]
        email = fields.get("email") or self._noted.get("email") or (author["email"] if name == author["author"] else "")
        key = str(fields.get("hash") or identifier(self._draws, f"commit/{len(self._commits)}"))
        row: Record = {
            "hash": key,
            "short_hash": key[:7],
            "message": fields.get("message") or "",
            "author": name,
            "email": email,
        }
        row |= {"date": fields.get("date"), "parents": [*parents], "files": files}
        self._commits[key] = row
        return row

    def _tables(
        self, branches: Mapping[str, str], tags: Mapping[str, str], staged: Mapping[str, Json], head: Record
    ) -> dict[str, dict[Key, Record]]:
        last: Record = next(reversed(self._commits.values()), self._generated_author(0))
        author = self._noted.get("author") or last["author"]
        email = self._noted.get("email") or (last["email"] if author == last["author"] else "")
        only: Record = {**head, "root": self._root, "author": author, "email": email, "stashes": []}
        only["remotes"] = self._remotes()
        rows: dict[str, Any] = {
            COMMIT: self._commits,
            BRANCH: {name: {"name": name, "commit": tip} for name, tip in branches.items()},
            TAG: {name: {"name": name, "commit": tip, "message": None} for name, tip in tags.items()},
            STAGED: {path: {"path": path, "content": content} for path, content in staged.items()},
        }
        return {**rows, REPOSITORY: {REPOSITORY: only}}


def _root_of(files: Mapping[str, Record], given: str | None) -> str:
    """Return the given root unless all files are elsewhere; else their common directory."""
    if given and (not files or any(is_within(path, [normalize(given)]) for path in files)):
        return normalize(given)
    folders = [split_path(parent(path)) for path in files]
    return ROOT + "/".join(posixpath.commonprefix(folders) if folders else ())


def _shortened(content: str) -> str:
    """Return a text without its last line; without its last word if there is only one line."""
    lines = content.splitlines(keepends=True)
    return "".join(lines[:-1]) if len(lines) > 1 else " ".join(content.split()[:-1])
