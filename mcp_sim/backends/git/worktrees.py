"""What do the tools do about where one works on a repository: other working trees, untracked files, the place?"""

from __future__ import annotations

from mcp_sim.backends.files.paths import names_of, normal
from mcp_sim.backends.git.branching import create_branch
from mcp_sim.backends.git.entities import BRANCH
from mcp_sim.backends.git.inspection import status
from mcp_sim.backends.git.repository import Repository
from mcp_sim.backends.git.request import Asked
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.types import Json, Record


def _done(asked: Asked, text: str, **facts: Json) -> Outcome:
    return done(text, *asked.repository.changes, **facts)


def enter(asked: Asked) -> Outcome:
    """The place that calls are about which name none."""
    one = asked.repository
    facts = {**status(asked).facts, "path": one.place or one.root}
    return _done(asked, f"Working directory set to: {one.place or one.root}", **facts)


def leave(asked: Asked) -> Outcome:
    place = asked.repository.root
    return _done(asked, f"Working directory cleared; it was {place}", path=place, previous_path=place)


def clean(asked: Asked) -> Outcome:
    """Untracked files, removed; only told where the call is to show what would be."""
    one = asked.repository
    index = one.index()
    paths = sorted(path for path in one.working() if path not in index)
    if not asked.flag("dry"):
        if "force" in asked.roles and not asked.flag("force"):
            raise Refused("forbidden", "clean.requireForce is true and force was not given: refusing to clean")
        for path in paths:
            one.write(path, None)
    names: list[Json] = [one.shown(path) for path in paths]
    verb = "Would remove" if asked.flag("dry") else "Removing"
    text = "\n".join(f"{verb} {name}" for name in names) or "Nothing to remove"
    return _done(asked, text, files=names, files_removed=names, directories_removed=[], dry_run=asked.flag("dry"))


# working trees --------------------------------------------------------------------------------------------------------


def worktrees(asked: Asked) -> Outcome:
    """The repository's own working tree, and those that were added."""
    one = asked.repository
    rows = [_row(one, one.root, one.branch), *(_row(one, row["path"], row["branch"]) for row in _others(one))]
    text = "\n".join(f"{row['path']} {str(row['hash'])[:7]} [{row['branch_name']}]" for row in rows)
    return Outcome(text, {"worktrees": rows, "count": len(rows)}, "worktrees")


def _row(one: Repository, path: str, branch: str | None) -> Record:
    row: Record = {"path": path, "hash": one.tip(branch) if branch is not None else one.head, "branch_name": branch}
    flags = {"bare": False, "detached": branch is None, "locked": False, "prunable": False}
    return {**row, **flags, "branch": None if branch is None else f"refs/heads/{branch}"}


def _others(one: Repository) -> list[Record]:
    return one.record.get("worktrees") or []


def add_worktree(asked: Asked) -> Outcome:
    """Another working tree, of a branch that is made where there is none of this name."""
    one, path = asked.repository, normal(asked.needed("worktree"))
    branch = asked.text("branch") or names_of(path)[-1]
    if path == one.root or any(row["path"] == path for row in _others(one)):
        raise Refused("conflict", f"'{path}' already exists", path=path, key=path)
    if one.branch == branch or any(row["branch"] == branch for row in _others(one)):
        raise Refused("conflict", f"'{branch}' is already checked out", branch=branch, key=branch)
    if one.get(BRANCH, branch) is None:
        given = {"branch": branch, "base": asked.text("revision") or "HEAD"}
        create_branch(Asked(given, {"branch": "branch", "base": "base"}, one))
    row: Record = {"path": path, "branch": branch}
    one.say(worktrees=[*_others(one), row])
    return _done(asked, f"Preparing worktree (checking out '{branch}')", **row, added=row, hash=one.tip(branch))


def remove_worktree(asked: Asked) -> Outcome:
    one, path = asked.repository, normal(asked.needed("worktree"))
    left = [row for row in _others(one) if row["path"] != path]
    if len(left) == len(_others(one)):
        raise Refused("not_found", f"'{path}' is not a working tree", path=path, key=path)
    one.say(worktrees=left)
    return _done(asked, f"Removed worktree {path}", path=path, removed=path)
