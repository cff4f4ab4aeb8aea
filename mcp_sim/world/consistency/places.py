"""What stands at a dotted path of a value?"""

from __future__ import annotations

from typing import Any, cast

from mcp_sim.types import Json, Record

NOWHERE = object()


def at(value: Json, path: str) -> Any:
    """The value at a dotted path; '' is the whole, NOWHERE where there is none."""
    for part in path.split(".") if path else ():
        if not isinstance(value, dict) or part not in value:
            return NOWHERE
        value = cast("Record", value)[part]
    return value
