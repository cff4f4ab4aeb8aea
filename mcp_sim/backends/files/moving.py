"""Create directories; move, copy and delete files; change the working directory; run lists of operations."""

from __future__ import annotations

from mcp_sim.backends.files.backend import Files
from mcp_sim.backends.files.paths import ROOT, is_within, join_path, parent, split_path
from mcp_sim.backends.files.request import Choices, FilesRequest, already_exists
from mcp_sim.backends.files.tree import Entry
from mcp_sim.backends.files.writing import prepare
from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.refusal import Refused, choices_text
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object

_BACKEND = Files()
_ACCEPTS_EXISTING = ("already exist", "ensure", "if it doesn't exist", "if it does not exist", "if needed")
_REMOVES_CONTENT = ("recursiv", "all its contents", "and its contents", "and all", "everything in")


def mkdir(request: FilesRequest) -> Outcome:
    """Create the directory `path`, with its parents unless `parents` is given as false.

    Raises `Refused` if the path is taken, unless the tool accepts existing directories, or if its parent is missing.
    """
    path = request.tree.at(request.path)
    found = request.tree.find(path)
    if found is not None and (found.is_file or not request.mentions(*_ACCEPTS_EXISTING)):
        raise already_exists("File" if found.is_file else "Directory", request.path)
    if request.tree.find(parent(path)) is None and not request.flag_or("parents", default=True):
        raise Refused("not_found", f"No such file or directory: {parent(path)}", path=request.path, key=parent(path))
    request.tree.make(path)
    facts: Record = {"path": request.path, "created_new": found is None, "type": "directory"}
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
    """Move the file or directory at `source` to the path `destination`, or into an existing directory there.

    Raises `Refused` if that is taken, unless by a file and with the flag `overwrite`, by `mv`, or in calls from Python.
    """
    entry, done = _copy(request, "moved")
    request.tree.remove(entry)
    return done


def copy(request: FilesRequest) -> Outcome:
    """Copy the file or directory at `source` to the path `destination`. Overwrites and raises as `move` does."""
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
    found = request.tree.find(target)
    if found is not None and not found.is_file and target != entry.path:
        target = join_path(target, entry.name)
        found = request.tree.find(target)
    if entry.path == ROOT or is_within(target, [entry.path]):
        raise Refused("invalid", f"Cannot put {source} into itself: {destination}", path=destination)
    overwrites = request.flag_or("overwrite", request.tool_words <= {"mv", "cp"})
    if found is not None and not (entry.is_file and found.is_file and overwrites):
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
    choices = request.setting.choices or {
        name: (one, {role.name: role.name for role in one.roles})
        for name, one in _BACKEND.known.items()
        if name != "batch"
    }
    for item in as_list(request.get("operations")):
        rows.append(_run_item(request, as_object(item), choices))
        if "error" in rows[-1] and request.flag("stop"):
            break
    if request.flag("dry"):
        request.undo()
    failed = sum("error" in row for row in rows)
    lines = (f"FAILED: {row['error']}" if "error" in row else f"OK: {row['message']}" for row in rows)
    facts: Record = {"results": rows, "count": len(rows), "successful": len(rows) - failed, "failed": failed}
    return Outcome("\n".join(lines) or "Nothing to do", facts, is_json=True)


def _run_item(request: FilesRequest, item: Record, choices: Choices) -> Record:
    selector = request.setting.selector
    chosen: Json = item.get(selector)
    if not isinstance(chosen, str) or chosen not in choices:
        return {**item, "success": False, "error": f"Unknown {selector}: {chosen}; choose {choices_text(choices)}"}
    operation, arguments = choices[chosen]
    try:
        done = _BACKEND.function(operation)(request.part(operation, arguments, item))
    except Refused as refused:
        return {**item, "success": False, "error": str(refused)}
    return {**item, "success": True, "message": done.text.partition("\n")[0]}
