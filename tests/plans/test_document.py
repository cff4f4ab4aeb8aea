"""Tools that work on documents whose parts are addressed by index."""

from __future__ import annotations

from pathlib import Path

from support.backend_answers import INTEGER, STRING, error_text, simulator, success_value, tool

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
