"""How are ranges of lines read from several files, and changed where a hash says that nobody else has changed them?"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from mcp_sim.backends.files.arguments import ENDS, RANGES, STARTS
from mcp_sim.backends.files.paths import parent
from mcp_sim.backends.files.request import Asked
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_text import encode
from mcp_sim.types.lexicon.words import snake


def hash_of(text: str) -> str:
    """What guards a text: its SHA-256."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def read(asked: Asked) -> Outcome:
    """The lines that are asked for, file by file; a file that is not there is a failure."""
    told: dict[str, Json] = {}
    for path, _guard, wanted in _wanted(asked):
        content = asked.tree.file(path).content or ""
        lines = content.splitlines(keepends=True)
        rows = [_range(lines, one) for one in wanted or [{}]]
        told[path] = {"ranges": rows, "file_hash": hash_of(content)}
    return Outcome(encode(told).decode(), told, is_json=True)


def _range(lines: Sequence[str], wanted: Record) -> Record:
    start, end = _bounds(wanted, len(lines))
    text = "".join(lines[start - 1 : end])
    last = max(start, min(end, len(lines)))
    told: Record = {"content": text, "start_line": start, "end_line": last, "range_hash": hash_of(text)}
    return {**told, "total_lines": len(lines), "content_size": len(text)}


def change(asked: Asked) -> Outcome:
    """The lines put in the place of others, file by file; what came of each is told."""
    told: dict[str, Json] = {}
    for path, guard, patches in _wanted(asked):
        try:
            told[path] = {"result": "ok", "file_hash": hash_of(_patched(asked, path, guard, patches)), "reason": None}
        except Refused as refused:
            told[path] = {"result": "error", "reason": str(refused), "file_hash": None}
    return Outcome(encode(told).decode(), told, is_json=True, changes=tuple(asked.tree.changes))


def _patched(asked: Asked, path: str, guard: str | None, patches: Sequence[Record]) -> str:
    """The new content of one file, which is written; one that is not there is new where nothing guards it."""
    place = asked.tree.at(path)
    found = asked.tree.find(place)
    content = asked.tree.file(path).content or "" if found is not None or guard else ""
    if found is not None and guard is not None and content and guard != hash_of(content):
        raise Refused("conflict", "Hash mismatch: the file has been modified", path=path)
    lines = content.splitlines(keepends=True)
    for patch in sorted(patches, key=lambda one: _bounds(one, len(lines))[0], reverse=True):
        lines = _replaced(lines, patch, path)
    text = "".join(lines)
    asked.tree.make(parent(place))
    asked.tree.write(place, text)
    return text


def _replaced(lines: list[str], patch: Record, path: str) -> list[str]:
    start, end = _bounds(patch, len(lines))
    if not 1 <= start <= len(lines) + 1 or end < start - 1:
        raise Refused("invalid", f"Invalid lines {start} to {end}: {path} has {len(lines)} lines", path=path)
    guard = _named(patch, ("range_hash", "hash"))
    if guard and guard != hash_of("".join(lines[start - 1 : end])):
        raise Refused("conflict", "Hash mismatch: these lines have been modified", path=path)
    put = str(_named(patch, ("contents", "content", "new_content", "text", "new_text")) or "").splitlines(keepends=True)
    before = lines[: start - 1]
    if before and put and not before[-1].endswith("\n"):
        before[-1] += "\n"
    after = lines[end:]
    if after and put and not put[-1].endswith("\n"):
        put[-1] += "\n"
    return [*before, *put, *after]


def _wanted(asked: Asked) -> list[tuple[str, str | None, list[Record]]]:
    """Each file, what guards it, and the ranges in it. Raises Refused for an item that names no file."""
    if "ranges" in asked.roles:
        guard = asked.get("hash")
        return [
            (
                asked.path,
                None if guard is None else str(guard),
                [as_object(one) for one in as_list(asked.get("ranges"))],
            )
        ]
    return [_item(as_object(one)) for one in as_list(asked.get("files"))]


def _item(item: Record) -> tuple[str, str | None, list[Record]]:
    path = _named(item, ("file_path", "path", "file", "filename", "file_name"))
    if path is None:
        raise Refused("invalid", f"A file needs a path, not {encode(item).decode()}")
    guard = _named(item, ("file_hash", "hash", "expected_hash"))
    ranges = [as_object(one) for one in as_list(_named(item, RANGES))]
    return str(path), None if guard is None else str(guard), ranges


def _bounds(wanted: Record, many: int) -> tuple[int, int]:
    """The first and the last line, counted from 1; to the end where no last one is said."""
    start, end = _named(wanted, STARTS), _named(wanted, ENDS)
    return start if isinstance(start, int) else 1, end if isinstance(end, int) else many


def _named(item: Mapping[str, Json], names: Sequence[str]) -> Json:
    known = {snake(name): value for name, value in item.items()}
    return next((known[name] for name in names if known.get(name) is not None), None)
