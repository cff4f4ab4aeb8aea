"""What do the tools do that change where files are: make directories, move, copy, remove, go elsewhere?"""

from __future__ import annotations

from mcp_sim.backends.files.paths import ROOT, joined, names_of, parent
from mcp_sim.backends.files.request import Asked, refuse_to_take, shown
from mcp_sim.backends.files.tree import Entry
from mcp_sim.backends.files.writing import prepare
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Record


def mkdir(asked: Asked) -> Outcome:
    """A directory, with those that lead to it where that is usual."""
    path = asked.tree.at(asked.path)
    found = asked.tree.find(path)
    if found is not None and (found.is_file or not _is_lenient(asked)):
        raise refuse_to_take("File" if found.is_file else "Directory", asked.path)
    above = asked.tree.find(parent(path))
    if above is None and "parents" in asked.roles and not asked.flag("parents"):
        raise Refused("not_found", f"No such file or directory: {parent(path)}", path=asked.path, key=parent(path))
    asked.tree.make(path)
    facts: Record = {"path": asked.path, "created_new": found is None, "type": "directory"}
    return Outcome(f"Successfully created directory {asked.path}", facts, changes=tuple(asked.tree.changes))


def _is_lenient(asked: Asked) -> bool:
    return asked.says("already exist", "ensure", "if it doesn't exist", "if it does not exist", "if needed")


def delete(asked: Asked) -> Outcome:
    """A file; a directory where the tool takes one, and all it holds where the tool or the call says so."""
    entry = asked.tree.entry(asked.path)
    if not entry.is_file and not asked.says("director", "folder"):
        raise Refused("invalid", f"Is a directory, not a file: {asked.path}", path=asked.path)
    return _removed(asked, entry, is_deep="recursive" not in asked.roles or asked.flag("recursive"))


def rmdir(asked: Asked) -> Outcome:
    """A directory, which must be empty unless the tool or the call says otherwise."""
    return _removed(asked, asked.tree.directory(asked.path), is_deep=_is_deep(asked))


def _is_deep(asked: Asked) -> bool:
    if "recursive" in asked.roles:
        return asked.flag("recursive")
    return asked.says("recursiv", "all its contents", "and its contents", "and all", "everything in")


def _removed(asked: Asked, entry: Entry, *, is_deep: bool) -> Outcome:
    if entry.path == ROOT:
        raise Refused("forbidden", "The root directory cannot be deleted", path=asked.path)
    if not entry.is_file and not is_deep and asked.tree.inside(entry.path):
        raise Refused("conflict", f"Directory not empty: {asked.path}", path=asked.path, key=asked.path)
    working = asked.tree.working
    asked.tree.remove(entry)
    if working == entry.path or working.startswith(f"{entry.path}/"):
        asked.tree.go(parent(entry.path))
    facts: Record = {"path": asked.path, "deleted": True, "result": f"'{asked.path}' removed"}
    return Outcome(f"Successfully deleted {asked.path}", facts, changes=tuple(asked.tree.changes))


def move(asked: Asked) -> Outcome:
    """A file or a directory under another path, or into a directory that is there."""
    entry, target = _from_to(asked)
    asked.tree.copy(entry, target)
    asked.tree.remove(entry)
    return _moved(asked, entry, target, "moved")


def copy(asked: Asked) -> Outcome:
    """The same under another path, or in a directory that is there."""
    entry, target = _from_to(asked)
    asked.tree.copy(entry, target)
    return _moved(asked, entry, target, "copied")


def _moved(asked: Asked, entry: Entry, target: str, done: str) -> Outcome:
    source, destination = asked.text("source"), _as_told(asked, entry, target)
    facts: Record = {"path": destination, "source": source, "destination": destination, "type": shown(entry)["type"]}
    facts["result"] = f"'{source}' {done} to '{destination}'"
    return Outcome(f"Successfully {done} {source} to {destination}", facts, changes=tuple(asked.tree.changes))


def _as_told(asked: Asked, entry: Entry, target: str) -> str:
    """The new place as the caller would write it."""
    told = asked.text("destination")
    return told if asked.tree.at(told) == target else joined(told, entry.name)


def _from_to(asked: Asked) -> tuple[Entry, str]:
    entry, told = asked.tree.entry(asked.text("source")), asked.text("destination")
    target = asked.tree.at(_beside(asked, entry, told))
    found = asked.tree.find(target)
    if found is not None and not found.is_file and target != entry.path:
        target = joined(target, entry.name)
        found = asked.tree.find(target)
    if entry.path in (ROOT, target) or target.startswith(f"{entry.path}/"):
        raise Refused("invalid", f"Cannot put {asked.text('source')} into itself: {told}", path=told)
    if found is not None and not (entry.is_file and found.is_file and _writes_over(asked)):
        raise refuse_to_take("Destination", told)
    prepare(asked, target)
    return entry, target


def _beside(asked: Asked, entry: Entry, told: str) -> str:
    """A new name alone means the directory that the file is in."""
    is_name = asked.roles.get("destination", "").lower().endswith("name") and "/" not in told
    return joined(parent(entry.path), told) if is_name else told


def _writes_over(asked: Asked) -> bool:
    return asked.flag("overwrite") or (asked.tool.name in {"mv", "cp"} and "overwrite" not in asked.roles)


def cd(asked: Asked) -> Outcome:
    """Another working directory; told as the caller called it, where that was by its name."""
    entry = asked.tree.directory(asked.path)
    if entry.path != asked.tree.working:
        asked.tree.go(entry.path)
    place = asked.tree.told(entry.path)
    text = f"Working directory is now {place}"
    told = asked.path if names_of(asked.path) == [entry.name] else place
    return Outcome(text, {"path": told}, "path", changes=tuple(asked.tree.changes))
