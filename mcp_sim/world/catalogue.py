"""The tools that a world lists now, and the notification when the list has changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from mcp_sim.types import Decision, Observation, Record, Tool, Transition, Turn
from mcp_sim.types.draws import Draws
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import Listing
from mcp_sim.types.scenario import PerturbationEntry
from mcp_sim.types.tools import in_reach

IN_FORCE = "in-force"
"""The memory key of a perturbation of the catalogue: whether it was decided for a call, and so is in force."""

LISTED = "listed"
"""The memory key of a world: which perturbations of the catalogue clients have been notified of."""
_CHANGED: Record = {"method": "notifications/tools/list_changed", "params": {}}


@frozen
class CatalogueFault:
    """A perturbation of the catalogue."""

    entry: PerturbationEntry
    why: str
    holds: Callable[[Turn], bool] | None
    """Whether its `when` holds, if that depends on time only. None: it lasts once it has been decided for a call."""

    def in_force(self, turn: Turn) -> bool:
        """Whether it changes the catalogue now."""
        if self.holds is not None:
            return self.holds(turn)
        return bool(turn.memories.of(self.entry.id).get(IN_FORCE))


def list_tools(tools: Sequence[Tool], server: str, lasting: Sequence[CatalogueFault], turn: Turn) -> Sequence[Tool]:
    """Return the tools of a server as they are listed now."""
    for fault in lasting:
        if fault.in_force(turn):
            reach = frozenset(tool.id for tool in tools if in_reach(fault.entry.tools, tool))
            draws = Draws(turn.draws.seed, turn.draws.stream, f"{fault.entry.id}/catalogue/{server}", 0)
            tools = fault.entry.perturbation.catalogue(Listing(tuple(tools), server, reach, draws))
    return tools


def announce_list_changes(
    transition: Transition, lasting: Sequence[CatalogueFault], turn: Turn, start: Turn
) -> Transition:
    """Return the transition, with a notification if the list of tools has changed. `start` is a turn at the start."""
    memory = turn.memories.of("")
    before = memory.get(LISTED)
    if before is None:
        before = announced(lasting, start)
    now = announced(lasting, turn)
    memory.set(LISTED, now)
    if now == before:
        return transition
    observation = transition.observation
    notifying = replace(observation, notifications=(*observation.notifications, _CHANGED))
    return replace(transition, observation=notifying)


def added_answer(lasting: Sequence[CatalogueFault], turn: Turn) -> tuple[Observation, Decision] | None:
    """Return the answer of a tool that only a perturbation lists, or None."""
    for fault in lasting:
        if fault.in_force(turn):
            observation = fault.entry.perturbation.answer_added(turn.owned_by(fault.entry.id))
            if observation is not None:
                return observation, Decision(fault.entry.id, fault.entry.kind, "applied", fault.why)
    return None


def announced(lasting: Sequence[CatalogueFault], turn: Turn) -> tuple[str, ...]:
    """Return the ids of the perturbations in force that clients are notified of."""
    return tuple(fault.entry.id for fault in lasting if fault.entry.perturbation.announces() and fault.in_force(turn))
