"""Result schemas: the form of this tool in a union, texts that hold JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.given import STRING, Json, service, tool, value

from mcp_sim.types import Tool
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.result_schemas import result_schema

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
        ("get_task", [_ERROR, _SAID, _TASK], ["due"]),
        ("get_task", [{**_ERROR, "title": "Reply"}, _TASK], ["id"]),
    ],
)
def test_the_first_successful_form_of_a_union_is_chosen(name: str, forms: Json, shown: list[str]) -> None:
    assert _shown(name, {"type": "object", "anyOf": forms}) == shown
    assert _shown(name, {"type": "object", "properties": {"result": {"oneOf": forms}}}) == shown


@pytest.mark.parametrize("forms", [[STRING, _TASK], [_TASK, STRING], [STRING, _TASK, {"type": "null"}]])
def test_a_text_beside_data_is_not_the_successful_form(forms: Json) -> None:
    assert _shown("get_task", {"type": "object", "properties": {"result": {"anyOf": forms}}}) == ["id"]


def _texts(name: str, description: str, *required: str) -> Json:
    schema = {"type": "object", "properties": {"result": STRING}, "required": ["result"]}
    return {**tool(name, *required, about=description), "outputSchema": schema}


async def test_texts_are_json_if_the_description_says_so(tmp_path: Path) -> None:
    tools = (
        _texts("add_kettle", "Add a kettle. Returns JSON.", "colour"),
        _texts("list_kettles", "List kettles as a JSON array."),
    )
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        made = json.loads(value(await world.call("add_kettle", {"colour": "red"}))["result"])
        assert made["colour"] == "red"
        listed = json.loads(value(await world.call("list_kettles", {}))["result"])
        assert listed["kettles"] == [made]
