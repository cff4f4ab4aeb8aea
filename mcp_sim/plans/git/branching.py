"""Change branches, tags, worktrees and the head: create, rename, delete, check out and reset."""

from __future__ import annotations

import re

from mcp_sim.plans.files.paths import normalize
from mcp_sim.plans.git import inspection, staging
from mcp_sim.plans.git.entities import BRANCH, TAG
from mcp_sim.plans.git.request import GitRequest, listing, unknown_revision
from mcp_sim.plans.git.staging import restage, switch_to
from mcp_sim.plans.outcome import Outcome, done
from mcp_sim.plans.refusal import Refused
from mcp_sim.types import Record

_BAD_NAME = re.compile(r"^[-/.]|\.\.|[\s~^:?*\[\\]|[/.]$|\.lock$|@\{|^@$")


def branch(request: GitRequest) -> Outcome:
    """Create the named branch at `base`, or delete it if `delete` is set; list the branches if none is named."""
    if not request.text("branch"):
        return inspection.branches(request)
    return delete_branch(request) if request.flag("delete") else create_branch(request)


def create_branch(request: GitRequest) -> Outcome:
    """Create a branch, and check it out if asked to. Raises `Refused` if the name is not free, or the base unknown."""
    name = request.required("branch")
    base = _add_branch(request, name, request.text("base"))
    if request.flag("checkout"):
        check_out(request, request.tip(name) or "", name)
    return done(f"Created branch '{name}' from '{base}'", branch=name, base=base, commit=request.tip(name))


def _add_branch(request: GitRequest, name: str, base: str = "") -> str:
    """Add a branch, and return the name of its base."""
    _check_name(request, name, force=request.flag("force"))
    base = base or request.branch or "HEAD"
    if base == request.branch and request.head is None:
        raise Refused("conflict", f"Not a valid object name: '{base}' has no commits yet", branch=name)
    request.put(name, {"name": name, "commit": request.resolve(base)}, BRANCH)
    return base


def _check_name(request: GitRequest, name: str, *, force: bool = False) -> None:
    """Raise `Refused` if a name of a new branch is invalid or taken."""
    if _BAD_NAME.search(name):
        raise Refused("invalid", f"'{name}' is not a valid branch name", branch=name)
    if request.record(name, BRANCH) is not None and not force:
        raise Refused("conflict", f"A branch named '{name}' already exists", branch=name, key=name, entity=BRANCH)


def delete_branch(request: GitRequest) -> Outcome:
    """Delete a branch. Raises `Refused` if it does not exist, is checked out, or is not merged and not forced."""
    name = request.required("branch")
    tip = request.find_branch(name)["commit"]
    if name == request.branch:
        raise Refused("conflict", f"Cannot delete branch '{name}': it is checked out", branch=name)
    if not request.flag("force") and not request.is_ancestor(tip, request.head):
        raise Refused("conflict", f"The branch '{name}' is not fully merged", branch=name)
    request.drop(name, BRANCH)
    return done(f"Deleted branch {name} (was {tip[:7]})", branch=name, commit=tip, deleted=True)


def rename_branch(request: GitRequest) -> Outcome:
    """Rename a branch, by default the current one. Raises `Refused` if it is unknown, or the new name is not free."""
    new, current = request.required("new_name"), request.branch
    old = request.text("old_name") or current or ""
    row = request.find_branch(old)
    _check_name(request, new)
    request.drop(old, BRANCH)
    request.put(new, {**row, "name": new}, BRANCH)
    if old == current:
        request.update(branch=new)
    return done(f"Renamed branch '{old}' to '{new}'", branch=new, old_name=old)


def check_out(request: GitRequest, commit: str, branch: str | None) -> None:
    """Point the head to a commit, of a branch if one is given. Raises `Refused` if that overwrites a local change."""
    switch_to(request, commit, "checkout")
    before = request.branch or request.head
    request.update(branch=branch, commit=None if branch else commit)
    request.record_move("checkout", f"moving from {before} to {branch or commit}")


def checkout(request: GitRequest) -> Outcome:
    """Check out a branch, a new one, or a commit. Raises `Refused` if it is unknown, or overwrites a local change."""
    name, new = request.required("branch"), request.text("new_branch")
    is_new = bool(new) or request.flag("create")
    if is_new:
        base = name if new else request.text("base")
        name = new or name
        _add_branch(request, name, base)
    if name == request.branch and not is_new:
        return done(f"Already on '{name}'", branch=name, commit=request.head)
    target = request.resolve(name)
    is_branch = request.record(name, BRANCH) is not None
    check_out(request, target, name if is_branch else None)
    text = f"Switched to {'a new ' if is_new else ''}branch '{name}'" if is_branch else f"HEAD is now at {target[:7]}"
    return done(text, branch=name, commit=target)


