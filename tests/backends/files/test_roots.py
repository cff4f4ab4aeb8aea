"""Where are the files that a state gives, and which may be seen?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.drives import TOOLS
from support.matched_tools import refused, said, simulator

Json = Any


async def test_paths_of_a_state_are_below_the_root_that_it_names(tmp_path: Path) -> None:
    """Callers write whole paths; what lies elsewhere may not be seen."""
    state = {"root": "/box/desk", "files": {"a.txt": "one", "docs/b.md": "two", "empty/": ""}}
    async with simulator(tmp_path, TOOLS, state) as sim, sim.open("desk") as world:
        assert await said(world, "read_file", path="/box/desk/docs/b.md") == "two"
        assert await said(world, "list_directory", path="/box/desk") == "[FILE] a.txt\n[DIR] docs\n[DIR] empty"
        assert "/box/desk" in await said(world, "list_allowed_directories")
        assert "outside the allowed directories" in await refused(world, "read_file", path="/etc/passwd")


async def test_where_tools_speak_of_what_may_be_seen_it_is_the_directory_that_holds_all_that_is_given(
    tmp_path: Path,
) -> None:
    state = {"files": {"/box/desk/a.txt": "one", "/box/desk/docs/b.md": "two"}}
    async with simulator(tmp_path, TOOLS, state) as sim, sim.open("desk") as world:
        assert await said(world, "list_allowed_directories") == "Allowed directories:\n/box/desk"
        assert "outside" in await refused(world, "write_file", path="/box/other.txt", content="x")


@pytest.mark.parametrize("state", [{"files": {"data/a.csv": "1"}}, {"root": {"data": {"type": "directory", "contents": {
    "a.csv": {"type": "file", "content": "1"}}}}}])  # fmt: skip
async def test_files_whose_root_no_state_names_are_where_callers_look_for_them(tmp_path: Path, state: Json) -> None:
    sim = simulator(tmp_path, TOOLS, state)
    async with sim, sim.open() as world:
        home = "/home/ada/farm"
        assert "data" in str(await said(world, "list_directory", path=home))
        assert "1" in str(await said(world, "read_file", path=f"{home}/data/a.csv"))
        await said(world, "create_directory", path=f"{home}/new/deep")
        await said(world, "write_file", path=f"{home}/new/deep/b.txt", content="bee")
        assert "bee" in str(await said(world, "read_file", path=f"{home}/new/deep/b.txt"))
        assert f"{home}/new/deep/b.txt" in str(await said(world, "search_files", path=home, pattern="b.txt"))
        await refused(world, "read_file", path=f"{home}/data/b.txt")
        await refused(world, "list_directory", path="/home/ada/elsewhere")
        await refused(world, "read_file", path="/etc/passwd")
