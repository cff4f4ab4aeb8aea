"""Inspect files and directories: lists, trees, searches, counts and differences."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import groupby

from mcp_sim.backends.compute.text_changes import line_diff
from mcp_sim.backends.files.request import FilesRequest, entry_facts, matches_name
from mcp_sim.backends.files.tree import Entry
from mcp_sim.backends.outcome import Outcome, as_text
from mcp_sim.backends.patterns import path_test, search_test
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record


def listing(request: FilesRequest) -> Outcome:
    """Return the content of the directory at `path`; with the flag `recursive` or a `depth`, what is below it, too.

    `among` and `exclude` are patterns of names, `sort` may be `size`, and the flag `hidden` shows names with a dot.
    Raises `Refused` if there is no such directory.
    """
    base, deep = request.tree.directory(request.path), _is_deep(request)
    found = request.tree.below(base.path, request.number("depth")) if deep else request.tree.inside(base.path)
    entries = [one for one in found if _is_listed(request, one, base)]
    if request.text("sort") == "size":
        entries.sort(key=lambda one: -one.size)
    rows = [_display(request, one, base, deep=deep) for one in entries]
    facts: Record = {"entries": rows, "path": request.path, "count": len(rows)}
    if not request.is_open:
        facts |= {"files": _shown(request, rows, "file"), "directories": _shown(request, rows, "directory")}
    lines = _shown(request, rows, "file") if request.is_of_notes else _render_rows(request, rows)
    return Outcome("\n".join(lines) or f"{request.path} is empty", facts, "entries")


def _shown(request: FilesRequest, rows: list[Record], kind: str) -> list[str]:
    """Return the names of the files or directories in rows; of notes, their paths."""
    return [str(row["path" if request.is_of_notes else "name"]) for row in rows if row["type"] == kind]


def _is_deep(request: FilesRequest) -> bool:
    """Return whether to list what is below the directories, too, as lists of notes do without a flag for it."""
    of_notes = request.is_of_notes and not request.has("recursive")
    return of_notes or request.flag("recursive") or (request.number("depth") or 1) > 1


def _is_listed(request: FilesRequest, entry: Entry, base: Entry) -> bool:
    """Return whether a list shows an entry; one of notes shows no directories."""
    is_hidden = entry.name.startswith(".") and request.has("hidden") and not request.flag("hidden")
    return request.is_included(entry, base) and not is_hidden and (entry.is_file or not request.is_of_notes)


def _render_rows(request: FilesRequest, rows: list[Record]) -> Iterator[str]:
    """Yield a line for each row, with sizes and a total if the tool's name mentions sizes."""
    has_sizes = not request.tool_words.isdisjoint({"size", "sizes"})
    for row in rows:
        size = f" {row['size']} B" if has_sizes and row["type"] == "file" else ""
        yield f"[{'FILE' if row['type'] == 'file' else 'DIR'}] {row['name']}{size}"
    if rows and has_sizes:
        files = [row["size"] for row in rows if row["type"] == "file"]
        yield f"\n{len(files)} files, {len(rows) - len(files)} directories, {sum(files)} B in all"


def _display(request: FilesRequest, entry: Entry, base: Entry, *, deep: bool) -> Record:
    """Return the facts of an entry. Names begin below the directory `base` if what is below others is listed."""
    facts = request.entry_facts(entry)
    if request.is_of_notes:
        return {**facts, "path": request.shown_path(entry, base)}
    name = entry.path[len(base.path.rstrip("/")) + 1 :] if deep else entry.name
    return {**facts, "name": name, "path": request.tree.display_path(entry.path)}


def tree(request: FilesRequest) -> Outcome:
    """Return the directory at `path` with everything below it, down to a `depth`, without the patterns in `exclude`.

    Raises `Refused` if there is no such directory.
    """
    entry = request.tree.directory(request.path)
    nodes = _nodes(request, entry, entry.path, request.number("depth"))
    drawn = "\n".join(_draw_tree(nodes, "")) or f"{request.path} is empty"
    text = json.dumps(nodes, indent=2, ensure_ascii=False) if request.mentions("json") else drawn
    return Outcome(text, {"entries": nodes, "path": request.path}, "entries", is_json=True)


