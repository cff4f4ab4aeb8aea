"""Presentations and notebooks that are filled part by part, counted, and rendered as text."""

from __future__ import annotations

from pathlib import Path

from support.matched_tools import TEXT, answered, backends, refused, simulator, tool

_LINES = {"type": "array", "items": TEXT}
DECKS = [
    tool("create_presentation", "Make a presentation.", filepath=TEXT),
    tool("add_title_slide", "Add a title slide.", filepath=TEXT, title=TEXT),
    tool("add_text_slide", "Add a slide.", filepath=TEXT, title=TEXT, content=_LINES),
    tool("add_textbox", "Add a text box to the last slide.", filepath=TEXT, text=TEXT),
    tool("get_slide_count", "How many slides there are.", filepath=TEXT),
]
_TEXT_RESULT = {"type": "object", "properties": {"result": TEXT}, "required": ["result"]}
_NUMBER = {"type": "integer"}
CELLS = [
    tool("create_notebook", "Make a notebook.", _TEXT_RESULT, path=TEXT),
    tool("add_cell", "Add a cell.", _TEXT_RESULT, path=TEXT, source=TEXT, cell_type=TEXT),
    tool("get_cell", "The source of a cell.", _TEXT_RESULT, path=TEXT, index=_NUMBER),
    tool("delete_cell", "Delete a cell.", _TEXT_RESULT, path=TEXT, index=_NUMBER),
    tool("read_notebook", "A summary of the cells.", _TEXT_RESULT, path=TEXT),
]


async def test_slides_without_an_index_are_added_one_after_the_other(tmp_path: Path) -> None:
    sim = simulator(tmp_path, DECKS)
    assert {one.split()[0] for one in backends(sim).values()} == {"document"}
    deck = {"filepath": "/tmp/birds.pptx"}
    async with sim.open() as world:
        assert "/tmp/birds.pptx" in await refused(world, "get_slide_count", **deck)
        await answered(world, "create_presentation", **deck)
        await answered(world, "add_title_slide", **deck, title="Birds")
        await answered(world, "add_text_slide", **deck, title="Owls", content=["They see"])
        await answered(world, "add_textbox", **deck, text="Hoot")
        assert await answered(world, "get_slide_count", **deck) == "/tmp/birds.pptx has 2 slides"


async def test_parts_are_rendered_as_text_if_a_result_is_only_a_text(tmp_path: Path) -> None:
    book = {"path": "/tmp/sums.ipynb"}
    async with simulator(tmp_path, CELLS).open() as world:
        await answered(world, "create_notebook", **book)
        assert "at index 0" in (await answered(world, "add_cell", **book, source="x = 1", cell_type="code"))["result"]
        await answered(world, "add_cell", **book, source="# Sum\nof all", cell_type="markdown")
        assert (await answered(world, "get_cell", **book, index=1))["result"] == "# Sum\nof all"
        text = (await answered(world, "read_notebook", **book))["result"]
        assert text == "/tmp/sums.ipynb (2 cells)\n\n[0] code: x = 1\n[1] markdown: # Sum of all"
