"""The perturbations of a scenario and of its worlds, which may have others added, enabled and disabled."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_sim.faults.compile import CompiledFaults, scaled_perturbations, with_intensity, without_faults
from mcp_sim.simulator.bindings import Bindings
from mcp_sim.simulator.pipeline import Pipeline
from mcp_sim.spec import yaml12
from mcp_sim.spec.entries import read_perturbations
from mcp_sim.spec.places import Place
from mcp_sim.types import Record
from mcp_sim.types.errors import DocumentError, Problem, UsageError, did_you_mean
from mcp_sim.types.json_values import canonical, encode
from mcp_sim.types.scenario import PerturbationEntry, Scenario
from mcp_sim.world.commits import Faults

PLACE = "the injected perturbation"

KEPT = 256
"""The most sets of perturbations that are kept compiled, besides those of worlds. A trainer draws faults for each
episode: kept without a limit, the sets would fill the memory."""


class FaultSet(Faults):
    """The perturbations of some worlds, compiled, with the pipelines of the tools that were called."""

    def __init__(self, scenario: Scenario, injected: Sequence[Record] = (), switched: Mapping[str, bool] = {}) -> None:
        self.compiled = CompiledFaults(scaled_perturbations(scenario), scenario.domain)
        compiled = self.compiled
        super().__init__(scenario, compiled.counters, compiled.timed, compiled.lasting, tuple(injected), dict(switched))
        self.pipelines = dict[str, Pipeline]()
        self.bindings: Bindings | None = None
        """Those of the simulator, or its own if it conceals something else from the agent."""


class FaultSets:
    """The sets of perturbations of the worlds of a scenario. Equal ones are compiled once."""

    def __init__(self, scenario: Scenario) -> None:
        self.declared = FaultSet(scenario)
        self._kept = OrderedDict[str, FaultSet]()

    def of(self, intensity: float | None, *, silenced: bool) -> FaultSet:
        """Return the scenario's set at an intensity (None: its own), or silenced. Raises `UsageError`."""
        scenario = with_intensity(self.declared.scenario, intensity)
        if silenced:
            return self._with((), {}, without_faults(scenario))
        return self.declared if intensity in (None, self.declared.scenario.intensity) else self._with((), {}, scenario)

    def refit(self, faults: Faults, steered: Record) -> FaultSet:
        """Return a set with one perturbation added, enabled or disabled; other events change nothing.

        Raises `DocumentError` with the problems of the perturbation, `UsageError` if the id is unknown.
        """
        assert isinstance(faults, FaultSet)
        if "inject" in steered:
            entry, perturbation_entry = read_perturbation(faults.scenario, steered["inject"])
            return self._with((*faults.injected, entry), faults.switched, faults.scenario, perturbation_entry)
        for word, is_on in (("enable", True), ("disable", False)):
            if word in steered:
                name = steered[word]
                ids = [perturbation.id for perturbation in faults.scenario.perturbations]
                if name not in ids:
                    raise UsageError(f"there is no fault {name!r}{did_you_mean(name, ids)}")
                return self._with(faults.injected, {**faults.switched, name: is_on}, faults.scenario)
        return faults

    def _with(
        self,
        injected: Sequence[Record],
        switched: Mapping[str, bool],
        scenario: Scenario,
        entry: PerturbationEntry | None = None,
    ) -> FaultSet:
        key = canonical([scenario.intensity, scenario.has_faults, [*injected], switched])
        fault_set = self._kept.pop(key, None)
        if fault_set is None:
            entries = (*scenario.perturbations, *(() if entry is None else (entry,)))
            now = tuple(
                replace(perturbation_entry, enabled=switched.get(perturbation_entry.id, perturbation_entry.enabled))
                for perturbation_entry in entries
            )
            fault_set = FaultSet(replace(scenario, perturbations=now), injected, switched)
        self._kept[key] = fault_set
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return fault_set


def read_perturbation(scenario: Scenario, entry: Record) -> tuple[Record, PerturbationEntry]:
    """Return a perturbation that is written as in a document, with its id. Raises `DocumentError`."""
    document = yaml12.load(encode([entry]), PLACE)
    problems = list[Problem]()
    entries = read_perturbations(Place(document, problems, document.value), scenario.domain)
    taken = {perturbation.id for perturbation in scenario.perturbations}
    problems += [
        Problem(PLACE, 0, "id", f"{taken_entry.id!r} is the id of another fault")
        for taken_entry in entries
        if entry.get("id") in taken
    ]
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise DocumentError(errors)
    (perturbation_entry,) = entries
    number = next(
        number for number in range(1, len(taken) + 2) if _numbered(perturbation_entry.id, number) not in taken
    )
    name = _numbered(perturbation_entry.id, number)
    return {**entry, "id": name}, replace(perturbation_entry, id=name)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name}-{number}"
