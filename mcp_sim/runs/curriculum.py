"""The next scenarios for an agent: the faults that it lost to, their neighbours, and further faults on top.

A neighbour is the same kind of fault at another call or tool, or another kind that is as visible at the same tool.
Where the agent survives a fault, a second one is added after it. A scenario is kept if the scripted agent `golden`
solves it and the agent does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from mcp_sim.runs.agents.script import Script
from mcp_sim.runs.agents.trials import played
from mcp_sim.runs.comparison import RunsReport
from mcp_sim.runs.hunting.faults import Fault, Placed, Places, all_faults
from mcp_sim.runs.hunting.search import index_of
from mcp_sim.runs.hunting.trials import BudgetSpent, Queue, Setup, Tester, Trial
from mcp_sim.runs.results import called_tools
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import Stage, perturbations
from mcp_sim.types.scenario import Scenario

NEIGHBOUR = 1.0
"""What a neighbour of a lost fault costs, and what each further seed costs. The cheapest scenario is tried first."""


@frozen
class Losses:
    """What an agent failed at: the share of failed runs, 0 to 1, of each kind of fault and tool that it met and lost.

    `without_faults`: whether it also failed where no fault was applied.
    """

    shares: dict[tuple[str, str], float]
    without_faults: bool

    @classmethod
    def of(cls, reports: Sequence[RunsReport]) -> Losses:
        """Return the losses in reports of `mcp-sim run`."""
        runs = [run for report in reports for run in report.runs if run.is_judged]
        failed = [run for run in runs if run.outcome == "failed"]
        met = Counter((fault.kind, fault.tool) for run in runs for fault in run.applied if fault.tool)
        lost = Counter((fault.kind, fault.tool) for run in failed for fault in run.applied if fault.tool)
        shares = {place: lost[place] / met[place] for place in lost}
        return cls(shares, any(not run.applied for run in failed))

    def cost(self, placed: Placed) -> float | None:
        """Return how far a fault is from what was lost, less for what was lost more often; None if it is unrelated."""
        costs = [
            step + 1 - share
            for (kind, tool), share in self.shares.items()
            if (step := _distance(placed, kind, tool)) is not None
        ]
        return min(costs, default=None)


def _distance(placed: Placed, kind: str, tool: str) -> float | None:
    if placed.fault.kind == kind:
        return 0.0 if placed.tool == tool else NEIGHBOUR
    is_like = perturbations[placed.fault.kind].visibility == perturbations[kind].visibility
    return NEIGHBOUR if placed.tool == tool and is_like else None


def faults_for(scenario: Scenario, kinds: AbstractSet[str]) -> tuple[Fault, ...]:
    """Return the faults to place: those of a hunt, and the scenario's own of other kinds that were lost.

    Those of the transport are left out: golden runs in process, where a connection that breaks is never opened again.
    """
    known = {fault.kind for fault in all_faults()}
    own = {entry.kind: entry for entry in scenario.perturbations if entry.kind in kinds - known}
    options = {kind: entry.perturbation.model_dump(mode="json", exclude_unset=True) for kind, entry in own.items()}
    faults = (*all_faults(), *(Fault(kind, held, "all", "call", len(known)) for kind, held in options.items()))
    return tuple(fault for fault in faults if perturbations[fault.kind].stage is not Stage.TRANSPORT)


class Curriculum:
    """Searches the next scenarios of one scenario, which must be without its own faults."""

    def __init__(self, tester: Tester, script: Script, places: Places, losses: Losses, most_faults: int) -> None:
        self.kept = list[tuple[Setup, Trial]]()
        self.unsolved = 0
        """Scenarios that golden does not solve."""
        self.survived = 0
        """Scenarios that the agent solves."""
        self._tester, self._script, self._places = tester, script, places
        self._losses, self._most_faults = losses, most_faults
        self._queue = Queue()

    async def run(self, seeds: Sequence[int], keep: int) -> bool:
        """Search until `keep` scenarios are kept or none is left to try. Return False if the budget ended before."""
        for number, seed in enumerate(seeds):
            clean = Setup(seed)
            for cost, setup in self._harder(clean, await self._golden_calls(clean), 0):
                self._queue.add(setup, cost + number * NEIGHBOUR)
            if self._losses.without_faults:
                self._queue.add(clean, number * NEIGHBOUR)
        try:
            while len(self.kept) < keep and (batch := [setup async for setup in self._solvable()]):
                for setup, trial in zip(batch, await self._tester.trials(batch), strict=True):
                    self._judge(setup, trial, keep)
        except BudgetSpent:
            return False
        return True

    def _judge(self, setup: Setup, trial: Trial, keep: int) -> None:
        if trial.outcome == "failed" and len(self.kept) < keep and not self._is_kept(setup):
            self.kept.append((setup, trial))
        if trial.outcome != "passed":
            return
        self.survived += 1
        if setup.faults and {fault.id for fault in setup.faults} == {*trial.applied}:
            begin = index_of(setup.faults[-1], trial.called) + 1
            for cost, harder in self._harder(setup, trial.called, begin):
                self._queue.add(harder, cost + NEIGHBOUR * len(setup.faults))

    def _harder(self, setup: Setup, called: Sequence[str], begin: int) -> Iterator[tuple[float, Setup]]:
        """Yield setups with one more fault, related to a lost one, and what they cost."""
        if len(setup.faults) < self._most_faults:
            for fault in self._places.after(called, begin):
                cost = self._losses.cost(fault)
                if cost is not None and fault.place not in {placed.place for placed in setup.faults}:
                    yield cost, replace(setup, faults=(*setup.faults, fault))

    async def _solvable(self) -> AsyncIterator[Setup]:
        """Yield the next setups that golden solves, as many as run at a time."""
        solvable = 0
        while self._queue and solvable < self._tester.at_once:
            setup = self._queue.next()
            if not self._is_kept(setup) and await self._golden_calls(setup):
                solvable += 1
                yield setup

    def _is_kept(self, setup: Setup) -> bool:
        """Whether a scenario with the same faults is kept, be it with another seed."""
        return bool(setup.faults) and any({*setup.faults} == {*kept.faults} for kept, _ in self.kept)

    async def _golden_calls(self, setup: Setup) -> tuple[str, ...]:
        """Return the tools that golden calls if it solves a scenario; nothing if it does not."""
        async with Simulator(setup.scenario(self._tester.scenario)) as simulator:
            world, answer = await played("golden", self._script, simulator, setup.seed)
            has_passed = world.grade(answer).outcome == "passed" or not simulator.scenario.expectations
            self.unsolved += not has_passed
            return called_tools(world.ledger) if has_passed else ()
