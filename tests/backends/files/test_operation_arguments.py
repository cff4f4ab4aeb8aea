"""Arguments of file tools that select the operation, the search and defaults."""

from __future__ import annotations

from pathlib import Path

from support.matched_tools import TEXT, answered, refused, simulator, tool

_READ = tool("read_file", "Read a file.", path=TEXT)
_STATE = {"files": {"/a/moss.txt": "green\n", "/a/fern.txt": "moss beside it\n"}}


async def test_operations_are_read_from_the_description_of_an_argument(tmp_path: Path) -> None:
    action = {"type": "string", "description": '"write" | "append" | "delete"'}
    listed = [
        _READ,
        tool("file_ops", "Work on files.", needed="action file_path", action=action, file_path=TEXT, content=TEXT),
    ]
    async with simulator(tmp_path, listed, _STATE).open() as world:
        await answered(world, "file_ops", action="append", file_path="/a/moss.txt", content="soft\n")
        assert await answered(world, "read_file", path="/a/moss.txt") == "green\nsoft\n"
        await answered(world, "file_ops", action="delete", file_path="/a/moss.txt")
        assert await refused(world, "read_file", path="/a/moss.txt")


async def test_an_argument_selects_a_search_of_names_or_contents(tmp_path: Path) -> None:
    within = {"type": "boolean", "default": False}
    listed = [
        _READ,
        tool("search_files", "Search files.", needed="path pattern", path=TEXT, pattern=TEXT, content_search=within),
        tool("find_in_files", "Search in files.", needed="path query", path=TEXT, query=TEXT, search_type=TEXT),
    ]
    async with simulator(tmp_path, listed, _STATE).open() as world:
        assert await answered(world, "search_files", path="/a", pattern="moss") == "/a/moss.txt"
        assert "/a/fern.txt" in await answered(world, "search_files", path="/a", pattern="moss", content_search=True)
        assert await answered(world, "find_in_files", path="/a", query="moss", search_type="filename") == "/a/moss.txt"


async def test_the_default_of_a_flag_applies(tmp_path: Path) -> None:
    made = {"type": "boolean", "default": True}
    write = tool("write_file", "Write a file.", needed="path content", path=TEXT, content=TEXT, create_dirs=made)
    listed = [_READ, write, tool("create_directory", "Make a directory.", path=TEXT)]
    async with simulator(tmp_path, listed, _STATE).open() as world:
        await answered(world, "write_file", path="/b/c.txt", content="x")
        assert await refused(world, "write_file", path="/d/e.txt", content="x", create_dirs=False)


async def test_a_listing_is_filtered_by_a_pattern(tmp_path: Path) -> None:
    listed = [_READ, tool("list_directory", "List a directory.", needed="path", path=TEXT, pattern=TEXT)]
    async with simulator(tmp_path, listed, _STATE).open() as world:
        assert await answered(world, "list_directory", path="/a", pattern="m*.txt") == "[FILE] moss.txt"
