"""Initial repository: as given, or generated around the existing files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_sim.backends.files.entities import FILE
from mcp_sim.backends.files.paths import ROOT, is_within, join_path, normalize, parent, split_path
from mcp_sim.backends.git.entities import BRANCH, COMMIT, DEFAULT_REMOTE, MAIN, REPOSITORY, STAGED, TAG
from mcp_sim.backends.git.repository import identifier
from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.kinds import Tables

_GENERATED_COMMITS = 6
_TEXT: Record = {"type": "string"}


def initialize_tables(tables: Tables, prefix: str, seed: int) -> Tables:
    """Return the tables with the initial repository."""
    noted: Record = tables.get(prefix + REPOSITORY, {}).get(prefix + REPOSITORY, {})
    files = {str(path): row for path, row in tables.get(prefix + FILE, {}).items()}
    builder = _Builder(noted.get("given"), files, Draws(seed, "", "repository", 0))
    rows = builder.rows()
    by_key: dict[str, Mapping[Key, Record]] = {prefix + name: table for name, table in rows.items()}
    by_key[prefix + REPOSITORY] = {prefix + REPOSITORY: rows[REPOSITORY][REPOSITORY]}
    return {**tables, **by_key}


class _Builder:
    """Builder of a repository from its given parts and the files by path. It is generated if no parts are given."""

    def __init__(self, given: Record | None, files: Mapping[str, Record], draws: Draws) -> None:
        self._files, self._draws = files, draws
        self._work = {path: str(row.get("content") or "") for path, row in files.items()}
        self._root = _root_of(files, (given or {}).get("root"))
        self._commits: dict[str, Record] = {}
        self._given: Record = self._generated() if given is None else given

    def rows(self) -> dict[str, dict[Key, Record]]:
        """Return the records of the repository by entity and key. By default all files are in the first commit."""
        current = self._given.get("current") or self._main()
        tips = self._add_given_commits(current)
        branches = {**tips, **self._refs("branches", tips)}
        staged = {self._at(path): content for path, content in self._map("staged").items()}
        staged = {path: self._work.get(path) if text is None else text for path, text in staged.items()}
        is_branch = current in branches or not self._commits
        head = {"branch": current, "commit": None} if is_branch else {"branch": None, "commit": self._tip(current)}
        return self._tables(branches, self._refs("tags", {}), staged, head)

    def _add_given_commits(self, current: str) -> dict[str, str]:
        """Add the given commits, and return the last one of each branch."""
        rows: list[Record] = self._given.get("commits") or []
        tips: dict[str, str] = {}
        for row, files in zip(rows, [*self._contents(rows)], strict=True):
            branch = row.get("branch") or current
            tips[branch] = self._commit(row, self._parents(row, tips.get(branch)), files)["hash"]
        return tips

    def _refs(self, name: str, tips: Mapping[str, str]) -> dict[str, str]:
        """Return the commits of the given branches or tags."""
        found = ((ref, self._tip(commit, tips.get(ref))) for ref, commit in self._map(name).items())
        return {ref: tip for ref, tip in found if tip is not None}

    def _parents(self, row: Record, before: str | None) -> list[str]:
        """Return the given parents that exist; by default the tip of the branch, else the newest commit."""
        if row.get("parents"):
            return [known for prefix in row["parents"] for known in self._commits if known.startswith(prefix)]
        newest = before or next(reversed(self._commits), None)
        return [] if newest is None else [newest]

    def _map(self, name: str) -> Record:
        return as_object(self._given.get(name))

    def _main(self) -> str:
        named = [*self._map("branches")]
        return next((one for one in (MAIN, "master") if one in named), next(iter(named), MAIN))

    def _tip(self, prefix: Json, otherwise: str | None = None) -> str | None:
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
        changed = {self._at(path): content for path, content in self._map("modified").items()}
        return {
            path: content if isinstance(content, str) else _shortened(self._work.get(path, ""))
            for path, content in changed.items()
        }

    def _tracked(self) -> Record:
        """Return all tracked files as they were before they were modified."""
        new = {self._at(path) for name in ("untracked", "staged") for path in self._map(name)}
        files = {path: text for path, text in self._work.items() if path not in new and is_within(path, [self._root])}
        return {**files, **self._modified()}

    def _at(self, path: str) -> str:
        return normalize(path) if path.startswith("/") else normalize(join_path(self._root, path))

    def _generated(self) -> Record:
        """Return commits that add the files one after the other. One file is modified since, and one is new."""
        paths = sorted(self._work, key=lambda path: (str(self._files[path].get("created_at") or ""), path))
        old = paths[:-1] if len(paths) > 1 else paths
        size = max(1, -(-len(old) // _GENERATED_COMMITS))
        groups = [old[start : start + size] for start in range(0, len(old), size)]
        commits: list[Record] = [self._generated_commit(at * size, group) for at, group in enumerate(groups)]
        for at, row in enumerate(commits):
            row["hash"] = identifier(self._draws, f"commit/{at}")
        if commits:
            files: Record = commits[-1]["files"]
            files[old[-1]] = _shortened(files[old[-1]])
        named = next(reversed(split_path(self._root)), "project")
        remote: Record = {"name": DEFAULT_REMOTE, "url": f"https://git.example.com/{named}.git"}
        branches = {"develop": commits[-2:][0]["hash"]} if commits else {}
        return {"commits": commits, "current": MAIN, "branches": branches, "remotes": [remote]}

    def _generated_commit(self, start: int, paths: Sequence[str]) -> Record:
        named = posixpath.basename(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
        author = self._generated_author(int(self._draws.unit(f"by/{start}") * 3))
        date = max(str(self._files[path].get("created_at") or "") for path in paths)
        return {
            **author,
            "message": f"Add {named}" if start else "Initial commit",
            "date": date or None,
            "files": {path: self._work[path] for path in paths},
        }

    def _generated_author(self, at: int) -> Record:
        chance = chance_of(self._draws.seed, "author", at)
        name = str(value_maker("person", "full_name", _TEXT)(chance, {}, Moment.unknown()))
        return {"author": name, "email": f"{'.'.join(name.lower().split())}@example.com"}

    def _commit(self, fields: Record, parents: Sequence[str], files: Record) -> Record:
        made = self._generated_author(0)
        name = fields.get("author") or self._given.get("author") or made["author"]
        email = fields.get("email") or self._given.get("email") or (made["email"] if name == made["author"] else "")
        key = str(fields.get("hash") or identifier(self._draws, f"commit/{len(self._commits)}"))
        row: Record = {"hash": key, "short_hash": key[:7], "message": fields.get("message") or "", "author": name}
        row |= {"email": email, "date": fields.get("date"), "parents": [*parents], "files": files}
        self._commits[key] = row
        return row

    def _tables(
        self, branches: Mapping[str, str], tags: Mapping[str, str], staged: Mapping[str, Json], head: Record
    ) -> dict[str, dict[Key, Record]]:
        last: Record = next(reversed(self._commits.values()), self._generated_author(0))
        author = self._given.get("author") or last["author"]
        email = self._given.get("email") or (last["email"] if author == last["author"] else "")
        only: Record = {**head, "root": self._root, "author": author, "email": email, "stashes": []}
        only["remotes"] = self._given.get("remotes") or []
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
