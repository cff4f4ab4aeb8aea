"""Given accounts under their user names: their fields, records inside them, and results with a success flag."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize("token", ["token", "session_token", "access_token"])
async def test_a_token_of_a_given_account_says_whose_records_are_meant(tmp_path: Path, token: str) -> None:
    state = {
        "accounts": {"ada": {"password": "tide", token: "t-1"}, "bo": {"password": "reed", token: "t-2"}},
        "wallets": {"ada": {"coins": 4}, "bo": {"coins": 9}},
        "notes": {"1": {"text": "Sail", "username": "ada"}, "2": {"text": "Row", "username": "bo"}},
    }
    tools = (
        tool("list_notes", token),
        tool("add_note", token, "text"),
        tool("get_coins", token),
        tool("log_in", "username", "password"),
    )
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert [row["text"] for row in value(await world.call("list_notes", {token: "t-2"}))] == ["Row"]
        assert value(await world.call("get_coins", {token: "t-1"}))["coins"] == 4
        await world.call("add_note", {token: "t-2", "text": "Swim"})
        assert [row["text"] for row in value(await world.call("list_notes", {token: "t-2"}))] == ["Row", "Swim"]
        assert [row["text"] for row in value(await world.call("list_notes", {token: "t-1"}))] == ["Sail"]
        assert refused(await world.call("list_notes", {token: "t-9"}))
        await world.call("log_in", {"username": "ada", "password": "tide"})
        assert not refused(await world.call("list_notes", {token: "t-9"}))  # the call before may have issued it
        assert world.ledger.steps[-1]["guessed"]


async def test_a_field_of_a_record_is_read_by_its_key_and_other_fields(tmp_path: Path) -> None:
    tools = (
        tool("get_user_pass_code", "username", "password"),
        tool("query_coins", "username"),
        tool("log_out", "username"),
    )
    state = {
        "accounts": {"ada": {"password": "tide", "pass_code": "P1"}, "bo": {"password": "reed", "pass_code": "P2"}},
        "wallets": {"ada": {"coins": 4, "opened": 2019}, "bo": {"coins": 9, "opened": 2021}},
    }
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("query_coins", {"username": "bo"}))["coins"] == 9
        asked = {"username": "bo", "password": "reed"}
        assert value(await world.call("get_user_pass_code", asked))["pass_code"] == "P2"


async def test_rows_under_ids_may_differ_and_lists_may_be_written_as_a_whole(tmp_path: Path) -> None:
    state = {
        "measurements": {
            "P12": [{"time": "09:00", "pulse": 70}],
            "P13": [{"time": "10:00", "weight": 71, "height": 1.8}],
        },
        "scenes": {"evening": [{"name": "lamp"}, {"name": "radio"}], "morning": [{"name": "kettle"}]},
    }
    rows: Json = {"type": "array", "items": {"type": "object"}}
    tools = (
        tool("list_measurements", "patient_id"),
        tool("get_scene", "name"),
        tool("add_scene", "name", "devices", devices=rows),
        tool("delete_scene", "name"),
    )
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        shown = value(await world.call("list_measurements", {"patient_id": "P13"}))
        assert [(row["time"], row["weight"]) for row in shown] == [("10:00", 71)]
        assert value(await world.call("get_scene", {"name": "evening"}))["devices"] == state["scenes"]["evening"]
        await world.call("add_scene", {"name": "night", "devices": [{"name": "lamp"}]})
        assert value(await world.call("get_scene", {"name": "night"}))["devices"] == [{"name": "lamp"}]
        await world.call("delete_scene", {"name": "evening"})
        assert refused(await world.call("get_scene", {"name": "evening"}))


@pytest.mark.parametrize("path", [["claims"], ["policy", "claims"], ["policy", "filed", "claims"]])
async def test_rows_in_objects_of_a_record_are_read(tmp_path: Path, path: list[str]) -> None:
    held: Json = [{"claim_id": "C1", "amount": 5}, {"claim_id": "C2", "amount": 7}]
    for name in reversed(path):
        held = {name: held, "since": 2020}
    state = {"accounts": {"ada": {"password": "tide", **held}, "bo": {"password": "reed", "policy": {"since": 2021}}}}
    tools = tool("get_claim", "username", "claim_id"), tool("list_claims", "username")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_claim", {"username": "ada", "claim_id": "C2"}))["amount"] == 7
        assert [row["amount"] for row in value(await world.call("list_claims", {"username": "ada"}))] == [5, 7]
        assert refused(await world.call("get_claim", {"username": "ada", "claim_id": "C9"}))
        assert value(await world.call("list_claims", {"username": "bo"})) == []


async def test_who_asks_is_no_parent_of_rows_under_other_names(tmp_path: Path) -> None:
    state = {
        **accounts(),
        "halls": {"LB1": {"May 1": ["11:00", "12:00"]}, "LB2": {"May 1": ["9:00"], "May 2": ["10:00"]}},
    }
    tools = (
        tool("list_halls", "username"),
        tool("log_out", "username"),
        tool("book_hall", "username", "hall_id", "slot"),
    )
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        shown = json.dumps(value(await world.call("list_halls", {"username": "ada"})))
        assert all(part in shown for part in ("LB1", "LB2", "11:00", "10:00", "May 2"))


@pytest.mark.parametrize("table", ["accounts", "members", "students"])
async def test_accounts_are_not_called_after_a_text_that_tools_mention(tmp_path: Path, table: str) -> None:
    rows = {"ada": {"admin_password": "tide", "town": "Ulm"}, "bo": {"admin_password": "reed", "town": "Bonn"}}
    tools = (
        tool("get_town", "username"),
        tool("change_town", "username", "town"),
        tool("set_admin_password", "username"),
    )
    async with service(tmp_path, {table: rows}, *tools) as simulator, simulator.open("w") as world:
        assert simulator.scenario.domain.given == {table[:-1]}
        await world.call("change_town", {"username": "bo", "town": "Trier"})
        assert value(await world.call("get_town", {"username": "bo"}))["town"] == "Trier"
        assert value(await world.call("get_town", {"username": "ada"}))["town"] == "Ulm"


@pytest.mark.parametrize("caller", ["username", "login", "token"])
async def test_rows_in_a_record_are_read_in_that_of_the_caller_alone(tmp_path: Path, caller: str) -> None:
    rows = {"ada": [{"order_id": "O1", "price": 4}], "bo": [{"order_id": "O2", "price": 6}]}
    names = {at: f"t-{at}" if caller == "token" else at for at in rows}
    state = {"accounts": {at: {"password": f"{at}-1", "token": f"t-{at}", "orders": rows[at]} for at in rows}}
    tools = tool("list_orders", caller), tool("get_order", caller, "order_id")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        for at, orders in rows.items():
            asked = {caller: names[at], "order_id": orders[0]["order_id"]}
            assert value(await world.call("list_orders", {caller: names[at]})) == orders
            assert value(await world.call("get_order", asked)) == orders[0]
        assert refused(await world.call("get_order", {caller: names["ada"], "order_id": "O2"}))
        assert world.ledger.steps[-1]["guessed"]


@pytest.mark.parametrize(("noun", "token"), [("device", "device_token"), ("badge", "badge_token"), ("app", "api_key")])
async def test_a_token_is_of_no_account_if_an_account_has_several(tmp_path: Path, noun: str, token: str) -> None:
    rows = [{token: at, "username": "ada", "place": at} for at in ("d1", "d2")]
    tools = tool(f"delete_{noun}", token), tool(f"get_{noun}", token), tool(f"list_{noun}s")
    async with service(tmp_path, {f"{noun}s": rows}, *tools) as simulator, simulator.open("w") as world:
        await world.call(f"delete_{noun}", {token: "d2"})
        assert value(await world.call(f"list_{noun}s", {})) == rows[:1]


@pytest.mark.parametrize(("noun", "key"), [("card", "card_no"), ("meter", "meter_ref"), ("locker", "locker_no")])
async def test_a_field_is_read_by_a_key_that_records_do_not_show(tmp_path: Path, noun: str, key: str) -> None:
    tools = tool("query_balance", key), tool("get_limit", key), tool("set_limit", key, "limit", limit=NUMBER)
    state = {f"{noun}s": {"47": {"limit": 100, "balance": 5}, "48": {"limit": 50, "balance": 7}}}
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("query_balance", {key: "48"}))["balance"] == 7
        await world.call("set_limit", {key: "47", "limit": 10})
        assert value(await world.call("get_limit", {key: "47"}))["limit"] == 10
        assert refused(await world.call("get_limit", {key: "49"}))
