"""Where new records begin, what their acts presuppose, and the names and fields by which they are reached."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import NUMBER, STRING, refused, service, tool, value

from mcp_sim.world.world import World

Json = Any


async def last_is_guessed(world: World, name: str, **arguments: Json) -> tuple[Json, bool]:
    """Return the value of a successful answer, and whether it was guessed."""
    answer = value(await world.call(name, arguments))
    return answer, bool(world.ledger.steps[-1].get("guessed"))


# initial states -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("held", "choices", "about", "begins", "is_guessed"),
    [
        (["delivered", "in_transit"], ["delivered", "in_transit", "lost"], "", "in_transit", True),
        (["paid", "under_review"], ["paid", "rejected", "under_review"], "", "under_review", True),
        (["closed", "awaiting_parts"], ["closed", "awaiting_parts", "ready"], "", "awaiting_parts", False),
        (["Done", "Review"], ["Done", "Backlog", "Draft"], "Add an item to the backlog.", "Backlog", False),
        (["sold"], ["sold", "reserved", "available"], "", "available", False),
        (["finished", "finished"], [], "", "pending", True),
    ],
)
async def test_a_new_record_begins_in_no_end_state(
    tmp_path: Path, held: list[str], choices: list[str], about: str, begins: str, *, is_guessed: bool
) -> None:
    state: Json = {"parcels": [{"id": f"P{at}", "to": "A", "status": status} for at, status in enumerate(held)]}
    filters: Json = {"status": {"type": "string", "enum": choices}} if choices else {}
    tools = tool("create_parcel", "to", about=about), tool("list_parcels", **filters), tool("get_parcel", "parcel_id")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        parcel, marked = await last_is_guessed(world, "create_parcel", to="B")
        assert (parcel["status"], marked) == (begins, is_guessed)


async def test_a_new_record_begins_in_a_state_that_only_results_list(tmp_path: Path) -> None:
    state: Json = {"invoices": [{"id": "I1", "payer": "A", "status": "partlyPaid"}]}
    status: Json = {"type": "string", "enum": ["open", "partlyPaid", "paid"]}
    shape: Json = {"type": "object", "properties": {"id": STRING, "payer": STRING, "status": status}}
    create = {**tool("create_invoice", "payer"), "outputSchema": {**shape, "required": ["id", "payer", "status"]}}
    async with service(tmp_path, state, create) as simulator, simulator.open("w") as world:
        invoice, marked = await last_is_guessed(world, "create_invoice", payer="B")
        assert (invoice["status"], marked) == ("open", False)


@pytest.mark.parametrize(("verb", "state"), [("submit", "submitted"), ("book", "booked"), ("open", "open")])
async def test_the_only_create_may_lead_to_a_state(tmp_path: Path, verb: str, state: str) -> None:
    held: Json = {"forms": [{"id": "F1", "title": "A", "status": "draft"}, {"id": "F2", "title": "B", "status": state}]}
    tools = tool(f"{verb}_form", "title"), tool("list_forms"), tool("cancel_form", "form_id")
    async with service(tmp_path, held, *tools) as simulator, simulator.open("w") as world:
        assert (await last_is_guessed(world, f"{verb}_form", title="C"))[0]["status"] == state


@pytest.mark.parametrize(
    ("flag", "act", "begins", "is_guessed"),
    [
        ("approved", "approve", False, False),
        ("is_published", "publish", False, False),
        ("verified", None, False, True),
        ("active", None, True, False),
        ("allow_comments", None, True, True),
    ],
)
@pytest.mark.parametrize("noun", ["timesheet", "review", "listing"])
async def test_no_act_is_done_on_a_new_record(
    tmp_path: Path, noun: str, flag: str, act: str | None, *, begins: bool, is_guessed: bool
) -> None:
    state: Json = {f"{noun}s": [{"id": at, "title": "A", flag: True} for at in (1, 2)]}
    acts = [] if act is None else [tool(f"{act}_{noun}", f"{noun}_id")]
    tools = tool(f"submit_{noun}", "title"), tool(f"list_{noun}s"), *acts
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        record, marked = await last_is_guessed(world, f"submit_{noun}", title="B")
        assert (record[flag], marked) == (begins, is_guessed)


# what acts presuppose -------------------------------------------------------------------------------------------------


async def refusal(world: World, name: str, **arguments: Json) -> tuple[str, bool]:
    """Return the message of a failure, and whether it was guessed."""
    observation = await world.call(name, arguments)
    assert refused(observation)
    return observation.text, bool(world.ledger.steps[-1].get("guessed"))


@pytest.mark.parametrize(
    ("act", "noun", "there", "after"),
    [
        ("check_out", "guest", "expected", "checked_out"),
        ("deliver", "order", "pending", "delivered"),
        ("confirm", "visit", "done", "confirmed"),
    ],
)
async def test_no_act_is_refused_for_the_words_of_states_alone(
    tmp_path: Path, act: str, noun: str, there: str, after: str
) -> None:
    rows: Json = [{"id": "K1", "status": there}, {"id": "K2", "status": after}]
    tools = tool(f"{act}_{noun}", f"{noun}_id"), tool(f"get_{noun}", f"{noun}_id")
    async with service(tmp_path, {f"{noun}s": rows}, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call(f"{act}_{noun}", {f"{noun}_id": "K1"}))["status"] == after


@pytest.mark.parametrize(
    ("name", "state", "other"),
    [
        ("cancel_pending_order", "pending", "delivered"),
        ("archive_completed_order", "completed", "pending"),
        ("ship_approved_order", "approved", "rejected"),
    ],
)
async def test_a_state_in_the_name_of_a_tool_is_presupposed(tmp_path: Path, name: str, state: str, other: str) -> None:
    rows: Json = {"orders": [{"id": "K1", "status": other}, {"id": "K2", "status": state}]}
    tools = tool(name, "order_id"), tool("get_order", "order_id")
    async with service(tmp_path, rows, *tools) as simulator, simulator.open("w") as world:
        assert f"it is {other}" in (await refusal(world, name, order_id="K1"))[0]
        value(await world.call(name, {"order_id": "K2"}))


@pytest.mark.parametrize(
    ("act", "state", "cannot", "already"),
    [
        ("arrive", "arrived", "cannot arrive:", "has already arrived"),
        ("depart", "departed", "cannot depart:", "has already departed"),
        ("ship", "shipped", "cannot be shipped:", "is already shipped"),
        ("start", "in_progress", "cannot be started:", "is already in progress"),
    ],
)
async def test_failures_say_what_a_verb_does(tmp_path: Path, act: str, state: str, cannot: str, already: str) -> None:
    rows: Json = {"trains": [{"id": f"T{at}", "status": name} for at, name in enumerate(["cancelled", state, "new"])]}
    tools = tool(f"{act}_train", "train_id"), tool("cancel_train", "train_id"), tool("get_train", "train_id")
    async with service(tmp_path, rows, *tools) as simulator, simulator.open("w") as world:
        assert cannot in (await refusal(world, f"{act}_train", train_id="T0"))[0]
        assert already in (await refusal(world, f"{act}_train", train_id="T1"))[0]


@pytest.mark.parametrize(
    ("first", "last", "states"),
    [("ship", "deliver", ["shipped", "delivered"]), ("pack", "send", ["packed", "sent"]),
     ("wash", "iron", ["washed", "ironed"])],
)  # fmt: skip
async def test_no_record_begins_where_acts_lead(tmp_path: Path, first: str, last: str, states: list[str]) -> None:
    rows: Json = {"parcels": [{"id": f"K{at}", "status": state} for at, state in enumerate(states)]}
    tools = tool("create_parcel", "item"), tool(f"{first}_parcel", "id"), tool(f"{last}_parcel", "id")
    async with service(tmp_path, rows, *tools) as simulator, simulator.open("w") as world:
        key = value(await world.call("create_parcel", {"item": "x"}))["id"]
        assert value(await world.call(f"{first}_parcel", {"id": key}))["status"] == states[0]


# how records are reached ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["assign", "add"])
@pytest.mark.parametrize(
    ("parent", "child", "link"),
    [("ward", "shift", "ward_id"), ("author", "book", "author"), ("depot", "van", "depot_id")],
)
async def test_a_link_is_reached_by_the_name_of_the_parent(
    tmp_path: Path, verb: str, parent: str, child: str, link: str
) -> None:
    state: Json = {
        f"{parent}s": [{"id": f"{parent}1", "name": "East"}, {"id": f"{parent}2", "name": "West"}],
        f"{child}s": [{"id": f"{child}1", "title": "Ann", link: f"{parent}2", "day": "Mon"}],
    }
    tools = (
        tool(f"list_{parent}s"),
        tool(f"{verb}_{child}", "title", parent, "day"),
        tool(f"list_{child}s", about="", **{parent: STRING}),
    )
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        value(await world.call(f"{verb}_{child}", {"title": "Bo", parent: "East", "day": "Tue"}))
        for name, titles in [("East", ["Bo"]), (f"{parent}1", ["Bo"]), ("West", ["Ann"]), ("North", [])]:
            rows = value(await world.call(f"list_{child}s", {parent: name}))
            assert [row["title"] for row in rows] == titles
        assert refused(await world.call(f"{verb}_{child}", {"title": "Cy", parent: "North", "day": "Tue"}))


@pytest.mark.parametrize(
    ("noun", "left", "right"),
    [("grade", "student", "assignment"), ("rating", "member", "film"), ("bid", "buyer", "lot")],
)
@pytest.mark.parametrize("has_rows", [True, False])
async def test_what_two_links_name_is_one_record(
    tmp_path: Path, noun: str, left: str, right: str, *, has_rows: bool
) -> None:
    ids = {f"{left}_id": "L1", f"{right}_id": "R1"}
    state: Json = {f"{left}s": [{"id": "L1", "name": "A"}, {"id": "L2", "name": "B"}], f"{right}s": [{"id": "R1"}]}
    state[f"{noun}s"] = [{**ids, "amount": 7}] if has_rows else []
    tools = [
        tool(f"record_{noun}", *ids, amount=NUMBER),
        tool(f"get_{noun}", *ids),
        tool(f"list_{noun}s"),
    ]
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        for key, amount in (("L1", 8), ("L2", 5), ("L2", 6)):
            value(await world.call(f"record_{noun}", {**ids, f"{left}_id": key, "amount": amount}))
            got = value(await world.call(f"get_{noun}", {**ids, f"{left}_id": key}))
            assert (got[f"{left}_id"], got["amount"]) == (key, amount)
        assert [row["amount"] for row in value(await world.call(f"list_{noun}s", {}))] == [8, 6]


@pytest.mark.parametrize("noun", ["note", "alert", "bookmark"])
async def test_a_delete_whose_key_may_be_missing_refuses_no_call(tmp_path: Path, noun: str) -> None:
    state: Json = {f"{noun}s": [{"id": "K1", "text": "a"}, {"id": "K2", "text": "b"}]}
    tools = tool(f"delete_{noun}", about="", **{f"{noun}_id": STRING, "text": STRING}), tool(f"list_{noun}s")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert (await last_is_guessed(world, f"delete_{noun}"))[1]
        rows, marked = await last_is_guessed(world, f"list_{noun}s")
        assert ([row["id"] for row in rows], marked) == (["K1", "K2"], True)
        value(await world.call(f"delete_{noun}", {"text": "a"}))
        assert [row["id"] for row in value(await world.call(f"list_{noun}s", {}))] == ["K2"]


@pytest.mark.parametrize("noun", ["expense", "visit", "shipment"])
async def test_a_verb_that_sums_up_answers_with_a_digest(tmp_path: Path, noun: str) -> None:
    rows: Json = [{"id": at, "category": "food" if at % 2 else "rent", "minutes": at} for at in (1, 2, 3)]
    tools = tool(f"summarize_{noun}s"), tool(f"list_{noun}s")
    async with service(tmp_path, {f"{noun}s": rows}, *tools) as simulator, simulator.open("w") as world:
        digest = value(await world.call(f"summarize_{noun}s", {}))
        assert (digest[f"total_{noun}s"], digest["by_category"]) == (3, {"food": 2, "rent": 1})


@pytest.mark.parametrize(("noun", "ending"), [("template", "info"), ("model", "details"), ("queue", "metadata")])
async def test_details_of_what_an_argument_names_are_one_record(tmp_path: Path, noun: str, ending: str) -> None:
    rows: Json = [{"name": "a", "body": "x"}, {"name": "b", "body": "y"}]
    tools = tool(f"{noun}s_{ending}", "name"), tool(f"{noun}s_list")
    async with service(tmp_path, {f"{noun}s": rows}, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call(f"{noun}s_{ending}", {"name": "b"})) == rows[1]
        assert refused(await world.call(f"{noun}s_{ending}", {"name": "c"}))


@pytest.mark.parametrize(("key", "asked"), [("seat_id", "seat-id"), ("seat-id", "seat_id"), ("seatId", "seat_id")])
async def test_a_new_record_shows_its_key_in_a_single_spelling(tmp_path: Path, key: str, asked: str) -> None:
    state: Json = {"seats": [{key: "S1", "row": "4"}]}
    tools = tool("add_seat", "row"), tool("cancel_seat", asked), tool("list_seats")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        seat = value(await world.call("add_seat", {"row": "5"}))
        assert [*seat.values()].count("S2") == 1
