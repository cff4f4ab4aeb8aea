"""The faults that a hunt tries, and where it places them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, cast

from mcp_sim.simulator.fault_sets import read_perturbation
from mcp_sim.spec import yaml12
from mcp_sim.types import Record
from mcp_sim.types.errors import DocumentError, UsageError, did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import READS
from mcp_sim.types.kinds import perturbations
from mcp_sim.types.scenario import Scenario
from mcp_sim.types.tools import in_reach

MOST_NTH = 3
"""Later calls of a tool than this are left alone: what an agent does wrong, it does wrong early. Each more is another
run of the agent for every tool and fault."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A kind of perturbation with its options. `rank` is its place in the list of faults, the most promising first."""

    kind: str
    options: Record = field(hash=False)
    to: Literal["reads", "writes", "all"]
    at: Literal["call", "tool"]
    rank: int


@frozen
class Placed:
    """A fault at a call of a tool, by the tool's id. `nth` is None if it applies to all calls of the tool."""

    fault: Fault
    tool: str
    nth: int | None

    @property
    def place(self) -> tuple[str, int | None]:
        return self.tool, self.nth

    @property
    def id(self) -> str:
        """The id of the perturbation, unique among the faults of a hunt."""
        # The status distinguishes faults of one kind.
        parts = (self.fault.kind, self.fault.options.get("status"), self.tool.rpartition("/")[2], self.nth)
        return "-".join(str(part).replace("_", "-") for part in parts if part is not None)[:64]

    @property
    def text(self) -> str:
        """The fault in a few words: `lost_ack at call 1 of create_deal`."""
        options = ", ".join(f"{name} {value}" for name, value in self.fault.options.items())
        calls = "all calls" if self.nth is None else f"call {self.nth}"
        return f"{self.fault.kind}{f' ({options})' if options else ''} at {calls} of {self.tool}"

    def entry(self) -> Record:
        """Return the fault as a document writes it."""
        when: Record = {} if self.nth is None else {"when": {"nth": self.nth}}
        return {self.fault.kind: dict(self.fault.options), "id": self.id, "tools": self.tool, **when}


def with_fault(scenario: Scenario, fault: Placed) -> Scenario:
    """Return a scenario with one more fault. Raises `DocumentError` if it takes no such fault."""
    _, entry = read_perturbation(scenario, fault.entry())
    return replace(scenario, perturbations=(*scenario.perturbations, entry))


@cache
def all_faults() -> tuple[Fault, ...]:
    """Return the faults that a hunt tries, the most promising first."""
    name = "faults.yaml"
    text = files("mcp_sim.runs.hunting").joinpath(name).read_bytes()
    entries = cast("list[dict[str, Any]]", yaml12.load(text, name).value)
    return tuple(
        Fault(entry["fault"], entry.get("options", {}), entry["to"], entry.get("at", "call"), rank)
        for rank, entry in enumerate(entries)
    )


def chosen_faults(kinds: Collection[str] | None) -> tuple[Fault, ...]:
    """Return the faults of some kinds; of all without `kinds`. Raises `UsageError` for other kinds."""
    if kinds is None:
        return all_faults()
    known = {fault.kind: None for fault in all_faults()}
    for kind in kinds:
        if kind not in known:
            hint = did_you_mean(kind, known)
            reason = "is not tried by hunts" if kind in perturbations.names() else "is not a kind of perturbation"
            raise UsageError(f"--kinds: {kind!r} {reason}{hint}")
    return tuple(fault for fault in all_faults() if fault.kind in kinds)


class Places:
    """The places for faults in the tools of a scenario."""

    def __init__(self, scenario: Scenario, faults: Sequence[Fault], globs: Sequence[str] = ()) -> None:
        self._scenario, self._faults, self._globs = scenario, faults, tuple(globs)
        self._possible: dict[tuple[int, str], bool] = {}

    def after(self, calls: Sequence[str], begin: int) -> Iterator[Placed]:
        """Yield the faults for the calls of a run, given by their tools, from the call with the index `begin` on."""
        for index in range(begin, len(calls)):
            tool = calls[index]
            nth = calls[: index + 1].count(tool)
            if nth > MOST_NTH:
                continue
            for fault in self._faults:
                key = fault.rank, tool
                if key not in self._possible:
                    self._possible[key] = self._is_in_reach(fault, tool) and self._is_valid(fault, tool)
                if self._possible[key]:
                    yield Placed(fault, tool, nth if fault.at == "call" else None)

    def is_avoidable(self, placed: Placed) -> bool:
        """Whether an agent could have noticed a fault: it gets a sign, or some tool reads what the call wrote."""
        domain = self._scenario.domain
        plan = domain.plans.get(placed.tool)
        if plan is None or perturbations[placed.fault.kind].visibility == "explicit":
            return True
        written = {variant.entity for variant in plan.variants if variant.verb not in READS}
        shown = {variant.entity for variant in domain.variants if variant.verb in READS}
        return not written or None in written or not written.isdisjoint(shown)

    def cost(self, placed: Placed) -> int:
        """Return what a fault costs: its place in the list of faults. Those that no agent could avoid come last."""
        return placed.fault.rank + (0 if self.is_avoidable(placed) else len(all_faults()))

    def _is_in_reach(self, fault: Fault, tool: str) -> bool:
        known = self._scenario.domain.tools.get(tool)
        if known is None or not in_reach(self._globs, known):
            return False
        reads = self._scenario.domain.only_reads(known)
        return fault.to == "all" or reads == (fault.to == "reads")

    def _is_valid(self, fault: Fault, tool: str) -> bool:
        """Whether the scenario accepts the fault: some need a tool that does certain things."""
        try:
            with_fault(self._scenario, Placed(fault, tool, 1))
        except DocumentError:
            return False
        return True
