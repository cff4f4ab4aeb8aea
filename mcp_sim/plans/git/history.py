"""Inspect commits: log, show, blame and reflog."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from itertools import islice

from mcp_sim.plans.files.paths import is_within
from mcp_sim.plans.git.changes import render_patch
from mcp_sim.plans.git.entities import COMMIT
from mcp_sim.plans.git.request import GitRequest, listing
from mcp_sim.plans.outcome import Outcome
from mcp_sim.plans.refusal import Refused
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.time_formats import parse_time

_AGO = re.compile(r"(\d+)\s*(minute|hour|day|week|month|year)s?\s+ago")
_SPANS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "month": 30, "year": 365}
_SHORT = frozenset({"oneline", "short", "compact"})
_DAYS = {"now": 0, "today": 0, "yesterday": 1}
_DEFAULT_REFLOG = 30  # a screenful


def log(request: GitRequest) -> Outcome:
    """List the commits that pass all filters, newest first. Raises `Refused` if the revision or a time is unknown."""
    revision = request.text("revision")
    if not revision and request.head is None:
        raise Refused("conflict", f"Your current branch '{request.branch}' does not have any commits yet")
    tests = [*_filters(request)]
    commits = iter(request.ancestry(request.resolve(revision or "HEAD")))
    for test in tests:
        commits = filter(test, commits)
    start, limit = request.number("skip") or 0, request.number("limit")
    rows = [request.commit_facts(row) for row in islice(commits, start, limit and start + limit)]
    text = _log_text(request, rows)
    if request.flag("oneline"):
        rows = [{name: row[name] for name in ("hash", "short_hash", "message")} for row in rows]
    facts: Record = {"commits": rows, "count": len(rows), "branch": request.branch}
    return Outcome(f"Commit history:\n{text or 'No commits'}", facts, "commits")


def _log_text(request: GitRequest, rows: Sequence[Record]) -> str:
    if not request.flag("oneline") and request.text("format") not in _SHORT:
        return "\n\n".join(_heading(row, f"Date: {row['date']}\nMessage: {row.get('message')}") for row in rows)
    titles = ((row["short_hash"], str(row.get("message") or "").partition("\n")) for row in rows)
    return "\n".join(f"{short} {title}" for short, (title, *_) in titles)


def _filters(request: GitRequest) -> Iterator[Callable[[Record], bool]]:
    """Yield the tests that the commits of a log must pass."""
    author, words = request.text("author").lower(), request.text("grep").lower()
    since, until = _time(request, "since"), _time(request, "until")
    wanted = [request.at(path) for path in request.files]
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
    moment = parse_time(value)
    if value and moment is None:
        raise Refused("invalid", f"Invalid date: {value}")
    return moment


def _heading(commit: Record, rest: str, first: str = "Commit:") -> str:
    """Return a commit as lines: its id, its author, and the rest."""
    email = f" <{commit['email']}>" if commit.get("email") else ""
    return f"{first} {commit['hash']}\nAuthor: {commit.get('author')}{email}\n{rest}"


def show(request: GitRequest) -> Outcome:
    """Return a commit and its changes, or the file at `revision:path`. Raises `Refused` if it does not exist."""
    revision, is_file, name = request.required("revision").partition(":")
    commit = request.commit(request.resolve(revision or "HEAD"))
    if is_file:
        return _file_at(request, commit, name)
    patch, row = render_patch(request.changes_of(commit), request.shown), request.commit_facts(commit)
    message = "\n".join(f"    {line}".rstrip() for line in str(commit.get("message") or "").split("\n"))
    date = parse_time(commit["date"])
    day = str(commit["date"]) if date is None else f"{date:%Y-%m-%d %H:%M:%S %z}"
    text = _heading(commit, f"Date:   {day}\n\n{message}\n\n{patch}", "commit").rstrip()
    return Outcome(text, {**row, "commit": row, "diff": patch, "type": "commit", "content": text})


def _file_at(request: GitRequest, commit: Record, name: str) -> Outcome:
    path = request.at(name)
    content = request.snapshot(commit["hash"]).get(path)
    if content is None:
        raise Refused("not_found", f"path '{name}' does not exist in '{commit['short_hash']}'", path=name, key=name)
    facts: Record = {"content": content, "path": request.shown(path), "commit": commit["hash"], "type": "blob"}
    return Outcome(content, facts, "content")


def blame(request: GitRequest) -> Outcome:
    """Return who wrote each line of a file, and when. Raises `Refused` if the file or the revision does not exist."""
    path, start = request.at(request.required("file")), request.text("revision")
    lines = _blame_lines(request, path, request.resolve(start) if start else request.head)
    if lines is None:
        raise Refused("not_found", f"no such path '{request.text('file')}' in {start or 'HEAD'}", path=path, key=path)
    first, last = request.number("first") or 1, request.number("last") or len(lines)
    rows: list[Record] = [
        {**request.commit_facts(commit), "line": at, "content": text, "message": commit.get("message")}
        for at, (commit, text) in enumerate(lines, 1)
        if first <= at <= last
    ]
    texts = (
        f"{row['short_hash']} ({row['author']} {str(row['date'])[:10]} {row['line']}) {row['content']}" for row in rows
    )
    return Outcome("\n".join(texts), {"lines": rows, "path": request.shown(path), "count": len(rows)}, "lines")


def _blame_lines(request: GitRequest, path: str, commit: str | None) -> list[tuple[Record, str]] | None:
    """Return the lines of a file, each with the commit since which it is unchanged; None if no commit has the file."""
    blame_lines: list[tuple[Record, str]] | None = None
    for row in reversed(list(request.first_parents(commit))):
        files = as_object(row.get("files"))
        if path not in files:
            continue
        before, blame_lines = blame_lines or [], [(row, line) for line in str(files[path] or "").splitlines()]
        matcher = SequenceMatcher(None, [line for _, line in before], [line for _, line in blame_lines], autojunk=False)
        for block in matcher.get_matching_blocks():
            blame_lines[block.b : block.b + block.size] = before[block.a : block.a + block.size]
        blame_lines = None if files[path] is None else blame_lines
    return blame_lines


def reflog(request: GitRequest) -> Outcome:
    """List every commit that the head pointed to, newest first, including unreachable ones."""
    moves = [*reversed(request.stored("moves")), *_first_moves(request)]
    entries: list[Record] = [
        {**request.commit_facts(request.commit(move["hash"])), **move, "ref": f"HEAD@{{{at}}}"}
        for at, move in enumerate(moves[: request.number("limit") or _DEFAULT_REFLOG])
    ]
    lines = (f"{row['short_hash']} {row['ref']}: {row['message']}" for row in entries)
    return listing("entries", entries, lines, ref=request.text("revision") or "HEAD")


def _first_moves(request: GitRequest) -> Iterator[Record]:
    """Yield earlier positions of the head, newest first: each commit of the initial history."""
    later = {move["hash"] for move in request.stored("moves") if move["is_made"]}
    for row in reversed([*request.rows(COMMIT)]):
        action = "commit" if row.get("parents") else "commit (initial)"
        if row["hash"] not in later:
            yield {"hash": row["hash"], "action": action, "message": f"{action}: {row.get('message')}"}
