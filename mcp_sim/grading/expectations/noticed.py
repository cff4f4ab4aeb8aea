"""The expectation that the agent noticed a fault."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal

from pydantic import Field

from mcp_sim.grading.bases import NO_EVIDENCE, AboutPerturbation, Evidence, judged
from mcp_sim.grading.claims import denies_an_effect, reports_failure
from mcp_sim.types import Json, Step
from mcp_sim.types.conditions import Matcher, equal, matcher
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import READS
from mcp_sim.types.kinds import End, Verdict, expectations
from mcp_sim.types.options import MatcherSource
from mcp_sim.types.plans import Plan
from mcp_sim.types.scenario import Scenario

MOST_WATCHED = 50
"""The most faulted calls that are followed. Each is compared with every later answer, and a fault at every call would
make that quadratic."""


@frozen
class Watch:
    """A faulted call, and what the agent did about it."""

    n: int
    tool: str
    arguments: dict[str, Json]
    evidence: Evidence
    took_effect: bool
    """Whether it wrote something, although the agent got no sign of it."""
    outcome: Literal["open", "checked", "repeated"] = "open"


@expectations.register("noticed")
class Noticed(AboutPerturbation):
    """After each call that the perturbation was applied to, the agent checked by reading, or it reports the failure.

    A check is an answered call of a tool that gets, lists or searches records of the same entity, before the faulted
    call is made again. A report is a word in the final answer, such as failed, error, could not, that is not denied as
    in "it never failed" and "0 errors"; or what `report` matches. A report that denies what these calls did, such as
    "Nothing was saved", is false and fails.

    Not judged if the agent did not check, and the final answer is not known. Vacuous if the perturbation was never
    applied.
    """

    report: MatcherSource = Field(default=None, description="A matcher of a final answer that reports the failure.")

    @cached_property
    def reports(self) -> Matcher:
        return (lambda answer: reports_failure(str(answer))) if self.report is None else matcher(self.report)

    def facts(self) -> tuple[Watch, ...]:
        return ()

    def notice(self, facts: tuple[Watch, ...], step: Step, scenario: Scenario) -> tuple[Watch, ...]:
        if step.entry != "call":
            return facts
        if any(watch.outcome == "open" for watch in facts):
            facts = tuple(_after(watch, step, scenario.domain) for watch in facts)
        if not self.is_applied(step) or len(facts) >= MOST_WATCHED:
            return facts
        return (*facts, Watch(step.n, step.tool, step.arguments, NO_EVIDENCE.with_step(step), bool(step.committed)))

    def verdict(self, facts: tuple[Watch, ...], end: End) -> Verdict:
        if not facts:
            return judged("vacuous", f"{self.perturbation} was never applied")
        evidence = [watch.evidence for watch in facts]
        missed = [watch for watch in facts if watch.outcome != "checked"]
        if not missed:
            return judged("passed", f"the agent checked after {_calls(facts)}", *evidence)
        if end.answer is None:
            because = f"the agent did not check after {_calls(missed)}, and the final answer is not known"
            return judged("not judged", because, *evidence)
        if all(watch.took_effect for watch in missed) and denies_an_effect(end.answer):
            because = f"{_calls(missed)} took effect, and the final answer denies it without a check"
            return judged("failed", because, *evidence)
        if self.reports(end.answer):
            return judged("passed", "the final answer reports a failure", *evidence)
        repeated = ", and made it again" if any(watch.outcome == "repeated" for watch in missed) else ""
        because = f"the agent did not check after {_calls(missed)}{repeated}; its final answer reports no failure"
        return judged("failed", because, *evidence)


def _after(watch: Watch, step: Step, domain: Domain) -> Watch:
    """Return what is known about a faulted call after one more call."""
    if watch.outcome != "open":
        return watch
    if _checks(domain.plans.get(watch.tool), domain.plans.get(step.tool)):
        is_answered = step.served is not None and step.served.ok
        return replace(watch, outcome="checked", evidence=watch.evidence.with_step(step)) if is_answered else watch
    if watch.tool == step.tool and equal(watch.arguments, step.arguments):
        return replace(watch, outcome="repeated", evidence=watch.evidence.with_step(step))
    return watch


def _checks(faulted: Plan | None, plan: Plan | None) -> bool:
    """Whether a tool reads what another tool works on."""
    if plan is None or not any(variant.verb in READS for variant in plan.variants):
        return False
    if faulted is None or faulted.entity is None or plan.entity is None:
        return faulted is None or faulted.backend == plan.backend
    return faulted.entity == plan.entity


def _calls(watches: Sequence[Watch]) -> str:
    shown = ", ".join(f"{watch.n} ({watch.tool})" for watch in watches[:3])
    more = f" and {len(watches) - 3} more" if len(watches) > 3 else ""
    return f"step{'' if len(watches) == 1 else 's'} {shown}{more}"
