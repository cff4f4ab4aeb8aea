"""Change branches, tags and the head: create, check out, reset, merge, cherry-pick and revert."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from mcp_sim.backends.git import inspection, staging
from mcp_sim.backends.git.entities import BRANCH, TAG
from mcp_sim.backends.git.history import render_commit
from mcp_sim.backends.git.inspection import render_patch
from mcp_sim.backends.git.repository import Repository, difference, unknown_revision
from mcp_sim.backends.git.request import Request
from mcp_sim.backends.git.staging import restage, switch_to
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list

_BAD_NAME = re.compile(r"^[-/.]|\.\.|[\s~^:?*\[\\]|[/.]$|\.lock$|@\{|^@$")


def _done(request: Request, text: str, **facts: Json) -> Outcome:
    return done(text, *request.repository.changes, **facts)


def branch(request: Request) -> Outcome:
    """Create the named branch; list the branches if none is named."""
    if request.text("branch") is None:
        return inspection.branches(request)
    return delete_branch(request) if request.flag("delete") else create_branch(request)


def create_branch(request: Request) -> Outcome:
    """Create a branch at another one; at the head if none is named."""
    repo, name = request.repository, request.required_text("branch")
    base = _create(request, name, request.text("base"))
    if request.flag("checkout"):
        switch_to(repo, repo.tip(name) or "", "checkout")
        _check_out(repo, name, None)
    tip = repo.tip(name)
    return _done(request, f"Created branch '{name}' from '{base}'", branch=name, base=base, commit=tip)


def _create(request: Request, name: str, base: str | None) -> str:
    repo = request.repository
    if _BAD_NAME.search(name):
        raise Refused("invalid", f"'{name}' is not a valid branch name", branch=name)
    if repo.get(BRANCH, name) is not None and not request.flag("force"):
        raise Refused("conflict", f"A branch named '{name}' already exists", branch=name, key=name, entity=BRANCH)
    base = base or repo.branch or "HEAD"
    if base == repo.branch and repo.head is None:
        raise Refused("conflict", f"Not a valid object name: '{base}' has no commits yet", branch=name)
    repo.put(BRANCH, name, {"name": name, "commit": repo.resolve(base)})
    return base


def delete_branch(request: Request) -> Outcome:
    """Delete a branch. Raises `Refused` if it does not exist, is checked out, or is not merged and not forced."""
    repo, name = request.repository, request.required_text("branch")
    tip = inspection.find_branch(repo, name)["commit"]
    if name == repo.branch:
        raise Refused("conflict", f"Cannot delete branch '{name}': it is checked out", branch=name)
    if not request.flag("force") and not _is_ancestor(repo, repo.head, tip):
        raise Refused("conflict", f"The branch '{name}' is not fully merged", branch=name)
    repo.put(BRANCH, name, None)
    return _done(request, f"Deleted branch {name} (was {tip[:7]})", branch=name, commit=tip, deleted=True)


def rename_branch(request: Request) -> Outcome:
    """Rename a branch, the current one by default.

    Raises `Refused` if it does not exist, or the new name is invalid or taken.
    """
    repo, new = request.repository, request.required_text("new_name")
    old = request.text("old_name") or repo.branch or ""
    row = inspection.find_branch(repo, old)
    if _BAD_NAME.search(new):
        raise Refused("invalid", f"'{new}' is not a valid branch name", branch=new)
    if repo.get(BRANCH, new) is not None:
        raise Refused("conflict", f"A branch named '{new}' already exists", branch=new, key=new, entity=BRANCH)
    is_current = old == repo.branch
    repo.put(BRANCH, old, None)
    repo.put(BRANCH, new, {**row, "name": new})
    if is_current:
        repo.update_record(branch=new)
    return _done(request, f"Renamed branch '{old}' to '{new}'", branch=new, old_name=old)


def _check_out(repo: Repository, branch: str | None, commit: str | None) -> None:
    """Point the head to a branch, or to a commit without a branch."""
    before = repo.branch or repo.head
    repo.update_record(branch=branch, commit=commit)
    repo.record_move("checkout", f"moving from {before} to {branch or commit}")


def checkout(request: Request) -> Outcome:
    """Check out a branch, a new branch, or a commit without a branch."""
    repo, name, new = request.repository, request.required_text("branch"), request.text("new")
    is_new = request.flag("create") or new is not None
    if is_new:
        base = request.text("base") if new is None else name
        name = new or name
        _create(request, name, base)
    if name == repo.branch and not is_new:
        return _done(request, f"Already on '{name}'", branch=name, commit=repo.head)
    target = repo.resolve(name)
    switch_to(repo, target, "checkout")
    is_branch = repo.get(BRANCH, name) is not None
    _check_out(repo, name if is_branch else None, None if is_branch else target)
    text = f"Switched to {'a new ' if is_new else ''}branch '{name}'" if is_branch else f"HEAD is now at {target[:7]}"
    return _done(request, text, branch=name, commit=target)


def reset(request: Request) -> Outcome:
    """Unstage everything. Move to a commit if one is named; a hard reset restores its files.

    Raises `Refused` if the revision is unknown.
    """
    repo, revision = request.repository, request.text("revision")
    mode = str(request.text("mode") or "").strip("-")
    is_hard, is_soft = request.flag("hard") or mode == "hard", request.flag("soft") or mode == "soft"
    if not request.is_everything or (revision is None and not is_hard and not is_soft):
        return staging.unstage(request)
    if repo.head is None:
        raise unknown_revision(revision or "HEAD")
    target, head = repo.resolve(revision or "HEAD"), repo.head
    before = {**repo.snapshot(repo.head), **repo.index()}
    index = repo.index() if is_soft else repo.snapshot(target)
    repo.point_branch(target)
    repo.record_move("reset", f"moving to {revision or 'HEAD'}")
    restage(repo, index)
    files = repo.snapshot(target) if is_hard else {}
    for path in sorted(before.keys() | files.keys()) if is_hard else ():
        if repo.content(path) != files.get(path):
            repo.write(path, files.get(path))
    return _done(
        request,
        f"HEAD is now at {target[:7]} {repo.commit(target).get('message')}",
        commit=target,
        target=target,
        mode=mode,
        previous_commit=head,
    )


# merging --------------------------------------------------------------------------------------------------------------


_STRATEGY = "ort"
"""Default merge strategy of git."""


def _is_ancestor(repo: Repository, commit: str | None, target: str) -> bool:
    return any(row["hash"] == target for row in repo.history(commit))


def merge(request: Request) -> Outcome:
    """Merge a branch: fast-forward, else by a commit.

    Raises `Refused` if a revision is unknown, both sides change the same file, or uncommitted changes are in the way.
    """
    repo, name, into = request.repository, request.required_text("merged"), request.text("into")
    target = repo.resolve(name)
    if into is not None and into != repo.branch:
        switch_to(repo, inspection.find_branch(repo, into)["commit"], "checkout")
        _check_out(repo, into, None)
    head = repo.head
    if head is None:
        raise unknown_revision("HEAD")
    if _is_ancestor(repo, head, target):
        return _done(request, "Already up to date.", branch=repo.branch, commit=head)
    if _is_ancestor(repo, target, head):
        switch_to(repo, target, "merge")
        repo.point_branch(target)
        repo.record_move(f"merge {name}", "Fast-forward")
        text = f"Updating {head[:7]}..{target[:7]}\nFast-forward"
        taken = difference(repo.snapshot(head), repo.snapshot(target))
        facts: Record = {"commit": target, "fast_forward": True, **_merge_facts(repo, taken)}
        return _done(request, text, **facts)
    return _merge_by_commit(request, name, head, target)


def _merge_by_commit(request: Request, name: str, head: str, target: str) -> Outcome:
    repo = request.repository
    if repo.staged():
        raise Refused("conflict", "Cannot merge: there are staged changes that are not committed", branch=name)
    ours, theirs = repo.snapshot(head), repo.snapshot(target)
    old = repo.snapshot(_common_ancestor(repo, head, target))
    taken = {path: new for path, (_, new) in difference(old, theirs).items() if ours.get(path) != new}
    conflicting = [path for path in taken if ours.get(path) != old.get(path)]
    if conflicting:
        named = ", ".join(repo.shown(path) for path in conflicting)
        raise Refused("conflict", f"Automatic merge failed: merge conflict in {named}", branch=name)
    dirty = [path for path in taken if repo.content(path) != ours.get(path)]
    if dirty:
        named = ", ".join(repo.shown(path) for path in dirty)
        raise Refused("conflict", f"Your local changes to the following files would be overwritten by merge: {named}")
    for path, content in taken.items():
        repo.write(path, content)
    message = request.text("message") or f"Merge branch '{name}'"
    row = repo.add(message, [head, target], taken, request.author(), f"merge {name}")
    facts: Record = {**render_commit(repo, row), **_merge_facts(repo, taken)}
    return _done(request, f"Merged '{name}' with commit {row['hash']}", **facts)


def _merge_facts(repo: Repository, taken: Iterable[str]) -> Record:
    """Return the facts of a merge; `taken` are the files from the other branch."""
    files: list[Json] = sorted(repo.shown(path) for path in taken)
    return {"branch": repo.branch, "strategy": _STRATEGY, "merged_files": files, "files_changed": len(files)}


def _common_ancestor(repo: Repository, first: str, second: str) -> str | None:
    """Return the newest commit that both commits descend from."""
    known = {row["hash"] for row in repo.history(first)}
    return next((row["hash"] for row in repo.history(second) if row["hash"] in known), None)


# tags -----------------------------------------------------------------------------------------------------------------


def tag(request: Request) -> Outcome:
    """Create the named tag; list the tags if none is named."""
    if request.text("tag") is None:
        return inspection.tags(request)
    return delete_tag(request) if request.flag("delete") else create_tag(request)


def create_tag(request: Request) -> Outcome:
    """Create a tag. Raises `Refused` if it already exists, or the revision is unknown."""
    repo, name = request.repository, request.required_text("tag")
    if repo.get(TAG, name) is not None:
        raise Refused("conflict", f"Tag '{name}' already exists", tag=name, key=name, entity=TAG)
    row: Record = {"name": name, "commit": repo.resolve(request.text("revision") or "HEAD")}
    repo.put(TAG, name, {**row, "message": request.text("message")})
    return _done(request, f"Created tag '{name}' at {row['commit'][:7]}", **row, tag=name, created=name)


def delete_tag(request: Request) -> Outcome:
    """Delete a tag. Raises `Refused` if it does not exist."""
    repo, name = request.repository, request.required_text("tag")
    if repo.get(TAG, name) is None:
        raise Refused("not_found", f"Tag '{name}' not found", tag=name, key=name, entity=TAG)
    repo.put(TAG, name, None)
    return _done(request, f"Deleted tag '{name}'", tag=name, deleted=name)


def cherry_pick(request: Request) -> Outcome:
    """Apply the changes of other commits, each as a new commit."""
    made = [_reapply(request, row, str(row.get("message"))) for row in _commits(request)]
    return _render_commits(request, "Cherry-picked", made)


def revert(request: Request) -> Outcome:
    """Undo the changes of commits, each by a new commit."""
    made = [_reapply(request, row, f'Revert "{row.get("message")}"', reverts=True) for row in _commits(request)]
    return _render_commits(request, "Reverted", made)


def _commits(request: Request) -> Iterator[Record]:
    repo, value = request.repository, request.get("commits")
    for name in as_list(value) if isinstance(value, list) else [value]:
        if not name:
            raise unknown_revision(str(name))
        yield repo.commit(repo.resolve(str(name)))


def _reapply(request: Request, row: Record, message: str, *, reverts: bool = False) -> Record:
    repo = request.repository
    if repo.staged():
        raise Refused("conflict", "your local changes would be overwritten: commit or stash them first")
    before, after = repo.snapshot(next(iter(row.get("parents") or []), None)), repo.snapshot(row["hash"])
    changes = difference(after, before) if reverts else difference(before, after)
    here = repo.snapshot(repo.head)
    conflicting = [repo.shown(path) for path, (old, _) in changes.items() if here.get(path) != old]
    if conflicting or not changes:
        reason = f"merge conflict in {', '.join(conflicting)}" if conflicting else "the commit is empty"
        raise Refused("conflict", f"could not apply {row['short_hash']}... {row.get('message')}: {reason}")
    files: Mapping[str, Json] = {path: new for path, (_, new) in changes.items()}
    for path, content in files.items():
        repo.write(path, None if content is None else str(content))
    author = {"author": row.get("author"), "email": row.get("email")} if not reverts else request.author()
    return repo.add(message, [] if repo.head is None else [repo.head], files, author)


def _render_commits(request: Request, verb: str, made: list[Record]) -> Outcome:
    repo = request.repository
    last = made[-1]
    before = repo.snapshot(next(iter(last["parents"]), None))
    patch = render_patch(repo, difference(before, repo.snapshot(last["hash"])))
    hashes: list[Json] = [row["hash"] for row in made]
    text = "\n".join(f"[{repo.branch} {row['short_hash']}] {row['message']}" for row in made)
    facts: Record = {
        **render_commit(repo, last),
        "commits": hashes,
        "branch": repo.branch,
        "diff": patch,
        "conflicts": False,
    }
    return done(f"{verb} {len(made)} commits\n{text}", *repo.changes, **facts)
