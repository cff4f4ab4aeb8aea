"""How many files of mcp_sim a warm call goes through: whoever reads the code follows a call through them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from support.libraries import PROGRAM, TOOLS, library

import mcp_sim
from mcp_sim import Simulator, World

PACKAGE = str(Path(mcp_sim.__file__).parent)


async def files_of(world: World, tool: str, arguments: dict[str, Any]) -> set[str]:
    """Return the files whose functions run in a call, after a few equal ones."""
    files = set[str]()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(PACKAGE):
            files.add(file.removeprefix(PACKAGE))

    for _ in range(5):  # the fault of flaky_crm strikes the first create
        await world.call(tool, arguments)
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        await world.call(tool, arguments)
    finally:
        sys.setprofile(before)
    return files


@pytest.mark.parametrize(
    ("tool", "arguments", "most"),
    [
        ("get_contact", {"contact_id": "con_00001"}, 23),
        ("create_deal", {"title": "Path", "amount": 4000, "contact_id": "con_00001"}, 30),
    ],
)
async def test_a_call_of_a_plan_crosses_few_files(tool: str, arguments: dict[str, Any], most: int) -> None:
    async with Simulator.load("flaky_crm").open() as world:
        files = await files_of(world, tool, arguments)
    assert "/world/world.py" in files
    assert len(files) <= most, sorted(files)


async def test_a_call_of_a_program_crosses_fewer_files(tmp_path: Path) -> None:
    scenario = library(
        tmp_path,
        PROGRAM,
        TOOLS,
        perturbations=[{"lost_ack": {}, "id": "lost", "tools": "borrow_book", "when": {"nth": 1}}],
        expect=[{"recovered": "lost"}, {"called": {"tool": "borrow_book"}}],
    )
    async with Simulator.load(scenario, trust=True).open() as world:
        await world.call("add_book", {"isbn": "1", "title": "A", "copies": 99})
        files = await files_of(world, "borrow_book", {"isbn": "1", "member": "Ada"})
    assert "/world/world.py" in files
    assert len(files) <= 25, sorted(files)
