"""Which record does a value name?"""

from __future__ import annotations

from mcp_sim.infer.ids import whole
from mcp_sim.types import Json, Key, View


def found_key(view: View, entity: str, value: Json) -> Key | None:
    """The key of the record that a value names, also where one side writes a number as a text; else None."""
    value = whole(value)
    if not isinstance(value, str | int) or isinstance(value, bool):
        return None
    if view.get(entity, value) is not None:
        return value
    other: Key | None = str(value) if isinstance(value, int) else int(value) if value.isdecimal() else None
    return other if other is not None and view.get(entity, other) is not None else None
