"""The documents: what is added is found in its place, and what is not there is said in words."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("word")).open() as opened:
        await opened.call("create_document", {"filename": "own", "title": "Own"})
        for text in ("Trees", "An oak and an ash.", "Birds", "A wren."):
            tool = "add_heading" if " " not in text else "add_paragraph"
            await opened.call(tool, {"filename": "own.docx", "text": text})
        yield opened


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    return value(await world.call(tool, {"filename": "own.docx", **arguments}))


async def texts(world: World) -> list[str]:
    return str(await ask(world, "get_document_text")).split("\n")


async def test_paragraphs_are_inserted_beside_the_one_that_is_named(world: World) -> None:
    await ask(world, "insert_header_near_text", target_text="wren", header_title="Small", position="before")
    await ask(world, "insert_line_or_paragraph_near_text", target_paragraph_index=0, line_text="Two trees.")
    await ask(world, "insert_numbered_list_near_text", target_text="oak", list_items=["beech", "elm"])
    assert await texts(world) == [
        "Trees", "Two trees.", "An oak and an ash.", "beech", "elm", "Birds", "Small", "A wren.",
    ]  # fmt: skip
    outline = json.loads(await ask(world, "get_document_outline"))
    assert [row["style"] for row in outline["paragraphs"]][1:5] == ["Heading 1", "Normal", *2 * ["List Paragraph"]]


async def test_a_block_ends_at_the_next_heading(world: World) -> None:
    said = await ask(
        world, "replace_paragraph_block_below_header", header_text="trees", new_paragraphs=["Elms.", "Firs."]
    )
    assert said == "Replaced content under 'trees' with 2 paragraph(s), style: Normal, removed 1 elements."
    assert await texts(world) == ["Trees", "Elms.", "Firs.", "Birds", "A wren."]


async def test_merged_cells_show_their_texts_together(world: World) -> None:
    await ask(world, "add_table", rows=2, cols=2, data=[["a", "b"], ["c"]])
    await ask(world, "merge_table_cells_horizontal", table_index=0, row_index=0, start_col=0, end_col=1)
    (table,) = json.loads(await ask(world, "get_document_outline"))["tables"]
    assert table["preview"] == [["a\nb", "a\nb"], ["c", ""]]
    await ask(world, "search_and_replace", find_text="c", replace_text="d")
    assert (await texts(world))[-2:] == ["d", ""]


async def test_a_copy_has_a_life_of_its_own(world: World) -> None:
    copied = await world.call("copy_document", {"source_filename": "own.docx"})
    assert value(copied) == "Document copied to own_copy.docx"
    await ask(world, "delete_paragraph", paragraph_index=0)
    assert (await ask(world, "get_document_text", filename="own_copy.docx")).startswith("Trees")
    assert await texts(world) == ["An oak and an ash.", "Birds", "A wren."]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("get_document_text", {"filename": "no.docx"}, "Document no.docx does not exist"),
        ("delete_paragraph", {"paragraph_index": 9}, "Invalid paragraph index. Document has 4 paragraphs (0-3)."),
        ("add_heading", {"text": "x", "level": 10}, "Invalid heading level: 10"),
        ("format_table", {"table_index": 0}, "Invalid table index. Document has 0 tables (0--1)."),
        ("format_text", {"paragraph_index": 0, "start_pos": 3, "end_pos": 3}, "Paragraph has 5 characters."),
        ("insert_header_near_text", {"target_text": "fox", "header_title": "x"}, "Target paragraph not found"),
    ],
)
async def test_what_is_not_there_is_said_without_a_failure(
    tool: str, arguments: Json, words: str, world: World
) -> None:
    assert words in await ask(world, tool, **arguments)


async def test_a_missing_argument_is_a_failure(world: World) -> None:
    assert message(await world.call("add_paragraph", {"text": "x"})).splitlines()[:2] == [
        "1 validation error for call[add_paragraph]",
        "filename",
    ]
