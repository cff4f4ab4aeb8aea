"""The simulated desktop, with its tools."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mcp_sim import Simulator

FOLDER = "/home/user/Documents"


async def test_a_folder_shows_some_of_its_files_and_leads_to_the_others(tmp_path: Path) -> None:
    files = {f"{FOLDER}/f{number:03}.txt": "x" for number in range(120)}
    spec = {"mcp_sim": 1, "name": "full", "tools": "desktop", "world": {"state": {"files": files}}}
    (tmp_path / "full.yaml").write_text(json.dumps(spec), encoding="utf-8")
    async with Simulator.load(tmp_path / "full.yaml").open() as world:

        async def tool(called: str, /, **arguments: Any) -> str:
            body: Any = (await world.call(called, arguments)).body
            return body.value if isinstance(body.value, str) else ""

        async def press(name: str, action: str = "left_click") -> None:
            """Click the object of this name in the tree."""
            tree = await tool("get_accessibility_tree")
            place = re.search(rf"^[\w-]+\t{name}\t.*\((\d+), (\d+)\)\t", tree, re.MULTILINE)
            assert place is not None, tree
            await tool("computer", action=action, coordinate=[int(place[1]) + 1, int(place[2]) + 1])

        def pages() -> str:
            return next(record["html"] for _, record in world.view.rows("screen_page") if "Files" in record["id"])

        await tool("launch_app", name="Files")
        await press("Documents", "double_click")
        assert pages().count("<tr ") == 50
        for _ in range(2):
            await press("Next 50")
        tree = await tool("get_accessibility_tree")
        assert pages().count("<tr ") == 20
        assert "\tf100.txt\t" in tree
        assert "\tNext 50\t" not in tree
        await press("Previous 50")
        assert "\tf050.txt\t" in await tool("get_accessibility_tree")


async def test_an_inbox_shows_its_newest_mails_and_leads_to_the_others(tmp_path: Path) -> None:
    mails = [{"folder": "Inbox", "sender": "ada@depot.example", "subject": f"S{number}"} for number in range(9_000)]
    spec = {"mcp_sim": 1, "name": "full", "tools": "desktop", "world": {"state": {"mails": mails}}}
    (tmp_path / "full.yaml").write_text(json.dumps(spec), encoding="utf-8")
    async with Simulator.load(tmp_path / "full.yaml").open() as world:
        await world.call("launch_app", {"name": "Mail"})

        def subjects() -> list[str]:
            pages = (record["html"] for _, record in world.view.rows("screen_page") if "Mail" in record["id"])
            return re.findall(r">(S\d+)<", next(pages))

        assert subjects() == [f"S{number}" for number in range(8_999, 8_949, -1)]
        tree: Any = (await world.call("get_accessibility_tree", {})).body
        place = re.search(r"^[\w-]+\tOlder 50\t.*\((\d+), (\d+)\)\t", tree.value, re.MULTILINE)
        assert place is not None
        at = [int(place[1]) + 1, int(place[2]) + 1]
        await world.call("computer", {"action": "left_click", "coordinate": at})
        assert subjects()[0] == "S8949"
