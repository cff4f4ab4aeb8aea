"""Read and inspect files and directories: contents, lines, lists, searches, sizes and differences."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from mcp_sim.plans.files.operations import ENDS, RANGES, STARTS
from mcp_sim.plans.files.request import FilesRequest, matches_name
from mcp_sim.plans.files.tree import Entry
from mcp_sim.plans.outcome import Outcome, as_text
from mcp_sim.plans.patterns import path_test, search_test
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.text_changes import line_diff
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import snake

_MAX_CHARACTERS = 20_000_000  # an answer is one text in memory, copied to the ledger


def read(request: FilesRequest) -> Outcome:
    """Return a file, or its lines from `start` to `end`, at most `limit`, or the first or last ones (`head`, `tail`).

    Lines are counted from 0 unless the tool's argument mentions lines. Raises `Refused` for both `head` and `tail`.
    """
    entry = request.file
    lines = entry.text.splitlines()
    selected = _selected_lines(request, lines)
    content = entry.text if len(selected) == len(lines) else "\n".join(selected)
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
    return _choose_lines(request, lambda lines, count: lines[:count])


def tail(request: FilesRequest) -> Outcome:
    """Return the last `lines` lines of a file, 10 by default."""
    return _choose_lines(request, _last)


def sort(request: FilesRequest) -> Outcome:
    """Return the sorted lines of a file."""
    return _choose_lines(request, lambda lines, _: sorted(lines))


def _choose_lines(request: FilesRequest, choose: Callable[[list[str], int], list[str]]) -> Outcome:
    count = request.number("lines")
    text = "\n".join(choose(request.file.text.splitlines(), 10 if count is None else max(count, 0)))
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
        rows = [_range_facts(lines, *bounds(row, len(lines))) for row in ranges or [{}]]
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
        ranges = [as_object(value) for value in as_list(request.get("ranges"))]
        return [(request.path, request.get("hash"), ranges)]
    requested: list[tuple[str, Json, list[Record]]] = []
    for item in map(as_object, as_list(request.get("files"))):
        path = first_value(item, ("file_path", "path", "file", "filename", "file_name"))
        if path is None:
            raise Refused("invalid", f"A file needs a path, not {encode(item).decode()}")
        ranges = [as_object(value) for value in as_list(first_value(item, RANGES))]
        requested.append((str(path), first_value(item, ("file_hash", "hash", "expected_hash")), ranges))
    return requested


def bounds(wanted: Record, many: int) -> tuple[int, int]:
    """Return the first and the last line, counted from 1. Without an end, the last line of the file."""
    start, end = first_value(wanted, STARTS), first_value(wanted, ENDS)
    return start if isinstance(start, int) else 1, end if isinstance(end, int) else many


def first_value(item: Record, names: Sequence[str]) -> Json:
    """Return the value of the first of these names that an object has in any style, or None."""
    known = {snake(name): value for name, value in item.items()}
    return next((known[name] for name in names if known.get(name) is not None), None)


def list_(request: FilesRequest) -> Outcome:
    """Return the content of a directory; with the flag `recursive` or a `depth`, what is below it, too."""
    rows = _rows(request, request.tree.directory(request.path))
    if request.text("sort") == "size":
        rows.sort(key=lambda row: -row.get("size", 0))
    shown = "path" if request.is_of_notes else "name"
    files, directories = ([row[shown] for row in rows if row["type"] == kind] for kind in ("file", "directory"))
    facts: Record = {"entries": rows, "path": request.path, "count": len(rows)}
    facts |= {} if request.binding.is_open else {"files": files, "directories": directories}
    lines = map(str, files) if request.is_of_notes else _render_rows(request, rows)
    return Outcome("\n".join(lines) or f"{request.path} is empty", facts, "entries")


def _rows(request: FilesRequest, base: Entry) -> list[Record]:
    is_deep = request.flag_or("recursive", request.is_of_notes) or (request.number("depth") or 1) > 1
    rows = request.tree.below(base.path, request.number("depth")) if is_deep else request.tree.inside(base.path)
    entries = [
        entry for entry in rows if request.is_included(entry, base) and (entry.is_file or not request.is_of_notes)
    ]
    if not request.flag_or("hidden", default=True):
        entries = [entry for entry in entries if not entry.name.startswith(".")]
    return [_row(request, entry, base, is_deep=is_deep) for entry in entries]


def _row(request: FilesRequest, entry: Entry, base: Entry, *, is_deep: bool) -> Record:
    """Return the facts of an entry. Names begin below the directory `base` if what is below others is listed."""
    if request.is_of_notes:
        return request.facts_of(entry, request.shown_path(entry, base))
    facts = request.facts_of(entry, request.tree.display_path(entry.path))
    return {**facts, "name": entry.after(base)[1:]} if is_deep else facts


def _render_rows(request: FilesRequest, rows: list[Record]) -> Iterator[str]:
    """Yield a line for each row, with sizes and a total if the tool's name mentions sizes."""
    has_sizes = not request.tool_words.isdisjoint({"size", "sizes"})
    sizes = [row["size"] for row in rows if row["type"] == "file"]
    for row in rows:
        is_file = row["type"] == "file"
        yield f"[{'FILE' if is_file else 'DIR'}] {row['name']}" + (f" {row['size']} B" if has_sizes and is_file else "")
    if rows and has_sizes:
        yield f"\n{len(sizes)} files, {len(rows) - len(sizes)} directories, {sum(sizes)} B in all"


