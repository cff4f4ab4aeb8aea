"""Change branches, tags and the head: create, rename, delete, check out and reset."""

from __future__ import annotations

import re

from mcp_sim.backends.git import inspection, staging
from mcp_sim.backends.git.entities import BRANCH, TAG
from mcp_sim.backends.git.repository import Repository, Snapshot, unknown_revision
from mcp_sim.backends.git.request import GitRequest
from mcp_sim.backends.git.staging import restage, switch_to
from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record

_BAD_NAME = re.compile(r"^[-/.]|\.\.|[\s~^:?*\[\\]|[/.]$|\.lock$|@\{|^@$")


def branch(request: GitRequest) -> Outcome:
    """Create the named branch at `base`, or delete it if `delete` is set; list the branches if none is named."""
    if not request.text("branch"):
        return inspection.branches(request)
    return delete_branch(request) if request.flag("delete") else create_branch(request)


def create_branch(request: GitRequest) -> Outcome:
    """Create a branch at another one, at the head by default; check it out if `checkout` is set.

    Raises `Refused` if the name is invalid, or taken and `force` is not set, or the base does not exist.
    """
    repo, name = request.repository, request.required("branch")
    base = add_branch(repo, name, request.text("base"), force=request.flag("force"))
    if request.flag("checkout"):
        switch_to(repo, repo.tip(name) or "", "checkout")
        check_out(repo, name)
    return done(f"Created branch '{name}' from '{base}'", branch=name, base=base, commit=repo.tip(name))


def add_branch(repo: Repository, name: str, base: str = "", *, force: bool = False) -> str:
    """Add a branch, and return the name of its base."""
    _check_name(repo, name, force=force)
    base = base or repo.branch or "HEAD"
    if base == repo.branch and repo.head is None:
        raise Refused("conflict", f"Not a valid object name: '{base}' has no commits yet", branch=name)
    repo.put(BRANCH, name, {"name": name, "commit": repo.resolve(base)})
    return base


def _check_name(repo: Repository, name: str, *, force: bool = False) -> None:
    """Raise `Refused` if a name of a new branch is invalid or taken."""
    if _BAD_NAME.search(name):
        raise Refused("invalid", f"'{name}' is not a valid branch name", branch=name)
    if repo.get(BRANCH, name) is not None and not force:
        raise Refused("conflict", f"A branch named '{name}' already exists", branch=name, key=name, entity=BRANCH)


def delete_branch(request: GitRequest) -> Outcome:
    """Delete a branch. Raises `Refused` if it does not exist, is checked out, or is not merged and not forced."""
    repo, name = request.repository, request.required("branch")
    tip = inspection.find_branch(repo, name)["commit"]
    if name == repo.branch:
        raise Refused("conflict", f"Cannot delete branch '{name}': it is checked out", branch=name)
    if not request.flag("force") and not repo.is_ancestor(tip, repo.head):
        raise Refused("conflict", f"The branch '{name}' is not fully merged", branch=name)
    repo.put(BRANCH, name, None)
    return done(f"Deleted branch {name} (was {tip[:7]})", branch=name, commit=tip, deleted=True)


def rename_branch(request: GitRequest) -> Outcome:
    """Rename a branch, the current one by default.

    Raises `Refused` if it does not exist, or the new name is invalid or taken.
    """
    repo, new = request.repository, request.required("new_name")
    old = request.text("old_name") or repo.branch or ""
    row, is_current = inspection.find_branch(repo, old), old == repo.branch
    _check_name(repo, new)
    repo.put(BRANCH, old, None)
    repo.put(BRANCH, new, {**row, "name": new})
    if is_current:
        repo.update_record(branch=new)
    return done(f"Renamed branch '{old}' to '{new}'", branch=new, old_name=old)


def check_out(repo: Repository, branch: str | None, commit: str | None = None) -> None:
    """Point the head to a branch, or to a commit without a branch."""
    before = repo.branch or repo.head
    repo.update_record(branch=branch, commit=commit)
    repo.record_move("checkout", f"moving from {before} to {branch or commit}")


