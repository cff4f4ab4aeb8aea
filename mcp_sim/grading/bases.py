"""What expectations share: numbers of records, the steps that decide a verdict and whether they rest on a guess, and
base classes of those about a perturbation or that limit calls.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from rpds import HashTrieMap

from mcp_sim.types import Key, Step, Tool
from mcp_sim.types.call_matchers import CallPattern
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import Expectation, Perturbation, Verdict
from mcp_sim.types.options import CountFromZero

_LONGEST_QUOTED = 80  # a line of a report has the expected value, too

MOST_STEPS = 10
"""The most steps that a verdict names."""


class Bounds(BaseModel):
    """A number of records: `at_least` and `at_most`, or both at once as a plain number."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at_least: CountFromZero = Field(default=0, description="How many at least.")
    at_most: CountFromZero | None = Field(default=None, description="How many at most; left out: no bound.")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.at_most is not None and self.at_most < self.at_least:
            raise ValueError("at_most is less than at_least")
        return self

    def holds(self, n: int) -> bool:
        return n >= self.at_least and (self.at_most is None or n <= self.at_most)

    def __str__(self) -> str:
        if self.at_most is None:
            return f"at least {self.at_least}"
        return str(self.at_most) if self.at_most == self.at_least else f"{self.at_least} to {self.at_most}"


def _exactly(value: Any) -> Any:
    return cast("Any", value) if isinstance(value, dict | Bounds) else {"at_least": value, "at_most": value}


Amount = Annotated[Bounds, BeforeValidator(_exactly, json_schema_input_type=CountFromZero | Bounds)]


class AboutPerturbation(Expectation):
    """An expectation about the calls that a perturbation was applied to."""

    perturbation: str = Field(description="The id of a perturbation of this scenario.", examples=["lost-deal"])

    injected: bool = Field(
        default=False, description="Whether it is added to the world while that runs, so that no entry declares it."
    )

    def is_applied(self, step: Step) -> bool:
        return any(
            perturbation.id == self.perturbation and perturbation.outcome == "applied"
            for perturbation in step.perturbations
        )

    def allows_giving_up(self, tools: Sequence[Tool], domain: Domain) -> bool:
        return True

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        if self.injected or self.perturbation in perturbations:
            return ()
        return [f"no perturbation has the id {self.perturbation!r}{did_you_mean(self.perturbation, perturbations)}"]


class AtMost(Expectation):
    """An expectation that calls of some tools do something at most so often."""

    max: CountFromZero = Field(description="How many calls at most.", examples=[10])
    tool: str = Field(default="*", description="Only calls of these tools, by glob.")

    @cached_property
    def pattern(self) -> CallPattern:
        return CallPattern(tool=self.tool)

    def allows_giving_up(self, tools: Sequence[Tool], domain: Domain) -> bool:
        return True

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        return self.pattern.mismatches(domain)


@frozen
class Evidence:
    """The numbers of the first deciding steps, and whether any deciding step rests on a guess."""

    steps: tuple[int, ...] = ()
    guessed: bool = False

    def with_step(self, step: Step) -> Evidence:
        if len(self.steps) >= MOST_STEPS and (self.guessed or not step.guessed):
            return self
        return Evidence((*self.steps, step.n)[:MOST_STEPS], self.guessed or step.guessed)


NO_EVIDENCE = Evidence()


def is_unclear(step: Step, domain: Domain, entities: Collection[str] = ("tables",)) -> bool:
    """Whether it is a guess that a call wrote nothing, or nothing else of these entities; `tables` for all."""
    if step.entry != "call" or not step.guessed:
        return False
    plan = domain.plans.get(step.tool)
    if not step.committed:
        return plan is None or plan.verb not in ("get", "list", "search", "compute")
    from mcp_sim.plans.records.side_effects import changes_beside_plan  # noqa: PLC0415 (tools are listed without it)

    others = frozenset[str]() if plan is None else changes_beside_plan(plan, domain).keys()
    return bool(others) and ("tables" in entities or not others.isdisjoint(entities))


_NO_WRITES: HashTrieMap[tuple[str, Key], Evidence] = HashTrieMap()


@frozen
class Writes:
    """What the agent and others did that the final state may be due to."""

    has_calls: bool = False
    newest: HashTrieMap[tuple[str, Key], Evidence] = _NO_WRITES
    """The newest write of each record that is read."""
    unclear: Evidence = NO_EVIDENCE
    """Calls that are only guessed to have written nothing else."""

    def after(self, step: Step, reads: Collection[str], domain: Domain) -> Writes:
        """Return the writes after one more step. `reads` are the entities that are read, or `tables` for all."""
        writes = self if self.has_calls or step.entry != "call" else replace(self, has_calls=True)
        if is_unclear(step, domain, reads):
            writes = replace(writes, unclear=self.unclear.with_step(step))
        if not step.committed:
            return writes
        newest, by = self.newest, NO_EVIDENCE.with_step(step)
        for change in step.committed:
            if change.op != "reserve" and (change.entity in reads or "tables" in reads):
                newest = newest.insert((change.entity, change.key), by)
        return writes if newest is self.newest else replace(writes, newest=newest)


def words_of(text: str) -> frozenset[str]:
    """Return the words of a CEL expression. Among them are the entities that it reads."""
    return frozenset(re.findall(r"\w+", text))


def merged(parts: Iterable[Evidence]) -> Evidence:
    """Return the first steps of all parts together."""
    collected = list(parts)
    steps = sorted({n for evidence in collected for n in evidence.steps})
    return Evidence(tuple(steps[:MOST_STEPS]), any(evidence.guessed for evidence in collected))


def judged(outcome: Literal["passed", "failed", "vacuous", "not judged"], because: str, *parts: Evidence) -> Verdict:
    """Return a verdict with its evidence."""
    evidence = merged(parts)
    return Verdict(outcome, because, evidence.steps, evidence.guessed)


def quoted(text: str) -> str:
    """Return a text in quotes as a verdict shows it, in one line."""
    line = " ".join(text.split())
    return repr(line if len(line) <= _LONGEST_QUOTED else f"{line[:_LONGEST_QUOTED]}...")
