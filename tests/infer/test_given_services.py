"""Services with given records whose tools are named inconsistently."""

from __future__ import annotations

from pathlib import Path

from support.given import INTEGER, STRING, Json, refused, service, tool, value

BOATS: Json = {
    "boats": {
        "HULL1": {"hull_code": "HULL1", "name": "Ada", "berth": "A1", "length": 9, "motor_on": False, "on": False},
        "HULL2": {"hull_code": "HULL2", "name": "Bo", "berth": "B4", "length": 12, "motor_on": False, "on": True},
    }
}


async def test_lists_of_given_records_are_bare_unless_paged(tmp_path: Path) -> None:
    tools = tool("list_boats"), tool("browse_boats", offset=INTEGER)
    async with service(tmp_path, BOATS, *tools) as simulator, simulator.open("w") as world:
        rows = value(await world.call("list_boats", {}))
        assert [row["name"] for row in rows] == ["Ada", "Bo"]
        assert value(await world.call("browse_boats", {}))["boats"] == rows


async def test_a_write_to_given_records_returns_the_record(tmp_path: Path) -> None:
    tools = tool("update_boat", "hull_code", about="Change a boat.", berth=STRING), tool("list_boats")
    async with service(tmp_path, BOATS, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("update_boat", {"hull_code": "HULL1", "berth": "C2"}))["berth"] == "C2"


async def test_verbs_of_two_words_set_flags_and_states(tmp_path: Path) -> None:
    stays = [{"stay_id": 1, "boat": "HULL1", "status": "booked"}, {"stay_id": 2, "status": "checkedIn"}]
    state = {**BOATS, "stays": stays}
    tools = tool("turn_off_boat", "hull_code"), tool("checkIn", "stayId", stayId=INTEGER), tool("get_stay", "stay_id")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("turn_off_boat", {"hull_code": "HULL2"}))["on"] is False
        assert value(await world.call("checkIn", {"stayId": 1}))["status"] == "checkedIn"
        assert refused(await world.call("checkIn", {"stayId": 1}))


async def test_a_new_record_starts_with_the_empty_values_of_given_records(tmp_path: Path) -> None:
    jobs = [
        {"job_id": 1, "hull_code": "HULL1", "work": "Paint", "fitter": None, "hours": 7.5, "visits": 3, "urgent": True},
        {"job_id": 2, "hull_code": "HULL1", "work": "Sail", "fitter": "Cy", "hours": 0.0, "visits": 0, "urgent": True},
    ]
    tools = tool("create_job", "hull_code", "work"), tool("list_jobs", "hull_code")
    async with service(tmp_path, {**BOATS, "jobs": jobs}, *tools) as simulator, simulator.open("w") as world:
        await world.call("create_job", {"hull_code": "HULL2", "work": "Mast"})
        (made,) = value(await world.call("list_jobs", {"hull_code": "HULL2"}))
        assert made == {
            "job_id": 3, "hull_code": "HULL2", "work": "Mast", "fitter": None, "hours": 0.0, "visits": 0,
            "urgent": True,
        }  # fmt: skip


async def test_a_required_filter_must_name_an_existing_record(tmp_path: Path) -> None:
    state = {**BOATS, "jobs": [{"job_id": 1, "boat_id": "HULL1", "work": "Paint"}]}
    tools = tool("list_jobs", "boat_id"), tool("search_jobs", boat_id=STRING), tool("get_boat", "boat_id")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("list_jobs", {"boat_id": "HULL2"})) == []
        assert refused(await world.call("list_jobs", {"boat_id": "HULL7"}))
        assert value(await world.call("search_jobs", {"boat_id": "HULL7"})) == []


async def test_an_outer_key_gets_the_name_that_tools_use(tmp_path: Path) -> None:
    state = {"bays": {"north": {"depth": 4, "theme": "Sand"}, "south": {"depth": 9, "theme": "Rock"}}}
    tools = (
        tool("list_bays"),
        tool("create_bay", "name", theme=STRING),
        tool("get_bay", "name"),
    )
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("list_bays", {}))[0] == {"name": "north", "depth": 4, "theme": "Sand"}
        assert refused(await world.call("create_bay", {"name": "north"}))
        await world.call("create_bay", {"name": "west", "theme": "Reed"})
        assert value(await world.call("get_bay", {"name": "west"}))["theme"] == "Reed"


async def test_lists_show_the_ids_that_tools_take(tmp_path: Path) -> None:
    state = {"keepers": {"K1": {"name": "Ada"}, "K2": {"name": "Bo"}}}
    tools = tool("list_keepers"), tool("get_keeper", "keeper_id"), tool("create_keeper", "name")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("create_keeper", {"name": "Cy"})
        rows = value(await world.call("list_keepers", {}))
        assert [row["keeper_id"] for row in rows] == ["K1", "K2", "K3"]
        assert value(await world.call("get_keeper", {"keeper_id": "K3"})) == {"keeper_id": "K3", "name": "Cy"}


