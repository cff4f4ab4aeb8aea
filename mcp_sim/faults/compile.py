"""Compile a scenario's perturbations: one `CompiledFault` per perturbation and tool in its reach.

A decision never depends on other perturbations. Adding, removing or reordering entries leaves the others as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from numbers import Real

from mcp_sim.faults.trigger_evaluation import (
    Decide,
    NumberedWhen,
    compile_when,
    describe,
    number_counters,
    partition_by,
)
from mcp_sim.types import Memory, Tool, Turn
from mcp_sim.types.domain import Concealed, Domain
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import Apply, Stage, triggers
from mcp_sim.types.scenario import Fires, PerturbationEntry, Scenario, When
from mcp_sim.types.tools import in_reach
from mcp_sim.world.catalogue import IN_FORCE, CatalogueFault


@frozen
class CompiledFault:
    """One perturbation, compiled for one tool. `place` is its position in the document."""

    id: str
    kind: str
    place: int
    stage: Stage
    why: str
    carries_over: bool
    group: str | None
    fires: Fires
    decide: Decide
    apply: Apply
    count: Callable[[Turn], bool] | None
    """Counts a call that the fault lets through, and returns True; None for faults that do more than count."""
    share: Callable[[Turn], str]
    """Returns which limit of `fires` a call counts towards."""
    numbered: NumberedWhen

    def is_capped(self, turn: Turn) -> bool:
        """Whether it was applied as often as `fires` allows, or is in its cooldown."""
        if self.fires.max is None and self.fires.cooldown is None:
            return False
        memory = turn.memories.of(self.id)
        if self.fires.max is not None and memory.get(self._applied_at(turn), 0) >= self.fires.max:
            return True
        return self.fires.cooldown is not None and self._is_in_cooldown(turn, memory)

    def note_applied(self, turn: Turn) -> None:
        """Count an application, and start its cooldown."""
        if self.fires.max is None and self.fires.cooldown is None:
            return
        memory = turn.memories.of(self.id)
        memory.set(self._applied_at(turn), memory.get(self._applied_at(turn), 0) + 1)
        memory.set("applied-last", (turn.now, turn.index))

    def _is_in_cooldown(self, turn: Turn, memory: Memory) -> bool:
        last, cooldown = memory.get("applied-last"), self.fires.cooldown
        if last is None or cooldown is None:
            return False
        if cooldown.calls is not None:
            return turn.index - last[1] <= cooldown.calls
        return cooldown.time is not None and turn.now - last[0] < cooldown.time

    def _applied_at(self, turn: Turn) -> str:
        return f"applied:{self.share(turn)}"


class CompiledFaults:
    """The perturbations of a scenario, compiled tool by tool when they are first asked for.

    `counters` is the number of slots. All tools of an entry share one counter. An entry that is disabled has a slot,
    too, so that those of the others stay where they are when it is enabled.
    """

    def __init__(self, entries: Sequence[PerturbationEntry], domain: Domain) -> None:
        slots = count()
        numbered = [(place, entry, number_counters(entry.when, slots)) for place, entry in enumerate(entries)]
        self._domain = domain
        self._active = [
            (place, entry, when)
            for place, entry, when in numbered
            if entry.enabled and not entry.perturbation.is_timed()
        ]
        self._by_tool = dict[str, tuple[CompiledFault, ...]]()
        self.counters = next(slots)
        self.timed = tuple(entry for entry in entries if entry.enabled and entry.perturbation.is_timed())
        self.lasting = tuple(_lasting(entry, when, domain) for _, entry, when in self._active if _lasts(entry))

    def of(self, tool_id: str) -> tuple[CompiledFault, ...]:
        """Return those in whose reach a tool is, in document order; none for an unknown tool."""
        known = self._by_tool.get(tool_id)
        tool = self._domain.tools.get(tool_id)
        if known is not None or tool is None:
            return known or ()
        # At first use: a catalogue has hundreds of tools, and an agent calls a few.
        self._by_tool[tool_id] = compiled = tuple(
            _compile_fault(entry, place, when, tool, self._domain)
            for place, entry, when in self._active
            if in_reach(entry.tools, tool)
        )
        return compiled

    @property
    def concealed(self) -> tuple[Concealed, ...]:
        """What they conceal from the agent."""
        return tuple(concealed for _, entry, _ in self._active for concealed in _concealed(entry, self._domain))


def _concealed(entry: PerturbationEntry, domain: Domain) -> Sequence[Concealed]:
    """Return what a perturbation conceals from the agent."""
    tools = [tool for tool in domain.tools.values() if in_reach(entry.tools, tool)]
    return entry.perturbation.conceals(domain, tools, always=entry.when == When() and entry.fires == Fires())


def _lasts(entry: PerturbationEntry) -> bool:
    return entry.perturbation.stage is Stage.CATALOGUE


def _lasting(entry: PerturbationEntry, numbered: NumberedWhen, domain: Domain) -> CatalogueFault:
    """Return how to decide outside of calls whether a CATALOGUE perturbation is in force."""
    # Lists are asked for between calls, where filters and counters have nothing to decide about.
    if not numbered.depends_on_time_only:
        return CatalogueFault(entry, describe(entry.when), None)
    # Any will do: what depends on the time alone is the same for all.
    some_tool = next(iter(domain.tools.values()))
    return CatalogueFault(entry, describe(entry.when), compile_when(numbered, some_tool, domain, entry.id))


def _latched(decide: Decide, owner: str) -> Decide:
    """Return a decision that stays true once it was true."""

    def decided(turn: Turn) -> bool:
        memory = turn.memories.of(owner)
        if memory.get(IN_FORCE):
            return True
        holds = decide(turn)
        if holds:
            memory.set(IN_FORCE, True)
        return holds

    return decided


def _compile_fault(
    entry: PerturbationEntry, place: int, numbered: NumberedWhen, tool: Tool, domain: Domain
) -> CompiledFault:
    lasts = _lasts(entry)
    decide = compile_when(numbered, tool, domain, entry.id, carried_by="" if lasts else entry.id)
    if lasts and not numbered.depends_on_time_only:
        decide = _latched(decide, entry.id)
    return CompiledFault(
        id=entry.id,
        kind=entry.kind,
        place=place,
        stage=entry.perturbation.stage,
        why=describe(entry.when),
        carries_over=not lasts and any(trigger.carries_over for trigger in entry.when.triggers),
        group=entry.group,
        fires=entry.fires,
        decide=decide,
        apply=entry.perturbation.compile(tool, domain),
        count=_counting(entry, tool, domain),
        share=partition_by(tool, domain, entry.fires.per),
        numbered=numbered,
    )


def _counting(entry: PerturbationEntry, tool: Tool, domain: Domain) -> Callable[[Turn], bool] | None:
    """Return what counts a call, if that is all that happens to most calls and if no option depends on the outcome."""
    count, owner = entry.perturbation.compile_count(tool, domain), entry.id
    carries_over = any(trigger.carries_over for trigger in entry.when.triggers)
    if count is None or carries_over or entry.group is not None:
        return None
    if entry.fires.max is not None or entry.fires.cooldown is not None:
        return None
    return lambda turn: count(turn, turn.memories.of(owner))


def with_intensity(scenario: Scenario, intensity: float | None) -> Scenario:
    """Return the scenario with another intensity, 0 to 1. Raises `UsageError` if it is out of range."""
    if intensity is None:
        return scenario
    if not isinstance(intensity, Real) or not 0 <= intensity <= 1:  # a trainer may pass a number of numpy
        raise UsageError(f"intensity must be a number from 0 to 1, got {intensity!r}")
    return replace(scenario, intensity=float(intensity))


def without_faults(scenario: Scenario) -> Scenario:
    """Return the scenario with its faults silenced. Its tools are listed as with them."""
    return replace(scenario, perturbations=tuple(map(_silenced, scenario.perturbations)), has_faults=False)


def _silenced(entry: PerturbationEntry) -> PerturbationEntry:
    """Return a perturbation that is never applied."""
    if entry.perturbation.is_timed():
        return replace(entry, enabled=False)
    return replace(entry, when=When((triggers["probability"].model_validate({"p": 0}),)))


def scaled_perturbations(scenario: Scenario) -> tuple[PerturbationEntry, ...]:
    """Return the perturbations at the scenario's intensity.

    Probabilities and severities are multiplied by it. Conditions under `not` are left alone: a lower probability there
    would mean more faults.
    """
    if scenario.intensity == 1:
        return scenario.perturbations
    share = scenario.intensity
    return tuple(
        replace(entry, perturbation=entry.perturbation.scaled(share), when=_scaled_when(entry.when, share))
        for entry in scenario.perturbations
    )


def _scaled_when(when: When, intensity: float) -> When:
    return replace(
        when,
        triggers=tuple(trigger.scaled(intensity) for trigger in when.triggers),
        any=tuple(_scaled_when(nested, intensity) for nested in when.any),
        all=tuple(_scaled_when(nested, intensity) for nested in when.all),
    )
