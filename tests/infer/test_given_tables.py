"""Tables in a given state: lists under the keys of another table, and very many rows."""

from __future__ import annotations

from pathlib import Path

from support.given import NUMBER, Json, refused, service, tool, value

PIER: Json = {
    "boats": {"B1": {"name": "Ada"}, "B2": {"name": "Bo"}},
    "berths": {
        "B1": [{"berth_id": "b-1", "start": "2030-05-01 09:00", "available": True},
               {"berth_id": "b-2", "start": "2030-05-02 09:00", "available": False},
               {"berth_id": "b-3", "start": "2030-05-02 10:00", "available": True}],
        "B2": [],
    },
    "fees": {"B1": [{"reason": "mooring", "amount": 12}], "B2": []},
}  # fmt: skip


async def test_lists_under_the_keys_of_a_table_belong_to_its_records(tmp_path: Path) -> None:
    tools = tool("get_fees", "boat_id"), tool("get_boat", "boat_id"), tool("list_boats")
    async with service(tmp_path, PIER, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_fees", {"boat_id": "B1"})) == [{"reason": "mooring", "amount": 12}]
        assert value(await world.call("get_fees", {"boat_id": "B2"})) == []
        assert refused(await world.call("get_fees", {"boat_id": "B9"}))
        assert value(await world.call("get_boat", {"boat_id": "B1"})) == {"boat_id": "B1", "name": "Ada"}
        assert [sorted(row) for row in value(await world.call("list_boats", {}))] == [["boat_id", "name"]] * 2


async def test_a_date_filters_by_the_day_of_a_time(tmp_path: Path) -> None:
    tools = tool("get_berths", "boat_id", date={"type": "string"}), tool("list_boats")
    async with service(tmp_path, PIER, *tools) as simulator, simulator.open("w") as world:
        day = value(await world.call("get_berths", {"boat_id": "B1", "date": "2030-05-02"}))
        assert [one["berth_id"] for one in day] == ["b-2", "b-3"]


async def test_nested_rows_without_ids_are_added_as_given(tmp_path: Path) -> None:
    tools = tool("add_fee", "boat_id", "reason", "amount", amount=NUMBER), tool("get_fees", "boat_id")
    async with service(tmp_path, PIER, *tools) as simulator, simulator.open("w") as world:
        await world.call("add_fee", {"boat_id": "B2", "reason": "water", "amount": 3})
        await world.call("add_fee", {"boat_id": "B2", "reason": "water", "amount": 3})
        fees = value(await world.call("get_fees", {"boat_id": "B2"}))
        assert fees == [{"reason": "water", "amount": 3}] * 2
        assert refused(await world.call("add_fee", {"boat_id": "B7", "reason": "water", "amount": 3}))


async def test_one_key_among_many_does_not_make_a_table_a_scope(tmp_path: Path) -> None:
    labels: Json = {f"L{number}": {"colour": "red", "size": number} for number in range(900)}
    labels["plants"] = {"colour": "green", "size": 1}
    tools = tool("get_label", "label_id"), tool("get_plant", "plant_id"), tool("create_plant", "colour")
    async with service(tmp_path, {"labels": labels}, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_label", {"label_id": "L7"}))["size"] == 7
        assert value(await world.call("get_label", {"label_id": "plants"}))["colour"] == "green"
