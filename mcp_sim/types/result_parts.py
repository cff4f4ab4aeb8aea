"""Parts of results, addressed by paths."""

from __future__ import annotations

from typing import Any, Final, TypeAlias, cast

from mcp_sim.types.json_values import Json, Record

Path: TypeAlias = tuple[str | int, ...]

READS: Final = ("get", "list", "search")
"""The verbs whose results show records without a change."""

MISSING: Any = object()
"""Returned if there is no such part."""


def get_part(value: Json, path: Path) -> Any:
    """Return the part of a value at a path, `MISSING` if it is missing."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str) and step in value:
            value = cast("Record", value)[step]
        elif isinstance(value, list) and isinstance(step, int) and step < len(cast("list[Json]", value)):
            value = cast("list[Json]", value)[step]
        else:
            return MISSING
    return value


def replace_part(value: Json, path: Path, new: Json) -> Json:
    """Return the value with another part at a path. The parent of the path must exist."""
    if not path:
        return new
    step, *rest = path
    if isinstance(value, list) and isinstance(step, int):
        items = list(cast("list[Json]", value))
        items[step] = replace_part(items[step], tuple(rest), new)
        return items
    body = cast("Record", value)
    return {**body, cast("str", step): replace_part(body.get(cast("str", step)), tuple(rest), new)}


def without_part(value: Json, path: Path) -> Json:
    """Return the value without the part at a path, and unchanged if there is no such part."""
    if not path or get_part(value, path) is MISSING:
        return value
    *parents, last = path
    parent: Json = get_part(value, tuple(parents))
    kept: Json = (
        [item for at, item in enumerate(cast("list[Json]", parent)) if at != last]
        if isinstance(parent, list)
        else {name: inner for name, inner in cast("Record", parent).items() if name != last}
    )
    return replace_part(value, tuple(parents), kept)


def replace_shown(value: Json, path: str | None, new: Json) -> Json:
    """Return the value with another total, cursor and so on, if it has one at this dotted path."""
    where = None if path is None else split_path(path)
    return value if where is None or get_part(value, where) is MISSING else replace_part(value, where, new)


def split_path(path: str) -> Path:
    """Return the path of a dotted text; the empty text is the whole result."""
    return tuple(path.split(".")) if path else ()
