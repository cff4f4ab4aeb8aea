"""Inspect commits: log, show, blame and reflog."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher

from mcp_sim.backends.files.paths import is_within
from mcp_sim.backends.git.entities import COMMIT
from mcp_sim.backends.git.inspection import render_patch
from mcp_sim.backends.git.repository import Repository, difference
from mcp_sim.backends.git.request import Request
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object

_AGO = re.compile(r"(\d+)\s*(minute|hour|day|week|month|year)s?\s+ago")
_SPANS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "month": 30, "year": 365}
_DAYS = {"now": 0, "today": 0, "yesterday": 1}


def render_commit(repo: Repository, commit: Record) -> Record:
    """Return the facts of a commit."""
    files: list[Json] = [repo.shown(path) for path in as_object(commit.get("files"))]
    return {**commit, "author_email": commit.get("email"), "files": files, "files_changed": len(files)}


def log(request: Request) -> Outcome:
    """List commits, newest first. Raises `Refused` if there are none yet, or the revision is unknown."""
    repo = request.repository
    revision = request.text("revision")
    if revision is None and repo.head is None:
        raise Refused("conflict", f"Your current branch '{repo.branch}' does not have any commits yet")
    found = repo.history(repo.resolve(revision) if revision is not None else repo.head)
    found = [row for row in found if _is_selected(request, row)][request.number("skip") or 0 :]
    count = request.number("count")
    rows: list[Json] = [render_commit(repo, row) for row in found[:count]]
    if request.flag("oneline"):
        rows = [{name: row[name] for name in ("hash", "short_hash", "message")} for row in found[:count]]
    is_short = request.flag("oneline") or request.text("format") in {"oneline", "short", "compact"}
    texts = [f"{row['short_hash']} {_title(row)}" if is_short else format_commit(row) for row in rows]
    text = "Commit history:\n" + (("\n" if is_short else "\n\n").join(texts) or "No commits")
    return Outcome(text, {"commits": rows, "count": len(rows), "branch": repo.branch}, "commits")


def _is_selected(request: Request, row: Record) -> bool:
    """Return whether a commit passes the filters of the call."""
    repo, author, words = request.repository, request.text("author"), request.text("grep")
    at, since, until = _parse_time(row["date"]), _time(request, "since"), _time(request, "until")
    wanted = [repo.at(path) for path in request.named]
    by = f"{row.get('author')} <{row.get('email')}>".lower()
    return (
        (not wanted or any(is_within(path, wanted) for path in as_object(row.get("files"))))
        and (author is None or author.lower() in by)
        and (words is None or words.lower() in str(row.get("message")).lower())
        and (since is None or at is None or at >= since)
        and (until is None or at is None or at <= until)
    )


def _time(request: Request, role: str) -> datetime | None:
    """Return the time of an argument: a date, or relative such as "2 days ago". Raises `Refused` for other texts."""
    value, now = request.text(role), request.repository.turn.now
    if value is None:
        return None
    ago = _AGO.fullmatch(value.strip().lower())
    if ago is not None:
        return now - timedelta(days=int(ago[1]) * _SPANS[ago[2]])
    if value.strip().lower() in _DAYS:
        return now - timedelta(days=_DAYS[value.strip().lower()])
    found = _parse_time(value)
    if found is None:
        raise Refused("invalid", f"Invalid date: {value}")
    return found


def _parse_time(text: Json) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _title(commit: Record) -> str:
    return str(commit.get("message") or "").partition("\n")[0]


def format_commit(commit: Record) -> str:
    """Return a commit as text."""
    email = f" <{commit['email']}>" if commit.get("email") else ""
    lines = (f"Commit: {commit['hash']}", f"Author: {commit.get('author')}{email}", f"Date: {commit['date']}")
    return "\n".join((*lines, f"Message: {commit.get('message')}"))


def show(request: Request) -> Outcome:
    """Return a commit and its changes."""
    repo = request.repository
    commit = repo.commit(repo.resolve(request.required_text("revision")))
    before = repo.snapshot(next(iter(commit.get("parents") or []), None))
    patch = render_patch(repo, difference(before, repo.snapshot(commit["hash"])))
    row = render_commit(repo, commit)
    return Outcome(
        f"{format_commit(commit)}\n\n{patch}".rstrip(),
        {**row, "commit": row, "diff": patch, "type": "commit", "content": f"{format_commit(commit)}\n\n{patch}"},
    )


_DEFAULT_ENTRIES = 30
"""Default number of reflog entries."""


def blame(request: Request) -> Outcome:
    """Return who wrote each line of a file, and in which commit.

    Raises `Refused` if the file or the revision does not exist.
    """
    repo = request.repository
    path = repo.at(request.required_text("file"))
    start = request.text("revision")
    lines = _blame_lines(repo, path, repo.head if start is None else repo.resolve(start))
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


def reflog(request: Request) -> Outcome:
    """List every commit that the head pointed to, newest first, including unreachable ones."""
    repo, most = request.repository, request.number("count") or _DEFAULT_ENTRIES
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
