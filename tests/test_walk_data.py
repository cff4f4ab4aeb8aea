"""Which tools promise data, and which answers have any, in the measurement of random walks."""

from __future__ import annotations

import pytest
from support.walk_data import asks_for_a_later_page, kind_of_answer, promises_data, shows_what_others_create

from mcp_sim.types import Record, Tool, ToolResult


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("get_weather", ""),
        ("listTasks", ""),
        ("browser_tab_list", "List browser tabs"),
        ("transaction_summary", "Get human-readable summaries."),
        ("determinant", "Computes the determinant of a stored matrix."),
        ("gradescope", "Use this tool to retrieve all submissions."),
        ("portfolio_report", "A report.\n\nReturns:\n    str: HTML of the report"),
        ("convert_number", "Convert a number to hexadecimal"),
    ],
)
def test_a_tool_that_reads_or_computes_promises_data(name: str, description: str) -> None:
    assert promises_data(_tool(name, description))


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("create_task", "Returns: the created task"),
        ("search_and_replace", "Search for text and replace it."),
        ("browser_resize", "Resize the browser window"),
        ("app_refresh", "Refresh the app.\n\nReturns:\n    A dictionary containing the result of the operation"),
        ("jump", ""),
    ],
)
def test_a_tool_that_writes_or_acts_promises_none(name: str, description: str) -> None:
    assert not promises_data(_tool(name, description))


def test_a_conversion_of_a_file_is_an_effect() -> None:
    assert not promises_data(_tool("convert_to_pdf", "Convert a document.", {"filename": {"type": "string"}}))


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"address": "Main St", "lat": 48.1}, "data"),
        ("Main St is at 48.1, 11.6", "data"),
        ({"items": [{"id": "a1"}], "count": 1}, "data"),
        ({"is_valid": False}, "data"),
        ({"items": [], "total": 20}, "data"),
        ({"id": "place_7", "address": "Main St"}, "key"),
        ({"address": "Main St"}, "echo"),
        ("Geocode done\nAddress: Main St", "acknowledged"),
        ({"success": True, "message": "Geocoded successfully"}, "acknowledged"),
        ("No places found", "empty"),
        ({"items": [], "total": 0, "next_cursor": None}, "empty"),
        ([], "empty"),
        ("", "empty"),
        ("/", "data"),
    ],
)
def test_an_answer_has_data_if_it_shows_more_than_its_call(value: object, kind: str) -> None:
    result = ToolResult(value, "text" if isinstance(value, str) else "structured")
    assert kind_of_answer(_tool("geocode_place", ""), {"address": "Main St"}, result) == kind


def test_a_key_is_data_where_it_is_asked_for() -> None:
    tool = _tool("get_next_game", "Get the game ID of the next game.")
    assert kind_of_answer(tool, {"team": 3}, ToolResult({"game_id": 7, "team": 3})) == "data"


def test_a_later_page_may_be_empty() -> None:
    assert asks_for_a_later_page({"page": 4})
    assert not asks_for_a_later_page({"page": 1, "start_date": "2029-01-01"})


def test_a_list_of_what_other_tools_create_may_be_empty() -> None:
    tools = [_tool("pull_requests_create", ""), _tool("list_cities", "")]
    assert shows_what_others_create(_tool("list_pull_requests_by_user", ""), tools)
    assert not shows_what_others_create(_tool("search_cities", ""), tools)


def _tool(name: str, description: str, properties: Record | None = None) -> Tool:
    schema = {"type": "object", "properties": properties or {}}
    return Tool(name, "server", {"name": name, "description": description, "inputSchema": schema})
