"""`arguments: lenient`: texts are read as the values that the inputSchema asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mcp_sim import Simulator
from mcp_sim.types import ToolResult

PROPERTIES: dict[str, Any] = {
    "title": {"type": "string"},
    "weight": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
    "price": {"type": "number"},
    "ready": {"type": "boolean"},
    "sizes": {"type": "array", "items": {"type": "integer"}},
    "place": {"type": "object", "properties": {"row": {"type": "string"}}},
    "code": {"type": ["string", "integer"]},
}


async def created(folder: Path, given: dict[str, Any], **part: Any) -> Any:
    """Return the record that a call creates, or the text of its refusal."""
    record = {"type": "object", "properties": {"id": {"type": "string"}, **PROPERTIES}, "required": ["id"]}
    schema = {"type": "object", "properties": PROPERTIES, "required": ["title"], "additionalProperties": False}
    tools = [{"name": "create_lamp", "inputSchema": schema, "outputSchema": record}]
    path = folder / "lamps.yaml"
    path.write_text(json.dumps({"mcp_sim": 1, "name": "lamps", "tools": tools, **part}), encoding="utf-8")
    async with Simulator.load(path).open() as world:
        body = (await world.call("create_lamp", {"title": "Lamp", **given})).body
    assert isinstance(body, ToolResult)
    return body.content[0]["text"] if body.is_error else body.value


SPELT: list[tuple[str, str, Any]] = [
    ("weight", "5", 5),
    ("weight", "null", None),
    ("price", "2.5", 2.5),
    ("ready", "true", True),
    ("ready", "False", False),
    ("ready", "1", True),
    ("sizes", "[1, 2]", [1, 2]),
    ("sizes", '["1", 2]', [1, 2]),
    ("place", '{"row": "5"}', {"row": "5"}),
]


@pytest.mark.parametrize(("name", "text", "value"), SPELT)
async def test_a_text_is_taken_for_the_value_that_it_spells(name: str, text: str, value: Any, tmp_path: Path) -> None:
    assert (await created(tmp_path, {name: text}, arguments="lenient"))[name] == value


@pytest.mark.parametrize(("name", "text", "value"), SPELT)
async def test_other_servers_refuse_it(name: str, text: str, value: Any, tmp_path: Path) -> None:
    assert name in await created(tmp_path, {name: text})


@pytest.mark.parametrize(
    ("name", "text"),
    [("weight", "5.5"), ("weight", "many"), ("price", "NaN"), ("ready", "maybe"), ("sizes", "[1, "), ("sizes", "7"),
     ("place", "[" * 2000), ("colour", "5")],
)  # fmt: skip
async def test_a_text_that_spells_no_valid_value_is_refused(name: str, text: str, tmp_path: Path) -> None:
    assert name in await created(tmp_path, {name: text}, arguments="lenient")


@pytest.mark.parametrize(("name", "text"), [("title", "5"), ("title", "true"), ("code", "5"), ("code", "[1]")])
async def test_a_text_that_is_valid_stays_a_text(name: str, text: str, tmp_path: Path) -> None:
    assert (await created(tmp_path, {name: text}, arguments="lenient"))[name] == text
