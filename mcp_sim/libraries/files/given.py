"""Files of a given state: texts or objects by path, lists of files, or nested objects by name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pkgutil import get_data
from typing import TypeAlias

from mcp_sim.libraries.files.paths import ROOT, is_within, join, normalize
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import snake

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
        entries = [*_entries(state)] if _looks_like_files(state) else []
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
            yield path, None if is_directory else {"content": "" if named or node is None else _plain(node)}
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


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else encode(value).decode()


def _looks_like_files(state: Json) -> bool:
    """Return whether all keys of a state are paths, or all of its rows have one."""
    rows = as_list(state)
    keys = [_text(row, _NAMES["path"]) for row in rows] if rows else [*as_object(state)]
    return bool(keys) and all("." in key or "/" in key for key in keys)
