"""Apply the changes of other commits: merge, cherry-pick and revert."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from mcp_sim.backends.git import inspection
from mcp_sim.backends.git.branching import check_out
from mcp_sim.backends.git.history import changes_of, render_commit
from mcp_sim.backends.git.inspection import render_patch
from mcp_sim.backends.git.repository import Difference, Repository, Snapshot, difference, unknown_revision
from mcp_sim.backends.git.request import GitRequest
from mcp_sim.backends.git.staging import refuse_overwriting, switch_to, write_files
from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record

_STRATEGY = "ort"
"""Default merge strategy of git."""


def merge(request: GitRequest) -> Outcome:
    """Merge a branch into the current one, or into the one that is named: fast-forward, else by a commit.

    Raises `Refused` if a revision is unknown, both sides change the same file, or uncommitted changes are in the way.
    """
    repo, name, into = request.repository, request.required("source"), request.text("into")
    target = repo.resolve(name)
    if into and into != repo.branch:
        switch_to(repo, inspection.find_branch(repo, into)["commit"], "checkout")
        check_out(repo, into)
    head = repo.head
    if head is None:
        raise unknown_revision("HEAD")
    if repo.is_ancestor(target, head):
        return done("Already up to date.", branch=repo.branch, commit=head)
    if repo.is_ancestor(head, target):
        return _fast_forward(repo, name, head, target)
    return _merge_by_commit(request, name, head, target)


def _fast_forward(repo: Repository, name: str, head: str, target: str) -> Outcome:
    switch_to(repo, target, "merge")
    repo.point_branch(target)
    repo.record_move(f"merge {name}", "Fast-forward")
    taken = difference(repo.snapshot(head), repo.snapshot(target))
    text = f"Updating {head[:7]}..{target[:7]}\nFast-forward"
    return done(text, commit=target, fast_forward=True, **_merge_facts(repo, taken))


def _merge_by_commit(request: GitRequest, name: str, head: str, target: str) -> Outcome:
    repo = request.repository
    if repo.staged():
        raise Refused("conflict", "Cannot merge: there are staged changes that are not committed", branch=name)
    ours, old = repo.snapshot(head), repo.snapshot(_common_ancestor(repo, head, target))
    changes = difference(old, repo.snapshot(target))
    taken = {path: change for path, change in changes.items() if ours.get(path) != change[1]}
    conflicting = _conflicts(repo, taken, ours)
    if conflicting:
        raise Refused("conflict", f"Automatic merge failed: merge conflict in {conflicting}", branch=name)
    refuse_overwriting(repo, [path for path in taken if repo.content(path) != ours.get(path)], "merge")
    files = _apply(repo, taken)
    message = request.text("message") or f"Merge branch '{name}'"
    row = repo.add(message, [head, target], files, request.author(), f"merge {name}")
    facts: Record = {**render_commit(repo, row), **_merge_facts(repo, files)}
    return done(f"Merged '{name}' with commit {row['hash']}", **facts)


def _merge_facts(repo: Repository, taken: Collection[str]) -> Record:
    """Return the facts of a merge; `taken` are the files from the other branch."""
    files: list[Json] = sorted(repo.shown(path) for path in taken)
    return {"branch": repo.branch, "strategy": _STRATEGY, "merged_files": files, "files_changed": len(files)}


def _common_ancestor(repo: Repository, first: str, second: str) -> str | None:
    """Return the newest commit that both commits descend from."""
    known = {row["hash"] for row in repo.history(first)}
    return next((row["hash"] for row in repo.history(second) if row["hash"] in known), None)


def _conflicts(repo: Repository, changes: Difference, here: Snapshot) -> str:
    """Return the paths of files that are not as they were before the changes, as a text."""
    return ", ".join(repo.shown(path) for path, (old, _) in changes.items() if here.get(path) != old)


def _apply(repo: Repository, changes: Difference) -> dict[str, Json]:
    """Write the files after changes, and return them by path."""
    files: dict[str, Json] = {path: new for path, (_, new) in changes.items()}
    write_files(repo, files)
    return files


def cherry_pick(request: GitRequest) -> Outcome:
    """Apply the changes of other commits, each as a new commit. Raises `Refused` if one of them conflicts."""
    repo, made = request.repository, list[Record]()
    for row in _commits(request):
        author = {"author": row.get("author"), "email": row.get("email")}
        made.append(_reapply(repo, row, changes_of(repo, row), str(row.get("message")), author))
    return _render_commits(repo, "Cherry-picked", made)


def revert(request: GitRequest) -> Outcome:
    """Undo the changes of commits, each by a new commit. Raises `Refused` if one of them conflicts."""
    repo, made = request.repository, list[Record]()
    for row in _commits(request):
        changes = {path: (new, old) for path, (old, new) in changes_of(repo, row).items()}
        made.append(_reapply(repo, row, changes, f'Revert "{row.get("message")}"', request.author()))
    return _render_commits(repo, "Reverted", made)


def _commits(request: GitRequest) -> Iterator[Record]:
    repo, names = request.repository, request.texts("commits")
    for name in names or [""]:
        if not name:
            raise unknown_revision(name)
        yield repo.commit(repo.resolve(name))


def _reapply(repo: Repository, row: Record, changes: Difference, message: str, author: Record) -> Record:
    """Commit changes of another commit. Raises `Refused` if the files are not as they were there."""
    if repo.staged():
        raise Refused("conflict", "your local changes would be overwritten: commit or stash them first")
    conflicting = _conflicts(repo, changes, repo.snapshot(repo.head))
    if conflicting or not changes:
        reason = f"merge conflict in {conflicting}" if conflicting else "the commit is empty"
        raise Refused("conflict", f"could not apply {row['short_hash']}... {row.get('message')}: {reason}")
    return repo.add(message, [] if repo.head is None else [repo.head], _apply(repo, changes), author)


def _render_commits(repo: Repository, verb: str, made: Sequence[Record]) -> Outcome:
    last = made[-1]
    text = "\n".join(f"[{repo.branch} {row['short_hash']}] {row['message']}" for row in made)
    facts: Record = {**render_commit(repo, last), "commits": [row["hash"] for row in made], "branch": repo.branch}
    patch = render_patch(repo, changes_of(repo, last))
    return done(f"{verb} {len(made)} commits\n{text}", **facts, diff=patch, conflicts=False)
