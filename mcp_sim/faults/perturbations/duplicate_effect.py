"""The call takes effect more than once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field

from mcp_sim.backends.rendering.places import no_writes
from mcp_sim.types import Change, Proceed, Tool, Transition, Turn, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import Count
from mcp_sim.world.deferred_commits import writes


@perturbations.register("duplicate_effect")
class DuplicateEffect(Perturbation):
    """Let the call take effect once more, as a backend does that repeats a request on its own.

    The agent sees one answer. The world is asked again on the state as the call left it: a second create makes a second
    record with an id of its own. No effect where that changes nothing further: reads, failures, updates and deletes.
    """

    stage = Stage.COMMIT
    visibility = "implicit"

    more: Count = Field(default=1, description="How many times more.", examples=[2])
    answer: Literal["first", "last"] = Field(default="first", description="Which of the answers the agent gets.")

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        staged = dict(turn.memories.staged)
        transition = await proceed(turn)
        if not writes(transition.changes) or not transition.observation.ok:
            return turn.no_effect(transition)
        changes, first = transition.changes, transition.observation
        told = first
        for n in range(self.more):
            with turn.memories.aside(staged):
                again = await proceed(_repeated(turn, changes, n))
            if not again.observation.ok or not _says_more(turn.view.after(changes), again.changes):
                break
            changes, told = (*changes, *again.changes), again.observation
        if changes == transition.changes:
            return turn.no_effect(transition)
        return replace(transition, changes=changes, observation=first if self.answer == "first" else told)

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_writes(domain, tools, "effect to repeat")


def _repeated(turn: Turn, changes: tuple[Change, ...], n: int) -> Turn:
    """The same call once more, after these changes and with chances of its own."""
    draws = replace(turn.draws, scope=f"{turn.draws.scope}/again/{n}")
    return replace(turn.after(changes), draws=draws)


def _says_more(view: View, changes: tuple[Change, ...]) -> bool:
    """Do the changes leave the state other than it is?"""
    return any(view.get(change.entity, change.key) != change.record for change in changes if change.op != "reserve")
