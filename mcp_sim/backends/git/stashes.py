"""Changes that are put aside and taken back."""

from __future__ import annotations

import re

from mcp_sim.backends.git.repository import Repository, apply_changes, difference
from mcp_sim.backends.git.request import GitRequest
from mcp_sim.backends.git.staging import refuse_overwriting, write_files
from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record


def stash(request: GitRequest) -> Outcome:
    """Stash the changes of tracked files, and restore the last commit. Raises `Refused` if nothing has changed."""
    repo = request.repository
    head, staged, working = repo.snapshot(repo.head), repo.staged(), repo.working()
    tracked = apply_changes(head, staged).keys() | head.keys()
    changes = {path: after for path, (_, after) in difference(head, working).items() if path in tracked}
    if repo.head is None or not changes:
        raise Refused("conflict", "No local changes to save")
    title = _title(repo, request.text("message"))
    repo.unstage()
    write_files(repo, {path: head.get(path) for path in changes})
    fresh: Record = {"message": title, "branch": repo.branch, "date": repo.time, "files": changes}
    repo.update_record(stashes=[{**fresh, "description": request.text("message") or title}, *_all(repo)])
    facts: Record = {"stash": "stash@{0}", "created": "stash@{0}", "message": title}
    return done(f"Saved working directory and index state {title}", **facts)


def _title(repo: Repository, message: str) -> str:
    head = repo.commit(repo.head or "")
    branch = repo.branch or "(no branch)"
    return f"On {branch}: {message}" if message else f"WIP on {branch}: {head['short_hash']} {head.get('message')}"


def _all(repo: Repository) -> list[Record]:
    return repo.record.get("stashes") or []


def stash_list(request: GitRequest) -> Outcome:
    """List the stashes, newest first."""
    rows: list[Json] = [
        {**{name: row[name] for name in row if name != "files"}, "index": at, "ref": f"stash@{{{at}}}"}
        for at, row in enumerate(_all(request.repository))
    ]
    text = "\n".join(f"{row['ref']}: {row['message']}" for row in rows)
    return Outcome(text or "No stashes", {"stashes": rows, "count": len(rows)}, "stashes")


def stash_pop(request: GitRequest) -> Outcome:
    """Apply a stash, the newest by default, and drop it. Raises `Refused` if it overwrites a local change."""
    at = _take_back(request)
    _forget(request, at)
    return done(f"Dropped stash@{{{at}}} after its changes were applied", **_facts(at))


def stash_apply(request: GitRequest) -> Outcome:
    """Apply a stash, the newest by default. Raises `Refused` if it overwrites a local change."""
    at = _take_back(request)
    return done(f"Applied stash@{{{at}}}", **_facts(at))


def _facts(at: int) -> Record:
    return {"index": at, "applied": f"stash@{{{at}}}", "conflicts": False}


def stash_drop(request: GitRequest) -> Outcome:
    """Drop a stash, the newest by default. Raises `Refused` if it does not exist."""
    at = _index(request)
    _forget(request, at)
    return done(f"Dropped stash@{{{at}}}", index=at)


def _take_back(request: GitRequest) -> int:
    repo, at = request.repository, _index(request)
    files, index = _all(repo)[at]["files"], repo.index()
    refuse_overwriting(repo, [path for path in files if repo.content(path) != index.get(path)], "stash apply")
    write_files(repo, files)
    for path in files.keys() - repo.snapshot(repo.head).keys():
        repo.stage(path, files[path])
    return at


def _forget(request: GitRequest, at: int) -> None:
    left = _all(request.repository)
    request.repository.update_record(stashes=[*left[:at], *left[at + 1 :]])


def _index(request: GitRequest) -> int:
    number = re.search(r"\d+", request.text("index") or "0")
    at = int(number[0]) if number is not None else 0
    if at >= len(_all(request.repository)):
        raise Refused("not_found", f"stash@{{{at}}} not found", key=f"stash@{{{at}}}")
    return at
