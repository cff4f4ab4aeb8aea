"""Inspect a repository: status, branches, tags and differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import unified_diff

from mcp_sim.backends.files.paths import is_within
from mcp_sim.backends.git.entities import BRANCH, TAG
from mcp_sim.backends.git.repository import Difference, Repository, difference, unknown_revision
from mcp_sim.backends.git.request import Request
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record

_LINES = {
    "staged": ("Changes to be committed:", '  (use "git restore --staged <file>..." to unstage)'),
    "unstaged": (
        "Changes not staged for commit:",
        '  (use "git add <file>..." to update what will be committed)',
        '  (use "git restore <file>..." to discard changes in working directory)',
    ),
    "untracked": ("Untracked files:", '  (use "git add <file>..." to include in what will be committed)'),
}
"""Headings of git above files of each kind."""


def status(request: Request) -> Outcome:
    """Return staged, unstaged and untracked files."""
    repo = request.repository
    index, working = repo.index(), repo.working()
    staged = difference(repo.snapshot(repo.head), index)
    unstaged = difference(index, {path: text for path, text in working.items() if path in index})
    untracked: list[Json] = sorted(repo.shown(path) for path in working if path not in index)
    facts: Record = {"branch": repo.branch, "head": repo.head, "untracked": untracked, "ahead": 0, "behind": 0}
    lines = [f"On branch {repo.branch}" if repo.branch is not None else f"HEAD detached at {(repo.head or '')[:7]}"]
    lines += ["", "No commits yet", ""] if repo.head is None else []
    for name, found in (("staged", staged), ("unstaged", unstaged)):
        lines += [*_LINES[name], *_status_lines(repo, found), ""] if found else []
        facts[name] = [repo.shown(path) for path in found]
    lines += [*_LINES["untracked"], *(f"\t{path}" for path in untracked), ""] if untracked else []
    lines += [] if staged else [_nothing(unstaged, untracked)]
    facts["is_clean"] = not (staged or unstaged or untracked)
    facts["files"] = [{"path": path, "status": "untracked"} for path in untracked]
    facts["files"] += [
        {"path": repo.shown(path), "status": _kind(*change), "staged": found is staged}
        for found in (staged, unstaged)
        for path, change in found.items()
    ]
    kinds = {"staged_changes": _by_kind(repo, staged), "unstaged_changes": _by_kind(repo, unstaged)}
    return Outcome("Repository status:\n" + "\n".join(lines), {**facts, **kinds, "modified": facts["unstaged"]})


def _by_kind(repo: Repository, found: Difference) -> Record:
    """Return the paths that were added, modified and deleted."""
    kinds: dict[str, list[str]] = {}
    for path, change in found.items():
        kinds.setdefault(_kind(*change), []).append(repo.shown(path))
    return {**kinds}


def _nothing(unstaged: Difference, untracked: Sequence[Json]) -> str:
    if unstaged:
        return 'no changes added to commit (use "git add" and/or "git commit -a")'
    if untracked:
        return 'nothing added to commit but untracked files present (use "git add" to track)'
    return "nothing to commit, working tree clean"


def _status_lines(repo: Repository, found: Difference) -> list[str]:
    width = {"added": "new file:   ", "modified": "modified:   ", "deleted": "deleted:    "}
    return [f"\t{width[_kind(*change)]}{repo.shown(path)}" for path, change in found.items()]


def _kind(before: str | None, after: str | None) -> str:
    return "added" if before is None else "deleted" if after is None else "modified"


# branches and tags ----------------------------------------------------------------------------------------------------


def branches(request: Request) -> Outcome:
    """List the local branches; there are no remote ones. Raises `Refused` if the kind of branches is invalid."""
    repo = request.repository
    kind = str(request.text("kind") or "local").lower()
    if not kind.startswith(("local", "remote", "all")):
        raise Refused("invalid", f"Invalid {request.roles['kind']}: {kind}. It is local, remote or all")
    named = sorted(repo.rows(BRANCH), key=lambda row: row["name"])
    rows: list[Json] = [] if kind.startswith("remote") else [_branch(repo, row) for row in named]
    names: list[Json] = [row["name"] for row in rows]
    text = "\n".join(f"{'*' if row['current'] else ' '} {row['name']}" for row in rows)
    facts: Record = {"branches": rows, "names": names, "current": repo.branch, "count": len(rows)}
    return Outcome(text or "No branches", facts, "branches")


def _branch(repo: Repository, row: Record) -> Record:
    return {
        **row,
        "current": row["name"] == repo.branch,
        "hash": row["commit"],
        "remote": False,
        "ahead": 0,
        "behind": 0,
    }


def current_branch(request: Request) -> Outcome:
    repo = request.repository
    text = repo.branch if repo.branch is not None else f"HEAD detached at {(repo.head or '')[:7]}"
    return Outcome(text, {"branch": text, "commit": repo.head}, "branch")


def tags(request: Request) -> Outcome:
    rows: list[Json] = request.repository.rows(TAG)
    return Outcome("\n".join(row["name"] for row in rows) or "No tags", {"tags": rows, "count": len(rows)}, "tags")


def find_branch(repo: Repository, name: str) -> Record:
    """Return a branch. Raises `Refused` if it does not exist."""
    found = repo.get(BRANCH, name)
    if found is None:
        raise unknown_revision(name)
    return found


def diff(request: Request) -> Outcome:
    """Compare two revisions; one and the working tree; or the index and the working tree."""
    repo = request.repository
    first, second = _revisions(request)
    after = repo.snapshot(repo.resolve(second)) if second is not None else None
    if request.flag("staged"):
        return _render_diff(request, "Staged changes:", _snapshot_at(repo, first or "HEAD"), repo.index())
    if first is None:
        return diff_unstaged(request)
    before = _snapshot_at(repo, first)
    if after is None:
        known = {*before, *repo.index()}
        after = {path: text for path, text in repo.working().items() if path in known}
    return _render_diff(request, f"Diff with {first}:" if second is None else f"Diff {first}..{second}:", before, after)


def _snapshot_at(repo: Repository, revision: str) -> dict[str, str]:
    return repo.snapshot(None if revision == "HEAD" and repo.head is None else repo.resolve(revision))


def _revisions(request: Request) -> tuple[str | None, str | None]:
    """Return the revisions to compare, as written."""
    given = [value for role in ("from", "to", "revision") if (value := request.text(role)) is not None]
    if len(given) == 1 and ".." in given[0]:
        first, _, second = given[0].partition("..")
        return first or "HEAD", second.lstrip(".") or "HEAD"
    return (given[0] if given else None), (given[1] if len(given) > 1 else None)


def diff_unstaged(request: Request) -> Outcome:
    index = request.repository.index()
    working = {path: text for path, text in request.repository.working().items() if path in index}
    return _render_diff(request, "Unstaged changes:", index, working)


def diff_staged(request: Request) -> Outcome:
    repo = request.repository
    return _render_diff(request, "Staged changes:", repo.snapshot(repo.head), repo.index())


def _render_diff(request: Request, title: str, before: Mapping[str, str], after: Mapping[str, str]) -> Outcome:
    repo, changes = request.repository, difference(before, after)
    if not request.is_everything:
        wanted = [repo.at(path) for path in request.named]
        changes = {path: change for path, change in changes.items() if is_within(path, wanted)}
    files: list[Json] = [repo.shown(path) for path in changes]
    patch = "\n".join(files) if request.flag("names") else render_patch(repo, changes)
    text = f"{title}\n{patch}" if patch else f"{title}\nNo changes"
    facts: Record = {"diff": patch, "files": files, "files_changed": len(files), "has_changes": bool(files)}
    return Outcome(text, {**facts, **_count_lines(patch)})


def _count_lines(patch: str) -> Record:
    """Return how many lines a patch adds and removes."""
    lines = [line for line in patch.splitlines() if not line.startswith(("+++", "---"))]
    signs = {"insertions": "+", "deletions": "-"}
    return {name: sum(line.startswith(sign) for line in lines) for name, sign in signs.items()}


def render_patch(repo: Repository, found: Difference) -> str:
    """Return differences as a patch."""
    return "\n".join(line for path, change in found.items() for line in _patch(repo.shown(path), *change))


def _patch(path: str, before: str | None, after: str | None) -> list[str]:
    old = "/dev/null" if before is None else f"a/{path}"
    new = "/dev/null" if after is None else f"b/{path}"
    lines = unified_diff((before or "").splitlines(), (after or "").splitlines(), old, new, lineterm="")
    mode = ["new file mode 100644"] if before is None else ["deleted file mode 100644"] if after is None else []
    return [f"diff --git a/{path} b/{path}", *mode, *lines]
