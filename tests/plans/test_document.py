"""Tools that work on documents whose parts are addressed by index."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.backend_answers import INTEGER, STRING, error_text, simulator, success_value, tool
from support.matched_tools import backends
from support.matched_tools import simulator as of_spec

Json = Any

FILE = {"filename": STRING}
WORD = [
    tool("create_document", {**FILE, "title": STRING}, optional=["title"]),
    tool("add_paragraph", {**FILE, "text": STRING, "style": STRING}, optional=["style"]),
    tool("add_heading", {**FILE, "text": STRING, "level": INTEGER}, optional=["level"]),
    tool("add_table", {**FILE, "rows": INTEGER, "cols": INTEGER}),
    tool("add_footnote_to_document", {**FILE, "paragraph_index": INTEGER, "footnote_text": STRING}),
    tool("delete_paragraph", {**FILE, "paragraph_index": INTEGER}),
    tool("get_paragraph_text_from_document", {**FILE, "paragraph_index": INTEGER}),
    tool("get_document_text", FILE),
    tool("get_document_info", FILE),
    tool("search_and_replace", {**FILE, "find_text": STRING, "replace_text": STRING}),
    tool("find_text_in_document", {**FILE, "text_to_find": STRING}),
    tool("copy_document", {"source_filename": STRING, "destination_filename": STRING}),
]
CHECKLIST = [
    tool("add_item", {"task": STRING, "position": INTEGER}, optional=["position"]),
    tool("update_item", {"index": INTEGER, "task": STRING}),
    tool("mark_task_done", {"index": INTEGER}),
    tool("reorder_item", {"from_index": INTEGER, "to_index": INTEGER}),
    tool("remove_item", {"index": INTEGER}),
    tool("list_items"),
]
FACTS = {"filename": "facts.docx"}


async def test_paragraphs_are_added_read_by_index_and_deleted(tmp_path: Path) -> None:
    async with simulator(tmp_path, WORD) as sim, sim.open() as world:
        assert (
            success_value(await world.call("create_document", {**FACTS, "title": "Facts"}))
            == "Document facts.docx created successfully"
        )
        success_value(await world.call("add_heading", {**FACTS, "text": "Facts"}))
        success_value(await world.call("add_paragraph", {**FACTS, "text": "Water is wet."}))
        success_value(await world.call("add_paragraph", {**FACTS, "text": "Fire is hot."}))
        assert success_value(await world.call("get_document_text", FACTS)) == "Facts\nWater is wet.\nFire is hot."
        success_value(await world.call("delete_paragraph", {**FACTS, "paragraph_index": 1}))
        answer = success_value(await world.call("get_paragraph_text_from_document", {**FACTS, "paragraph_index": 1}))
        assert answer == {"index": 1, "kind": "paragraph", "text": "Fire is hot."}
        assert "There are 2 paragraphs (0-1)" in error_text(
            await world.call("delete_paragraph", {**FACTS, "paragraph_index": 2})
        )


async def test_items_shift_when_others_are_added_or_removed(tmp_path: Path) -> None:
    async with simulator(tmp_path, CHECKLIST) as sim, sim.open() as world:
        for name in ("a", "b", "c"):
            success_value(await world.call("add_item", {"task": name}))
        success_value(await world.call("add_item", {"task": "first", "position": 0}))
        success_value(await world.call("remove_item", {"index": 2}))
        success_value(await world.call("reorder_item", {"from_index": 0, "to_index": 2}))
        success_value(await world.call("mark_task_done", {"index": 1}))
        success_value(await world.call("update_item", {"index": 0, "task": "A"}))
        shown = success_value(await world.call("list_items", {}))
        assert [(one["index"], one["task"], one.get("done")) for one in shown] == [
            (0, "A", None),
            (1, "c", True),
            (2, "first", None),
        ]


async def test_repeated_replacement_has_a_length_limit(tmp_path: Path) -> None:
    async with simulator(tmp_path, WORD).open() as world:
        await world.call("create_document", FACTS)
        await world.call("add_paragraph", {**FACTS, "text": "a" * 10_000})
        arguments = {**FACTS, "find_text": "a", "replace_text": "b" * 10_000}
        assert "too long" in error_text(await world.call("search_and_replace", arguments))


async def test_a_default_of_minus_one_adds_at_the_end(tmp_path: Path) -> None:
    position = {**INTEGER, "default": -1}
    add = tool("add_item", {"task": STRING, "position": position}, optional=["position"])
    async with simulator(tmp_path, [add, *CHECKLIST[1:]]).open() as world:
        for name in ("a", "b"):
            success_value(await world.call("add_item", {"task": name}))
        assert [row["task"] for row in success_value(await world.call("list_items", {}))] == ["a", "b"]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"items": {"type": "array"}, "count": INTEGER}, "required": ["count"]},
        {"type": "object", "properties": {"result": {"type": "object", "properties": {"items": {"type": "array"}}}}},
    ],
)
async def test_parts_are_shown_under_the_output_schema(tmp_path: Path, schema: Json) -> None:
    tools = [*CHECKLIST[:-1], {**tool("list_items"), "outputSchema": schema}]
    async with simulator(tmp_path, tools).open() as world:
        success_value(await world.call("add_item", {"task": "a"}))
        shown = success_value(await world.call("list_items", {}))
        assert shown.get("result", shown)["items"] == [{"index": 0, "kind": "item", "task": "a"}]


async def test_a_spec_chooses_documents_for_a_tool_that_does_not_match(tmp_path: Path) -> None:
    tools = [tool("keep_in_mind", {"text": STRING}), tool("show_my_mind", {"index": INTEGER})]
    sim = {
        "keep_in_mind": {"backend": "document", "operation": "add"},
        "show_my_mind": {"backend": "document", "operation": "read_part"},
    }
    async with of_spec(tmp_path, tools, spec={"sim": sim}) as simulated, simulated.open() as world:
        assert backends(simulated) == {"keep_in_mind": "document add", "show_my_mind": "document read_part"}
        success_value(await world.call("keep_in_mind", {"text": "milk"}))
        assert success_value(await world.call("show_my_mind", {"index": 0}))["text"] == "milk"


ROWS = [{"name": "facts", "content": "Water is wet."}, {"name": "more", "content": "Ice is cold."}]
SHAPES: dict[str, Json] = {
    "objects": ROWS,
    "mapping": {row["name"]: {"content": row["content"]} for row in ROWS},
    "columns": {"columns": ["name", "content"], "rows": [[*row.values()] for row in ROWS]},
    "texts": {row["name"]: row["content"] for row in ROWS},
    "parts": {row["name"]: [row["content"]] for row in ROWS},
}


@pytest.mark.parametrize("around", ["nothing", "wrappers", "other tools"])
@pytest.mark.parametrize("shape", SHAPES)
async def test_documents_of_a_given_state_are_read_in_every_shape(tmp_path: Path, shape: str, around: str) -> None:
    state: Json = {"documents": SHAPES[shape]}
    tools = [tool("peek", {"filename": STRING})]
    if around == "wrappers":
        state = {"outer": {"inner": state}}
    elif around == "other tools":
        tools, state = [*tools, tool("list_tasks")], {**state, "tasks": [{"id": "t1", "title": "Sweep"}]}
    sim = {"sim": {"peek": {"backend": "document", "operation": "read"}}}
    async with of_spec(tmp_path, tools, state, sim) as simulated, simulated.open() as world:
        assert "Water is wet" in json.dumps(success_value(await world.call("peek", {"filename": "facts"})))
        assert not simulated.scenario.warnings
