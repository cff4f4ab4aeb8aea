"""How is an argument of a call read by its path?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from mcp_sim.types import Json, Record

Fetch: TypeAlias = Callable[[Mapping[str, Json]], Json]
ABSENT = object()


def argument(path: str) -> Fetch:
    """Reads an argument by its dotted path; ABSENT where it is not given."""
    if "." not in path:
        return lambda arguments: arguments.get(path, ABSENT)
    parts = path.split(".")

    def fetch(arguments: Mapping[str, Json]) -> Json:
        value: Json = arguments
        for part in parts:
            if not isinstance(value, dict) or part not in value:
                return ABSENT
            value = cast("Record", value)[part]
        return value

    return fetch
