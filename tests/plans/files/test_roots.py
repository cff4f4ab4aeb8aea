"""Where the files of a state are on the clients' disk, and which directories are allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.drives import TOOLS
from support.matched_tools import answered, refused, simulator

Json = Any


async def test_relative_paths_of_a_state_are_below_its_root(tmp_path: Path) -> None:
    """Clients write absolute paths; other directories are not allowed."""
    state = {"root": "/box/desk", "files": {"a.txt": "one", "docs/b.md": "two", "empty/": ""}}
    async with simulator(tmp_path, TOOLS, state) as sim, sim.open("desk") as world:
        assert await answered(world, "read_file", path="/box/desk/docs/b.md") == "two"
        assert await answered(world, "list_directory", path="/box/desk") == "[FILE] a.txt\n[DIR] docs\n[DIR] empty"
        assert "/box/desk" in await answered(world, "list_allowed_directories")
        assert "outside the allowed directories" in await refused(world, "read_file", path="/etc/passwd")


async def test_if_a_tool_lists_allowed_directories_it_is_the_common_directory_of_the_given_files(
    tmp_path: Path,
) -> None:
    state = {"files": {"/box/desk/a.txt": "one", "/box/desk/docs/b.md": "two"}}
    async with simulator(tmp_path, TOOLS, state) as sim, sim.open("desk") as world:
        assert await answered(world, "list_allowed_directories") == "Allowed directories:\n/box/desk"
        assert "outside" in await refused(world, "write_file", path="/box/other.txt", content="x")


@pytest.mark.parametrize("state", [{"files": {"data/a.csv": "1"}}, {"root": {"data": {"type": "directory", "contents": {
    "a.csv": {"type": "file", "content": "1"}}}}}])  # fmt: skip
async def test_files_without_a_root_are_where_clients_look_for_them(tmp_path: Path, state: Json) -> None:
    sim = simulator(tmp_path, TOOLS, state)
    async with sim, sim.open() as world:
        home = "/home/ada/farm"
        assert "data" in str(await answered(world, "list_directory", path=home))
        assert "1" in str(await answered(world, "read_file", path=f"{home}/data/a.csv"))
        await answered(world, "create_directory", path=f"{home}/new/deep")
        await answered(world, "write_file", path=f"{home}/new/deep/b.txt", content="bee")
        assert "bee" in str(await answered(world, "read_file", path=f"{home}/new/deep/b.txt"))
        assert f"{home}/new/deep/b.txt" in str(await answered(world, "search_files", path=home, pattern="b.txt"))
        await refused(world, "read_file", path=f"{home}/data/b.txt")
        await refused(world, "list_directory", path="/home/ada/elsewhere")
        await refused(world, "read_file", path="/etc/passwd")
