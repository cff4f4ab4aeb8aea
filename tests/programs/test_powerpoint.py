"""The presentations: what is in memory and what is saved, texts of slides, and what is refused in words."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any
BOX: Json = {"left": 1, "top": 2, "width": 4, "height": 1}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Simulator(compiled("powerpoint")).open() as opened:
        await opened.call("create_presentation", {"id": "own"})
        await opened.call("switch_presentation", {"presentation_id": "own"})
        await opened.call("add_slide", {"layout_index": 1, "title": "First"})
        yield opened


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    return value(await world.call(tool, arguments))["result"]


async def test_a_presentation_changes_in_memory_until_it_is_saved(world: World) -> None:
    await ask(world, "save_presentation", file_path="own.pptx")
    await ask(world, "add_slide", title="Second")
    again = await ask(world, "open_presentation", file_path="own.pptx")
    assert again["slide_count"] == 1
    await ask(world, "add_slide", title="Third", presentation_id=again["presentation_id"])
    assert [row["slide_count"] for row in (await ask(world, "list_presentations"))["presentations"]] == [2, 2]
    texts = await ask(world, "extract_presentation_text")
    assert "First" in texts["all_presentation_text_combined"]
    assert "Third" not in texts["all_presentation_text_combined"]


async def test_the_texts_of_a_slide_are_those_of_all_its_shapes(world: World) -> None:
    await ask(world, "add_bullet_points", slide_index=0, placeholder_idx=1, bullet_points=["one", "two"])
    await ask(world, "add_table", slide_index=0, rows=2, cols=2, data=[["a", "b"], ["c"]], **BOX)
    await ask(world, "add_shape", slide_index=0, shape_type="sun", text="bright", **BOX)
    shown = await ask(world, "extract_slide_text", slide_index=0)
    assert shown["text_content"]["all_text_combined"].split() == [
        "First", "First", "one", "two", "a", "b", "c", "bright",
    ]  # fmt: skip
    shapes = (await ask(world, "get_slide_info", slide_index=0))["shapes"]
    assert [shape["name"] for shape in shapes] == ["Title 1", "Content Placeholder 2", "Table 3", "Sun 4"]
    assert (shapes[2]["left"], shapes[2]["width"]) == (914_400, 3_657_600)


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("add_slide", {"layout_index": 11}, "Invalid layout index: 11. Available layouts: 0-10"),
        ("get_slide_info", {"slide_index": 4}, "Invalid slide index: 4. Available slides: 0-0"),
        ("open_presentation", {"file_path": "no.pptx"}, "File not found: no.pptx"),
        ("switch_presentation", {"presentation_id": "no"}, "Available presentations: ['own']"),
        ("add_shape", {"slide_index": 0, "shape_type": "blob", **BOX}, "Unsupported shape type: 'blob'."),
        ("populate_placeholder", {"slide_index": 0, "placeholder_idx": 3, "text": "x"}, "with idx == 3"),
        ("get_presentation_info", {"presentation_id": "no"}, "the specified ID is invalid"),
    ],
)
async def test_what_cannot_be_is_an_error_in_the_answer(tool: str, arguments: Json, words: str, world: World) -> None:
    assert words in (await ask(world, tool, **arguments))["error"]


async def test_a_missing_argument_is_a_failure(world: World) -> None:
    said = message(await world.call("get_slide_info", {}))
    assert said.splitlines()[:2] == [
        "Error executing tool get_slide_info: 1 validation error for get_slide_infoArguments",
        "slide_index",
    ]
