"""Arguments that name a record by its old name, or by its id or name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.matched_tools import TEXT, answered, refused, simulator, tool

Json = Any


async def test_old_name_beside_new_name_names_the_record(tmp_path: Path) -> None:
    tools = [
        tool("create_shelf", name=TEXT),
        tool("list_shelves"),
        tool("rename_shelf", old_name=TEXT, new_name=TEXT),
        tool("delete_shelf", name=TEXT),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        await answered(world, "create_shelf", name="Tools")
        await answered(world, "rename_shelf", old_name="Tools", new_name="Machines")
        assert [one["name"] for one in (await answered(world, "list_shelves"))["shelves"]] == ["Machines"]
        assert "Tools" in await refused(world, "rename_shelf", old_name="Tools", new_name="Bolts")
        assert "Tools" in await refused(world, "delete_shelf", name="Tools")
