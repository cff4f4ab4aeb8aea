"""What do the tools tell that look at commits: log, show?"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from mcp_sim.backends.files.paths import is_within
from mcp_sim.backends.git.asking import Asked
from mcp_sim.backends.git.differences import rendered
from mcp_sim.backends.git.repository import Repository, difference
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
