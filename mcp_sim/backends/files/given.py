"""Files of a given state: nested objects, texts or objects by path, lists of files, or rows under columns."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from mcp_sim.backends.files.operations import OPERATION_WORDS, SPACES
from mcp_sim.backends.files.paths import (
    DIRECTORY,
    FILE,
    ROOT,
    SHELL,
    is_within,
    join_path,
    normalize,
    parent,
    split_path,
)
from mcp_sim.backends.given import Given, innermost
from mcp_sim.backends.matching.matched_tools import MatchedTool
from mcp_sim.types import Json, Record
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import singular, snake, vocabulary

_WORKING = vocabulary("cwd pwd current_directory current_dir working_directory working_dir current_working_directory")
_ALLOWED = vocabulary("allowed_directories allowed_dirs allowed_paths allowed_roots roots")
_ROOTS = vocabulary(
    "root root_dir root_path root_directory base_dir base_path base_directory workspace workspace_root workspace_path "
    "workspace_dir project_root project_path sandbox sandbox_path sandbox_dir allowed_directory allowed_path"
)
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


@dataclass(slots=True)
class GivenFiles:
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

    def add(self, path: str, fields: Record | None, space: str) -> None:
        """Add a file, or a directory if it has no fields, within a space."""
        is_bare = bool(space) or (not path.startswith(("/", "\\")) and ":" not in path[:3])
        path = normalize(f"{space}/{path}")
        if path == ROOT:
            return
        if is_bare:
            self.bare.add(path)
        if fields is None:
            self.directories[path] = {"path": path}
        else:
            self.files[path] = {"path": path, **fields}

    def paths(self) -> list[str]:
        """Return all paths."""
        return [*self.files, *self.directories]

    @property
    def is_open(self) -> bool:
        """Whether nothing says which directory the files are below."""
        return not (self.root or self.working or self.allowed) and self.bare.issuperset(self.paths())

    @property
    def is_empty(self) -> bool:
        """Whether the state has no files, and does not say where they are."""
        return not (self.files or self.directories or self.working or self.allowed)

    def below(self, base: str, paths: Iterable[str]) -> GivenFiles:
        """Return the same files, with these paths below a directory if they are not there already."""
        places = {path: join_path(base, path.lstrip("/")) for path in paths if not is_within(path, [base])}
        files = {places.get(path, path): {**row, "path": places.get(path, path)} for path, row in self.files.items()}
        at = [places.get(path, path) for path in self.directories]
        bare = {places.get(path, path) for path in self.bare}
        return replace(self, files=files, directories={path: {"path": path} for path in at}, bare=bare)


def given_records(state: Json, matched: Sequence[MatchedTool], *, is_whole: bool) -> Given:
    """Return the files, directories and settings that a state has for these tools, and the rest of the state.

    Without given files, files are generated, and directories follow from them.
    """
    used = frozenset(noun for one in matched if one.name in {"read", "write", "list"} for noun in one.profile.nouns)
    nouns = used - OPERATION_WORDS - SPACES
    has_spaces = any("space" in one.arguments for one in matched)
    found, rest = read_given_files(state, nouns=nouns, has_spaces=has_spaces, is_whole=is_whole)
    operations = {one.name for one in matched}
    shell: Record = {"working_directory": found.working or _home(found, operations)}
    shell |= {"allowed": _allowed(found, operations), **({"above": None} if found.is_open else {})}
    records: dict[str, list[Record]] = {DIRECTORY: [*found.directories.values()], SHELL: [shell]}
    return Given(records if found.is_empty else {FILE: [*found.files.values()], **records}, rest)


def _allowed(given: GivenFiles, operations: set[str]) -> list[str]:
    """Return the allowed directories.

    If a tool lists them and the state does not give them, the common parent of all given files is allowed.
    """
    places = [*map(parent, given.files), *given.directories]
    if given.is_open or given.allowed or not places or "allowed" not in operations:
        return given.allowed or [ROOT]
    return [posixpath.commonpath(places)]


def _home(given: GivenFiles, operations: set[str]) -> str:
    """Return the initial working directory: the only top-level directory if it contains everything."""
    tops = {split_path(path)[0] for path in given.paths()}
    home = ROOT + next(iter(tops), "")
    is_home = given.is_nested and len(tops) == 1 and home in given.directories
    return home if is_home and not operations.isdisjoint({"cd", "pwd"}) else ROOT


def read_given_files(
    state: Json,
    root: str | None = None,
    *,
    nouns: frozenset[str] = frozenset(),
    has_spaces: bool = False,
    is_whole: bool = False,
) -> tuple[GivenFiles, Json]:
    """Return the files of a state, and the rest of the state.

    `root` is the directory they are below, if known; `nouns` is what tools call files; `has_spaces`: the files are in
    projects, vaults or the like; `is_whole`: if nothing has a known name, the whole state may be the files.
    """
    reader = _Reader(nouns, has_spaces)
    rest = reader.extract("", state)
    if is_whole and reader.given.is_empty and state is not None:
        rest = reader.extract("files", innermost(state))
    given = reader.located()
    if root is not None and root.startswith("/") and given.paths():
        given.root = given.root or normalize(root)
    return _make_absolute(given), rest


def _make_absolute(given: GivenFiles) -> GivenFiles:
    """Return the files with absolute paths, if the state says which directory they are below."""
    root = given.root or (given.allowed[0] if len(given.allowed) == 1 else None)
    found = given.below(given.working or ROOT, given.bare) if root is None else given.below(root, given.paths())
    for place in {given.root or ROOT, given.working or ROOT} - {ROOT}:
        found.directories.setdefault(place, {"path": place})
    if given.root is not None:
        found.allowed, found.working = given.allowed or [given.root], given.working or given.root
    return found


class _Reader:
    """Moves files from a state into `given`."""

    def __init__(self, nouns: frozenset[str], has_spaces: bool) -> None:
        self.given = GivenFiles()
        self._nouns, self._has_spaces = nouns, has_spaces
        self._spaces: list[str] = []
        """The names of spaces whose files are not inside them."""

    def located(self) -> GivenFiles:
        """Return the files; those beside the name of the only space are in it."""
        if len(self._spaces) != 1:
            return self.given
        return self.given.below(normalize(self._spaces[0]), self.given.paths())

    def extract(self, name: str, value: Json, space: str = "") -> Json:
        """Move the files of a value into `given`. Return what is left, None if nothing is."""
        if self._has_spaces and singular(_last_word(name)) in SPACES and self._take_spaces(value):
            return None
        is_nested = not self._holds_table(value) and self._is_tree(name, value)
        found = [*read_nested_files(ROOT, value)] if is_nested else self._flat(name, value)
        if found:
            for path, fields in found:
                self.given.add(path.lstrip("/") if is_nested else path, fields, space)
            self.given.is_nested = self.given.is_nested or is_nested
            return None
        return self._extract_parts(value, space) if isinstance(value, dict) else value

    def _extract_parts(self, value: Json, space: str) -> Json:
        body, left = as_object(value), dict[str, Json]()
        for part, inner in body.items():
            if not _read_shell_setting(snake(part), inner, self.given):
                remaining = self.extract(part, inner, space)
                if remaining is not None or inner is None:
                    left[part] = remaining
        return left if left or not body else None

    # spaces

    def _take_spaces(self, value: Json) -> bool:
        """Read spaces: a list of names, one object, or several of them, each with a table of files."""
        names = _texts(value)
        self._spaces += names
        rows = [as_object(value)] if self._holds_table(value) else [] if names else rows_of(value, "name") or []
        if not all(isinstance(row.get("name"), str) and self._holds_table(row) for row in rows):
            return False
        for row in rows or [{"name": name} for name in names]:
            self._take_space(str(row["name"]), row)
        return bool(names or rows)

    def _take_space(self, name: str, row: Record) -> None:
        self.given.add(name, None, "")
        self._extract_parts({part: inner for part, inner in row.items() if part != "name"}, name)

    def _holds_table(self, value: Json) -> bool:
        """Whether a part of an object is called as the tools call files."""
        return any(isinstance(part, dict | list) and self._is_noun(name) for name, part in as_object(value).items())

    # shapes

    def _is_noun(self, name: str) -> bool:
        return singular(_last_word(name)) in self._nouns

    def _is_known(self, name: str) -> bool:
        return not _NAMED.isdisjoint({snake(name), _last_word(name)}) or self._is_noun(name)

    def _is_tree(self, name: str, value: Json) -> bool:
        """Return whether a value is the content of a directory: names with files, directories, texts or objects."""
        nodes: list[Json] = as_list(value) or [*as_object(value).values()]
        if nodes and all(_is_node(one) for one in nodes):
            return isinstance(value, dict) or all(_is_named_only(as_object(one)) for one in nodes)
        return self._is_known(name) and _is_plain(as_object(value))

    def _flat(self, name: str, value: Json) -> list[Found]:
        """Return the files of a table: by path, in a list, or under columns; none if it is no such table."""
        is_named = self._is_known(name)
        if is_named and _texts(value):
            is_directory = snake(name).startswith(("director", "folder"))
            return [(path, None if is_directory or path.endswith("/") else {"content": ""}) for path in _texts(value)]
        rows, keys = rows_of(value, "path", "content") or [], [*as_object(value)]
        if keys != [row.get("path") for row in rows]:
            return _all_files(rows, is_named=is_named)
        may_be = all(self._may_be_path(path, name, is_named=is_named) for path in keys)
        return _all_files(rows, is_named=True) if may_be else []

    def _may_be_path(self, key: str, name: str, *, is_named: bool) -> bool:
        if is_named:
            return self._is_noun(name) or "/" in key or "." in key
        return "/" in key.strip("/") and " " not in key and "://" not in key and not key.endswith("/")


def _texts(value: Json) -> list[str]:
    """Return a list of texts; empty if a value is none."""
    found = [one for one in as_list(value) if isinstance(one, str)]
    return found if len(found) == len(as_list(value)) else []


def _last_word(name: str) -> str:
    return snake(name).rsplit("_", 1)[-1]


def _read_shell_setting(name: str, value: Json, given: GivenFiles) -> bool:
    """Read a working directory, root or list of allowed directories into `given`. Return whether it was one."""
    if name in _ALLOWED and _texts(value):
        given.allowed = [normalize(one) for one in _texts(value)]
        return True
    if isinstance(value, str) and name in _WORKING:
        given.working = normalize(value)
        return True
    if isinstance(value, str) and name in _ROOTS and value.startswith("/"):
        given.root = normalize(value)
        return True
    return False


# nested ---------------------------------------------------------------------------------------------------------------


def _kind(value: Json) -> str:
    """Return what a value says itself that it is, such as `file`; empty if it does not."""
    kind = as_object(value).get("type", as_object(value).get("kind"))
    return kind.lower() if isinstance(kind, str) else ""


def _is_directory(value: Json) -> bool:
    return _kind(value) in _DIRECTORY_WORDS


def _is_node(value: Json) -> bool:
    return _is_directory(value) or _kind(value) == "file"


def _is_named_only(node: Record) -> bool:
    return "name" in node and "path" not in node


def _is_plain(body: Record) -> bool:
    """Return whether a value is nested objects with texts as leaves, and at least one leaf has a file name."""
    leaves = list(_leaves(body))
    is_of_texts = all(isinstance(leaf, str) for _, leaf in leaves) and any("." in name for name, _ in leaves)
    return is_of_texts and not any("/" in key for key in body)


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
            yield child, _fields(as_object(node))
        else:
            yield child, None
            yield from read_nested_files(child, _directory_content(as_object(node)))


def _directory_content(node: Record) -> Json:
    """Return the content of a directory."""
    if not _is_node(node):
        return node
    contents: list[Json] = [node[name] for name in _CONTENT_KEYS if isinstance(node.get(name), dict | list)]
    return contents[0] if contents else None


# rows -----------------------------------------------------------------------------------------------------------------


def _all_files(rows: Sequence[Record], *, is_named: bool) -> list[Found]:
    """Return the files of all rows; none if one of them is no file."""
    found = [_file(row, is_named=is_named) for row in rows]
    return [] if None in found else [one for one in found if one is not None]


def _file(row: Record, *, is_named: bool) -> Found | None:
    """Return the file of a row; None if it is none. An empty one whose path ends as directories do is a directory."""
    place, text = _first(row, _PLACES), _first(row, _TEXTS)
    if place is None and is_named and "." in str(row.get("name")):
        place = row["name"]
    if not isinstance(place, str) or "id" in row:
        return None
    if _is_directory(row) or (place.endswith("/") and not text):
        return place, None
    return (place, _fields(row)) if _is_node(row) or (is_named and text is not None) else None


def _first(row: Record, names: Iterable[str]) -> Json:
    return next((row[name] for name in names if name in row), None)


def _fields(node: Record) -> Record:
    """Return the fields of a file under the names of the entity."""
    fields: Record = {"content": _text(_first(node, _TEXTS))}
    for name, value in node.items():
        if snake(name) in {"created_at", "modified_at"} and isinstance(value, str):
            fields[snake(name)] = value
    return fields


def _text(value: Json) -> str:
    return value if isinstance(value, str) else "" if value is None else encode(value).decode()
