"""Read files: whole, some lines or ranges of lines, or several at once; sort and count lines."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from mcp_sim.backends.files.operations import ENDS, RANGES, STARTS
from mcp_sim.backends.files.request import FilesRequest
from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import snake

_DEFAULT_LINES = 10
_MAX_CHARACTERS = 20_000_000
"""Maximum number of characters of one call that reads several files."""


def read(request: FilesRequest) -> Outcome:
    """Return a file, or its lines from `start` to `end`, at most `limit`, or the first or last ones (`head`, `tail`).

    Lines are counted from 0 unless the tool's argument mentions lines. Raises `Refused` for both `head` and `tail`.
    """
    entry = request.file
    lines = entry.text.splitlines()
    part = _selected_lines(request, lines)
    content = entry.text if len(part) == len(lines) else "\n".join(part)
    return Outcome(content, {**request.facts_of(entry, request.path), "content": content}, "content")


def _selected_lines(request: FilesRequest, lines: list[str]) -> list[str]:
    head, tail, start = request.number("head"), request.number("tail"), request.number("start")
    if head is not None and tail is not None:
        raise Refused("invalid", f"Give {request.named('head')} or {request.named('tail')}, not both")
    if start is not None and start < 0:
        return lines[start:]
    if head is not None:
        return lines[: max(head, 0)]
    if tail is not None:
        return _last(lines, tail)
    end = request.number("end")
    first = max((start or 0) - (1 if "line" in request.named("start") else 0), 0)
    last = end if end is not None and end >= 0 else len(lines)
    return lines[first:last][: request.number("limit")]


def _last(lines: list[str], count: int) -> list[str]:
    return lines[max(len(lines) - max(count, 0), 0) :]


def read_many(request: FilesRequest) -> Outcome:
    """Return the files at `paths`, with errors of those that cannot be read. Raises `Refused` if they are too large."""
    rows = [_read_one(request, wanted) for wanted in as_list(request.get("paths")) or request.texts("paths")]
    if sum(len(row.get("content", "")) for row in rows) > _MAX_CHARACTERS:
        message = f"The files have more than {_MAX_CHARACTERS:,} characters together; read fewer at once"
        raise Refused("invalid", message)
    texts = [f"{row['path']}:\n{row.get('content', row.get('error'))}" for row in rows]
    return Outcome("\n---\n".join(texts), {"files": rows, "count": len(rows)}, "files")


def _read_one(request: FilesRequest, wanted: Json) -> Record:
    fields = as_object(wanted).items()
    path = next((str(value) for name, value in fields if "path" in snake(name) or "file" in snake(name)), str(wanted))
    try:
        entry = request.tree.file(path)
    except Refused as refused:
        return {"path": path, "error": str(refused)}
    return {"path": path, "name": entry.name, "content": entry.content, "size": entry.size}


def head(request: FilesRequest) -> Outcome:
    """Return the first `lines` lines of a file, 10 by default."""
    return _lines_outcome(request, request.file.text.splitlines()[: _count(request)])


def tail(request: FilesRequest) -> Outcome:
    """Return the last `lines` lines of a file, 10 by default."""
    return _lines_outcome(request, _last(request.file.text.splitlines(), _count(request)))


def sort(request: FilesRequest) -> Outcome:
    """Return the sorted lines of a file."""
    return _lines_outcome(request, sorted(request.file.text.splitlines()))


def _count(request: FilesRequest) -> int:
    count = request.number("lines")
    return _DEFAULT_LINES if count is None else max(count, 0)


def _lines_outcome(request: FilesRequest, lines: list[str]) -> Outcome:
    text = "\n".join(lines)
    return Outcome(text, {"content": text, "path": request.path}, "content")


_UNITS = {"l": "lines", "w": "words", "c": "characters", "m": "characters"}


def wc(request: FilesRequest) -> Outcome:
    """Count lines, words and characters of a file; `mode` (l, w or c) chooses. Raises `Refused` for another mode."""
    content = request.file.text
    counts = {"lines": len(content.splitlines()), "words": len(content.split()), "characters": len(content)}
    mode = request.text("mode", "l").strip("-").lower()
    unit = _UNITS.get(mode[:1], "lines")
    if request.has("mode") and mode[:1] not in _UNITS:
        raise Refused("invalid", f"Invalid mode {mode!r}: use l (lines), w (words) or c (characters)")
    facts: Record = {**counts, "count": counts[unit], "type": unit, "path": request.path}
    return Outcome(", ".join(f"{many} {what}" for what, many in counts.items()), facts)


def read_ranges(request: FilesRequest) -> Outcome:
    """Return the lines in `ranges` of the file at `path`, or those of several `files`, with their hashes."""
    files: dict[str, Json] = {}
    for path, _guard, ranges in requested_ranges(request):
        content = request.tree.file(path).text
        lines = content.splitlines(keepends=True)
        rows = [_range_facts(lines, *bounds(one, len(lines))) for one in ranges or [{}]]
        files[path] = {"ranges": rows, "file_hash": content_hash(content)}
    return Outcome(encode(files).decode(), files, is_json=True)


def _range_facts(lines: Sequence[str], start: int, end: int) -> Record:
    text, last = "".join(lines[start - 1 : end]), max(start, min(end, len(lines)))
    facts: Record = {"content": text, "start_line": start, "end_line": last, "range_hash": content_hash(text)}
    return {**facts, "total_lines": len(lines), "content_size": len(text)}


def content_hash(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def requested_ranges(request: FilesRequest) -> list[tuple[str, Json, list[Record]]]:
    """Return each file, its expected hash, and the ranges in it. Raises `Refused` for an item without a path."""
    if request.has("ranges"):
        ranges = [as_object(one) for one in as_list(request.get("ranges"))]
        return [(request.path, request.get("hash"), ranges)]
    found: list[tuple[str, Json, list[Record]]] = []
    for item in map(as_object, as_list(request.get("files"))):
        path = first_value(item, ("file_path", "path", "file", "filename", "file_name"))
        if path is None:
            raise Refused("invalid", f"A file needs a path, not {encode(item).decode()}")
        ranges = [as_object(one) for one in as_list(first_value(item, RANGES))]
        found.append((str(path), first_value(item, ("file_hash", "hash", "expected_hash")), ranges))
    return found


def bounds(wanted: Record, many: int) -> tuple[int, int]:
    """Return the first and the last line, counted from 1. Without an end, the last line of the file."""
    start, end = first_value(wanted, STARTS), first_value(wanted, ENDS)
    return start if isinstance(start, int) else 1, end if isinstance(end, int) else many


def first_value(item: Record, names: Sequence[str]) -> Json:
    """Return the value of the first of these names that an object has in any style; None if it has none."""
    known = {snake(name): value for name, value in item.items()}
    return next((known[name] for name in names if known.get(name) is not None), None)
