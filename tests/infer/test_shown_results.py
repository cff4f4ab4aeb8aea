"""Descriptions that show the form of a result, and texts that hold JSON though a schema calls them texts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.given import INTEGER, STRING, Json, refused, service, tool, value

from mcp_sim.infer.result_descriptions import shown_result

_OBJECT: Json = {"type": "object"}


@pytest.mark.parametrize(
    ("description", "schema"),
    [
        (
            'Add one.\n\nReturns:\n    {"ok": true, "kettle": {id, colour}, "lids": [lid, ...], "count": N}.',
            {"ok": {"type": "boolean"}, "kettle": {"type": "object", "properties": {"id": {}, "colour": {}}},
             "lids": {"type": "array", "items": _OBJECT}, "count": {"type": "integer"}},
        ),
        ("Returns {name: str, parts: list[str], note: str or null}.", {
            "name": {"type": "string"}, "parts": {"type": "array", "items": {"type": "string"}},
            "note": {"type": "string"}}),
        ("Returns the kettle (dict with id, colour and litres).", {"id": {}, "colour": {}, "litres": {}}),
    ],
)  # fmt: skip
def test_a_description_shows_the_form_of_a_result(description: str, schema: Json) -> None:
    assert shown_result(description) == {"type": "object", "properties": schema}


@pytest.mark.parametrize(
    "description",
    ["Fill {name} in.", "Returns the page of {id}.", "Returns a dictionary with the success status, and a message.",
     "Returns: none.\n\nArgs:\n    shape: {width, height}", "Returns {", "Returns {a: {b}, ]"],
)  # fmt: skip
def test_braces_and_words_that_show_no_form_are_left_alone(description: str) -> None:
    assert shown_result(description) is None


def test_a_list_of_what_is_shown_is_a_list() -> None:
    rows: Json = {"type": "object", "properties": {"id": {}, "colour": {}}}
    assert shown_result("Returns a list of {id, colour}.") == {"type": "array", "items": rows}
    assert shown_result("Returns a list of dicts with keys: id, colour.") == {"type": "array", "items": rows}


async def test_results_are_told_as_descriptions_show_them(tmp_path: Path) -> None:
    tools = (
        tool("add_kettle", "colour", lids={"type": "array"},
             about='Returns {"ok": true, "kettle": {id, colour, boiled, lids, created_at}}.'),
        tool("list_kettles", about='Returns {"ok": true, "kettles": [kettle, ...], "count": N}.'),
        tool("show_kettle", "kettle_id", kettle_id=INTEGER, about='Returns {"ok": true, "kettle": {...}}.'),
    )  # fmt: skip
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        made = value(await world.call("add_kettle", {"colour": "red"}))
        kettle: Json = {"id": 1, "colour": "red", "boiled": made["kettle"]["boiled"], "lids": [],
                        "created_at": made["kettle"]["created_at"]}  # fmt: skip
        assert made == {"ok": True, "kettle": kettle}
        assert value(await world.call("list_kettles", {})) == {"ok": True, "kettles": [kettle], "count": 1}
        assert value(await world.call("show_kettle", {"kettle_id": 1})) == {"ok": True, "kettle": kettle}


def _texts(name: str, description: str, *required: str) -> Json:
    schema = {"type": "object", "properties": {"result": STRING}, "required": ["result"]}
    return {**tool(name, *required, about=description), "outputSchema": schema}


async def test_texts_are_json_where_descriptions_speak_of_fields_that_nobody_gives(tmp_path: Path) -> None:
    tools = (
        _texts("add_kettle", "Add a kettle.", "colour"),
        _texts("list_kettles", "List kettles, each with its `boil_count`."),
    )
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        made = json.loads(value(await world.call("add_kettle", {"colour": "red"}))["result"])
        assert made["colour"] == "red"
        listed = json.loads(value(await world.call("list_kettles", {}))["result"])
        assert listed["kettles"] == [made]


async def test_an_id_that_comes_back_alone_has_its_name_where_texts_are_json(tmp_path: Path) -> None:
    tools = (
        _texts("add_kettle", "Add a kettle. Returns the new id.", "colour"),
        _texts("get_kettle", "Get a kettle with its `boil_count`.", "kettle_id"),
    )
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        made = json.loads(value(await world.call("add_kettle", {"colour": "red"}))["result"])
        assert [*made] == ["id"]
        shown = json.loads(value(await world.call("get_kettle", {"kettle_id": made["id"]}))["result"])
        assert (shown["id"], shown["colour"]) == (made["id"], "red")


async def test_texts_are_sentences_where_nothing_speaks_of_fields(tmp_path: Path) -> None:
    tools = (_texts("add_kettle", "Add a kettle.", "colour"), _texts("list_kettles", "List kettles."))
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("add_kettle", {"colour": "red"}))["result"].startswith("Kettle ")


async def test_what_names_a_record_that_another_tool_makes_says_more_of_it(tmp_path: Path) -> None:
    tools = (
        tool("add_kettle", "colour"),
        tool("get_kettle", "kettle_id"),
        tool("schedule_kettle", "kettle_id", "due", due=STRING),
    )
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        key = value(await world.call("add_kettle", {"colour": "red"}))["id"]
        await world.call("schedule_kettle", {"kettle_id": key, "due": "2030-05-01"})
        shown = value(await world.call("get_kettle", {"kettle_id": key}))
        assert (shown["colour"], shown["due"]) == ("red", "2030-05-01")
        assert refused(await world.call("schedule_kettle", {"kettle_id": "none", "due": "2030-05-01"}))


@pytest.mark.parametrize(
    "description",
    [
        "Returns " + "{a: " * 20_000 + "1" + "}" * 20_000,
        "Returns " + "[" * 50_000,
        "Returns {" * 11_000,
        "returns {a " * 9_000,
    ],
)
def test_a_form_without_end_is_none(description: str) -> None:
    assert shown_result(description) is None
