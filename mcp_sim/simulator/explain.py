"""Which perturbations would strike the calls of a trace, and why not the others? Recomputed, since draws are pure.

Nothing is asked of a world model: what a call did stands in the trace. What became of a decision is taken from the
trace where it has it; of a perturbation that the traced run did not have it is assumed that it would be applied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from rpds import HashTrieMap

from mcp_sim.faults.compile import Rule, compile_rules
from mcp_sim.faults.intensity import in_force
from mcp_sim.simulator.persistence import past_of
from mcp_sim.simulator.reasons import Reason, reasons
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import Call, Change, Memories, Past, Record, Tool, Turn
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import Unevaluable
from mcp_sim.types.scenario import Scenario
from mcp_sim.world import scope_of
from mcp_sim.world.state import State


@dataclass(frozen=True, slots=True)
class Finding:
    """One perturbation at one call in its reach. `outcome` '': the trace does not have it. `erred`: why it erred."""

    id: str
    kind: str
    decided: bool
    outcome: str
    why: tuple[Reason, ...]
    note: str = ""
    erred: str = ""


@dataclass(slots=True)
class _Standing:
    """Where a world stands before its next call, as far as decisions look at it."""

    state: State
    start: datetime
    seed: int
    stream: str
    counts: tuple[int, ...]
    memories: HashTrieMap[tuple[str, str], Any]
    occurrences: dict[str, int] = field(default_factory=dict[str, int])
    history: list[Past] = field(default_factory=list[Past])
    index: int = 0


class Retracing:
    """A scenario, against which traces are held."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._simulator = Simulator(scenario)
        self._rules = compile_rules(in_force(scenario), scenario.domain)

    def findings(
        self, steps: Sequence[Record], own: int = 0, stream: str | None = None
    ) -> Iterator[tuple[Record, tuple[Finding, ...]]]:
        """Each call of a world, and what is found for the perturbations in whose reach it is.

        From the step at `own` on, chance comes from `stream`, if that is given: so it is in a fork.
        """
        standing: _Standing | None = None
        for at, step in enumerate(steps):
            if step["entry"] == "reset":
                standing = self._begun(step)
            assert standing is not None, "a world begins with a reset"
            if at >= own and stream is not None:
                standing.stream = stream
            if step["entry"] == "call":
                yield step, self._call(step, standing)
            if step["entry"] != "reset":
                _go_on(standing, step)

    def _begun(self, step: Record) -> _Standing:
        start = datetime.fromisoformat(step["clock"]["now"])
        base = self._simulator.base(step["seed"])
        return _Standing(base, start, step["seed"], step["stream"], (0,) * self._rules.counters, HashTrieMap())

    def _call(self, step: Record, standing: _Standing) -> tuple[Finding, ...]:
        tool = self.scenario.domain.tools.get(step["tool"])
        turn = _turn(step, tool or Tool(step["tool"], "", {"name": step["tool"]}), standing)
        rules = self._rules.by_tool.get(step["tool"], ())
        found = tuple(self._finding(rule, turn, step) for rule in rules)
        standing.memories, standing.counts = turn.memories.committed(), tuple(turn.memories.counts)
        standing.occurrences[turn.draws.scope] = turn.draws.occurrence + 1
        standing.index = turn.index
        return found

    def _finding(self, rule: Rule, turn: Turn, step: Record) -> Finding:
        carried = rule.carries and bool(turn.memories.of(rule.id).get("carried"))
        try:
            decided, erred = rule.decide(turn), ""
        except Unevaluable as error:
            decided, erred = False, str(error)
        why = reasons(rule.numbered, rule.id, turn.tool, self.scenario.domain, turn)
        by_itself = all(reason.held for reason in why)
        note = (
            ""
            if by_itself or not decided
            else "carried from an earlier call"
            if carried
            else "in force since an earlier call"
        )
        outcome = _outcome(rule, turn, step) if decided else ""
        return Finding(rule.id, rule.kind, decided, outcome, why, note, erred)


def _outcome(rule: Rule, turn: Turn, step: Record) -> str:
    """What became of a decision; it is remembered, as far as later decisions depend on it."""
    recorded = {one["id"]: one["outcome"] for one in step["perturbations"]}
    outcome = recorded.get(rule.id, "")
    if not outcome and rule.is_capped(turn):
        outcome = "capped"
    if outcome in ("applied", ""):
        rule.note_applied(turn)
    if rule.carries:
        turn.memories.of(rule.id).set("carried", outcome in ("preempted", "no_effect"))
    return outcome


def _turn(step: Record, tool: Tool, standing: _Standing) -> Turn:
    call = Call(step["tool"], step["arguments"], step.get("answers", {}))
    scope = scope_of(call)
    return Turn(
        call=call,
        index=step["index"],
        tool=tool,
        view=standing.state,
        start=standing.start,
        now=datetime.fromisoformat(step["at"]),
        draws=Draws(standing.seed, standing.stream, scope, standing.occurrences.get(scope, 0)),
        history=standing.history,
        memories=Memories(standing.memories, standing.counts),
    )


def _go_on(standing: _Standing, step: Record) -> None:
    """The world as it is after a step."""
    changes = [Change.from_json(body) for body in (*step["committed"], *step.get("pins", ()))]
    standing.state = standing.state.apply(changes)
    standing.history.append(past_of(step, standing.index))


def at_intensity_of(scenario: Scenario, steps: Sequence[Record]) -> Scenario:
    """The scenario at the intensity of a run that was one of this scenario."""
    opening = next((step for step in steps if step["entry"] == "reset"), Record())
    return replace(scenario, intensity=opening.get("intensity", 1.0))
