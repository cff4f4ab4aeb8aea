"""Lists that a given state keeps under the keys of another table: read, narrowed, added to and taken from."""

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
    "crew": {"B1": ["Cy"], "B2": []},
}  # fmt: skip


async def test_lists_under_the_keys_of_a_table_are_those_of_its_records(tmp_path: Path) -> None:
    tools = tool("get_fees", "boat_id"), tool("get_boat", "boat_id"), tool("list_boats")
    async with service(tmp_path, PIER, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_fees", {"boat_id": "B1"})) == [{"reason": "mooring", "amount": 12}]
        assert value(await world.call("get_fees", {"boat_id": "B2"})) == []
        assert refused(await world.call("get_fees", {"boat_id": "B9"}))
        assert value(await world.call("get_boat", {"boat_id": "B1"})) == {"boat_id": "B1", "name": "Ada"}
        assert [sorted(row) for row in value(await world.call("list_boats", {}))] == [["boat_id", "name"]] * 2


async def test_what_a_tool_lists_is_available_where_its_name_says_so_and_of_the_day_that_is_asked_for(
    tmp_path: Path,
) -> None:
    tools = tool("get_available_berths", "boat_id", date={"type": "string"}), tool("list_boats")
    async with service(tmp_path, PIER, *tools) as simulator, simulator.open("w") as world:
        free = value(await world.call("get_available_berths", {"boat_id": "B1"}))
        assert [one["berth_id"] for one in free] == ["b-1", "b-3"]
        day = value(await world.call("get_available_berths", {"boat_id": "B1", "date": "2030-05-02"}))
        assert [one["berth_id"] for one in day] == ["b-3"]


async def test_parts_that_nothing_names_are_put_in_as_they_are(tmp_path: Path) -> None:
    tools = tool("add_fee", "boat_id", "reason", "amount", amount=NUMBER), tool("get_fees", "boat_id")
    async with service(tmp_path, PIER, *tools) as simulator, simulator.open("w") as world:
        await world.call("add_fee", {"boat_id": "B2", "reason": "water", "amount": 3})
        await world.call("add_fee", {"boat_id": "B2", "reason": "water", "amount": 3})
        fees = value(await world.call("get_fees", {"boat_id": "B2"}))
        assert fees == [{"reason": "water", "amount": 3}] * 2
        assert refused(await world.call("add_fee", {"boat_id": "B7", "reason": "water", "amount": 3}))


async def test_who_joins_a_list_must_not_be_there_and_who_leaves_it_must(tmp_path: Path) -> None:
    tools = (
        tool("join_crew", "boat_id", "sailor"), tool("leave_crew", "boat_id", "sailor"),
        tool("get_crew", "boat_id"),
    )  # fmt: skip
    async with service(tmp_path, PIER, *tools) as simulator, simulator.open("w") as world:
        joined = value(await world.call("join_crew", {"boat_id": "B1", "sailor": "Di"}))
        assert joined == {"boat_id": "B1", "crew": ["Cy", "Di"]}
        assert refused(await world.call("join_crew", {"boat_id": "B1", "sailor": "Di"}))
        await world.call("leave_crew", {"boat_id": "B1", "sailor": "Cy"})
        assert refused(await world.call("leave_crew", {"boat_id": "B1", "sailor": "Cy"}))
        assert value(await world.call("get_crew", {"boat_id": "B1"})) == ["Di"]
