"""Read files: whole, some lines or ranges of lines, or several at once."""

from __future__ import annotations

from collections.abc import Callable

from mcp_sim.backends.files.request import FilesRequest
from mcp_sim.backends.files.tags import front_matter_text, parse_front_matter
from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import snake

_DEFAULT_LINES = 10
_MAX_CHARACTERS = 20_000_000
"""Maximum number of characters of one call that reads several files."""


def read(request: FilesRequest) -> Outcome:
    """Return the content of the file at `path`, or some of its lines.

    `start` and `end` are lines, counted from 0 unless the tool's argument mentions lines, `limit` is their number;
    `head` and `tail` are numbers of lines. Raises `Refused` if there is no such file, or for both `head` and `tail`.
    """
    entry = request.tree.file(request.path)
    content = _selected_part(request, entry.content or "")
    return Outcome(content, {**request.entry_facts(entry), "path": request.path, "content": content}, "content")


def _selected_part(request: FilesRequest, content: str) -> str:
    head, tail, start = request.number("head"), request.number("tail"), request.number("start")
    if head is not None and tail is not None:
        raise Refused("invalid", f"Give {request.named('head')} or {request.named('tail')}, not both")
    lines = content.splitlines()
    if start is not None and start < 0:
        part = lines[start:]
    elif head is not None or tail is not None:
        part = lines[: max(head, 0)] if head is not None else lines[max(len(lines) - max(tail or 0, 0), 0) :]
    else:
        part = _range(request, lines, start or 0)
    return content if len(part) == len(lines) else "\n".join(part)


def _range(request: FilesRequest, lines: list[str], start: int) -> list[str]:
    end, limit = request.number("end"), request.number("limit")
    first = max(start - (1 if "line" in request.named("start") else 0), 0)
    last = end if end is not None and end >= 0 else len(lines)
    return lines[first:last][:limit]


def front_matter(request: FilesRequest) -> Outcome:
    """Return the fields at the beginning of the file at `path`, between lines of three dashes.

    Raises `Refused` if there is no such file.
    """
    header = front_matter_text(request.tree.file(request.path).content or "")
    facts: Record = {"path": request.path, "frontmatter": parse_front_matter(header)}
    return Outcome(header or f"{request.path} has no front matter", facts, "frontmatter")


def read_many(request: FilesRequest) -> Outcome:
    """Return the contents of the files at `paths`. A file that cannot be read is reported, and the others are read.

    Raises `Refused` if the files are too large together.
    """
    rows = [_read_one(request, wanted) for wanted in as_list(request.get("paths")) or request.texts("paths")]
    if sum(len(row.get("content", "")) for row in rows) > _MAX_CHARACTERS:
        message = f"The files have more than {_MAX_CHARACTERS:,} characters together; read fewer at once"
        raise Refused("invalid", message)
    texts = [f"{row['path']}:\n{row.get('content', row.get('error'))}" for row in rows]
    return Outcome("\n---\n".join(texts), {"files": rows, "count": len(rows)}, "files")


def _read_one(request: FilesRequest, wanted: Json) -> Record:
    """Read one file, given by its path or an object with the path."""
    fields = {snake(name): value for name, value in as_object(wanted).items()}
    path = next((str(value) for name, value in fields.items() if "path" in name or "file" in name), str(wanted))
    try:
        entry = request.tree.file(path)
    except Refused as refused:
        return {"path": path, "error": str(refused)}
    return {"path": path, "name": entry.name, "content": entry.content, "size": entry.size}


def head(request: FilesRequest) -> Outcome:
    """Return the first `lines` lines, 10 by default, of the file at `path`. Raises `Refused` if there is none."""
    return _choose_lines(request, lambda lines, count: lines[:count])


def tail(request: FilesRequest) -> Outcome:
    """Return the last `lines` lines, 10 by default, of the file at `path`. Raises `Refused` if there is none."""
    return _choose_lines(request, lambda lines, count: lines[-count:] if count else [])


def sort(request: FilesRequest) -> Outcome:
    """Return the sorted lines of the file at `path`. Raises `Refused` if there is none."""
    return _choose_lines(request, lambda lines, _many: sorted(lines))


def _choose_lines(request: FilesRequest, choose: Callable[[list[str], int], list[str]]) -> Outcome:
    count = request.number("lines")
    content = (request.tree.file(request.path).content or "").splitlines()
    text = "\n".join(choose(content, _DEFAULT_LINES if count is None else max(count, 0)))
    return Outcome(text, {"content": text, "path": request.path}, "content")
