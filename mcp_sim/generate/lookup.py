"""Find the record that a value identifies."""

from __future__ import annotations

from mcp_sim.infer.keys import to_integer
from mcp_sim.types import Json, Key, View


def find_key(view: View, entity: str, value: Json) -> Key | None:
    """Return the key of the record that a value identifies, None if there is none. 7 and "7" are the same key."""
    value = to_integer(value)
    if not isinstance(value, str | int) or isinstance(value, bool):
        return None
    if view.get(entity, value) is not None:
        return value
    other: Key | None = str(value) if isinstance(value, int) else int(value) if value.isdecimal() else None
    return other if other is not None and view.get(entity, other) is not None else None
