"""Computations called from Python, and chosen by a spec."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.backend_answers import NUMBER, STRING, simulator, tool
from support.matched_tools import answered
from support.matched_tools import simulator as declared_simulator

from mcp_sim.plans.library import Library
from mcp_sim.plans.refusal import Refused

NOW = datetime(2030, 1, 1, 9, tzinfo=UTC)


async def test_operations_are_functions_of_their_arguments_and_the_time(tmp_path: Path) -> None:
    async with simulator(tmp_path, [tool("add", {"a": NUMBER, "b": NUMBER})]) as sim, sim.open() as world:
        compute = Library("compute", world.view, NOW)
        assert compute.add(1, 2).value == 3
        assert compute.mean([1, 2, 6]).value == 3
        assert compute.calculate("2*3").text == "6"
        assert compute.convert_unit(2, "km", target="m").value == 2000
        assert compute.now("Asia/Tokyo").value["time"] == "18:00:00"
        assert compute.changes == ()
        with pytest.raises(Refused, match="Missing required argument: b"):
            compute.add(1)
        with pytest.raises(Refused, match="square_root is not defined for -1"):
            compute.square_root(-1)


async def test_a_spec_chooses_the_operation_and_its_arguments(tmp_path: Path) -> None:
    sums = {"backend": "compute", "operation": "add", "arguments": {"a": "eggs", "b": "hens"}}
    named = {"backend": "compute", "operation": "echo"}
    tools = [tool("tally", {"eggs": NUMBER, "hens": NUMBER}), tool("shout", {"text": STRING})]
    sim = declared_simulator(tmp_path, tools, spec={"sim": {"tally": sums, "shout": named}})
    async with sim.open() as world:
        assert await answered(world, "tally", eggs=5, hens=2) == "7"
        assert await answered(world, "shout", text="cluck") == "cluck"
