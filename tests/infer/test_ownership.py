"""Owners of records: lists of ids, and tools that name the owner."""

from __future__ import annotations

from pathlib import Path

from support.given import INTEGER, STRING, Json, refused, service, tool, value

KENNEL: Json = {
    "owners": [
        {"owner_id": "o1", "name": "Ada", "dog_ids": ["d1"]},
        {"owner_id": "o2", "name": "Bo", "dog_ids": ["d2"]},
    ],
    "dogs": [
        {"dog_id": "d1", "name": "Rex", "status": "boarded"},
        {"dog_id": "d2", "name": "Fly", "status": "boarded"},
    ],
}


async def test_a_new_record_is_added_to_the_list_of_its_owner(tmp_path: Path) -> None:
    tools = tool("add_dog", "owner_id", "name"), tool("get_owner", "owner_id"), tool("delete_dog", "dog_id")
    async with service(tmp_path, KENNEL, *tools) as simulator, simulator.open("w") as world:
        made = value(await world.call("add_dog", {"owner_id": "o1", "name": "Toto"}))
        assert "owner_id" not in made
        assert value(await world.call("get_owner", {"owner_id": "o1"}))["dog_ids"] == ["d1", made["dog_id"]]
        assert refused(await world.call("add_dog", {"owner_id": "o9", "name": "Lost"}))
        await world.call("delete_dog", {"dog_id": "d1"})
        assert value(await world.call("get_owner", {"owner_id": "o1"}))["dog_ids"] == [made["dog_id"]]


async def test_a_record_of_another_owner_is_not_found(tmp_path: Path) -> None:
    tools = tool("release_dog", "owner_id", "dog_id"), tool("get_dog", "owner_id", "dog_id")
    async with service(tmp_path, KENNEL, *tools) as simulator, simulator.open("w") as world:
        assert refused(await world.call("release_dog", {"owner_id": "o2", "dog_id": "d1"}))
        assert refused(await world.call("get_dog", {"owner_id": "o9", "dog_id": "d1"}))
        assert value(await world.call("get_dog", {"owner_id": "o1", "dog_id": "d1"}))["name"] == "Rex"


async def test_an_owner_argument_is_checked_and_not_written(tmp_path: Path) -> None:
    state = {
        "members": [{"member_id": "m1", "name": "Ada"}, {"member_id": "m2", "name": "Bo"}],
        "loans": [{"loan_id": "l1", "member_id": "m1", "status": "active"}],
    }
    whose: Json = {**STRING, "description": "The member who owns the loan"}
    tools = tool("close_loan", "loan_id", member_id=whose), tool("update_loan", "loan_id", member_id=STRING)
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert refused(await world.call("close_loan", {"loan_id": "l1", "member_id": "m2"}))
        assert value(await world.call("update_loan", {"loan_id": "l1", "member_id": "m2"}))["member_id"] == "m2"
        assert value(await world.call("close_loan", {"loan_id": "l1", "member_id": "m2"}))["status"] == "closed"


async def test_a_field_of_mixed_types_is_no_link(tmp_path: Path) -> None:
    odd = [{"owner_id": "o3", "name": "Cy", "dog_ids": 7}, {"owner_id": "o4", "name": "Di", "dog_ids": "d1"}]
    kennel: Json = {**KENNEL, "owners": [*KENNEL["owners"], *odd], "_": {"*": {}}, "-": [{"": 1}]}
    tools = tool("delete_dog", "dog_id"), tool("get_owner", "owner_id")
    async with service(tmp_path, kennel, *tools) as simulator, simulator.open("w") as world:
        value(await world.call("delete_dog", {"dog_id": "d2"}))
        assert value(await world.call("get_owner", {"owner_id": "o4"}))["dog_ids"] == "d1"


async def test_records_that_belong_to_each_other_in_a_ring_are_deleted_together(tmp_path: Path) -> None:
    ring = [{"folder_id": at, "name": f"F{at}", "parent_folder_id": at % 3 + 1} for at in (1, 2, 3)]
    state = {"folders": [*ring, {"folder_id": 4, "name": "F4", "parent_folder_id": 4}]}
    gone = tool("delete_folder", "folder_id", about="Delete a folder and all its folders", folder_id=INTEGER)
    async with service(tmp_path, state, gone, tool("list_folders")) as simulator, simulator.open("w") as world:
        value(await world.call("delete_folder", {"folder_id": 1}))
        assert [one["folder_id"] for one in value(await world.call("list_folders", {}))] == [4]
