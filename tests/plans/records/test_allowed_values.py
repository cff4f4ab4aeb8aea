"""Values that the input schema allows and no result could show are refused, and nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, refused, simulator, tool

Json = Any
TICKET: Json = {
    "type": "object",
    "properties": {
        "id": TEXT,
        "title": {"type": "string", "maxLength": 20},
        "priority": {"type": "string", "enum": ["low", "high"]},
        "effort": {"type": "integer"},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
    },
    "required": ["id", "title", "priority", "effort", "tags"],
}
GIVEN: Json = {
    "title": TEXT,
    "priority": TEXT,
    "effort": {"type": "number"},
    "tags": {"type": "array", "items": {}},
}
TOOLS = [
    tool("create_ticket", needed="title", **GIVEN),
    tool("update_ticket", needed="ticket_id", ticket_id=TEXT, **GIVEN, output=TICKET),
    tool("get_ticket", ticket_id=TEXT, output=TICKET),
]
TOO_MUCH: Json = [
    ({"priority": "urgent"}, "Invalid priority: 'urgent' is not one of ['low', 'high']"),
    ({"title": "x" * 21}, "Invalid title: '" + "x" * 21 + "' is too long"),
    ({"effort": 1.5}, "Invalid effort: 1.5 is not of type 'integer'"),
    ({"tags": ["a", "c"]}, "Invalid tags: [1]: 'c' is not one of ['a', 'b']"),
    ({"tags": ["a", 5]}, "Invalid tags: [1]: 5 is not of type 'string'"),
    ({"tags": [{"a": 1}]}, "Invalid tags: [0]: {'a': 1} is not of type 'string'"),
    ({"tags": [None]}, "Invalid tags: [0]: None is not of type 'string'"),
]


@pytest.mark.parametrize(("arguments", "reason"), TOO_MUCH)
async def test_a_write_of_a_value_that_no_result_allows_is_refused(
    tmp_path: Path, arguments: Json, reason: str
) -> None:
    async with simulator(tmp_path, TOOLS, world={"records": {"ticket": 2}}).open() as world:
        assert await refused(world, "create_ticket", **{"title": "one", **arguments}) == reason
        before = await answered(world, "get_ticket", ticket_id="ticket_00001")
        assert await refused(world, "update_ticket", ticket_id="ticket_00001", **arguments) == reason
        assert await answered(world, "get_ticket", ticket_id="ticket_00001") == before
        assert world.view.count("ticket") == 2
        changed = await answered(world, "update_ticket", ticket_id="ticket_00001", priority="low", effort=3, tags=["b"])
        assert (changed["priority"], changed["effort"], changed["tags"]) == ("low", 3, ["b"])
