"""Change files and directories: write, edit, create, move and delete them, also by lists of operations."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.plans.files.backend import Files
from mcp_sim.plans.files.paths import ROOT, is_within, join_path, parent, split_path
from mcp_sim.plans.files.reading import bounds, content_hash, first_value, requested_ranges
from mcp_sim.plans.files.request import FilesRequest, already_exists
from mcp_sim.plans.files.tree import Entry
from mcp_sim.plans.outcome import Outcome, as_text
from mcp_sim.plans.refusal import Refused, choices_text
from mcp_sim.plans.text_changes import line_diff, patch, replace_text
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import snake

_CREATES_PARENTS = (
    "create parent", "creates parent", "creating parent", "create director", "creates director", "missing director",
    "directories as needed", "directories if", "necessary director",
)  # fmt: skip
"""Phrases of descriptions of tools that create missing parent directories."""
_BACKEND = Files()
_ACCEPTS_EXISTING = ("already exist", "ensure", "if it doesn't exist", "if it does not exist", "if needed")
_REMOVES_CONTENT = ("recursiv", "all its contents", "and its contents", "and all", "everything in")
_ONLY_CREATES = ("fails if", "must not exist", "does not overwrite", "already exists, an error")
_EXISTING = ("an existing file", "an existing note", "an existing page", "an existing document")


def write(request: FilesRequest) -> Outcome:
    """Write `content` to a file; with the flag `append`, at its end. Without a path, show the content.

    Missing directories are created if `parents` is set, the tool says so, or no other tool creates directories. Raises
    `Refused` if a file exists that the flag `overwrite` protects or the tool only creates, or is missing for a change.
    """
    content, path = _new_content(request), request.path
    if request.get("path") is None:
        return Outcome(content, {"output": content}, "output")
    if request.flag("append"):
        return append(request)
    if request.tool_words.isdisjoint({"write", "create", "save"}) and request.mentions("update an existing"):
        request.tree.file(path)
    place = _target(request)
    is_protected = _only_creates(request) or not request.flag_or("overwrite", default=True)
    if is_protected and request.tree.find(place) is not None:
        raise already_exists("File", path)
    return _save(request, place, content, f"Successfully wrote to {path}")


def _only_creates(request: FilesRequest) -> bool:
    if request.has("space") and "create" in request.tool_words:
        return not request.mentions("overwrite", "replace")
    return request.mentions(*_ONLY_CREATES)


def _save(request: FilesRequest, path: str, content: str, text: str, **more: Json) -> Outcome:
    before = request.tree.find(path)
    request.tree.write(path, content)
    entry = request.tree.find(path)
    known = request.facts_of(entry, request.path) if entry is not None else {}
    return Outcome(text, {**known, "characters": len(content), "created_new": before is None, **more})


def _new_content(request: FilesRequest) -> str:
    return as_text(request.get("content", ""))


def _target(request: FilesRequest) -> str:
    """Return the absolute path to write to, with a parent directory. Raises `Refused` for a directory."""
    path = request.tree.at(request.path)
    entry = request.tree.find(path)
    if entry is not None and not entry.is_file:
        raise Refused("invalid", f"Is a directory, not a file: {request.path}", path=request.path)
    prepare(request, path)
    return path


def prepare(request: FilesRequest, path: str) -> None:
    """Create the parent directory of a path if the tool does. Raises `Refused` if it is missing."""
    above = request.tree.find(parent(path))
    if above is not None and above.is_file:
        raise Refused("invalid", f"Not a directory: {parent(path)}", path=request.path)
    makes_directories = request.flag("parents") or request.mentions(*_CREATES_PARENTS)
    if above is None and "mkdir" in request.peers and not makes_directories:
        raise Refused("not_found", f"No such file or directory: {parent(path)}", path=request.path, key=parent(path))
    if above is None:
        request.tree.make(parent(path))


def append(request: FilesRequest) -> Outcome:
    """Write `content` at the end of a file. A missing one is created, or refused if the tool is for existing ones."""
    if request.mentions(*_EXISTING):
        request.tree.file(request.path)
    return _append(request, _new_content(request), f"Successfully appended to {request.path}")


def touch(request: FilesRequest) -> Outcome:
    """Create an empty file; an existing one keeps its content. Raises `Refused` for a directory."""
    return _append(request, "", f"Created {request.path}")


def _append(request: FilesRequest, content: str, done: str) -> Outcome:
    path = _target(request)
    before = request.tree.find(path)
    old = before.text if before is not None else ""
    between = "\n" if content and request.has("space") and old and not old.endswith("\n") else ""
    return _save(request, path, old + between + content, done)


def prepend(request: FilesRequest) -> Outcome:
    """Insert the lines of `content` at the beginning of a file."""
    text = _new_content(request).removesuffix("\n") + "\n" + request.file.text
    return _save(request, request.file.path, text, f"Successfully prepended to {request.path}")


def overwrite(request: FilesRequest) -> Outcome:
    """Write `content` to an existing file."""
    done = f"Successfully replaced the content of {request.path}"
    return _save(request, request.file.path, _new_content(request), done)


def edit(request: FilesRequest) -> Outcome:
    """Replace `old` by `new` in a file, or the texts of several `edits`: once, or wherever they occur (`everywhere`).

    With the flag `dry`, only show the difference. Raises `Refused` if a text is not there, or not so many `times`.
    """
    entry = request.file
    content, count = entry.text, 0
    for old, new in _edits(request):
        if old not in content or not old:
            raise Refused("invalid", f"Text to replace not found in {request.path}: {old}", path=request.path)
        number, expected = content.count(old), _times(request)
        if expected is not None and number != expected:
            message = f"Text to replace occurs {number} times in {request.path}, not {expected}: {old}"
            raise Refused("invalid", message, path=request.path)
        many = 1 if expected is None and not request.flag("everywhere") else number
        count, content = count + many, replace_text(content, old, new, many)
    difference = _difference(request, entry.text, content)
    if request.flag("dry"):
        facts: Record = {"diff": difference, "path": request.path, "count": count}
        return Outcome(difference or "Nothing would change", facts, "diff")
    done = f"Successfully edited {request.path}\n{difference}"
    return _save(request, entry.path, content, done, diff=difference, count=count)


def _times(request: FilesRequest) -> int | None:
    """Return how often the text to replace must occur; None for any number."""
    if request.has("times"):
        return request.number("times") or 1
    return None if request.flag_or("everywhere", default=True) else 1


def _difference(request: FilesRequest, before: str, after: str) -> str:
    """Return a patch if the tool promises a diff, else the lines that differ."""
    is_patch = request.mentions("diff", "patch")
    return patch(before, after, request.path) if is_patch else line_diff(before, after)


def _edits(request: FilesRequest) -> list[tuple[str, str]]:
    if request.get("old") is not None:
        return [(request.text("old"), request.text("new"))]
    edits: list[tuple[str, str]] = []
    for item in as_list(request.get("edits")):
        fields = {snake(name): value for name, value in as_object(item).items()}
        old = next((fields[name] for name in fields if name.startswith(("old", "search", "find", "from"))), None)
        new = next((fields[name] for name in fields if name.startswith(("new", "replace", "to"))), "")
        if not isinstance(old, str):
            raise Refused("invalid", f"An edit needs a text to replace and a new text, not {encode(item).decode()}")
        edits.append((old, str(new)))
    if not edits:
        raise Refused("invalid", "Nothing to replace was given")
    return edits


def insert(request: FilesRequest) -> Outcome:
    """Insert `content` after a `line` of a file; 0 is the beginning. Raises `Refused` for other lines."""
    entry, at = request.file, request.number("line")
    lines = entry.text.split("\n")
    if at is None or not 0 <= at <= len(lines):
        raise _invalid(f"line {request.get('line')}", request.path, lines)
    text = "\n".join([*lines[:at], _new_content(request), *lines[at:]])
    return _save(request, entry.path, text, f"Successfully inserted at line {at} of {request.path}")


def replace_lines(request: FilesRequest) -> Outcome:
    """Replace the lines `start` to `end`, counted from 1, by `content`. Raises `Refused` if there are no such lines."""
    return _change_lines(request, _new_content(request).removesuffix("\n").split("\n"), "replaced")


def delete_lines(request: FilesRequest) -> Outcome:
    """Delete the lines `start` to `end`, counted from 1. Raises `Refused` if there are no such lines."""
    return _change_lines(request, [], "deleted")


def _change_lines(request: FilesRequest, new: Sequence[str], verb: str) -> Outcome:
    entry = request.file
    lines = entry.text.splitlines()
    start, last = request.number("start"), request.number("end")
    end = start if last is None else last if last >= 0 else len(lines)
    if start is None or end is None or not 1 <= start <= end <= max(len(lines), 1):
        raise _invalid(f"lines {start} to {end}", request.path, lines)
    kept = [*lines[: start - 1], *new, *lines[end:]]
    text = "\n".join(kept) + ("\n" if entry.text.endswith("\n") and kept else "")
    message = f"Successfully {verb} lines {start} to {end} of {request.path}"
    difference = _difference(request, entry.text, text)
    return _save(request, entry.path, text, message, diff=difference, count=end - start + 1)


def _invalid(what: str, path: str, lines: Sequence[str]) -> Refused:
    return Refused("invalid", f"Invalid {what}: {path} has {len(lines)} lines", path=path)


def change_ranges(request: FilesRequest) -> Outcome:
    """Replace the lines in `ranges` of a file, guarded by its `hash`, or those of several `files`."""
    results: dict[str, Json] = {}
    for path, guard, patches in requested_ranges(request):
        try:
            new_hash = content_hash(_patch_file(request, path, guard, patches))
            results[path] = {"result": "ok", "file_hash": new_hash, "reason": None}
        except Refused as refused:
            results[path] = {"result": "error", "reason": str(refused), "file_hash": None}
    return Outcome(encode(results).decode(), results, is_json=True)


def _patch_file(request: FilesRequest, path: str, guard: Json, patches: Sequence[Record]) -> str:
    """Write and return the new content of one file. A missing file is created if no hash is given."""
    place = request.tree.at(path)
    entry = request.tree.find(place)
    content = request.tree.file(path).text if entry is not None or guard else ""
    if content and guard is not None and str(guard) != content_hash(content):
        raise Refused("conflict", "Hash mismatch: the file has been modified", path=path)
    lines = content.splitlines(keepends=True)
    for row in sorted(patches, key=lambda record: bounds(record, len(lines))[0], reverse=True):
        lines = _replace_range(lines, row, path)
    text = "".join(lines)
    request.tree.make(parent(place))
    request.tree.write(place, text)
    return text


def _replace_range(lines: list[str], change: Record, path: str) -> list[str]:
    start, end = bounds(change, len(lines))
    if not 1 <= start <= len(lines) + 1 or end < start - 1:
        raise _invalid(f"lines {start} to {end}", path, lines)
    guard = first_value(change, ("range_hash", "hash"))
    if guard and guard != content_hash("".join(lines[start - 1 : end])):
        raise Refused("conflict", "Hash mismatch: these lines have been modified", path=path)
    text = str(first_value(change, ("contents", "content", "new_content", "text", "new_text")) or "")
    before, put, after = lines[: start - 1], text.splitlines(keepends=True), lines[end:]
    for lines_before, following in ((before, put), (put, after)):
        if lines_before and following and not lines_before[-1].endswith("\n"):
            lines_before[-1] += "\n"
    return [*before, *put, *after]


def mkdir(request: FilesRequest) -> Outcome:
    """Create a directory, with its parents unless `parents` is false. Raises `Refused` if the path is taken."""
    path = request.tree.at(request.path)
    entry = request.tree.find(path)
    if entry is not None and (entry.is_file or not request.mentions(*_ACCEPTS_EXISTING)):
        raise already_exists("File" if entry.is_file else "Directory", request.path)
    if request.tree.find(parent(path)) is None and not request.flag_or("parents", default=True):
        raise Refused("not_found", f"No such file or directory: {parent(path)}", path=request.path, key=parent(path))
    request.tree.make(path)
    facts: Record = {"path": request.path, "created_new": entry is None, "type": "directory"}
    return Outcome(f"Successfully created directory {request.path}", facts)


def delete(request: FilesRequest) -> Outcome:
    """Delete a file, or a directory if the tool accepts one, with its content unless `recursive` is false."""
    entry = request.tree.entry(request.path)
    if not entry.is_file and request.tool is not None and not request.mentions("director", "folder"):
        raise Refused("invalid", f"Is a directory, not a file: {request.path}", path=request.path)
    return _remove(request, entry, is_deep=request.flag_or("recursive", default=True))


def rmdir(request: FilesRequest) -> Outcome:
    """Delete a directory. Raises `Refused` if it is not empty, unless `recursive` is set or the tool says otherwise."""
    is_deep = request.flag_or("recursive", request.mentions(*_REMOVES_CONTENT))
    return _remove(request, request.tree.directory(request.path), is_deep=is_deep)


def _remove(request: FilesRequest, entry: Entry, *, is_deep: bool) -> Outcome:
    if entry.path == ROOT:
        raise Refused("forbidden", "The root directory cannot be deleted", path=request.path)
    if not entry.is_file and not is_deep and request.tree.inside(entry.path):
        raise Refused("conflict", f"Directory not empty: {request.path}", path=request.path, key=request.path)
    working = request.tree.working
    request.tree.remove(entry)
    if is_within(working, [entry.path]):
        request.tree.set("working_directory", parent(entry.path))
    facts: Record = {"path": request.path, "deleted": True, "result": f"'{request.path}' removed"}
    return Outcome(f"Successfully deleted {request.path}", facts)


def move(request: FilesRequest) -> Outcome:
    """Move `source` to the path `destination`, or into a directory there. Raises `Refused` if that is taken."""
    entry, done = _copy(request, "moved")
    request.tree.remove(entry)
    return done


def copy(request: FilesRequest) -> Outcome:
    """Copy `source` to the path `destination`, or into a directory there. Raises `Refused` if that is taken."""
    return _copy(request, "copied")[1]


def _copy(request: FilesRequest, verb: str) -> tuple[Entry, Outcome]:
    """Copy a file or directory. Return it, and the outcome with the new path as the client writes it."""
    source, destination = request.text("source"), request.text("destination")
    entry = request.tree.entry(source)
    target = _free_target(request, entry, source, destination)
    prepare(request, target)
    request.tree.copy(entry, target)
    shown = destination if request.tree.at(destination) == target else join_path(destination, entry.name)
    facts: Record = {"path": shown, "source": source, "destination": shown, "type": entry.facts["type"]}
    facts["result"] = f"'{source}' {verb} to '{shown}'"
    return entry, Outcome(f"Successfully {verb} {source} to {shown}", facts)


def _free_target(request: FilesRequest, entry: Entry, source: str, destination: str) -> str:
    """Return the new path: a bare new name is in the directory of the file. Raises `Refused` if it is taken."""
    is_name = request.named("destination").lower().endswith("name") and "/" not in destination
    target = request.tree.at(join_path(parent(entry.path), destination) if is_name else destination)
    existing = request.tree.find(target)
    if existing is not None and not existing.is_file and target != entry.path:
        target = join_path(target, entry.name)
        existing = request.tree.find(target)
    if entry.path == ROOT or is_within(target, [entry.path]):
        raise Refused("invalid", f"Cannot put {source} into itself: {destination}", path=destination)
    overwrites = request.flag_or("overwrite", request.tool_words <= {"mv", "cp"})
    if existing is not None and not (entry.is_file and existing.is_file and overwrites):
        raise already_exists("Destination", destination)
    return target


def cd(request: FilesRequest) -> Outcome:
    """Change the working directory to `path`. The result shows its name if the call gives no more."""
    entry = request.tree.directory(request.path)
    if entry.path != request.tree.working:
        request.tree.set("working_directory", entry.path)
    path = request.tree.display_path(entry.path)
    shown = request.path if split_path(request.path) == [entry.name] else path
    return Outcome(f"Working directory is now {path}", {"path": shown}, "path")


def batch(request: FilesRequest) -> Outcome:
    """Run `operations`, a list of objects with the name of an operation under `operation` and its arguments.

    If one fails, the others still run, unless the flag `stop` is set. With the flag `dry`, nothing is written.
    """
    rows: list[Record] = []
    for item in as_list(request.get("operations")):
        rows.append(_run_item(request, as_object(item)))
        if "error" in rows[-1] and request.flag("stop"):
            break
    if request.flag("dry"):
        request.undo()
    failed = sum("error" in row for row in rows)
    lines = (f"FAILED: {row['error']}" if "error" in row else f"OK: {row['message']}" for row in rows)
    facts: Record = {"results": rows, "count": len(rows), "successful": len(rows) - failed, "failed": failed}
    return Outcome("\n".join(lines) or "Nothing to do", facts, is_json=True)


def _run_item(request: FilesRequest, item: Record) -> Record:
    """Run one of the operations that the tool lists, or any if it is called from Python, with roles as arguments."""
    listed = request.setting.choices
    known = {} if listed else {name: value for name, value in _BACKEND.known.items() if name != "batch"}
    selector = next((tool.profile.selector for tool in listed.values()), None) or "operation"
    chosen: Json = item.get(selector)
    if not isinstance(chosen, str) or chosen not in {**listed, **known}:
        choices = choices_text({**listed, **known})
        return {**item, "success": False, "error": f"Unknown {selector}: {chosen}; choose {choices}"}
    operation = listed[chosen].operation if listed else known[chosen]
    arguments = listed[chosen].arguments if listed else {role.name: role.name for role in operation.roles}
    try:
        done = _BACKEND.function(operation)(request.part(operation, arguments, item))
    except Refused as refused:
        return {**item, "success": False, "error": str(refused)}
    return {**item, "success": True, "message": done.text.partition("\n")[0]}
