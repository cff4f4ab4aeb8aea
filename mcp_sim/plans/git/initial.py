"""Initial repository: as given, or generated around the existing files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.plans.files.paths import FILE, ROOT, is_within, join_path, normalize, parent, split_path
from mcp_sim.plans.git.entities import BRANCH, COMMIT, DEFAULT_REMOTE, MAIN, REPOSITORY, STAGED, TAG, identifier
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.kinds import Tables

_GENERATED_COMMITS = 6  # enough for a log and a blame; the given files are spread over them


def initialize_tables(tables: Tables, prefix: str, seed: int) -> Tables:
    """Return the tables with the initial repository."""
    noted: Record = tables.get(prefix + REPOSITORY, {}).get(prefix + REPOSITORY, {})
    files = {str(path): row for path, row in tables.get(prefix + FILE, {}).items()}
    builder = _Builder(noted.get("given"), files, Draws(seed, "", "repository", 0))
    rows, repository = builder.rows()
    return {**tables, **{prefix + name: table for name, table in rows.items()},
            prefix + REPOSITORY: {prefix + REPOSITORY: repository}}  # fmt: skip


class _Builder:
    """Builder of a repository from its given parts and the files by path. It is generated if no parts are given."""

    def __init__(self, given: Record | None, files: Mapping[str, Record], draws: Draws) -> None:
        self._files, self._draws = files, draws
        self._someone = self._generated_author(0)
        self._work = {path: str(row.get("content") or "") for path, row in files.items()}
        self._root = _root_of(files, (given or {}).get("root"))
        self._commits: dict[str, Record] = {}
        self._given: Record = self._generated() if given is None else given

    def rows(self) -> tuple[Mapping[str, Mapping[Key, Record]], Record]:
        """Return the records by entity and key, and what is stored once. By default all files are committed."""
        named = [default for default in (MAIN, "master") if default in self._map("branches")]
        current: str = self._given.get("current") or next(iter((*named, *self._map("branches"))), MAIN)
        tips = self._add_given_commits(current)
        branches = {**tips, **self._refs("branches", tips)}
        staged = {path: self._work.get(path) if text is None else text for path, text in self._paths("staged").items()}
        tables: dict[str, Mapping[Any, Record]] = {
            COMMIT: self._commits,
            BRANCH: {name: {"name": name, "commit": tip} for name, tip in branches.items()},
            TAG: {name: {"name": name, "commit": tip, "message": None} for name, tip in self._refs("tags", {}).items()},
            STAGED: {path: {"path": path, "content": text} for path, text in staged.items()},
        }
        is_branch = current in branches or not self._commits
        head = {"branch": current, "commit": None} if is_branch else {"branch": None, "commit": self._tip(current)}
        last = next(reversed(self._commits.values()), self._someone)
        only: Record = {**head, "root": self._root, **self._author({}, last), "stashes": []}
        return tables, {**only, "remotes": self._given.get("remotes") or []}

    def _map(self, name: str) -> Record:
        return as_object(self._given.get(name))

    def _paths(self, name: str, row: Record | None = None) -> Record:
        """Return given contents, or those of a row, by absolute path."""
        listed = as_object((self._given if row is None else row).get(name)).items()
        return {normalize(path if path.startswith("/") else join_path(self._root, path)): text for path, text in listed}

    def _add_given_commits(self, current: str) -> dict[str, str]:
        """Add the given commits, each after the last one of its branch by default. Return the last one of each.

        Of several with one id, only the first is added.
        """
        rows: list[Record] = self._given.get("commits") or []
        tips: dict[str, str] = {}
        for row, files in zip(rows, [*self._contents(rows)], strict=True):
            if str(row.get("hash")) in self._commits:
                continue
            branch = row.get("branch") or current
            if row.get("parents"):
                parents = [tip for prefix in row["parents"] for tip in self._named(prefix)]
            else:
                parents = [tip for tip in [self._tip(None, tips.get(branch))] if tip is not None]
            tips[branch] = self._commit(row, parents, files)["hash"]
        return tips

    def _refs(self, name: str, tips: Mapping[str, str]) -> dict[str, str]:
        """Return the commits of the given branches or tags."""
        refs = ((ref, self._tip(commit, tips.get(ref))) for ref, commit in self._map(name).items())
        return {ref: tip for ref, tip in refs if tip is not None}

    def _tip(self, prefix: Json, otherwise: str | None = None) -> str | None:
        """Return the commit of an abbreviated id; by default `otherwise`, else the newest commit."""
        return next(iter(self._named(prefix)), otherwise or next(reversed(self._commits), None))

    def _named(self, prefix: Json) -> Sequence[str]:
        """Return the commits of an id, which may be abbreviated."""
        name = str(prefix or "")
        if not name or name in self._commits:
            return [name] if name else []
        return [commit for commit in self._commits if commit.startswith(name)]

    def _contents(self, rows: Sequence[Record]) -> Iterator[Record]:
        """Yield what each commit changed: all tracked files in the first one if none is given.

        A content that is not given is the current one, but shortened in earlier commits and in modified files.
        """
        given, modified = [self._paths("files", row) for row in rows], self._paths("modified")
        modified = {path: text if isinstance(text, str) else self._earlier(path) for path, text in modified.items()}
        if not any(given):
            yield from ({**self._tracked(), **modified} if at == 0 else {} for at, _ in enumerate(rows))
            return
        newest = {**self._work, **modified}
        last = _last_places(given)
        for at, files in enumerate(given):
            assumed = {path: self._earlier(path) if last[path] > at else newest.get(path, "") for path in files}
            yield {path: text if isinstance(text, str) else assumed[path] for path, text in files.items()}

    def _tracked(self) -> Record:
        new = {**self._paths("untracked"), **self._paths("staged")}
        return {path: text for path, text in self._work.items() if path not in new and is_within(path, [self._root])}

    def _earlier(self, path: str) -> str:
        """Return the current content without its last line; without its last word if there is only one line."""
        content = self._work.get(path, "")
        lines = content.splitlines(keepends=True)
        return "".join(lines[:-1]) if len(lines) > 1 else " ".join(content.split()[:-1])

    def _commit(self, fields: Record, parents: Sequence[str], files: Record) -> Record:
        key = str(fields.get("hash") or identifier(self._draws, f"commit/{len(self._commits)}"))
        row: Record = {"hash": key, "short_hash": key[:7], "message": fields.get("message") or ""}
        row |= {**self._author(fields, self._someone), "date": fields.get("date")}
        self._commits[key] = {**row, "parents": [*parents], "files": files}
        return self._commits[key]

    def _author(self, fields: Record, otherwise: Record) -> Record:
        name = fields.get("author") or self._given.get("author") or otherwise["author"]
        email = fields.get("email") or self._given.get("email")
        return {"author": name, "email": email or (otherwise["email"] if name == otherwise["author"] else "")}

    def _generated(self) -> Record:
        """Return commits that add the files one after the other. One file is modified since, and one is new."""
        paths = sorted(self._work, key=lambda path: (str(self._files[path].get("created_at") or ""), path))
        old = paths[:-1] if len(paths) > 1 else paths
        size = max(1, -(-len(old) // _GENERATED_COMMITS))
        commits = [self._generated_commit(start, old[start : start + size]) for start in range(0, len(old), size)]
        for at, row in enumerate(commits):
            row["hash"] = identifier(self._draws, f"commit/{at}")
        if commits:
            commits[-1]["files"][old[-1]] = self._earlier(old[-1])
        named = next(reversed(split_path(self._root)), "project")
        remote: Record = {"name": DEFAULT_REMOTE, "url": f"https://git.example.com/{named}.git"}
        branches = {"develop": commits[-2:][0]["hash"]} if commits else {}
        return {"commits": commits, "current": MAIN, "branches": branches, "remotes": [remote]}

    def _generated_commit(self, start: int, paths: Sequence[str]) -> Record:
        named = posixpath.basename(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
        author = self._generated_author(int(self._draws.unit(f"by/{start}") * 3))
        date = max(str(self._files[path].get("created_at") or "") for path in paths) or None
        files = {path: self._work[path] for path in paths}
        return {**author, "message": f"Add {named}" if start else "Initial commit", "date": date, "files": files}

    def _generated_author(self, at: int) -> Record:
        chance = chance_of(self._draws.seed, "author", at)
        name = str(value_maker("person", "full_name", {"type": "string"})(chance, {}, Moment.unknown()))
        return {"author": name, "email": f"{'.'.join(name.lower().split())}@example.com"}


def _last_places(changes: Sequence[Record]) -> Mapping[str, int]:
    """Return the place of the last change of each path."""
    return {path: at for at, files in enumerate(changes) for path in files}


def _root_of(files: Mapping[str, Record], given: str | None) -> str:
    """Return the given root unless all files are elsewhere; else their common directory."""
    if given and (not files or any(is_within(path, [normalize(given)]) for path in files)):
        return normalize(given)
    folders = [split_path(parent(path)) for path in files]
    return ROOT + "/".join(posixpath.commonprefix(folders) if folders else ())
