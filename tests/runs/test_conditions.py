"""The variants of a scenario that runs are made in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.vendors import FAULTED_SCENARIOS, compiled

from mcp_sim import Simulator
from mcp_sim.runs.results import AppliedFault, Condition, applied_faults
from mcp_sim.runs.runner import variant
from mcp_sim.simulator.compile import load

CLEAN = Condition("clean", has_faults=False)
FAULTS = Condition("faults")


@pytest.mark.parametrize("name", FAULTED_SCENARIOS)
async def test_without_faults_the_same_tools_are_listed_and_no_fault_is_applied(name: str) -> None:
    scenario = compiled(name)
    async with Simulator(variant(scenario, CLEAN)) as clean, Simulator(variant(scenario, FAULTS)) as faulted:
        worlds = clean.world(seed=3), faulted.world(seed=3)
        for server in scenario.servers:
            first, second = ([tool.definition for tool in world.catalogue(server)] for world in worlds)
            assert first == second
        for tool in scenario.domain.tools:
            await worlds[0].call(tool, {})
        assert not any(step.get("perturbations") for step in worlds[0].ledger.steps)
        assert worlds[0].grade().outcome != "not exercised"


async def test_without_faults_nothing_happens_by_itself(tmp_path: Path) -> None:
    change = {
        "external_change": {"entity": "deal", "every": "1s", "do": "edit", "values": {"stage": "lost"}},
        "id": "others",
    }
    path = tmp_path / "busy.json"
    path.write_text(
        json.dumps({"mcp_sim": 1, "tools": "crm", "world": {"records": {"deal": 5}}, "perturbations": [change]})
    )
    steps = {}
    for condition in (CLEAN, FAULTS):
        async with Simulator(variant(load(path), condition)).open() as world:
            for _ in range(3):
                await world.call("list_deals")
            steps[condition] = [step["entry"] for step in world.ledger.steps]
    assert steps[CLEAN] == ["reset", "call", "call", "call"]
    assert "event" in steps[FAULTS]


async def test_faults_that_act_on_no_call_are_reported_without_a_tool(tmp_path: Path) -> None:
    change = {"entity": "deal", "every": "1s", "do": "edit", "values": {"stage": "lost"}}
    faults: list[dict[str, Any]] = [
        {"hide_tool": {}, "id": "hidden", "tools": "create_deal"},
        {"external_change": change, "id": "others"},
        {"error": {"status": 503}, "id": "busy", "tools": "list_deals", "when": {"nth": 1}},
        {"error": {"status": 503}, "id": "never", "tools": "update_deal"},
    ]
    path = tmp_path / "scenario.json"
    path.write_text(
        json.dumps({"mcp_sim": 1, "tools": "crm", "world": {"records": {"deal": 5}}, "perturbations": faults})
    )
    async with Simulator(load(path)).open() as world:
        for _ in range(3):
            await world.call("list_deals")
        assert applied_faults(world) == (
            AppliedFault("busy", "error", "list_deals", 1),
            AppliedFault("hidden", "hide_tool", None, 0),
            AppliedFault("others", "external_change", None, 0),
        )
