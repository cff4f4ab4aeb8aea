"""What do the tools do that write files: the whole of one, more at its end, an empty one?"""

from __future__ import annotations

from mcp_sim.backends.files.asking import Asked, refuse_to_take
from mcp_sim.backends.files.paths import parent
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record
from mcp_sim.types.json_text import encode
from mcp_sim.types.lexicon.words import words

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
