"""What is in a repository when its world begins: as it was given, or made up around the files that there are?"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_sim.backends.files.entities import DIRECTORY, FILE
from mcp_sim.backends.files.paths import ROOT, directories_above, is_within, joined, names_of, normal, parent
from mcp_sim.backends.git.entities import BRANCH, COMMIT, MAIN, REPOSITORY, STAGED, TAG, USUAL
from mcp_sim.backends.git.given import Given
from mcp_sim.backends.git.repository import identifier
from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.kinds import Tables

_COMMITS_MADE_UP = 6
_TEXT: Record = {"type": "string"}


def noted(given: Given, *, is_told: bool) -> dict[str, list[Record]]:
    """The records of a state as far as they can be told without the files; the rest is noted in the only record."""
    marks: Record = {**given.marks, "branches": given.branches, "tags": given.tags, "commits": given.commits,
                     "remotes": given.remotes}  # fmt: skip
    known: Record = {"branch": given.current, "root": given.root, "author": given.author.get("name")}
    said = {"is_told": is_told, "email": given.author.get("email"), "given": marks}
    return {COMMIT: [], BRANCH: [], TAG: [], STAGED: [], REPOSITORY: [{**known, **said}]}


def begun(tables: Tables, prefix: str, seed: int) -> Tables:
    """The tables with all that a repository begins with."""
    noted = tables.get(prefix + REPOSITORY, {}).get(prefix + REPOSITORY, {})
    files = {normal(str(path)): row for path, row in tables.get(prefix + FILE, {}).items()}
    made = _Making(noted, files, Draws(seed, "", "repository", 0))
    rows = made.told() if noted.get("is_told") else made.made_up()
    keyed: dict[str, Mapping[Key, Record]] = {prefix + name: table for name, table in rows.items()}
    keyed[prefix + REPOSITORY] = {prefix + REPOSITORY: rows[REPOSITORY][REPOSITORY]}
    return {**tables, **_tree(tables, prefix, files), **keyed}


def _tree(tables: Tables, prefix: str, files: Mapping[str, Record]) -> dict[str, Mapping[Key, Record]]:
    """Files under their normal paths, and the directories that lead to them."""
    held: dict[Key, Record] = {path: {**row, "path": path, "folder": parent(path)} for path, row in files.items()}
    known = tables.get(prefix + DIRECTORY, {})
    needed = dict.fromkeys(above for path in files for above in directories_above(path))
    missing: dict[Key, Record] = {
        one: {"path": one, "folder": parent(one), **_times(files, one)} for one in needed if one not in known
    }
    return {prefix + FILE: held, prefix + DIRECTORY: {**known, **missing}}


def _times(files: Mapping[str, Record], directory: str) -> Record:
    inside = next(row for path, row in files.items() if is_within(path, [directory]))
    return {name: inside[name] for name in ("created_at", "modified_at") if name in inside}


class _Making:
    """A repository under way. `noted` is what was given of it, `files` what there is by path."""

    def __init__(self, noted: Record, files: Mapping[str, Record], draws: Draws) -> None:
        self._noted, self._files, self._draws = noted, files, draws
        self._given: Record = as_object(noted.get("given"))
        self._work = {path: str(row.get("content") or "") for path, row in files.items()}
        self._root = _root_of(files, noted.get("root"))
        self._commits: dict[str, Record] = {}

    # given

    def told(self) -> dict[str, dict[Key, Record]]:
        """As it was given; what is not told of files is that all are in the first commit."""
        rows: list[Record] = self._given.get("commits") or []
        contents = list(self._contents(rows))
        current = self._noted.get("branch") or self._main()
        tips: dict[str, str] = {}
        for at, row in enumerate(rows):
            branch = row.get("branch") or current
            made = self._commit(row, self._parents(row, tips.get(branch)), contents[at])
            tips[branch] = made["hash"]
        branches = {name: self._tip(told, tips.get(name)) for name, told in self._leading("branches").items()}
        branches = {name: tip for name, tip in {**tips, **branches}.items() if tip is not None}
        is_branch = current in branches or not self._commits
        tags = {name: self._tip(told, None) for name, told in self._leading("tags").items()}
        staged = {self._at(path): content for path, content in self._leading("staged").items()}
        staged = {path: self._work.get(path) if text is None else text for path, text in staged.items()}
        head = {"branch": current if is_branch else None, "commit": None if is_branch else self._tip(current, None)}
        return self._tables(branches, {name: tip for name, tip in tags.items() if tip is not None}, staged, head)

    def _parents(self, row: Record, before: str | None) -> list[str]:
        """Those that are told and known; where none is told, what the branch led to, else the newest there is."""
        if row.get("parents"):
            return [known for told in row["parents"] for known in self._commits if known.startswith(told)]
        newest = before or next(reversed(self._commits), None)
        return [] if newest is None else [newest]

    def _leading(self, name: str) -> Record:
        return as_object(self._given.get(name))

    def _main(self) -> str:
        named = [*self._leading("branches")]
        return next((one for one in (MAIN, "master") if one in named), next(iter(named), MAIN))

    def _tip(self, told: Json, otherwise: str | None) -> str | None:
        """The commit that is told, also by the beginning of its id; else the newest there is."""
        alike = (one for one in self._commits if told and one.startswith(str(told)))
        return next(alike, otherwise or next(reversed(self._commits), None))

    def _contents(self, rows: Sequence[Record]) -> Iterator[Record]:
        """What each commit changed, by absolute path."""
        told: list[Record] = [
            {self._at(path): content for path, content in as_object(row.get("files")).items()} for row in rows
        ]
        if not any(told):
            yield from ({} if at else self._tracked() for at, _ in enumerate(rows))
            return
        for at, files in enumerate(told):
            later = {path for others in told[at + 1 :] for path in others}
            yield {path: self._then(path, text, is_last=path not in later) for path, text in files.items()}

    def _then(self, path: str, content: Json, *, is_last: bool) -> Json:
        """The content that a file had, where that is not told: as it is now; before the last commit, less of it."""
        if isinstance(content, str):
            return content
        return self._before().get(path, self._work.get(path, "")) if is_last else _less(self._work.get(path, ""))

    def _before(self) -> Record:
        """The files that are modified, as they were committed: as that is told, else less of what they are now."""
        changed = {self._at(path): content for path, content in self._leading("modified").items()}
        return {
            path: content if isinstance(content, str) else _less(self._work.get(path, ""))
            for path, content in changed.items()
        }

    def _tracked(self) -> Record:
        """All files but those that are new, as they were before they were modified."""
        new = {self._at(path) for name in ("untracked", "staged") for path in self._leading(name)}
        files = {path: text for path, text in self._work.items() if path not in new and is_within(path, [self._root])}
        return {**files, **self._before()}

    def _at(self, path: str) -> str:
        return normal(path) if path.startswith("/") else normal(joined(self._root, path))

    # made up

    def made_up(self) -> dict[str, dict[Key, Record]]:
        """Commits that brought the files one after the other; a file has changed since, and one is new."""
        paths = sorted(self._work, key=lambda path: (str(self._files[path].get("created_at") or ""), path))
        old = paths[:-1] if len(paths) > 1 else paths
        size = max(1, -(-len(old) // _COMMITS_MADE_UP))
        names = [self._somebody(at) for at in range(3)]
        for start in range(0, len(old), size):
            self._brought(
                old[start : start + size],
                names[int(self._draws.unit(f"by/{start}") * 3)],
                is_changed=start + size >= len(old),
            )
        commits = [*self._commits]
        tips = {MAIN: commits[-1], "develop": commits[max(0, len(commits) - 2)]} if commits else {}
        return self._tables(tips, {}, {}, {"branch": MAIN, "commit": None})

    def _brought(self, paths: Sequence[str], author: Record, *, is_changed: bool) -> None:
        named = posixpath.basename(paths[0]) + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")
        files = {path: self._work[path] for path in paths}
        files |= {paths[-1]: _less(files[paths[-1]])} if is_changed else {}
        before = [next(reversed(self._commits))] if self._commits else []
        message = f"Add {named}" if before else "Initial commit"
        date = max(str(self._files[path].get("created_at") or "") for path in paths)
        self._commit({"message": message, **author, "date": date or None}, before, files)

    def _somebody(self, at: int) -> Record:
        name = str(
            value_maker("person", "full_name", _TEXT)(chance_of(self._draws.seed, "author", at), {}, Moment.unknown())
        )
        return {"author": name, "email": f"{'.'.join(name.lower().split())}@example.com"}

    # both

    def _remotes(self) -> list[Record]:
        """Those that were given; where nothing was, the usual one."""
        if self._noted.get("is_told"):
            return self._given.get("remotes") or []
        called = next(reversed(names_of(self._root)), "project")
        return [{"name": USUAL, "url": f"https://git.example.com/{called}.git"}]

    def _commit(self, told: Record, parents: Sequence[str], files: Record) -> Record:
        author = self._somebody(0)
        name = told.get("author") or self._noted.get("author") or author["author"]
        email = told.get("email") or self._noted.get("email") or (author["email"] if name == author["author"] else "")
        key = str(told.get("hash") or identifier(self._draws, f"commit/{len(self._commits)}"))
        row: Record = {
            "hash": key,
            "short_hash": key[:7],
            "message": told.get("message") or "",
            "author": name,
            "email": email,
        }
        row |= {"date": told.get("date"), "parents": [*parents], "files": files}
        self._commits[key] = row
        return row

    def _tables(
        self, branches: Mapping[str, str], tags: Mapping[str, str], staged: Mapping[str, Json], head: Record
    ) -> dict[str, dict[Key, Record]]:
        last: Record = next(reversed(self._commits.values()), self._somebody(0))
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


def _root_of(files: Mapping[str, Record], told: str | None) -> str:
    """Where the repository is said to be, unless all files are elsewhere; else the directory that they are in."""
    if told and (not files or any(is_within(path, [normal(told)]) for path in files)):
        return normal(told)
    folders = [names_of(parent(path)) for path in files]
    return ROOT + "/".join(posixpath.commonprefix(folders) if folders else ())


def _less(content: str) -> str:
    """A text without its last line; without its last words where it is only one."""
    lines = content.splitlines(keepends=True)
    return "".join(lines[:-1]) if len(lines) > 1 else " ".join(content.split()[:-1])
