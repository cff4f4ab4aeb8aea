"""Manage worktrees, untracked files, and the working directory."""

from __future__ import annotations

from mcp_sim.backends.files.paths import normalize, split_path
from mcp_sim.backends.git.branching import add_branch
from mcp_sim.backends.git.entities import BRANCH
from mcp_sim.backends.git.inspection import status
from mcp_sim.backends.git.repository import Repository
from mcp_sim.backends.git.request import GitRequest
from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record


def set_working_directory(request: GitRequest) -> Outcome:
    """Set the default repository of later calls."""
    repo = request.repository
    facts = {**status(request).facts, "path": repo.place or repo.root}
    return done(f"Working directory set to: {repo.place or repo.root}", **facts)


def clear_working_directory(request: GitRequest) -> Outcome:
    """Forget the default repository of later calls."""
    place = request.repository.root
    return done(f"Working directory cleared; it was {place}", path=place, previous_path=place)


def clean(request: GitRequest) -> Outcome:
    """Remove untracked files; only list them in a dry run.

    Raises `Refused` if the tool has a force flag and it is not set.
    """
    repo = request.repository
    index = repo.index()
    paths = sorted(path for path in repo.working() if path not in index)
    if not request.flag("dry_run"):
        if request.has("force") and not request.flag("force"):
            raise Refused("forbidden", "clean.requireForce is true and force was not given: refusing to clean")
        for path in paths:
            repo.write(path, None)
    names: list[Json] = [repo.shown(path) for path in paths]
    verb = "Would remove" if request.flag("dry_run") else "Removing"
    text = "\n".join(f"{verb} {name}" for name in names) or "Nothing to remove"
    return done(text, files=names, files_removed=names, directories_removed=[], dry_run=request.flag("dry_run"))


# worktrees --------------------------------------------------------------------------------------------------------


def worktrees(request: GitRequest) -> Outcome:
    """List the main worktree and those that were added."""
    repo = request.repository
    rows = [_row(repo, repo.root, repo.branch), *(_row(repo, row["path"], row["branch"]) for row in _others(repo))]
    text = "\n".join(f"{row['path']} {str(row['hash'])[:7]} [{row['branch_name']}]" for row in rows)
    return Outcome(text, {"worktrees": rows, "count": len(rows)}, "worktrees")


def _row(repo: Repository, path: str, branch: str | None) -> Record:
    row: Record = {"path": path, "hash": repo.tip(branch) if branch is not None else repo.head, "branch_name": branch}
    flags = {"bare": False, "detached": branch is None, "locked": False, "prunable": False}
    return {**row, **flags, "branch": None if branch is None else f"refs/heads/{branch}"}


def _others(repo: Repository) -> list[Record]:
    return repo.record.get("worktrees") or []


def add_worktree(request: GitRequest) -> Outcome:
    """Add a worktree for a branch, which is created if needed.

    Raises `Refused` if the path is taken, or the branch is already checked out.
    """
    repo, path = request.repository, normalize(request.required("path"))
    branch = request.text("branch") or split_path(path)[-1]
    if path == repo.root or any(row["path"] == path for row in _others(repo)):
        raise Refused("conflict", f"'{path}' already exists", path=path, key=path)
    if repo.branch == branch or any(row["branch"] == branch for row in _others(repo)):
        raise Refused("conflict", f"'{branch}' is already checked out", branch=branch, key=branch)
    if repo.get(BRANCH, branch) is None:
        add_branch(repo, branch, request.text("revision") or "HEAD")
    row: Record = {"path": path, "branch": branch}
    repo.update_record(worktrees=[*_others(repo), row])
    return done(f"Preparing worktree (checking out '{branch}')", **row, added=row, hash=repo.tip(branch))


def remove_worktree(request: GitRequest) -> Outcome:
    """Remove a worktree. Raises `Refused` if it does not exist."""
    repo, path = request.repository, normalize(request.required("path"))
    left = [row for row in _others(repo) if row["path"] != path]
    if len(left) == len(_others(repo)):
        raise Refused("not_found", f"'{path}' is not a working tree", path=path, key=path)
    repo.update_record(worktrees=left)
    return done(f"Removed worktree {path}", path=path, removed=path)
