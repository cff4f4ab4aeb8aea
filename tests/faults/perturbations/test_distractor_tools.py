"""distractor_tools: there are more tools than are of any use."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from support.catalogues import LIST, names, tool
from support.perturbed import SPRING, Crm, outcomes

from mcp_sim import Simulator
from mcp_sim.types import RpcError, ToolResult
from mcp_sim.types.kinds import perturbations


async def distractors(simulator: Simulator, seed: int = 1) -> list[str]:
    async with simulator.open(seed=seed) as world:
        real = {tool.name for tool in simulator.scenario.domain.tools.values()}
        shown = names(world)
        assert [name for name in shown if name in real] == [
            one.name for one in simulator.scenario.domain.tools.values()
        ]
        return [name for name in shown if name not in real]


async def test_near_names_appear_among_the_real_ones_with_the_same_arguments(crm: Crm) -> None:
    simulator = crm("perturbations: [{distractor_tools: 4, id: more, tools: create_deal}]")
    added = await distractors(simulator)
    assert len(set(added)) == 4
    assert all("create_deal" in name for name in added)
    async with simulator.open(seed=1) as world:
        for name in added:
            definition = tool(world, name).definition
            assert definition["inputSchema"] == tool(world, "create_deal").input_schema
            assert definition["description"].startswith(tool(world, "create_deal").description)


async def test_a_call_of_one_is_an_error_that_changes_nothing_and_the_ledger_says_so(crm: Crm) -> None:
    simulator = crm("perturbations: [{distractor_tools: {count: 1}, id: more, tools: create_deal}]")
    (name,) = await distractors(simulator)
    async with simulator.open(seed=1) as world:
        body = (await world.call(name, SPRING)).body
        assert body == ToolResult(f"{name} is not available for this account", form="text", is_error=True)
        step = world.ledger.newest["step"]
        assert (step["truth"], step["committed"]) == (None, [])
        assert step["perturbations"] == [
            {"id": "more", "kind": "distractor_tools", "outcome": "applied", "why": "always"}
        ]
        assert (await world.call("create_deal", SPRING)).ok
        assert outcomes(world)[-1] == ["no_effect"]


async def test_a_name_that_is_not_listed_is_unknown_whatever_its_form(crm: Crm) -> None:
    async with crm("perturbations: [{distractor_tools: {}, id: more, when: {after: 1 calls}}]").open() as world:
        assert isinstance((await world.call("create_deal_v2", SPRING)).body, RpcError)
        assert isinstance((await world.call("create_dael_v2", SPRING)).body, RpcError)


async def test_they_come_when_their_time_has_come(crm: Crm) -> None:
    async with crm("perturbations: [{distractor_tools: 3, id: more, when: {after: 2s}}]").open() as world:
        counts = list[int]()
        for _ in range(4):
            counts.append(len(names(world)))
            await world.call(*LIST)
        assert counts[0] == counts[1]
        assert counts[2] == counts[3] == counts[0] + 3


async def test_the_same_seed_repeats_them_and_another_differs(crm: Crm) -> None:
    simulator = crm("perturbations: [{distractor_tools: 5, id: more}]")
    first = await distractors(simulator, 1)
    assert await distractors(simulator, 1) == first
    assert await distractors(simulator, 2) != first


async def test_there_are_no_more_than_can_be_made_and_intensity_makes_them_fewer(crm: Crm) -> None:
    most = await distractors(crm("perturbations: [{distractor_tools: 500, id: more, tools: create_deal}]"))
    assert len(most) == 6
    assert len(await distractors(crm("intensity: 0.5\nperturbations: [{distractor_tools: 5, id: more}]"))) == 3


@pytest.mark.parametrize("options", [0, 501, "many", {"count": 1.5}])
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["distractor_tools"].model_validate(options)
