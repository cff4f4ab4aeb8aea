"""Inspect files and directories: lists, trees, searches, counts and differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

from mcp_sim.backends.compute.text_changes import line_diff
from mcp_sim.backends.files.request import Request, entry_facts, matches_name
from mcp_sim.backends.files.tree import Entry
from mcp_sim.backends.patterns import path_test, search_test
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, as_text
from mcp_sim.types import Json, Record
from mcp_sim.types.lexicon.english import words


def listing(request: Request) -> Outcome:
    """Return the content of a directory."""
    entry = request.tree.directory(request.path)
    if request.is_of_notes:
        return _notes(request, entry)
    depth = request.levels
    deep = request.flag("recursive") or (depth is not None and depth > 1)
    entries = list(request.tree.below(entry.path, depth) if deep else request.tree.inside(entry.path))
    if "hidden" in request.roles and not request.flag("hidden"):
        entries = [one for one in entries if not one.name.startswith(".")]
    entries = [one for one in entries if _is_included(request, one, entry)]
    if request.text("sort") == "size":
        entries.sort(key=lambda one: -one.size)
    rows = [_display_nested(request, one, entry) if deep else _display(request, one) for one in entries]
    text = "\n".join(_render_rows(request, rows))
    facts = {"entries": rows, "path": request.path, "count": len(rows)}
    if request.is_open:
        return Outcome(text or f"{request.path} is empty", facts, "entries")
    names = {
        "files": [one.name for one in entries if one.is_file],
        "directories": [one.name for one in entries if not one.is_file],
    }
    return Outcome(text or f"{request.path} is empty", {**facts, **names}, "entries")


def _notes(request: Request, base: Entry) -> Outcome:
    """Return the notes below a directory, each by its path; only direct children if the call is not recursive."""
    deep = "recursive" not in request.roles or request.flag("recursive")
    entries = request.tree.below(base.path, request.levels) if deep else request.tree.inside(base.path)
    notes = [one for one in entries if one.is_file and _is_included(request, one, base)]
    rows: list[Record] = [{**request.entry_facts(one), "path": request.named(one.path)} for one in notes]
    paths = [str(row["path"]) for row in rows]
    facts: Record = {"entries": rows, "path": request.path, "count": len(rows)}
    facts |= {} if request.is_open else {"files": paths}
    return Outcome("\n".join(paths) or f"Nothing found in {request.path}", facts, "entries")


def _is_included(request: Request, entry: Entry, base: Entry) -> bool:
    """Return whether an entry passes the include and exclude filters of the call."""
    among = request.text("among")
    return not request.is_left_out(entry, base.path) and (not among or matches_name(among, entry.name))


def _render_rows(request: Request, rows: list[Record]) -> Iterator[str]:
    """Yield a line for each row, with sizes and a total if the tool's name mentions sizes."""
    has_sizes = {"size", "sizes"} & {*words(request.tool.name)}
    for row in rows:
        size = f" {row['size']} B" if has_sizes and row["type"] == "file" else ""
        yield f"[{'FILE' if row['type'] == 'file' else 'DIR'}] {row['name']}{size}"
    if rows and has_sizes:
        files = [row["size"] for row in rows if row["type"] == "file"]
        yield f"\n{len(files)} files, {len(rows) - len(files)} directories, {sum(files)} B in all"


def _display(request: Request, entry: Entry) -> Record:
    return {**request.entry_facts(entry), "path": request.tree.display_path(entry.path)}


def _display_nested(request: Request, entry: Entry, base: Entry) -> Record:
    return {**_display(request, entry), "name": entry.path[len(base.path.rstrip("/")) + 1 :]}


def tree(request: Request) -> Outcome:
    """Return a directory with everything below it."""
    entry = request.tree.directory(request.path)
    nodes = _nodes(request, entry.path, entry.path, request.number("depth"))
    return Outcome("\n".join(_draw_tree(nodes, "")), {"entries": nodes, "path": request.path}, "entries", is_json=True)


def _nodes(request: Request, base: str, directory: str, depth: int | None) -> list[Record]:
    if depth is not None and depth <= 0:
        return []
    found: list[Record] = []
    for entry in request.tree.inside(directory):
        if not request.is_left_out(entry, base):
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


def find(request: Request) -> Outcome:
    """Find files and directories by part of the name or by wildcards."""
    if request.flag("in_contents") or "content" in request.text("kind"):
        return grep(request)
    base = request.tree.directory(request.path)
    pattern = request.text("pattern")
    is_hit = _name_test(base, pattern)
    hits = [one for one in request.tree.below(base.path) if is_hit(one) and not request.is_left_out(one, base.path)]
    paths = [_display_path(request, base, one) for one in hits]
    rows = [{"path": path, **_other_facts(request, one)} for one, path in zip(hits, paths, strict=True)]
    facts: Record = {"matches": rows, "path": request.path, "count": len(rows), "pattern": pattern}
    return Outcome("\n".join(paths) or "No matches found", facts, "matches")


def _other_facts(request: Request, entry: Entry) -> Record:
    return {name: value for name, value in request.entry_facts(entry).items() if name != "path"}


