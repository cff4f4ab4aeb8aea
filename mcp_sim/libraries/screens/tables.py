"""Tables of elements, their roles and attributes, read from `tables.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pkgutil import get_data
from typing import Any


@cache
def _tables() -> Mapping[str, Any]:
    return json.loads(get_data("mcp_sim.libraries.screens", "tables.json") or b"")


def name_set(table: str) -> frozenset[str]:
    """Return the names in a table."""
    return frozenset(_tables()[table])


def name_map(table: str) -> Mapping[str, str]:
    """Return a table that maps names to names."""
    return _tables()[table]


def name_lists(table: str) -> Mapping[str, tuple[str, ...]]:
    """Return a table that maps names to several names, in their order."""
    return {name: tuple(values) for name, values in _tables()[table].items()}
