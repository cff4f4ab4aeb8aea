"""A tree of files and directories, and their paths: absolute and normalized, as `/docs/a.md`; the root is `/`.

Both are records keyed by their absolute path; `folder` is the directory that each is in, and indexed. All directories
but the root have records.

Given states have files as texts or objects by path, as lists, or as nested objects by name.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from pkgutil import get_data
from typing import TypeAlias

from mcp_sim.libraries.store import LibraryError, Store
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import as_text
from mcp_sim.types.lexicon.english import snake

ROOT = "/"


def normalize(path: str, base: str = ROOT) -> str:
    """Return the absolute path of a path that may be relative to a directory; `..` at the root has no effect."""
    plain = path.replace("\\", "/").removeprefix("file://")
    return ROOT + posixpath.normpath(posixpath.join(ROOT, base, plain)).strip("/")


def parent(path: str) -> str:
    """Return the directory of a path; the root is its own parent."""
    return posixpath.dirname(path)


def name_of(path: str) -> str:
    """Return the last name in a path; empty for the root."""
    return posixpath.basename(path)


def directories_above(path: str) -> list[str]:
    """Return the parent directories of a path, the outermost first, without the root."""
    names = path.strip("/").split("/")
    return [ROOT + "/".join(names[:end]) for end in range(1, len(names))]


def join(directory: str, name: str) -> str:
    """Return the path of `name` in a directory."""
    return f"{directory.rstrip('/')}/{name}"


def is_within(path: str, directories: Iterable[str]) -> bool:
    """Return whether a path is one of these directories, or in one."""
    return any(path == directory or path.startswith(f"{directory.rstrip('/')}/") for directory in directories)


def below(path: str, directory: str) -> str:
    """Return the rest of a path below a directory: `b/c.md` for `/a/b/c.md` in `/a`; empty for the directory itself."""
    return path[len(directory.rstrip("/")) :].lstrip("/")


FILE, DIRECTORY = "file", "directory"
_MOST_LINKS = 40  # as many as Linux follows
_LONGEST_PATH = 4096  # as on Linux, which looks up no longer one
_KEPT = ("mode", "target", "encoding")
"""What only the shell sets: octal digits, where a symbolic link leads, and base64 for bytes that are not UTF-8."""


class FileError(LibraryError):
    """A call on files that fails. `path` is the path that it is about."""

    what = "Cannot use"

    def __init__(self, path: str) -> None:
        super().__init__(f"{self.what}: {path}")
        self.path = path


class NotFound(FileError):
    """A path names no file and no directory."""

    what = "No such file or directory"


class AlreadyExists(FileError):
    """A path is taken."""

    what = "File exists"


class IsADirectory(FileError):
    """A directory is where a file is needed."""

    what = "Is a directory"


class NotADirectory(FileError):
    """A file is where a directory is needed."""

    what = "Not a directory"


class NotEmpty(FileError):
    """A directory that should be removed has contents."""

    what = "Directory not empty"


class IntoItself(FileError):
    """A directory would contain itself."""

    what = "Cannot put a directory into itself"


class TooManyLinks(FileError):
    """Symbolic links that lead to each other without an end."""

    what = "Too many levels of symbolic links"


def entities() -> list[Entity]:
    """Return the entities of files and directories."""
    text: Record = {"type": "string"}
    time: Record = {"type": "string", "format": "date-time"}
    place = {"path": Field("path", text, required=True), "folder": Field("folder", text)}
    times = {name: Field(name, time) for name in ("created_at", "modified_at")}
    content = {"content": Field("content", text, required=True)}
    kept = {name: Field(name, text) for name in _KEPT}
    return [
        Entity(FILE, "path", None, {**place, **content, **times, **kept}, natural=True),
        Entity(DIRECTORY, "path", None, {**place, **times, "mode": kept["mode"]}, natural=True),
    ]


@frozen
class Entry:
    """A file or a directory."""

    path: str
    content: str | None
    """The text of a file; None for a directory."""
    created: str
    modified: str
    kept: Mapping[str, str] = field(default_factory=dict[str, str])
    """The fields that only the shell sets."""

    @property
    def name(self) -> str:
        """The last name in the path."""
        return name_of(self.path)

    @property
    def is_file(self) -> bool:
        """Whether it is a file."""
        return self.content is not None

    @property
    def text(self) -> str:
        """The content; empty for a directory."""
        return self.content or ""

    @property
    def size(self) -> int:
        """The size in bytes; 0 for a directory."""
        return len(self.text.encode("utf-8", "surrogatepass"))


class Files:
    """Files and directories by path, which is absolute, or relative to the root.

    `files.write("/notes/a.md", "text")` needs the directory `/notes`, as on a disk.
    """

    def __init__(self, store: Store) -> None:
        self._store = store

    # looking

    def find(self, path: str) -> Entry | None:
        """Return the file or directory at a path, or None."""
        place = normalize(path)
        for table in (FILE, DIRECTORY):
            record = self._store.get(table, place)
            if record is not None:
                return _entry(record)
        return Entry(ROOT, None, self._store.time, self._store.time) if place == ROOT else None

    def exists(self, path: str) -> bool:
        """Return whether there is a file or directory at a path."""
        return self.find(path) is not None

    def entry(self, path: str) -> Entry:
        """Return the file or directory at a path. Raises `NotFound`."""
        entry = self.find(path)
        if entry is None:
            start = normalize(path)[:_LONGEST_PATH]
            above = next((place for place in directories_above(start) if self._is_file(place)), None)
            raise NotFound(path) if above is None else NotADirectory(path)
        return entry

    def file(self, path: str) -> Entry:
        """Return the file at a path. Raises `NotFound` or `IsADirectory`."""
        entry = self.entry(path)
        if not entry.is_file:
            raise IsADirectory(path)
        return entry

    def directory(self, path: str) -> Entry:
        """Return the directory at a path. Raises `NotFound` or `NotADirectory`."""
        entry = self.entry(path)
        if entry.is_file:
            raise NotADirectory(path)
        return entry

    def read(self, path: str) -> str:
        """Return the text of a file. Raises `NotFound` or `IsADirectory`."""
        return self.file(path).text

    def real(self, path: str) -> str:
        """Return the path that the symbolic links of a path lead to. Raises `TooManyLinks`."""
        place = normalize(path)
        for _ in range(_MOST_LINKS + 1):
            for above in (*directories_above(place), place):
                target = (self._store.get(FILE, above) or {}).get("target")
                if target:
                    place = normalize(f"{normalize(str(target), parent(above))}/{place[len(above) :]}")
                    break
            else:
                return place
            if len(place) > _LONGEST_PATH:
                break
        raise TooManyLinks(path)

    def list(self, path: str = ROOT) -> list[Entry]:
        """Return the content of a directory, sorted by name. Raises `NotFound` or `NotADirectory`."""
        place = self.directory(path).path
        rows = [row for table in (DIRECTORY, FILE) for row in self._store.find(table, "folder", place)]
        return sorted(map(_entry, rows), key=lambda entry: entry.path)

    def walk(self, path: str = ROOT, depth: int | None = None) -> Iterator[Entry]:
        """Yield everything below a directory, each directory before its content, down to `depth` levels."""
        for entry in self.list(path):
            yield entry
            if not entry.is_file and depth != 1:
                yield from self.walk(entry.path, None if depth is None else depth - 1)

    # changing

    def write(self, path: str, content: str, *, parents: bool = False) -> None:
        """Create or overwrite a file. With `parents`, the directories above it are made too.

        Raises `NotFound` without the directory, `IsADirectory` or `NotADirectory`.
        """
        place = normalize(path)
        if place == ROOT or self._store.get(DIRECTORY, place) is not None:
            raise IsADirectory(path)
        if parents:
            self.make(parent(place))
        self.directory(parent(place))
        self._put(FILE, place, content)

    def make(self, path: str, *, parents: bool = True) -> None:
        """Make a directory, unless there is one, and those above it. Raises `NotADirectory` where a file is.

        Without `parents` those above must exist (`NotFound`), and the directory must not (`AlreadyExists`).
        """
        place = normalize(path)
        if not parents:
            self.directory(parent(place))
            if self.exists(place):
                raise AlreadyExists(path)
        for directory in (*directories_above(place), *([] if place == ROOT else [place])):
            if self._is_file(directory):
                raise AlreadyExists(path) if directory == place else NotADirectory(path)
            if self._store.get(DIRECTORY, directory) is None:
                self._put(DIRECTORY, directory)

    def remove(self, path: str, *, recursive: bool = False) -> None:
        """Remove a file, or a directory. Raises `NotFound`, and `NotEmpty` unless `recursive` is set."""
        entry = self.entry(path)
        inside = [] if entry.is_file else [*self.walk(entry.path)]
        if inside and not recursive:
            raise NotEmpty(path)
        for gone in (*inside, *([] if entry.path == ROOT else [entry])):
            self._store.remove(FILE if gone.is_file else DIRECTORY, gone.path)

    def copy(self, source: str, destination: str) -> None:
        """Copy a file or directory to a path that is free. Raises `NotFound`, `AlreadyExists` or `IntoItself`."""
        entry, place = self.entry(source), normalize(destination)
        if self.exists(place):
            raise AlreadyExists(destination)
        if is_within(place, [entry.path]):
            raise IntoItself(destination)
        self.directory(parent(place))
        for old in [entry] if entry.is_file else [entry, *self.walk(entry.path)]:
            new = place + old.path[len(entry.path) :]
            self._put(FILE if old.is_file else DIRECTORY, new, old.content, like=old)

    def move(self, source: str, destination: str) -> None:
        """Move a file or directory to a path that is free. Raises what `copy` raises."""
        self.copy(source, destination)
        self.remove(source, recursive=True)

    def load(self, given: Json, root: str = ROOT) -> bool:
        """Create the files of a given state; relative paths are below `root`. Returns whether it has some.

        Files are texts by path, objects with a `path` and a `content`, or nested objects by name, under a name such as
        `files`, or alone. Times are read from `created_at` and `modified_at`.
        """
        files = read_given_files(given, root)
        for path, record in files.items():
            self.make(parent(path) if record is not None else path)
            if record is not None:
                times = {name: str(record[name]) for name in ("created_at", "modified_at") if record.get(name)}
                self._put(FILE, path, str(record["content"]), None, **times)
        return bool(files)

    def _is_file(self, path: str) -> bool:
        return self._store.get(FILE, path) is not None

    def _put(self, table: str, path: str, content: str | None = None, like: Entry | None = None, **times: str) -> None:
        now, before = self._store.time, self._store.get(table, path) or {}
        created = like.created if like is not None else before.get("created_at") or now
        modified = like.modified if like is not None else now
        record: Record = {"path": path, "folder": parent(path)} | ({} if content is None else {"content": content})
        kept = {name: value for name, value in (like.kept if like is not None else before).items() if name in _KEPT}
        if like is None:  # a text takes the place of a link, and of other bytes
            kept = {name: value for name, value in kept.items() if name == "mode"}
        self._store.put(table, path, {**record, "created_at": created, "modified_at": modified, **kept, **times})


def _entry(record: Record) -> Entry:
    content = record.get("content")
    created, modified = (str(record.get(name) or "") for name in ("created_at", "modified_at"))
    kept = {name: str(record[name]) for name in _KEPT if record.get(name)}
    return Entry(str(record["path"]), None if content is None else str(content), created, modified, kept)


# given states ---------------------------------------------------------------------------------------------------------


GivenFiles: TypeAlias = "dict[str, Record | None]"
"""Path -> the fields of the file there, with its `content`; None for a directory."""

_NAMES: dict[str, list[str]] = json.loads(get_data(__name__.rpartition(".")[0], "names.json") or b"{}")
_DEPTH = 4
"""How many levels of wrappers are searched; deeper objects are contents of a record."""


def read_given_files(state: Json, root: str = ROOT) -> GivenFiles:
    """Return the files and directories of a state by path. Relative paths are below the root that it names, or `root`.

    They are under a name such as `files`, inside any wrappers; a state that has none is looked at as files itself.
    """
    root = _text(state, _NAMES["roots"]) or next(iter(allowed_directories(state)), root)
    entries = next(_named(state, _DEPTH), None)
    if entries is None:
        # Keys that are not paths, or rows without one, are something else.
        rows = as_list(state)
        keys = [_text(row, _NAMES["path"]) for row in rows] if rows else [*as_object(state)]
        entries = [*_entries(state)] if bool(keys) and all("." in key or "/" in key for key in keys) else []
    placed = {
        path if is_within(path, [root]) else normalize(path.lstrip("/"), root): fields for path, fields in entries
    }
    return {path: fields for path, fields in placed.items() if path != ROOT}


def allowed_directories(state: Json) -> list[str]:
    """Return the directories that a state lets clients use; none if it does not say."""
    listed = as_list(as_object(state).get(next((name for name in _NAMES["allowed"] if name in as_object(state)), "")))
    return [normalize(path) for path in listed if isinstance(path, str)]


def _named(state: Json, depth: int) -> Iterator[list[tuple[str, Record | None]]]:
    """Yield the files under each known name; of wrappers, the outermost come first."""
    body = as_object(state)
    for name, value in body.items():
        if snake(name) in _NAMES["files"] and (entries := [*_entries(value, name)]):
            yield entries
    for value in body.values() if depth else ():
        yield from _named(value, depth - 1)


def _entries(value: Json, name: str = "", folder: str = "") -> Iterator[tuple[str, Record | None]]:
    """Yield the path and fields of each file and directory in a value."""
    rows = as_list(value)
    named: list[tuple[str, Json]] = [(_text(row, _NAMES["path"]) or str(row), row) for row in rows]
    for key, node in named or as_object(value).items():
        path, body = normalize(join(folder, key or "")), as_object(node)
        if not isinstance(node, dict):
            is_directory = key.endswith("/") or snake(name).startswith(("director", "folder"))
            yield path, None if is_directory else {"content": "" if named or node is None else as_text(node)}
        elif (content := _content(body)) is not None:
            times = {field: body[field] for field in ("created_at", "modified_at") if field in body}
            yield path, {"content": content, **times}
        else:
            yield path, None
            children = next(
                (body[child] for child in _NAMES["children"] if isinstance(body.get(child), dict | list)), None
            )
            yield from _entries(node if children is None and not _kind(body) else children, folder=path)


def _content(body: Record) -> str | None:
    """Return the content of a file; None for a directory."""
    if _kind(body).startswith(("dir", "folder")):
        return None
    text = next((body[name] for name in _NAMES["content"] if isinstance(body.get(name), str)), None)
    return "" if text is None and _kind(body) == "file" else text


def _kind(body: Record) -> str:
    kind = body.get("type", body.get("kind"))
    return kind.lower() if isinstance(kind, str) else ""


def _text(value: Json, names: Sequence[str]) -> str:
    body = as_object(value)
    return next((body[name] for name in names if isinstance(body.get(name), str)), "")
