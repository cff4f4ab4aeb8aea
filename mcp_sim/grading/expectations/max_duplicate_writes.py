"""The expectation that hardly anything was written twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pydantic import Field
from rpds import HashTrieMap

from mcp_sim.grading.bases import NO_EVIDENCE, AtMost, Evidence, is_unclear, judged, merged
from mcp_sim.grading.effects import differences
from mcp_sim.grading.given_values import is_time
from mcp_sim.types import Change, Step
from mcp_sim.types.call_matchers import argument_value, unknown_argument
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import canonical
from mcp_sim.types.kinds import End, Perturbation, Verdict, expectations
from mcp_sim.types.options import CountFromZero
from mcp_sim.types.scenario import Scenario
from mcp_sim.types.tools import in_reach


@frozen
class Write:
    """The calls that mean the same: the step of the first, and the changes of the newest."""

    first: Evidence
    changes: tuple[Change, ...]


_NO_WRITES: HashTrieMap[str, Write] = HashTrieMap()


@frozen
class Facts:
    """The writes so far, by call, and those that were made again."""

    writes: HashTrieMap[str, Write] = _NO_WRITES
    duplicates: int = 0
    repeated: Evidence = NO_EVIDENCE
    unclear: Evidence = NO_EVIDENCE
    """Calls that are only guessed to have written nothing."""


@expectations.register("max_duplicate_writes")
class MaxDuplicateWrites(AtMost):
    """The agent made the same write again at most so often: the same call took effect once more.

    Two calls are the same if tool and arguments are equal, or the arguments named in `by`. A call that had no effect is
    no write, and one that leaves the records as the earlier one left them, times aside, is harmless. What a
    perturbation writes twice on its own does not count. Vacuous if nothing was written.
    """

    max: CountFromZero = Field(default=0, description="How many at most.", examples=[0])
    by: list[str] = Field(
        default_factory=list[str], description="The arguments that make two calls the same. Default: all."
    )

    def facts(self) -> Facts:
        return Facts()

    def notice(self, facts: Facts, step: Step, scenario: Scenario) -> Facts:
        if not self.pattern.fits(step, scenario.domain):
            return facts
        if not step.committed:
            is_guess = is_unclear(step, scenario.domain)
            return replace(facts, unclear=facts.unclear.with_step(step)) if is_guess else facts
        # A name that all calls with the same meaning share.
        values = {name: argument_value(step.arguments, name) for name in self.by}
        given = {name: value for name, value in values.items() if value is not ABSENT}
        name = f"{step.tool} {canonical(given if self.by else step.arguments)}"
        known = facts.writes.get(name)
        first = NO_EVIDENCE.with_step(step) if known is None else known.first
        facts = replace(facts, writes=facts.writes.insert(name, Write(first, step.committed)))
        if known is None or _is_harmless(known.changes, step, scenario.domain):
            return facts
        repeated = merged((first, facts.repeated)).with_step(step)
        return replace(facts, duplicates=facts.duplicates + 1, repeated=repeated)

    def verdict(self, facts: Facts, end: End) -> Verdict:
        if not facts.writes:
            return judged("vacuous", "nothing was written", facts.unclear)
        repeated = {0: "no write was repeated", 1: "1 write was repeated"}
        because = repeated.get(facts.duplicates, f"{facts.duplicates} writes were repeated")
        outcome = "passed" if facts.duplicates <= self.max else "failed"
        return judged(outcome, f"{because}; expected at most {self.max}", facts.repeated, facts.unclear)

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        tools = [tool for tool in domain.tools.values() if in_reach((self.tool,), tool)]
        unknown = [problem for name in self.by if (problem := unknown_argument(name, tools))]
        return [*super().problems(domain, perturbations), *unknown]


def _is_harmless(before: Sequence[Change], step: Step, domain: Domain) -> bool:
    """Whether a call leaves the records as the same call left them before."""
    plan = domain.plans.get(step.tool)
    if plan is not None and plan.backend == "records" and plan.verb in ("update", "delete") and not plan.how:
        return True
    ours, theirs = ({(change.entity, change.key): change.record for change in changes}
                    for changes in (step.committed, before))  # fmt: skip
    return ours.keys() == theirs.keys() and all(
        is_time(difference.old) and is_time(difference.new)
        for at, record in ours.items()
        for difference in differences(record, theirs[at])
    )
