"""Explain which perturbations would fire at each call of a trace, and why the others did not.

Decisions are recomputed, since draws are pure functions; no world model is asked. The outcome of a decision comes from
the trace where the trace has it. A perturbation that the traced run did not have counts as applied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from rpds import HashTrieMap

from mcp_sim.faults.compile import CompiledFault, without_faults
from mcp_sim.faults.trigger_evaluation import NumberedWhen, call_number, compile_checks, draw_purpose, nested_path
from mcp_sim.simulator.fault_sets import FaultSet, FaultSets
from mcp_sim.simulator.saved_worlds import past_of
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import Call, Change, Memories, PastCall, Record, Tool, Turn
from mcp_sim.types.calls import scope_of
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import Unevaluable
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import Check, Role, Trigger
from mcp_sim.types.scenario import PerturbationEntry, Scenario
from mcp_sim.world.commits import arguments_text
from mcp_sim.world.state import State


@frozen
class Finding:
    """One perturbation at one call in its reach.

    `outcome` is '' if the trace does not have the perturbation. `error` says why its condition could not be evaluated.
    """

    id: str
    kind: str
    decided: bool
    outcome: str
    why: tuple[Reason, ...]
    note: str = ""
    error: str = ""


@dataclass(slots=True)
class _WorldState:
    """The state of a world before its next call, as far as decisions depend on it."""

    state: State
    start: datetime
    seed: int
    stream: str
    faults: FaultSet
    counts: tuple[int, ...]
    memories: HashTrieMap[tuple[str, str], Any]
    occurrences: dict[str, int] = field(default_factory=dict[str, int])
    history: list[PastCall] = field(default_factory=list[PastCall])
    index: int = 0


class Explainer:
    """Explains traces by a scenario: the scenario of the run, or another one."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._simulator = Simulator(scenario)
        self._fault_sets = FaultSets(scenario)

    def findings(
        self, steps: Sequence[Record], fork_at: int = 0, stream: str | None = None
    ) -> Iterator[tuple[Record, tuple[Finding, ...]]]:
        """Yield each call of a world with the findings for the perturbations that could reach it.

        From the step at index `fork_at` on, draws come from `stream`, if that is given, as they do in a fork.
        """
        world: _WorldState | None = None
        for at, step in enumerate(steps):
            if step["entry"] == "reset":
                world = self._opened(step)
            assert world is not None, "a world begins with a reset"
            if at >= fork_at and stream is not None:
                world.stream = stream
            if step["entry"] == "call":
                tool = self.scenario.domain.tools.get(step["tool"])
                turn = _turn(step, tool or Tool(step["tool"], "", {"name": step["tool"]}), world)
                findings = tuple(self._finding(fault, turn, step) for fault in world.faults.compiled.of(step["tool"]))
                world.memories, world.counts = turn.memories.committed(), tuple(turn.memories.counts)
                world.occurrences[turn.draws.scope] = turn.draws.occurrence + 1
                world.index = turn.index
                yield step, findings
            if step["entry"] != "reset":
                # Apply a step to the world.
                changes = [Change.from_json(body) for body in (*step["committed"], *step.get("absorbed", ()))]
                world.state = world.state.apply(changes)
                world.history.append(past_of(step, world.index))
                world.faults = self._fault_sets.refit(world.faults, step.get("steered", {}))
                world.counts = (*world.counts, *(0,) * (world.faults.counters - len(world.counts)))

    def perturbations(self, steps: Sequence[Record]) -> tuple[PerturbationEntry, ...]:
        """Return the perturbations of the scenario, and those that were added to a world, in any of its runs."""
        faults = self._fault_sets.declared
        perturbations = {entry.id: entry for entry in faults.scenario.perturbations}
        for step in steps:
            faults = self._fault_sets.declared if step["entry"] == "reset" else faults
            faults = self._fault_sets.refit(faults, step.get("steered", {}))
            perturbations |= {
                entry.id: entry for entry in faults.scenario.perturbations if entry.id not in perturbations
            }
        return tuple(perturbations.values())

    def _opened(self, step: Record) -> _WorldState:
        start = datetime.fromisoformat(step["clock"]["now"])
        base = self._simulator.base(step["seed"])
        faults = self._fault_sets.declared
        return _WorldState(base, start, step["seed"], step["stream"], faults, (0,) * faults.counters, HashTrieMap())

    def _finding(self, fault: CompiledFault, turn: Turn, step: Record) -> Finding:
        carried = fault.carries_over and bool(turn.memories.of(fault.id).get("carried"))
        try:
            decided, problem = fault.decide(turn), ""
        except Unevaluable as error:
            decided, problem = False, str(error)
        why = reasons(fault.numbered, fault.id, turn.tool, self.scenario.domain, turn)
        note = ""
        if decided and not all(reason.held for reason in why):
            note = f"{'carried from' if carried else 'in force since'} an earlier call"
        outcome = _outcome(fault, turn, step) if decided else ""
        return Finding(fault.id, fault.kind, decided, outcome, why, note, problem)


