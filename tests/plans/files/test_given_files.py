"""Files of a given state, in every shape."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, backends, refused, simulator, tool

Json = Any

_FILES = {"Beds/North bed.md": "# North bed\n", "Shopping.md": "- Twine\n"}
_LIST = [{"path": path, "content": text} for path, text in _FILES.items()]
_TREE = {"Beds": {"North bed.md": "# North bed\n"}, "Shopping.md": "- Twine\n"}
_ROWS = {"columns": ["path", "content"], "rows": [[path, text] for path, text in _FILES.items()]}
_SHAPES = {
    "texts": _FILES,
    "objects": {path: {"content": text, "tags": ["x"]} for path, text in _FILES.items()},
    "list": _LIST,
    "rows": _ROWS,
    "tree": _TREE,
}
_SHAPE = pytest.mark.parametrize("files", _SHAPES.values(), ids=[*_SHAPES])

NOTES = [
    tool("read_note", "Read a note.", path=TEXT),
    tool("write_note", "Create or overwrite a note.", path=TEXT, content=TEXT),
    tool("list_notes", "List all notes."),
    tool("search_notes", "Search all notes.", query=TEXT),
    tool("delete_note", "Delete a note.", path=TEXT),
]


async def _assert_notes_are_files(path: Path, state: Json, spec: Json = None) -> None:
    async with simulator(path, NOTES, state, spec) as sim, sim.open() as world:
        assert {one.partition(" ")[0] for one in backends(sim).values()} == {"files"}
        assert await answered(world, "read_note", path="Beds/North bed.md") == "# North bed\n"
        assert await answered(world, "list_notes") == "Beds/North bed.md\nShopping.md"
        await answered(world, "write_note", path="Diary/May.md", content="Sowed leek.\n")
        assert await answered(world, "search_notes", query="leek") == "Diary/May.md\n  1: Sowed leek."
        await answered(world, "delete_note", path="Shopping.md")
        assert await answered(world, "list_notes") == "Beds/North bed.md\nDiary/May.md"
        assert "Shopping.md" in await refused(world, "read_note", path="Shopping.md")


@_SHAPE
async def test_notes_by_path_are_read_from_any_shape(tmp_path: Path, files: Json) -> None:
    await _assert_notes_are_files(tmp_path, {"vault": {"notes": files}})


@pytest.mark.parametrize("files", [_SHAPES["texts"], _ROWS, _TREE], ids=["texts", "rows", "tree"])
async def test_the_whole_state_may_be_the_files(tmp_path: Path, files: Json) -> None:
    tools = [tool("read_file", path=TEXT), tool("write_file", path=TEXT, content=TEXT)]
    async with simulator(tmp_path, tools, files).open() as world:
        assert await answered(world, "read_file", path="Shopping.md") == "- Twine\n"
