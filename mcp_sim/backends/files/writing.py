"""Write files: create, overwrite, append, edit texts, and change lines."""

from __future__ import annotations

from mcp_sim.backends.compute.text_changes import line_diff, patch, replace_text
from mcp_sim.backends.files.paths import parent
from mcp_sim.backends.files.request import FilesRequest, already_exists
from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import snake

_CREATES_PARENTS = (
    "create parent", "creates parent", "creating parent", "create director", "creates director", "missing director",
    "directories as needed", "directories if", "necessary director",
)  # fmt: skip
"""Phrases of descriptions of tools that create missing parent directories."""

_EXISTING = ("an existing file", "an existing note", "an existing page", "an existing document")
_LINE = "\n"


def write(request: FilesRequest) -> Outcome:
    """Write `content` to the file at `path`; with the flag `append`, at its end. Without a path, show the content.

    Missing directories are created if `parents` is set, the tool says so, or no other tool creates directories.
    Raises `Refused` for a directory, if a file exists that the tool only creates or the flag `overwrite` protects,
    and if one does not exist that the tool only changes.
    """
    content, path = _new_content(request), request.path
    if request.get("path") is None:
        return Outcome(content, {"output": content}, "output")
    if request.flag("append"):
        return append(request)
    if _is_change(request):
        request.tree.file(path)
    place = _target(request)
    before = request.tree.find(place)
    is_protected = _is_creation(request) or (request.has("overwrite") and not request.flag("overwrite"))
    if before is not None and is_protected:
        raise already_exists("File", path)
    return _save(request, place, content, f"Successfully wrote to {path}")


def _is_creation(request: FilesRequest) -> bool:
    """Return whether the tool only creates files and another one overwrites them."""
    if request.has("space") and "create" in request.tool_words:
        return not request.mentions("overwrite", "replace")
    return request.mentions("fails if", "must not exist", "does not overwrite", "already exists, an error")


def _is_change(request: FilesRequest) -> bool:
    """Return whether the tool only changes existing files and another one creates them."""
    return request.tool_words.isdisjoint({"write", "create", "save"}) and request.mentions("update an existing")


def _save(request: FilesRequest, path: str, content: str, text: str, **more: Json) -> Outcome:
    before = request.tree.find(path)
    request.tree.write(path, content)
    entry = request.tree.find(path)
    known = request.entry_facts(entry) if entry is not None else {}
    facts: Record = {**known, "path": request.path, "characters": len(content), "created_new": before is None, **more}
    return Outcome(text, facts)


def _new_content(request: FilesRequest) -> str:
    value = request.get("content")
    return value if isinstance(value, str) else "" if value is None else encode(value).decode()


def _target(request: FilesRequest) -> str:
    """Return the absolute path to write to. Creates the parent directory if the tool does.

    Raises `Refused` for a directory.
    """
    path = request.tree.at(request.path)
    found = request.tree.find(path)
    if found is not None and not found.is_file:
        raise Refused("invalid", f"Is a directory, not a file: {request.path}", path=request.path)
    prepare(request, path)
    return path


def prepare(request: FilesRequest, path: str) -> None:
    """Create the parent directory of a path if the tool does. Raises `Refused` if it is missing."""
    above = request.tree.find(parent(path))
    if above is not None and above.is_file:
        raise Refused("invalid", f"Not a directory: {parent(path)}", path=request.path)
    if above is None and "mkdir" in request.peers and not _makes_directories(request):
        raise Refused("not_found", f"No such file or directory: {parent(path)}", path=request.path, key=parent(path))
    if above is None:
        request.tree.make(parent(path))


def _makes_directories(request: FilesRequest) -> bool:
    return request.flag("parents") or request.mentions(*_CREATES_PARENTS)


def append(request: FilesRequest) -> Outcome:
    """Write `content` at the end of the file at `path`.

    A missing file is created, unless the tool is for existing ones; then `Refused` is raised.
    """
    if request.mentions(*_EXISTING):
        request.tree.file(request.path)
    path = _target(request)
    before = request.tree.find(path)
    old = before.content or "" if before is not None else ""
    between = "\n" if request.has("space") and old and not old.endswith("\n") else ""
    return _save(request, path, old + between + _new_content(request), f"Successfully appended to {request.path}")


def prepend(request: FilesRequest) -> Outcome:
    """Insert the lines of `content` at the beginning of the file at `path`. Raises `Refused` if there is none."""
    entry = request.tree.file(request.path)
    text = f"{_new_content(request).removesuffix(_LINE)}{_LINE}{entry.content or ''}"
    return _save(request, entry.path, text, f"Successfully prepended to {request.path}")


def overwrite(request: FilesRequest) -> Outcome:
    """Write `content` to the existing file at `path`. Raises `Refused` if there is none."""
    entry = request.tree.file(request.path)
    return _save(request, entry.path, _new_content(request), f"Successfully replaced the content of {request.path}")


