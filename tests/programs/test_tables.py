"""The tables: links in both directions, formulas, types of fields, and what is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.services import value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.world.world import World

Json = Any
MANY: list[Json] = 11 * [{"id": "x", "fields": {"Minutes": 1}}]
NIGHT_BUS, GARDEN = "rec172aa115426f58", "rec0a75737ad21738"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("calm_tables")).open() as opened:
        yield opened


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    """Call a tool in the base of the festival."""
    base = next(str(key) for key, row in world.view.rows("base") if row["name"] != "Office")
    return value(await world.call(tool, {"baseId": base, **arguments}))


async def named(world: World, table: str, formula: str) -> list[str]:
    found = await ask(world, "list_records", tableId=table, filterByFormula=formula)
    return [one["fields"][next(iter(one["fields"]))] for one in found["records"]]


async def test_links_are_shown_on_both_sides_and_end_with_the_record(world: World) -> None:
    fields = {"Name": "Night ride", "Films": [NIGHT_BUS], "Venue": "Garden Screen"}
    made = await ask(world, "create_record", tableId="Screenings", fields=fields)
    assert made["fields"]["Venue"] == [GARDEN]

    async def screenings(table: str, record: str) -> list[str]:
        return (await ask(world, "get_record", tableId=table, recordId=record))["fields"].get("Screenings", [])

    assert made["id"] in await screenings("Films", NIGHT_BUS)
    assert made["id"] in await screenings("Venues", GARDEN)
    others = [one for one in await screenings("Venues", GARDEN) if one != made["id"]]
    change = {"id": made["id"], "fields": {"Venue": None}}
    await ask(world, "update_records", tableId="Screenings", records=[change])
    assert await screenings("Venues", GARDEN) == others
    await ask(world, "delete_records", tableId="Screenings", recordIds=[made["id"]])
    assert await screenings("Films", NIGHT_BUS) == []


@pytest.mark.parametrize(
    ("table", "formula", "found"),
    [
        ("Films", 'AND({Status} = "Confirmed", {Minutes} > 80, NOT({Year} < 2028))', 3),
        ("Films", 'OR({Status} = "Declined", FIND("Moss", {Title}))', 2),
        ("Films", 'SEARCH("family", {Genres}) > 0', 3),
        ("Films", 'LOWER({Title}) = "moss"', 1),
        ("Films", "{Minutes} * 2 - 4 >= 200", 3),
        ("Venues", "{Step-free}", 3),
        ("Venues", 'AND({Step-free}, {Phone} & "" != "", {Seats} / 2 < 100)', 2),
        ("Screenings", "IS_AFTER({Starts at}, TODAY())", 6),
    ],
)
async def test_formulas_filter_records(table: str, formula: str, found: int, world: World) -> None:
    assert len(await named(world, table, formula)) == found


async def test_tables_and_fields_are_created_and_renamed(world: World) -> None:
    fields: Json = [{"name": "Name", "type": "singleLineText"}, {"name": "Fee", "type": "number"}]
    table = (await ask(world, "create_table", name="Guests", fields=fields))["table"]
    field: Json = {"name": "Arrives", "type": "date"}
    made = (await ask(world, "create_field", tableId=table["id"], nested={"field": field}))["field"]
    await ask(world, "create_record", tableId="Guests", fields={"Name": "Ana", "Fee": "120", "Arrives": "2029-05-10"})
    await ask(world, "update_field", tableId="Guests", fieldId=made["id"], name="Arrival")
    await ask(world, "update_table", tableId="Guests", name="Invited")
    rows = (await ask(world, "list_records", tableId="Invited"))["records"]
    assert [one["fields"] for one in rows] == [{"Name": "Ana", "Fee": 120, "Arrival": "2029-05-10"}]
    shown = await ask(world, "describe_table", tableId=table["id"], detailLevel="identifiersOnly")
    assert [one["name"] for one in shown["table"]["fields"]] == ["Name", "Fee", "Arrival"]


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("list_records", {"tableId": "Nowhere"}, "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND"),
        ("list_records", {"tableId": "Films", "view": "Mine"}, "VIEW_NAME_NOT_FOUND"),
        ("list_records", {"tableId": "Films", "filterByFormula": "AND({Title}"}, "INVALID_FILTER_BY_FORMULA"),
        ("list_records", {"tableId": "Films", "filterByFormula": "{Prize} = 1"}, "unknown field names: Prize"),
        ("get_record", {"tableId": "Films", "recordId": "rec0"}, "NOT_FOUND"),
        ("get_record", {"tableId": "Films", "recordId": GARDEN}, "NOT_FOUND"),
        ("create_record", {"tableId": "Films", "fields": {"Prize": "Gold"}}, "UNKNOWN_FIELD_NAME"),
        ("create_record", {"tableId": "Films", "fields": {"Minutes": "long"}}, "INVALID_VALUE_FOR_COLUMN"),
        ("create_record", {"tableId": "Films", "fields": {"Submitted at": "now"}}, "is computed"),
        ("create_record", {"tableId": "Screenings", "fields": {"Films": [GARDEN]}}, "ROW_DOES_NOT_EXIST"),
        ("update_records", {"tableId": "Films", "records": MANY}, "INVALID_RECORDS"),
        ("delete_records", {"tableId": "Films", "recordIds": [NIGHT_BUS, "rec0"]}, "NOT_FOUND"),
        ("describe_table", {"tableId": "tbl0"}, "Table tbl0 not found"),
        ("create_table", {"name": "Films", "fields": [{"name": "A", "type": "number"}]}, "DUPLICATE_TABLE_NAME"),
        ("create_comment", {"tableId": "Films", "recordId": NIGHT_BUS, "text": " "}, "must not be empty"),
    ],
)
async def test_what_is_refused_writes_nothing(tool: str, arguments: Json, error: str, world: World) -> None:
    base = next(str(key) for key, row in world.view.rows("base") if row["name"] != "Office")
    before = {entity: [*world.view.rows(entity)] for entity in world.view.entities()}
    answer = await world.call(tool, {"baseId": base, **arguments})
    assert isinstance(answer.body, ToolResult)
    assert answer.body.is_error
    assert error in str(answer.body.value)
    assert {entity: [*world.view.rows(entity)] for entity in world.view.entities()} == before


async def test_an_attachment_and_comments_belong_to_their_record(world: World) -> None:
    file = {"attachmentFieldIdOrName": "Stills", "file": "aGk=", "filename": "still.png", "contentType": "image/png"}
    await ask(world, "upload_attachment", recordId=NIGHT_BUS, **file)
    shown = await ask(world, "get_record", tableId="Films", recordId=NIGHT_BUS)
    assert [(one["filename"], one["size"]) for one in shown["fields"]["Stills"]] == [("still.png", 2)]
    at: Json = {"tableId": "Films", "recordId": NIGHT_BUS}
    first = (await ask(world, "create_comment", **at, text="Who drives?"))["comment"]
    await ask(world, "create_comment", **at, text="We do.", parentCommentId=first["id"])
    page = await ask(world, "list_comments", **at, pageSize=1)
    rest = await ask(world, "list_comments", **at, pageSize=1, offset=page["offset"])
    assert [one["text"] for one in (*page["comments"], *rest["comments"])] == ["We do.", "Who drives?"]
    assert page["comments"][0]["parentCommentId"] == first["id"]
    assert rest["offset"] is None
