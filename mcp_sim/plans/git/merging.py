"""Take changes from elsewhere: merge, cherry-pick, revert, and stashes."""

from __future__ import annotations

import re
from collections.abc import Collection

from mcp_sim.plans.git.branching import check_out
from mcp_sim.plans.git.changes import Difference, Snapshot, apply_changes, difference, render_patch
from mcp_sim.plans.git.entities import COMMIT
from mcp_sim.plans.git.request import GitRequest, listing, unknown_revision
from mcp_sim.plans.git.staging import refuse_overwriting, switch_to
from mcp_sim.plans.outcome import Outcome, done
from mcp_sim.plans.refusal import Refused
from mcp_sim.types import Json, Record


def merge(request: GitRequest) -> Outcome:
    """Merge a branch into the current one, or into a named one. Raises `Refused` if that conflicts with changes."""
    name, into = request.required("source"), request.text("into")
    target = request.resolve(name)
    if into and into != request.branch:
        check_out(request, request.find_branch(into)["commit"], into)
    head = request.head
    if head is None:
        raise unknown_revision("HEAD")
    if request.is_ancestor(target, head):
        return done("Already up to date.", branch=request.branch, commit=head)
    if not request.is_ancestor(head, target):
        return _merge_by_commit(request, name, head, target)
    switch_to(request, target, "merge")
    request.point_branch(target)
    request.record_move(f"merge {name}", "Fast-forward")
    taken = difference(request.snapshot(head), request.snapshot(target))
    text = f"Updating {head[:7]}..{target[:7]}\nFast-forward"
    return done(text, commit=target, fast_forward=True, **_merge_facts(request, taken))


def _merge_by_commit(request: GitRequest, name: str, head: str, target: str) -> Outcome:
    if request.staged():
        raise Refused("conflict", "Cannot merge: there are staged changes that are not committed", branch=name)
    known = {row["hash"] for row in request.ancestry(head)}
    common = next((row["hash"] for row in request.ancestry(target) if row["hash"] in known), None)
    ours, changes = request.snapshot(head), difference(request.snapshot(common), request.snapshot(target))
    taken = {path: change for path, change in changes.items() if ours.get(path) != change[1]}
    conflicting = _conflicts(request, taken, ours)
    if conflicting:
        raise Refused("conflict", f"Automatic merge failed: merge conflict in {conflicting}", branch=name)
    refuse_overwriting(request, [path for path in taken if request.content(path) != ours.get(path)], "merge")
    files = _apply(request, taken)
    message = request.text("message") or f"Merge branch '{name}'"
    row = request.add_commit(message, [head, target], files, request.author(), f"merge {name}")
    facts: Record = {**request.commit_facts(row), **_merge_facts(request, files)}
    return done(f"Merged '{name}' with commit {row['hash']}", **facts)


def _merge_facts(request: GitRequest, taken: Collection[str]) -> Record:
    """Return the facts of a merge; `taken` are the files from the other branch."""
    files: list[Json] = sorted(request.shown(path) for path in taken)
    return {"branch": request.branch, "strategy": "ort", "merged_files": files, "files_changed": len(files)}


def _conflicts(request: GitRequest, changes: Difference, here: Snapshot) -> str:
    """Return the paths of files that are not as they were before the changes, as a text."""
    return ", ".join(request.shown(path) for path, (old, _) in changes.items() if here.get(path) != old)


def _apply(request: GitRequest, changes: Difference) -> dict[str, Json]:
    """Write the files after changes, and return them by path."""
    files: dict[str, Json] = {path: new for path, (_, new) in changes.items()}
    request.write(files)
    return files


def cherry_pick(request: GitRequest) -> Outcome:
    """Apply the changes of other commits, each as a new commit. Raises `Refused` if one of them conflicts."""
    return _reapply(request, "Cherry-picked")


def revert(request: GitRequest) -> Outcome:
    """Undo the changes of commits, each by a new commit. Raises `Refused` if one of them conflicts."""
    return _reapply(request, "Reverted", is_undone=True)


