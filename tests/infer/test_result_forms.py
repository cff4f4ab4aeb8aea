"""Of several forms that a result may have, the one that a tool gives where all goes well."""

from __future__ import annotations

from typing import Any

import pytest

from mcp_sim.infer.result_schemas import result_schema
from mcp_sim.types import Tool
from mcp_sim.types.json_schema.shapes import properties

Json = Any
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
def test_a_failure_is_not_it_nor_the_reply_of_another_tool(name: str, forms: Json, shown: list[str]) -> None:
    assert _shown(name, {"type": "object", "anyOf": forms}) == shown
    assert _shown(name, {"type": "object", "properties": {"result": {"oneOf": forms}}}) == shown


def test_what_may_be_no_object_stays_open() -> None:
    assert (
        _shown("get_task", {"type": "object", "properties": {"result": {"anyOf": [{"type": "string"}, _TASK]}}}) == []
    )
