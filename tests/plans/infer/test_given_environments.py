"""States as Python environments hold them: tables named otherwise than tools name their records, maps, nested lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import STRING, service, value

Json = Any

NOUNS = [("customer", "crm_data"), ("visitor", "traffic"), ("booking", "diary"), ("vessel", "registry")]
PARTS = [("message", "inbox"), ("note", "notebook"), ("task", "board")]


def tool(name: str, *required: str, optional: tuple[str, ...] = (), about: str = "", output: Json = None) -> Json:
    schema = {
        "type": "object",
        "properties": dict.fromkeys((*required, *optional), STRING),
        "required": [*required],
    }
    declared = {} if output is None else {"outputSchema": output}
    return {"name": name, "description": about, "inputSchema": schema, **declared}


@pytest.mark.parametrize(("noun", "table"), NOUNS)
async def test_the_ids_of_rows_name_a_table_that_no_tool_mentions(tmp_path: Path, noun: str, table: str) -> None:
    rows = [{f"{noun}_id": f"X{n}", "city": city} for n, city in enumerate(["Oslo", "Bergen", "Oslo"])]
    tools = [tool(f"search_{noun}s", optional=("city",)), tool(f"delete_{noun}", f"{noun}_id")]
    async with service(tmp_path, {table: rows}, *tools) as sim, sim.open() as world:
        assert value(await world.call(f"search_{noun}s", {"city": "Oslo"})) == [rows[0], rows[2]]
        assert (await world.call(f"delete_{noun}", {f"{noun}_id": "X1"})).ok
        assert value(await world.call(f"search_{noun}s")) == [rows[0], rows[2]]


@pytest.mark.parametrize(("noun", "table"), PARTS)
async def test_the_text_of_rows_names_a_table_that_no_tool_mentions(tmp_path: Path, noun: str, table: str) -> None:
    rows = {"1": {"writer_id": "u4", noun: "Call Ada", "time": "2024-01-02"},
            "2": {"writer_id": "u7", noun: "Buy milk", "time": "2024-01-03"}}  # fmt: skip
    tools = [tool(f"add_{noun}", "writer_id", noun), tool(f"delete_{noun}", f"{noun}_id"), tool(f"list_{noun}s")]
    async with service(tmp_path, {table: rows}, *tools) as sim, sim.open() as world:
        assert [row[noun] for row in value(await world.call(f"list_{noun}s"))] == ["Call Ada", "Buy milk"]
        assert (await world.call(f"delete_{noun}", {f"{noun}_id": "1"})).ok
        assert [row[noun] for row in value(await world.call(f"list_{noun}s"))] == ["Buy milk"]


async def test_two_parts_of_a_state_with_one_noun_are_both_kept(tmp_path: Path) -> None:
    users = {"Eve": {"balance": 500.0}, "Ada": {"balance": 120.5}}
    state: Json = {"chat": {"user_list": {"Eve": {"phone": "1"}, "Ada": {"phone": "2"}}},
             "shop": {"users": users, "logged_in_users": []}}  # fmt: skip
    number = {"type": "object", "properties": {"result": {"type": "number"}}, "required": ["result"]}
    tools = [tool("check_balance", "user_name", output=number), tool("view_logged_in_users")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert value(await world.call("view_logged_in_users")) == []
        shown = [value(await world.call("check_balance", {"user_name": name})) for name in users]
        assert shown == [{"result": row["balance"]} for row in users.values()]


async def test_rows_inside_records_are_listed_by_the_record_that_has_them(tmp_path: Path) -> None:
    menus = {"Lotus": [{"product": "Tea", "price": 2.5}], "Corner": [{"product": "Pie", "price": 4.0}]}
    state = {
        "merchants": {name: {"merchant_id": f"M{n}", "menu": menu} for n, (name, menu) in enumerate(menus.items())}
    }
    listing = tool("get_products", "merchant_name")
    async with service(tmp_path, state, listing) as sim, sim.open() as world:
        for name, menu in menus.items():
            assert value(await world.call("get_products", {"merchant_name": name})) == menu


@pytest.mark.parametrize(("kind", "noun"), [("food_delivery", "order"), ("support", "ticket"), ("spa", "visit")])
async def test_a_kind_of_given_records_is_created_among_them(tmp_path: Path, kind: str, noun: str) -> None:
    tools = [tool(f"add_{kind}_{noun}", "username", "what"), tool(f"view_{noun}s", "user_name")]
    async with service(tmp_path, {f"{noun}s": [], "users": ["Eve", "Ada"]}, *tools) as sim, sim.open() as world:
        await world.call(f"add_{kind}_{noun}", {"username": "Eve", "what": "Tea"})
        (row,) = value(await world.call(f"view_{noun}s", {"user_name": "Eve"}))
        assert row["what"] == "Tea"
        assert value(await world.call(f"view_{noun}s", {"user_name": "Ada"})) == []


@pytest.mark.parametrize("name", ["field", "attribute", "column"])
async def test_a_read_shows_the_field_that_it_is_asked_for(tmp_path: Path, name: str) -> None:
    rows = [{"event_id": "7", "title": "Tea", "from/to": "9-10"}, {"event_id": "8", "title": "Walk", "from/to": "3-4"}]
    get = tool("get_event", "event_id", optional=(name,))
    async with service(tmp_path, {"events": rows}, get) as sim, sim.open() as world:
        assert value(await world.call("get_event", {"event_id": "7", name: "from/to"})) == {"from/to": "9-10"}
        assert value(await world.call("get_event", {"event_id": "8"})) == rows[1]


NUMPY = "{}\n\nReturns\n-------\nmessage : str\n    Message that says whether it was done."
GOOGLE = "{}\n\nArgs:\n    event_id: The id.\n\nReturns:\n    str: A confirmation message."


@pytest.mark.parametrize("docstring", [NUMPY, GOOGLE])
async def test_a_tool_that_documents_a_message_confirms_and_fails_in_words(tmp_path: Path, docstring: str) -> None:
    data = "Show an event.\n\nReturns\n-------\nevent : dict\n    The event."
    tools = [tool("update_event", "event_id", "title", about=docstring.format("Change an event.")),
             tool("get_event", "event_id", about=data)]  # fmt: skip
    rows = [{"event_id": "7", "title": "Tea"}, {"event_id": "8", "title": "Walk"}]
    async with service(tmp_path, {"events": rows}, *tools) as sim, sim.open() as world:
        done = await world.call("update_event", {"event_id": "7", "title": "Run"})
        assert value(done) == "Event 7 updated successfully"
        assert value(await world.call("get_event", {"event_id": "7"})) == {"event_id": "7", "title": "Run"}
        gone = await world.call("update_event", {"event_id": "9", "title": "Run"})
        assert "not found" in value(gone)


async def test_a_mapping_of_flags_and_texts_confirms_a_write(tmp_path: Path) -> None:
    values = {"anyOf": [{"type": "boolean"}, {"type": "string"}]}
    inner = {"type": "object", "additionalProperties": values}
    output = {"type": "object", "properties": {"result": inner}, "required": ["result"]}
    tools = [tool("delete_alarm", "alarm_id", output=output), tool("add_alarm", "message", output=output)]
    rows = [{"alarm_id": "1", "hour": 7, "message": "Up"}, {"alarm_id": "2", "hour": 8, "message": "Now"}]
    async with service(tmp_path, {"alarms": rows}, *tools) as sim, sim.open() as world:
        shown = value(await world.call("delete_alarm", {"alarm_id": "1"}))
        assert shown["result"]["success"] is True
        assert "1" in shown["result"]["message"]
        gone = value(await world.call("delete_alarm", {"alarm_id": "1"}))
        assert gone == {"result": {"success": False, "message": "Alarm 1 not found"}}
        shown = value(await world.call("add_alarm", {"message": "Tea"}))
        assert "created successfully" in shown["result"]["message"]


MESSAGES = [{"message_id": "1", "writer": "Eve", "reader": "Ada", "text": "Hi", "time": "2024-06-09"},
            {"message_id": "2", "writer": "Eve", "reader": "Bob", "text": "Yo", "time": "2024-09-01"},
            {"message_id": "3", "writer": "Ada", "reader": "Bob", "text": "Oh", "time": "2024-01-15"}]  # fmt: skip


async def test_what_is_between_others_is_not_one_of_these(tmp_path: Path) -> None:
    state = {"users": ["Eve", "Ada", "Bob"], "messages": MESSAGES}
    tools = [tool("view_messages_between_users", "writer", "reader"), tool("delete_message", "message_id")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        shown = value(await world.call("view_messages_between_users", {"writer": "Eve", "reader": "Bob"}))
        assert shown == [MESSAGES[1]]


@pytest.mark.parametrize(("name", "at"), [("latest", 1), ("newest", 1), ("earliest", 2), ("oldest", 2)])
async def test_the_latest_of_given_records_is_the_last_by_its_time(tmp_path: Path, name: str, at: int) -> None:
    tools = [tool(f"get_{name}_message_id"), tool("delete_message", "message_id")]
    async with service(tmp_path, {"messages": MESSAGES}, *tools) as sim, sim.open() as world:
        assert value(await world.call(f"get_{name}_message_id")) == MESSAGES[at]


async def test_values_of_given_records_are_shown_by_their_name(tmp_path: Path) -> None:
    tools = [tool("get_all_message_times_with_ids"), tool("delete_message", "message_id")]
    async with service(tmp_path, {"messages": MESSAGES}, *tools) as sim, sim.open() as world:
        assert value(await world.call("get_all_message_times_with_ids")) == MESSAGES


FLIGHTS = [{"flight_no": "CA1", "origin": "Oslo"}, {"flight_no": "MU5", "origin": "Bergen"},
           {"flight_no": "MU5", "origin": "Rome"}]  # fmt: skip
RESERVATIONS = [{"reservation_id": "r1", "flight_no": "CA1", "cabin": "Economy", "meal": "fish"},
                {"reservation_id": "r2", "flight_no": "MU5", "cabin": "Business", "meal": "rice"}]  # fmt: skip


async def test_a_number_that_several_given_records_have_is_no_key_that_may_be_missing(tmp_path: Path) -> None:
    tools = [tool("reserve_flight", "flight_no", "cabin"), tool("list_reservations"), tool("list_flights")]
    state = {"flights": FLIGHTS, "reservations": RESERVATIONS}
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        assert (await world.call("reserve_flight", {"flight_no": "MU5", "cabin": "Economy"})).ok
        assert value(await world.call("list_reservations"))[-1]["flight_no"] == "MU5"


PEOPLE = {"Eve": "U1", "Ada": "U2", "Bob": "U3"}
BY_NAME = {name: {"user_id": key, "city": "Oslo"} for name, key in PEOPLE.items()}
LISTED = [{"user_id": key, "name": name} for name, key in PEOPLE.items()]


@pytest.mark.parametrize("users", [BY_NAME, LISTED], ids=["by name", "listed"])
@pytest.mark.parametrize("role", ["sender", "owner"])
async def test_names_mean_the_given_records_that_ids_refer_to(tmp_path: Path, users: Json, role: str) -> None:
    notes = [{"note_id": "n1", f"{role}_id": "U1", "text": "Hi"}, {"note_id": "n2", f"{role}_id": "U3", "text": "Yo"}]
    tools = [tool("list_notes", f"{role}_name"), tool("add_note", f"{role}_name", "text"),
             tool("get_user", "user_name")]  # fmt: skip
    async with service(tmp_path, {"users": users, "notes": notes}, *tools) as sim, sim.open() as world:
        assert value(await world.call("list_notes", {f"{role}_name": "Bob"})) == [notes[1]]
        await world.call("add_note", {f"{role}_name": "Ada", "text": "New"})
        (added,) = value(await world.call("list_notes", {f"{role}_name": "Ada"}))
        assert (added[f"{role}_id"], added["text"]) == ("U2", "New")
        assert value(await world.call("get_user", {"user_name": "Ada"}))["user_id"] == "U2"
        assert value(await world.call("add_note", {f"{role}_name": "Tom", "text": "Old"}))["text"] == "Old"


async def test_values_that_happen_to_be_keys_of_others_refuse_no_new_value(tmp_path: Path) -> None:
    parcels = [{"parcel_id": f"p{n}", "courier_id": f"U{n}", "text": "x"} for n in (1, 2)]
    tools = [tool("add_parcel", "courier_id", "text"), tool("list_parcels", "courier_id"), tool("list_users")]
    async with service(tmp_path, {"users": LISTED, "parcels": parcels}, *tools) as sim, sim.open() as world:
        added = value(await world.call("add_parcel", {"courier_id": "DHL", "text": "y"}))
        assert value(await world.call("list_parcels", {"courier_id": "DHL"})) == [added]
        assert value(await world.call("list_parcels", {"courier_id": "UPS"})) == []
        assert value(await world.call("list_users")) == LISTED


@pytest.mark.parametrize("verb", ["list", "search"])
async def test_rows_are_shown_in_a_mapping_from_their_keys(tmp_path: Path, verb: str) -> None:
    row: Json = {"type": "object", "properties": {"flat_id": STRING, "town": STRING}, "required": ["flat_id", "town"]}
    listing = tool(f"{verb}_flats", optional=("town",), output={"type": "object", "additionalProperties": row})
    flats = {key: {"flat_id": key, "town": town} for key, town in [("f1", "Oslo"), ("f2", "Bergen"), ("f3", "Oslo")]}
    async with service(tmp_path, {"flats": flats}, listing, tool("get_flat", "flat_id")) as sim, sim.open() as world:
        assert value(await world.call(f"{verb}_flats")) == flats
        assert value(await world.call(f"{verb}_flats", {"town": "Oslo"})) == {"f1": flats["f1"], "f3": flats["f3"]}


@pytest.mark.parametrize("field", ["status", "order_status", "state"])
async def test_what_is_called_off_keeps_its_record_if_it_has_a_state(tmp_path: Path, field: str) -> None:
    rows = [{"order_id": "o1", field: "delivered", "total": 7}, {"order_id": "o2", field: "processed", "total": 9}]
    tools = [tool("cancel_order", "order_id"), tool("get_order", "order_id")]
    async with service(tmp_path, {"orders": rows}, *tools) as sim, sim.open() as world:
        assert (await world.call("cancel_order", {"order_id": "o2"})).ok
        assert value(await world.call("get_order", {"order_id": "o2"})) == {**rows[1], field: "cancelled"}


@pytest.mark.parametrize("is_mapping", [False, True])
@pytest.mark.parametrize(("verb", "state", "noun"), [("save", "saved", "flat"), ("favorite", "favorited", "recipe")])
async def test_a_list_of_keys_shows_the_records_that_have_them(
    tmp_path: Path, verb: str, state: str, noun: str, is_mapping: bool
) -> None:
    row: Json = {"type": "object", "properties": {f"{noun}_id": STRING, "town": STRING}, "required": ["town"]}
    mapping, rows = {"type": "object", "additionalProperties": row}, {"type": "array", "items": row}
    output = mapping if is_mapping else {"type": "object", "properties": {"result": rows}, "required": ["result"]}
    held = {f"r{n}": {f"{noun}_id": f"r{n}", "town": town} for n, town in enumerate(["Oslo", "Bergen", "Rome"])}
    tools = [tool(f"{verb}_{noun}", f"{noun}_id"), tool(f"list_{state}_{noun}s", output=output),
             tool(f"delete_{noun}", f"{noun}_id"), tool(f"remove_{state}_{noun}", f"{noun}_id")]  # fmt: skip
    async with service(tmp_path, {f"{noun}s": held, f"{state}_{noun}s": ["r1"]}, *tools) as sim, sim.open() as world:
        assert not (await world.call(f"{verb}_{noun}", {f"{noun}_id": "nope"})).ok
        assert (await world.call(f"{verb}_{noun}", {f"{noun}_id": "r2"})).ok
        shown = value(await world.call(f"list_{state}_{noun}s"))
        assert [*(shown.values() if is_mapping else shown["result"])] == [held["r1"], held["r2"]]
        assert (await world.call(f"delete_{noun}", {f"{noun}_id": "r1"})).ok
        shown = value(await world.call(f"list_{state}_{noun}s"))
        assert [*(shown.values() if is_mapping else shown["result"])] == [held["r2"]]
