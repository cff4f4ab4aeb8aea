"""Repository of a given state: commits, branches, tags, remotes, and marks of files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from mcp_sim.backends.git.request import parse_author
from mcp_sim.backends.matching.scopes import Scope, scopes, without
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import snake, vocabulary

_COMMITS = vocabulary("commits commit_history commit_log history log")
_BRANCHES = vocabulary("branches local_branches")
_TAGS = vocabulary("tags")
_CURRENT = vocabulary("current_branch head active_branch branch checked_out")
_REMOTES = vocabulary("remotes remote")
_AUTHORS = vocabulary("author user committer git_user config")
_ROOTS = vocabulary("repo_path repository_path root path repo repository_root")
_MARKS = {"staged": "staged", "staged_files": "staged", "staging_area": "staged", "untracked": "untracked",
          "untracked_files": "untracked", "modified": "modified", "modified_files": "modified", "unstaged": "modified",
          "unstaged_files": "modified"}  # fmt: skip
_HASHES = ("hash", "sha", "commit_hash", "commit_id", "commit", "id", "oid", "hexsha", "head", "tip", "target")
_MESSAGES = ("message", "msg", "subject", "title", "commit_message")
_DATES = ("date", "timestamp", "committed_at", "authored_date", "created_at", "time", "committed_date")
_FILES = ("files", "changes", "changed_files", "tree", "snapshot")
_FIRST = re.compile(r"\b(init|initial|first)", re.IGNORECASE)


@dataclass(slots=True)
class Given:
    """The given repository: `commits`, oldest first; `marks` are `staged`, `untracked` and `modified`.

    Marks and branches map a path or a name to its content or commit, None if only listed.
    """

    commits: list[Record] = field(default_factory=list[Record])
    branches: dict[str, Json] = field(default_factory=dict[str, Json])
    tags: dict[str, Json] = field(default_factory=dict[str, Json])
    marks: dict[str, dict[str, Json]] = field(default_factory=dict[str, dict[str, Json]])
    current: str | None = None
    author: Record = field(default_factory=dict[str, Json])
    root: str | None = None
    remotes: list[Record] = field(default_factory=list[Record])


def read_given_repository(state: Json) -> tuple[Given, Json]:
    """Return the repository of a state, and the rest of the state."""
    found = next((scope for scope in scopes(state, 3) if _is_repository(scope.body)), None)
    if found is None:
        return Given(), state
    return _read(found), without(state, found.path, _used_fields(found.body))


def _is_repository(body: Record) -> bool:
    named = {snake(name): value for name, value in body.items()}
    commits = (as_list(value) for name, value in named.items() if name in _COMMITS)
    has_commits = any(
        rows and all(_first_value(as_object(row), _MESSAGES) is not None for row in rows) for rows in commits
    )
    return has_commits or (
        bool(_BRANCHES & named.keys()) and bool((_COMMITS | _CURRENT | _MARKS.keys()) & named.keys())
    )


def _used_fields(body: Record) -> list[str]:
    known = _REMOTES | _COMMITS | _BRANCHES | _TAGS | _CURRENT | _AUTHORS | _ROOTS | _MARKS.keys()
    nested = {name for name, value in body.items() if snake(name) in _ROOTS and not isinstance(value, str)}
    return [name for name in body if snake(name) in known and name not in nested]


def _read(scope: Scope) -> Given:
    found = Given()
    for name, value in scope.body.items():
        word = snake(name)
        if word in _COMMITS:
            found.commits = [_commit(as_object(row)) for row in _oldest_first(as_list(value))]
        elif word in _BRANCHES or word in _TAGS:
            _read_refs(value, found, found.branches if word in _BRANCHES else found.tags)
        elif word in _REMOTES:
            found.remotes = [*_remotes(value)]
        elif word in _MARKS:
            found.marks[_MARKS[word]] = dict(_files_by_path(value))
        else:
            _read_field(word, value, found)
    absolute = [name for name in scope.path if name.startswith("/")]
    found.root = found.root or next(iter(absolute), None)
    return found


def _remotes(value: Json) -> Iterator[Record]:
    """Yield remotes, given by name or in a list."""
    listed = [(name, body) for name, body in as_object(value).items()]
    listed += [(str(_first_value(as_object(one), ("name", "remote")) or one), one) for one in as_list(value)]
    for name, body in listed:
        url = body if isinstance(body, str) else _first_value(as_object(body), ("url", "fetch_url", "push_url"))
        yield {"name": name, "url": str(url or name)}


def _read_field(word: str, value: Json, found: Given) -> None:
    if word in _CURRENT:
        named = value if isinstance(value, str) else as_object(value).get("branch", as_object(value).get("ref"))
        found.current = str(named).removeprefix("ref:").strip().removeprefix("refs/heads/") if named else found.current
    elif word in _AUTHORS:
        body = as_object(value)
        dotted = {"name": body.get("user.name"), "email": body.get("user.email")}
        found.author = dotted if dotted["name"] else parse_author(as_object(body.get("user")) or value)
    elif word in _ROOTS and isinstance(value, str):
        found.root = value


def _first_value(row: Record, names: Sequence[str]) -> Json:
    called = {snake(name): value for name, value in row.items()}
    return next((called[name] for name in names if called.get(name) is not None), None)


def _oldest_first(rows: list[Json]) -> list[Json]:
    """Return commits sorted by dates; else by parents or by messages such as "Initial commit"; else as given."""
    bodies = [as_object(row) for row in rows]
    if len(bodies) < 2:
        return rows
    dates = [str(_first_value(row, _DATES) or "") for row in (bodies[0], bodies[-1])]
    if dates[0] != dates[1] and all(dates):
        return rows if dates[0] < dates[1] else rows[::-1]
    known = {str(_first_value(row, _HASHES)) for row in bodies}
    parents = [any(str(one) in known for one in _parents(row)) for row in (bodies[0], bodies[-1])]
    firsts = [bool(_FIRST.search(str(_first_value(row, _MESSAGES)))) for row in (bodies[0], bodies[-1])]
    return rows[::-1] if parents == [True, False] or firsts == [False, True] else rows


def _parents(row: Record) -> list[Json]:
    value = _first_value(row, ("parents", "parent", "parent_hash", "parent_hashes", "parent_sha"))
    return as_list(value) if isinstance(value, list) else [value] if value is not None else []


def _commit(row: Record) -> Record:
    """Return a commit under the entity's field names, without missing fields."""
    author = parse_author(_first_value(row, ("author", "author_name", "committer", "user")))
    email = author.get("email") or _first_value(row, ("author_email", "email"))
    fields: Record = {
        "hash": _first_value(row, _HASHES),
        "message": _first_value(row, _MESSAGES),
        "author": author.get("name"),
    }
    fields |= {"email": email, "date": _first_value(row, _DATES), "branch": row.get("branch")}
    fields |= {"parents": [str(one) for one in _parents(row)] or None}
    files = _first_value(row, _FILES)
    fields["files"] = dict(_files_by_path(files)) if isinstance(files, dict | list) else None
    return {name: value for name, value in fields.items() if value is not None}


def _files_by_path(value: Json) -> Iterator[tuple[str, Json]]:
    """Yield files by path, with their content if given."""
    if isinstance(value, dict):
        for path, content in cast("Mapping[str, Json]", value).items():
            yield path, content if isinstance(content, str) else as_object(content).get("content")
        return
    for one in as_list(value):
        path = (
            one
            if isinstance(one, str)
            else _first_value(as_object(one), ("path", "file", "filename", "file_path", "name"))
        )
        if isinstance(path, str):
            yield path, as_object(one).get("content")


def _read_refs(value: Json, found: Given, into: dict[str, Json]) -> None:
    """Read the names of branches or tags, and their commits if given."""
    listed = [(str(name), body) for name, body in as_object(value).items()]
    listed += [(str(_first_value(as_object(one), ("name", "branch", "tag")) or one), one) for one in as_list(value)]
    for name, body in listed:
        row = as_object(body)
        is_bare = isinstance(body, str) and body != name
        into[name] = body if is_bare else _first_value(row, _HASHES)
        if row.get("current") is True or row.get("is_current") is True or row.get("active") is True:
            found.current = name
