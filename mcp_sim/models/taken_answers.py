"""Take an answer from outside, of a real server or a recording, into the world as it is."""

from __future__ import annotations

from dataclasses import replace

from mcp_sim.generate.invention import inventor
from mcp_sim.models.language_model.adoption import Adoption
from mcp_sim.models.language_model.compiled_tools import CompiledTool, CompiledTools
from mcp_sim.models.language_model.disclosure import Disclosure
from mcp_sim.models.language_model.effects import Draft
from mcp_sim.models.language_model.fixed_facts import FixedFacts
from mcp_sim.models.language_model.tighten import Bounds
from mcp_sim.types import Observation, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.programs import PROGRAM

MOST = 1_000  # bounds of what a language model would be asked for; no model is asked here


class TakenAnswers:
    """Takes answers as they are: nothing is compared. What they show, and what writes change, becomes known.

    Faults, expectations and other world models then work on the records that the answers show. `owner` names the
    memory.
    """

    def __init__(self, domain: Domain, owner: str) -> None:
        self._owner, self._disclosure = owner, Disclosure(domain)
        self._tools, self._invent = CompiledTools(domain, Bounds(MOST, MOST, is_open=True)), inventor(domain)

    def tool(self, turn: Turn) -> CompiledTool:
        """Return the tool of a call, or the choice that the call makes."""
        return self._tools.of(turn.call)

    def plain(self, turn: Turn) -> Turn:
        """Return the turn with its arguments named as in plans, without a wrapper."""
        return replace(turn, call=self._tools.plain_call(turn.call))

    def planned(self, turn: Turn) -> Transition:
        """Return what the plan of the tool answers from the world's records."""
        tool = self.tool(turn)
        transition = tool.answer(turn, self._invent)
        return transition.marked(*tool.plan.guesses)

    def draft(self, turn: Turn) -> Draft | None:
        """Return what the plan of the tool would answer; None if the call is invalid or a program answers it."""
        tool = self.tool(turn)
        return None if turn.problems or tool.plan.backend == PROGRAM else Draft.of(tool.answer, turn, self._invent)

    def adoption(self, turn: Turn) -> Adoption:
        """Return how an answer to this call becomes part of the world. Nothing that is known is held against it."""
        facts = FixedFacts(turn, turn.memories.of(self._owner), None, is_write=True)
        return Adoption(self.plain(turn), self.tool(turn), self._disclosure, facts, self.draft(turn))

    def earlier(self, turn: Turn) -> Transition | None:
        """Return what was kept of this call, if a fault looks at it once more."""
        kept: tuple[Turn, Transition] | None = turn.memories.shared.get(self._owner)
        return kept[1] if kept is not None and kept[0].call is turn.call and kept[0].draws == turn.draws else None

    def keep(self, turn: Turn, transition: Transition) -> Transition:
        """Return the transition, and keep it for faults that look twice at one call."""
        turn.memories.shared[self._owner] = turn, transition
        return transition

    def taken(self, turn: Turn, observation: Observation) -> Transition:
        """Return the transition of an answer that is served as it is."""
        return replace(self.adoption(turn).taken(observation), is_real=True)
