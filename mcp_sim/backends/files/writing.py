"""What do the tools do that write files: the whole of one, more at its end, an empty one?"""

from __future__ import annotations

from mcp_sim.backends.compute.text_changes import differing, patch, replaced
from mcp_sim.backends.files.paths import parent
from mcp_sim.backends.files.request import Asked, refuse_to_take
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_text import encode
from mcp_sim.types.lexicon.words import snake, words

_MAKING = (
    "create parent", "creates parent", "creating parent", "create director", "creates director", "missing director",
    "directories as needed", "directories if", "necessary director",
)  # fmt: skip
"""How a description says that a tool makes the directories that lead to a file."""

_EXISTING = ("an existing file", "an existing note", "an existing page", "an existing document")
_LINE = "\n"


def write(asked: Asked) -> Outcome:
    """A file with this content. Without a path, the content is only shown."""
    content = content_of(asked)
    if asked.get("path") is None and "path" in asked.roles:
        return Outcome(content, {"output": content}, "output")
    if asked.flag("append"):
        return append(asked)
    path = place_of(asked)
    before = asked.tree.find(path)
    if before is not None and "overwrite" in asked.roles and not asked.flag("overwrite"):
        raise refuse_to_take("File", asked.path)
    if before is not None and before.is_file and _is_creation(asked):
        raise refuse_to_take("File", asked.path)
    if before is None and _is_change(asked):
        raise Refused("not_found", f"File not found: {asked.path}", path=asked.path, key=asked.path, entity="file")
    return written(asked, path, content, f"Successfully wrote to {asked.path}")


def _is_creation(asked: Asked) -> bool:
    """Does the tool only make new files, since another one writes over them?"""
    if "space" in asked.roles and "create" in words(asked.tool.name):
        return not asked.says("overwrite", "replace")
    return asked.says("fails if", "must not exist", "does not overwrite", "already exists, an error")


def _is_change(asked: Asked) -> bool:
    """Does the tool only change files that are there, since another one makes them?"""
    return {*words(asked.tool.name)}.isdisjoint({"write", "create", "save"}) and asked.says("update an existing")


def written(asked: Asked, path: str, content: str, text: str, **more: Json) -> Outcome:
    before = asked.tree.find(path)
    asked.tree.write(path, content)
    entry = asked.tree.find(path)
    told = asked.shown(entry) if entry is not None else {}
    facts: Record = {**told, "path": asked.path, "characters": len(content), "created_new": before is None, **more}
    return Outcome(text, facts, changes=tuple(asked.tree.changes))


def content_of(asked: Asked) -> str:
    value = asked.get("content")
    return value if isinstance(value, str) else "" if value is None else encode(value).decode()


def place_of(asked: Asked) -> str:
    """Where a file is to be: no directory, in a directory that is there or may be made."""
    path = asked.tree.at(asked.path)
    found = asked.tree.find(path)
    if found is not None and not found.is_file:
        raise Refused("invalid", f"Is a directory, not a file: {asked.path}", path=asked.path)
    prepare(asked, path)
    return path


def prepare(asked: Asked, path: str) -> None:
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
    if asked.says(*_EXISTING):
        asked.tree.file(asked.path)
    path = place_of(asked)
    before = asked.tree.find(path)
    old = before.content or "" if before is not None else ""
    between = "\n" if "space" in asked.roles and old and not old.endswith("\n") else ""
    return written(asked, path, old + between + content_of(asked), f"Successfully appended to {asked.path}")


def prepend(asked: Asked) -> Outcome:
    """More at the beginning of a file, on lines of its own."""
    entry = asked.tree.file(asked.path)
    text = f"{content_of(asked).removesuffix(_LINE)}{_LINE}{entry.content or ''}"
    return written(asked, entry.path, text, f"Successfully prepended to {asked.path}")


def overwrite(asked: Asked) -> Outcome:
    """Another content for a file that is there."""
    entry = asked.tree.file(asked.path)
    return written(asked, entry.path, content_of(asked), f"Successfully replaced the content of {asked.path}")


def touch(asked: Asked) -> Outcome:
    """An empty file; one that is there keeps its content."""
    path = place_of(asked)
    before = asked.tree.find(path)
    return written(asked, path, (before.content or "") if before is not None else "", f"Created {asked.path}")


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
        count, content = count + many, replaced(content, old, new, many)
    difference = _difference(asked, entry.content or "", content)
    if asked.flag("dry"):
        return Outcome(difference, {"diff": difference, "path": asked.path, "count": count}, "diff")
    done = f"Successfully edited {asked.path}\n{difference}"
    return written(asked, entry.path, content, done, diff=difference, count=count)


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
    text = "\n".join([*lines[:at], content_of(asked), *lines[at:]])
    return written(asked, entry.path, text, f"Successfully inserted at line {at} of {asked.path}")


def replace_lines(asked: Asked) -> Outcome:
    """Other lines in the place of some, counted from 1, the last one included."""
    return _with_lines(asked, content_of(asked).removesuffix("\n").split("\n"), "replaced")


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
    return written(asked, entry.path, text, told, diff=_difference(asked, content, text), count=end - start + 1)