def _name_test(base: Entry, pattern: str) -> Callable[[Entry], bool]:
    if "/" not in pattern.removeprefix("**/"):
        return lambda entry: matches_name(pattern, entry.name)
    matches = path_test(pattern.lstrip("/"))
    return lambda entry: matches(entry.path[len(base.path.rstrip("/")) + 1 :])


def _display_path(request: Request, base: Entry, entry: Entry) -> str:
    """Return the path of an entry below the path that the call gives."""
    if request.is_of_notes:
        return request.named(entry.path)
    return request.path.rstrip("/") + entry.path[len(base.path.rstrip("/")) :]


def grep(request: Request) -> Outcome:
    """Find the lines that contain a text, in a file or in all files below a directory."""
    if "name" in request.text("kind"):
        return find(request)
    base = request.tree.entry(request.path)
    files = [base] if base.is_file else [one for one in request.tree.below(base.path) if one.is_file]
    holds = _line_test(request)
    rows = [
        {"path": request.path if base.is_file else _display_path(request, base, one), "line": at, "text": line}
        for one in files
        if _is_included(request, one, base)
        for at, line in enumerate((one.content or "").splitlines(), 1)
        if holds(line)
    ]
    texts = (
        _group_by_note(rows) if request.is_of_notes else (f"{row['path']}:{row['line']}: {row['text']}" for row in rows)
    )
    text = "\n".join(texts) or "No matches found"
    lines = (
        [str(row["text"]) for row in rows]
        if base.is_file
        else [f"{row['path']}:{row['line']}: {row['text']}" for row in rows]
    )
    return Outcome(
        text,
        {"matches": rows, **({} if request.is_open else {"lines": lines}), "count": len(rows), "path": request.path},
        "matches",
    )


def _group_by_note(rows: list[Record]) -> Iterator[str]:
    """Yield matching lines, grouped below the note that contains them."""
    for path, lines in groupby(rows, lambda row: str(row["path"])):
        yield path
        yield from (f"  {row['line']}: {row['text']}" for row in lines)


def _line_test(request: Request) -> Callable[[str], bool]:
    pattern = request.text("pattern")
    is_said = "case" in request.roles or request.is_of_notes
    ignores = request.flag("ignore_case") or (is_said and not request.flag("case"))
    if request.mentions("regex", "regular expression") or "regex" in request.roles.get("pattern", ""):
        return search_test(pattern, ignores_case=ignores)
    return (lambda line: pattern.lower() in line.lower()) if ignores else (lambda line: pattern in line)


def stat(request: Request) -> Outcome:
    """Return the metadata of a file or directory."""
    entry = request.tree.entry(request.path)
    facts: Record = {**entry_facts(entry), "path": request.path, "size": entry.size}
    facts |= {"lines": len((entry.content or "").splitlines())} if entry.is_file else {}
    shown_facts = {"size": "size", "created": "created", "modified": "modified", "isDirectory": "is_directory",
                   "isFile": "is_file", "permissions": "permissions"}  # fmt: skip
    lines = [f"{label}: {as_text(facts[name])}" for label, name in shown_facts.items() if facts[name] is not None]
    return Outcome("\n".join(lines), facts)


def exists(request: Request) -> Outcome:
    entry = request.tree.find(request.tree.at(request.path))
    text = f"{request.path} exists" if entry is not None else f"{request.path} does not exist"
    return Outcome(text, {**(entry_facts(entry) if entry else {}), "path": request.path, "exists": entry is not None})


def du(request: Request) -> Outcome:
    """Return the total size in bytes of the files below a directory."""
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


def wc(request: Request) -> Outcome:
    """Count the lines, words and characters of a file. Raises `Refused` if it is not a file, or the mode is invalid."""
    content = request.tree.file(request.path).content or ""
    counts = {"lines": len(content.splitlines()), "words": len(content.split()), "characters": len(content)}
    mode = request.text("mode", "l").strip("-").lower()
    unit = _UNITS.get(mode[:1], "lines")
    if "mode" in request.roles and mode[:1] not in _UNITS:
        raise Refused("invalid", f"Invalid mode {mode!r}: use l (lines), w (words) or c (characters)")
    facts: Record = {**counts, "count": counts[unit], "type": unit, "path": request.path}
    return Outcome(", ".join(f"{many} {what}" for what, many in counts.items()), facts)


def diff(request: Request) -> Outcome:
    """Compare two files line by line."""
    one, other = request.tree.file(request.path), request.tree.file(request.text("other"))
    text = line_diff(one.content or "", other.content or "")
    return Outcome(text, {"diff": text, "identical": not text}, "diff")


def pwd(request: Request) -> Outcome:
    working = request.tree.display_path(request.tree.working)
    return Outcome(working, {"path": working}, "path")


def allowed(request: Request) -> Outcome:
    listed: list[Json] = [request.tree.display_path(one) for one in request.tree.allowed]
    return Outcome("Allowed directories:\n" + "\n".join(listed), {"directories": listed}, "directories")
