"""What do the tools do that change files: write, edit, make, move, copy, remove, go elsewhere?"""

from __future__ import annotations

from mcp_sim.abilities.differences import differing, patch
from mcp_sim.abilities.refusal import Refused
from mcp_sim.claiming.outcomes import Outcome
from mcp_sim.file_trees.asking import Asked, refuse_to_take, shown
from mcp_sim.file_trees.paths import ROOT, joined, names_of, parent
from mcp_sim.file_trees.tree import Entry
from mcp_sim.json_text import encode
from mcp_sim.schemas import as_list, as_object
from mcp_sim.types import Json, Record
from mcp_sim.words import snake, words

_MAKING = (
    "create parent", "creates parent", "creating parent", "create director", "creates director", "missing director",
    "directories as needed", "directories if", "necessary director",
)  # fmt: skip
"""How a description says that a tool makes the directories that lead to a file."""


def write(asked: Asked) -> Outcome:
    """A file with this content. Without a path, the content is only shown."""
    content = _content(asked)
    if asked.get("path") is None and "path" in asked.roles:
        return Outcome(content, {"output": content}, "output")
    if asked.flag("append"):
        return append(asked)
    path = _place(asked)
    before = asked.tree.find(path)
    if before is not None and "overwrite" in asked.roles and not asked.flag("overwrite"):
        raise refuse_to_take("File", asked.path)
    if before is not None and before.is_file and _is_creation(asked):
        raise refuse_to_take("File", asked.path)
    if before is None and _is_change(asked):
        raise Refused("not_found", f"File not found: {asked.path}", path=asked.path, key=asked.path, entity="file")
    return _written(asked, path, content, f"Successfully wrote to {asked.path}")


def _is_creation(asked: Asked) -> bool:
    """Does the tool only make new files, since another one writes over them?"""
    if "space" in asked.roles and "create" in words(asked.tool.name):
        return not asked.says("overwrite", "replace")
    return asked.says("fails if", "must not exist", "does not overwrite", "already exists, an error")


def _is_change(asked: Asked) -> bool:
    """Does the tool only change files that are there, since another one makes them?"""
    return {*words(asked.tool.name)}.isdisjoint({"write", "create", "save"}) and asked.says("update an existing")


def _written(asked: Asked, path: str, content: str, text: str, **more: Json) -> Outcome:
    before = asked.tree.find(path)
    asked.tree.write(path, content)
    entry = asked.tree.find(path)
    told = shown(entry) if entry is not None else {}
    facts: Record = {**told, "path": asked.path, "characters": len(content), "created_new": before is None, **more}
    return Outcome(text, facts, changes=tuple(asked.tree.changes))


def _content(asked: Asked) -> str:
    value = asked.get("content")
    return value if isinstance(value, str) else "" if value is None else encode(value).decode()


def _place(asked: Asked) -> str:
    """Where a file is to be: no directory, in a directory that is there or may be made."""
    path = asked.tree.at(asked.path)
    found = asked.tree.find(path)
    if found is not None and not found.is_file:
        raise Refused("invalid", f"Is a directory, not a file: {asked.path}", path=asked.path)
    _prepare(asked, path)
    return path


def _prepare(asked: Asked, path: str) -> None:
    """The directory that something is to be in."""
    above = asked.tree.find(parent(path))
    if above is not None and above.is_file:
        raise Refused("invalid", f"Not a directory: {parent(path)}", path=asked.path)
    if above is None and "mkdir" in asked.peers and not _makes_directories(asked):
        raise Refused("not_found", f"No such file or directory: {parent(path)}", path=asked.path, key=parent(path))
    if above is None:
        asked.tree.make(parent(path))


def _makes_directories(asked: Asked) -> bool:
    return asked.flag("parents") or asked.says(*_MAKING)


def append(asked: Asked) -> Outcome:
    """More at the end of a file, which is made where it is not there."""
    path = _place(asked)
    before = asked.tree.find(path)
    old = before.content or "" if before is not None else ""
    return _written(asked, path, old + _content(asked), f"Successfully appended to {asked.path}")


def touch(asked: Asked) -> Outcome:
    """An empty file; one that is there keeps its content."""
    path = _place(asked)
    before = asked.tree.find(path)
    return _written(asked, path, (before.content or "") if before is not None else "", f"Created {asked.path}")


