"""Which files does a given state hold, where does a shell stand in them, and what is left of it for others?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from mcp_sim.backends.files.paths import ROOT, is_within, joined, normal
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_text import encode
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


_HELD = ("contents", "children", "entries", "items", "files")
_TEXTS = ("content", "contents", "text", "data", "body")
_PLACES = ("path", "file_path", "filepath", "full_path", "filename", "file_name", "file")
_NAMED = vocabulary(
    "file files filesystem file_system fs file_tree tree directory directories folder folders root disk "
    "vaults projects workspaces buckets notebooks"
)
_DIRECTORY_WORDS = vocabulary("directory dir folder")

Found: TypeAlias = "tuple[str, Record | None]"
"""A path, and the fields of the file there; None for a directory."""


# nested ---------------------------------------------------------------------------------------------------------------


def _is_node(value: Json) -> bool:
    """Is it a file or a directory that says so itself?"""
    kind = as_object(value).get("type", as_object(value).get("kind"))
    return isinstance(kind, str) and kind.lower() in (*_DIRECTORY_WORDS, "file")


def is_tree(name: str, value: Json) -> bool:
    """Is it what a directory holds: names with files and directories, or with texts and further objects?"""
    body = as_object(value)
    if body and all(_is_node(one) for one in body.values()):
        return True
    if as_list(value) and all(_is_node(one) and "name" in as_object(one) for one in as_list(value)):
        return not any("path" in as_object(one) for one in as_list(value))
    return bool(body) and snake(name) in _NAMED and _is_plain(body) and not any("/" in key for key in body)


def _is_plain(body: Record) -> bool:
    """Objects in objects with texts as leaves, at least one of which is called as files are."""
    leaves = list(_leaves(body))
    return bool(leaves) and all(isinstance(leaf, str) for _, leaf in leaves) and any("." in name for name, _ in leaves)


def _leaves(body: Record) -> Iterator[tuple[str, Json]]:
    for name, value in body.items():
        if isinstance(value, dict):
            yield from _leaves(cast("Record", value))
        else:
            yield name, value


def nested_files(path: str, held: Json) -> Iterator[Found]:
    """The files and directories in what the directory at a path holds."""
    named = [(str(as_object(one)["name"]), one) for one in as_list(held)] if isinstance(held, list) else None
    for name, node in named if named is not None else as_object(held).items():
        here = joined(path, name)
        if not isinstance(node, dict):
            yield here, {"content": _text(node)}
        elif _is_node(node) and not _is_directory(node):
            yield here, _fields(cast("Record", node))
        else:
            yield here, None
            yield from nested_files(here, _held(cast("Record", node)))


def _is_directory(node: Json) -> bool:
    kind = as_object(node).get("type", as_object(node).get("kind"))
    return str(kind).lower() in _DIRECTORY_WORDS


def _held(node: Record) -> Json:
    """What a directory holds."""
    if not _is_node(node):
        return node
    held: list[Json] = [node[name] for name in _HELD if isinstance(node.get(name), dict | list)]
    return held[0] if held else None


# flat -----------------------------------------------------------------------------------------------------------------


def flat_files(name: str, value: Json) -> list[Found] | None:
    """Texts or files by path, or a list of files; None where it is neither."""
    is_named = snake(name).rsplit("_", 1)[-1] in _NAMED
    if isinstance(value, dict) and value:
        return _by_path(cast("Record", value), is_named=is_named)
    if isinstance(value, list) and value:
        return _listed(as_list(value), name, is_named=is_named)
    return None


def _by_path(body: Record, *, is_named: bool) -> list[Found] | None:
    paths = all(_is_path(key) for key in body) if not is_named else all("/" in key or "." in key for key in body)
    if not paths or not all(_may_be_held(path, one) for path, one in body.items()):
        return None
    return [(path, _held_at(path, one)) for path, one in body.items()]


def _may_be_held(path: str, value: Json) -> bool:
    return isinstance(value, str) or _text_of(value) is not None or (path.endswith("/") and not value)


def _held_at(path: str, value: Json) -> Record | None:
    """The fields of the file at a path; None where the path ends as directories do, and nothing stands there."""
    if path.endswith("/") and not value:
        return None
    return {"content": value} if isinstance(value, str) else _fields(as_object(value))


def _is_path(key: str) -> bool:
    return "/" in key.strip("/") and " " not in key and "://" not in key and not key.endswith("/")


def _text_of(value: Json) -> Json:
    return next((as_object(value)[name] for name in _TEXTS if name in as_object(value)), None)


def _listed(rows: list[Json], name: str, *, is_named: bool) -> list[Found] | None:
    if is_named and all(isinstance(row, str) for row in rows):
        is_directory = snake(name).startswith(("director", "folder"))
        return [(str(row), None if is_directory or str(row).endswith("/") else {"content": ""}) for row in rows]
    found: list[Found] = []
    for row in rows:
        body = as_object(row)
        place = next((body[one] for one in _PLACES if isinstance(body.get(one), str)), None)
        knows = _is_node(row) or (is_named and _text_of(row) is not None)
        if place is None or not knows or "id" in body:
            return None
        found.append((place, None if _is_directory(row) else _fields(body)))
    return found


def _fields(node: Record) -> Record:
    """The fields of a file, under the names that the tree has for them."""
    fields: Record = {"content": _text(_text_of(node) if _text_of(node) is not None else "")}
    for name, value in node.items():
        if snake(name) in {"created_at", "modified_at"} and isinstance(value, str):
            fields[snake(name)] = value
    return fields


def _text(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else encode(value).decode()
