"""Places of paging in results that are declared in several forms."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.matched_tools import Json, answered, simulator, tool

TEXT: Json = {"type": "string"}
PAGE: Json = {
    "type": "object",
    "properties": {"orders": {"type": "array", "items": {"type": "object"}}, "next_cursor": TEXT},
    "required": ["orders"],
    "additionalProperties": False,
}
FAILURE: Json = {"type": "object", "properties": {"error": TEXT}, "required": ["error"], "additionalProperties": False}


@pytest.mark.parametrize("output", [PAGE, {"type": "object", "oneOf": [PAGE, FAILURE]}])
async def test_a_cursor_that_leads_nowhere_is_left_out_where_null_is_invalid(tmp_path: Path, output: Json) -> None:
    listing = tool("list_orders", "", output, needed="", cursor=TEXT, limit={"type": "integer"})
    async with simulator(tmp_path, [listing], {"orders": [{"id": 1}, {"id": 2}]}) as sim, sim.open() as world:
        assert await answered(world, "list_orders") == {"orders": [{"id": 1}, {"id": 2}]}
        first = await answered(world, "list_orders", limit=1)
        assert await answered(world, "list_orders", limit=1, cursor=first["next_cursor"]) == {"orders": [{"id": 2}]}
