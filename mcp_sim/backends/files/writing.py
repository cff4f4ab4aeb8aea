"""Write files: create, overwrite, append, edit text, and change lines."""

from __future__ import annotations

from mcp_sim.backends.compute.text_changes import line_diff, patch, replace_text
from mcp_sim.backends.files.paths import parent
from mcp_sim.backends.files.request import Request, already_exists
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import snake, words

_CREATES_PARENTS = (
    "create parent", "creates parent", "creating parent", "create director", "creates director", "missing director",
    "directories as needed", "directories if", "necessary director",
)  # fmt: skip
"""Phrases of descriptions of tools that create missing parent directories."""

_EXISTING = ("an existing file", "an existing note", "an existing page", "an existing document")
_LINE = "\n"


def write(request: Request) -> Outcome:
    """Write a file. Without a path, only show the content.

    Raises `Refused` if a file to create exists, or one to change does not.
    """
    content = new_content(request)
    if request.get("path") is None and "path" in request.roles:
        return Outcome(content, {"output": content}, "output")
    if request.flag("append"):
        return append(request)
    path = target_path(request)
    before = request.tree.find(path)
    if before is not None and "overwrite" in request.roles and not request.flag("overwrite"):
        raise already_exists("File", request.path)
    if before is not None and before.is_file and _is_creation(request):
        raise already_exists("File", request.path)
    if before is None and _is_change(request):
        raise Refused(
            "not_found", f"File not found: {request.path}", path=request.path, key=request.path, entity="file"
        )
    return save(request, path, content, f"Successfully wrote to {request.path}")


def _is_creation(request: Request) -> bool:
    """Return whether the tool only creates files and another one overwrites them."""
    if "space" in request.roles and "create" in words(request.tool.name):
        return not request.mentions("overwrite", "replace")
    return request.mentions("fails if", "must not exist", "does not overwrite", "already exists, an error")


def _is_change(request: Request) -> bool:
    """Return whether the tool only changes existing files and another one creates them."""
    return {*words(request.tool.name)}.isdisjoint({"write", "create", "save"}) and request.mentions(
        "update an existing"
    )


def save(request: Request, path: str, content: str, text: str, **more: Json) -> Outcome:
    before = request.tree.find(path)
    request.tree.write(path, content)
    entry = request.tree.find(path)
    known = request.entry_facts(entry) if entry is not None else {}
    facts: Record = {**known, "path": request.path, "characters": len(content), "created_new": before is None, **more}
    return Outcome(text, facts, changes=tuple(request.tree.changes))


def new_content(request: Request) -> str:
    value = request.get("content")
    return value if isinstance(value, str) else "" if value is None else encode(value).decode()


def target_path(request: Request) -> str:
    """Return the absolute path to write to. Creates the parent directory if the tool does. Raises `Refused` for a
    directory.
    """
    path = request.tree.at(request.path)
    found = request.tree.find(path)
    if found is not None and not found.is_file:
        raise Refused("invalid", f"Is a directory, not a file: {request.path}", path=request.path)
    prepare(request, path)
    return path


def prepare(request: Request, path: str) -> None:
    """Create the parent directory of a path if the tool does. Raises `Refused` if it is missing."""
    above = request.tree.find(parent(path))
    if above is not None and above.is_file:
        raise Refused("invalid", f"Not a directory: {parent(path)}", path=request.path)
    if above is None and "mkdir" in request.peers and not _makes_directories(request):
        raise Refused("not_found", f"No such file or directory: {parent(path)}", path=request.path, key=parent(path))
    if above is None:
        request.tree.make(parent(path))


def _makes_directories(request: Request) -> bool:
    return request.flag("parents") or request.mentions(*_CREATES_PARENTS)


def append(request: Request) -> Outcome:
    """Append to a file, and create it if it does not exist."""
    if request.mentions(*_EXISTING):
        request.tree.file(request.path)
    path = target_path(request)
    before = request.tree.find(path)
    old = before.content or "" if before is not None else ""
    between = "\n" if "space" in request.roles and old and not old.endswith("\n") else ""
    return save(request, path, old + between + new_content(request), f"Successfully appended to {request.path}")


def prepend(request: Request) -> Outcome:
    """Add lines at the beginning of a file."""
    entry = request.tree.file(request.path)
    text = f"{new_content(request).removesuffix(_LINE)}{_LINE}{entry.content or ''}"
    return save(request, entry.path, text, f"Successfully prepended to {request.path}")


def overwrite(request: Request) -> Outcome:
    """Replace the content of an existing file."""
    entry = request.tree.file(request.path)
    return save(request, entry.path, new_content(request), f"Successfully replaced the content of {request.path}")


def touch(request: Request) -> Outcome:
    """Create an empty file; an existing one keeps its content."""
    path = target_path(request)
    before = request.tree.find(path)
    return save(request, path, (before.content or "") if before is not None else "", f"Created {request.path}")


def edit(request: Request) -> Outcome:
    """Replace texts in a file, all of them or none.

    Raises `Refused` if a text is missing, or does not occur as often as expected.
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
        return Outcome(difference, {"diff": difference, "path": request.path, "count": count}, "diff")
    done = f"Successfully edited {request.path}\n{difference}"
    return save(request, entry.path, content, done, diff=difference, count=count)


def _times(request: Request) -> int | None:
    """Return how often the text to replace must occur; None for any number."""
    if "times" in request.roles:
        return request.number("times") or 1
    return 1 if "everywhere" in request.roles and not request.flag("everywhere") else None


def _difference(request: Request, before: str, after: str) -> str:
    """Return a patch if the tool promises a diff, else the lines that differ."""
    if not request.mentions("diff", "patch"):
        return line_diff(before, after)
    return patch(before, after, request.path)


def _edits(request: Request) -> list[tuple[str, str]]:
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


def insert(request: Request) -> Outcome:
    """Insert lines after a line; 0 is the beginning. Raises `Refused` if there is no such line."""
    entry = request.tree.file(request.path)
    lines, at = (entry.content or "").split("\n"), request.number("line")
    if at is None or not 0 <= at <= len(lines):
        raise Refused(
            "invalid", f"Invalid line {request.get('line')}: {request.path} has {len(lines)} lines", path=request.path
        )
    text = "\n".join([*lines[:at], new_content(request), *lines[at:]])
    return save(request, entry.path, text, f"Successfully inserted at line {at} of {request.path}")


def replace_lines(request: Request) -> Outcome:
    """Replace lines, counted from 1, including the last one."""
    return _with_lines(request, new_content(request).removesuffix("\n").split("\n"), "replaced")


def delete_lines(request: Request) -> Outcome:
    return _with_lines(request, [], "deleted")


def _with_lines(request: Request, new: list[str], verb: str) -> Outcome:
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
    return save(request, entry.path, text, message, diff=_difference(request, content, text), count=end - start + 1)
