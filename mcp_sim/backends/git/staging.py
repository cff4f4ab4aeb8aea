"""Change the index, commit it, and stash changes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcp_sim.backends.files.paths import is_within, normalize
from mcp_sim.backends.git.entities import MAIN, STAGED
from mcp_sim.backends.git.history import render_commit
from mcp_sim.backends.git.inspection import status
from mcp_sim.backends.git.repository import Repository, apply_changes, difference
from mcp_sim.backends.git.request import Request
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.types import Json, Record
from mcp_sim.types.clock import iso

_CLEAN = "nothing to commit, working tree clean"


def _done(request: Request, text: str, **facts: Json) -> Outcome:
    return done(text, *request.repository.changes, **facts)


def init(request: Request) -> Outcome:
    """Initialize the repository if there is none yet; there can be only one.

    Raises `Refused` for a path outside an existing repository.
    """
    repo = request.repository
    place = repo.root if repo.place in {"", ".", "./"} else repo.place
    if repo.head is None and not repo.staged():
        repo.update_record(root=_root(repo, normalize(place)), branch=repo.branch or MAIN)
        return _done(request, f"Initialized empty Git repository in {place.rstrip('/')}/.git/", path=place)
    if not is_within(normalize(place), [repo.root]):
        raise Refused("forbidden", f"Access denied: {place} is outside the repository {repo.root}", path=place)
    return _done(request, f"Reinitialized existing Git repository in {place.rstrip('/')}/.git/", path=place)


def _root(repo: Repository, place: str) -> str:
    """Return the root of the files: `place`, or the given root if no file is there."""
    files = repo.working()
    return repo.root if files and not any(is_within(path, [place]) for path in files) else place


def stage(request: Request) -> Outcome:
    """Stage files as they are now. Raises `Refused` if none is named, or a named one matches nothing."""
    repo = request.repository
    index, working = repo.index(), repo.working()
    if request.is_everything and not (request.get("files") or request.flag("all") or "files" not in request.roles):
        raise Refused("invalid", f"Nothing specified, nothing added: {request.roles['files']} is empty")
    paths = request.paths({**index, **working})
    for path in paths:
        if working.get(path) != index.get(path):
            repo.stage(path, working.get(path))
    names: list[Json] = [repo.shown(path) for path in paths]
    return _done(request, "Files staged successfully", **{**status(request).facts, "files": names, "count": len(paths)})


def unstage(request: Request) -> Outcome:
    """Unstage files."""
    repo = request.repository
    staged = repo.staged()
    paths = request.paths(staged if request.is_everything else {**repo.index(), **staged})
    for path in paths:
        repo.stage(path, repo.committed(path))
    what = "All staged changes reset" if request.is_everything else "Files unstaged successfully"
    files: list[Json] = [repo.shown(path) for path in paths]
    return _done(request, what, files=files, count=len(paths), target=repo.head)


def restore(request: Request) -> Outcome:
    """Restore files from the index, discarding changes in the working tree."""
    if request.flag("staged"):
        return unstage(request)
    repo = request.repository
    index = repo.index()
    paths = request.paths(index)
    _write_files(repo, {path: index[path] for path in paths})
    return _done(request, "Changes discarded successfully", files=[repo.shown(path) for path in paths])


def _write_files(repo: Repository, files: Mapping[str, Json]) -> None:
    for path, content in files.items():
        if repo.content(path) != content:
            repo.write(path, content)


# commits --------------------------------------------------------------------------------------------------------------


def commit(request: Request) -> Outcome:
    """Commit what is staged; all changes of tracked files if the call says so.

    Raises `Refused` if there is nothing to commit.
    """
    repo, message = request.repository, request.required_text("message")
    if request.flag("all") or "files" in request.roles:
        _stage_tracked(request)
    head, staged = repo.head, repo.staged()
    if request.flag("amend"):
        return _amend(request, message, staged)
    if not staged and not request.flag("allow_empty"):
        raise Refused("conflict", _nothing_to_commit(repo))
    repo.unstage()
    row = repo.add(message, [] if head is None else [head], staged, request.author())
    return _committed(request, row)


def _stage_tracked(request: Request) -> None:
    repo = request.repository
    index, working = repo.index(), repo.working()
    named = request.named or request.flag("all")
    for path in request.paths(index if not request.named else {**index, **working}) if named else ():
        repo.stage(path, working.get(path))


def _nothing_to_commit(repo: Repository) -> str:
    index, working = repo.index(), repo.working()
    if any(working.get(path) != content for path, content in index.items()):
        return "nothing to commit: no changes added to commit"
    return "nothing to commit, but untracked files present" if working.keys() - index.keys() else _CLEAN


def _amend(request: Request, message: str, staged: Mapping[str, Json]) -> Outcome:
    repo = request.repository
    if repo.head is None:
        raise Refused("conflict", "You have nothing to amend: there are no commits yet")
    old = repo.commit(repo.head)
    repo.unstage()
    author = {"author": old.get("author"), "email": old.get("email")}
    return _committed(
        request, repo.add(message, old.get("parents") or [], {**(old.get("files") or {}), **staged}, author)
    )


def _committed(request: Request, row: Record) -> Outcome:
    facts = {**status(request).facts, **render_commit(request.repository, row)}
    facts |= {"branch": request.repository.branch, "commit": row["hash"]}
    return _done(request, f"Changes committed successfully with hash {row['hash']}", **facts)


# stashes --------------------------------------------------------------------------------------------------------------


def stash(request: Request) -> Outcome:
    """Stash the changes of tracked files, and restore the last commit. Raises `Refused` if nothing has changed."""
    repo = request.repository
    head, staged, working = repo.snapshot(repo.head), repo.staged(), repo.working()
    tracked = apply_changes(head, staged).keys() | head.keys()
    changes = {path: after for path, (_, after) in difference(head, working).items() if path in tracked}
    if repo.head is None or not changes:
        raise Refused("conflict", "No local changes to save")
    title = _stash_title(repo, request.text("message"))
    repo.unstage()
    _write_files(repo, {path: head.get(path) for path in changes})
    date = iso(repo.turn.now.replace(microsecond=0))
    fresh: Record = {"message": title, "branch": repo.branch, "date": date, "files": changes}
    repo.update_record(stashes=[{**fresh, "description": request.text("message") or title}, *_stashes(repo)])
    facts: Record = {"stash": "stash@{0}", "created": "stash@{0}", "message": title}
    return _done(request, f"Saved working directory and index state {title}", **facts)


def _stash_title(repo: Repository, message: str | None) -> str:
    head = repo.commit(repo.head or "")
    branch = repo.branch or "(no branch)"
    return f"On {branch}: {message}" if message else f"WIP on {branch}: {head['short_hash']} {head.get('message')}"


def _stashes(repo: Repository) -> list[Record]:
    return repo.record.get("stashes") or []


def stash_list(request: Request) -> Outcome:
    rows: list[Json] = [
        {**{name: row[name] for name in row if name != "files"}, "index": at, "ref": f"stash@{{{at}}}"}
        for at, row in enumerate(_stashes(request.repository))
    ]
    text = "\n".join(f"{row['ref']}: {row['message']}" for row in rows)
    return Outcome(text or "No stashes", {"stashes": rows, "count": len(rows)}, "stashes")


def stash_pop(request: Request) -> Outcome:
    at = _apply_stash(request)
    _drop_stash(request, at)
    return _done(request, f"Dropped stash@{{{at}}} after its changes were applied", **_stash_facts(at))


def stash_apply(request: Request) -> Outcome:
    at = _apply_stash(request)
    return _done(request, f"Applied stash@{{{at}}}", **_stash_facts(at))


def _stash_facts(at: int) -> Record:
    return {"index": at, "applied": f"stash@{{{at}}}", "conflicts": False}


def stash_drop(request: Request) -> Outcome:
    at = _stash_index(request)
    _drop_stash(request, at)
    return _done(request, f"Dropped stash@{{{at}}}", index=at)


def _apply_stash(request: Request) -> int:
    repo, at = request.repository, _stash_index(request)
    files, index = _stashes(repo)[at]["files"], repo.index()
    _refuse_overwriting(repo, [path for path in files if repo.content(path) != index.get(path)], "stash apply")
    _write_files(repo, files)
    for path in files.keys() - repo.snapshot(repo.head).keys():
        repo.stage(path, files[path])
    return at


def _drop_stash(request: Request, at: int) -> None:
    left = _stashes(request.repository)
    request.repository.update_record(stashes=[*left[:at], *left[at + 1 :]])


def _stash_index(request: Request) -> int:
    number = re.search(r"\d+", request.text("index") or "0")
    at = int(number[0]) if number is not None else 0
    if at >= len(_stashes(request.repository)):
        raise Refused("not_found", f"stash@{{{at}}} not found", key=f"stash@{{{at}}}")
    return at


def _refuse_overwriting(repo: Repository, paths: list[str], by: str) -> None:
    if paths:
        named = ", ".join(repo.shown(path) for path in sorted(paths))
        raise Refused("conflict", f"Your local changes to the following files would be overwritten by {by}: {named}")


# from one commit to another -------------------------------------------------------------------------------------------


def switch_to(repo: Repository, commit: str, by: str) -> None:
    """Change the working tree to another commit. Raises `Refused` if that overwrites a local change.

    Files that are the same in both commits keep their local changes.
    """
    before, index = repo.snapshot(repo.head), repo.index()
    changes = difference(before, repo.snapshot(commit))
    contents = ((path, (old, new), repo.content(path), index.get(path)) for path, (old, new) in changes.items())
    _refuse_overwriting(repo, [path for path, known, here, staged in contents if not {here, staged} <= {*known}], by)
    _write_files(repo, {path: new for path, (_, new) in changes.items()})
    for path in sorted(repo.staged().keys() & changes.keys()):
        repo.put(STAGED, path, None)


def restage(repo: Repository, index: Mapping[str, str]) -> None:
    """Stage these files again after the last commit has changed."""
    staged = difference(repo.snapshot(repo.head), index)
    repo.unstage()
    for path, (_, content) in staged.items():
        repo.stage(path, content)
