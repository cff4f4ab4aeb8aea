"""Given states of very many records: the first of them tell what they are."""

from __future__ import annotations

from pathlib import Path

from support.given import Json, service, tool, value

from mcp_sim.backends.matching.scopes import scopes


def test_of_the_rows_of_a_large_table_few_are_looked_at_as_parts_of_the_state() -> None:
    rows = {f"P{number}": {"colour": "red"} for number in range(5_000)}
    assert len([*scopes({"plants": rows, "garden": {"open": True}})]) < 500
    assert ("garden",) in [scope.path for scope in scopes({"plants": rows, "garden": {"open": True}})]


async def test_one_key_among_very_many_does_not_make_a_table_a_part_of_the_state(tmp_path: Path) -> None:
    labels: Json = {f"L{number}": {"colour": "red", "size": number} for number in range(900)}
    labels["plants"] = {"colour": "green", "size": 1}
    tools = tool("get_label", "label_id"), tool("get_plant", "plant_id"), tool("create_plant", "colour")
    async with service(tmp_path, {"labels": labels}, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_label", {"label_id": "L7"}))["size"] == 7
        assert value(await world.call("get_label", {"label_id": "plants"}))["colour"] == "green"
