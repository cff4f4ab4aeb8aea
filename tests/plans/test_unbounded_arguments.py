"""Arguments with huge values are served up to a limit, without delay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.matched_tools import TEXT, answered, simulator, tool

Json = Any
HUGE = 10**400
ITEMS = [
    tool("create_item", "Create an item", title=TEXT),
    tool("list_items", "List items", needed="", limit={"type": "integer"}, offset={"type": "integer"}),
]


async def test_a_page_after_the_last_is_empty_and_a_huge_page_holds_all_rows(tmp_path: Path) -> None:
    async with simulator(tmp_path, ITEMS, world={"records": {"item": 3}}).open() as world:
        assert len((await answered(world, "list_items", limit=HUGE))["items"]) == 3
        assert len((await answered(world, "list_items", limit=10**12, offset=2))["items"]) == 1
        assert (await answered(world, "list_items", offset=HUGE))["items"] == []