def reset(request: GitRequest) -> Outcome:
    """Unstage files, or move the head: `soft`, `mixed` or `hard`. Raises `Refused` if the revision is unknown."""
    revision, mode, head = request.text("revision"), _reset_mode(request), request.head
    if request.files or not (revision or mode != "mixed"):
        return staging.unstage(request)
    if head is None:
        raise unknown_revision(revision or "HEAD")
    target, index = request.resolve(revision or "HEAD"), request.index()
    after, tracked = request.snapshot(target), {**request.snapshot(head), **index}
    request.point_branch(target)
    request.record_move("reset", f"moving to {revision or 'HEAD'}")
    restage(request, index if mode == "soft" else after)
    if mode == "hard":
        request.write({path: after.get(path) for path in sorted(tracked.keys() | after.keys())})
    text = f"HEAD is now at {target[:7]} {request.commit(target).get('message')}"
    return done(text, commit=target, target=target, mode=mode, previous_commit=head)


def _reset_mode(request: GitRequest) -> str:
    named = request.text("mode").strip("-")
    return next((mode for mode in ("hard", "soft") if named == mode or request.flag(mode)), "mixed")


def tags(request: GitRequest) -> Outcome:
    """List the tags."""
    rows = [*request.rows(TAG)]
    return listing("tags", rows, (row["name"] for row in rows))


def tag(request: GitRequest) -> Outcome:
    """Create the named tag, or delete it if `delete` is set; list the tags if none is named."""
    if not request.text("tag"):
        return tags(request)
    return delete_tag(request) if request.flag("delete") else create_tag(request)


def create_tag(request: GitRequest) -> Outcome:
    """Create a tag of a revision, by default of the head. Raises `Refused` if it exists, or the revision is unknown."""
    name = request.required("tag")
    if request.record(name, TAG) is not None:
        raise Refused("conflict", f"Tag '{name}' already exists", tag=name, key=name, entity=TAG)
    row: Record = {"name": name, "commit": request.resolve(request.text("revision") or "HEAD")}
    request.put(name, {**row, "message": request.get("message")}, TAG)
    return done(f"Created tag '{name}' at {row['commit'][:7]}", **row, tag=name, created=name)


def delete_tag(request: GitRequest) -> Outcome:
    """Delete a tag. Raises `Refused` if it does not exist."""
    name = request.required("tag")
    if request.record(name, TAG) is None:
        raise Refused("not_found", f"Tag '{name}' not found", tag=name, key=name, entity=TAG)
    request.drop(name, TAG)
    return done(f"Deleted tag '{name}'", tag=name, deleted=name)


def worktrees(request: GitRequest) -> Outcome:
    """List the main worktree and those that were added."""
    known: list[Record] = [{"path": request.root, "branch": request.branch}, *request.stored("worktrees")]
    rows: list[Record] = []
    for path, name in ((row["path"], row["branch"]) for row in known):
        commit, is_detached = request.head if name is None else request.tip(name), name is None
        row: Record = {"path": path, "hash": commit, "branch_name": name, "bare": False, "detached": is_detached}
        row |= {"locked": False, "prunable": False, "branch": None if is_detached else f"refs/heads/{name}"}
        rows.append(row)
    return listing("worktrees", rows, (f"{row['path']} {str(row['hash'])[:7]} [{row['branch_name']}]" for row in rows))


def add_worktree(request: GitRequest) -> Outcome:
    """Add a worktree for a branch, created if needed. Raises `Refused` if the path or the branch is in use."""
    path, others = normalize(request.required("path")), request.stored("worktrees")
    name = request.text("branch") or path.rpartition("/")[2]
    if path in {"/", request.root, *(row["path"] for row in others)}:
        raise Refused("conflict", f"'{path}' already exists", path=path, key=path)
    if name in {request.branch, *(row["branch"] for row in others)}:
        raise Refused("conflict", f"'{name}' is already checked out", branch=name, key=name)
    if request.record(name, BRANCH) is None:
        _add_branch(request, name, request.text("revision") or "HEAD")
    row: Record = {"path": path, "branch": name}
    request.update(worktrees=[*others, row])
    return done(f"Preparing worktree (checking out '{name}')", **row, added=row, hash=request.tip(name))


def remove_worktree(request: GitRequest) -> Outcome:
    """Remove a worktree. Raises `Refused` if it does not exist."""
    path, known = normalize(request.required("path")), request.stored("worktrees")
    left = [row for row in known if row["path"] != path]
    if left == known:
        raise Refused("not_found", f"'{path}' is not a working tree", path=path, key=path)
    request.update(worktrees=left)
    return done(f"Removed worktree {path}", path=path, removed=path)