def touch(request: FilesRequest) -> Outcome:
    """Create an empty file at `path`; an existing one keeps its content. Raises `Refused` for a directory."""
    path = _target(request)
    before = request.tree.find(path)
    return _save(request, path, (before.content or "") if before is not None else "", f"Created {request.path}")


def edit(request: FilesRequest) -> Outcome:
    """Replace `old` by `new` in the file at `path`, or the texts of several `edits`: all of them, or none.

    Each text is replaced once, or wherever it occurs with the flag `everywhere` or an expected number of `times`. With
    the flag `dry`, only show the difference. Raises `Refused` if a text is missing, or occurs more or less often.
    """
    entry = request.tree.file(request.path)
    content, count = entry.content or "", 0
    for old, new in _edits(request):
        if old not in content or not old:
            raise Refused("invalid", f"Text to replace not found in {request.path}: {old}", path=request.path)
        found, expected = content.count(old), _times(request)
        if expected is not None and found != expected:
            message = f"Text to replace occurs {found} times in {request.path}, not {expected}: {old}"
            raise Refused("invalid", message, path=request.path)
        many = 1 if expected is None and not request.flag("everywhere") else found
        count, content = count + many, replace_text(content, old, new, many)
    difference = _difference(request, entry.content or "", content)
    if request.flag("dry"):
        facts: Record = {"diff": difference, "path": request.path, "count": count}
        return Outcome(difference or "Nothing would change", facts, "diff")
    done = f"Successfully edited {request.path}\n{difference}"
    return _save(request, entry.path, content, done, diff=difference, count=count)


def _times(request: FilesRequest) -> int | None:
    """Return how often the text to replace must occur; None for any number."""
    if request.has("times"):
        return request.number("times") or 1
    return 1 if request.has("everywhere") and not request.flag("everywhere") else None


def _difference(request: FilesRequest, before: str, after: str) -> str:
    """Return a patch if the tool promises a diff, else the lines that differ."""
    if not request.mentions("diff", "patch"):
        return line_diff(before, after)
    return patch(before, after, request.path)


def _edits(request: FilesRequest) -> list[tuple[str, str]]:
    if request.get("old") is not None:
        return [(request.text("old"), request.text("new"))]
    found: list[tuple[str, str]] = []
    for one in as_list(request.get("edits")):
        named = {snake(name): value for name, value in as_object(one).items()}
        old = next((value for name, value in named.items() if name.startswith(("old", "search", "find", "from"))), None)
        new = next((value for name, value in named.items() if name.startswith(("new", "replace", "to"))), "")
        if not isinstance(old, str):
            raise Refused("invalid", f"An edit needs a text to replace and a new text, not {encode(one).decode()}")
        found.append((old, str(new)))
    if not found:
        raise Refused("invalid", "Nothing to replace was given")
    return found


def insert(request: FilesRequest) -> Outcome:
    """Insert `content` after a `line` of the file at `path`; 0 is the beginning. Raises `Refused` for other lines."""
    entry = request.tree.file(request.path)
    lines, at = (entry.content or "").split("\n"), request.number("line")
    if at is None or not 0 <= at <= len(lines):
        message = f"Invalid line {request.get('line')}: {request.path} has {len(lines)} lines"
        raise Refused("invalid", message, path=request.path)
    text = "\n".join([*lines[:at], _new_content(request), *lines[at:]])
    return _save(request, entry.path, text, f"Successfully inserted at line {at} of {request.path}")


def replace_lines(request: FilesRequest) -> Outcome:
    """Replace the lines `start` to `end`, counted from 1, of the file at `path` by those of `content`.

    Raises `Refused` if there are no such lines.
    """
    return _with_lines(request, _new_content(request).removesuffix("\n").split("\n"), "replaced")


def delete_lines(request: FilesRequest) -> Outcome:
    """Delete the lines `start` to `end`, counted from 1, of the file at `path`. Raises `Refused` if there are none."""
    return _with_lines(request, [], "deleted")


def _with_lines(request: FilesRequest, new: list[str], verb: str) -> Outcome:
    entry = request.tree.file(request.path)
    content = entry.content or ""
    lines = content.splitlines()
    start = request.number("start")
    last = request.number("end")
    end = start if last is None else last if last >= 0 else len(lines)
    if start is None or end is None or not 1 <= start <= end <= max(len(lines), 1):
        message = f"Invalid lines {start} to {end}: {request.path} has {len(lines)} lines"
        raise Refused("invalid", message, path=request.path)
    kept = [*lines[: start - 1], *new, *lines[end:]]
    text = "\n".join(kept) + ("\n" if content.endswith("\n") and kept else "")
    message = f"Successfully {verb} lines {start} to {end} of {request.path}"
    return _save(request, entry.path, text, message, diff=_difference(request, content, text), count=end - start + 1)
