"""Arguments with huge values are refused with a message, or served up to a limit, without delay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, refused, simulator, tool

Json = Any
HUGE = 10**400
LONG = "9" * 5000
PAGES = [tool("web_search", "Search the web", query=TEXT), tool("fetch_page", "Read a page of the web", url=TEXT)]
FILES = [
    tool("write_file", path=TEXT, content=TEXT),
    tool("read_multiple_files", paths={"type": "array", "items": TEXT}),
]
ITEMS = [
    tool("create_item", "Create an item", title=TEXT),
    tool("list_items", "List items", needed="", limit={"type": "integer"}, offset={"type": "integer"}),
]


@pytest.mark.parametrize(
    ("tools", "arguments", "reason"),
    [
        (FILES, {"path": "/a\0b", "content": ""}, "NUL"),
        (FILES, {"path": "/" + "n/" * 20_000, "content": ""}, "too long"),
        (FILES, {"path": f"/docs/{LONG}", "content": ""}, "too long"),
        (PAGES[::-1], {"url": "http://[::1"}, "Invalid address"),
    ],
)
async def test_impossible_values_are_refused_with_a_message(
    tmp_path: Path, tools: list[Json], arguments: Json, reason: str
) -> None:
    async with simulator(tmp_path, tools).open() as world:
        assert reason in await refused(world, tools[0]["name"], **arguments)


async def test_a_page_after_the_last_is_empty_and_a_huge_page_holds_all_rows(tmp_path: Path) -> None:
    async with simulator(tmp_path, ITEMS, world={"records": {"item": 3}}).open() as world:
        assert len((await answered(world, "list_items", limit=HUGE))["items"]) == 3
        assert len((await answered(world, "list_items", limit=10**12, offset=2))["items"]) == 1
        assert (await answered(world, "list_items", offset=HUGE))["items"] == []


async def test_files_are_read_together_up_to_a_limit(tmp_path: Path) -> None:
    async with simulator(tmp_path, FILES, {"files": {"/long.txt": "x" * 1_000_000}}).open() as world:
        assert len(await answered(world, "read_multiple_files", paths=["/long.txt"] * 2)) > 2_000_000
        assert "read fewer at once" in await refused(world, "read_multiple_files", paths=["/long.txt"] * 1000)


async def test_a_statement_writes_a_limited_number_of_rows(tmp_path: Path) -> None:
    tables = {"users": [{"id": 1, "name": "x" * 900_000}]}
    async with simulator(tmp_path, [tool("query", "Run any SQL statement", sql=TEXT)], tables).open() as world:
        for _ in range(4):
            await answered(world, "query", sql="INSERT INTO users (name) SELECT name FROM users")
        more = "INSERT INTO users (name) SELECT name FROM users"
        assert "write fewer" in await refused(world, "query", sql=more)
        assert (await answered(world, "query", sql="SELECT count(*) AS n FROM users"))[0]["n"] == 16


@pytest.mark.parametrize("text", ["[1e999]", "[NaN]", "[" * 5000 + "]" * 5000, f"[{LONG}]"])
async def test_invalid_json_stays_a_text_in_a_column_of_lists(tmp_path: Path, text: str) -> None:
    tables = {"users": [{"id": 1, "tags": ["a"]}]}
    async with simulator(tmp_path, [tool("query", "Run any SQL statement", sql=TEXT)], tables).open() as world:
        await answered(world, "query", sql=f"UPDATE users SET tags = '{text}'")
        assert world.view.get("users", 1) == {"id": 1, "tags": text}


@pytest.mark.parametrize("line", ["cp -r / docs", "mv / x"])
async def test_no_command_moves_the_root_into_itself(tmp_path: Path, line: str) -> None:
    run = tool("run_command", "Run a shell command.", needed="command", command=TEXT)
    async with simulator(tmp_path, [run], {"files": {"docs": {"a.txt": "one"}}}).open() as world:
        assert "into itself" in await refused(world, "run_command", command=line)
