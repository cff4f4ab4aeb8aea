"""Result schemas: the form of this tool in a union, forms in descriptions, texts that hold JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.given import INTEGER, STRING, Json, refused, service, tool, value

from mcp_sim.infer.result_descriptions import shown_result
from mcp_sim.infer.result_schemas import result_schema
from mcp_sim.types import Tool
from mcp_sim.types.json_schema.shapes import properties

_TASK: Json = {"title": "Task", "type": "object", "properties": {"id": {"type": "string"}}}
_ERROR: Json = {
    "title": "ErrorReply", "type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"],
}  # fmt: skip
_FALSE: Json = {"type": "object", "properties": {"success": {"const": False}, "error": {"type": "string"}}}
_SAID: Json = {"description": "Reply of `get_task`.", "type": "object", "properties": {"due": {"type": "string"}}}


def _shown(name: str, output: Json) -> list[str]:
    definition = {"name": name, "inputSchema": {"type": "object"}, "outputSchema": output}
    schema = result_schema(Tool(name, "some", definition))
    return [*properties(properties(schema).get("result", schema))]


@pytest.mark.parametrize(
    ("name", "forms", "shown"),
    [
        ("get_task", [_ERROR, _TASK], ["id"]),
        ("get_task", [_FALSE, _TASK], ["id"]),
        ("get_task", [_TASK, _SAID], ["due"]),
        ("task", [_SAID, _TASK], ["id"]),
        ("note", [_SAID, _TASK], ["due"]),
    ],
)
def test_the_successful_form_of_this_tool_is_chosen(name: str, forms: Json, shown: list[str]) -> None:
    assert _shown(name, {"type": "object", "anyOf": forms}) == shown
    assert _shown(name, {"type": "object", "properties": {"result": {"oneOf": forms}}}) == shown


def test_a_result_that_may_be_a_text_stays_open() -> None:
    assert (
        _shown("get_task", {"type": "object", "properties": {"result": {"anyOf": [{"type": "string"}, _TASK]}}}) == []
    )


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
def test_braces_and_words_without_a_form_are_ignored(description: str) -> None:
    assert shown_result(description) is None


def test_a_described_list_of_a_form_is_an_array() -> None:
    rows: Json = {"type": "object", "properties": {"id": {}, "colour": {}}}
    assert shown_result("Returns a list of {id, colour}.") == {"type": "array", "items": rows}
    assert shown_result("Returns a list of dicts with keys: id, colour.") == {"type": "array", "items": rows}


async def test_results_have_the_form_that_descriptions_show(tmp_path: Path) -> None:
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


async def test_texts_are_json_if_descriptions_mention_fields_that_are_no_arguments(tmp_path: Path) -> None:
    tools = (
        _texts("add_kettle", "Add a kettle.", "colour"),
        _texts("list_kettles", "List kettles, each with its `boil_count`."),
    )
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        made = json.loads(value(await world.call("add_kettle", {"colour": "red"}))["result"])
        assert made["colour"] == "red"
        listed = json.loads(value(await world.call("list_kettles", {}))["result"])
        assert listed["kettles"] == [made]


async def test_a_returned_id_is_an_object_if_texts_are_json(tmp_path: Path) -> None:
    tools = (
        _texts("add_kettle", "Add a kettle. Returns the new id.", "colour"),
        _texts("get_kettle", "Get a kettle with its `boil_count`.", "kettle_id"),
    )
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        made = json.loads(value(await world.call("add_kettle", {"colour": "red"}))["result"])
        assert [*made] == ["id"]
        shown = json.loads(value(await world.call("get_kettle", {"kettle_id": made["id"]}))["result"])
        assert (shown["id"], shown["colour"]) == (made["id"], "red")


async def test_texts_are_sentences_if_no_description_mentions_fields(tmp_path: Path) -> None:
    tools = (_texts("add_kettle", "Add a kettle.", "colour"), _texts("list_kettles", "List kettles."))
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("add_kettle", {"colour": "red"}))["result"].startswith("Kettle ")


async def test_a_create_verb_with_the_key_of_a_record_updates_it(tmp_path: Path) -> None:
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
def test_an_endless_form_is_ignored(description: str) -> None:
    assert shown_result(description) is None
