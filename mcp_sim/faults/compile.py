"""When does a perturbation apply? A scenario's entries, compiled to one `Rule` for each tool in their reach.

It never looks at other perturbations, so adding, removing or reordering entries leaves the others' decisions as they
were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from mcp_sim.faults.trigger_evaluation import Decide, Numbered, decision, describe, numbered_in, splitter
from mcp_sim.types import Memory, Tool, Turn
from mcp_sim.types.domain import Concealed, Domain
from mcp_sim.types.kinds import Apply, Stage
from mcp_sim.types.scenario import Fires, PerturbationEntry, When, in_reach
from mcp_sim.world.catalogue import IN_FORCE, Lasting


@dataclass(frozen=True, slots=True)
class Rule:
    """One perturbation as it bears on one tool. `place` is its place in the file."""

    id: str
    kind: str
    place: int
    stage: Stage
    why: str
    carries: bool
    group: str | None
    fires: Fires
    decide: Decide
    apply: Apply
    part: Callable[[Turn], str]
    """Which bound of `fires` a call counts towards."""
    numbered: Numbered

    def is_capped(self, turn: Turn) -> bool:
        """Was it applied as often as `fires` allows, or is it resting?"""
        if self.fires.max is None and self.fires.cooldown is None:
            return False
        memory = turn.memories.of(self.id)
        if self.fires.max is not None and memory.get(self._applied_at(turn), 0) >= self.fires.max:
            return True
        return self.fires.cooldown is not None and self._rests(turn, memory)

    def note_applied(self, turn: Turn) -> None:
        """Count an application, and start its cooldown."""
        if self.fires.max is None and self.fires.cooldown is None:
            return
        memory = turn.memories.of(self.id)
        memory.set(self._applied_at(turn), memory.get(self._applied_at(turn), 0) + 1)
        memory.set("applied-last", (turn.now, turn.index))

    def _rests(self, turn: Turn, memory: Memory) -> bool:
        last, cooldown = memory.get("applied-last"), self.fires.cooldown
        if last is None or cooldown is None:
            return False
        if cooldown.calls is not None:
            return turn.index - last[1] <= cooldown.calls
        return cooldown.time is not None and turn.now - last[0] < cooldown.time

    def _applied_at(self, turn: Turn) -> str:
        return f"applied:{self.part(turn)}"


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules of a scenario by tool id, in file order, how many counters they need, and what they conceal."""

    by_tool: dict[str, tuple[Rule, ...]]
    counters: int
    lasting: tuple[Lasting, ...] = ()
    concealed: tuple[Concealed, ...] = ()


def compile_rules(entries: Sequence[PerturbationEntry], domain: Domain) -> Rules:
    """The rules of a scenario. One counter serves all tools of an entry."""
    slots = count()
    places = {entry.id: place for place, entry in enumerate(entries)}
    enabled = [
        (entry, numbered_in(entry.when, slots))
        for entry in entries
        if entry.enabled and not entry.perturbation.is_timed()
    ]
    by_tool = {
        tool.id: tuple(
            _rule(entry, places[entry.id], numbered, tool, domain)
            for entry, numbered in enabled
            if in_reach(entry.tools, tool)
        )
        for tool in domain.tools.values()
    }
    lasting = tuple(_lasting(entry, numbered, domain) for entry, numbered in enabled if _lasts(entry))
    concealed = tuple(one for entry, _ in enabled for one in _concealed(entry, domain))
    return Rules(by_tool, next(slots), lasting, concealed)


def _concealed(entry: PerturbationEntry, domain: Domain) -> Sequence[Concealed]:
    """What a perturbation keeps from the agent."""
    tools = [tool for tool in domain.tools.values() if in_reach(entry.tools, tool)]
    return entry.perturbation.conceals(domain, tools, always=entry.when == When() and entry.fires == Fires())


def _lasts(entry: PerturbationEntry) -> bool:
    return entry.perturbation.stage is Stage.CATALOGUE


def _lasting(entry: PerturbationEntry, numbered: Numbered, domain: Domain) -> Lasting:
    """How it is known outside of calls whether a perturbation of the catalogue is in force."""
    if not numbered.is_clockwork:
        return Lasting(entry, describe(entry.when), None)
    some_tool = next(iter(domain.tools.values()))
    return Lasting(entry, describe(entry.when), decision(numbered, some_tool, domain, entry.id))


def _once_and_for_all(decide: Decide, owner: str) -> Decide:
    """A decision that stands, once it was made."""

    def decided(turn: Turn) -> bool:
        memory = turn.memories.of(owner)
        if memory.get(IN_FORCE):
            return True
        holds = decide(turn)
        if holds:
            memory.set(IN_FORCE, True)
        return holds

    return decided


def _rule(entry: PerturbationEntry, place: int, numbered: Numbered, tool: Tool, domain: Domain) -> Rule:
    lasts = _lasts(entry)
    decide = decision(numbered, tool, domain, entry.id, carried_by="" if lasts else entry.id)
    if lasts and not numbered.is_clockwork:
        decide = _once_and_for_all(decide, entry.id)
    return Rule(
        id=entry.id,
        kind=entry.kind,
        place=place,
        stage=entry.perturbation.stage,
        why=describe(entry.when),
        carries=not lasts and any(trigger.carries for trigger in entry.when.triggers),
        group=entry.group,
        fires=entry.fires,
        decide=decide,
        apply=entry.perturbation.compile(tool, domain),
        part=splitter(tool, domain, entry.fires.per),
        numbered=numbered,
    )
