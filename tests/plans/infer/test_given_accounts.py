"""Given accounts under their user names: their fields, records inside them, and results with a success flag."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.given import NUMBER, STRING, Json, refused, service, tool, value

FLAG: Json = {"type": "boolean"}


def wrapped(schema: Json) -> Json:
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}


def flagged(schema: Json) -> Json:
    """Return the outputSchema that FastMCP makes of `tuple[bool, T]`."""
    return wrapped({"type": "array", "prefixItems": [FLAG, schema], "minItems": 2, "maxItems": 2})


def typed(name: str, *required: str, output: Json) -> Json:
    return {**tool(name, *required), "outputSchema": output}


def accounts(**fields: Json) -> Json:
    rows = {"ada": {"password": "tide", **fields}, "bo": {"password": "reed", "balance": 1.5, "owed_balance": 0.5}}
    return {"accounts": rows, "opened_on": "2024-05-01"}


@pytest.mark.parametrize("handle", ["username", "login", "email"])
async def test_a_map_of_accounts_is_keyed_by_what_tools_ask_by(tmp_path: Path, handle: str) -> None:
    tools = (
        typed("get_balance", handle, output=wrapped(NUMBER)),
        typed("get_owed_balance", handle, output=wrapped(NUMBER)),
        typed("log_out", handle, output=wrapped(FLAG)),
    )
    async with (
        service(tmp_path, accounts(balance=12.5, owed_balance=3.0), *tools) as simulator,
        simulator.open("w") as world,
    ):
        assert value(await world.call("get_balance", {handle: "ada"})) == {"result": 12.5}
        assert value(await world.call("get_owed_balance", {handle: "bo"})) == {"result": 0.5}
        assert refused(await world.call("get_balance", {handle: "cy"}))


@pytest.mark.parametrize("argument", ["safe_code_new", "new_safe_code", "safe_code"])
async def test_a_setter_sets_the_field_of_a_record_that_its_name_says(tmp_path: Path, argument: str) -> None:
    tools = (
        typed("get_safe_code", "username", output=wrapped(STRING)),
        typed("set_safe_code", "username", argument, output=wrapped(FLAG)),
    )
    state = {
        "accounts": {"ada": {"password": "tide", "safe_code": "A1"}, "bo": {"password": "reed", "safe_code": "B1"}}
    }
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_safe_code", {"username": "ada"})) == {"result": "A1"}
        assert value(await world.call("set_safe_code", {"username": "ada", argument: "A2"})) == {"result": True}
        assert value(await world.call("get_safe_code", {"username": "ada"})) == {"result": "A2"}
        assert value(await world.call("get_safe_code", {"username": "bo"})) == {"result": "B1"}


async def test_a_flag_before_the_value_of_a_result_is_true_if_the_call_works(tmp_path: Path) -> None:
    orders = [{"order_id": "O1", "status": "sent"}, {"order_id": "O2", "status": "open"}]
    row: Json = {"type": "object", "additionalProperties": True}
    tools = (
        typed("get_balance", "username", output=flagged(NUMBER)),
        typed("view_orders", "username", output=flagged({"type": "array", "items": row})),
        typed(
            "get_order", "username", "order_id", output=wrapped({"anyOf": [FLAG, flagged(row)["properties"]["result"]]})
        ),
        typed("submit_report", "username", "text", output=wrapped(FLAG)),
    )
    async with (
        service(tmp_path, accounts(balance=12.5, orders=orders), *tools) as simulator,
        simulator.open("w") as world,
    ):
        assert value(await world.call("get_balance", {"username": "ada"})) == {"result": [True, 12.5]}
        assert value(await world.call("view_orders", {"username": "ada"})) == {"result": [True, orders]}
        asked = {"username": "ada", "order_id": "O2"}
        assert value(await world.call("get_order", asked)) == {"result": [True, orders[1]]}
        assert refused(await world.call("get_order", {**asked, "order_id": "O9"}))
        assert value(await world.call("submit_report", {"username": "ada", "text": "Wet"})) == {"result": True}


async def test_reads_inside_a_record_that_an_unknown_write_may_have_changed_are_guesses(tmp_path: Path) -> None:
    orders = [{"order_id": "O1", "status": "sent"}, {"order_id": "O2", "status": "open"}]
    tools = tool("get_order", "username", "order_id"), tool("cancel_order", "username", "order_id")
    state = accounts(orders=orders)
    state["accounts"]["bo"]["orders"] = [{"order_id": "O3", "status": "open"}]
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        asked = {"username": "ada", "order_id": "O2"}
        for is_guessed in (False, True):
            await world.call("get_order", asked)
            assert world.ledger.steps[-1]["guessed"] == is_guessed
            await world.call("get_order", {"username": "bo", "order_id": "O3"})
            assert not world.ledger.steps[-1]["guessed"]
            await world.call("cancel_order", asked)


async def test_who_asks_filters_no_records_that_do_not_say_whose_they_are(tmp_path: Path) -> None:
    state = {**accounts(), "boats": [{"name": "Gull", "berth": "A1"}, {"name": "Tern", "berth": "B2"}]}
    tools = tool("list_boats", "username"), tool("add_boat", "username", "name", "berth"), tool("log_out", "username")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        rows = value(await world.call("list_boats", {"username": "ada"}))
        assert [row["name"] for row in rows] == ["Gull", "Tern"]
