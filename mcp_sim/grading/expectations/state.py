"""The expectation that the world ends in a certain state, and what is different where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self, cast

from pydantic import Field, model_validator

from mcp_sim.grading.bases import Amount, Bounds, Writes, judged, words_of
from mcp_sim.types import Key, Step, Tool, View
from mcp_sim.types.call_matchers import unfit_fields
from mcp_sim.types.conditions import ABSENT, Matcher, at_path, matcher, where_test
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Unevaluable, did_you_mean
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import canonical
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
        fits = where_test(self.where)
        fitting = [(entity, key) for key, record in view.rows(entity) if fits(record)]
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
        return unfit_fields(known, self.where)

    @staticmethod
    def _evaluated(condition: Expression, view: View, domain: Domain) -> tuple[bool, str]:
        try:
            holds = condition.holds(tables(view, domain, condition.uses), functions(view, domain))
        except Unevaluable as error:
            return False, str(error)
        return holds, f"{condition.text} is {'true' if holds else 'false'}"


MOST = 3
"""The most differences of a condition: the first ones explain it."""
_LONGEST = 120
"""The most characters of a value; a table has room for no more."""

_TOKEN = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<open>[(\[{])|(?P<close>[)\]}])"""
    r"""|(?P<and>&&)|(?P<or>\|\||\?)|(?P<comparison>[=!<>]=|[<>])"""
)
_MACRO = re.compile(r"(?s)(?P<list>.+)\.(?P<macro>exists|all)\(\s*(?P<name>[A-Za-z_]\w*)\s*,(?P<condition>.+)\)")
_MEMBER = re.compile(r".*?(?:\.(?P<name>[A-Za-z_]\w*)|\['(?P<key>[^']+)'\])\s*")


def differences(text: str, view: View, domain: Domain) -> tuple[Difference, ...]:
    """Return what is different where a condition on the world does not hold; nothing where no comparison shows it."""
    world = _World(view, domain)
    listed = [difference for conjunct in _conjuncts(text) for difference in _of_part(conjunct, world)]
    return tuple(listed[:MOST])


def rendered(value: Any) -> str:
    """Render a value as a sentence shows it. Whole numbers, which expressions see as doubles, have no fraction."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    try:
        text = canonical(value)
    except (TypeError, ValueError):
        text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


class _World:
    """Evaluates parts of a condition at the end of a run."""

    def __init__(self, view: View, domain: Domain) -> None:
        self.domain = domain
        self._view, self._functions = view, functions(view, domain)

    def value(self, text: str) -> Any:
        """Return the value of an expression. Raises `Unevaluable` or `ValueError`."""
        compiled = expression(text, table_names(self.domain))
        return compiled.value(tables(self._view, self.domain, compiled.uses), self._functions)


def _of_part(text: str, world: _World) -> Iterator[Difference]:
    """Yield what is different in a part that must hold; nothing if it holds, or cannot be taken apart."""
    try:
        if world.value(text) is not False:
            return
        if macro := _MACRO.fullmatch(text):
            yield from _of_records(macro.groupdict(), world)
        elif comparison := _comparison(text):
            left, operator, right = comparison
            yield Difference(_label(left), rendered(world.value(left)), _expected(operator, world.value(right)))
    except (Unevaluable, ValueError, TypeError, LookupError):
        return


def _of_records(macro: Mapping[str, str], world: _World) -> Iterator[Difference]:
    """Yield what is different in the record nearest to a condition on one, or in those that break one on all.

    Of several, the newest comes first, which the agent is most likely to have written.
    """
    records, name, parts = macro["list"].strip(), macro["name"], list(_conjuncts(macro["condition"]))
    is_about_one = macro["macro"] == "exists"
    for segment in reversed(parts):  # the first one usually says which record is meant
        comparison = _comparison(segment)
        others = [f"({other})" for other in parts if other is not segment] if is_about_one else []
        if comparison is None or (is_about_one and not others):
            continue
        left, operator, right = comparison
        wrong = f"{records}.filter({name}, {' && '.join([*others, f'!({segment})'])})"
        sides = (world.value(f"{wrong}.map({name}, {side})") for side in (name, left, right))
        for record, actual, expected in reversed([*zip(*sides, strict=True)]):
            entity = world.domain.entities.get(records)
            of = "" if entity is None else f" of {records} {as_object(record).get(entity.key)}"
            yield Difference(f"{_label(left)}{of}", rendered(actual), _expected(operator, expected))
            if is_about_one:
                return


def _expected(operator: str, value: Any) -> str:
    return rendered(value) if operator == "==" else f"{operator} {rendered(value)}"


def _label(text: str) -> str:
    """Return the name of the field that an expression reads last, by default the expression itself."""
    member = _MEMBER.fullmatch(text)
    return (member["name"] or member["key"]) if member else text.strip()


# syntax ---------------------------------------------------------------------------------------------------------------


def _conjuncts(text: str) -> Iterator[str]:
    """Yield the parts that `&&` joins. A text without `&&`, or with alternatives, is yielded as it is."""
    tokens = list(_outside(text))
    if any(token.lastgroup == "or" for token in tokens):
        yield text.strip()
        return
    start = 0
    for token in tokens:
        if token.lastgroup == "and":
            yield text[start : token.start()].strip()
            start = token.end()
    yield text[start:].strip()


def _comparison(text: str) -> tuple[str, str, str] | None:
    """Return the sides and the operator of a comparison, None if the text is something else."""
    tokens: Sequence[re.Match[str]] = list(_outside(text))
    if len(tokens) != 1 or tokens[0].lastgroup != "comparison":
        return None
    (token,) = tokens
    return text[: token.start()].strip(), token[0], text[token.end() :].strip()


def _outside(text: str) -> Iterator[re.Match[str]]:
    """Yield the operators that are in no brackets."""
    depth = 0
    for token in _TOKEN.finditer(text):
        if token.lastgroup == "open":
            depth += 1
        elif token.lastgroup == "close":
            depth -= 1
        elif depth == 0 and token.lastgroup != "text":
            yield token
