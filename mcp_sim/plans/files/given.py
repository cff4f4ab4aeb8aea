"""Files of a given state: nested objects, texts or objects by path, lists of files, or rows under columns."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from mcp_sim.plans.files.operations import OPERATION_WORDS, SPACES
from mcp_sim.plans.files.paths import DIRECTORY, FILE, ROOT, SHELL, is_within, join_path, normalize, parent
from mcp_sim.plans.given import Given, innermost
from mcp_sim.plans.matching.matched_tools import MatchedTool
from mcp_sim.plans.operation import read_names
from mcp_sim.plans.outcome import as_text
from mcp_sim.types import Json, Record
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import last_word, singular, snake, vocabulary

_WORDS = read_names(__name__)
_WORKING = _WORDS.terms("working_directory")
_ALLOWED = vocabulary("allowed_directories allowed_dirs allowed_paths allowed_roots roots")
_ROOTS = _WORDS.terms("root")
_CONTENT_KEYS = ("contents", "children", "entries", "items", "files")
_TEXTS = ("content", "contents", "text", "data", "body")
_PLACES = _WORDS.ordered("place")
_NAMED = _WORDS.terms("named")
_KINDS = {"file": FILE, "directory": DIRECTORY, "dir": DIRECTORY, "folder": DIRECTORY}

Found: TypeAlias = "tuple[str, Record | None]"
"""A path and the fields of the file there; None for a directory."""


@dataclass(slots=True)
class GivenFiles:
    """Files and directories by path, the working directory, and the allowed directories."""

    entries: dict[str, Record | None] = field(default_factory=dict[str, "Record | None"])
    """Path -> the fields of the file there; None for a directory."""
    working: str | None = None
    allowed: Sequence[str] = ()
    root: str | None = None
    """The directory that relative paths are below."""
    is_nested: bool = False
    bare: set[str] = field(default_factory=set[str])
    """Paths without a leading `/`, or nested: nothing says which directory they are below."""

    @property
    def files(self) -> Mapping[str, Record]:
        """The records of files by path."""
        return {path: {"path": path, **fields} for path, fields in self.entries.items() if fields is not None}

    @property
    def directories(self) -> Mapping[str, Record]:
        """The records of directories by path."""
        return {path: {"path": path} for path, fields in self.entries.items() if fields is None}

    @property
    def is_open(self) -> bool:
        """Whether nothing says which directory the files are below."""
        return not (self.root or self.working or self.allowed) and self.bare.issuperset(self.entries)

    @property
    def is_empty(self) -> bool:
        """Whether the state has no files, and does not say where they are."""
        return not (self.entries or self.working or self.allowed)

    def add(self, path: str, fields: Record | None, space: str) -> None:
        """Add a file, or a directory if it has no fields, within a space."""
        place = normalize(f"{space}/{path}")
        if place != ROOT:
            self.entries[place] = fields if fields is not None else self.entries.get(place)
            if space or (not path.startswith(("/", "\\")) and ":" not in path[:3]):
                self.bare.add(place)

    def below(self, base: str, paths: Iterable[str]) -> GivenFiles:
        """Return the same files, with these paths below a directory if they are not there already."""
        places = {path: join_path(base, path.lstrip("/")) for path in paths if not is_within(path, [base])}
        entries = {places.get(path, path): fields for path, fields in self.entries.items()}
        return replace(self, entries=entries, bare={places.get(path, path) for path in self.bare})


def given_records(state: Json, matched: Sequence[MatchedTool], *, is_whole: bool) -> Given:
    """Return the files, directories and settings of a state, and its rest. Without files, they are generated."""
    used = frozenset(noun for tool in matched if tool.name in {"read", "write", "list"} for noun in tool.profile.nouns)
    nouns = used - OPERATION_WORDS - SPACES
    has_spaces = any("space" in tool.arguments for tool in matched)
    files, rest = read_given_files(state, nouns=nouns, has_spaces=has_spaces, is_whole=is_whole)
    operations = {tool.name for tool in matched}
    shell: Record = {"working_directory": files.working or _home(files, operations)}
    shell |= {"allowed": _allowed(files, operations), **({"above": None} if files.is_open else {})}
    records: dict[str, list[Record]] = {DIRECTORY: [*files.directories.values()], SHELL: [shell]}
    return Given(records if files.is_empty else {FILE: [*files.files.values()], **records}, rest)


def _allowed(given: GivenFiles, operations: set[str]) -> list[str]:
    """Return the allowed directories: the common parent of all files if a tool lists them and the state does not."""
    places = [path if fields is None else parent(path) for path, fields in given.entries.items()]
    if given.is_open or given.allowed or not places or "allowed" not in operations:
        return [*given.allowed] or [ROOT]
    return [posixpath.commonpath(places)]


def _home(given: GivenFiles, operations: set[str]) -> str:
    """Return the initial working directory: the only top-level directory if it contains everything."""
    tops = [path for path in given.directories if parent(path) == ROOT][:1]
    is_home = given.is_nested and not operations.isdisjoint({"cd", "pwd"})
    return tops[0] if is_home and tops and all(is_within(path, tops) for path in given.entries) else ROOT


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
    given = reader.given
    if len(reader.spaces) == 1:
        given = given.below(normalize(reader.spaces[0]), given.entries)
    if root is not None and root.startswith("/") and given.entries:
        given.root = given.root or normalize(root)
    return _make_absolute(given), rest


def _make_absolute(given: GivenFiles) -> GivenFiles:
    """Return the files with absolute paths, if the state says which directory they are below."""
    root = given.root or (given.allowed[0] if len(given.allowed) == 1 else None)
    files = given.below(given.working or ROOT, given.bare) if root is None else given.below(root, given.entries)
    for place in {given.root or ROOT, given.working or ROOT} - {ROOT}:
        files.entries.setdefault(place, None)
    if given.root is not None:
        files.allowed, files.working = given.allowed or [given.root], given.working or given.root
    return files


class _Reader:
    """Moves files from a state into `given`."""

    def __init__(self, nouns: frozenset[str], has_spaces: bool) -> None:
        self.given = GivenFiles()
        self.spaces: list[str] = []
        """The names of spaces whose files are not inside them."""
        self._nouns, self._has_spaces = nouns, has_spaces

    def extract(self, name: str, value: Json, space: str = "") -> Json:
        """Move the files of a value into `given`. Return what is left, None if nothing is."""
        if self._has_spaces and singular(last_word(name)) in SPACES and self._take_spaces(value):
            return None
        is_nested = not self._holds_table(value) and self._is_tree(name, value)
        entries = [*_nested(ROOT, value)] if is_nested else self._flat(name, value)
        for path, fields in entries:
            self.given.add(path.lstrip("/") if is_nested else path, fields, space)
        self.given.is_nested |= is_nested and bool(entries)
        return None if entries else self._extract_parts(value, space) if isinstance(value, dict) else value

    def _extract_parts(self, value: Json, space: str) -> Json:
        body, left = as_object(value), dict[str, Json]()
        for segment, inner in body.items():
            if not self._take_setting(snake(segment), inner):
                remaining = self.extract(segment, inner, space)
                if remaining is not None or inner is None:
                    left[segment] = remaining
        return left if left or not body else None

    def _take_setting(self, name: str, value: Json) -> bool:
        """Read a working directory, a root or a list of allowed directories. Return whether the value is one."""
        if name in _ALLOWED and _texts(value):
            self.given.allowed = [normalize(text) for text in _texts(value)]
        elif isinstance(value, str) and name in _WORKING:
            self.given.working = normalize(value)
        elif isinstance(value, str) and name in _ROOTS and value.startswith("/"):
            self.given.root = normalize(value)
        else:
            return False
        return True

    def _take_spaces(self, value: Json) -> bool:
        """Read spaces: a list of names, one object, or several of them, each with a table of files."""
        names = _texts(value)
        self.spaces += names
        rows = [as_object(value)] if self._holds_table(value) else rows_of(value, "name") or []
        if not all(isinstance(row.get("name"), str) and self._holds_table(row) for row in rows):
            return False
        for row in rows or [{"name": name} for name in names]:
            self.given.add(row["name"], None, "")
            self._extract_parts({segment: inner for segment, inner in row.items() if segment != "name"}, row["name"])
        return bool(names or rows)

    def _holds_table(self, value: Json) -> bool:
        """Return whether a part of an object is called as the tools call files."""
        return any(isinstance(inner, dict | list) and self._is_noun(name) for name, inner in as_object(value).items())

    def _is_noun(self, name: str) -> bool:
        return singular(last_word(name)) in self._nouns

    def _is_known(self, name: str) -> bool:
        return not _NAMED.isdisjoint({snake(name), last_word(name)}) or self._is_noun(name)

    def _is_tree(self, name: str, value: Json) -> bool:
        """Return whether a value is the content of a directory: names with files, directories, texts or objects."""
        nodes: list[Json] = as_list(value) or [*as_object(value).values()]
        if nodes and all(map(_kind, nodes)):
            return isinstance(value, dict) or all("name" in row and "path" not in row for row in map(as_object, nodes))
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
        may_be = self._is_noun(name) or all(_may_be_path(key, is_named=is_named) for key in keys)
        return _all_files(rows, is_named=True) if may_be else []


def _texts(value: Json) -> list[str]:
    texts = [item for item in as_list(value) if isinstance(item, str)]
    return texts if len(texts) == len(as_list(value)) else []


def _may_be_path(key: str, *, is_named: bool) -> bool:
    if is_named:
        return "/" in key or "." in key
    return "/" in key.strip("/") and " " not in key and "://" not in key and not key.endswith("/")


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


def _kind(value: Json) -> str:
    """Return the entity that a value says itself that it is; empty if it does not."""
    kind = as_object(value).get("type", as_object(value).get("kind"))
    return _KINDS.get(kind.lower(), "") if isinstance(kind, str) else ""


def _nested(path: str, content: Json) -> Iterator[Found]:
    """Yield the files and directories in the content of the directory at a path."""
    named = [(str(as_object(item)["name"]), item) for item in as_list(content)]
    for name, node in named or as_object(content).items():
        child, kind, body = join_path(path, name), _kind(node), as_object(node)
        if not isinstance(node, dict):
            yield child, {"content": as_text("" if node is None else node)}
        elif kind == FILE:
            yield child, _fields(body)
        else:
            yield child, None
            parts = (body[key] for key in _CONTENT_KEYS if isinstance(body.get(key), dict | list))
            yield from _nested(child, next(parts, None) if kind else body)


def _all_files(rows: Sequence[Record], *, is_named: bool) -> list[Found]:
    all_files = [_file(row, is_named=is_named) for row in rows]
    return [] if None in all_files else [pair for pair in all_files if pair is not None]


def _file(row: Record, *, is_named: bool) -> Found | None:
    """Return the file of a row, or None. An empty one whose path ends as directories do is a directory."""
    place, text = _first(row, _PLACES), _first(row, _TEXTS)
    if place is None and is_named and "." in str(row.get("name")):
        place = row["name"]
    if not isinstance(place, str) or "id" in row:
        return None
    if _kind(row) == DIRECTORY or (place.endswith("/") and not text):
        return place, None
    return (place, _fields(row)) if _kind(row) or (is_named and text is not None) else None


def _first(row: Record, names: Iterable[str]) -> Json:
    return next((row[name] for name in names if name in row), None)


def _fields(node: Record) -> Record:
    """Return the fields of a file under the names of the entity."""
    named = ((snake(name), value) for name, value in node.items() if isinstance(value, str))
    times = {name: value for name, value in named if name in {"created_at", "modified_at"}}
    text = _first(node, _TEXTS)
    return {"content": as_text("" if text is None else text), **times}
