"""Initialize a repository, change its index, and commit."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mcp_sim.backends.files.paths import is_within, normalize
from mcp_sim.backends.git.entities import MAIN, STAGED
from mcp_sim.backends.git.history import render_commit
from mcp_sim.backends.git.inspection import nothing_to_commit, status, uncommitted
from mcp_sim.backends.git.repository import Repository, difference
from mcp_sim.backends.git.request import GitRequest
from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object


def init(request: GitRequest) -> Outcome:
    """Initialize the repository if there is none yet; there can be only one.

    Raises `Refused` for a path outside an existing repository.
    """
    repo = Repository(request)
    place = repo.root if repo.place in {"", ".", "./"} else repo.place
    if repo.head is None and not repo.staged():
        repo.update_record(root=_root(repo, normalize(place)), branch=repo.branch or MAIN)
        return done(f"Initialized empty Git repository in {place.rstrip('/')}/.git/", path=place)
    if not is_within(normalize(place), [repo.root]):
        raise Refused("forbidden", f"Access denied: {place} is outside the repository {repo.root}", path=place)
    return done(f"Reinitialized existing Git repository in {place.rstrip('/')}/.git/", path=place)


def _root(repo: Repository, place: str) -> str:
    """Return the root of the files: `place`, or the given root if no file is there."""
    files = repo.working()
    return repo.root if files and not any(is_within(path, [place]) for path in files) else place


def stage(request: GitRequest) -> Outcome:
    """Stage files as they are now, all by default.

    Raises `Refused` if the tool takes files and the call gives none, or a named one matches nothing.
    """
    repo = request.repository
    index, working = repo.index(), repo.working()
    if request.has("files") and not (request.get("files") or request.flag("all")):
        raise Refused("invalid", f"Nothing specified, nothing added: {request.named('files')} is empty")
    paths = request.paths({**index, **working})
    for path in paths:
        if working.get(path) != index.get(path):
            repo.stage(path, working.get(path))
    names: list[Json] = [repo.shown(path) for path in paths]
    return done("Files staged successfully", **{**status(request).facts, "files": names, "count": len(paths)})


def unstage(request: GitRequest) -> Outcome:
    """Unstage files, all by default. Raises `Refused` if a named one matches nothing."""
    repo = request.repository
    staged = repo.staged()
    paths = request.paths({**repo.index(), **staged} if request.files else staged)
    for path in paths:
        repo.stage(path, repo.committed(path))
    what = "Files unstaged successfully" if request.files else "All staged changes reset"
    files: list[Json] = [repo.shown(path) for path in paths]
    return done(what, files=files, count=len(paths), target=repo.head)


def restore(request: GitRequest) -> Outcome:
    """Restore files from the index, discarding changes in the working tree; unstage them if `staged` is set.

    Raises `Refused` if none is named, or a named one matches nothing.
    """
    if not (request.texts("files") or request.flag("all")):
        raise Refused("invalid", "you must specify path(s) to restore")
    if request.flag("staged"):
        return unstage(request)
    repo = request.repository
    index = repo.index()
    paths = request.paths(index)
    write_files(repo, {path: index[path] for path in paths})
    return done("Changes discarded successfully", files=[repo.shown(path) for path in paths])


def write_files(repo: Repository, files: Mapping[str, Json]) -> None:
    """Give files in the working tree these contents; None removes a file."""
    for path, content in files.items():
        if repo.content(path) != content:
            repo.write(path, content)


# commits --------------------------------------------------------------------------------------------------------------


def commit(request: GitRequest) -> Outcome:
    """Commit what is staged, and the changes of the named files, or of all tracked files if `all` is set.

    Raises `Refused` if there is nothing to commit, unless `allow_empty` is set; with `amend`, if there is no commit.
    """
    repo, message = request.repository, request.required("message")
    if request.flag("all") or request.files:
        _stage_tracked(request)
    head, staged = repo.head, repo.staged()
    if request.flag("amend"):
        return _amend(request, message, staged)
    if not staged and not request.flag("allow_empty"):
        raise Refused("conflict", nothing_to_commit(uncommitted(repo)))
    repo.unstage()
    row = repo.add(message, [] if head is None else [head], staged, request.author())
    return _committed(request, row)


def _stage_tracked(request: GitRequest) -> None:
    repo = request.repository
    index, working = repo.index(), repo.working()
    for path in request.paths({**index, **working} if request.files else index):
        repo.stage(path, working.get(path))


def _amend(request: GitRequest, message: str, staged: Mapping[str, Json]) -> Outcome:
    """Replace the last commit by one with another message, and with what is staged."""
    repo = request.repository
    if repo.head is None:
        raise Refused("conflict", "You have nothing to amend: there are no commits yet")
    old = repo.commit(repo.head)
    repo.unstage()
    author: Record = {"author": old.get("author"), "email": old.get("email")}
    files: Record = {**as_object(old.get("files")), **staged}
    return _committed(request, repo.add(message, old.get("parents") or [], files, author))


def _committed(request: GitRequest, row: Record) -> Outcome:
    facts = {**status(request).facts, **render_commit(request.repository, row)}
    facts |= {"branch": request.repository.branch, "commit": row["hash"]}
    return done(f"Changes committed successfully with hash {row['hash']}", **facts)


# from one commit to another -------------------------------------------------------------------------------------------


def refuse_overwriting(repo: Repository, paths: Collection[str], by: str) -> None:
    """Raise `Refused` if there are files whose local changes an operation would overwrite."""
    if paths:
        named = ", ".join(repo.shown(path) for path in sorted(paths))
        raise Refused("conflict", f"Your local changes to the following files would be overwritten by {by}: {named}")


def switch_to(repo: Repository, commit: str, by: str) -> None:
    """Change the working tree to another commit. Raises `Refused` if that overwrites a local change.

    Files that are the same in both commits keep their local changes.
    """
    before, index = repo.snapshot(repo.head), repo.index()
    changes = difference(before, repo.snapshot(commit))
    contents = ((path, (old, new), repo.content(path), index.get(path)) for path, (old, new) in changes.items())
    refuse_overwriting(repo, [path for path, known, here, staged in contents if not {here, staged} <= {*known}], by)
    write_files(repo, {path: new for path, (_, new) in changes.items()})
    for path in sorted(repo.staged().keys() & changes.keys()):
        repo.put(STAGED, path, None)


def restage(repo: Repository, index: Mapping[str, str]) -> None:
    """Stage these files again after the last commit has changed."""
    staged = difference(repo.snapshot(repo.head), index)
    repo.unstage()
    for path, (_, content) in staged.items():
        repo.stage(path, content)
