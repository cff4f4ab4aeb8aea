"""Read files: whole, some lines, or several at once."""

from __future__ import annotations

from collections.abc import Callable

from mcp_sim.backends.files.request import Request
from mcp_sim.backends.files.tags import front_matter_text, parse_front_matter
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import snake

_DEFAULT_LINES = 10
_MAX_CHARACTERS = 20_000_000
"""Maximum number of characters of one call that reads several files."""


def read(request: Request) -> Outcome:
    """Return the content of a file, or some lines of it."""
    entry = request.tree.file(request.path)
    content = _selected_part(request, entry.content or "")
    return Outcome(content, {**request.entry_facts(entry), "path": request.path, "content": content}, "content")


def _selected_part(request: Request, content: str) -> str:
    head, tail = request.number("head"), request.number("tail")
    start, end, limit = request.number("start"), request.number("end"), request.number("limit")
    if all(one is None for one in (head, tail, start, end, limit)):
        return content
    if head is not None and tail is not None:
        raise Refused("invalid", f"Give {request.roles['head']} or {request.roles['tail']}, not both")
    lines = content.splitlines()
    if start is not None and start < 0:
        return "\n".join(lines[start:])
    if head is not None:
        return "\n".join(lines[: max(head, 0)])
    if tail is not None:
        return "\n".join(lines[-tail:] if tail > 0 else [])
    counts_from_one = "line" in request.roles.get("start", "")
    first = max((start or 0) - (1 if counts_from_one else 0), 0)
    last = end if end is not None and end >= 0 else len(lines)
    return "\n".join(lines[first:last][:limit] if limit is not None else lines[first:last])


def front_matter(request: Request) -> Outcome:
    """Return the fields before a text, between lines of three dashes."""
    header = front_matter_text(request.tree.file(request.path).content or "")
    facts: Record = {"path": request.path, "frontmatter": parse_front_matter(header)}
    return Outcome(header or f"{request.path} has no front matter", facts, "frontmatter")


def read_many(request: Request) -> Outcome:
    """Read several files. A file that cannot be read is reported, and the others are read.

    Raises `Refused` if the files are too large together.
    """
    rows = [_read_one(request, wanted) for wanted in as_list(request.get("paths")) or request.texts("paths")]
    if sum(len(row.get("content", "")) for row in rows) > _MAX_CHARACTERS:
        raise Refused(
            "invalid", f"The files have more than {_MAX_CHARACTERS:,} characters together; read fewer at once"
        )
    texts = [f"{row['path']}:\n{row.get('content', row.get('error'))}" for row in rows]
    return Outcome("\n---\n".join(texts), {"files": rows, "count": len(rows)}, "files")


def _read_one(request: Request, wanted: Json) -> Record:
    """Read one file, given by its path or an object with the path."""
    named = {snake(name): value for name, value in as_object(wanted).items()}
    path = next((str(value) for name, value in named.items() if "path" in name or "file" in name), str(wanted))
    try:
        entry = request.tree.file(path)
    except Refused as refused:
        return {"path": path, "error": str(refused)}
    return {"path": path, "name": entry.name, "content": entry.content, "size": entry.size}


def head(request: Request) -> Outcome:
    return _choose_lines(request, lambda lines, count: lines[:count])


def tail(request: Request) -> Outcome:
    return _choose_lines(request, lambda lines, count: lines[-count:] if count else [])


def sort(request: Request) -> Outcome:
    return _choose_lines(request, lambda lines, _many: sorted(lines))


def _choose_lines(request: Request, choose: Callable[[list[str], int], list[str]]) -> Outcome:
    count = request.number("lines")
    content = (request.tree.file(request.path).content or "").splitlines()
    text = "\n".join(choose(content, _DEFAULT_LINES if count is None else max(count, 0)))
    return Outcome(text, {"content": text, "path": request.path}, "content")
