"""Files of a given state, as nested objects, texts by path, or lists of files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from mcp_sim.backends.files.paths import ROOT, is_within, join_path, normalize
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import snake, vocabulary

_WORKING = vocabulary("cwd pwd current_directory current_dir working_directory working_dir current_working_directory")
_ALLOWED = vocabulary("allowed_directories allowed_dirs allowed_paths allowed_roots roots")
_ROOTS = vocabulary(
    "root root_dir root_path root_directory base_dir base_path base_directory workspace workspace_root workspace_path "
    "workspace_dir project_root project_path sandbox sandbox_path sandbox_dir allowed_directory allowed_path"
)


@dataclass(slots=True)
class Given:
    """Files and directories by path, the working directory, and the allowed directories.

    `root` is the directory that relative paths are below.
    """

    files: dict[str, Record] = field(default_factory=dict[str, Record])
    directories: dict[str, Record] = field(default_factory=dict[str, Record])
    working: str | None = None
    allowed: list[str] = field(default_factory=list[str])
    root: str | None = None
    is_nested: bool = False
    bare: set[str] = field(default_factory=set[str])
    """Paths without a leading `/`, or nested: nothing says which directory they are below."""

    def add(self, path: str, fields: Record | None) -> None:
        is_bare, path = not path.startswith(("/", "\\")) and ":" not in path[:3], normalize(path)
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
        """Whether nothing says which directory the files are below."""
        return not (self.root or self.working or self.allowed) and self.bare.issuperset(self.paths())

    @property
    def is_empty(self) -> bool:
        return not (self.files or self.directories or self.working or self.allowed)


def read_given_files(state: Json, root: str | None = None) -> tuple[Given, Json]:
    """Return the files of a state, and the rest of the state. `root` is the directory they are below, if known."""
    given = Given()
    rest = _extract_files("", state, given)
    if root is not None and root.startswith("/") and given.paths():
        given.root = given.root or normalize(root)
    return _make_absolute(given), rest


def _make_absolute(given: Given) -> Given:
    """Return the files with absolute paths, if the state says which directory they are below."""
    allowed = given.allowed[0] if len(given.allowed) == 1 else None
    root = given.root or allowed
    if root is not None:
        moved = {path: join_path(root, path.lstrip("/")) for path in given.paths() if not is_within(path, [root])}
    else:
        working = given.working or ROOT
        moved = {path: join_path(working, path.lstrip("/")) for path in given.bare if not is_within(path, [working])}
    files = {moved.get(path, path): {**row, "path": moved.get(path, path)} for path, row in given.files.items()}
    directories = {
        moved.get(path, path): {**row, "path": moved.get(path, path)} for path, row in given.directories.items()
    }
    for place in {given.root or ROOT, given.working or ROOT} - {ROOT}:
        directories.setdefault(place, {"path": place})
    seen = given.allowed or ([given.root] if given.root is not None else [])
    return replace(given, files=files, directories=directories, allowed=seen, working=given.working or given.root)


def _extract_files(name: str, value: Json, given: Given) -> Json:
    """Move the files of a value into `given`. Return what is left, None if nothing is."""
    if is_tree(name, value):
        for path, fields in read_nested_files(ROOT, value):
            given.add(path, fields)
            given.bare.add(path)
        given.is_nested = True
        return None
    flat = read_flat_files(name, value)
    if flat is not None:
        for path, fields in flat:
            given.add(path, fields)
        return None
    if not isinstance(value, dict):
        return value
    body = cast("Record", value)
    left: Record = {}
    for part, inner in body.items():
        if not _read_shell_setting(snake(part), inner, given):
            remaining = _extract_files(part, inner, given)
            if remaining is not None or inner is None:
                left[part] = remaining
    return left if left or not body else None


def _read_shell_setting(name: str, value: Json, given: Given) -> bool:
    """Read a working directory, root or list of allowed directories into `given`. Return whether it was one."""
    if name in _WORKING and isinstance(value, str):
        given.working = normalize(value)
        return True
    if name in _ROOTS and isinstance(value, str) and value.startswith("/"):
        given.root = normalize(value)
        return True
    if name in _ALLOWED and value and all(isinstance(one, str) for one in as_list(value)) and isinstance(value, list):
        given.allowed = [normalize(one) for one in cast("list[str]", value)]
        return True
    return False


_CONTENT_KEYS = ("contents", "children", "entries", "items", "files")
_TEXTS = ("content", "contents", "text", "data", "body")
_PLACES = ("path", "file_path", "filepath", "full_path", "filename", "file_name", "file")
_NAMED = vocabulary(
    "file files filesystem file_system fs file_tree tree directory directories folder folders root disk "
    "vaults projects workspaces buckets notebooks"
)
_DIRECTORY_WORDS = vocabulary("directory dir folder")

Found: TypeAlias = "tuple[str, Record | None]"
"""A path and the fields of the file there; None for a directory."""


# nested ---------------------------------------------------------------------------------------------------------------


def _is_node(value: Json) -> bool:
    """Return whether a value says itself that it is a file or a directory."""
    kind = as_object(value).get("type", as_object(value).get("kind"))
    return isinstance(kind, str) and kind.lower() in (*_DIRECTORY_WORDS, "file")


def is_tree(name: str, value: Json) -> bool:
    """Return whether a value is the content of a directory: names with files, directories, texts or objects."""
    body = as_object(value)
    if body and all(_is_node(one) for one in body.values()):
        return True
    if as_list(value) and all(_is_node(one) and "name" in as_object(one) for one in as_list(value)):
        return not any("path" in as_object(one) for one in as_list(value))
    return bool(body) and snake(name) in _NAMED and _is_plain(body) and not any("/" in key for key in body)


def _is_plain(body: Record) -> bool:
    """Return whether a value is nested objects with texts as leaves, and at least one leaf has a file name."""
    leaves = list(_leaves(body))
    return bool(leaves) and all(isinstance(leaf, str) for _, leaf in leaves) and any("." in name for name, _ in leaves)


def _leaves(body: Record) -> Iterator[tuple[str, Json]]:
    for name, value in body.items():
        if isinstance(value, dict):
            yield from _leaves(cast("Record", value))
        else:
            yield name, value


def read_nested_files(path: str, content: Json) -> Iterator[Found]:
    """Yield the files and directories in the content of the directory at a path."""
    named = [(str(as_object(one)["name"]), one) for one in as_list(content)] if isinstance(content, list) else None
    for name, node in named if named is not None else as_object(content).items():
        child = join_path(path, name)
        if not isinstance(node, dict):
            yield child, {"content": _text(node)}
        elif _is_node(node) and not _is_directory(node):
            yield child, _fields(cast("Record", node))
        else:
            yield child, None
            yield from read_nested_files(child, _directory_content(cast("Record", node)))


def _is_directory(node: Json) -> bool:
    kind = as_object(node).get("type", as_object(node).get("kind"))
    return str(kind).lower() in _DIRECTORY_WORDS


def _directory_content(node: Record) -> Json:
    """Return the content of a directory."""
    if not _is_node(node):
        return node
    contents: list[Json] = [node[name] for name in _CONTENT_KEYS if isinstance(node.get(name), dict | list)]
    return contents[0] if contents else None


# flat -----------------------------------------------------------------------------------------------------------------


def read_flat_files(name: str, value: Json) -> list[Found] | None:
    """Return the files of a mapping by path or of a list; None if the value is neither."""
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
    return [(path, _fields_at(path, one)) for path, one in body.items()]


def _may_be_held(path: str, value: Json) -> bool:
    return isinstance(value, str) or _text_of(value) is not None or (path.endswith("/") and not value)


def _fields_at(path: str, value: Json) -> Record | None:
    """Return the fields of the file at a path; None for an empty value whose path ends as directories do."""
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
    """Return the fields of a file under the names of the entity."""
    fields: Record = {"content": _text(_text_of(node) if _text_of(node) is not None else "")}
    for name, value in node.items():
        if snake(name) in {"created_at", "modified_at"} and isinstance(value, str):
            fields[snake(name)] = value
    return fields


def _text(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else encode(value).decode()
