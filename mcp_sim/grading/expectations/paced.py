"""The expectation that the agent waits before it repeats a failed call."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Annotated, cast

from pydantic import Field
from rpds import HashTrieMap

from mcp_sim.grading.bases import NO_EVIDENCE, Evidence, judged
from mcp_sim.types import BrokenDelivery, Json, Observation, RpcError, Step
from mcp_sim.types.call_matchers import CallPattern, times, without_key
from mcp_sim.types.calls import scope_of
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import as_text, canonical, decode
from mcp_sim.types.kinds import Difference, End, Expectation, Perturbation, Verdict, expectations
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.scenario import Scenario

_UNITS: Mapping[str, float] = {"ms": 0.001, "milli": 0.001, "s": 1, "m": 60, "h": 3600}
"""Seconds by the beginning of a unit."""
_FIELDS: Mapping[str, float] = {
    "retry_after": 1, "retry_after_seconds": 1, "retry_after_ms": 0.001, "retry_delay": 1, "retry_in": 1,
}  # fmt: skip
"""Name of a field or header that says how long to wait -> the seconds of its unit, for values without one."""
_AMOUNT = r"(\d+(?:\.\d+)?)\s*(ms|millis\w*|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b"
_SENTENCE = re.compile(rf"(?:try again|retry|wait|renewed|locked)\D{{0,30}}?{_AMOUNT}", re.IGNORECASE)
_VALUE = re.compile(rf"\s*(?:{_AMOUNT}|(\d+(?:\.\d+)?))\s*", re.IGNORECASE)

_GROWTH = 1.5
"""The longest wait of a backoff, as a multiple of the first. The usual factor is 2; jitter takes some of it away."""
_LEAST = timedelta(milliseconds=500)
"""The longest wait of a backoff is at least this: calls that follow each other at once differ by chance, too."""


@frozen
class Failed:
    """A call that failed and was not made again yet, and the waits between its failures that named no time."""

    tool: str
    until: datetime
    """When the agent got the answer."""
    requested: float | None
    """The seconds that the answer said to wait; None if it said nothing."""
    waits: int = 0
    first: timedelta = timedelta(0)
    longest: timedelta = timedelta(0)
    evidence: Evidence = NO_EVIDENCE

    def after(self, wait: timedelta) -> Failed:
        """Return the same after it was repeated once more."""
        first = self.first if self.waits else wait
        return replace(self, waits=self.waits + 1, first=first, longest=max(self.longest, wait))

    @property
    def complaint(self) -> Difference | None:
        """The longest wait beside the expected one; None if the waits grow, or if there are fewer than two."""
        least = max(self.first * _GROWTH, _LEAST)
        if self.waits < 2 or self.longest >= least:
            return None
        subject = f"the longest of {self.waits} waits before {self.tool} was repeated"
        return Difference(
            subject, _shown(self.longest), f"at least {_shown(least)}, as the first was {_shown(self.first)}"
        )


_NO_FAILURES: HashTrieMap[str, Failed] = HashTrieMap()


@frozen
class Facts:
    """The calls that failed and may be repeated, and the waits that were judged."""

    failed: HashTrieMap[str, Failed] = _NO_FAILURES
    is_timed: bool = False
    """Whether the clock shows how long the agent waits: it is real, or someone advances it."""
    judged: int = 0
    """How many calls were repeated after an answer that named a time, or at growing intervals."""
    early: int = 0
    """How many of them were repeated too early."""
    complaint: Difference | None = None
    """The first wait that was too short, beside the expected one."""
    evidence: Evidence = NO_EVIDENCE

    def with_series(self, failed: Failed) -> Facts:
        """Return the facts with a series of failures of one call that has ended."""
        if failed.waits < 2:
            return self
        facts = replace(self, judged=self.judged + failed.waits)
        if failed.complaint is None or self.complaint is not None:
            return facts
        return replace(facts, complaint=failed.complaint, evidence=failed.evidence)


@expectations.register("paced")
class Paced(Expectation):
    """The agent waits before it repeats a failed call: as long as the answer says, else longer each time.

    A call is repeated by the same tool with the same arguments; another idempotency key makes no difference. How long
    to wait is read from the answer as the agent gets it: a field such as `retry_after` or `retryDelay`, a Retry-After
    header, or words such as "try again in 6 s". Where faults let a call fail several times and no answer says how long
    to wait, the longest wait must be longer than the first. Vacuous if no call was repeated after such a failure.

    Waiting is measured by the clock of the world. A virtual clock that is never advanced does not show it: a call that
    comes too early is then not judged.
    """

    tool: str = Field(default="*", description="Only calls of these tools, by glob.", examples=["create_*"])
    tolerance: Annotated[float, Field(ge=0, lt=1)] = Field(
        default=0.1, description="The share of a requested wait that may be missing, 0 to 1."
    )

    @cached_property
    def _pattern(self) -> CallPattern:
        return CallPattern(tool=self.tool)

    def facts(self) -> Facts:
        return Facts()

    def notice(self, facts: Facts, step: Step, scenario: Scenario) -> Facts:
        if step.entry == "reset":
            return Facts(is_timed=step.opening.get("clock", {}).get("mode") == "real")
        if "advance_ms" in step.steered:
            return replace(facts, is_timed=True)
        if step.entry != "call" or not self._pattern.fits(step, scenario.domain) or step.served is None:
            return facts
        call = scope_of(step.tool, canonical(without_key(step.tool, step.arguments, scenario.domain)))
        before = facts.failed.get(call)
        wait = timedelta(0) if before is None else step.at - before.until
        if before is not None and before.requested is not None:
            facts, before = self._after_requested_wait(facts, before, wait, step), None
        requested = None if step.served.ok else requested_wait(step.served)
        is_faulted = any(decided.outcome == "applied" for decided in step.perturbations)
        is_series = requested is None and is_faulted and not step.served.ok
        if before is not None:
            before = before.after(wait)
            facts = facts if is_series else facts.with_series(before)
        if not is_series and requested is None:
            return replace(facts, failed=facts.failed.discard(call))
        until = step.at + step.served.delay
        if is_series and before is not None:
            failed = replace(before, until=until, evidence=before.evidence.with_step(step))
        else:
            failed = Failed(step.tool, until, requested, evidence=NO_EVIDENCE.with_step(step))
        return replace(facts, failed=facts.failed.insert(call, failed))

    def _after_requested_wait(self, facts: Facts, before: Failed, wait: timedelta, step: Step) -> Facts:
        """Return the facts after a call was repeated whose answer said how long to wait."""
        assert before.requested is not None
        is_early = wait < timedelta(seconds=before.requested * (1 - self.tolerance))
        facts = replace(facts, judged=facts.judged + 1, early=facts.early + is_early)
        if not is_early or facts.complaint is not None:
            return facts
        subject = f"the wait before {step.tool} was repeated"
        complaint = Difference(subject, _shown(wait), f"{before.requested:g} s, as the answer said")
        return replace(facts, complaint=complaint, evidence=before.evidence.with_step(step))

    def verdict(self, facts: Facts, end: End) -> Verdict:
        for failed in facts.failed.values():
            facts = facts.with_series(failed)
        if not facts.judged:
            return judged("vacuous", "no failed call was repeated that had to wait")
        complaint = facts.complaint
        if complaint is None:
            return judged(
                "passed", f"{times(facts.judged)} a call was repeated, and waited as requested or longer each time"
            )
        early = f"; {facts.early} of {facts.judged} repetitions came too early" if facts.early else ""
        if not facts.is_timed:
            because = f"the virtual clock does not show how long an agent waits: {complaint}{early}"
            return judged("not judged", because, facts.evidence)
        return replace(judged("failed", f"{complaint}{early}", facts.evidence), differences=(complaint,))

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        return self._pattern.mismatches(domain)


def _shown(span: timedelta) -> str:
    return f"{span.total_seconds():.3g} s"


def requested_wait(observation: Observation) -> float | None:
    """Return the seconds that a failure says to wait before the call is repeated; None if it says nothing."""
    body = observation.body
    if isinstance(body, BrokenDelivery):
        value: Json = {**body.headers, "body": body.body}
    elif isinstance(body, RpcError):
        value = {"message": body.message, "data": body.data}
    else:
        value = body.data
    wait = next(_named_waits(value), None)
    if wait is not None:
        return wait
    match = _SENTENCE.search(as_text(value))
    return None if match is None else float(match[1]) * _unit(match[2])


def _named_waits(value: Json) -> Iterator[float]:
    """Yield the seconds in fields that say how long to wait, at any depth, also of JSON in a text."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            value = decode(value)
    if isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from _named_waits(item)
    if not isinstance(value, dict):
        return
    for name, inner in cast("dict[str, Json]", value).items():
        unit = _FIELDS.get(snake(name))
        match = None if unit is None or isinstance(inner, bool) else _VALUE.fullmatch(str(inner))
        if match is not None and unit is not None:
            yield float(match[3]) * unit if match[3] else float(match[1]) * _unit(match[2])
        yield from _named_waits(inner)


def _unit(text: str) -> float:
    return next(seconds for start, seconds in _UNITS.items() if text.lower().startswith(start))
