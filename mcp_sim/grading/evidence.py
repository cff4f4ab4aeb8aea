"""The steps that decide a verdict, and whether they rest on a guess."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Literal

from rpds import HashTrieMap

from mcp_sim.types import Key, Step
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import Verdict

MOST_STEPS = 10
"""The most steps that a verdict names."""


@frozen
class Evidence:
    """The numbers of the first deciding steps, and whether any deciding step rests on a guess."""

    steps: tuple[int, ...] = ()
    guessed: bool = False

    def with_step(self, step: Step) -> Evidence:
        """Return the evidence with one more step."""
        if len(self.steps) >= MOST_STEPS and (self.guessed or not step.guessed):
            return self
        return Evidence((*self.steps, step.n)[:MOST_STEPS], self.guessed or step.guessed)


NO_EVIDENCE = Evidence()


def is_unclear(step: Step, domain: Domain) -> bool:
    """Whether it is a guess that a call wrote nothing."""
    if step.entry != "call" or not step.guessed or step.committed:
        return False
    plan = domain.plans.get(step.tool)
    return plan is None or plan.verb not in ("get", "list", "search", "compute")


_NO_WRITES: HashTrieMap[tuple[str, Key], Evidence] = HashTrieMap()


@frozen
class Writes:
    """What the agent and others did that the final state may be due to."""

    has_calls: bool = False
    newest: HashTrieMap[tuple[str, Key], Evidence] = _NO_WRITES
    """The newest write of each record that is read."""
    unclear: Evidence = NO_EVIDENCE
    """Calls that are only guessed to have written nothing."""

    def after(self, step: Step, reads: Collection[str], domain: Domain) -> Writes:
        """Return the writes after one more step. `reads` are the entities that are read, or `tables` for all."""
        writes = self if self.has_calls or step.entry != "call" else replace(self, has_calls=True)
        if is_unclear(step, domain):
            return replace(writes, unclear=self.unclear.with_step(step))
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
