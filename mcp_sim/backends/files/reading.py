"""What do the tools tell that read files: the whole of one, some of its lines, several at once?"""

from __future__ import annotations

from collections.abc import Callable

from mcp_sim.backends.files.request import Asked
from mcp_sim.backends.files.tags import ahead, fields_of
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.words import snake

_USUAL_LINES = 10
_MOST_READ = 20_000_000
"""So many characters are read at once."""


def read(asked: Asked) -> Outcome:
    """The content of a file, or some lines of it."""
    entry = asked.tree.file(asked.path)
    content = _part(asked, entry.content or "")
    return Outcome(content, {**asked.shown(entry), "path": asked.path, "content": content}, "content")


def _part(asked: Asked, content: str) -> str:
    head, tail = asked.number("head"), asked.number("tail")
    start, end, limit = asked.number("start"), asked.number("end"), asked.number("limit")
    if all(one is None for one in (head, tail, start, end, limit)):
        return content
    if head is not None and tail is not None:
        raise Refused("invalid", f"Give {asked.roles['head']} or {asked.roles['tail']}, not both")
    lines = content.splitlines()
    if start is not None and start < 0:
        return "\n".join(lines[start:])
    if head is not None:
        return "\n".join(lines[: max(head, 0)])
    if tail is not None:
        return "\n".join(lines[-tail:] if tail > 0 else [])
    counts_from_one = "line" in asked.roles.get("start", "")
    first = max((start or 0) - (1 if counts_from_one else 0), 0)
    last = end if end is not None and end >= 0 else len(lines)
    return "\n".join(lines[first:last][:limit] if limit is not None else lines[first:last])


def front_matter(asked: Asked) -> Outcome:
    """The fields that stand ahead of a text, between lines of three dashes."""
    said = ahead(asked.tree.file(asked.path).content or "")
    facts: Record = {"path": asked.path, "frontmatter": fields_of(said)}
    return Outcome(said or f"{asked.path} has no front matter", facts, "frontmatter")


def read_many(asked: Asked) -> Outcome:
    """Several files; one that cannot be read does not keep the others from being read."""
    rows = [_one(asked, wanted) for wanted in as_list(asked.get("paths")) or asked.texts("paths")]
    if sum(len(row.get("content", "")) for row in rows) > _MOST_READ:
        raise Refused("invalid", f"The files have more than {_MOST_READ:,} characters together; read fewer at once")
    told = [f"{row['path']}:\n{row.get('content', row.get('error'))}" for row in rows]
    return Outcome("\n---\n".join(told), {"files": rows, "count": len(rows)}, "files")


def _one(asked: Asked, wanted: Json) -> Record:
    """One of the files: its path, or an object that holds it."""
    said = {snake(name): value for name, value in as_object(wanted).items()}
    path = next((str(value) for name, value in said.items() if "path" in name or "file" in name), str(wanted))
    try:
        entry = asked.tree.file(path)
    except Refused as refused:
        return {"path": path, "error": str(refused)}
    return {"path": path, "name": entry.name, "content": entry.content, "size": entry.size}


def head(asked: Asked) -> Outcome:
    return _lines(asked, lambda lines, many: lines[:many])


def tail(asked: Asked) -> Outcome:
    return _lines(asked, lambda lines, many: lines[-many:] if many else [])


def sort(asked: Asked) -> Outcome:
    return _lines(asked, lambda lines, _many: sorted(lines))


def _lines(asked: Asked, choose: Callable[[list[str], int], list[str]]) -> Outcome:
    many = asked.number("lines")
    content = (asked.tree.file(asked.path).content or "").splitlines()
    text = "\n".join(choose(content, _USUAL_LINES if many is None else max(many, 0)))
    return Outcome(text, {"content": text, "path": asked.path}, "content")
