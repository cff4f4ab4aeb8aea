"""Parts of a given state that tools name by more than a noun: logs, lists of keys, maps from keys to keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import NUMBER, refused, service, tool, value

Json = Any


@pytest.mark.parametrize(
    ("noun", "part", "get", "log"),
    [("vehicle", "service_log", "get_service_log", "log_service"),
     ("patient", "visit_history", "get_visit_history", "record_visit"),
     ("pump", "repair_log", "show_repair_log", "log_repair")],
)  # fmt: skip
async def test_a_log_by_parent_is_read_and_grows(tmp_path: Path, noun: str, part: str, get: str, log: str) -> None:
    key = f"{noun}_id"
    state = {
        f"{noun}s": [{key: name, "label": name.upper()} for name in ("a1", "b2")],
        part: {"a1": [{"day": "2030-01-02", "work": "brakes"}], "b2": [{"day": "2030-01-03", "work": "tyres"}]},
    }
    tools = [
        tool(f"get_{noun}", key),
        tool(get, key, about=f"Get what was done to a {noun}."),
        tool(log, key, "work", about=f"Note what was done to a {noun}."),
    ]
    async with service(tmp_path, state, *tools).open() as world:
        assert [row["work"] for row in value(await world.call(get, {key: "a1"}))] == ["brakes"]
        value(await world.call(log, {key: "a1", "work": "oil"}))
        assert [row["work"] for row in value(await world.call(get, {key: "a1"}))] == ["brakes", "oil"]
        assert [row["work"] for row in value(await world.call(get, {key: "b2"}))] == ["tyres"]


@pytest.mark.parametrize(
    ("part", "ask", "approve", "who"),
    [("leave_requests", "request_leave", "approve_leave", "employee_id"),
     ("loan_requests", "request_loan", "approve_loan", "member_id"),
     ("access_requests", "request_access", "reject_access", "user_id")],
)  # fmt: skip
async def test_an_act_and_its_noun_name_a_part_of_the_state(
    tmp_path: Path, part: str, ask: str, approve: str, who: str
) -> None:
    rows = [{"id": "q-1", who: "p1", "reason": "travel", "status": "pending"},
            {"id": "q-2", who: "p2", "reason": "work", "status": "approved"}]  # fmt: skip
    tools = [tool(ask, who, "reason"), tool(approve, "request_id"), tool(f"get_{who.removesuffix('_id')}", who)]
    people = [{"id": "p1", "name": "Ann"}, {"id": "p2", "name": "Bo"}]
    state = {"office": {part: rows, f"{who.removesuffix('_id')}s": people}}
    async with service(tmp_path, state, *tools).open() as world:
        answer = value(await world.call(approve, {"request_id": "q-1"}))
        assert (answer["id"], answer["reason"]) == ("q-1", "travel")
        assert answer["status"] == ("rejected" if approve.startswith("reject") else "approved")
        made = value(await world.call(ask, {who: "p2", "reason": "rest"}))
        assert value(await world.call(approve, {"request_id": made["id"]}))["reason"] == "rest"


@pytest.mark.parametrize(
    ("noun", "part", "read", "add"),
    [("track", "queue", "get_queue", "add_to_queue"), ("book", "wishlist", "get_wishlist", "add_to_wishlist"),
     ("item", "basket", "show_basket", "add_to_basket")],
)  # fmt: skip
async def test_keys_enter_a_list_of_keys(tmp_path: Path, noun: str, part: str, read: str, add: str) -> None:
    state = {f"{noun}s": {key: {"title": f"T {key}"} for key in ("k1", "k2", "k3")}, part: ["k1"]}
    tools = [tool(f"get_{noun}", f"{noun}_id"), tool(f"list_{noun}s"), tool(read), tool(add, f"{noun}_id")]
    async with service(tmp_path, state, *tools).open() as world:
        assert value(await world.call(read, {})) == ["k1"]
        value(await world.call(add, {f"{noun}_id": "k3"}))
        assert value(await world.call(read, {})) == ["k1", "k3"]
        assert len(value(await world.call(f"list_{noun}s", {}))) == 3


@pytest.mark.parametrize(
    ("noun", "act", "done"),
    [("track", "like", "liked"), ("photo", "star", "starred"), ("thread", "follow", "followed")],
)
async def test_what_an_act_was_done_to_is_listed(tmp_path: Path, noun: str, act: str, done: str) -> None:
    key = f"{noun}_id"
    state = {f"{noun}s": {name: {"title": f"T {name}"} for name in ("k1", "k2", "k3")}, done: ["k2"],
             "now_playing": {key: "k3", "position": 87}}  # fmt: skip
    tools = [tool(f"get_{noun}", key), tool("now_playing"), tool(f"list_{done}"), tool(f"{act}_{noun}", key),
             tool(f"un{act}_{noun}", key)]  # fmt: skip
    async with service(tmp_path, state, *tools).open() as world:
        assert value(await world.call(f"list_{done}", {})) == ["k2"]
        value(await world.call(f"{act}_{noun}", {key: "k1"}))
        assert value(await world.call(f"list_{done}", {})) == ["k2", "k1"]
        value(await world.call(f"un{act}_{noun}", {key: "k2"}))
        assert value(await world.call(f"list_{done}", {})) == ["k1"]
        assert value(await world.call("now_playing", {})) == {key: "k3", "position": 87}


@pytest.mark.parametrize(
    ("holder", "key", "held", "part"),
    [("vehicle", "plate", "driver", "assignments"), ("room", "number", "guest", "occupancy"),
     ("desk", "code", "worker", "seats")],
)  # fmt: skip
async def test_a_map_from_keys_to_keys_is_assigned_and_unassigned(
    tmp_path: Path, holder: str, key: str, held: str, part: str
) -> None:
    state = {
        f"{holder}s": [{key: name, "size": 3} for name in ("a-1", "a-2")],
        f"{held}s": {name: {"name": name.upper(), "grade": 1} for name in ("h7", "h9")},
        part: {"a-1": "h7"},
    }
    tools = [
        tool(f"get_{holder}", key), tool(f"get_{held}", f"{held}_id"),
        tool(f"assign_{held}", key, f"{held}_id", about=f"Assign a {held} to a {holder}."),
        tool(f"unassign_{held}", key, about=f"Remove the {held} from a {holder}."),
        tool(f"get_{part.removesuffix('s')}", key, about=f"Show which {held} has a {holder}."),
    ]  # fmt: skip
    read = f"get_{part.removesuffix('s')}"
    async with service(tmp_path, state, *tools).open() as world:
        assert value(await world.call(read, {key: "a-1"}))[f"{held}_id"] == "h7"
        value(await world.call(f"assign_{held}", {key: "a-1", f"{held}_id": "h9"}))
        assert value(await world.call(read, {key: "a-1"}))[f"{held}_id"] == "h9"
        value(await world.call(f"assign_{held}", {key: "a-2", f"{held}_id": "h7"}))
        assert value(await world.call(read, {key: "a-2"}))[f"{held}_id"] == "h7"
        value(await world.call(f"unassign_{held}", {key: "a-1"}))
        assert refused(await world.call(read, {key: "a-1"}))
        assert value(await world.call(f"get_{held}", {f"{held}_id": "h9"}))["name"] == "H9"


@pytest.mark.parametrize(
    ("noun", "item", "act"), [("playlist", "track", "add"), ("shelf", "book", "add"), ("crew", "sailor", "add")]
)
async def test_members_are_added_to_a_map_that_tools_ask_by_name(
    tmp_path: Path, noun: str, item: str, act: str
) -> None:
    many = "shelves" if noun == "shelf" else f"{noun}s"
    state = {f"{item}s": {key: {"title": f"T {key}", "pages": 2} for key in ("k1", "k2", "k3")},
             many: {"Morning": ["k1", "k3"], "Run": ["k2"]}}  # fmt: skip
    tools = [tool(f"get_{item}", f"{item}_id"), tool(f"get_{noun}", "name"), tool(f"list_{many}"),
             tool(f"{act}_to_{noun}", "name", f"{item}_id")]  # fmt: skip
    async with service(tmp_path, state, *tools).open() as world:
        assert value(await world.call(f"get_{noun}", {"name": "Morning"})) == {
            "name": "Morning", f"{item}_ids": ["k1", "k3"],
        }  # fmt: skip
        value(await world.call(f"{act}_to_{noun}", {"name": "Run", f"{item}_id": "k3"}))
        assert value(await world.call(f"get_{noun}", {"name": "Run"}))[f"{item}_ids"] == ["k2", "k3"]
        assert [row["name"] for row in value(await world.call(f"list_{many}", {}))] == ["Morning", "Run"]


@pytest.mark.parametrize(("noun", "act"), [("vehicle", "retire"), ("server", "decommission"), ("model", "retire")])
async def test_a_given_record_is_retired(tmp_path: Path, noun: str, act: str) -> None:
    state = {f"{noun}s": [{f"{noun}_id": name, "status": "active", "load": 4} for name in ("m1", "m2")]}
    tools = [tool(f"get_{noun}", f"{noun}_id"), tool(f"{act}_{noun}", f"{noun}_id", about="Take it out of use."),
             tool("set_load", f"{noun}_id", load=NUMBER)]  # fmt: skip
    async with service(tmp_path, state, *tools).open() as world:
        shown = value(await world.call(f"{act}_{noun}", {f"{noun}_id": "m1"}))
        assert shown == {f"{noun}_id": "m1", "status": f"{act.removesuffix('e')}ed", "load": 4}


@pytest.mark.parametrize(
    ("part", "act", "field", "given"),
    [("posts", "post_message", "text", {"id": "p1", "author": "ann"}),
     ("requests", "request_ride", "when", {"id": "o1"}),
     ("drafts", "draft_letter", "subject", {"id": "r1", "by": "ann"}), ("invites", "invite_guest", "name", {"id": 1})],
)  # fmt: skip
async def test_a_verb_that_is_the_noun_of_given_records_makes_one(
    tmp_path: Path, part: str, act: str, field: str, given: Json
) -> None:
    state = {part: [{**given, field: "first"}], "channels": ["general", "ops"]}
    tools = [tool(f"list_{part}"), tool(act, "place", field), tool("list_channels")]
    async with service(tmp_path, state, *tools).open() as world:
        value(await world.call(act, {"place": "ops", field: "second"}))
        assert [row[field] for row in value(await world.call(f"list_{part}", {}))] == ["first", "second"]


async def test_a_verb_beside_records_of_another_kind_makes_none(tmp_path: Path) -> None:
    state = {"books": [{"id": "b1", "title": "Emma"}], "rooms": [{"id": "r1", "size": 4}]}
    tools = [tool("list_books"), tool("list_rooms"), tool("book_room", "room_id", "day"), tool("list_bookings")]
    async with service(tmp_path, state, *tools).open() as world:
        value(await world.call("book_room", {"room_id": "r1", "day": "2030-02-01"}))
        assert len(value(await world.call("list_books", {}))) == 1


@pytest.mark.parametrize("other", [3, 2.5, True])
async def test_a_map_with_other_values_than_keys_is_no_assignment(tmp_path: Path, other: Json) -> None:
    state: Json = {"drivers": [{"id": "D7", "name": "Ann"}], "labels": {"A1": "D7", "A2": other}}
    tools = tool("list_labels"), tool("list_drivers")
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        rows = value(await world.call("list_labels"))
        assert [row.get("value") for row in rows] == ["D7", other]
