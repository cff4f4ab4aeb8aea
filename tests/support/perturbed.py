"""Helpers for tests of perturbations: runs of the same calls, and their outcomes in the ledger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from mcp_sim import Simulator
from mcp_sim.types import Observation, ToolResult
from mcp_sim.world.world import World

Crm: TypeAlias = Callable[[str], Simulator]
Calls: TypeAlias = Sequence[tuple[str, dict[str, Any]]]

ADA = {"contact_id": "con_00001"}
SPRING = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
ALL: dict[str, Any] = {}
DEAL = {"deal_id": "deal_0001"}


def value(observation: Observation) -> Any:
    """Return the value of a result."""
    assert isinstance(observation.body, ToolResult)
    return observation.body.value


async def served_value(world: World, tool: str, arguments: dict[str, Any] | None = None) -> Any:
    """Return the value of a result that must be a success."""
    observation = await world.call(tool, arguments)
    assert observation.ok
    return value(observation)


def calls(world: World) -> list[dict[str, Any]]:
    """Return the ledger's entries of calls."""
    return [step for step in world.ledger.steps if step["entry"] == "call"]


def truth(world: World) -> Any:
    """Return the true answer to the last call."""
    return calls(world)[-1]["truth"]["observation"]["result"]


def outcomes(world: World) -> list[list[str]]:
    """Return the outcomes of the decided perturbations, call by call."""
    return [[decided["outcome"] for decided in step["perturbations"]] for step in calls(world)]


async def run(simulator: Simulator, asked: Calls, seed: int) -> list[dict[str, Any]]:
    """Return the ledger of a run, without its first entry."""
    async with simulator.open(seed=seed) as world:
        for tool, arguments in asked:
            await world.call(tool, arguments)
        return world.ledger.steps[1:]


async def repeats_and_differs(simulator: Simulator, asked: Calls, seen: str = "perturbations") -> bool:
    """Whether the same seed gives the same run, and one of ten other seeds other `seen` parts of steps."""
    first = await run(simulator, asked, 1)
    others = [await run(simulator, asked, seed) for seed in range(2, 12)]
    shown = [[step.get(seen) for step in steps] for steps in (first, *others)]
    return first == await run(simulator, asked, 1) and any(steps != shown[0] for steps in shown[1:])


HALF = "when: {probability: 0.5}"
"""A trigger whose decisions depend on the seed."""