async def test_a_field_named_after_an_entity_with_its_keys_is_a_link(tmp_path: Path) -> None:
    works = [{"work_id": 1, "boat_ref": "HULL1", "quay": "Q1", "fitter": "Cy"}]
    state = {**BOATS, "works": works, "quays": [{"id": "Q1"}, {"id": "Q2"}], "fitters": [{"name": "Cy"}]}
    tools = tool("create_work", "boat_ref", quay=STRING, fitter=STRING), tool("list_works"), tool("list_quays")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert refused(await world.call("create_work", {"boat_ref": "HULL9"}))
        assert refused(await world.call("create_work", {"boat_ref": "HULL2", "quay": "Q7"}))
        value(await world.call("create_work", {"boat_ref": "HULL2", "quay": "Q2", "fitter": "Di"}))
        assert len(value(await world.call("list_works", {}))) == 2


async def test_a_field_of_mixed_types_is_no_link(tmp_path: Path) -> None:
    owners: Json = [
        {"owner_id": "o1", "dog_ids": ["d1"]},
        {"owner_id": "o2", "dog_ids": 7},
        {"owner_id": "o3", "dog_ids": "d1"},
    ]
    kennel: Json = {"owners": owners, "dogs": [{"dog_id": "d1", "name": "Rex"}], "_": {"*": {}}, "-": [{"": 1}]}
    tools = tool("list_dogs"), tool("get_owner", "owner_id")
    async with service(tmp_path, kennel, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_owner", {"owner_id": "o3"}))["dog_ids"] == "d1"


async def test_a_numeric_text_is_stored_as_a_number_in_a_number_field(tmp_path: Path) -> None:
    ovens = [{"oven_id": "O1", "room": "Bakery", "degrees": 180}, {"oven_id": "O2", "room": "Cellar", "degrees": 90.5}]
    tools = tool("get_oven", "oven_id"), tool("set_oven_degrees", "oven_id", "degrees")
    async with service(tmp_path, {"ovens": ovens}, *tools) as simulator, simulator.open("w") as world:
        await world.call("set_oven_degrees", {"oven_id": "O2", "degrees": "75"})
        assert value(await world.call("get_oven", {"oven_id": "O2"}))["degrees"] == 75
        await world.call("set_oven_degrees", {"oven_id": "O2", "degrees": "warm"})
        assert value(await world.call("get_oven", {"oven_id": "O2"}))["degrees"] == "warm"


async def test_a_state_that_given_rows_hold_comes_from_the_state(tmp_path: Path) -> None:
    state = {"stays": [{"stay_id": 1, "status": "Open"}, {"stay_id": 2, "status": "Closed"}]}
    async with service(tmp_path, state, tool("close_stay", "stay_id"), tool("list_stays")) as simulator:
        plan = simulator.scenario.domain.plans["close_stay"]
        assert (plan.fixed, plan.basis["fixed"].source, plan.basis["verb"].source) == (
            {"status": "Closed"}, "state", "inferred",
        )  # fmt: skip


async def test_a_tool_whose_arguments_are_fields_of_the_only_object_changes_it(tmp_path: Path) -> None:
    oven: Json = {"oven": {"degrees": 20, "door": "shut", "lamp": "off"}}
    shown: Json = {"type": "object", "properties": {"degrees": INTEGER, "lamp": STRING}}
    tools = tool("set_heat", "degrees", degrees=INTEGER), {**tool("start_baking", "program"), "outputSchema": shown}
    async with service(tmp_path, oven, *tools, tool("get_oven")) as simulator, simulator.open("w") as world:
        await world.call("set_heat", {"degrees": 180})
        assert value(await world.call("get_oven", {}))["degrees"] == 180
        assert value(await world.call("start_baking", {"program": "bread"})) == {"degrees": 180, "lamp": "off"}


async def test_a_verb_may_create_records_under_another_name(tmp_path: Path) -> None:
    rows: Json = [{"reservation_id": "R1", "guest": "Ada", "day": "2031-01-05", "paid": True}]
    tools = tool("book_table", "guest", "day"), tool("list_reservations"), tool("get_reservation", "reservation_id")
    async with service(tmp_path, {"reservations": rows}, *tools) as simulator, simulator.open("w") as world:
        made = value(await world.call("book_table", {"guest": "Bo", "day": "2031-02-01"}))["reservation_id"]
        assert value(await world.call("get_reservation", {"reservation_id": made}))["guest"] == "Bo"
        assert len(value(await world.call("list_reservations", {}))) == 2
