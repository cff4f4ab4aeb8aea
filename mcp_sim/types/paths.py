"""What stands at a dotted path into a record, and what is the record with something else there?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from mcp_sim.types import Json, Record

NOWHERE = object()
"""What stands where nothing stands."""


def value_at(value: Json, path: str) -> Any:
    """The value at a path (`address.city`); '' is the whole, NOWHERE where there is none."""
    for part in path.split(".") if path else ():
        if not isinstance(value, dict) or part not in value:
            return NOWHERE
        value = cast("Record", value)[part]
    return value


def values_at(value: Json, parts: Sequence[str]) -> Iterator[Json]:
    """The values at a path of which a part may be `*`: every element of a list, every value of an object."""
    if not parts:
        yield value
    elif parts[0] == "*":
        held = cast("Record | list[Json]", value) if isinstance(value, dict | list) else []
        for one in held.values() if isinstance(held, dict) else held:
            yield from values_at(one, parts[1:])
    elif isinstance(value, dict) and parts[0] in value:
        yield from values_at(cast("Record", value)[parts[0]], parts[1:])


def nest_paths(said: Record, record: Record) -> Record:
    """Values by path as values by field: `address.city` as the record's `address` with another city."""
    found = {path: value for path, value in said.items() if "." not in path or path in record}
    for path in said.keys() - found.keys():
        field = path.partition(".")[0]
        held = {field: found.get(field, record.get(field))}
        found[field] = with_value(held, path.split("."), said[path])[field]
    return found


def with_value(record: Record, parts: Sequence[str], value: Json) -> Record:
    """The record with another value at a path; objects on the way to it are made where there are none."""
    first, *rest = parts
    if not rest:
        return {**record, first: value}
    inner: Json = record.get(first)
    return {**record, first: with_value(cast("Record", inner) if isinstance(inner, dict) else {}, rest, value)}
