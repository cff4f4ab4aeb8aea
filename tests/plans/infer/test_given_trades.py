"""Given states of small trades: what their tools list, change, add and take away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import NUMBER, STRING, refused, service, tool, value

Json = Any
BOOLEAN = {"type": "boolean"}


def typed(made: dict[str, Json], **parts: Json) -> dict[str, Json]:
    return {**made, "outputSchema": {"type": "object", "properties": parts, "required": [*parts]}}


def names() -> Json:
    return {"type": "array", "items": STRING}


@pytest.mark.parametrize(
    ("add", "remove"), [("add_member_to_crew", "remove_member_from_crew"), ("add_crew_member", "remove_crew_member")]
)
async def test_records_hold_the_lists_that_a_state_has_under_their_names(tmp_path: Path, add: str, remove: str) -> None:
    state = {"crews": {"Red": ["Al", "Bo"], "Blue": []}}
    changes = [tool(name, "crew", "member") for name in (add, remove)]
    tools = [tool("list_crews"), tool("get_crew_members", "crew"), *changes]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert [row["crew"] for row in value(await world.call("list_crews"))] == ["Red", "Blue"]
        assert value(await world.call("get_crew_members", {"crew": "Red"}))["members"] == ["Al", "Bo"]
        await world.call(add, {"crew": "Blue", "member": "Cy"})
        assert value(await world.call("get_crew_members", {"crew": "Blue"}))["members"] == ["Cy"]
        await world.call(remove, {"crew": "Red", "member": "Al"})
        assert value(await world.call("get_crew_members", {"crew": "Red"}))["members"] == ["Bo"]
        assert refused(await world.call("get_crew_members", {"crew": "Grey"}))


async def test_a_table_is_what_descriptions_call_the_records_of_a_tool(tmp_path: Path) -> None:
    state = {"repertoire": [{"title": "Stars", "voices": 8}, {"title": "Moss", "voices": 4}]}
    tools = [
        tool("list_pieces", about="List the pieces of the repertoire"),
        tool("add_piece", "title", about="Add a piece to the repertoire"),
    ]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        await world.call("add_piece", {"title": "Kelp"})
        shown = await world.call("list_pieces")
        assert [row["title"] for row in value(shown)] == ["Stars", "Moss", "Kelp"]


async def test_the_information_of_an_object_is_the_object(tmp_path: Path) -> None:
    state = {"choir": {"info": {"name": "Borealis", "founded": 1987}, "rooms": ["North"]}}
    async with service(tmp_path, state, tool("get_choir"), tool("list_rooms")) as sim, sim.open() as world:
        assert value(await world.call("get_choir")) == {"name": "Borealis", "founded": 1987}


async def test_values_under_names_have_the_name_that_results_show(tmp_path: Path) -> None:
    gate = {"gate": STRING, "status": STRING}
    tools = [
        typed(tool("list_gates"), gates={"type": "array", "items": {"type": "object", "properties": gate}}),
        typed(tool("open_gate", "gate"), **gate),
        typed(tool("close_gate", "gate"), **gate),
    ]
    async with service(tmp_path, {"gates": {"north": "open", "south": "closed"}}, *tools) as sim, sim.open() as world:
        assert value(await world.call("open_gate", {"gate": "south"})) == {"gate": "south", "status": "open"}
        assert value(await world.call("close_gate", {"gate": "north"})) == {"gate": "north", "status": "closed"}
        rows = value(await world.call("list_gates"))["gates"]
        assert rows == [{"gate": "north", "status": "closed"}, {"gate": "south", "status": "open"}]


async def test_numbers_under_names_are_found_by_the_argument_of_that_name(tmp_path: Path) -> None:
    shown = {"malt": STRING, "kilograms": NUMBER}
    tools = [
        typed(tool("malt_stock", "malt", about="Return the kilograms of a malt"), **shown),
        typed(tool("use_malt", "malt", "kilograms", about="Take kilograms from the stock", kilograms=NUMBER), **shown),
    ]
    async with service(tmp_path, {"malt": {"pale": 80, "dark": 9}}, *tools) as sim, sim.open() as world:
        assert value(await world.call("malt_stock", {"malt": "pale"}))["kilograms"] == 80
        assert value(await world.call("use_malt", {"malt": "pale", "kilograms": 15}))["kilograms"] == 65


async def test_a_list_of_names_holds_those_to_which_a_verb_was_done(tmp_path: Path) -> None:
    tools = [typed(tool(f"{name}_plate", "plate"), plates=names()) for name in ("block", "unblock")]
    state = {"blocked_plates": ["X-1", "X-2"]}
    async with service(tmp_path, state, *tools, tool("list_blocked_plates")) as sim, sim.open() as world:
        assert value(await world.call("block_plate", {"plate": "X-3"})) == {"plates": ["X-1", "X-2", "X-3"]}
        assert value(await world.call("unblock_plate", {"plate": "X-1"})) == {"plates": ["X-2", "X-3"]}
        assert value(await world.call("list_blocked_plates")) == ["X-2", "X-3"]


async def test_names_are_added_to_those_of_a_parent(tmp_path: Path) -> None:
    state = {
        "cooks": ["Al", "Bo"],
        "responsible": {"grill": ["Al"], "oven": ["Bo"]},
        "stations": {"grill": {"heat": 3}, "oven": {"heat": 2}},
    }
    tools = [
        typed(tool("cooks_of_station", "station"), cooks=names()),
        typed(tool("appoint_cook", "station", "cook"), cooks=names()),
        tool("list_cooks"),
        tool("get_station", "station"),
    ]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        added = await world.call("appoint_cook", {"station": "oven", "cook": "Al"})
        assert value(added) == {"cooks": ["Bo", "Al"]}
        assert value(await world.call("cooks_of_station", {"station": "oven"})) == {"cooks": ["Bo", "Al"]}
        assert value(await world.call("cooks_of_station", {"station": "grill"})) == {"cooks": ["Al"]}


async def test_records_without_a_state_are_gone_when_they_are_called_off(tmp_path: Path) -> None:
    state = {"rehearsals": {"R1": {"place": "Mill"}, "R2": {"place": "Hall"}}}
    tools = [tool("list_rehearsals"), tool("cancel_rehearsal", "rehearsal_id")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        await world.call("cancel_rehearsal", {"rehearsal_id": "R2"})
        assert [row["place"] for row in value(await world.call("list_rehearsals"))] == ["Mill"]


async def test_money_enters_the_balance_that_a_description_mentions(tmp_path: Path) -> None:
    state = {"fund": {"balance": 1240.75, "currency": "EUR"}, "crews": {"Red": ["Al"]}, "rooms": ["North"]}
    tools = [
        tool("deposit", "amount", about="Deposit money into the fund of the crew", amount=NUMBER, note=STRING),
        tool("get_fund_balance"),
        tool("list_rooms"),
        tool("list_crews"),
    ]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert value(await world.call("deposit", {"amount": 100}))["balance"] == 1340.75
        assert value(await world.call("get_fund_balance")) == 1340.75


async def test_a_call_names_the_field_that_it_sets(tmp_path: Path) -> None:
    tools = [tool("get_settings"), tool("update_setting", "key", "value", value={})]
    async with service(tmp_path, {"settings": {"language": "lv", "quorum": 12}}, *tools) as sim, sim.open() as world:
        await world.call("update_setting", {"key": "quorum", "value": 15})
        assert value(await world.call("get_settings")) == {"language": "lv", "quorum": 15}
        assert "findings" not in world.ledger.newest["step"]


async def test_a_named_field_keeps_its_type_and_is_never_the_key(tmp_path: Path) -> None:
    devices = [{"device_id": "d1", "level": 3}, {"device_id": "d2", "level": 4}]
    tools = [tool("list_devices"), tool("update_device", "device_id", "field", "value")]
    async with service(tmp_path, {"devices": devices}, *tools) as sim, sim.open() as world:
        for field, text in (("level", "5"), ("device_id", "d9"), ("", "x"), ("Level", "6")):
            value(await world.call("update_device", {"device_id": "d1", "field": field, "value": text}))
        assert value(await world.call("list_devices")) == [{"device_id": "d1", "level": 6}, devices[1]]


async def test_a_description_says_which_state_a_tool_leads_to(tmp_path: Path) -> None:
    state = {"loads": [{"load_id": 1, "state": "planned"}, {"load_id": 2, "state": "delivered"}]}
    done = tool("complete_load", "load_id", about="Mark a load as delivered", load_id={"type": "integer"})
    async with service(tmp_path, state, done, tool("list_loads")) as sim, sim.open() as world:
        assert value(await world.call("complete_load", {"load_id": 1}))["state"] == "delivered"


async def test_a_result_shows_what_remains(tmp_path: Path) -> None:
    state = {"lots": [{"lot_id": "L-1", "litres": 480.5}, {"lot_id": "L-2", "litres": 20}]}
    drawn = tool("withdraw_beer", "lot_id", "litres", litres=NUMBER)
    tools = [typed(drawn, lot_id=STRING, remaining_litres=NUMBER), tool("get_lot", "lot_id")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        shown = value(await world.call("withdraw_beer", {"lot_id": "L-1", "litres": 80.5}))
        assert shown == {"lot_id": "L-1", "remaining_litres": 400}


async def test_names_without_a_verb_list_what_they_are_described_as(tmp_path: Path) -> None:
    state = {
        "lots": [{"lot_id": "L-1"}, {"lot_id": "L-2"}],
        "readings": {"L-1": [{"ph": 4.4}], "L-2": [{"ph": 4.6}, {"ph": 4.3}]},
    }
    tools = [
        tool("gravity_readings", "lot_id", about="Gravity readings of a lot."),
        tool("all_lots", about="All lots."),
    ]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert [row["ph"] for row in value(await world.call("gravity_readings", {"lot_id": "L-2"}))] == [4.6, 4.3]
        assert [row["lot_id"] for row in value(await world.call("all_lots"))] == ["L-1", "L-2"]


async def test_an_argument_that_selects_nothing_marks_the_answer(tmp_path: Path) -> None:
    listed = tool("list_spots", level=STRING, only_free=BOOLEAN)
    state = {"spots": [{"spot_id": "U-1", "level": "U"}, {"spot_id": "V-1", "level": "V"}]}
    async with service(tmp_path, state, listed) as sim, sim.open() as world:
        for arguments, guessed in (({"level": "U"}, False), ({"level": "U", "only_free": True}, True)):
            assert [row["spot_id"] for row in value(await world.call("list_spots", arguments))] == ["U-1"]
            assert world.ledger.newest["step"]["guessed"] is guessed


async def test_a_part_of_a_name_is_enough_where_a_description_says_so(tmp_path: Path) -> None:
    state = {"owners": {"O-1": {"name": "Ada Vos"}, "O-2": {"name": "Bo Lind"}}}
    find_owner = tool("find_owner", "name", about="Find owners by part of their name")
    async with service(tmp_path, state, find_owner, tool("get_owner", "owner_id")) as sim, sim.open() as world:
        assert [row["owner_id"] for row in value(await world.call("find_owner", {"name": "Ada"}))] == ["O-1"]


async def test_a_description_names_the_argument_that_may_be_a_part(tmp_path: Path) -> None:
    state = {"owners": {"O-1": {"name": "Ada Vos", "city": "Lund"}, "O-2": {"name": "Bo Lind", "city": "Lundby"}}}
    about = "Look up owners by (part of) their name or by city."
    find_owners = tool("find_owners", about=about, city=STRING)
    find_owners["inputSchema"]["properties"]["name"] = STRING
    async with service(tmp_path, state, find_owners, tool("get_owner", "owner_id")) as sim, sim.open() as world:
        for arguments, ids in (({"name": "ada"}, ["O-1"]), ({"city": "Lund"}, ["O-1"]), ({"name": "Lin"}, ["O-2"])):
            assert [row["owner_id"] for row in value(await world.call("find_owners", arguments))] == ids


@pytest.mark.parametrize(("act", "words"), [("add_allergy", "substance"), ("add_allergy", "cause")])
async def test_the_only_value_enters_the_list_named_after_what_is_added(tmp_path: Path, act: str, words: str) -> None:
    rows: list[dict[str, Json]] = [
        {"patient_id": "P-1", "allergies": ["latex"]},
        {"patient_id": "P-2", "allergies": []},
    ]
    state = {"patients": rows}
    tools = [tool(name, "patient_id", words) for name in (act, act.replace("add", "remove"))]
    async with service(tmp_path, state, tool("get_patient", "patient_id"), *tools) as sim, sim.open() as world:
        await world.call(act, {"patient_id": "P-2", words: "dust"})
        await world.call(act.replace("add", "remove"), {"patient_id": "P-1", words: "latex"})
        shown = [value(await world.call("get_patient", {"patient_id": f"P-{number}"})) for number in (1, 2)]
        assert shown == [{"patient_id": "P-1", "allergies": []}, {"patient_id": "P-2", "allergies": ["dust"]}]


@pytest.mark.parametrize("verb", ["hire", "onboard"])
async def test_a_tool_with_the_fields_of_its_noun_makes_one(tmp_path: Path, verb: str) -> None:
    clerk = {"clerk_no": 7, "name": "Ada", "office": "North", "wage": 30, "start": "2029-01-01", "status": "active"}
    taken = ("name", "office", "start")
    tools = [tool("get_clerk", clerk_no={"type": "integer"}), tool("list_clerks")]
    tools[0]["inputSchema"]["required"] = ["clerk_no"]
    make = tool(f"{verb}_clerk", "office", "start", about="Enter a new clerk.")
    make["inputSchema"] = {"type": "object", "properties": dict.fromkeys(taken, STRING), "required": [*taken]}
    async with service(tmp_path, {"clerks": [clerk]}, *tools, make) as sim, sim.open() as world:
        new = {"name": "Bo", "office": "South", "start": "2030-01-01"}
        key = value(await world.call(f"{verb}_clerk", new))["clerk_no"]
        assert value(await world.call("get_clerk", {"clerk_no": key})).items() >= new.items()
        assert len(value(await world.call("list_clerks"))) == 2


@pytest.mark.parametrize(("flag", "state"), [("include_left", "left"), ("include_cancelled", "Cancelled")])
async def test_a_flag_lets_in_the_records_of_a_state_that_only_given_ones_show(
    tmp_path: Path, flag: str, state: str
) -> None:
    rows = [{"member_no": 1, "status": "active"}, {"member_no": 2, "status": state}]
    listed = tool("list_members")
    listed["inputSchema"]["properties"][flag] = {**BOOLEAN, "default": False}
    async with service(tmp_path, {"members": rows}, listed) as sim, sim.open() as world:
        for arguments, count in (({}, 1), ({flag: False}, 1), ({flag: True}, 2)):
            assert value(await world.call("list_members", arguments)) == rows[:count]


STOCKED: Json = {
    "goods": [{"sku": "K-1", "label": "Kelp", "on_hand": 7}, {"sku": "K-2", "label": "Moss", "on_hand": 1}],
    "levels": [
        {"sku": "K-1", "bin": "A1", "quantity": 5},
        {"sku": "K-1", "bin": "B1", "quantity": 2},
        {"sku": "K-2", "bin": "A1", "quantity": 1},
    ],
}


def rows(**fields: Json) -> Json:
    return {"type": "array", "items": {"type": "object", "properties": fields, "required": [*fields]}}


async def test_an_unknown_verb_with_a_description_or_a_flag_changes_the_state(tmp_path: Path) -> None:
    state = {
        "heats": [{"heat_id": "H-1", "status": "planned"}, {"heat_id": "H-2", "status": "done"}],
        "leases": [{"lease_id": "L-1", "active": True}],
    }
    status = {"enum": ["planned", "done", "cancelled"]}
    scratch = typed(tool("scratch_heat", "heat_id", about="Cancel a planned heat."), heat_id=STRING, status=status)
    stop = tool("stop_lease", "lease_id", about="End a lease early.")
    tools = [scratch, stop, typed(tool("get_heat", "heat_id"), heat_id=STRING, status=status), tool("list_leases")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert value(await world.call("scratch_heat", {"heat_id": "H-1"}))["status"] == "cancelled"
        assert refused(await world.call("scratch_heat", {"heat_id": "H-2"}))
        await world.call("stop_lease", {"lease_id": "L-1"})
        assert value(await world.call("list_leases")) == [{"lease_id": "L-1", "active": False}]


@pytest.mark.parametrize(
    ("make", "end", "thing", "agreement", "state"),
    [
        ("lend_book", "return_book", "book", "loan", "returned"),
        ("hire_out_boat", "cancel_boat", "boat", "rental", "cancelled"),
        ("admit_dog", "close_dog", "dog", "stay", "closed"),
    ],
)
async def test_a_verb_makes_what_its_description_returns_and_changes_what_it_has_the_key_of(
    tmp_path: Path, make: str, end: str, thing: str, agreement: str, state: str
) -> None:
    key = f"{agreement}_id"
    given: Json = {
        f"{thing}s": [{f"{thing}_id": "T1", "name": "Momo"}, {f"{thing}_id": "T2", "name": "Kelp"}],
        "people": [{"person_id": "P1", "name": "Olive"}],
        f"{agreement}s": [
            {key: "A1", f"{thing}_id": "T1", "person_id": "P1", "status": "open"},
            {key: "A2", f"{thing}_id": "T1", "person_id": "P1", "status": state},
        ],
    }
    tools = [
        tool(make, f"{thing}_id", "person_id", about=f"Hand it over to a person.\n\nReturns:\n    The {agreement}."),
        tool(end, key, about=f"Take it back. Sets the {agreement} to {state}."),
        tool(f"list_{agreement}s", about=f"List {agreement}s."),
    ]
    async with service(tmp_path, given, *tools) as sim, sim.open() as world:
        made = value(await world.call(make, {f"{thing}_id": "T2", "person_id": "P1"}))
        assert (made[key], made[f"{thing}_id"], made["status"]) == ("A3", "T2", "open")
        assert value(await world.call(end, {key: "A3"}))["status"] == state
        rows = value(await world.call(f"list_{agreement}s"))
        assert [row["status"] for row in rows] == ["open", state, state]
