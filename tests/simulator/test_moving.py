"""Worlds move to a program with what they have written, at the next call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.places import ROOT

from mcp_sim import Simulator
from mcp_sim.models.language_model.reply import Reply
from mcp_sim.recordings.compiling.rounds import program_in
from mcp_sim.simulator.compile import load
from mcp_sim.world.world import World

COMPILED = ROOT / "tests" / "recordings" / "compiled"
SPEC = COMPILED / "pantry.yaml"
PROGRAM = program_in(Reply((COMPILED / "pantry.reply.md").read_text(encoding="utf-8")))


def programmed(folder: Path, text: str) -> Any:
    (folder / "program.py").write_text(text)
    return load(SPEC, program=folder / "program.py")


async def text(world: World, tool: str, **arguments: Any) -> Any:
    return shown(await world.call(tool, arguments))


def shown(observation: Any) -> Any:
    return observation.body.value


async def test_a_world_keeps_its_records_faults_and_history(tmp_path: Path) -> None:
    async with Simulator.load(SPEC) as simulator:
        world, untouched = simulator.world("first"), simulator.world("second")
        created = await text(world, "add_item", name="Rice", quantity=2)
        await world.inject({"error": {"message": "Down"}, "tools": "remove_item"})
        await simulator.adopt(programmed(tmp_path, PROGRAM))
        assert f"- 2 x Rice ({created['id']}, top)" == await text(world, "list_items")
        assert await text(world, "remove_item", item_id=created["id"]) == "Down"
        assert await text(untouched, "add_item", name="Oats", quantity=1) == "Put 1 x Oats on the top shelf (item-1)."
        assert await text(simulator.world("third"), "list_items") == "The pantry is empty."
        events = [entry for entry in world.ledger.steps if entry.get("steered")]
        assert [[*event["steered"]] for event in events] == [["inject"], ["programs"]]


async def test_a_world_whose_records_have_no_table_moves_when_it_is_reset(tmp_path: Path) -> None:
    async with Simulator.load(SPEC) as simulator:
        world = simulator.world("first")
        await text(world, "add_item", name="Rice", quantity=2)
        before = await text(world, "list_items")
        elsewhere = PROGRAM.replace('"item": {', '"thing": {').replace("world.item", "world.thing")
        await simulator.adopt(programmed(tmp_path, elsewhere))
        assert await text(world, "list_items") == before
        world.reset()
        assert await text(world, "list_items") == "The pantry is empty."
