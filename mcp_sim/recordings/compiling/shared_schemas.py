"""Parts that several JSON Schemas of a server have in common, so that a prompt shows each of them once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from mcp_sim.types import Json, Record

_LEAST = 200
"""The length from which a part is worth a name, in characters of JSON."""
_OFTEN = 2  # a name saves space from the second use on


def shared_parts(schemas: Iterable[Json]) -> dict[str, str]:
    """Return the objects that occur at least twice in some schemas, as JSON, and names for them: the largest ones.

    Parts of these that occur nowhere else get no name.
    """
    counts = Counter(text for schema in schemas for text in _objects(schema))
    often = sorted((text for text, count in counts.items() if count >= _OFTEN), key=len, reverse=True)
    kept: dict[str, int] = {}
    for text in often:
        within = sum(count * other.count(text) for other, count in kept.items())
        if counts[text] - within >= _OFTEN or not within:
            kept[text] = counts[text]
    return {text: f"part-{number}" for number, text in enumerate(kept, 1)}


def with_references(schema: Json, names: Mapping[str, str], *, is_part: bool = False) -> Json:
    """Return a schema with `{"$ref": NAME}` instead of shared parts. `is_part`: it is itself one of them."""
    if isinstance(schema, list):
        return [with_references(subschema, names) for subschema in cast("list[Json]", schema)]
    if not isinstance(schema, dict):
        return schema
    name = None if is_part else names.get(_text(schema))
    if name is not None:
        return {"$ref": name}
    return {key: with_references(subschema, names) for key, subschema in cast("Record", schema).items()}


def _objects(value: Json) -> Iterator[str]:
    if isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from _objects(item)
    elif isinstance(value, dict):
        text = _text(value)
        if len(text) >= _LEAST:
            yield text
            for item in cast("Record", value).values():
                yield from _objects(item)


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
