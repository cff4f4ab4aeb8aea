"""Tests that fail at times."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import Field

from mcp_sim.faults.results import entity_of, missing, proceed_twice
from mcp_sim.types import Change, Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import below
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations


@perturbations.register("flaky")
class Flaky(Perturbation):
    """Let tests fail although nothing is wrong, and print the failures as pytest does.

    An agent that takes one for a bug repairs what is not broken.
    """

    stage = Stage.BEFORE
    visibility = "implicit"

    tests: Annotated[list[str], Field(min_length=1)] = Field(
        default=["*"],
        description="The tests, by glob: `tests/test_a.py::test_b`.",
        examples=[["tests/test_loads.py::*"]],
    )
    chance: float = Field(default=0.5, gt=0, le=1, description="The probability with which each of them fails.")
    error: str = Field(
        default="TimeoutError: timed out", min_length=1, description="What the tests raise.", examples=["assert 3 == 4"]
    )

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        entity = entity_of(domain, tool, "test_case")

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            changes = [
                Change("put", entity, key, {**row, "fails": self.error})
                for key, row in turn.view.rows(entity)
                if any(fnmatchcase(str(key), pattern) for pattern in self.tests)
                and below(self.chance, f"flaky {key}")(turn.draws)
            ]
            truth, other = await proceed_twice(turn, proceed, turn.after(changes))
            return turn.no_effect(truth) if truth.observation == other.observation else other

        return apply

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return missing(domain, "test_case", "a shell")
