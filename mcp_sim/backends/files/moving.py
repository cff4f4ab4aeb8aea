"""Create directories; move, copy and delete files; change the working directory."""

from __future__ import annotations

from mcp_sim.backends.files.paths import ROOT, join_path, parent, split_path
from mcp_sim.backends.files.request import FilesRequest, already_exists, entry_facts
from mcp_sim.backends.files.tree import Entry
from mcp_sim.backends.files.writing import prepare
from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Record


def mkdir(request: FilesRequest) -> Outcome:
    """Create the directory `path`, with its parents unless `parents` is given as false.

    Raises `Refused` if the path is taken, unless the tool accepts existing directories, or if its parent is missing.
    """
    path = request.tree.at(request.path)
    found = request.tree.find(path)
    if found is not None and (found.is_file or not _is_lenient(request)):
        raise already_exists("File" if found.is_file else "Directory", request.path)
    above = request.tree.find(parent(path))
    if above is None and request.has("parents") and not request.flag("parents"):
        raise Refused("not_found", f"No such file or directory: {parent(path)}", path=request.path, key=parent(path))
    request.tree.make(path)
    facts: Record = {"path": request.path, "created_new": found is None, "type": "directory"}
    return Outcome(f"Successfully created directory {request.path}", facts)


def _is_lenient(request: FilesRequest) -> bool:
    return request.mentions("already exist", "ensure", "if it doesn't exist", "if it does not exist", "if needed")


def delete(request: FilesRequest) -> Outcome:
    """Delete the file at `path`, or a directory if the tool accepts one, with its content unless `recursive` is false.

    Raises `Refused` if the path does not exist, or is a directory that the tool does not accept.
    """
    entry = request.tree.entry(request.path)
    if not entry.is_file and request.tool is not None and not request.mentions("director", "folder"):
        raise Refused("invalid", f"Is a directory, not a file: {request.path}", path=request.path)
    return _remove(request, entry, is_deep=not request.has("recursive") or request.flag("recursive"))


def rmdir(request: FilesRequest) -> Outcome:
    """Delete the directory at `path`. It must be empty unless `recursive` is set or the tool says otherwise.

    Raises `Refused` if it is not empty, does not exist, or is the root.
    """
    return _remove(request, request.tree.directory(request.path), is_deep=_is_deep(request))


def _is_deep(request: FilesRequest) -> bool:
    if request.has("recursive"):
        return request.flag("recursive")
    return request.mentions("recursiv", "all its contents", "and its contents", "and all", "everything in")


def _remove(request: FilesRequest, entry: Entry, *, is_deep: bool) -> Outcome:
    if entry.path == ROOT:
        raise Refused("forbidden", "The root directory cannot be deleted", path=request.path)
    if not entry.is_file and not is_deep and request.tree.inside(entry.path):
        raise Refused("conflict", f"Directory not empty: {request.path}", path=request.path, key=request.path)
    working = request.tree.working
    request.tree.remove(entry)
    if working == entry.path or working.startswith(f"{entry.path}/"):
        request.tree.go(parent(entry.path))
    facts: Record = {"path": request.path, "deleted": True, "result": f"'{request.path}' removed"}
    return Outcome(f"Successfully deleted {request.path}", facts)


def move(request: FilesRequest) -> Outcome:
    """Move the file or directory at `source` to the path `destination`, or into an existing directory there.

    A file is overwritten with the flag `overwrite`, by `mv`, and in calls from Python. Raises `Refused` if the source
    does not exist, the destination is taken, or is inside the source.
    """
    entry, target = _source_and_target(request)
    request.tree.copy(entry, target)
    request.tree.remove(entry)
    return _render_move(request, entry, target, "moved")


def copy(request: FilesRequest) -> Outcome:
    """Copy the file or directory at `source` to the path `destination`, or into an existing directory there.

    Overwrites and raises `Refused` as `move` does.
    """
    entry, target = _source_and_target(request)
    request.tree.copy(entry, target)
    return _render_move(request, entry, target, "copied")


def _render_move(request: FilesRequest, entry: Entry, target: str, done: str) -> Outcome:
    source, destination = request.text("source"), _destination_of(request, entry, target)
    facts: Record = {"path": destination, "source": source, "destination": destination}
    facts |= {"type": entry_facts(entry)["type"], "result": f"'{source}' {done} to '{destination}'"}
    return Outcome(f"Successfully {done} {source} to {destination}", facts)


def _destination_of(request: FilesRequest, entry: Entry, target: str) -> str:
    """Return the new path as the client writes it."""
    destination = request.text("destination")
    return destination if request.tree.at(destination) == target else join_path(destination, entry.name)


def _source_and_target(request: FilesRequest) -> tuple[Entry, str]:
    source, destination = request.text("source"), request.text("destination")
    entry = request.tree.entry(source)
    target = request.tree.at(_resolve_name(request, entry, destination))
    found = request.tree.find(target)
    if found is not None and not found.is_file and target != entry.path:
        target = join_path(target, entry.name)
        found = request.tree.find(target)
    if entry.path in (ROOT, target) or target.startswith(f"{entry.path}/"):
        raise Refused("invalid", f"Cannot put {source} into itself: {destination}", path=destination)
    if found is not None and not (entry.is_file and found.is_file and _may_overwrite(request)):
        raise already_exists("Destination", destination)
    prepare(request, target)
    return entry, target


def _resolve_name(request: FilesRequest, entry: Entry, destination: str) -> str:
    """Return the target; a bare new name is in the directory of the file."""
    is_name = request.named("destination").lower().endswith("name") and "/" not in destination
    return join_path(parent(entry.path), destination) if is_name else destination


def _may_overwrite(request: FilesRequest) -> bool:
    return request.flag("overwrite") or (request.tool_words <= {"mv", "cp"} and not request.has("overwrite"))


def cd(request: FilesRequest) -> Outcome:
    """Change the working directory to `path`. The result shows its name if the call gives no more.

    Raises `Refused` if there is no such directory.
    """
    entry = request.tree.directory(request.path)
    if entry.path != request.tree.working:
        request.tree.go(entry.path)
    path = request.tree.display_path(entry.path)
    text = f"Working directory is now {path}"
    shown = request.path if split_path(request.path) == [entry.name] else path
    return Outcome(text, {"path": shown}, "path")
