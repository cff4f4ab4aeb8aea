"""Initialize a repository, change its working tree and its index, and commit."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mcp_sim.plans.files.paths import is_within, normalize
from mcp_sim.plans.git.changes import difference
from mcp_sim.plans.git.entities import MAIN, STAGED
from mcp_sim.plans.git.inspection import nothing_to_commit, status, uncommitted
from mcp_sim.plans.git.request import HERE, GitRequest
from mcp_sim.plans.outcome import Outcome, done
from mcp_sim.plans.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.json_schema.shapes import as_list, as_object


def init(request: GitRequest) -> Outcome:
    """Initialize the repository if it is missing yet. Raises `Refused` for a path outside an existing one."""
    given, root = request.text("directory"), request.root
    place = root if given in HERE else given
    path = normalize(place)
    if request.head is None and not request.staged():
        files = request.working()
        is_elsewhere = bool(files) and not any(is_within(file, [path]) for file in files)
        request.update(root=root if is_elsewhere else path, branch=request.branch or MAIN)
        return done(f"Initialized empty Git repository in {place.rstrip('/')}/.git/", path=place)
    if not is_within(path, [request.root_at(given) or root]):
        raise Refused("forbidden", f"Access denied: {place} is outside the repository {root}", path=place)
    return done(f"Reinitialized existing Git repository in {place.rstrip('/')}/.git/", path=place)


def set_working_directory(request: GitRequest) -> Outcome:
    """Set the default repository of later calls."""
    place = request.place or request.root
    return done(f"Working directory set to: {place}", **{**status(request).facts, "path": place})


def clear_working_directory(request: GitRequest) -> Outcome:
    """Forget the default repository of later calls."""
    return done(f"Working directory cleared; it was {request.root}", path=request.root, previous_path=request.root)


def clean(request: GitRequest) -> Outcome:
    """Remove untracked files, or list them in a dry run. Raises `Refused` if the tool's force flag is not set."""
    index, is_dry = request.index(), request.flag("dry_run")
    if not is_dry and request.has("force") and not request.flag("force"):
        raise Refused("forbidden", "clean.requireForce is true and force was not given: refusing to clean")
    paths = sorted(path for path in request.working() if path not in index)
    names: list[Json] = [request.shown(path) for path in paths]
    if not is_dry:
        request.write(dict.fromkeys(paths))
    text = "\n".join(f"{'Would remove' if is_dry else 'Removing'} {name}" for name in names) or "Nothing to remove"
    return done(text, files=names, files_removed=names, directories_removed=[], dry_run=is_dry)


def stage(request: GitRequest) -> Outcome:
    """Stage files, all by default. Raises `Refused` if a tool for files gets none, or a named one matches nothing."""
    if request.has("files") and not (request.get("files") or request.flag("all")):
        raise Refused("invalid", f"Nothing specified, nothing added: {request.named('files')} is empty")
    index, working = request.index(), request.working()
    paths = request.paths({**index, **working})
    for path in paths:
        if working.get(path) != index.get(path):
            request.stage(path, working.get(path))
    files: list[Json] = [request.shown(path) for path in paths]
    return done("Files staged successfully", **{**status(request).facts, "files": files, "count": len(paths)})


def unstage(request: GitRequest) -> Outcome:
    """Unstage files, all by default. Raises `Refused` if a named one matches nothing."""
    staged = request.staged()
    paths = request.paths({**request.index(), **staged} if request.files else staged)
    for path in paths:
        request.stage(path, request.committed(path))
    what = "Files unstaged successfully" if request.files else "All staged changes reset"
    return done(what, files=[request.shown(path) for path in paths], count=len(paths), target=request.head)


def restore(request: GitRequest) -> Outcome:
    """Restore files from the index, or unstage them (`staged`). Raises `Refused` if none is named or matches."""
    if not (request.texts("files") or request.flag("all")):
        raise Refused("invalid", "you must specify path(s) to restore")
    if request.flag("staged"):
        return unstage(request)
    index = request.index()
    paths = request.paths(index)
    request.write({path: index[path] for path in paths})
    return done("Changes discarded successfully", files=[request.shown(path) for path in paths])


def commit(request: GitRequest) -> Outcome:
    """Commit what is staged, and named files, or `all` tracked ones. Raises `Refused` if there is nothing to commit."""
    message, head = request.required("message"), request.head
    if request.flag("all") or request.files:
        index, working = request.index(), request.working()
        for path in request.paths({**index, **working} if request.files else index):
            request.stage(path, working.get(path))
    files, author, parents = request.staged(), request.author(), [] if head is None else [head]
    if request.flag("amend"):
        if head is None:
            raise Refused("conflict", "You have nothing to amend: there are no commits yet")
        old = request.commit(head)
        author, parents = {"author": old.get("author"), "email": old.get("email")}, as_list(old.get("parents"))
        files = {**as_object(old.get("files")), **files}
    elif not files and not request.flag("allow_empty"):
        raise Refused("conflict", nothing_to_commit(uncommitted(request)))
    request.unstage()
    row = request.add_commit(message, parents, files, author)
    facts = {**status(request).facts, **request.commit_facts(row), "branch": request.branch, "commit": row["hash"]}
    return done(f"Changes committed successfully with hash {row['hash']}", **facts)


def refuse_overwriting(request: GitRequest, paths: Collection[str], by: str) -> None:
    """Raise `Refused` if there are files whose local changes an operation would overwrite."""
    if paths:
        named = ", ".join(request.shown(path) for path in sorted(paths))
        raise Refused("conflict", f"Your local changes to the following files would be overwritten by {by}: {named}")


def switch_to(request: GitRequest, commit: str, by: str) -> None:
    """Change the files that differ in another commit. Raises `Refused` if that overwrites a local change."""
    before, index = request.snapshot(request.head), request.index()
    changes = difference(before, request.snapshot(commit))
    contents = ((path, change, request.content(path), index.get(path)) for path, change in changes.items())
    changed = [path for path, known, here, staged in contents if not {here, staged} <= {*known}]
    refuse_overwriting(request, changed, by)
    request.write({path: new for path, (_, new) in changes.items()})
    for path in sorted(request.staged().keys() & changes.keys()):
        request.drop(path, STAGED)


def restage(request: GitRequest, index: Mapping[str, str]) -> None:
    """Stage these files again after the last commit has changed."""
    staged = difference(request.snapshot(request.head), index)
    request.unstage()
    for path, (_, content) in staged.items():
        request.stage(path, content)
