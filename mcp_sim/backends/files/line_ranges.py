"""Read ranges of lines, and change them if a hash shows that the file has not changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from mcp_sim.backends.files.operations import ENDS, RANGES, STARTS
from mcp_sim.backends.files.paths import parent
from mcp_sim.backends.files.request import FilesRequest
from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import snake


def content_hash(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def read(request: FilesRequest) -> Outcome:
    """Return the lines in `ranges` of the file at `path`, or those of several `files`, with their hashes.

    Raises `Refused` if a file does not exist.
    """
    files: dict[str, Json] = {}
    for path, _guard, wanted in _requested_files(request):
        content = request.tree.file(path).content or ""
        lines = content.splitlines(keepends=True)
        rows = [_range(lines, one) for one in wanted or [{}]]
        files[path] = {"ranges": rows, "file_hash": content_hash(content)}
    return Outcome(encode(files).decode(), files, is_json=True)


def _range(lines: Sequence[str], wanted: Record) -> Record:
    start, end = _bounds(wanted, len(lines))
    text = "".join(lines[start - 1 : end])
    last = max(start, min(end, len(lines)))
    facts: Record = {"content": text, "start_line": start, "end_line": last, "range_hash": content_hash(text)}
    return {**facts, "total_lines": len(lines), "content_size": len(text)}


def change(request: FilesRequest) -> Outcome:
    """Replace the lines in `ranges` of the file at `path`, guarded by its `hash`, or those of several `files`.

    The result of each file is reported; none fails the others.
    """
    results: dict[str, Json] = {}
    for path, guard, patches in _requested_files(request):
        try:
            new_hash = content_hash(_patch_file(request, path, guard, patches))
            results[path] = {"result": "ok", "file_hash": new_hash, "reason": None}
        except Refused as refused:
            results[path] = {"result": "error", "reason": str(refused), "file_hash": None}
    return Outcome(encode(results).decode(), results, is_json=True)


def _patch_file(request: FilesRequest, path: str, guard: str | None, patches: Sequence[Record]) -> str:
    """Write and return the new content of one file. A missing file is created if no hash is given."""
    place = request.tree.at(path)
    found = request.tree.find(place)
    content = request.tree.file(path).content or "" if found is not None or guard else ""
    if found is not None and guard is not None and content and guard != content_hash(content):
        raise Refused("conflict", "Hash mismatch: the file has been modified", path=path)
    lines = content.splitlines(keepends=True)
    for patch in sorted(patches, key=lambda one: _bounds(one, len(lines))[0], reverse=True):
        lines = _replace_range(lines, patch, path)
    text = "".join(lines)
    request.tree.make(parent(place))
    request.tree.write(place, text)
    return text


def _replace_range(lines: list[str], patch: Record, path: str) -> list[str]:
    start, end = _bounds(patch, len(lines))
    if not 1 <= start <= len(lines) + 1 or end < start - 1:
        raise Refused("invalid", f"Invalid lines {start} to {end}: {path} has {len(lines)} lines", path=path)
    guard = _first_value(patch, ("range_hash", "hash"))
    if guard and guard != content_hash("".join(lines[start - 1 : end])):
        raise Refused("conflict", "Hash mismatch: these lines have been modified", path=path)
    text = str(_first_value(patch, ("contents", "content", "new_content", "text", "new_text")) or "")
    put = text.splitlines(keepends=True)
    before = lines[: start - 1]
    if before and put and not before[-1].endswith("\n"):
        before[-1] += "\n"
    after = lines[end:]
    if after and put and not put[-1].endswith("\n"):
        put[-1] += "\n"
    return [*before, *put, *after]


def _requested_files(request: FilesRequest) -> list[tuple[str, str | None, list[Record]]]:
    """Return each file, its expected hash, and the ranges in it. Raises `Refused` for an item without a path."""
    if request.has("ranges"):
        ranges = [as_object(one) for one in as_list(request.get("ranges"))]
        return [(request.path, request.text("hash") if request.get("hash") is not None else None, ranges)]
    return [_parse_file(as_object(one)) for one in as_list(request.get("files"))]


def _parse_file(item: Record) -> tuple[str, str | None, list[Record]]:
    path = _first_value(item, ("file_path", "path", "file", "filename", "file_name"))
    if path is None:
        raise Refused("invalid", f"A file needs a path, not {encode(item).decode()}")
    guard = _first_value(item, ("file_hash", "hash", "expected_hash"))
    ranges = [as_object(one) for one in as_list(_first_value(item, RANGES))]
    return str(path), None if guard is None else str(guard), ranges


def _bounds(wanted: Record, many: int) -> tuple[int, int]:
    """Return the first and the last line, counted from 1. Without an end, the last line of the file."""
    start, end = _first_value(wanted, STARTS), _first_value(wanted, ENDS)
    return start if isinstance(start, int) else 1, end if isinstance(end, int) else many


def _first_value(item: Mapping[str, Json], names: Sequence[str]) -> Json:
    known = {snake(name): value for name, value in item.items()}
    return next((known[name] for name in names if known.get(name) is not None), None)
