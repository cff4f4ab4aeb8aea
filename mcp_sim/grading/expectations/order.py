"""The expectation that tools were called in an order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from pydantic import Field, field_validator

from mcp_sim.grading.bases import NO_EVIDENCE, Evidence, judged
from mcp_sim.types import Step
from mcp_sim.types.call_matchers import CallPattern, ShortCallPattern
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import End, Expectation, Perturbation, Verdict, expectations
from mcp_sim.types.scenario import Scenario


@frozen
class First:
    """The first call of a pattern."""

    n: int
    evidence: Evidence


@expectations.register("order")
class Order(Expectation):
    """Before the first call of each tool comes a call of the tool named before it.

    `order: [search_contacts, create_deal]` fails if a deal is created before contacts were searched. How the calls were
    answered does not matter. Vacuous if the last one was never called, and nothing was called too early.
    """

    calls: list[ShortCallPattern] = Field(
        description="The tools in their order, by glob; or {tool, arguments}.",
        examples=[["search_contacts", "create_deal"]],
    )

    @field_validator("calls")
    @classmethod
    def _several(cls, value: list[CallPattern]) -> list[CallPattern]:
        if len(value) < 2:
            raise ValueError("name at least two tools")
        return value

    def facts(self) -> tuple[First | None, ...]:
        return (None,) * len(self.calls)

    def notice(self, facts: tuple[First | None, ...], step: Step, scenario: Scenario) -> tuple[First | None, ...]:
        if step.entry != "call" or all(facts):
            return facts
        this = First(step.n, NO_EVIDENCE.with_step(step))
        return tuple(
            this if first is None and call.fits(step, scenario.domain) else first
            for call, first in zip(self.calls, facts, strict=True)
        )

    def verdict(self, facts: tuple[First | None, ...], end: End) -> Verdict:
        for at, (earlier, later) in enumerate(pairwise(facts)):
            if later is None or (earlier is not None and earlier.n < later.n):
                continue
            before, after = self.calls[at].tool, self.calls[at + 1].tool
            when = "never" if earlier is None else f"first at step {earlier.n}"
            because = f"{after} was called at step {later.n}; {before} should come before it, and was called {when}"
            return judged("failed", because, *(first.evidence for first in (earlier, later) if first is not None))
        if facts[-1] is None:
            return judged("vacuous", f"{self.calls[-1].tool} was never called")
        places = [first for first in facts if first is not None]
        because = f"first called at steps {', '.join(str(first.n) for first in places)}, in this order"
        return judged("passed", because, *(first.evidence for first in places))

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        return [problem for call in self.calls for problem in call.mismatches(domain)]
