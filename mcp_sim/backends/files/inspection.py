"""What do the tools tell that only look at files: lists, trees, what was found, counts, differences?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby

from mcp_sim.backends.compute.text_changes import differing
from mcp_sim.backends.files.request import Asked, matches_name, shown
from mcp_sim.backends.files.tree import Entry
from mcp_sim.backends.patterns import holds_match, path_test
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, plain
from mcp_sim.types import Json, Record
from mcp_sim.types.lexicon.words import words


def listing(asked: Asked) -> Outcome:
    """What a directory holds."""
    entry = asked.tree.directory(asked.path)
    if asked.is_of_notes:
        return _notes(asked, entry)
    depth = asked.levels
    deep = asked.flag("recursive") or (depth is not None and depth > 1)
    held = list(asked.tree.below(entry.path, depth) if deep else asked.tree.inside(entry.path))
    if "hidden" in asked.roles and not asked.flag("hidden"):
        held = [one for one in held if not one.name.startswith(".")]
    held = [one for one in held if _is_among(asked, one, entry)]
    if asked.text("sort") == "size":
        held.sort(key=lambda one: -one.size)
    rows = [_placed(asked, one, entry) if deep else _told(asked, one) for one in held]
    text = "\n".join(_listed(asked, rows))
    facts = {"entries": rows, "path": asked.path, "count": len(rows)}
    if asked.is_open:
        return Outcome(text or f"{asked.path} is empty", facts, "entries")
    names = {
        "files": [one.name for one in held if one.is_file],
        "directories": [one.name for one in held if not one.is_file],
    }
    return Outcome(text or f"{asked.path} is empty", {**facts, **names}, "entries")


def _notes(asked: Asked, base: Entry) -> Outcome:
    """All notes below a directory, or those in it where the tool tells these apart, each by its path."""
    deep = "recursive" not in asked.roles or asked.flag("recursive")
    held = asked.tree.below(base.path, asked.levels) if deep else asked.tree.inside(base.path)
    notes = [one for one in held if one.is_file and _is_among(asked, one, base)]
    rows: list[Record] = [{**asked.shown(one), "path": asked.named(one.path)} for one in notes]
    paths = [str(row["path"]) for row in rows]
    facts: Record = {"entries": rows, "path": asked.path, "count": len(rows)}
    facts |= {} if asked.is_open else {"files": paths}
    return Outcome("\n".join(paths) or f"Nothing found in {asked.path}", facts, "entries")


def _is_among(asked: Asked, entry: Entry, base: Entry) -> bool:
    """Is it of the files that the call narrows to?"""
    among = asked.text("among")
    return not asked.is_left_out(entry, base.path) and (not among or matches_name(among, entry.name))


def _listed(asked: Asked, rows: list[Record]) -> Iterator[str]:
    """A line for each; with sizes, and how much it is together, where the tool speaks of them."""
    has_sizes = {"size", "sizes"} & {*words(asked.tool.name)}
    for row in rows:
        size = f" {row['size']} B" if has_sizes and row["type"] == "file" else ""
        yield f"[{'FILE' if row['type'] == 'file' else 'DIR'}] {row['name']}{size}"
    if rows and has_sizes:
        files = [row["size"] for row in rows if row["type"] == "file"]
        yield f"\n{len(files)} files, {len(rows) - len(files)} directories, {sum(files)} B in all"


def _told(asked: Asked, entry: Entry) -> Record:
    return {**asked.shown(entry), "path": asked.tree.told(entry.path)}


def _placed(asked: Asked, entry: Entry, base: Entry) -> Record:
    return {**_told(asked, entry), "name": entry.path[len(base.path.rstrip("/")) + 1 :]}


def tree(asked: Asked) -> Outcome:
    """A directory with everything below it."""
    entry = asked.tree.directory(asked.path)
    nodes = _nodes(asked, entry.path, entry.path, asked.number("depth"))
    return Outcome("\n".join(_drawn(nodes, "")), {"entries": nodes, "path": asked.path}, "entries", is_json=True)


def _nodes(asked: Asked, base: str, directory: str, depth: int | None) -> list[Record]:
    if depth is not None and depth <= 0:
        return []
    found: list[Record] = []
    for entry in asked.tree.inside(directory):
        if not asked.is_left_out(entry, base):
            node: Record = {"name": entry.name, "type": "file" if entry.is_file else "directory"}
            further = None if depth is None else depth - 1
            held = {} if entry.is_file else {"children": _nodes(asked, base, entry.path, further)}
            found.append({**node, **held})
    return found


def _drawn(nodes: list[Record], indent: str) -> Iterator[str]:
    for at, node in enumerate(nodes):
        is_last = at == len(nodes) - 1
        yield f"{indent}{'└── ' if is_last else '├── '}{node['name']}{'/' if node['type'] == 'directory' else ''}"
        yield from _drawn(node.get("children", []), indent + ("    " if is_last else "│   "))


def find(asked: Asked) -> Outcome:
    """Files and directories by a part of the name, or by wildcards."""
    if asked.flag("in_contents") or "content" in asked.text("kind"):
        return grep(asked)
    base = asked.tree.directory(asked.path)
    pattern = asked.text("pattern")
    is_hit = _hit_test(base, pattern)
    hits = [one for one in asked.tree.below(base.path) if is_hit(one) and not asked.is_left_out(one, base.path)]
    paths = [_told_place(asked, base, one) for one in hits]
    rows = [{"path": path, **_beside(asked, one)} for one, path in zip(hits, paths, strict=True)]
    facts: Record = {"matches": rows, "path": asked.path, "count": len(rows), "pattern": pattern}
    return Outcome("\n".join(paths) or "No matches found", facts, "matches")


def _beside(asked: Asked, entry: Entry) -> Record:
    return {name: value for name, value in asked.shown(entry).items() if name != "path"}


def _hit_test(base: Entry, pattern: str) -> Callable[[Entry], bool]:
    if "/" not in pattern.removeprefix("**/"):
        return lambda entry: matches_name(pattern, entry.name)
    matches = path_test(pattern.lstrip("/"))
    return lambda entry: matches(entry.path[len(base.path.rstrip("/")) + 1 :])


def _told_place(asked: Asked, base: Entry, entry: Entry) -> str:
    """A path as it is told: below the path that was asked for."""
    if asked.is_of_notes:
        return asked.named(entry.path)
    return asked.path.rstrip("/") + entry.path[len(base.path.rstrip("/")) :]


def grep(asked: Asked) -> Outcome:
    """The lines that hold a text, of a file or of all files below a directory."""
    if "name" in asked.text("kind"):
        return find(asked)
    base = asked.tree.entry(asked.path)
    files = [base] if base.is_file else [one for one in asked.tree.below(base.path) if one.is_file]
    holds = _line_test(asked)
    rows = [
        {"path": asked.path if base.is_file else _told_place(asked, base, one), "line": at, "text": line}
        for one in files
        if _is_among(asked, one, base)
        for at, line in enumerate((one.content or "").splitlines(), 1)
        if holds(line)
    ]
    told = _by_note(rows) if asked.is_of_notes else (f"{row['path']}:{row['line']}: {row['text']}" for row in rows)
    text = "\n".join(told) or "No matches found"
    shows = (
        [str(row["text"]) for row in rows]
        if base.is_file
        else [f"{row['path']}:{row['line']}: {row['text']}" for row in rows]
    )
    return Outcome(
        text,
        {"matches": rows, **({} if asked.is_open else {"lines": shows}), "count": len(rows), "path": asked.path},
        "matches",
    )


def _by_note(rows: list[Record]) -> Iterator[str]:
    """The lines that were found, below the note that they are in."""
    for path, lines in groupby(rows, lambda row: str(row["path"])):
        yield path
        yield from (f"  {row['line']}: {row['text']}" for row in lines)


def _line_test(asked: Asked) -> Callable[[str], bool]:
    pattern = asked.text("pattern")
    is_said = "case" in asked.roles or asked.is_of_notes
    ignores = asked.flag("ignore_case") or (is_said and not asked.flag("case"))
    if asked.says("regex", "regular expression") or "regex" in asked.roles.get("pattern", ""):
        return holds_match(pattern, ignores_case=ignores)
    return (lambda line: pattern.lower() in line.lower()) if ignores else (lambda line: pattern in line)


def stat(asked: Asked) -> Outcome:
    """What is known of a file or a directory."""
    entry = asked.tree.entry(asked.path)
    facts: Record = {**shown(entry), "path": asked.path, "size": entry.size}
    facts |= {"lines": len((entry.content or "").splitlines())} if entry.is_file else {}
    said = {"size": "size", "created": "created", "modified": "modified", "isDirectory": "is_directory",
            "isFile": "is_file", "permissions": "permissions"}  # fmt: skip
    lines = [f"{shown}: {plain(facts[name])}" for shown, name in said.items() if facts[name] is not None]
    return Outcome("\n".join(lines), facts)


def exists(asked: Asked) -> Outcome:
    entry = asked.tree.find(asked.tree.at(asked.path))
    text = f"{asked.path} exists" if entry is not None else f"{asked.path} does not exist"
    return Outcome(text, {**(shown(entry) if entry else {}), "path": asked.path, "exists": entry is not None})


def du(asked: Asked) -> Outcome:
    """How many bytes the files below a directory have."""
    entry = asked.tree.entry(asked.path)
    size = entry.size + sum(one.size for one in asked.tree.below(entry.path))
    text = _human(size) if asked.flag("human") else f"{size} bytes"
    return Outcome(text, {"usage": text, "size": size, "path": asked.path}, "usage")


def _human(size: float) -> str:
    for unit in ("B", "KB", "MB"):
        if size < 1024:
            return f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} GB"


_UNITS = {"l": "lines", "w": "words", "c": "characters", "m": "characters"}


def wc(asked: Asked) -> Outcome:
    """How many lines, words and characters a file has."""
    content = asked.tree.file(asked.path).content or ""
    counts = {"lines": len(content.splitlines()), "words": len(content.split()), "characters": len(content)}
    mode = asked.text("mode", "l").strip("-").lower()
    unit = _UNITS.get(mode[:1], "lines")
    if "mode" in asked.roles and mode[:1] not in _UNITS:
        raise Refused("invalid", f"Invalid mode {mode!r}: use l (lines), w (words) or c (characters)")
    facts: Record = {**counts, "count": counts[unit], "type": unit, "path": asked.path}
    return Outcome(", ".join(f"{many} {what}" for what, many in counts.items()), facts)


def diff(asked: Asked) -> Outcome:
    """The lines in which two files differ."""
    one, other = asked.tree.file(asked.path), asked.tree.file(asked.text("other"))
    text = differing(one.content or "", other.content or "")
    return Outcome(text, {"diff": text, "identical": not text}, "diff")


def pwd(asked: Asked) -> Outcome:
    working = asked.tree.told(asked.tree.working)
    return Outcome(working, {"path": working}, "path")


def allowed(asked: Asked) -> Outcome:
    listed: list[Json] = [asked.tree.told(one) for one in asked.tree.allowed]
    return Outcome("Allowed directories:\n" + "\n".join(listed), {"directories": listed}, "directories")