def tree(request: FilesRequest) -> Outcome:
    """Return a directory with everything below it, down to a `depth`, without the patterns in `exclude`."""
    entry = request.tree.directory(request.path)
    nodes = _nodes(request, entry, entry.path, request.number("depth"))
    drawn = "\n".join(_draw_tree(nodes, "")) or f"{request.path} is empty"
    text = json.dumps(nodes, indent=2, ensure_ascii=False) if request.mentions("json") else drawn
    return Outcome(text, {"entries": nodes, "path": request.path}, "entries", is_json=True)


def _nodes(request: FilesRequest, base: Entry, directory: str, depth: int | None) -> list[Record]:
    nodes: list[Record] = []
    for entry in request.tree.inside(directory) if depth is None or depth > 0 else ():
        if request.is_included(entry, base):
            deeper = None if depth is None else depth - 1
            below = {} if entry.is_file else {"children": _nodes(request, base, entry.path, deeper)}
            nodes.append({"name": entry.name, "type": entry.facts["type"], **below})
    return nodes


def _draw_tree(nodes: list[Record], indent: str) -> Iterator[str]:
    for at, node in enumerate(nodes):
        is_last = at == len(nodes) - 1
        yield f"{indent}{'└── ' if is_last else '├── '}{node['name']}{'/' if node['type'] == 'directory' else ''}"
        yield from _draw_tree(node.get("children", []), indent + ("    " if is_last else "│   "))


def find(request: FilesRequest) -> Outcome:
    """Return what is below a directory and has `pattern` in its name; with `content` in `kind`, search contents."""
    if _is_of_contents(request):
        return grep(request)
    base = request.tree.directory(request.path)
    pattern = request.text("pattern")
    is_hit = _name_test(base, pattern)
    hits = [entry for entry in request.tree.below(base.path) if is_hit(entry) and request.is_included(entry, base)]
    paths = [request.shown_path(hit, base) for hit in hits]
    rows = [{"path": path, **request.facts_of(hit, path)} for hit, path in zip(hits, paths, strict=True)]
    facts: Record = {"matches": rows, "path": request.path, "count": len(rows), "pattern": pattern}
    return Outcome("\n".join(paths) or "No matches found", facts, "matches")


def _is_of_contents(request: FilesRequest) -> bool:
    return request.flag("in_contents") or "content" in request.text("kind")


def _name_test(base: Entry, pattern: str) -> Callable[[Entry], bool]:
    if "/" not in pattern.removeprefix("**/"):
        return lambda entry: matches_name(pattern, entry.name)
    matches = path_test(pattern.lstrip("/"))
    return lambda entry: matches(entry.after(base)[1:])