def checkout(request: GitRequest) -> Outcome:
    """Check out a branch, a new branch (`create`, or its name as `new_branch`), or a commit without a branch.

    Raises `Refused` if the revision is unknown, or the checkout overwrites a local change.
    """
    repo, name, new = request.repository, request.required("branch"), request.text("new_branch")
    is_new = bool(new) or request.flag("create")
    if is_new:
        base = name if new else request.text("base")
        name = new or name
        add_branch(repo, name, base, force=request.flag("force"))
    if name == repo.branch and not is_new:
        return done(f"Already on '{name}'", branch=name, commit=repo.head)
    target = repo.resolve(name)
    switch_to(repo, target, "checkout")
    if repo.get(BRANCH, name) is None:
        check_out(repo, None, target)
        return done(f"HEAD is now at {target[:7]}", branch=name, commit=target)
    check_out(repo, name)
    return done(f"Switched to {'a new ' if is_new else ''}branch '{name}'", branch=name, commit=target)


def reset(request: GitRequest) -> Outcome:
    """Unstage files; move the head if a revision is named, or the mode is `soft` or `hard`.

    A hard reset restores the files of the commit. Raises `Refused` if the revision is unknown.
    """
    repo, revision, mode = request.repository, request.text("revision"), _reset_mode(request)
    if request.files or not (revision or mode):
        return staging.unstage(request)
    if repo.head is None:
        raise unknown_revision(revision or "HEAD")
    target, head, index = repo.resolve(revision or "HEAD"), repo.head, repo.index()
    after, tracked = repo.snapshot(target), {**repo.snapshot(head), **index}
    repo.point_branch(target)
    repo.record_move("reset", f"moving to {revision or 'HEAD'}")
    restage(repo, index if mode == "soft" else after)
    if mode == "hard":
        _restore(repo, tracked, after)
    text = f"HEAD is now at {target[:7]} {repo.commit(target).get('message')}"
    return done(text, commit=target, target=target, mode=mode or "mixed", previous_commit=head)


def _reset_mode(request: GitRequest) -> str:
    """Return `hard`, `soft`, or empty for a mixed reset."""
    mode = request.text("mode").strip("-")
    return next((one for one in ("hard", "soft") if mode == one or request.flag(one)), "")


def _restore(repo: Repository, tracked: Snapshot, files: Snapshot) -> None:
    """Give tracked files the content of a snapshot, and remove those that it does not have."""
    staging.write_files(repo, {path: files.get(path) for path in sorted(tracked.keys() | files.keys())})


# tags ---------------------------------------------------------------------------------------------------------------


def tags(request: GitRequest) -> Outcome:
    """List the tags."""
    rows: list[Json] = [*request.repository.rows(TAG)]
    return Outcome("\n".join(row["name"] for row in rows) or "No tags", {"tags": rows, "count": len(rows)}, "tags")


def tag(request: GitRequest) -> Outcome:
    """Create the named tag, or delete it if `delete` is set; list the tags if none is named."""
    if not request.text("tag"):
        return tags(request)
    return delete_tag(request) if request.flag("delete") else create_tag(request)


def create_tag(request: GitRequest) -> Outcome:
    """Create a tag of a revision, of the head by default.

    Raises `Refused` if it already exists, or the revision is unknown.
    """
    repo, name = request.repository, request.required("tag")
    if repo.get(TAG, name) is not None:
        raise Refused("conflict", f"Tag '{name}' already exists", tag=name, key=name, entity=TAG)
    row: Record = {"name": name, "commit": repo.resolve(request.text("revision") or "HEAD")}
    repo.put(TAG, name, {**row, "message": request.get("message")})
    return done(f"Created tag '{name}' at {row['commit'][:7]}", **row, tag=name, created=name)


def delete_tag(request: GitRequest) -> Outcome:
    """Delete a tag. Raises `Refused` if it does not exist."""
    repo, name = request.repository, request.required("tag")
    if repo.get(TAG, name) is None:
        raise Refused("not_found", f"Tag '{name}' not found", tag=name, key=name, entity=TAG)
    repo.put(TAG, name, None)
    return done(f"Deleted tag '{name}'", tag=name, deleted=name)
