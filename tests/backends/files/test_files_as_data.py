"""Results of file tools without output schemas: text, unless something shows that they are data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.matched_tools import TEXT, answered, simulator, tool

Json = Any

_STATE = {"files": {"/a/moss.txt": "green\n", "/a/b/fern.txt": "tall\n"}}
_NUMBER = {"type": "integer"}


def _tools(**paging: Json) -> list[Json]:
    return [
        tool("read_file", "Read a file.", path=TEXT),
        tool("write_file", "Write a file.", path=TEXT, content=TEXT),
        tool("list_directory", "List a directory.", needed="path", path=TEXT, **paging),
        tool("search_code", "Search code.", path=TEXT, pattern=TEXT),
    ]


async def test_if_one_tool_takes_pages_all_return_data(tmp_path: Path) -> None:
    async with simulator(tmp_path, _tools(page=_NUMBER, page_size=_NUMBER), _STATE).open() as world:
        listed = await answered(world, "list_directory", path="/a/")
        assert (listed["path"], listed["count"]) == ("/a", 2)
        assert [(row["name"], row["type"]) for row in listed["entries"]] == [("b", "directory"), ("moss.txt", "file")]
        assert (await answered(world, "read_file", path="/a/moss.txt"))["content"] == "green\n"
        assert (await answered(world, "write_file", path="/a/x.txt", content="12"))["size"] == 2
        assert (await answered(world, "search_code", path="/a", pattern="tall"))["count"] == 1


async def test_a_description_may_promise_data(tmp_path: Path) -> None:
    stat = tool("get_file_info", "Look at a file. Returns a dictionary with its size.", path=TEXT)
    async with simulator(tmp_path, [*_tools(), stat], _STATE).open() as world:
        assert (await answered(world, "get_file_info", path="/a/moss.txt"))["size"] == 6
        assert await answered(world, "read_file", path="/a/moss.txt") == "green\n"


async def test_lines_are_extracted_by_number(tmp_path: Path) -> None:
    lines = tool("extract_lines", "Some lines.", path=TEXT, start_line=_NUMBER, end_line=_NUMBER)
    state = {"files": {"/a/moss.txt": "one\ntwo\nthree\n"}}
    async with simulator(tmp_path, [*_tools(), lines], state).open() as world:
        assert await answered(world, "extract_lines", path="/a/moss.txt", start_line=2, end_line=2) == "two"
