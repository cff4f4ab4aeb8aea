"""Repository of a given state: commits, branches, tags, remotes, marks of files, and the files themselves."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice

from mcp_sim.plans.files.given import read_given_files
from mcp_sim.plans.files.paths import DIRECTORY, FILE, ROOT, join_path, normalize
from mcp_sim.plans.git.entities import BRANCH, COMMIT, REPOSITORY, STAGED, TAG, parse_author
from mcp_sim.plans.given import MAX_DEPTH, MAX_OBJECTS, Given
from mcp_sim.plans.operation import read_names
from mcp_sim.types import Json, Record
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import snake

_WORDS = read_names(__name__)
_PARTS = _WORDS.table("state")
"""Part of a repository -> the names that a state may have for it."""
_MARKS = ("staged", "untracked", "modified")
_NAMES = _WORDS.table("field")
"""Field of a commit, a file or a reference -> the names that a state may have for it."""
_FIRST = re.compile(r"\b(init|initial|first)", re.IGNORECASE)


def given_records(state: Json) -> Given:
    """Return the records of a state, and the rest of the state.

    Without a state, everything will be generated. Otherwise the singleton record holds the parts of the repository as
    `given`; the records that depend on the files are made of them later.
    """
    repository, rest = _take_repository(state, (), MAX_DEPTH)
    files, rest = read_given_files(rest, repository.get("root"))
    noted: Record = {"given": None if state is None else repository}
    records: dict[str, Sequence[Record]] = {COMMIT: [], BRANCH: [], TAG: [], STAGED: [], REPOSITORY: [noted]}
    if not files.is_empty:
        records |= {FILE: [*files.files.values()], DIRECTORY: [*files.directories.values()]}
    elif committed := _committed_files(repository):
        records[FILE] = committed
    return Given(records, rest)


def _committed_files(record: Record) -> list[Record]:
    """Return the files of the current branch, as far as its commits give their contents."""
    contents: Record = {}
    current = record.get("current")
    for row in record.get("commits") or ():
        if current is None or row.get("branch", current) == current:
            contents |= as_object(row.get("files"))
    root = normalize(str(record.get("root") or ROOT))
    texts = {path: text for path, text in contents.items() if isinstance(text, str)}
    return [{"path": join_path(root, path.lstrip("/")), "content": text} for path, text in texts.items()]


def _take_repository(value: Json, place: tuple[str, ...], depth: int) -> tuple[Record, Json]:
    """Return the parts of the first repository within a value, and the rest of the value."""
    body = as_object(value)
    parts = _parts(body)
    if parts:
        root = next((name for name in place if name.startswith("/")), None)
        repository = _read([(inner_value, body[name]) for name, inner_value in parts.items()], root)
        return repository, {name: inner for name, inner in body.items() if name not in parts}
    for name, inner in islice(body.items(), MAX_OBJECTS if depth else 0):
        repository, rest = _take_repository(inner, (*place, name), depth - 1)
        if repository:
            return repository, {**body, name: rest}
    return {}, value


def _parts(body: Record) -> Mapping[str, str]:
    """Return name -> part of a repository, for the fields of an object; empty if it is not a repository."""
    known = ((name, role) for name in body for role, names in _PARTS.items() if snake(name) in names)
    parts = {name: role for name, role in known if role != "root" or isinstance(body[name], str)}
    has_commits = any(value == "commits" and _are_commits(body[name]) for name, value in parts.items())
    is_branched = "branches" in parts.values() and not {"commits", "current", *_MARKS}.isdisjoint(parts.values())
    return parts if has_commits or is_branched else {}


def _are_commits(value: Json) -> bool:
    rows = [row for listed in _by_branch(value).values() for row in listed]
    return bool(rows) and all(_value(row, "message") is not None for row in rows)


def _by_branch(value: Json) -> dict[str, list[Record]]:
    """Return commits as they are given, by branch; the branch is empty if it is not given."""
    rows = rows_of(value, "hash")
    listed = (
        {"": rows} if rows is not None else {name: rows_of(inner, "hash") for name, inner in as_object(value).items()}
    )
    return {name: rows for name, rows in listed.items() if rows is not None}


def _read(parts: Sequence[tuple[str, Json]], root: str | None) -> Record:
    """Return the parts of a repository by name. Commits are in order, the oldest first.

    Branches, tags and marks map a name or a path to a commit or a content, None if it is only listed.
    """
    repository: Record = {"commits": [], "root": root}
    for piece, value in parts:
        if piece == "commits":
            repository["commits"] += _commits(_by_branch(value))
        elif piece == "branches":
            repository |= _branches(value, repository["commits"])
        elif piece == "tags":
            repository["tags"] = {name: _value(row, "hash") for name, row in _by_name(value, "commit").items()}
        elif piece == "remotes":
            urls = {name: _value(row, "url") or name for name, row in _by_name(value, "url").items()}
            repository["remotes"] = [{"name": name, "url": str(url)} for name, url in urls.items()]
        elif piece in _MARKS:
            repository[piece] = _contents(value)
        else:
            repository |= _setting(piece, value)
    return repository


def _setting(role: str, value: Json) -> Record:
    """Return the root, the current branch, or the name and e-mail of who commits."""
    body = as_object(value)
    if role == "root":
        return {"root": value}
    if role == "current":
        named = str((value if isinstance(value, str) else _value(body, "current")) or "")
        return {"current": named.removeprefix("ref:").strip().removeprefix("refs/heads/")} if named else {}
    owner: Record = {"name": body.get("user.name"), "email": body.get("user.email")}
    if not owner["name"]:
        owner = parse_author(as_object(body.get("user")) or value)
    return {"author": owner.get("name"), "email": owner.get("email")}


def _by_name(value: Json, plain: str) -> dict[str, Record]:
    """Return rows by name; `plain` is the field of values under names. Entries of a list are names alone."""
    rows = rows_of(value, "name", plain if isinstance(value, dict) else "name") or []
    return {str(_value(row, "ref")): row for row in rows}


def _branches(value: Json, commits: Sequence[Record]) -> Record:
    """Return the tips of branches, the current branch if one is marked, and commits that are listed by branch."""
    tips: Record = {}
    taken: Record = {"branches": tips, "commits": [*commits]}
    for name, row in _by_name(value, "commit").items():
        listed = next((row[field] for field in ("commits", "commit") if isinstance(row.get(field), list)), None)
        if _are_commits(listed):
            taken["commits"] += _commits({name: rows_of(listed, "hash") or []})
        tip = _value(row, "hash") if listed is None else None
        tips[name] = None if tip == name else tip
        if any(row.get(mark) is True for mark in ("current", "is_current", "active")):
            taken["current"] = name
    return taken


def _contents(value: Json) -> Record:
    """Return files by path, with their content if it is given."""
    rows = rows_of(value, "path", "content" if isinstance(value, dict) else "path") or []
    named = ((_value(row, "path"), row.get("content")) for row in rows)
    return {path: content for path, content in named if isinstance(path, str)}


def _value(row: Record, field: str) -> Json:
    """Return the first value of a row under the names of a field."""
    called = {snake(name): value for name, value in row.items()}
    return next((called[name] for name in _NAMES[field] if called.get(name) is not None), None)


def _commits(listed: Mapping[str, list[Record]]) -> list[Record]:
    """Return commits under the names of the entity's fields, the oldest first."""
    ordered = ((branch, rows[::-1] if _is_newest_first(rows) else rows) for branch, rows in listed.items())
    return [_commit({"branch": branch or None, **row}) for branch, rows in ordered for row in rows]