def _nodes(request: FilesRequest, base: Entry, directory: str, depth: int | None) -> list[Record]:
    if depth is not None and depth <= 0:
        return []
    found: list[Record] = []
    for entry in request.tree.inside(directory):
        if request.is_included(entry, base):
            node: Record = {"name": entry.name, "type": "file" if entry.is_file else "directory"}
            next_depth = None if depth is None else depth - 1
            children = {} if entry.is_file else {"children": _nodes(request, base, entry.path, next_depth)}
            found.append({**node, **children})
    return found


def _draw_tree(nodes: list[Record], indent: str) -> Iterator[str]:
    for at, node in enumerate(nodes):
        is_last = at == len(nodes) - 1
        yield f"{indent}{'└── ' if is_last else '├── '}{node['name']}{'/' if node['type'] == 'directory' else ''}"
        yield from _draw_tree(node.get("children", []), indent + ("    " if is_last else "│   "))


def find(request: FilesRequest) -> Outcome:
    """Return the files and directories below `path` whose name contains `pattern`, or matches its wildcards.

    With the flag `in_contents`, or the word `content` in `kind`, search their contents. Raises `Refused` if there is no
    such directory.
    """
    if request.flag("in_contents") or "content" in request.text("kind"):
        return grep(request)
    base = request.tree.directory(request.path)
    pattern = request.text("pattern")
    is_hit = _name_test(base, pattern)
    hits = [one for one in request.tree.below(base.path) if is_hit(one) and request.is_included(one, base)]
    paths = [request.shown_path(one, base) for one in hits]
    rows = [{"path": path, **_other_facts(request, one)} for one, path in zip(hits, paths, strict=True)]
    facts: Record = {"matches": rows, "path": request.path, "count": len(rows), "pattern": pattern}
    return Outcome("\n".join(paths) or "No matches found", facts, "matches")


def _other_facts(request: FilesRequest, entry: Entry) -> Record:
    return {name: value for name, value in request.entry_facts(entry).items() if name != "path"}


def _name_test(base: Entry, pattern: str) -> Callable[[Entry], bool]:
    if "/" not in pattern.removeprefix("**/"):
        return lambda entry: matches_name(pattern, entry.name)
    matches = path_test(pattern.lstrip("/"))
    return lambda entry: matches(entry.path[len(base.path.rstrip("/")) + 1 :])


def grep(request: FilesRequest) -> Outcome:
    """Return the lines that contain `pattern`, in the file at `path` or in all files below that directory.

    It is a regular expression if the tool says so. The flags `case` and `ignore_case` say how to compare, the patterns
    of names `among` and `exclude` restrict the search; with the word `name` in `kind`, search names. Raises `Refused`
    if there is nothing at the path, or the expression is invalid.
    """
    if "name" in request.text("kind"):
        return find(request)
    base = request.tree.entry(request.path)
    rows = list(_matching_lines(request, base))
    located = [f"{row['path']}:{row['line']}: {row['text']}" for row in rows]
    text = "\n".join(_group_by_note(rows) if request.is_of_notes else located) or "No matches found"
    facts: Record = {"matches": rows, "count": len(rows), "path": request.path}
    if not request.is_open:
        facts["lines"] = [str(row["text"]) for row in rows] if base.is_file else located
    return Outcome(text, facts, "matches")


def _matching_lines(request: FilesRequest, base: Entry) -> Iterator[Record]:
    holds = _line_test(request)
    for one in [base] if base.is_file else request.tree.below(base.path):
        if one.is_file and request.is_included(one, base):
            path = request.path if base.is_file else request.shown_path(one, base)
            lines = enumerate((one.content or "").splitlines(), 1)
            yield from ({"path": path, "line": at, "text": line} for at, line in lines if holds(line))