def _reapply(request: GitRequest, verb: str, *, is_undone: bool = False) -> Outcome:
    """Commit the changes of other commits, or their undoing."""
    commits: list[Record] = []
    for name in request.texts("commits") or [""]:
        if not name:
            raise unknown_revision(name)
        row = request.commit(request.resolve(name))
        changes, message = request.changes_of(row), str(row.get("message"))
        author: Record = {"author": row.get("author"), "email": row.get("email")}
        if is_undone:
            changes = {path: (new, old) for path, (old, new) in changes.items()}
            message, author = f'Revert "{row.get("message")}"', request.author()
        _refuse_unfitting(request, row, changes)
        parents = [] if request.head is None else [request.head]
        commits.append(request.add_commit(message, parents, _apply(request, changes), author))
    lines = "\n".join(f"[{request.branch} {row['short_hash']}] {row['message']}" for row in commits)
    facts: Record = {**request.commit_facts(commits[-1]), "commits": [row["hash"] for row in commits]}
    facts |= {"branch": request.branch, "diff": render_patch(request.changes_of(commits[-1]), request.shown)}
    return done(f"{verb} {len(commits)} commits\n{lines}", **facts, conflicts=False)


def _refuse_unfitting(request: GitRequest, row: Record, changes: Difference) -> None:
    """Raise `Refused` if the files are not as they were before changes, or there are staged or no changes."""
    if request.staged():
        raise Refused("conflict", "your local changes would be overwritten: commit or stash them first")
    conflicting = _conflicts(request, changes, request.snapshot(request.head))
    if conflicting or not changes:
        reason = f"merge conflict in {conflicting}" if conflicting else "the commit is empty"
        raise Refused("conflict", f"could not apply {row['short_hash']}... {row.get('message')}: {reason}")


def stash(request: GitRequest) -> Outcome:
    """Stash the changes of tracked files, and restore the last commit. Raises `Refused` if nothing has changed."""
    head, message = request.snapshot(request.head), request.text("message")
    tracked = apply_changes(head, request.staged()).keys() | head.keys()
    changes = {path: now for path, (_, now) in difference(head, request.working()).items() if path in tracked}
    if request.head is None or not changes:
        raise Refused("conflict", "No local changes to save")
    last = request.commit(request.head)
    title = f"On {request.branch or '(no branch)'}: {message}"
    if not message:
        title = f"WIP on {request.branch or '(no branch)'}: {last['short_hash']} {last.get('message')}"
    request.unstage()
    request.write({path: head.get(path) for path in changes})
    fresh: Record = {"message": title, "branch": request.branch, "date": request.time("date", COMMIT)}
    fresh |= {"files": changes, "description": message or title}
    request.update(stashes=[fresh, *request.stored("stashes")])
    facts: Record = {"stash": "stash@{0}", "created": "stash@{0}", "message": title}
    return done(f"Saved working directory and index state {title}", **facts)


def stash_list(request: GitRequest) -> Outcome:
    """List the stashes, newest first."""
    rows: list[Record] = [
        {**{name: row[name] for name in row if name != "files"}, "index": at, "ref": f"stash@{{{at}}}"}
        for at, row in enumerate(request.stored("stashes"))
    ]
    return listing("stashes", rows, (f"{row['ref']}: {row['message']}" for row in rows))


def stash_pop(request: GitRequest) -> Outcome:
    """Apply a stash, the newest by default, and drop it. Raises `Refused` if it overwrites a local change."""
    applied = stash_apply(request)
    return done(f"{stash_drop(request).text} after its changes were applied", **applied.facts)


def stash_apply(request: GitRequest) -> Outcome:
    """Apply a stash, the newest by default. Raises `Refused` if it overwrites a local change."""
    at, index, known = _stash_index(request), request.index(), request.snapshot(request.head)
    files = request.stored("stashes")[at]["files"]
    refuse_overwriting(request, [path for path in files if request.content(path) != index.get(path)], "stash apply")
    request.write(files)
    for path in files.keys() - known.keys():
        request.stage(path, files[path])
    return done(f"Applied stash@{{{at}}}", index=at, applied=f"stash@{{{at}}}", conflicts=False)


def stash_drop(request: GitRequest) -> Outcome:
    """Drop a stash, the newest by default. Raises `Refused` if it does not exist."""
    at, known = _stash_index(request), request.stored("stashes")
    request.update(stashes=[*known[:at], *known[at + 1 :]])
    return done(f"Dropped stash@{{{at}}}", index=at)


def _stash_index(request: GitRequest) -> int:
    number = re.search(r"\d{1,9}", request.text("index") or "0")
    at = int(number[0]) if number is not None else 0
    if at >= len(request.stored("stashes")):
        raise Refused("not_found", f"stash@{{{at}}} not found", key=f"stash@{{{at}}}")
    return at
