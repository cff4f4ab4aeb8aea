"""Calls that take effect more than once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from mcp_sim.faults.results import no_writes
from mcp_sim.types import Change, Proceed, Tool, Transition, Turn, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import Count
from mcp_sim.world.deferred_commits import writes


@perturbations.register("duplicate_effect")
class DuplicateEffect(Perturbation):
    """Repeat the effect of the call, like a backend that retries a request on its own.

    A second create makes a second record with an id of its own. No effect on reads, failures, most updates and deletes,
    and calls with an idempotency key, which the repetition has as well.
    """

    stage = Stage.COMMIT
    visibility = "implicit"

    more: Count = Field(default=1, description="Number of repetitions.", examples=[2])
    answer: Literal["first", "last"] = Field(default="first", description="Which of the results the agent gets.")

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        staged = dict(turn.memories.staged)
        transition = await proceed(turn)
        # A server that honours an idempotency key does not repeat the effect.
        if turn.key or not writes(transition.changes) or not transition.observation.ok:
            return turn.no_effect(transition)
        changes, first = transition.changes, transition.observation
        last = first
        for n in range(self.more):
            # Memory as before the call, so that the repetition cannot know that it is one.
            with turn.memories.aside(staged):
                # The same call after these changes, with draws of its own.
                draws = replace(turn.draws, scope=f"{turn.draws.scope}/again/{n}")
                again = await proceed(replace(turn.after(changes), draws=draws))
            if not again.observation.ok or not _says_more(turn.view.after(changes), again.changes):
                break
            changes, last = (*changes, *again.changes), again.observation
        if changes == transition.changes:
            return turn.no_effect(transition)
        return replace(transition, changes=changes, observation=first if self.answer == "first" else last)

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_writes(domain, tools, "effect to repeat")


def _says_more(view: View, changes: tuple[Change, ...]) -> bool:
    """Whether the changes alter the state."""
    # Setting a field twice to the same value, or deleting twice, has no second effect.
    return any(view.get(change.entity, change.key) != change.record for change in changes if change.op != "reserve")
