"""Calls of small tool lists: what one tool writes, the others reach, show and remove."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.declared import INTEGER, STRING, obj, tool
from support.given import refused, value

from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import Observation

Json = Any


async def answers(folder: Path, tools: Sequence[Json], *calls: tuple[str, Json]) -> list[Observation]:
    """Return the answers to calls in a new world."""
    (folder / "tools.json").write_text(json.dumps({"tools": tools}))
    async with Simulator.load(folder / "tools.json") as simulator, simulator.open(seed=1) as world:
        return [await world.call(name, arguments) for name, arguments in calls]


@pytest.mark.parametrize("noun", ["bucket", "branch", "topic"])
async def test_an_argument_named_like_the_record_is_its_key_if_a_create_sets_it(tmp_path: Path, noun: str) -> None:
    tools = [
        tool(f"create_{noun}", {noun: STRING, "region": STRING}, noun),
        tool(f"get_{noun}", {noun: STRING}, noun),
        tool(f"delete_{noun}", {noun: STRING}, noun),
    ]
    named = {noun: "alpha"}
    calls = ((f"create_{noun}", {**named, "region": "eu"}), (f"get_{noun}", named), (f"delete_{noun}", named))
    created, shown, deleted, gone = await answers(tmp_path, tools, *calls, (f"get_{noun}", named))
    assert value(shown) == value(created)
    assert (refused(deleted), refused(gone)) == (False, True)


async def test_a_tool_that_sets_a_value_of_a_known_record_updates_the_record(tmp_path: Path) -> None:
    tools = [
        tool("create_task", {"title": STRING}, "title"),
        tool("get_task", {"task_id": STRING}, "task_id"),
        tool("set_due_date", {"task_id": STRING, "due_date": STRING}, "task_id", "due_date"),
    ]
    due = {"task_id": "task_00021", "due_date": "2030-02-02"}
    named = {"task_id": "task_00021"}
    *_, shown = await answers(
        tmp_path, tools, ("create_task", {"title": "x"}), ("set_due_date", due), ("get_task", named)
    )
    assert value(shown)["due_date"] == "2030-02-02"


async def test_rows_that_are_lists_are_generated_from_the_schema(tmp_path: Path) -> None:
    candle = {"type": "array", "items": {"type": "number"}, "minItems": 5, "maxItems": 5}
    output = obj(candles={"type": "array", "items": candle})
    (found,) = await answers(
        tmp_path, [tool("get_candles", {"symbol": STRING}, "symbol", output=output)], ("get_candles", {"symbol": "BTC"})
    )
    assert [len(one) for one in value(found)["candles"]][:1] == [5]


async def test_arguments_in_alternatives_of_the_schema_are_used(tmp_path: Path) -> None:
    def either(*names: str) -> Json:
        return {"type": "object", "oneOf": [{"properties": {name: STRING}, "required": [name]} for name in names]}

    tools = [
        {"name": "create_item", "inputSchema": either("name", "title")},
        {"name": "get_item", "inputSchema": either("item_id", "name")},
    ]
    by_name, by_key = {"name": "Foo bar"}, {"item_id": "item_00021"}
    calls = [("create_item", by_name), ("get_item", by_name), ("get_item", by_key), ("get_item", {"name": "no"})]
    created, *found, missing = await answers(tmp_path, tools, *calls)
    assert value(created)["name"] == "Foo bar"
    assert [value(one) for one in found] == [value(created)] * 2
    assert refused(missing)


async def test_a_distance_is_the_same_in_both_directions_and_none_within_a_place(tmp_path: Path) -> None:
    tools = [tool("calculate_distance", {"origin": STRING, "destination": STRING}, "origin", "destination")]
    ways = [("Oslo", "Bergen"), ("Bergen", "Oslo"), ("Oslo", "Oslo")]
    calls = [("calculate_distance", {"origin": start, "destination": end}) for start, end in ways]
    there, back, nowhere = (value(one)["distance_km"] for one in await answers(tmp_path, tools, *calls))
    assert there == back > 300
    assert nowhere == 0


async def test_records_that_no_tool_changes_go_with_the_record_that_they_belong_to(tmp_path: Path) -> None:
    tools = [
        tool("create_task", {"title": STRING}, "title"),
        tool("get_task", {"task_id": STRING}, "task_id"),
        tool("delete_task", {"task_id": STRING}, "task_id"),
        tool("add_comment", {"task_id": STRING, "text": STRING}, "task_id", "text"),
        tool("list_comments", {}),
    ]
    removal = tool("delete_comment", {"comment_id": STRING}, "comment_id")
    named = {"task_id": "task_00021"}
    calls = [("create_task", {"title": "x"}), ("add_comment", {**named, "text": "hi"}), ("delete_task", named)]
    *_, deleted, listed = await answers(tmp_path, tools, *calls, ("list_comments", {}))
    assert not refused(deleted)
    assert "comment_00021" not in [one["id"] for one in value(listed)["comments"]]
    assert refused((await answers(tmp_path, [*tools, removal], *calls))[-1])


async def test_a_collection_that_no_tool_creates_exists_when_a_record_is_put_into_it(tmp_path: Path) -> None:
    tools = [
        tool("create_document", {"collectionId": STRING, "title": STRING}, "collectionId", "title"),
        tool("list_documents", {"collectionId": STRING}, "collectionId"),
        tool("list_collections", {}),
    ]
    calls = [("create_document", {"collectionId": "x", "title": "a"}), ("list_documents", {"collectionId": "x"})]
    created, listed = await answers(tmp_path, tools, *calls)
    assert value(created) in value(listed)["documents"]


async def test_a_digit_at_the_end_of_a_noun_has_a_plural(tmp_path: Path) -> None:
    tools = [tool("create_thing7", {"name": STRING}, "name"), tool("list_thing7s", {})]
    created, listed = await answers(tmp_path, tools, ("create_thing7", {"name": "x"}), ("list_thing7s", {}))
    assert value(created) in value(listed)["thing_7s"]


async def test_the_clearest_name_limits_a_page_and_what_a_create_sets_does_not(tmp_path: Path) -> None:
    tools = [
        tool("create_sample", {"n": INTEGER, "name": STRING}, "n", "name"),
        tool("list_samples", {"n": INTEGER, "count": INTEGER, "limit": INTEGER}),
    ]
    created, page, found = await answers(
        tmp_path,
        tools,
        ("create_sample", {"n": 3, "name": "q"}),
        ("list_samples", {"count": 7, "limit": 2}),
        ("list_samples", {"n": 3}),
    )
    assert [len(value(page)["samples"]), value(page)["total"]] == [2, 21]
    assert value(created) in value(found)["samples"]
    assert {one["n"] for one in value(found)["samples"]} == {3}


async def test_a_tool_that_counts_records_agrees_with_the_list(tmp_path: Path) -> None:
    tools = [
        tool("create_project", {"name": STRING}, "name"),
        tool("list_projects", {"name": STRING}),
        tool("count_projects", {"name": STRING}),
    ]
    named: Json = {"name": "Zorble"}
    calls: list[tuple[str, Json]] = [
        ("create_project", named),
        ("count_projects", {}),
        ("count_projects", named),
        ("list_projects", {}),
    ]
    _, every, some, listed = await answers(tmp_path, tools, *calls)
    assert (value(every), value(some)) == ({"count": len(value(listed)["projects"])}, {"count": 1})


async def test_a_number_of_days_is_no_field_of_the_rows(tmp_path: Path) -> None:
    tools = [tool("get_price_history", {"symbol": STRING, "days": INTEGER}, "symbol")]
    (found,) = await answers(tmp_path, tools, ("get_price_history", {"symbol": "AAPL", "days": 3}))
    assert value(found)["prices"]
    assert not any("days" in row for row in value(found)["prices"])
