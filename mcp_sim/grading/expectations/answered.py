"""The expectation on the agent's final answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import nan
from typing import Annotated, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from mcp_sim.grading.bases import Writes, judged, quoted, words_of
from mcp_sim.types import Json, Step
from mcp_sim.types.conditions import matcher
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Unevaluable
from mcp_sim.types.json_values import in_list, is_number
from mcp_sim.types.kinds import End, Expectation, Perturbation, Verdict, expectations
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.cel import expression, functions, table_names, tables

_SPACES = " \u00a0\u202f"
_NUMBER = re.compile(
    rf"(?<![\w.-])(?<!\d:)[-+]?(?:\d{{1,3}}(?:([,.'{_SPACES}])\d{{3}})(?:\1\d{{3}})*(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?)"
    r"(?!\w|[.:-]\w)"
)
"""A number outside names, versions, dates and times; its group is the separator of thousands."""
_CLOSE = 1e-9  # the rounding of floating-point sums, far below what an answer can show


class StateValue(BaseModel):
    """A value of the final state: a CEL expression."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: str = Field(description="A CEL expression, as in the expectation `state`.", examples=["deal.size()"])


Wanted: TypeAlias = str | Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True)] | StateValue


@expectations.register("answered")
class Answered(Expectation):
    """The agent's final answer contains a text or a number, matches a regular expression, or equals a value.

    `answered: Spring order` looks for a text, upper and lower case aside. A number is found in any usual form: 4000 in
    "4,000.00 EUR", but not 5 in "v1.5", "5kg" or "2029-03-05". `answered: {contains: {state: "find('deal', {'title':
    'Spring order'})[0].id"}}` looks for a value of the final state. Each option that is given must hold.

    Not judged if the final answer is not known. Vacuous if the value of the state is null, empty or an empty list.
    """

    contains: Annotated[list[Wanted], BeforeValidator(in_list, json_schema_input_type=Wanted | list[Wanted])] = Field(
        default_factory=list[Wanted],
        description="Texts, numbers, or {state: CEL expression}; the answer contains all of them.",
        examples=["Spring order"],
    )
    matches: str | None = Field(default=None, description="A regular expression that is found in the answer.")
    equals: Wanted | None = Field(
        default=None, description="A text, number or {state: CEL expression} that is the whole answer."
    )

    @field_validator("matches")
    @classmethod
    def _searchable(cls, value: str | None) -> str | None:
        if value is not None:
            matcher({"matches": value})
        return value

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.contains and self.matches is None and self.equals is None:
            raise ValueError("write contains, matches or equals")
        return self

    @cached_property
    def operands(self) -> Sequence[Wanted]:
        """What is compared with the answer."""
        return (*self.contains, *([] if self.equals is None else [self.equals]))

    @cached_property
    def reads(self) -> frozenset[str]:
        """The entities that the values are read from, among other words."""
        return frozenset(
            word for operand in self.operands if isinstance(operand, StateValue) for word in words_of(operand.state)
        )

    def facts(self) -> Writes:
        return Writes()

    def notice(self, facts: Writes, step: Step, scenario: Scenario) -> Writes:
        return facts.after(step, self.reads, scenario.domain) if self.reads else facts

    def verdict(self, facts: Writes, end: End) -> Verdict:
        if end.answer is None:
            return judged("not judged", "the final answer is not known")
        evidence = (*facts.newest.values(), facts.unclear)
        try:
            contained = [value for wanted in self.contains for value in _values(wanted, end)]
            whole = None if self.equals is None else _values(self.equals, end)
        except Unevaluable as error:
            return judged("failed", str(error), *evidence)
        if whole == [] or (self.contains and not contained):
            return judged("vacuous", "the state has no such value", *evidence)
        problem = next(self._problems(end.answer, contained, whole), None)
        if problem is not None:
            return judged("failed", f"the final answer {problem}: {quoted(end.answer)}", *evidence)
        return judged("passed", "the final answer is as expected", *evidence)

    def _problems(self, answer: str, contained: Sequence[Json], whole: Sequence[Json] | None) -> Iterator[str]:
        """Yield what is wrong with the answer."""
        for value in contained:
            if not _contains(answer, value):
                yield f"does not contain {value!r}"
        if self.matches is not None and not matcher({"matches": self.matches})(answer):
            yield f"does not match {self.matches}"
        if whole is not None and not any(_equals(answer, value) for value in whole):
            yield f"is not {whole[0]!r}"

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        problems = list[str]()
        for wanted in self.operands:
            if isinstance(wanted, StateValue):
                try:
                    expression(wanted.state, table_names(domain))
                except ValueError as error:
                    problems.append(str(error))
        return problems


def _values(wanted: Wanted, end: End) -> list[Json]:
    """Return the values that are wanted: those of a list, none for null or an empty value. Raises `Unevaluable`."""
    if not isinstance(wanted, StateValue):
        return [wanted]
    domain = end.scenario.domain
    condition = expression(wanted.state, table_names(domain))
    shown = condition.value(tables(end.view, domain, condition.uses), functions(end.view, domain))
    return [value for value in in_list(shown) if value is not None and value != ""]


def _contains(answer: str, value: Json) -> bool:
    if is_number(value):
        return any(_is_close(number, value) for number in _numbers(answer))
    text, wanted = _plain(answer), _plain(_text(value))
    begin, end = (r"(?<!\w)" if wanted[:1].isalnum() else ""), (r"(?!\w)" if wanted[-1:].isalnum() else "")
    return re.search(f"{begin}{re.escape(wanted)}{end}", text) is not None


def _equals(answer: str, value: Json) -> bool:
    if is_number(value):
        whole = _NUMBER.fullmatch(answer.strip())
        return whole is not None and any(_is_close(number, value) for number in _numbers(answer))
    return _plain(answer).rstrip(".") == _plain(_text(value)).rstrip(".")


def _plain(text: str) -> str:
    """Return a text in lower case, with single spaces."""
    return " ".join(text.split()).casefold()


def _text(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_close(value: float, other: float) -> bool:
    return abs(value - other) <= _CLOSE * max(1.0, abs(value), abs(other))


def _numbers(text: str) -> Iterator[float]:
    """Yield what each number in a text may mean: `1,234.5`, `1.234,5` and `1 234` have separators of thousands."""
    for match in _NUMBER.finditer(text):
        number, separator = match[0], match[1] or ""
        yield _decimal(number.replace(separator, "") if separator else number)
        if separator and number.count(separator) == 1:  # two numbers, or a decimal with three places
            yield from map(_decimal, number.split(separator) if separator in _SPACES else [number])


def _decimal(number: str) -> float:
    """Return a number with a decimal point or comma; not-a-number if it has several."""
    try:
        return float(number.replace(",", "."))
    except ValueError:
        return nan
