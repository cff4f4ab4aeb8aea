"""Shrink a trial in which the agent fails: fewer records, fewer options of faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mcp_sim.generate.record_counts import usual_count
from mcp_sim.runs.hunting.faults import Placed
from mcp_sim.runs.hunting.trials import Setup, Tester, Trial
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.scenario import GivenRecords, Scenario

FEW = (0, 1, 3)
"""The numbers of generated records that are tried for an entity."""

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
        await self._options()

    async def _generated_records(self) -> None:
        """Leave out generated records: all of them if possible, else those of one entity after the other."""
        generated = {name: given for name, given in self._given.items() if given.count > len(given.rows)}
        bare = {name: GivenRecords(len(given.rows), given.rows) for name, given in generated.items()}
        if not bare or await self._adopted(replace(self.setup, records=bare)):
            return
        for name, given in generated.items():
            for count in (len(given.rows) + few for few in FEW):
                if count < given.count and await self._adopted(self._with(name, replace(given, count=count))):
                    break

    async def _rows(self) -> None:
        """Leave out given rows, one after the other."""
        for name, given in self._given.items():
            for row in given.rows if len(given.rows) <= MOST_ROWS else ():
                now = self.setup.records.get(name, given)
                rows = tuple(kept for kept in now.rows if kept is not row)
                await self._adopted(self._with(name, GivenRecords(now.count - 1, rows)))

    async def _options(self) -> None:
        """Leave out options of faults."""
        for place, option in [
            (at, name) for at, placed in enumerate(self.setup.faults) for name in placed.fault.options
        ]:
            faults = [*self.setup.faults]
            faults[place] = _without(faults[place], option)
            await self._adopted(replace(self.setup, faults=tuple(faults)))

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


def _without(placed: Placed, option: str) -> Placed:
    kept = {name: value for name, value in placed.fault.options.items() if name != option}
    return replace(placed, fault=replace(placed.fault, options=kept))


def _given(scenario: Scenario) -> Mapping[str, GivenRecords]:
    """Return the records of the entities whose number the scenario can give."""
    return dict(_countable(scenario))


def _countable(scenario: Scenario) -> Iterator[tuple[str, GivenRecords]]:
    for name, entity in scenario.domain.entities.items():
        given = scenario.records.get(name, GivenRecords(usual_count(entity)))
        if scenario.domain.is_counted(name) and not given.whole:
            yield name, given
