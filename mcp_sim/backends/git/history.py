"""What do the tools tell that look at commits: log, show?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher

from mcp_sim.backends.files.paths import is_within
from mcp_sim.backends.git.entities import COMMIT
from mcp_sim.backends.git.inspection import rendered
from mcp_sim.backends.git.repository import Repository, difference
from mcp_sim.backends.git.request import Asked
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object

_AGO = re.compile(r"(\d+)\s*(minute|hour|day|week|month|year)s?\s+ago")
_SPANS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "month": 30, "year": 365}
_DAYS = {"now": 0, "today": 0, "yesterday": 1}


def told(one: Repository, commit: Record) -> Record:
    """A commit as it is told."""
    files: list[Json] = [one.shown(path) for path in as_object(commit.get("files"))]
    return {**commit, "author_email": commit.get("email"), "files": files, "files_changed": len(files)}


def log(asked: Asked) -> Outcome:
    """Commits, the newest first."""
    one = asked.repository
    revision = asked.text("revision")
    if revision is None and one.head is None:
        raise Refused("conflict", f"Your current branch '{one.branch}' does not have any commits yet")
    found = one.history(one.resolve(revision) if revision is not None else one.head)
    found = [row for row in found if _is_asked_for(asked, row)][asked.number("skip") or 0 :]
    count = asked.number("count")
    rows: list[Json] = [told(one, row) for row in found[:count]]
    if asked.flag("oneline"):
        rows = [{name: row[name] for name in ("hash", "short_hash", "message")} for row in found[:count]]
    is_short = asked.flag("oneline") or asked.text("format") in {"oneline", "short", "compact"}
    texts = [f"{row['short_hash']} {_title(row)}" if is_short else worded(row) for row in rows]
    text = "Commit history:\n" + (("\n" if is_short else "\n\n").join(texts) or "No commits")
    return Outcome(text, {"commits": rows, "count": len(rows), "branch": one.branch}, "commits")


def _is_asked_for(asked: Asked, row: Record) -> bool:
    one, author, words = asked.repository, asked.text("author"), asked.text("grep")
    at, since, until = _moment(row["date"]), _time(asked, "since"), _time(asked, "until")
    wanted = [one.at(path) for path in asked.named]
    by = f"{row.get('author')} <{row.get('email')}>".lower()
    return (
        (not wanted or any(is_within(path, wanted) for path in as_object(row.get("files"))))
        and (author is None or author.lower() in by)
        and (words is None or words.lower() in str(row.get("message")).lower())
        and (since is None or at is None or at >= since)
        and (until is None or at is None or at <= until)
    )


def _time(asked: Asked, role: str) -> datetime | None:
    """The moment that an argument names: written out, or so long ago. Raises Refused where it is neither."""
    value, now = asked.text(role), asked.repository.turn.now
    if value is None:
        return None
    ago = _AGO.fullmatch(value.strip().lower())
    if ago is not None:
        return now - timedelta(days=int(ago[1]) * _SPANS[ago[2]])
    if value.strip().lower() in _DAYS:
        return now - timedelta(days=_DAYS[value.strip().lower()])
    found = _moment(value)
    if found is None:
        raise Refused("invalid", f"Invalid date: {value}")
    return found


def _moment(text: Json) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _title(commit: Record) -> str:
    return str(commit.get("message") or "").partition("\n")[0]


def worded(commit: Record) -> str:
    """A commit for people."""
    email = f" <{commit['email']}>" if commit.get("email") else ""
    lines = (f"Commit: {commit['hash']}", f"Author: {commit.get('author')}{email}", f"Date: {commit['date']}")
    return "\n".join((*lines, f"Message: {commit.get('message')}"))


def show(asked: Asked) -> Outcome:
    """A commit, and what it changed."""
    one = asked.repository
    commit = one.commit(one.resolve(asked.needed("revision")))
    before = one.snapshot(next(iter(commit.get("parents") or []), None))
    patch = rendered(one, difference(before, one.snapshot(commit["hash"])))
    row = told(one, commit)
    return Outcome(
        f"{worded(commit)}\n\n{patch}".rstrip(),
        {**row, "commit": row, "diff": patch, "type": "commit", "content": f"{worded(commit)}\n\n{patch}"},
    )


_USUAL = 30
"""So many moves are told where nobody says how many."""


def blame(asked: Asked) -> Outcome:
    """Who wrote each line of a file, and with which commit."""
    one = asked.repository
    path = one.at(asked.needed("file"))
    start = asked.text("revision")
    lines = _blamed(one, path, one.head if start is None else one.resolve(start))
    if lines is None:
        raise Refused("not_found", f"no such path '{asked.text('file')}' in {start or 'HEAD'}", path=path, key=path)
    first, last = asked.number("first") or 1, asked.number("last") or len(lines)
    rows = [
        {**told(one, commit), "line": at, "content": text, "message": commit.get("message")}
        for at, (commit, text) in enumerate(lines, 1)
        if first <= at <= last
    ]
    texts = [
        f"{row['short_hash']} ({row['author']} {str(row['date'])[:10]} {row['line']}) {row['content']}" for row in rows
    ]
    facts: Record = {"lines": rows, "path": one.shown(path), "count": len(rows)}
    return Outcome("\n".join(texts), facts, "lines")


def _blamed(one: Repository, path: str, commit: str | None) -> list[tuple[Record, str]] | None:
    """The lines of a file, each with the commit that it is from; None where no commit has the file."""
    found: list[tuple[Record, str]] | None = None
    for row in reversed(list(one.line(commit))):
        files = as_object(row.get("files"))
        if path in files:
            content: Json = files[path]
            found = None if content is None else _kept(found or [], row, str(content).splitlines())
    return found


def _kept(before: list[tuple[Record, str]], row: Record, lines: list[str]) -> list[tuple[Record, str]]:
    """The lines after a commit: those that were there keep who wrote them."""
    matcher = SequenceMatcher(None, [text for _, text in before], lines, autojunk=False)
    after = [(row, text) for text in lines]
    for block in matcher.get_matching_blocks():
        after[block.b : block.b + block.size] = before[block.a : block.a + block.size]
    return after


def reflog(asked: Asked) -> Outcome:
    """Every commit that the head led to, the newest first: also those that no branch leads to any more."""
    one, most = asked.repository, asked.number("count") or _USUAL
    moves = [*reversed(one.moves), *_first_moves(one)][:most]
    entries = [
        {**told(one, one.commit(move["hash"])), **move, "ref": f"HEAD@{{{at}}}"} for at, move in enumerate(moves)
    ]
    lines = [f"{row['short_hash']} {row['ref']}: {row['message']}" for row in entries]
    facts: Record = {"entries": entries, "count": len(entries), "ref": asked.text("revision") or "HEAD"}
    return Outcome("\n".join(lines) or "No entries", facts, "entries")


def _first_moves(one: Repository) -> Iterator[Record]:
    """Where the head was before any call, the newest first: at each commit that was there."""
    later = {move["hash"] for move in one.moves if move["is_made"]}
    for row in reversed(one.rows(COMMIT)):
        action = "commit" if row.get("parents") else "commit (initial)"
        if row["hash"] not in later:
            yield {"hash": row["hash"], "action": action, "message": f"{action}: {row.get('message')}"}