def _outcome(fault: CompiledFault, turn: Turn, step: Record) -> str:
    """Return the outcome of a decision, and remember it where later decisions depend on it."""
    recorded = {perturbation["id"]: perturbation["outcome"] for perturbation in step["perturbations"]}
    outcome = recorded.get(fault.id, "")
    if not outcome and fault.is_capped(turn):
        outcome = "capped"
    if outcome in ("applied", ""):
        fault.note_applied(turn)
    if fault.carries_over:
        turn.memories.of(fault.id).set("carried", outcome in ("preempted", "no_effect"))
    return outcome


def _turn(step: Record, tool: Tool, world: _WorldState) -> Turn:
    call = Call(step["tool"], step["arguments"], step.get("answers", {}), caller=step.get("caller", ""))
    scope = scope_of(call.tool, arguments_text(call))
    return Turn(
        call=call,
        index=step["index"],
        tool=tool,
        view=world.state,
        start=world.start,
        now=datetime.fromisoformat(step["at"]),
        draws=Draws(world.seed, world.stream, scope, world.occurrences.get(scope, 0)),
        history=world.history,
        memories=Memories(world.memories, world.counts),
    )


def as_it_ran(scenario: Scenario, steps: Sequence[Record]) -> Scenario:
    """Return the scenario at the intensity of a run of this scenario, without faults if the run had none."""
    opening = next((step for step in steps if step["entry"] == "reset"), Record())
    scaled = replace(scenario, intensity=opening.get("intensity", 1.0))
    return scaled if opening.get("faults", True) else without_faults(scaled)


# reasons --------------------------------------------------------------------------------------------------------------


@frozen
class Reason:
    """One condition (`nth 1`), what it was compared with (`number 2`, `drew 0.6131`), and whether it held."""

    condition: str
    actual: str
    held: bool

    def __str__(self) -> str:
        verdict = "yes" if self.held else "no"
        return f"{self.condition} ({self.actual}: {verdict})" if self.actual else f"{self.condition} ({verdict})"


@frozen
class _Decided:
    """The call that is explained, after its decisions: counters have counted it."""

    tool: Tool
    domain: Domain
    turn: Turn


def reasons(numbered: NumberedWhen, path: str, tool: Tool, domain: Domain, turn: Turn) -> tuple[Reason, ...]:
    """Return the conditions of a `when` in the order of their evaluation; `path` is the perturbation's id.

    If a filter does not hold, the other conditions are left out. The decisions about the turn must have been made.
    """
    return tuple(_reasons(numbered, path, _Decided(tool, domain, turn)))


def _reasons(numbered: NumberedWhen, path: str, at: _Decided) -> Iterator[Reason]:
    filters = [*_filters(numbered, path, at), *_nested(numbered, path, at, filters=True)]
    yield from filters
    if not all(reason.held for reason in filters):
        return
    yield from _nested(numbered, path, at, filters=False)
    number = call_number(numbered, path, at.tool, at.domain, at.turn)
    for trigger, check in _checked(numbered, Role.COUNTER, path, at):
        yield Reason(trigger.why(), f"number {number}", check(at.turn, number))
    for trigger, check in _checked(numbered, Role.CHANCE, path, at):
        drawn = at.turn.draws.unit(draw_purpose(trigger, path))
        yield Reason(trigger.why(), f"drew {drawn:.4f}", check(at.turn, number))


def _filters(numbered: NumberedWhen, path: str, at: _Decided) -> Iterator[Reason]:
    for trigger, check in _checked(numbered, Role.FILTER, path, at):
        try:
            yield Reason(trigger.why(), "", check(at.turn, 0))
        except Unevaluable as error:
            yield Reason(trigger.why(), str(error), held=False)


def _checked(numbered: NumberedWhen, role: Role, path: str, at: _Decided) -> Iterator[tuple[Trigger, Check]]:
    triggers = [trigger for trigger in numbered.when.triggers if trigger.role is role]
    return zip(triggers, compile_checks(triggers, role, at.tool, at.domain, path), strict=True)


def _nested(numbered: NumberedWhen, path: str, at: _Decided, *, filters: bool) -> Iterator[Reason]:
    """Yield the reasons of `any`, `all` and `not`: of the groups that are filters, or of the others."""
    for word, group in (("any", numbered.any), ("all", numbered.all), ("not", numbered.none)):
        if group and all(when.is_filter for when in group) is filters:
            parts = [tuple(_reasons(when, nested_path(path, word, n), at)) for n, when in enumerate(group)]
            yield Reason(f"{word} of ({'; '.join(map(_joined, parts))})", "", _holds(word, parts))


def _holds(word: str, parts: Sequence[tuple[Reason, ...]]) -> bool:
    held = [all(reason.held for reason in pair) for pair in parts]
    return {"any": any(held), "all": all(held), "not": not any(held)}[word]


def _joined(pair: tuple[Reason, ...]) -> str:
    return ", ".join(map(str, pair)) or "always"
