"""Pairs of verbs that undo each other: what one of them changes, the other one changes back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import answered, refused, simulator, tool

Json = Any
TEXT: Json = {"type": "string"}
FLAG: Json = {"type": "boolean"}
COUNT: Json = {"type": "integer"}
FLAGS = [
    ("check_out", "check_in", "checked_out"),
    ("lend", "return", "on_loan"),
    ("open", "close", "open"),
    ("arm", "disarm", "armed"),
    ("dock", "undock", "docked"),
]
STATES = [
    ("check_out", "check_in", "checked_out"),
    ("reserve", "release", "reserved"),
    ("suspend", "reinstate", "suspended"),
    ("occupy", "vacate", "occupied"),
]


def record(**fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*fields]}


def pair(noun: str, does: str, undoes: str, shape: Json, **more: Json) -> list[Json]:
    """Return two tools that undo each other, and one that gets a record."""
    key: Json = {f"{noun}_id": TEXT}
    return [
        tool(f"{does}_{noun}", **key, **more, output=shape),
        tool(f"{undoes}_{noun}", **key, output=shape),
        tool(f"get_{noun}", **key, output=shape),
    ]


@pytest.mark.parametrize("is_typed", [True, False])
@pytest.mark.parametrize("noun", ["kit", "fire_door"])
@pytest.mark.parametrize(("does", "undoes", "flag"), FLAGS)
async def test_a_flag_is_set_and_reset(
    tmp_path: Path, does: str, undoes: str, flag: str, noun: str, *, is_typed: bool
) -> None:
    shape = record(id=TEXT, name=TEXT, **{flag: FLAG}) if is_typed else None
    state: Json = {f"{noun}s": [{"id": "k1", "name": "Kit", flag: False}, {"id": "k2", "name": "Kat", flag: True}]}
    key = f"{noun}_id"
    async with simulator(tmp_path, pair(noun, does, undoes, shape), state).open() as world:
        for name, value in [(does, True), (undoes, False)]:
            await answered(world, f"{name}_{noun}", **{key: "k1"})
            assert (await answered(world, f"get_{noun}", **{key: "k1"}))[flag] is value
        assert not any(step.get("guessed") for step in world.ledger.steps)
        assert "none" in await refused(world, f"{does}_{noun}", **{key: "none"})


@pytest.mark.parametrize("is_typed", [True, False])
@pytest.mark.parametrize("noun", ["kit", "room"])
@pytest.mark.parametrize(("does", "undoes", "state"), STATES)
async def test_a_state_comes_back(
    tmp_path: Path, does: str, undoes: str, state: str, noun: str, *, is_typed: bool
) -> None:
    shape = record(id=TEXT, name=TEXT, status=TEXT) if is_typed else None
    given: Json = {f"{noun}s": [{"id": f"k{number}", "name": "Kit", "status": "available"} for number in (1, 2)]}
    key = f"{noun}_id"
    async with simulator(tmp_path, pair(noun, does, undoes, shape), given).open() as world:
        for name, value in [(does, state), (undoes, "available")]:
            await answered(world, f"{name}_{noun}", **{key: "k1"})
            assert (await answered(world, f"get_{noun}", **{key: "k1"}))["status"] == value
        assert (await answered(world, f"get_{noun}", **{key: "k2"}))["status"] == "available"
        assert not any(step.get("guessed") for step in world.ledger.steps)


@pytest.mark.parametrize("is_typed", [True, False])
@pytest.mark.parametrize(("noun", "key"), [("stock", "sku"), ("meal_kit", "code")])
@pytest.mark.parametrize(
    ("does", "undoes", "held"), [("reserve", "release", "reserved"), ("allocate", "deallocate", "allocated")]
)
async def test_an_amount_is_held_and_let_go(
    tmp_path: Path, noun: str, key: str, does: str, undoes: str, held: str, *, is_typed: bool
) -> None:
    shape = record(**{key: TEXT, "on_hand": COUNT, held: COUNT}) if is_typed else None
    changes = [tool(f"{name}_{noun}", **{key: TEXT, "quantity": COUNT}, output=shape) for name in (does, undoes)]
    tools = [*changes, tool(f"get_{noun}", **{key: TEXT}, output=shape)]
    given: Json = {f"{noun}s": [{key: "S1", "on_hand": 10, held: 1}, {key: "S2", "on_hand": 3, held: 6}]}
    async with simulator(tmp_path, tools, given).open() as world:
        await answered(world, f"{does}_{noun}", **{key: "S1", "quantity": 4})
        await answered(world, f"{undoes}_{noun}", **{key: "S1", "quantity": 2})
        assert await answered(world, f"get_{noun}", **{key: "S1"}) == {key: "S1", "on_hand": 10, held: 3}
        assert "7 available" in await refused(world, f"{does}_{noun}", **{key: "S1", "quantity": 8})
        assert "S9" in await refused(world, f"{does}_{noun}", **{key: "S9", "quantity": 1})
        await answered(world, f"{undoes}_{noun}", **{key: "S2", "quantity": 1})  # less is held, though still too much
        assert (await answered(world, f"get_{noun}", **{key: "S2"}))[held] == 5
        assert "available" in await refused(world, f"{does}_{noun}", **{key: "S2", "quantity": 1})


@pytest.mark.parametrize(
    ("act", "field", "argument"),
    [
        ("cancel", "cancellation_reason", "reason"),
        ("reject", "rejectionNote", "note"),
        ("refund", "refund_amount", "amount"),
    ],
)
async def test_what_is_said_of_an_act_leaves_the_same_of_the_record(
    act: str, field: str, argument: str, tmp_path: Path
) -> None:
    tools = [tool(f"{act}_visit", visit_id=TEXT, **{argument: TEXT}), tool("get_visit", visit_id=TEXT)]
    given: Json = {"visits": [{"id": f"v{at}", argument: "9", field: None, "status": "booked"} for at in (1, 2)]}
    async with simulator(tmp_path, tools, given).open() as world:
        await answered(world, f"{act}_visit", visit_id="v1", **{argument: "5"})
        shown = await answered(world, "get_visit", visit_id="v1")
        assert (shown[argument], shown[field]) == ("9", "5")


@pytest.mark.parametrize("noun", ["visit", "boat_trip"])
@pytest.mark.parametrize(
    ("act", "state"), [("check_in", "checked_in"), ("return", "returned"), ("close", "closed"), ("resume", "active")]
)
async def test_a_state_that_the_description_names_is_what_a_verb_leads_to(
    tmp_path: Path, act: str, state: str, noun: str
) -> None:
    key: Json = {f"{noun}_id": TEXT}
    tools = [tool(f"{act}_{noun}", f"Its status becomes '{state}'.", **key), tool(f"get_{noun}", **key)]
    given: Json = {f"{noun}s": [{"id": "k1", "status": "booked"}, {"id": "k2", "status": "completed"}]}
    async with simulator(tmp_path, tools, given).open() as world:
        await answered(world, f"{act}_{noun}", **{f"{noun}_id": "k1"})
        assert (await answered(world, f"get_{noun}", **{f"{noun}_id": "k1"}))["status"] == state


@pytest.mark.parametrize(
    ("verb", "noun", "made"),
    [
        ("reserve", "boat", "reservation"),
        ("book", "court", "booking"),
        ("rent", "bike", "rental"),
        ("book", "van", None),
    ],
)
async def test_only_what_is_given_can_be_used(tmp_path: Path, verb: str, noun: str, made: str | None) -> None:
    argument = f"{noun}_id"
    use = tool(f"{verb}_{noun}", **{argument: TEXT, "guest": TEXT})
    tools = [use, tool(f"list_{noun}s"), *([tool(f"list_{made}s")] if made is not None else [])]
    rows: Json = [{"id": "r1", argument: "North", "guest": "Ada"}]
    state: Json = {
        f"{noun}s": [{"id": "North", "size": 2}, {"id": "South", "size": 4}],
        **({f"{made}s": rows} if made else {}),
    }
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, f"{verb}_{noun}", **{argument: "South", "guest": "Bo"})
        assert "Nowhere" in await refused(world, f"{verb}_{noun}", **{argument: "Nowhere", "guest": "Bo"})
        places = await answered(world, f"list_{noun}s")
        assert [place["id"] for place in places] == ["North", "South"]
        if made is not None:
            assert await answered(world, f"list_{made}s") == [*rows, {"id": "r2", argument: "South", "guest": "Bo"}]


@pytest.mark.parametrize(("act", "flag"), [("discharge", "charged"), ("dispatch", "patched"), ("depart", "parted")])
async def test_a_verb_that_only_begins_like_an_undoing_one_resets_no_flag(tmp_path: Path, act: str, flag: str) -> None:
    state: Json = {"kits": [{"id": "k1", flag: True}, {"id": "k2", flag: False}]}
    tools = [tool(f"{act}_kit", kit_id=TEXT), tool("get_kit", kit_id=TEXT)]
    async with simulator(tmp_path, tools, state).open() as world:
        await answered(world, f"{act}_kit", kit_id="k1")
        assert (await answered(world, "get_kit", kit_id="k1"))[flag] is True


@pytest.mark.parametrize(("field", "argument"), [("assignee_section", "section"), ("approver_note", "note")])
async def test_a_field_of_a_person_is_not_that_of_an_act(tmp_path: Path, field: str, argument: str) -> None:
    asked: Json = {argument: TEXT}
    tools = [
        tool("get_kit", kit_id=TEXT, output=record(id=TEXT, **{field: TEXT})),
        tool("list_kits", **asked),
        tool("update_kit", kit_id=TEXT, **asked),
    ]
    plans = simulator(tmp_path, tools).scenario.domain.plans
    assert plans["list_kits"].filters[argument].field == argument
    assert plans["update_kit"].sets == {argument: argument}


@pytest.mark.parametrize(
    ("act", "state"), [("return", "returned"), ("check_in", "checked_in"), ("release", "released")]
)
async def test_a_verb_leads_to_no_earlier_state_where_no_record_has_what_it_undoes(
    tmp_path: Path, act: str, state: str
) -> None:
    parcels: Json = [{"id": "p1", "status": "delivered"}, {"id": "p2", "status": "shipped"}]
    tools = [tool(f"{act}_parcel", parcel_id=TEXT), tool("get_parcel", parcel_id=TEXT)]
    async with simulator(tmp_path, tools, {"parcels": parcels}).open() as world:
        await answered(world, f"{act}_parcel", parcel_id="p1")
        assert (await answered(world, "get_parcel", parcel_id="p1"))["status"] == state
