"""Records inside lists of other records: added, updated, removed, and read in place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.services import message, service, value

Json = Any
TEXT, COUNT = {"type": "string"}, {"type": "integer"}


def tool(name: str, *needed: str, output: Json = None, **more: Json) -> Json:
    schema = {"type": "object", "properties": dict.fromkeys(needed, TEXT) | more, "required": [*needed]}
    return {"name": name, "inputSchema": schema} | ({"outputSchema": output} if output else {})


def spec(*tools: Json) -> str:
    return f"tools: {json.dumps([*tools])}"


SHOP = {
    "orders": {
        "O1": {"id": "O1", "lines": [{"line_id": "L7", "name": "Bell", "count": 2}], "tags": []},
        "O2": {"id": "O2", "lines": [{"line_id": "L8", "name": "Lamp", "count": 1}], "tags": []},
    }
}


async def test_a_record_inside_another_is_added_updated_listed_and_removed(tmp_path: Path) -> None:
    desk = spec(
        tool("get_order", "order_id"),
        tool("add_line", "order_id", "name", count=COUNT),
        tool("update_line", "line_id", count=COUNT),
        tool("remove_line", "line_id"),
        tool("list_lines", "order_id"),
        tool("get_line", "line_id"),
    )
    async with service(tmp_path, desk, f"state: {json.dumps(SHOP)}") as sim, sim.open() as world:
        made = value(await world.call("add_line", {"order_id": "O1", "name": "Horn", "count": 3}))
        assert made == {"line_id": "L9", "name": "Horn", "count": 3}
        first = SHOP["orders"]["O1"]["lines"][0]
        assert value(await world.call("get_order", {"order_id": "O1"}))["lines"] == [first, made]
        value(await world.call("update_line", {"line_id": "L9", "count": 1}))
        assert value(await world.call("get_line", {"line_id": "L9"})) == {**made, "count": 1}
        value(await world.call("remove_line", {"line_id": "L7"}))
        rows = value(await world.call("list_lines", {"order_id": "O1"}))["lines"]
        assert [row["line_id"] for row in rows] == ["L9"]
        assert not (await world.call("remove_line", {"line_id": "L7"})).ok
        assert "O3" in message(await world.call("add_line", {"order_id": "O3", "name": "Horn"}))
        assert len(value(await world.call("get_order", {"order_id": "O2"}))["lines"]) == 1


async def test_the_next_record_inside_another_is_its_first_one(tmp_path: Path) -> None:
    desk = spec(tool("get_order", "order_id"), tool("get_next_line", "order_id"), tool("remove_line", "line_id"))
    async with service(tmp_path, desk, f"state: {json.dumps(SHOP)}") as sim, sim.open() as world:
        assert value(await world.call("get_next_line", {"order_id": "O2"}))["name"] == "Lamp"
        assert "O3" in message(await world.call("get_next_line", {"order_id": "O3"}))
        value(await world.call("remove_line", {"line_id": "L8"}))
        assert not (await world.call("get_next_line", {"order_id": "O2"})).ok
