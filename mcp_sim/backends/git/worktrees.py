"""Manage worktrees, untracked files, and the working directory."""

from __future__ import annotations

from mcp_sim.backends.files.paths import normalize, split_path
from mcp_sim.backends.git.branching import create_branch
from mcp_sim.backends.git.entities import BRANCH
from mcp_sim.backends.git.inspection import status
from mcp_sim.backends.git.repository import Repository
from mcp_sim.backends.git.request import Request
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.types import Json, Record


def _done(request: Request, text: str, **facts: Json) -> Outcome:
    return done(text, *request.repository.changes, **facts)


def enter(request: Request) -> Outcome:
    """Set the default repository of later calls."""
    repo = request.repository
    facts = {**status(request).facts, "path": repo.place or repo.root}
    return _done(request, f"Working directory set to: {repo.place or repo.root}", **facts)


def leave(request: Request) -> Outcome:
    place = request.repository.root
    return _done(request, f"Working directory cleared; it was {place}", path=place, previous_path=place)


def clean(request: Request) -> Outcome:
    """Remove untracked files; only list them in a dry run.

    Raises `Refused` if the tool has a force flag and it is not set.
    """
    repo = request.repository
    index = repo.index()
    paths = sorted(path for path in repo.working() if path not in index)
    if not request.flag("dry"):
        if "force" in request.roles and not request.flag("force"):
            raise Refused("forbidden", "clean.requireForce is true and force was not given: refusing to clean")
        for path in paths:
            repo.write(path, None)
    names: list[Json] = [repo.shown(path) for path in paths]
    verb = "Would remove" if request.flag("dry") else "Removing"
    text = "\n".join(f"{verb} {name}" for name in names) or "Nothing to remove"
    return _done(request, text, files=names, files_removed=names, directories_removed=[], dry_run=request.flag("dry"))


# worktrees --------------------------------------------------------------------------------------------------------


def worktrees(request: Request) -> Outcome:
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


def add_worktree(request: Request) -> Outcome:
    """Add a worktree for a branch, which is created if needed.

    Raises `Refused` if the path is taken, or the branch is already checked out.
    """
    repo, path = request.repository, normalize(request.required_text("worktree"))
    branch = request.text("branch") or split_path(path)[-1]
    if path == repo.root or any(row["path"] == path for row in _others(repo)):
        raise Refused("conflict", f"'{path}' already exists", path=path, key=path)
    if repo.branch == branch or any(row["branch"] == branch for row in _others(repo)):
        raise Refused("conflict", f"'{branch}' is already checked out", branch=branch, key=branch)
    if repo.get(BRANCH, branch) is None:
        given = {"branch": branch, "base": request.text("revision") or "HEAD"}
        create_branch(Request(given, {"branch": "branch", "base": "base"}, repo))
    row: Record = {"path": path, "branch": branch}
    repo.update_record(worktrees=[*_others(repo), row])
    return _done(request, f"Preparing worktree (checking out '{branch}')", **row, added=row, hash=repo.tip(branch))


def remove_worktree(request: Request) -> Outcome:
    """Remove a worktree. Raises `Refused` if it does not exist."""
    repo, path = request.repository, normalize(request.required_text("worktree"))
    left = [row for row in _others(repo) if row["path"] != path]
    if len(left) == len(_others(repo)):
        raise Refused("not_found", f"'{path}' is not a working tree", path=path, key=path)
    repo.update_record(worktrees=left)
    return _done(request, f"Removed worktree {path}", path=path, removed=path)