def edit(asked: Asked) -> Outcome:
    """Texts in a file replaced by others, all of them or none."""
    entry = asked.tree.file(asked.path)
    content, count = entry.content or "", 0
    for old, new in _edits(asked):
        if old not in content or not old:
            raise Refused("invalid", f"Text to replace not found in {asked.path}: {old}", path=asked.path)
        found, wanted = content.count(old), _times(asked)
        if wanted is not None and found != wanted:
            told = f"Text to replace occurs {found} times in {asked.path}, not {wanted}: {old}"
            raise Refused("invalid", told, path=asked.path)
        many = 1 if wanted is None and not asked.flag("everywhere") else found
        count, content = count + many, content.replace(old, new, many)
    difference = _difference(asked, entry.content or "", content)
    if asked.flag("dry"):
        return Outcome(difference, {"diff": difference, "path": asked.path, "count": count}, "diff")
    done = f"Successfully edited {asked.path}\n{difference}"
    return _written(asked, entry.path, content, done, diff=difference, count=count)


def _times(asked: Asked) -> int | None:
    """So often must the text to replace occur; None where that does not matter."""
    if "times" in asked.roles:
        return asked.number("times") or 1
    return 1 if "everywhere" in asked.roles and not asked.flag("everywhere") else None


def _difference(asked: Asked, before: str, after: str) -> str:
    """As a patch where the tool promises a diff, else as the lines that differ."""
    if not asked.says("diff", "patch"):
        return differing(before, after)
    return patch(before, after, asked.path)


def _edits(asked: Asked) -> list[tuple[str, str]]:
    if asked.get("old") is not None:
        return [(asked.text("old"), asked.text("new"))]
    found: list[tuple[str, str]] = []
    for one in as_list(asked.get("edits")):
        named = {snake(name): value for name, value in as_object(one).items()}
        old = next((value for name, value in named.items() if name.startswith(("old", "search", "find", "from"))), None)
        new = next((value for name, value in named.items() if name.startswith(("new", "replace", "to"))), "")
        if not isinstance(old, str):
            raise Refused("invalid", f"An edit needs a text to replace and a new text, not {encode(one).decode()}")
        found.append((old, str(new)))
    if not found:
        raise Refused("invalid", "Nothing to replace was given")
    return found


def insert(asked: Asked) -> Outcome:
    """Lines put behind a line; 0 is the beginning."""
    entry = asked.tree.file(asked.path)
    lines, at = (entry.content or "").split("\n"), asked.number("line")
    if at is None or not 0 <= at <= len(lines):
        raise Refused(
            "invalid", f"Invalid line {asked.get('line')}: {asked.path} has {len(lines)} lines", path=asked.path
        )
    text = "\n".join([*lines[:at], _content(asked), *lines[at:]])
    return _written(asked, entry.path, text, f"Successfully inserted at line {at} of {asked.path}")


def replace_lines(asked: Asked) -> Outcome:
    """Other lines in the place of some, counted from 1, the last one included."""
    return _with_lines(asked, _content(asked).removesuffix("\n").split("\n"), "replaced")


def delete_lines(asked: Asked) -> Outcome:
    return _with_lines(asked, [], "deleted")


def _with_lines(asked: Asked, put: list[str], done: str) -> Outcome:
    entry = asked.tree.file(asked.path)
    content = entry.content or ""
    lines = content.splitlines()
    start = asked.number("start")
    said = asked.number("end")
    end = start if said is None else said if said >= 0 else len(lines)
    if start is None or end is None or not 1 <= start <= end <= max(len(lines), 1):
        told = f"Invalid lines {start} to {end}: {asked.path} has {len(lines)} lines"
        raise Refused("invalid", told, path=asked.path)
    kept = [*lines[: start - 1], *put, *lines[end:]]
    text = "\n".join(kept) + ("\n" if content.endswith("\n") and kept else "")
    told = f"Successfully {done} lines {start} to {end} of {asked.path}"
    return _written(asked, entry.path, text, told, diff=_difference(asked, content, text), count=end - start + 1)


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
    _prepare(asked, target)
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
