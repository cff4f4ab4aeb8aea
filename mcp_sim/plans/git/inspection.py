"""Inspect a repository: status, branches and differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mcp_sim.plans.files.paths import is_within
from mcp_sim.plans.git.changes import difference, render_patch
from mcp_sim.plans.git.entities import BRANCH
from mcp_sim.plans.git.request import GitRequest, listing
from mcp_sim.plans.outcome import Outcome
from mcp_sim.plans.refusal import Refused
from mcp_sim.types import Json, Record

_HINTS = {
    "staged": ("Changes to be committed:", '  (use "git restore --staged <file>..." to unstage)'),
    "unstaged": (
        "Changes not staged for commit:",
        '  (use "git add <file>..." to update what will be committed)',
        '  (use "git restore <file>..." to discard changes in working directory)',
    ),
    "untracked": ("Untracked files:", '  (use "git add <file>..." to include in what will be committed)'),
}
"""Headings of git above files of each kind."""
_KINDS = {"added": "new file:   ", "modified": "modified:   ", "deleted": "deleted:    ", "untracked": ""}


def status(request: GitRequest) -> Outcome:
    """Return staged, unstaged and untracked files."""
    changes = uncommitted(request)
    facts: Record = {name: [row["path"] for row in rows] for name, rows in changes.items()}
    for name in ("staged", "unstaged"):
        kinds: dict[str, list[Json]] = {}
        for row in changes[name]:
            kinds.setdefault(row["status"], []).append(row["path"])
        facts[f"{name}_changes"] = kinds
    facts |= {"branch": request.branch, "head": request.head, "ahead": 0, "behind": 0, "modified": facts["unstaged"]}
    facts["files"] = [row for name in ("untracked", "staged", "unstaged") for row in changes[name]]
    return Outcome("\n".join(_status_lines(request, changes)), {**facts, "is_clean": not facts["files"]})


def _status_lines(request: GitRequest, changes: Mapping[str, Sequence[Record]]) -> Iterator[str]:
    yield "Repository status:"
    yield f"On branch {request.branch}" if request.branch is not None else _detached(request)
    if request.head is None:
        yield from ("", "No commits yet", "")
    for name, rows in changes.items():
        if rows:
            yield from (*_HINTS[name], *(f"\t{_KINDS[row['status']]}{row['path']}" for row in rows), "")
    if not changes["staged"]:
        yield nothing_to_commit(changes)


def _detached(request: GitRequest) -> str:
    return f"HEAD detached at {(request.head or '')[:7]}"


def uncommitted(request: GitRequest) -> dict[str, list[Record]]:
    """Return the staged, unstaged and untracked files."""
    index = request.index()
    new = sorted(request.shown(path) for path in request.working() if path not in index)
    changed = {
        "staged": difference(request.snapshot(request.head), index),
        "unstaged": difference(index, request.tracked(index)),
    }
    by_kind: dict[str, list[Record]] = {
        name: [
            {"path": request.shown(path), "status": _kind(*change), "staged": name == "staged"}
            for path, change in changes.items()
        ]
        for name, changes in changed.items()
    }
    return {**by_kind, "untracked": [{"path": path, "status": "untracked"} for path in new]}


def _kind(before: str | None, after: str | None) -> str:
    return "added" if before is None else "deleted" if after is None else "modified"


def nothing_to_commit(changes: Mapping[str, Sequence[Record]]) -> str:
    """Return why nothing is staged, as git does."""
    if changes["unstaged"]:
        return 'no changes added to commit (use "git add" and/or "git commit -a")'
    if changes["untracked"]:
        return 'nothing added to commit but untracked files present (use "git add" to track)'
    return "nothing to commit, working tree clean"


def branches(request: GitRequest) -> Outcome:
    """List the local branches; there are no remote ones. Raises `Refused` if the kind or a commit is unknown."""
    kind = request.text("kind", "local").lower()
    if not kind.startswith(("local", "remote", "all")):
        raise Refused("invalid", f"Invalid {request.named('kind')}: {kind}. It is local, remote or all")
    known = [] if kind.startswith("remote") else sorted(request.rows(BRANCH), key=lambda row: row["name"])
    for role, is_wanted in (("contains", True), ("not_contains", False)):
        if known and request.text(role):
            commit = request.resolve(request.text(role))
            known = [row for row in known if request.is_ancestor(commit, row["commit"]) == is_wanted]
    always: Record = {"remote": False, "ahead": 0, "behind": 0}
    rows: list[Record] = [
        {**row, "current": row["name"] == request.branch, "hash": row["commit"], **always} for row in known
    ]
    lines = (f"{'*' if row['current'] else ' '} {row['name']}" for row in rows)
    return listing("branches", rows, lines, names=[row["name"] for row in rows], current=request.branch)


def current_branch(request: GitRequest) -> Outcome:
    """Return the branch that is checked out, or the commit if none is."""
    text = request.branch if request.branch is not None else _detached(request)
    return Outcome(text, {"branch": text, "commit": request.head}, "branch")


def diff(request: GitRequest) -> Outcome:
    """Compare revisions, the index (`staged`) and the working tree. Raises `Refused` if a revision is unknown."""
    first, second = _revisions(request)
    if request.flag("staged"):
        return _render_diff(request, "Staged changes:", _snapshot_at(request, first or "HEAD"), request.index())
    if not first:
        return diff_unstaged(request)
    before = _snapshot_at(request, first)
    if second:
        after = request.snapshot(request.resolve(second))
        return _render_diff(request, f"Diff {first}..{second}:", before, after)
    return _render_diff(request, f"Diff with {first}:", before, request.tracked({**before, **request.index()}))


def _snapshot_at(request: GitRequest, revision: str) -> dict[str, str]:
    return request.snapshot(None if revision == "HEAD" and request.head is None else request.resolve(revision))


def _revisions(request: GitRequest) -> tuple[str, str]:
    """Return the revisions to compare, as written; empty texts if they are missing."""
    given = [value for role in ("old", "new", "revision") if (value := request.text(role))]
    if len(given) == 1 and ".." in given[0]:
        first, _, second = given[0].partition("..")
        return first or "HEAD", second.lstrip(".") or "HEAD"
    first, second, *_ = (*given, "", "")
    return first, second


def diff_unstaged(request: GitRequest) -> Outcome:
    """Compare the index and the working tree."""
    index = request.index()
    return _render_diff(request, "Unstaged changes:", index, request.tracked(index))


def diff_staged(request: GitRequest) -> Outcome:
    """Compare the last commit and the index."""
    return _render_diff(request, "Staged changes:", request.snapshot(request.head), request.index())


def _render_diff(request: GitRequest, title: str, before: Mapping[str, str], after: Mapping[str, str]) -> Outcome:
    changes = difference(before, after)
    if request.files:
        wanted = [request.at(path) for path in request.files]
        changes = {path: change for path, change in changes.items() if is_within(path, wanted)}
    files = [request.shown(path) for path in changes]
    patch = render_patch(changes, request.shown, request.number("context"))
    if request.flag("name_only"):
        patch = "\n".join(files)
    signs = [line[0] for line in patch.splitlines() if line.startswith(("+", "-")) and line[:3] not in {"+++", "---"}]
    facts: Record = {"diff": patch, "files": files, "files_changed": len(files), "has_changes": bool(files)}
    facts |= {"insertions": signs.count("+"), "deletions": signs.count("-")}
    return Outcome(f"{title}\n{patch}", facts)