def grep(request: FilesRequest) -> Outcome:
    """Return the lines with `pattern` in a file or in all files below a directory; with `name` in `kind`, search names.

    Raises `Refused` if the tool takes regular expressions, and the pattern is not valid.
    """
    if "name" in request.text("kind") and not _is_of_contents(request):
        return find(request)
    base = request.tree.entry(request.path)
    rows = list(_matching_lines(request, base))
    located = [f"{row['path']}:{row['line']}: {row['text']}" for row in rows]
    text = "\n".join(_group_by_note(rows) if request.is_of_notes else located) or "No matches found"
    facts: Record = {"matches": rows, "count": len(rows), "path": request.path}
    if not request.binding.is_open:
        facts["lines"] = [str(row["text"]) for row in rows] if base.is_file else located
    return Outcome(text, facts, "matches")


def _matching_lines(request: FilesRequest, base: Entry) -> Iterator[Record]:
    holds = _line_test(request)
    for entry in [base] if base.is_file else request.tree.below(base.path):
        if entry.is_file and request.is_included(entry, base):
            path = request.path if base.is_file else request.shown_path(entry, base)
            lines = enumerate(entry.text.splitlines(), 1)
            yield from ({"path": path, "line": at, "text": line} for at, line in lines if holds(line))


def _line_test(request: FilesRequest) -> Callable[[str], bool]:
    pattern = request.text("pattern")
    ignores = request.flag("ignore_case") or not request.flag_or("case", not request.is_of_notes)
    if request.mentions("regex", "regular expression") or "regex" in request.named("pattern"):
        return search_test(pattern, ignores_case=ignores).counted
    return (lambda line: pattern.lower() in line.lower()) if ignores else (lambda line: pattern in line)


def _group_by_note(rows: list[Record]) -> Iterator[str]:
    for path, lines in groupby(rows, lambda row: str(row["path"])):
        yield path
        yield from (f"  {row['line']}: {row['text']}" for row in lines)


_SHOWN_FACTS = {"size": "size", "created": "created", "modified": "modified", "isDirectory": "is_directory",
                "isFile": "is_file", "permissions": "permissions"}  # fmt: skip


def stat(request: FilesRequest) -> Outcome:
    """Return the metadata of a file or directory."""
    entry = request.tree.entry(request.path)
    facts: Record = {**entry.facts, "path": request.path, "size": entry.size}
    facts |= {"lines": len(entry.text.splitlines())} if entry.is_file else {}
    lines = [f"{label}: {as_text(facts[name])}" for label, name in _SHOWN_FACTS.items() if facts[name] is not None]
    return Outcome("\n".join(lines), facts)


def exists(request: FilesRequest) -> Outcome:
    """Return whether there is a file or directory at `path`."""
    entry = request.tree.find(request.tree.at(request.path))
    text = f"{request.path} {'does not exist' if entry is None else 'exists'}"
    return Outcome(text, {**(entry.facts if entry else {}), "path": request.path, "exists": entry is not None})


def du(request: FilesRequest) -> Outcome:
    """Return the total size of the files at or below `path`, in bytes or, with the flag `human`, in larger units."""
    entry = request.tree.entry(request.path)
    size = entry.size + sum(inside.size for inside in request.tree.below(entry.path))
    power = min(max(size.bit_length() - 1, 0) // 10, 3)
    large = f"{size / 1024**power:.2f} {('B', 'KB', 'MB', 'GB')[power]}"
    text = large if request.flag("human") else f"{size} bytes"
    return Outcome(text, {"usage": text, "size": size, "path": request.path}, "usage")


def diff(request: FilesRequest) -> Outcome:
    """Compare the files at `path` and `other` line by line."""
    text = line_diff(request.file.text, request.tree.file(request.text("other")).text)
    return Outcome(text or "The files are identical", {"diff": text, "identical": not text}, "diff")


def pwd(request: FilesRequest) -> Outcome:
    """Return the working directory."""
    working = request.tree.display_path(request.tree.working)
    return Outcome(working, {"path": working}, "path")


def allowed(request: FilesRequest) -> Outcome:
    """Return the directories that calls may access."""
    listed: list[Json] = [request.tree.display_path(directory) for directory in request.tree.allowed]
    return Outcome("Allowed directories:\n" + "\n".join(listed), {"directories": listed}, "directories")
