"""Which files does a given state hold, where does a shell stand in them, and what is left of it for others?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

from mcp_sim.backends.files.forms import flat_files, is_tree, nested_files
from mcp_sim.backends.files.paths import ROOT, is_within, joined, normal
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.lexicon.words import snake, vocabulary

_WORKING = vocabulary("cwd pwd current_directory current_dir working_directory working_dir current_working_directory")
_ALLOWED = vocabulary("allowed_directories allowed_dirs allowed_paths allowed_roots roots")
_ROOTS = vocabulary(
    "root root_dir root_path root_directory base_dir base_path base_directory workspace workspace_root workspace_path "
    "workspace_dir project_root project_path sandbox sandbox_path sandbox_dir allowed_directory allowed_path"
)


@dataclass(slots=True)
class Given:
    """What was found: files and directories by path, where a shell stands, what may be seen, and what is left.

    `root` is the directory that paths are below which do not say so themselves.
    """

    files: dict[str, Record] = field(default_factory=dict[str, Record])
    directories: dict[str, Record] = field(default_factory=dict[str, Record])
    working: str | None = None
    allowed: list[str] = field(default_factory=list[str])
    root: str | None = None
    is_nested: bool = False
    bare: set[str] = field(default_factory=set[str])
    """The paths that do not say what they are below: written without a `/` at the beginning, or nested."""

    def add(self, path: str, fields: Record | None) -> None:
        is_bare, path = not path.startswith(("/", "\\")) and ":" not in path[:3], normal(path)
        if path == ROOT:
            return
        if is_bare:
            self.bare.add(path)
        if fields is None:
            self.directories[path] = {"path": path}
        else:
            self.files[path] = {"path": path, **fields}

    def paths(self) -> list[str]:
        return [*self.files, *self.directories]

    @property
    def is_open(self) -> bool:
        """Does nothing say what the files are below?"""
        return not (self.root or self.working or self.allowed) and self.bare.issuperset(self.paths())

    @property
    def is_empty(self) -> bool:
        return not (self.files or self.directories or self.working or self.allowed)


def given_files(state: Json, root: str | None = None) -> tuple[Given, Json]:
    """The files of a state, and what is left of it for others. `root`: what they are below, if that is known."""
    given = Given()
    rest = _taken("", state, given)
    if root is not None and root.startswith("/") and given.paths():
        given.root = given.root or normal(root)
    return _rooted(given), rest


def _rooted(given: Given) -> Given:
    """The same with all paths absolute, where the state says what they are below."""
    allowed = given.allowed[0] if len(given.allowed) == 1 else None
    root = given.root or allowed
    if root is not None:
        moved = {path: joined(root, path.lstrip("/")) for path in given.paths() if not is_within(path, [root])}
    else:
        working = given.working or ROOT
        moved = {path: joined(working, path.lstrip("/")) for path in given.bare if not is_within(path, [working])}
    files = {moved.get(path, path): {**row, "path": moved.get(path, path)} for path, row in given.files.items()}
    held = {moved.get(path, path): {**row, "path": moved.get(path, path)} for path, row in given.directories.items()}
    for place in {given.root or ROOT, given.working or ROOT} - {ROOT}:
        held.setdefault(place, {"path": place})
    seen = given.allowed or ([given.root] if given.root is not None else [])
    return replace(given, files=files, directories=held, allowed=seen, working=given.working or given.root)


def _taken(name: str, value: Json, given: Given) -> Json:
    """Take what is files out of a value; what is left of it, None where nothing is."""
    if is_tree(name, value):
        for path, fields in nested_files(ROOT, value):
            given.add(path, fields)
            given.bare.add(path)
        given.is_nested = True
        return None
    flat = flat_files(name, value)
    if flat is not None:
        for path, fields in flat:
            given.add(path, fields)
        return None
    if not isinstance(value, dict):
        return value
    body = cast("Record", value)
    left: Record = {}
    for part, inner in body.items():
        if not _is_of_shell(snake(part), inner, given):
            kept = _taken(part, inner, given)
            if kept is not None or inner is None:
                left[part] = kept
    return left if left or not body else None


def _is_of_shell(name: str, value: Json, given: Given) -> bool:
    """Is it where a shell stands, or what may be seen? Then it is noted."""
    if name in _WORKING and isinstance(value, str):
        given.working = normal(value)
        return True
    if name in _ROOTS and isinstance(value, str) and value.startswith("/"):
        given.root = normal(value)
        return True
    if name in _ALLOWED and value and all(isinstance(one, str) for one in as_list(value)) and isinstance(value, list):
        given.allowed = [normal(one) for one in cast("list[str]", value)]
        return True
    return False
