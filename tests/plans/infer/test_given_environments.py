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
    tools = [tool("delete_alarm", "alarm_id", output=output), tool("list_alarms")]
    rows = [{"alarm_id": "1", "hour": 7}, {"alarm_id": "2", "hour": 8}]
    async with service(tmp_path, {"alarms": rows}, *tools) as sim, sim.open() as world:
        shown = value(await world.call("delete_alarm", {"alarm_id": "1"}))
        assert shown["result"]["success"] is True
        assert "1" in shown["result"]["message"]
