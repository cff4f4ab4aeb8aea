"""What may an argument be, by its schema: of which types, and one of which values?"""

from __future__ import annotations

import re

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, constants, items, main_type, types_of

_LISTED = re.compile(r"\[Enum\]:?\s*(\[[^\]]*\]|[\w ,/|-]+)")
_ANYTHING = frozenset({"string", "number", "integer", "boolean", "object", "array", "numbers", "strings", "lists"})
_LISTS = {"number": "numbers", "integer": "numbers", "string": "strings", "object": "objects", "array": "lists"}


def kinds_of(schema: Record) -> frozenset[str]:
    """The JSON types that an argument may be of, and `numbers`, `strings`, `objects`, `lists` for what it lists.

    What a schema does not tell is possible: all of them.
    """
    types = set(types_of(schema)) - {"null"}
    for word in ("anyOf", "oneOf"):
        for branch in as_list(schema.get(word)):
            types |= kinds_of(branch) if branch != {"type": "null"} else set()
    if not types:
        return _ANYTHING
    if "array" in types:
        inner = main_type(items(schema))
        types |= {_LISTS[inner]} if inner in _LISTS else set(_LISTS.values())
    return frozenset(types)


def choices_of(schema: Record) -> list[Json]:
    """The values that an argument is said to have: by `enum`, or in the description, as some generators write it."""
    declared = [value for value in constants(schema) if value is not None]
    found = _LISTED.search(str(schema.get("description", "")))
    if declared or found is None:
        return declared
    return [part.strip(" '\"[].") for part in re.split(r"[,/|]", found[1]) if part.strip(" '\"[].")]