def _group_by_note(rows: list[Record]) -> Iterator[str]:
    """Yield matching lines, grouped below the note that contains them."""
    for path, lines in groupby(rows, lambda row: str(row["path"])):
        yield path
        yield from (f"  {row['line']}: {row['text']}" for row in lines)


def _line_test(request: FilesRequest) -> Callable[[str], bool]:
    pattern = request.text("pattern")
    is_said = request.has("case") or request.is_of_notes
    ignores = request.flag("ignore_case") or (is_said and not request.flag("case"))
    if request.mentions("regex", "regular expression") or "regex" in request.named("pattern"):
        return search_test(pattern, ignores_case=ignores)
    return (lambda line: pattern.lower() in line.lower()) if ignores else (lambda line: pattern in line)


def stat(request: FilesRequest) -> Outcome:
    """Return the metadata of the file or directory at `path`. Raises `Refused` if there is none."""
    entry = request.tree.entry(request.path)
    facts: Record = {**entry_facts(entry), "path": request.path, "size": entry.size}
    facts |= {"lines": len((entry.content or "").splitlines())} if entry.is_file else {}
    shown_facts = {"size": "size", "created": "created", "modified": "modified", "isDirectory": "is_directory",
                   "isFile": "is_file", "permissions": "permissions"}  # fmt: skip
    lines = [f"{label}: {as_text(facts[name])}" for label, name in shown_facts.items() if facts[name] is not None]
    return Outcome("\n".join(lines), facts)


def exists(request: FilesRequest) -> Outcome:
    """Return whether there is a file or directory at `path`."""
    entry = request.tree.find(request.tree.at(request.path))
    text = f"{request.path} exists" if entry is not None else f"{request.path} does not exist"
    return Outcome(text, {**(entry_facts(entry) if entry else {}), "path": request.path, "exists": entry is not None})


def du(request: FilesRequest) -> Outcome:
    """Return the total size of the files at or below `path`, in bytes or, with the flag `human`, in larger units.

    Raises `Refused` if there is nothing there.
    """
    entry = request.tree.entry(request.path)
    size = entry.size + sum(one.size for one in request.tree.below(entry.path))
    text = _human(size) if request.flag("human") else f"{size} bytes"
    return Outcome(text, {"usage": text, "size": size, "path": request.path}, "usage")


def _human(size: float) -> str:
    for unit in ("B", "KB", "MB"):
        if size < 1024:
            return f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} GB"


_UNITS = {"l": "lines", "w": "words", "c": "characters", "m": "characters"}


def wc(request: FilesRequest) -> Outcome:
    """Count the lines, words and characters of the file at `path`; `mode` (l, w or c) chooses the count.

    Raises `Refused` if there is no such file, or for another mode.
    """
    content = request.tree.file(request.path).content or ""
    counts = {"lines": len(content.splitlines()), "words": len(content.split()), "characters": len(content)}
    mode = request.text("mode", "l").strip("-").lower()
    unit = _UNITS.get(mode[:1], "lines")
    if request.has("mode") and mode[:1] not in _UNITS:
        raise Refused("invalid", f"Invalid mode {mode!r}: use l (lines), w (words) or c (characters)")
    facts: Record = {**counts, "count": counts[unit], "type": unit, "path": request.path}
    return Outcome(", ".join(f"{many} {what}" for what, many in counts.items()), facts)


def diff(request: FilesRequest) -> Outcome:
    """Compare the files at `path` and `other` line by line. Raises `Refused` if one of them does not exist."""
    one, other = request.tree.file(request.path), request.tree.file(request.text("other"))
    text = line_diff(one.content or "", other.content or "")
    return Outcome(text or "The files are identical", {"diff": text, "identical": not text}, "diff")


def pwd(request: FilesRequest) -> Outcome:
    """Return the working directory."""
    working = request.tree.display_path(request.tree.working)
    return Outcome(working, {"path": working}, "path")


def allowed(request: FilesRequest) -> Outcome:
    """Return the directories that calls may access."""
    listed: list[Json] = [request.tree.display_path(one) for one in request.tree.allowed]
    return Outcome("Allowed directories:\n" + "\n".join(listed), {"directories": listed}, "directories")
