"""Given states: searched fields, fields of singletons, and the table of a create, by name and description."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.given import INTEGER, NUMBER, STRING, Json, refused, service, tool, value


async def test_a_password_is_stored_but_never_shown(tmp_path: Path) -> None:
    state: Json = {"sailors": [{"sailor_id": "S1", "name": "Ada", "password": "anchor"}]}
    tools = tool("get_sailor", "sailor_id"), tool("change_sailor_password", "sailor_id", "password")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("change_sailor_password", {"sailor_id": "S1", "password": "tide"})
        assert value(await world.call("get_sailor", {"sailor_id": "S1"})) == {"sailor_id": "S1", "name": "Ada"}
        assert dict(world.view.get("sailor", "S1") or {})["password"] == "tide"


@pytest.mark.parametrize("kind", [STRING, INTEGER])
@pytest.mark.parametrize("field", ["title", "name", "subject"])
async def test_given_rows_without_ids_get_those_that_tools_take(tmp_path: Path, field: str, kind: Json) -> None:
    state: Json = {"letters": [{field: "Frost"}, {field: "Wind"}]}
    tools = tool("list_letters"), tool("get_letter", letter_id=kind), tool("write_letter", field)
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        rows = [*value(await world.call("list_letters", {})), value(await world.call("write_letter", {field: "Hail"}))]
        keys = [row["id"] for row in rows]
        assert len({*keys}) == 3
        found = [value(await world.call("get_letter", {"letter_id": key}))[field] for key in keys]
        assert found == ["Frost", "Wind", "Hail"]


@pytest.mark.parametrize(
    ("argument", "about"),
    [
        ("identifier", "Show a letter by ID or title."),
        ("letter_id", "Read the letter with an id or title."),
        ("letter", "Show one letter."),
    ],
)
async def test_records_are_found_by_title_where_a_tool_takes_ids_or_titles(
    tmp_path: Path, argument: str, about: str
) -> None:
    state: Json = {"letters": [{"id": 7, "title": "Frost"}, {"id": 8, "title": "Wind"}]}
    tools = tool("list_letters"), tool("get_letter", argument, about=about)
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        for asked in ("Wind", "8"):
            assert value(await world.call("get_letter", {argument: asked}))["title"] == "Wind"
        assert refused(await world.call("get_letter", {argument: "Hail"}))


@pytest.mark.parametrize("field", ["name", "path", "title"])
async def test_an_argument_called_like_the_entity_takes_what_people_call_a_record(tmp_path: Path, field: str) -> None:
    state: Json = {"letters": [{"letter_id": "a1", field: "/in/frost"}, {"letter_id": "a2", field: "/in/wind"}]}
    tools = tool("list_letters"), tool("get_letter", "letter")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_letter", {"letter": "/in/wind"}))["letter_id"] == "a2"
        assert refused(await world.call("get_letter", {"letter": "/in/hail"}))


@pytest.mark.parametrize(("noun", "details"), [("user", "account"), ("boat", "profile"), ("shop", "settings")])
async def test_a_singleton_with_the_details_of_a_noun_is_what_tools_get_and_update(
    tmp_path: Path, noun: str, details: str
) -> None:
    state: Json = {f"{noun}_{details}": {"street": "Quay 4", "city": "Delft"}, "harbour": {"depth": 4.5}}
    texts: Json = {"type": "object", "additionalProperties": STRING}
    get, update = tool(f"get_{noun}_info"), tool(f"update_{noun}_info", street=STRING, city=STRING)
    tools = [{**each, "outputSchema": texts} for each in (get, update)]
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call(f"get_{noun}_info", {})) == {"street": "Quay 4", "city": "Delft"}
        await world.call(f"update_{noun}_info", {"city": "Hoorn"})
        assert value(await world.call(f"get_{noun}_info", {})) == {"street": "Quay 4", "city": "Hoorn"}


@pytest.mark.parametrize(("verb", "state"), [("schedule", "scheduled"), ("save", "saved"), ("book", "booked")])
async def test_a_create_adds_to_the_table_of_what_its_verb_makes(tmp_path: Path, verb: str, state: str) -> None:
    row: Json = {"id": 1, "place": "Quay", "amount": 4.5}
    tools = tool(f"{verb}_trip", "place", "amount", amount=NUMBER), tool("list_trips"), tool(f"list_{state}_trips")
    given: Json = {"trips": [row], f"{state}_trips": [{**row, "id": 2}]}
    async with service(tmp_path, given, *tools) as simulator, simulator.open("w") as world:
        await world.call(f"{verb}_trip", {"place": "Pier", "amount": 9.5})
        assert [each["place"] for each in value(await world.call(f"list_{state}_trips", {}))] == ["Quay", "Pier"]
        assert value(await world.call("list_trips", {})) == [row]


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("send_money", "Sends a payment to the recipient."),
        ("post_amount", "\n    Post a payment.\n\n    :param amount: How much\n    "),
        ("submit_funds", "Submits a payment."),
    ],
)
async def test_a_create_adds_to_the_only_given_records_with_what_it_takes(
    tmp_path: Path, name: str, about: str
) -> None:
    row: Json = {"id": 1, "recipient": "Ada", "amount": 4.5, "date": "2031-02-03"}
    make = tool(name, "recipient", "amount", "date", about=about, amount=NUMBER)
    state: Json = {"payments": [row], "refunds": [{**row, "id": 2}]}
    async with service(tmp_path, state, make, tool("list_payments"), tool("list_refunds")) as sim, sim.open() as world:
        await world.call(name, {"recipient": "Bo", "amount": 2.5, "date": "2031-02-04"})
        assert [each["recipient"] for each in value(await world.call("list_payments", {}))] == ["Ada", "Bo"]


@pytest.mark.parametrize(("noun", "argument"), [("file", "file_path"), ("page", "name"), ("letter", "letter")])
async def test_a_text_result_is_the_text_that_the_state_has_under_the_key(
    tmp_path: Path, noun: str, argument: str
) -> None:
    read = {**tool(f"read_{noun}", argument), "outputSchema": {"type": "object", "properties": {"result": STRING}}}
    state: Json = {"store": {f"{noun}s": {"one.txt": "First line.\nSecond line.", "two.txt": "Short."}}}
    async with service(tmp_path, state, read) as simulator, simulator.open("w") as world:
        shown = value(await world.call(f"read_{noun}", {argument: "one.txt"}))
        assert shown == {"result": "First line.\nSecond line."}
