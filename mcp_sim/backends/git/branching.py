"""What do the tools do that change where branches, tags and the head lead to?"""

from __future__ import annotations

import re
from collections.abc import Iterable

from mcp_sim.backends.git import changing, looking
from mcp_sim.backends.git.asking import Asked
from mcp_sim.backends.git.changing import keep_staged, move_to
from mcp_sim.backends.git.commits import told
from mcp_sim.backends.git.entities import BRANCH, TAG
from mcp_sim.backends.git.repository import Repository, difference, unknown
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.types import Json, Record

_BAD_NAME = re.compile(r"^[-/.]|\.\.|[\s~^:?*\[\\]|[/.]$|\.lock$|@\{|^@$")


def _done(asked: Asked, text: str, **facts: Json) -> Outcome:
    return done(text, *asked.repository.changes, **facts)


def branch(asked: Asked) -> Outcome:
    """A tool for all of it: a new branch where one is named, else those that there are."""
    if asked.text("branch") is None:
        return looking.branches(asked)
    return delete_branch(asked) if asked.flag("delete") else create_branch(asked)


def create_branch(asked: Asked) -> Outcome:
    """A branch that leads to where another does; to the head, where none is named."""
    one, name = asked.repository, asked.needed("branch")
    base = _make(asked, name, asked.text("base"))
    if asked.flag("checkout"):
        move_to(one, one.tip(name) or "", "checkout")
        _enter(one, name, None)
    tip = one.tip(name)
    return _done(asked, f"Created branch '{name}' from '{base}'", branch=name, base=base, commit=tip)


def _make(asked: Asked, name: str, base: str | None) -> str:
    one = asked.repository
    if _BAD_NAME.search(name):
        raise Refused("invalid", f"'{name}' is not a valid branch name", branch=name)
    if one.get(BRANCH, name) is not None and not asked.flag("force"):
        raise Refused("conflict", f"A branch named '{name}' already exists", branch=name, key=name, entity=BRANCH)
    base = base or one.branch or "HEAD"
    if base == one.branch and one.head is None:
        raise Refused("conflict", f"Not a valid object name: '{base}' has no commits yet", branch=name)
    one.put(BRANCH, name, {"name": name, "commit": one.resolve(base)})
    return base


def delete_branch(asked: Asked) -> Outcome:
    """A branch is gone; one that is checked out, or not merged, is not let go."""
    one, name = asked.repository, asked.needed("branch")
    tip = looking.branch_named(one, name)["commit"]
    if name == one.branch:
        raise Refused("conflict", f"Cannot delete branch '{name}': it is checked out", branch=name)
    if not asked.flag("force") and not _leads_to(one, one.head, tip):
        raise Refused("conflict", f"The branch '{name}' is not fully merged", branch=name)
    one.put(BRANCH, name, None)
    return _done(asked, f"Deleted branch {name} (was {tip[:7]})", branch=name, commit=tip, deleted=True)


def rename_branch(asked: Asked) -> Outcome:
    one, new = asked.repository, asked.needed("new_name")
    old = asked.text("old_name") or one.branch or ""
    row = looking.branch_named(one, old)
    if _BAD_NAME.search(new):
        raise Refused("invalid", f"'{new}' is not a valid branch name", branch=new)
    if one.get(BRANCH, new) is not None:
        raise Refused("conflict", f"A branch named '{new}' already exists", branch=new, key=new, entity=BRANCH)
    is_current = old == one.branch
    one.put(BRANCH, old, None)
    one.put(BRANCH, new, {**row, "name": new})
    if is_current:
        one.say(branch=new)
    return _done(asked, f"Renamed branch '{old}' to '{new}'", branch=new, old_name=old)


def _enter(one: Repository, branch: str | None, commit: str | None) -> None:
    """Have the head lead to a branch, or to a commit without one."""
    before = one.branch or one.head
    one.say(branch=branch, commit=commit)
    one.moved("checkout", f"moving from {before} to {branch or commit}")


def checkout(asked: Asked) -> Outcome:
    """Another branch; where the call says so, a new one; or a commit, without a branch."""
    one, name, new = asked.repository, asked.needed("branch"), asked.text("new")
    is_new = asked.flag("create") or new is not None
    if is_new:
        base = asked.text("base") if new is None else name
        name = new or name
        _make(asked, name, base)
    if name == one.branch and not is_new:
        return _done(asked, f"Already on '{name}'", branch=name, commit=one.head)
    target = one.resolve(name)
    move_to(one, target, "checkout")
    is_branch = one.get(BRANCH, name) is not None
    _enter(one, name if is_branch else None, None if is_branch else target)
    text = f"Switched to {'a new ' if is_new else ''}branch '{name}'" if is_branch else f"HEAD is now at {target[:7]}"
    return _done(asked, text, branch=name, commit=target)


