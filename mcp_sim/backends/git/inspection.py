"""Inspect a repository: status, branches and differences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from hashlib import sha1

from mcp_sim.backends.files.paths import is_within
from mcp_sim.backends.git.entities import BRANCH
from mcp_sim.backends.git.repository import Difference, Repository, difference, unknown_revision
from mcp_sim.backends.git.request import GitRequest
from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.refusal import Refused
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
    repo = request.repository
    found = uncommitted(repo)
    facts: Record = {name: [row["path"] for row in rows] for name, rows in found.items()}
    facts |= {f"{name}_changes": _by_kind(found[name]) for name in ("staged", "unstaged")}
    facts |= {"branch": repo.branch, "head": repo.head, "ahead": 0, "behind": 0, "modified": facts["unstaged"]}
    facts["files"] = [row for name in ("untracked", "staged", "unstaged") for row in found[name]]
    return Outcome("\n".join(_status_lines(repo, found)), {**facts, "is_clean": not facts["files"]})


def _status_lines(repo: Repository, found: Mapping[str, Sequence[Record]]) -> Iterator[str]:
    yield "Repository status:"
    yield f"On branch {repo.branch}" if repo.branch is not None else f"HEAD detached at {(repo.head or '')[:7]}"
    if repo.head is None:
        yield from ("", "No commits yet", "")
    for name, rows in found.items():
        if rows:
            yield from (*_HINTS[name], *(f"\t{_KINDS[row['status']]}{row['path']}" for row in rows), "")
    if not found["staged"]:
        yield nothing_to_commit(found)


def uncommitted(repo: Repository) -> dict[str, list[Record]]:
    """Return the staged, unstaged and untracked files."""
    index, working = repo.index(), repo.working()
    staged = difference(repo.snapshot(repo.head), index)
    unstaged = difference(index, {path: text for path, text in working.items() if path in index})
    new = sorted(repo.shown(path) for path in working if path not in index)
    return {
        "staged": [{"path": repo.shown(path), "status": _kind(*one), "staged": True} for path, one in staged.items()],
        "unstaged": [
            {"path": repo.shown(path), "status": _kind(*one), "staged": False} for path, one in unstaged.items()
        ],
        "untracked": [{"path": path, "status": "untracked"} for path in new],
    }


def _by_kind(rows: Sequence[Record]) -> Record:
    """Return the paths that were added, modified and deleted."""
    kinds: dict[str, list[str]] = {}
    for row in rows:
        kinds.setdefault(row["status"], []).append(row["path"])
    return {**kinds}


def nothing_to_commit(found: Mapping[str, Sequence[Record]]) -> str:
    """Return why nothing is staged, as git does."""
    if found["unstaged"]:
        return 'no changes added to commit (use "git add" and/or "git commit -a")'
    if found["untracked"]:
        return 'nothing added to commit but untracked files present (use "git add" to track)'
    return "nothing to commit, working tree clean"


def _kind(before: str | None, after: str | None) -> str:
    return "added" if before is None else "deleted" if after is None else "modified"


# branches ----------------------------------------------------------------------------------------------------


def branches(request: GitRequest) -> Outcome:
    """List the local branches; there are no remote ones. `contains` and `not_contains` restrict them by a commit.

    Raises `Refused` if the kind of branches is invalid, or a commit unknown.
    """
    repo = request.repository
    kind = request.text("kind", "local").lower()
    if not kind.startswith(("local", "remote", "all")):
        raise Refused("invalid", f"Invalid {request.named('kind')}: {kind}. It is local, remote or all")
    known = [] if kind.startswith("remote") else sorted(repo.rows(BRANCH), key=lambda row: row["name"])
    rows: list[Json] = [_branch(repo, row) for row in known if _is_listed(request, row)]
    names: list[Json] = [row["name"] for row in rows]
    text = "\n".join(f"{'*' if row['current'] else ' '} {row['name']}" for row in rows)
    facts: Record = {"branches": rows, "names": names, "current": repo.branch, "count": len(rows)}
    return Outcome(text or "No branches", facts, "branches")


def _is_listed(request: GitRequest, row: Record) -> bool:
    """Whether a branch contains the commit that the call asks for, and does not contain the one that it excludes."""
    repo, wanted, other = request.repository, request.text("contains"), request.text("not_contains")
    has_wanted = not wanted or repo.is_ancestor(repo.resolve(wanted), row["commit"])
    return has_wanted and not (other and repo.is_ancestor(repo.resolve(other), row["commit"]))


def _branch(repo: Repository, row: Record) -> Record:
    is_current = row["name"] == repo.branch
    return {**row, "current": is_current, "hash": row["commit"], "remote": False, "ahead": 0, "behind": 0}


def current_branch(request: GitRequest) -> Outcome:
    """Return the branch that is checked out, or the commit if none is."""
    repo = request.repository
    text = repo.branch if repo.branch is not None else f"HEAD detached at {(repo.head or '')[:7]}"
    return Outcome(text, {"branch": text, "commit": repo.head}, "branch")


def find_branch(repo: Repository, name: str) -> Record:
    """Return a branch. Raises `Refused` if it does not exist."""
    found = repo.get(BRANCH, name)
    if found is None:
        raise unknown_revision(name)
    return found


def diff(request: GitRequest) -> Outcome:
    """Compare two revisions; one and the working tree; or the index and the working tree.

    With `staged`, compare a revision, by default the last commit, and the index. Raises `Refused` if a revision is
    unknown.
    """
    repo, (first, second) = request.repository, _revisions(request)
    if request.flag("staged"):
        return _render_diff(request, "Staged changes:", _snapshot_at(repo, first or "HEAD"), repo.index())
    if not first:
        return diff_unstaged(request)
    before = _snapshot_at(repo, first)
    if second:
        return _render_diff(request, f"Diff {first}..{second}:", before, repo.snapshot(repo.resolve(second)))
    known = {*before, *repo.index()}
    after = {path: text for path, text in repo.working().items() if path in known}
    return _render_diff(request, f"Diff with {first}:", before, after)


def _snapshot_at(repo: Repository, revision: str) -> dict[str, str]:
    return repo.snapshot(None if revision == "HEAD" and repo.head is None else repo.resolve(revision))


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
    index = request.repository.index()
    working = {path: text for path, text in request.repository.working().items() if path in index}
    return _render_diff(request, "Unstaged changes:", index, working)


def diff_staged(request: GitRequest) -> Outcome:
    """Compare the last commit and the index."""
    repo = request.repository
    return _render_diff(request, "Staged changes:", repo.snapshot(repo.head), repo.index())


def _render_diff(request: GitRequest, title: str, before: Mapping[str, str], after: Mapping[str, str]) -> Outcome:
    repo, changes = request.repository, difference(before, after)
    if request.files:
        wanted = [repo.at(path) for path in request.files]
        changes = {path: change for path, change in changes.items() if is_within(path, wanted)}
    files: list[Json] = [repo.shown(path) for path in changes]
    context = request.number("context")
    patch = "\n".join(files) if request.flag("name_only") else render_patch(repo, changes, context)
    facts: Record = {"diff": patch, "files": files, "files_changed": len(files), "has_changes": bool(files)}
    return Outcome(f"{title}\n{patch}", {**facts, **_count_lines(patch)})


def _count_lines(patch: str) -> Record:
    """Return how many lines a patch adds and removes."""
    lines = [line for line in patch.splitlines() if not line.startswith(("+++", "---"))]
    signs = {"insertions": "+", "deletions": "-"}
    return {name: sum(line.startswith(sign) for line in lines) for name, sign in signs.items()}


def render_patch(repo: Repository, found: Difference, context: int | None = None) -> str:
    """Return differences as a patch, with three lines of context by default."""
    size = 3 if context is None else context
    return "\n".join(line for path, change in found.items() for line in _patch(repo.shown(path), *change, size))


def _patch(path: str, before: str | None, after: str | None, context: int) -> Iterator[str]:
    yield f"diff --git a/{path} b/{path}"
    change = f"{_blob(before)}..{_blob(after)}"
    if before is None:
        yield "new file mode 100644"
    if after is None:
        yield "deleted file mode 100644"
    yield f"index {change}" if None in {before, after} else f"index {change} 100644"
    old = "/dev/null" if before is None else f"a/{path}"
    new = "/dev/null" if after is None else f"b/{path}"
    for line in unified_diff(_lines(before), _lines(after), old, new, n=context):
        yield line.removesuffix("\n")
        if not line.endswith("\n"):
            yield "\\ No newline at end of file"


def _lines(text: str | None) -> list[str]:
    """Return the lines of a text with their ends."""
    return [line for line in re.split(r"(?<=\n)", text or "") if line]


def _blob(text: str | None) -> str:
    """Return the abbreviated id of a content, as git computes it."""
    if text is None:
        return "0" * 7
    content = text.encode("utf-8", "surrogatepass")
    return sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()[:7]
