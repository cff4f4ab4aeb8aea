"""The expectation that the world ends in a certain state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, Self, cast

from pydantic import Field, model_validator

from mcp_sim.grading.bases import Amount, Bounds, Writes, judged, words_of
from mcp_sim.grading.differences import differences, rendered
from mcp_sim.types import Key, Record, Step, Tool, View
from mcp_sim.types.conditions import ABSENT, Matcher, at_path, matcher
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Unevaluable, did_you_mean
from mcp_sim.types.kinds import Difference, End, Expectation, Perturbation, Verdict, expectations
from mcp_sim.types.options import MatcherSource
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.cel import Expression, expression, functions, table_names, tables

MOST_KEYS = 5
"""The most records that are named beside their number."""


@expectations.register("state")
class State(Expectation):
    """At the end, a condition holds on the world: a CEL expression, or a number of records of an entity.

    `state: deal.exists(d, d.title == 'Spring order')` is CEL: every entity is a list of its records, also under
    `tables['deal']`; `find('deal', {'stage': 'won'})`, `sum`, `min` and `max` are available as well. Declared fields
    that a record lacks are null. An expression that cannot be evaluated is a failure, and says why.

    `state: {entity: deal, where: {title: Spring order}, count: 1}` counts records that satisfy matchers.

    Vacuous if the condition holds and the agent called no tool at all.
    """

    is_goal: ClassVar[bool] = True

    cel: str | None = Field(
        default=None, description="A CEL expression, true or false.", examples=["deal.size() == 81"]
    )
    entity: str | None = Field(default=None, description="Whose records are counted.", examples=["deal"])
    where: dict[str, MatcherSource] = Field(
        default_factory=dict[str, MatcherSource],
        description="Field -> matcher; dotted names reach into nested values.",
        examples=[{"title": "Spring order"}],
    )
    count: Amount = Field(
        default=Bounds(at_least=1), description="How many records: a number, or {at_least, at_most}.", examples=[1]
    )

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.cel is None) == (self.entity is None):
            raise ValueError("write either a CEL expression or {entity, where, count}")
        if self.cel is not None and self.model_fields_set & {"where", "count"}:
            raise ValueError("where and count go with entity, not with a CEL expression")
        return self

    @cached_property
    def tests(self) -> tuple[tuple[list[str], Matcher], ...]:
        return tuple((name.split("."), matcher(value)) for name, value in self.where.items())

    @cached_property
    def reads(self) -> frozenset[str]:
        """The entities that the condition may read, among other words."""
        return words_of(str(self.cel)) if self.entity is None else frozenset([self.entity])

    def allows_giving_up(self, tools: Sequence[Tool], domain: Domain) -> bool:
        plans = [variant for tool in tools if tool.id in domain.plans for variant in domain.plans[tool.id].variants]
        return self.reads & domain.entities.keys() <= {plan.entity for plan in plans}

    def facts(self) -> Writes:
        return Writes()

    def notice(self, facts: Writes, step: Step, scenario: Scenario) -> Writes:
        return facts.after(step, self.reads, scenario.domain)

    def verdict(self, facts: Writes, end: End) -> Verdict:
        holds, because, keys = self._judged(end.view, end.scenario.domain)
        wrong = () if holds else self._differences(end.view, end.scenario.domain, keys)
        if wrong:
            because = "; ".join([because, *map(str, wrong if keys is None else wrong[1:])])
        if holds and not facts.has_calls:
            return judged("vacuous", f"{because}, but no tool was called")
        newest = facts.newest
        is_any = keys is None or len(keys) < self.count.at_least  # what is missing may be due to any write
        deciding = newest.values() if is_any else [newest[key] for key in keys or () if key in newest]
        verdict = judged("passed" if holds else "failed", because, *deciding, facts.unclear)
        return replace(verdict, differences=wrong)

    def _judged(self, view: View, domain: Domain) -> tuple[bool, str, list[tuple[str, Key]] | None]:
        """Return whether the condition holds, a sentence, and the records that fit; None for an expression."""
        if self.cel is not None:
            holds, because = self._evaluated(expression(self.cel, table_names(domain)), view, domain)
            return holds, because, None
        entity = cast("str", self.entity)
        fitting = [(entity, key) for key, record in view.rows(entity) if self._fits(record)]
        count = f"1 {entity} record fits" if len(fitting) == 1 else f"{len(fitting)} {entity} records fit"
        return self.count.holds(len(fitting)), f"{count}, expected {self.count}", fitting

    def _differences(
        self, view: View, domain: Domain, fitting: Sequence[tuple[str, Key]] | None
    ) -> tuple[Difference, ...]:
        """Return what is different: the values of an expression, or the number of records and the nearest record's."""
        if fitting is None:
            return differences(cast("str", self.cel), view, domain)
        keys = ", ".join(str(key) for _, key in fitting[:MOST_KEYS])
        number = f"{len(fitting)} ({keys}{', ...' if len(fitting) > MOST_KEYS else ''})" if fitting else "0"
        count = Difference(f"number of {self.entity} records that fit", number, str(self.count))
        return (count, *(() if fitting else self._nearest(view, domain)))

    def _nearest(self, view: View, domain: Domain) -> Iterator[Difference]:
        """Yield the fields in which a record differs that fits in all but one, or has the wanted key."""
        known = domain.entities.get(cast("str", self.entity))
        for key, record in reversed([*view.rows(cast("str", self.entity))]):  # the agent's own first
            wrong = [path for path, matches in self.tests if not matches(at_path(record, path))]
            has_key = known is not None and known.key in self.where and [known.key] not in wrong
            if len(wrong) < len(self.tests) and (len(wrong) == 1 or has_key):
                for path in wrong:
                    name, value = ".".join(path), at_path(record, path)
                    actual = "missing" if value is ABSENT else rendered(value)
                    yield Difference(f"{name} of {self.entity} {key}", actual, rendered(self.where[name]))
                return

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        if self.cel is not None:
            try:
                expression(self.cel, table_names(domain))
            except ValueError as error:
                return [str(error)]
            return ()
        known = domain.entities.get(cast("str", self.entity))
        if known is None:
            return [f"unknown entity {self.entity!r}{did_you_mean(str(self.entity), domain.entities)}"]
        fields = {known.key, *known.fields}
        unknown = [name for name in self.where if known.fields and name.split(".", 1)[0] not in fields]
        return [f"{self.entity} has no field {name!r}{did_you_mean(name, fields)}" for name in unknown]

    def _fits(self, record: Record) -> bool:
        return all(matches(at_path(record, path)) for path, matches in self.tests)

    @staticmethod
    def _evaluated(condition: Expression, view: View, domain: Domain) -> tuple[bool, str]:
        try:
            holds = condition.holds(tables(view, domain, condition.uses), functions(view, domain))
        except Unevaluable as error:
            return False, str(error)
        return holds, f"{condition.text} is {'true' if holds else 'false'}"