def reset(asked: Asked) -> Outcome:
    """Nothing staged; another commit, where one is named; the files as there, where it is a hard reset."""
    one, revision = asked.repository, asked.text("revision")
    mode = str(asked.text("mode") or "").strip("-")
    is_hard, is_soft = asked.flag("hard") or mode == "hard", asked.flag("soft") or mode == "soft"
    if not asked.is_everything or (revision is None and not is_hard and not is_soft):
        return changing.unstage(asked)
    if one.head is None:
        raise unknown(revision or "HEAD")
    target, head = one.resolve(revision or "HEAD"), one.head
    before = {**one.snapshot(one.head), **one.index()}
    index = one.index() if is_soft else one.snapshot(target)
    one.lead(target)
    one.moved("reset", f"moving to {revision or 'HEAD'}")
    keep_staged(one, index)
    files = one.snapshot(target) if is_hard else {}
    for path in sorted(before.keys() | files.keys()) if is_hard else ():
        if one.content(path) != files.get(path):
            one.write(path, files.get(path))
    return _done(
        asked,
        f"HEAD is now at {target[:7]} {one.commit(target).get('message')}",
        commit=target,
        target=target,
        mode=mode,
        previous_commit=head,
    )


# merging --------------------------------------------------------------------------------------------------------------


_STRATEGY = "ort"
"""How git joins two branches, where nobody says how."""


def _leads_to(one: Repository, commit: str | None, target: str) -> bool:
    return any(row["hash"] == target for row in one.history(commit))


def merge(asked: Asked) -> Outcome:
    """What another branch has, here too: by going where it is, else by a commit, unless a file changed in both."""
    one, name, into = asked.repository, asked.needed("merged"), asked.text("into")
    target = one.resolve(name)
    if into is not None and into != one.branch:
        move_to(one, looking.branch_named(one, into)["commit"], "checkout")
        _enter(one, into, None)
    head = one.head
    if head is None:
        raise unknown("HEAD")
    if _leads_to(one, head, target):
        return _done(asked, "Already up to date.", branch=one.branch, commit=head)
    if _leads_to(one, target, head):
        move_to(one, target, "merge")
        one.lead(target)
        one.moved(f"merge {name}", "Fast-forward")
        text = f"Updating {head[:7]}..{target[:7]}\nFast-forward"
        taken = difference(one.snapshot(head), one.snapshot(target))
        facts: Record = {"commit": target, "fast_forward": True, **_merged(one, taken)}
        return _done(asked, text, **facts)
    return _joined(asked, name, head, target)


def _joined(asked: Asked, name: str, head: str, target: str) -> Outcome:
    one = asked.repository
    if one.staged():
        raise Refused("conflict", "Cannot merge: there are staged changes that are not committed", branch=name)
    ours, theirs = one.snapshot(head), one.snapshot(target)
    old = one.snapshot(_common(one, head, target))
    taken = {path: new for path, (_, new) in difference(old, theirs).items() if ours.get(path) != new}
    torn = [path for path in taken if ours.get(path) != old.get(path)]
    if torn:
        named = ", ".join(one.shown(path) for path in torn)
        raise Refused("conflict", f"Automatic merge failed: merge conflict in {named}", branch=name)
    dirty = [path for path in taken if one.content(path) != ours.get(path)]
    if dirty:
        named = ", ".join(one.shown(path) for path in dirty)
        raise Refused("conflict", f"Your local changes to the following files would be overwritten by merge: {named}")
    for path, content in taken.items():
        one.write(path, content)
    message = asked.text("message") or f"Merge branch '{name}'"
    row = one.add(message, [head, target], taken, asked.author(), f"merge {name}")
    facts: Record = {**told(one, row), **_merged(one, taken)}
    return _done(asked, f"Merged '{name}' with commit {row['hash']}", **facts)


def _merged(one: Repository, taken: Iterable[str]) -> Record:
    """What is told of every merge; `taken` are the files that came from the other branch."""
    files: list[Json] = sorted(one.shown(path) for path in taken)
    return {"branch": one.branch, "strategy": _STRATEGY, "merged_files": files, "files_changed": len(files)}


def _common(one: Repository, first: str, second: str) -> str | None:
    """The newest commit that both follow from."""
    known = {row["hash"] for row in one.history(first)}
    return next((row["hash"] for row in one.history(second) if row["hash"] in known), None)


# tags -----------------------------------------------------------------------------------------------------------------


def tag(asked: Asked) -> Outcome:
    """A tool for all of it: a new tag where one is named, else those that there are."""
    if asked.text("tag") is None:
        return looking.tags(asked)
    return delete_tag(asked) if asked.flag("delete") else create_tag(asked)


def create_tag(asked: Asked) -> Outcome:
    one, name = asked.repository, asked.needed("tag")
    if one.get(TAG, name) is not None:
        raise Refused("conflict", f"Tag '{name}' already exists", tag=name, key=name, entity=TAG)
    row: Record = {"name": name, "commit": one.resolve(asked.text("revision") or "HEAD")}
    one.put(TAG, name, {**row, "message": asked.text("message")})
    return _done(asked, f"Created tag '{name}' at {row['commit'][:7]}", **row, tag=name, created=name)


def delete_tag(asked: Asked) -> Outcome:
    one, name = asked.repository, asked.needed("tag")
    if one.get(TAG, name) is None:
        raise Refused("not_found", f"Tag '{name}' not found", tag=name, key=name, entity=TAG)
    one.put(TAG, name, None)
    return _done(asked, f"Deleted tag '{name}'", tag=name, deleted=name)
