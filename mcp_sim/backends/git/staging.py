"""What do the tools do that change what is staged, what is committed and what is put aside?"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcp_sim.backends.files.paths import is_within, normal
from mcp_sim.backends.git.entities import MAIN, STAGED
from mcp_sim.backends.git.history import told
from mcp_sim.backends.git.inspection import status
from mcp_sim.backends.git.repository import Repository, applied, difference
from mcp_sim.backends.git.request import Asked
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.types import Json, Record
from mcp_sim.types.clock import iso

_CLEAN = "nothing to commit, working tree clean"


def _done(asked: Asked, text: str, **facts: Json) -> Outcome:
    return done(text, *asked.repository.changes, **facts)


def init(asked: Asked) -> Outcome:
    """A repository, where there is none yet; only one can be."""
    one = asked.repository
    place = one.root if one.place in {"", ".", "./"} else one.place
    if one.head is None and not one.staged():
        one.say(root=_root(one, normal(place)), branch=one.branch or MAIN)
        return _done(asked, f"Initialized empty Git repository in {place.rstrip('/')}/.git/", path=place)
    if not is_within(normal(place), [one.root]):
        raise Refused("forbidden", f"Access denied: {place} is outside the repository {one.root}", path=place)
    return _done(asked, f"Reinitialized existing Git repository in {place.rstrip('/')}/.git/", path=place)


def _root(one: Repository, place: str) -> str:
    """Where the files are: at the place, or where the state has them, if there are none at the place."""
    files = one.working()
    return one.root if files and not any(is_within(path, [place]) for path in files) else place


def stage(asked: Asked) -> Outcome:
    """Have the next commit hold the files as they are now."""
    one = asked.repository
    index, working = one.index(), one.working()
    if asked.is_everything and not (asked.get("files") or asked.flag("all") or "files" not in asked.roles):
        raise Refused("invalid", f"Nothing specified, nothing added: {asked.roles['files']} is empty")
    paths = asked.paths({**index, **working})
    for path in paths:
        if working.get(path) != index.get(path):
            one.stage(path, working.get(path))
    names: list[Json] = [one.shown(path) for path in paths]
    return _done(asked, "Files staged successfully", **{**status(asked).facts, "files": names, "count": len(paths)})


def unstage(asked: Asked) -> Outcome:
    """Have the next commit hold the files as the last one does."""
    one = asked.repository
    staged = one.staged()
    paths = asked.paths(staged if asked.is_everything else {**one.index(), **staged})
    for path in paths:
        one.stage(path, one.committed(path))
    what = "All staged changes reset" if asked.is_everything else "Files unstaged successfully"
    files: list[Json] = [one.shown(path) for path in paths]
    return _done(asked, what, files=files, count=len(paths), target=one.head)


def restore(asked: Asked) -> Outcome:
    """Files as they were staged, else committed; changes in the working tree are lost."""
    if asked.flag("staged"):
        return unstage(asked)
    one = asked.repository
    index = one.index()
    paths = asked.paths(index)
    _write(one, {path: index[path] for path in paths})
    return _done(asked, "Changes discarded successfully", files=[one.shown(path) for path in paths])


def _write(one: Repository, files: Mapping[str, Json]) -> None:
    for path, content in files.items():
        if one.content(path) != content:
            one.write(path, content)


# commits --------------------------------------------------------------------------------------------------------------


def commit(asked: Asked) -> Outcome:
    """What is staged as a commit; all that changed in tracked files where the call says so."""
    one, message = asked.repository, asked.needed("message")
    if asked.flag("all") or "files" in asked.roles:
        _stage_tracked(asked)
    head, staged = one.head, one.staged()
    if asked.flag("amend"):
        return _amend(asked, message, staged)
    if not staged and not asked.flag("allow_empty"):
        raise Refused("conflict", _why_nothing(one))
    one.unstage()
    row = one.add(message, [] if head is None else [head], staged, asked.author())
    return _committed(asked, row)


def _stage_tracked(asked: Asked) -> None:
    one = asked.repository
    index, working = one.index(), one.working()
    named = asked.named or asked.flag("all")
    for path in asked.paths(index if not asked.named else {**index, **working}) if named else ():
        one.stage(path, working.get(path))


def _why_nothing(one: Repository) -> str:
    index, working = one.index(), one.working()
    if any(working.get(path) != content for path, content in index.items()):
        return "nothing to commit: no changes added to commit"
    return "nothing to commit, but untracked files present" if working.keys() - index.keys() else _CLEAN


def _amend(asked: Asked, message: str, staged: Mapping[str, Json]) -> Outcome:
    one = asked.repository
    if one.head is None:
        raise Refused("conflict", "You have nothing to amend: there are no commits yet")
    old = one.commit(one.head)
    one.unstage()
    author = {"author": old.get("author"), "email": old.get("email")}
    return _committed(asked, one.add(message, old.get("parents") or [], {**(old.get("files") or {}), **staged}, author))


def _committed(asked: Asked, row: Record) -> Outcome:
    facts = {**status(asked).facts, **told(asked.repository, row)}
    facts |= {"branch": asked.repository.branch, "commit": row["hash"]}
    return _done(asked, f"Changes committed successfully with hash {row['hash']}", **facts)


# what is put aside ----------------------------------------------------------------------------------------------------


def stash(asked: Asked) -> Outcome:
    """Changes of tracked files, put aside; the working tree is as the last commit has it."""
    one = asked.repository
    head, staged, working = one.snapshot(one.head), one.staged(), one.working()
    tracked = applied(head, staged).keys() | head.keys()
    changes = {path: after for path, (_, after) in difference(head, working).items() if path in tracked}
    if one.head is None or not changes:
        raise Refused("conflict", "No local changes to save")
    title = _title(one, asked.text("message"))
    one.unstage()
    _write(one, {path: head.get(path) for path in changes})
    date = iso(one.turn.now.replace(microsecond=0))
    fresh: Record = {"message": title, "branch": one.branch, "date": date, "files": changes}
    one.say(stashes=[{**fresh, "description": asked.text("message") or title}, *_stashes(one)])
    facts: Record = {"stash": "stash@{0}", "created": "stash@{0}", "message": title}
    return _done(asked, f"Saved working directory and index state {title}", **facts)


def _title(one: Repository, message: str | None) -> str:
    head = one.commit(one.head or "")
    branch = one.branch or "(no branch)"
    return f"On {branch}: {message}" if message else f"WIP on {branch}: {head['short_hash']} {head.get('message')}"


def _stashes(one: Repository) -> list[Record]:
    return one.record.get("stashes") or []


def stash_list(asked: Asked) -> Outcome:
    rows: list[Json] = [
        {**{name: row[name] for name in row if name != "files"}, "index": at, "ref": f"stash@{{{at}}}"}
        for at, row in enumerate(_stashes(asked.repository))
    ]
    text = "\n".join(f"{row['ref']}: {row['message']}" for row in rows)
    return Outcome(text or "No stashes", {"stashes": rows, "count": len(rows)}, "stashes")


def stash_pop(asked: Asked) -> Outcome:
    at = _apply(asked)
    _drop(asked, at)
    return _done(asked, f"Dropped stash@{{{at}}} after its changes were applied", **_used(at))


def stash_apply(asked: Asked) -> Outcome:
    at = _apply(asked)
    return _done(asked, f"Applied stash@{{{at}}}", **_used(at))


def _used(at: int) -> Record:
    return {"index": at, "applied": f"stash@{{{at}}}", "conflicts": False}


def stash_drop(asked: Asked) -> Outcome:
    at = _place(asked)
    _drop(asked, at)
    return _done(asked, f"Dropped stash@{{{at}}}", index=at)


def _apply(asked: Asked) -> int:
    one, at = asked.repository, _place(asked)
    files, index = _stashes(one)[at]["files"], one.index()
    _refuse_to_lose(one, [path for path in files if one.content(path) != index.get(path)], "stash apply")
    _write(one, files)
    for path in files.keys() - one.snapshot(one.head).keys():
        one.stage(path, files[path])
    return at


def _drop(asked: Asked, at: int) -> None:
    left = _stashes(asked.repository)
    asked.repository.say(stashes=[*left[:at], *left[at + 1 :]])


def _place(asked: Asked) -> int:
    told = re.search(r"\d+", asked.text("index") or "0")
    at = int(told[0]) if told is not None else 0
    if at >= len(_stashes(asked.repository)):
        raise Refused("not_found", f"stash@{{{at}}} not found", key=f"stash@{{{at}}}")
    return at


def _refuse_to_lose(one: Repository, paths: list[str], by: str) -> None:
    if paths:
        named = ", ".join(one.shown(path) for path in sorted(paths))
        raise Refused("conflict", f"Your local changes to the following files would be overwritten by {by}: {named}")


# from one commit to another -------------------------------------------------------------------------------------------


def move_to(one: Repository, commit: str, by: str) -> None:
    """The working tree as another commit has it. Raises Refused where a change of somebody would be lost.

    What is changed here and the same in both commits stays as it is.
    """
    before, index = one.snapshot(one.head), one.index()
    changes = difference(before, one.snapshot(commit))
    contents = ((path, (old, new), one.content(path), index.get(path)) for path, (old, new) in changes.items())
    _refuse_to_lose(one, [path for path, known, here, staged in contents if not {here, staged} <= {*known}], by)
    _write(one, {path: new for path, (_, new) in changes.items()})
    for path in sorted(one.staged().keys() & changes.keys()):
        one.put(STAGED, path, None)


def keep_staged(one: Repository, index: Mapping[str, str]) -> None:
    """Have the next commit hold these files, now that the last one is another."""
    staged = difference(one.snapshot(one.head), index)
    one.unstage()
    for path, (_, content) in staged.items():
        one.stage(path, content)
