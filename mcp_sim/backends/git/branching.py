"""What do the tools do that change where branches, tags and the head lead to?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from mcp_sim.backends.git import inspection, staging
from mcp_sim.backends.git.entities import BRANCH, TAG
from mcp_sim.backends.git.history import told
from mcp_sim.backends.git.inspection import rendered
from mcp_sim.backends.git.repository import Repository, difference, unknown
from mcp_sim.backends.git.request import Asked
from mcp_sim.backends.git.staging import keep_staged, move_to
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list

_BAD_NAME = re.compile(r"^[-/.]|\.\.|[\s~^:?*\[\\]|[/.]$|\.lock$|@\{|^@$")


def _done(asked: Asked, text: str, **facts: Json) -> Outcome:
    return done(text, *asked.repository.changes, **facts)


def branch(asked: Asked) -> Outcome:
    """A tool for all of it: a new branch where one is named, else those that there are."""
    if asked.text("branch") is None:
        return inspection.branches(asked)
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
    tip = inspection.branch_named(one, name)["commit"]
    if name == one.branch:
        raise Refused("conflict", f"Cannot delete branch '{name}': it is checked out", branch=name)
    if not asked.flag("force") and not _leads_to(one, one.head, tip):
        raise Refused("conflict", f"The branch '{name}' is not fully merged", branch=name)
    one.put(BRANCH, name, None)
    return _done(asked, f"Deleted branch {name} (was {tip[:7]})", branch=name, commit=tip, deleted=True)


def rename_branch(asked: Asked) -> Outcome:
    one, new = asked.repository, asked.needed("new_name")
    old = asked.text("old_name") or one.branch or ""
    row = inspection.branch_named(one, old)
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
        return staging.unstage(asked)
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
        move_to(one, inspection.branch_named(one, into)["commit"], "checkout")
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
        return inspection.tags(asked)
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


def cherry_pick(asked: Asked) -> Outcome:
    """What other commits changed, changed here too, with a commit for each."""
    made = [_repeated(asked, row, str(row.get("message"))) for row in _commits(asked)]
    return _told(asked, "Cherry-picked", made)


def revert(asked: Asked) -> Outcome:
    """What commits changed, changed back, with a commit for each."""
    made = [_repeated(asked, row, f'Revert "{row.get("message")}"', is_back=True) for row in _commits(asked)]
    return _told(asked, "Reverted", made)


def _commits(asked: Asked) -> Iterator[Record]:
    one, value = asked.repository, asked.get("commits")
    for name in as_list(value) if isinstance(value, list) else [value]:
        if not name:
            raise unknown(str(name))
        yield one.commit(one.resolve(str(name)))


def _repeated(asked: Asked, row: Record, message: str, *, is_back: bool = False) -> Record:
    one = asked.repository
    if one.staged():
        raise Refused("conflict", "your local changes would be overwritten: commit or stash them first")
    before, after = one.snapshot(next(iter(row.get("parents") or []), None)), one.snapshot(row["hash"])
    changes = difference(after, before) if is_back else difference(before, after)
    here = one.snapshot(one.head)
    torn = [one.shown(path) for path, (old, _) in changes.items() if here.get(path) != old]
    if torn or not changes:
        told_of = f"merge conflict in {', '.join(torn)}" if torn else "the commit is empty"
        raise Refused("conflict", f"could not apply {row['short_hash']}... {row.get('message')}: {told_of}")
    files: Mapping[str, Json] = {path: new for path, (_, new) in changes.items()}
    for path, content in files.items():
        one.write(path, None if content is None else str(content))
    author = {"author": row.get("author"), "email": row.get("email")} if not is_back else asked.author()
    return one.add(message, [] if one.head is None else [one.head], files, author)


def _told(asked: Asked, verb: str, made: list[Record]) -> Outcome:
    one = asked.repository
    last = made[-1]
    before = one.snapshot(next(iter(last["parents"]), None))
    patch = rendered(one, difference(before, one.snapshot(last["hash"])))
    hashes: list[Json] = [row["hash"] for row in made]
    text = "\n".join(f"[{one.branch} {row['short_hash']}] {row['message']}" for row in made)
    facts: Record = {**told(one, last), "commits": hashes, "branch": one.branch, "diff": patch, "conflicts": False}
    return done(f"{verb} {len(made)} commits\n{text}", *one.changes, **facts)
