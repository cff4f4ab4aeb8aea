"""The search for faults that make an agent fail.

First every fault is tried alone, at each call of the run without faults. Where the agent survives a fault, further
faults are tried at the calls that follow it: first at those that the agent makes only because of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mcp_sim.generate.record_counts import usual_count
from mcp_sim.runs.hunting.faults import Placed, Places
from mcp_sim.runs.hunting.trials import BudgetSpent, Queue, Setup, Tester, Trial
from mcp_sim.types.errors import DocumentError, McpSimError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.scenario import GivenRecords, Scenario

ANOTHER_FAULT, ALREADY_KNOWN, ANOTHER_SEED = 2, 6, 12
"""What a further fault costs, what it costs at a call that the agent makes anyway, and what a further seed costs.

The cheapest combination is tried first. The cost of a fault is its place in the list of faults, after all others if no
agent could avoid it."""


class FailsWithoutFaults(McpSimError):
    """The agent does not pass without faults, so that nothing can be said about faults."""

    def __init__(self, seed: int, trial: Trial) -> None:
        self.seed, self.trial = seed, trial
        super().__init__(f"without faults, the agent does not pass (seed {seed}): {trial.because}")


@dataclass(slots=True)
class Weakness:
    """Faults that make the agent fail, as few as possible, and others that it fails at in the same way."""

    setup: Setup
    trial: Trial
    is_avoidable: bool = True
    """Whether an agent could have noticed one of the faults."""
    is_steady: bool | None = None
    """Whether the agent failed again when the trial was repeated; None if the search ended before."""
    also: list[tuple[Placed, ...]] = field(default_factory=list[tuple[Placed, ...]])

    def is_like(self, setup: Setup, trial: Trial) -> bool:
        """Whether the same expectations fail after faults of the same tools."""
        return {*self.trial.failed} == {*trial.failed} and _tools(self.setup) == _tools(setup)


def _tools(setup: Setup) -> frozenset[str]:
    return frozenset(fault.tool for fault in setup.faults)


def _kinds(setup: Setup) -> frozenset[tuple[int, str]]:
    return frozenset((fault.fault.rank, fault.tool) for fault in setup.faults)


@frozen
class Aims:
    """What a search is for: up to so many `faults` at a time, up to so many `weaknesses`."""

    faults: int
    weaknesses: int


class Search:
    """Searches the combinations of faults, the most promising first."""

    def __init__(self, tester: Tester, places: Places, aims: Aims, say: Callable[[str], None]) -> None:
        self.weaknesses = list[Weakness]()
        self.clean = dict[int, Trial]()
        self._tester, self._places, self._aims, self._say = tester, places, aims, say
        self._queue = Queue()
        self._failing = list[frozenset[tuple[int, str]]]()
        """What suffices to make the agent fail: faults by rank and tool, at any of its calls."""

    async def run(self, seeds: Sequence[int]) -> bool:
        """Search until nothing is left to try. Return False if the budget ended before.

        Raises `FailsWithoutFaults` if the agent does not even pass without faults.
        """
        try:
            # Run the agent without faults, and note where faults can be applied.
            setups = [Setup(seed) for seed in seeds]
            for place, (setup, trial) in enumerate(zip(setups, await self._tester.trials(setups), strict=True)):
                if trial.outcome != "passed":
                    raise FailsWithoutFaults(setup.seed, trial)
                self.clean[setup.seed] = trial
                for fault in self._places.after(trial.called, 0):
                    self._queue.add(replace(setup, faults=(fault,)), self._places.cost(fault) + place * ANOTHER_SEED)
            while len(self.weaknesses) < self._aims.weaknesses and (batch := self._batch()):
                for setup, trial in zip(batch, await self._tester.trials(batch), strict=True):
                    await self._judge(setup, trial)
        except BudgetSpent:
            return False
        return True

    def _batch(self) -> list[Setup]:
        """Return the next setups to try, without those that have faults that are known to suffice."""
        batch = list[Setup]()
        while self._queue and len(batch) < self._tester.at_once:
            setup = self._queue.next()
            if not self._is_known(setup):
                batch.append(setup)
        return batch

    def _is_known(self, setup: Setup) -> bool:
        """Whether a part of the faults is known to suffice, be it at other calls of the same tools."""
        return any(known <= _kinds(setup) for known in self._failing)

    async def _judge(self, setup: Setup, trial: Trial) -> None:
        """Note a weakness, or what else to try after a trial that the agent survived."""
        if trial.outcome == "failed":
            await self._note(setup, trial)
        elif trial.outcome == "passed" and {fault.id for fault in setup.faults} == {*trial.applied}:
            for cost, further in self._further(setup, trial):
                self._queue.add(further, cost)

    async def _note(self, setup: Setup, trial: Trial) -> None:
        if self._is_known(setup):
            return
        smaller = await self._fewest_faults(setup, trial)
        self._failing.append(_kinds(smaller))
        known = next((weakness for weakness in self.weaknesses if weakness.is_like(smaller, trial)), None)
        if known is not None:
            known.also.append(smaller.faults)
            return
        self._say(f"found: {' + '.join(fault.text for fault in smaller.faults)}")
        weakness = Weakness(smaller, trial, any(map(self._places.is_avoidable, smaller.faults)))
        self.weaknesses.append(weakness)
        again = await self._tester.trial(replace(smaller, repetition=2))
        weakness.is_steady = again.fails_like(trial)
        if weakness.is_steady:
            shrinker = Shrinker(weakness.setup, weakness.trial, self._tester)
            try:
                await shrinker.run()
            finally:  # what was reached when the budget ends is kept
                weakness.setup = shrinker.setup
            weakness.trial = await self._tester.trial(weakness.setup)

    async def _fewest_faults(self, setup: Setup, trial: Trial) -> Setup:
        """Return the setup without the faults that are not needed."""
        for fault in setup.faults if len(setup.faults) > 1 else ():
            fewer = replace(setup, faults=tuple(other for other in setup.faults if other != fault))
            if (await self._tester.trial(fewer)).fails_like(trial):
                return await self._fewest_faults(fewer, trial)
        return setup

    def _further(self, setup: Setup, trial: Trial) -> Iterator[tuple[int, Setup]]:
        """Yield the setups with one more fault, at a call after the last one, and what they cost."""
        if len(setup.faults) >= self._aims.faults:
            return
        usual = _places(self.clean[setup.seed].called)
        taken = {(fault.tool, fault.nth) for fault in setup.faults}
        cost = sum(self._places.cost(fault) + ANOTHER_FAULT for fault in setup.faults)
        begin = index_of(setup.faults[-1], trial.called) + 1
        for fault in self._places.after(trial.called, begin):
            if fault.place not in taken:
                known = 0 if fault.place not in usual else ALREADY_KNOWN
                yield cost + self._places.cost(fault) + known, replace(setup, faults=(*setup.faults, fault))


def _places(called: Sequence[str]) -> set[tuple[str, int | None]]:
    """Return the calls of a run: by tool and number."""
    return {(tool, called[: index + 1].count(tool)) for index, tool in enumerate(called)}


def index_of(fault: Placed, called: Sequence[str]) -> int:
    """Return the index of the call that a fault was placed at."""
    nth = fault.nth or 1
    indices = [index for index, tool in enumerate(called) if tool == fault.tool]
    return indices[min(nth, len(indices)) - 1] if indices else -1


FEW = (0, 1, 3)  # the numbers of generated records that are tried for an entity

MOST_ROWS = 20
"""Of more given rows than this, none is tried to be left out. Each row that is tried costs a run of the agent."""


class Shrinker:
    """Makes a setup smaller, as long as the agent fails in it as in `trial` and passes without the faults."""

    def __init__(self, setup: Setup, trial: Trial, tester: Tester) -> None:
        self.setup = setup
        """The smallest setup so far."""
        self._trial, self._tester = trial, tester
        self._given = _given(tester.scenario)

    async def run(self) -> None:
        """Shrink the setup step by step. Raises `BudgetSpent`."""
        await self._generated_records()
        await self._rows()
        for place, option in [
            (at, name) for at, placed in enumerate(self.setup.faults) for name in placed.fault.options
        ]:
            faults = [*self.setup.faults]
            placed = faults[place]
            kept = {name: value for name, value in placed.fault.options.items() if name != option}
            faults[place] = replace(placed, fault=replace(placed.fault, options=kept))
            await self._adopted(replace(self.setup, faults=tuple(faults)))

    async def _generated_records(self) -> None:
        """Leave out generated records: all of them if possible, else those of one entity after the other."""
        generated = {name: given for name, given in self._given.items() if given.count > len(given.rows)}
        bare = {name: GivenRecords(len(given.rows), given.rows) for name, given in generated.items()}
        if not bare or await self._adopted(replace(self.setup, records=bare)):
            return
        for name, given in generated.items():
            for fewer in (len(given.rows) + few for few in FEW):
                if fewer < given.count and await self._adopted(self._with(name, replace(given, count=fewer))):
                    break

    async def _rows(self) -> None:
        """Leave out given rows, one after the other."""
        for name, given in self._given.items():
            for row in given.rows if len(given.rows) <= MOST_ROWS else ():
                now = self.setup.records.get(name, given)
                rows = tuple(kept for kept in now.rows if kept is not row)
                await self._adopted(self._with(name, GivenRecords(now.count - 1, rows)))

    def _with(self, entity: str, given: GivenRecords) -> Setup:
        return replace(self.setup, records={**self.setup.records, entity: given})

    async def _adopted(self, smaller: Setup) -> bool:
        """Take over a smaller setup if it does as well."""
        try:
            smaller.scenario(self._tester.scenario)
        except DocumentError:
            return False
        faulted, clean = await self._tester.trials([smaller, smaller.clean()])
        if not faulted.fails_like(self._trial) or clean.outcome != "passed":
            return False
        self.setup = smaller
        return True


def _given(scenario: Scenario) -> Mapping[str, GivenRecords]:
    """Return the records of the entities whose number the scenario can give."""
    counted = {name: entity for name, entity in scenario.domain.entities.items() if scenario.domain.is_counted(name)}
    every = {name: scenario.records.get(name, GivenRecords(usual_count(entity))) for name, entity in counted.items()}
    return {name: given for name, given in every.items() if not given.whole}
