"""Which files does a value hold, in whatever form: nested objects, texts by path, lists of files?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, cast

from mcp_sim.backends.files.paths import joined
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_text import encode
from mcp_sim.types.lexicon.words import snake, vocabulary

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