def _is_newest_first(rows: Sequence[Record]) -> bool:
    """Whether commits are in reverse order: by dates; else by parents, or by messages such as "Initial commit"."""
    if len(rows) < 2:
        return False
    ends = (rows[0], rows[-1])
    first, last = (str(_value(row, "date") or "") for row in ends)
    if first and last and first != last:
        return first > last
    known = {str(_value(row, "hash")) for row in rows}
    parents = [not known.isdisjoint(_parents(row)) for row in ends]
    initial = [bool(_FIRST.search(str(_value(row, "message")))) for row in ends]
    return parents == [True, False] or initial == [False, True]


def _parents(row: Record) -> list[str]:
    value = _value(row, "parents")
    return [str(item) for item in (as_list(value) if isinstance(value, list) else [value]) if item is not None]


def _commit(row: Record) -> Record:
    """Return a commit under the names of the entity's fields, without missing fields."""
    fields: Record = {field: _value(row, field) for field in ("hash", "message", "email", "date", "files")}
    author, files = parse_author(_value(row, "author")), fields["files"]
    fields |= {"author": author.get("name"), "email": author.get("email") or fields["email"]}
    fields |= {"branch": row.get("branch"), "parents": _parents(row) or None}
    fields["files"] = _contents(files) if isinstance(files, dict | list) else None
    return {name: value for name, value in fields.items() if value is not None}
