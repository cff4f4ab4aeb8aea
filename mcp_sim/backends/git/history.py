"""Inspect commits: log, show, blame and reflog."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from itertools import islice

from mcp_sim.backends.files.paths import is_within
from mcp_sim.backends.git.entities import COMMIT
from mcp_sim.backends.git.inspection import render_patch
from mcp_sim.backends.git.repository import Difference, Repository, difference
from mcp_sim.backends.git.request import GitRequest
from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.time_formats import parse_time

_AGO = re.compile(r"(\d+)\s*(minute|hour|day|week|month|year)s?\s+ago")
_SPANS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "month": 30, "year": 365}
_SHORT = frozenset({"oneline", "short", "compact"})
_DAYS = {"now": 0, "today": 0, "yesterday": 1}


def render_commit(repo: Repository, commit: Record) -> Record:
    """Return the facts of a commit."""
    files: list[Json] = [repo.shown(path) for path in as_object(commit.get("files"))]
    return {**commit, "author_email": commit.get("email"), "files": files, "files_changed": len(files)}


def changes_of(repo: Repository, commit: Record) -> Difference:
    """Return what a commit changed since its first parent."""
    before = repo.snapshot(next(iter(commit.get("parents") or []), None))
    return difference(before, repo.snapshot(commit["hash"]))


def log(request: GitRequest) -> Outcome:
    """List commits, newest first: those of a revision, the head by default, that pass all filters of the call.

    Raises `Refused` if there are none yet, the revision is unknown, or a time is invalid.
    """
    repo, revision = request.repository, request.text("revision")
    if not revision and repo.head is None:
        raise Refused("conflict", f"Your current branch '{repo.branch}' does not have any commits yet")
    found, start, limit = _selected(request), request.number("skip") or 0, request.number("limit")
    rows: list[Json] = [render_commit(repo, row) for row in islice(found, start, limit and start + limit)]
    text = _log_text(rows, is_short=request.flag("oneline") or request.text("format") in _SHORT)
    if request.flag("oneline"):
        rows = [{name: row[name] for name in ("hash", "short_hash", "message")} for row in rows]
    return Outcome(text, {"commits": rows, "count": len(rows), "branch": repo.branch}, "commits")


def _log_text(rows: Sequence[Record], *, is_short: bool) -> str:
    texts = [f"{row['short_hash']} {_title(row)}" if is_short else format_commit(row) for row in rows]
    return "Commit history:\n" + (("\n" if is_short else "\n\n").join(texts) or "No commits")


def _selected(request: GitRequest) -> Iterator[Record]:
    """Return the commits of a log, newest first."""
    repo, filters = request.repository, [*_filters(request)]
    found = repo.history(repo.resolve(request.text("revision") or "HEAD"))
    return (row for row in found if all(passes(row) for passes in filters))


def _filters(request: GitRequest) -> Iterator[Callable[[Record], bool]]:
    """Yield the tests that the commits of a log must pass."""
    repo, author, words = request.repository, request.text("author").lower(), request.text("grep").lower()
    since, until = _time(request, "since"), _time(request, "until")
    wanted = [repo.at(path) for path in request.files]
    if wanted:
        yield lambda row: any(is_within(path, wanted) for path in as_object(row.get("files")))
    if author:
        yield lambda row: author in f"{row.get('author')} <{row.get('email')}>".lower()
    if words:
        yield lambda row: words in str(row.get("message")).lower()
    if since is not None:
        yield lambda row: (parse_time(row["date"]) or since) >= since
    if until is not None:
        yield lambda row: (parse_time(row["date"]) or until) <= until


def _time(request: GitRequest, role: str) -> datetime | None:
    """Return the time of an argument: a date, or relative such as "2 days ago". Raises `Refused` for other texts."""
    value = request.text(role).strip()
    ago = _AGO.fullmatch(value.lower())
    if ago is not None or value.lower() in _DAYS:
        days = _DAYS[value.lower()] if ago is None else int(ago[1]) * _SPANS[ago[2]]
        return request.now - timedelta(days=days)
    found = parse_time(value)
    if value and found is None:
        raise Refused("invalid", f"Invalid date: {value}")
    return found


def _title(commit: Record) -> str:
    return str(commit.get("message") or "").partition("\n")[0]


def format_commit(commit: Record) -> str:
    """Return a commit as lines."""
    lines = (f"Commit: {commit['hash']}", f"Author: {_author(commit)}", f"Date: {commit['date']}")
    return "\n".join((*lines, f"Message: {commit.get('message')}"))


def show(request: GitRequest) -> Outcome:
    """Return a commit and its changes; the content of a file for `revision:path`.

    Raises `Refused` if the revision is unknown, or does not have the file.
    """
    repo, (revision, is_file, name) = request.repository, request.required("revision").partition(":")
    commit = repo.commit(repo.resolve(revision or "HEAD"))
    if is_file:
        return _file_at(repo, commit, name)
    patch, row = render_patch(repo, changes_of(repo, commit)), render_commit(repo, commit)
    message = "\n".join(f"    {line}".rstrip() for line in str(commit.get("message") or "").split("\n"))
    heading = f"commit {commit['hash']}\nAuthor: {_author(commit)}\nDate:   {_date_text(commit)}"
    text = f"{heading}\n\n{message}\n\n{patch}".rstrip()
    return Outcome(text, {**row, "commit": row, "diff": patch, "type": "commit", "content": text})


def _file_at(repo: Repository, commit: Record, name: str) -> Outcome:
    path = repo.at(name)
    content = repo.snapshot(commit["hash"]).get(path)
    if content is None:
        raise Refused("not_found", f"path '{name}' does not exist in '{commit['short_hash']}'", path=name, key=name)
    facts: Record = {"content": content, "path": repo.shown(path), "commit": commit["hash"], "type": "blob"}
    return Outcome(content, facts, "content")


def _author(commit: Record) -> str:
    return f"{commit.get('author')} <{commit['email']}>" if commit.get("email") else str(commit.get("author"))


def _date_text(commit: Record) -> str:
    """Return the date of a commit as git shows it with `--date=iso`."""
    date = parse_time(commit["date"])
    return str(commit["date"]) if date is None else f"{date:%Y-%m-%d %H:%M:%S %z}"


_DEFAULT_ENTRIES = 30
"""Default number of reflog entries."""


def blame(request: GitRequest) -> Outcome:
    """Return who wrote each line of a file, and in which commit.

    Raises `Refused` if the file or the revision does not exist.
    """
    repo = request.repository
    path, start = repo.at(request.required("file")), request.text("revision")
    lines = _blame_lines(repo, path, repo.resolve(start) if start else repo.head)
    if lines is None:
        raise Refused("not_found", f"no such path '{request.text('file')}' in {start or 'HEAD'}", path=path, key=path)
    first, last = request.number("first") or 1, request.number("last") or len(lines)
    rows = [
        {**render_commit(repo, commit), "line": at, "content": text, "message": commit.get("message")}
        for at, (commit, text) in enumerate(lines, 1)
        if first <= at <= last
    ]
    texts = [
        f"{row['short_hash']} ({row['author']} {str(row['date'])[:10]} {row['line']}) {row['content']}" for row in rows
    ]
    facts: Record = {"lines": rows, "path": repo.shown(path), "count": len(rows)}
    return Outcome("\n".join(texts), facts, "lines")


def _blame_lines(repo: Repository, path: str, commit: str | None) -> list[tuple[Record, str]] | None:
    """Return the lines of a file, each with its commit; None if no commit has the file."""
    found: list[tuple[Record, str]] | None = None
    for row in reversed(list(repo.first_parents(commit))):
        files = as_object(row.get("files"))
        if path in files:
            content: Json = files[path]
            found = None if content is None else _keep_authors(found or [], row, str(content).splitlines())
    return found


def _keep_authors(before: list[tuple[Record, str]], row: Record, lines: list[str]) -> list[tuple[Record, str]]:
    """Return the lines after a commit. Unchanged lines keep their commit."""
    matcher = SequenceMatcher(None, [text for _, text in before], lines, autojunk=False)
    after = [(row, text) for text in lines]
    for block in matcher.get_matching_blocks():
        after[block.b : block.b + block.size] = before[block.a : block.a + block.size]
    return after


def reflog(request: GitRequest) -> Outcome:
    """List every commit that the head pointed to, newest first, including unreachable ones."""
    repo, most = request.repository, request.number("limit") or _DEFAULT_ENTRIES
    moves = [*reversed(repo.moves), *_first_moves(repo)][:most]
    entries = [
        {**render_commit(repo, repo.commit(move["hash"])), **move, "ref": f"HEAD@{{{at}}}"}
        for at, move in enumerate(moves)
    ]
    lines = [f"{row['short_hash']} {row['ref']}: {row['message']}" for row in entries]
    facts: Record = {"entries": entries, "count": len(entries), "ref": request.text("revision") or "HEAD"}
    return Outcome("\n".join(lines) or "No entries", facts, "entries")


def _first_moves(repo: Repository) -> Iterator[Record]:
    """Yield earlier positions of the head, newest first: each commit of the initial history."""
    later = {move["hash"] for move in repo.moves if move["is_made"]}
    for row in reversed(repo.rows(COMMIT)):
        action = "commit" if row.get("parents") else "commit (initial)"
        if row["hash"] not in later:
            yield {"hash": row["hash"], "action": action, "message": f"{action}: {row.get('message')}"}
