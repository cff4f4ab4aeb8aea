"""Tables in a given state: dates of rows, and very many rows."""

from __future__ import annotations

from pathlib import Path

from support.given import Json, service, tool, value


async def test_one_key_among_many_does_not_make_a_table_a_scope(tmp_path: Path) -> None:
    labels: Json = {f"L{number}": {"colour": "red", "size": number} for number in range(900)}
    labels["plants"] = {"colour": "green", "size": 1}
    tools = tool("get_label", "label_id"), tool("get_plant", "plant_id"), tool("create_plant", "colour")
    async with service(tmp_path, {"labels": labels}, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_label", {"label_id": "L7"}))["size"] == 7
        assert value(await world.call("get_label", {"label_id": "plants"}))["colour"] == "green"
