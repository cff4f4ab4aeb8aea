"""The expectation that the final answer is a table of records of the world."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import ClassVar, Self

from pydantic import Field, model_validator

from mcp_sim.grading.bases import Writes, judged
from mcp_sim.types import Json, Record, Step, View
from mcp_sim.types.conditions import Matcher, at_path, where_test
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.kinds import End, Expectation, Perturbation, Verdict, expectations
from mcp_sim.types.options import MatcherSource
from mcp_sim.types.scenario import Scenario

_RULE = re.compile(r":?-+:?")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_URL = re.compile(r"^\w+://(www\.)?|/$")


@expectations.register("table")
class Table(Expectation):
    """The final answer contains a Markdown table of certain records: row F1 and item F1, as WideSearch scores them.

    The records are those of `entity` that satisfy `where`. `columns` maps each column to a field, or to a path of
    links: `town.name` is the name of the record that the field `town` names. Rows of both tables are the same if their
    `key` is. Texts are compared without case and spaces, numbers in any notation, addresses without scheme. `near`
    allows a relative difference for numbers and one in days for dates. A row counts if all its items are right.

    Not judged if the final answer is not known. Failed if it has no table.
    """

    is_goal: ClassVar[bool] = True

    entity: str = Field(description="Whose records the table shows.", examples=["deal"])
    where: dict[str, MatcherSource] = Field(
        default_factory=dict[str, MatcherSource],
        description="Field -> matcher of the records; all records without it.",
        examples=[{"amount": {"gte": 1000}}],
    )
    columns: dict[str, str] = Field(
        min_length=1,
        description="Column -> the path of its value.",
        examples=[{"deal": "title", "contact": "contact_id.name", "amount": "amount"}],
    )
    key: str = Field(description="The column that identifies a row.", examples=["deal"])
    near: dict[str, float] = Field(
        default_factory=dict[str, float],
        description="Column -> how far a value may be off: a share of a number, or days.",
        examples=[{"amount": 0.02}],
    )
    row_f1: float = Field(default=1.0, ge=0, le=1, description="The least F1 of rows.", examples=[0.8])
    item_f1: float = Field(default=0.0, ge=0, le=1, description="The least F1 of single values.", examples=[0.9])

    @model_validator(mode="after")
    def _columns_exist(self) -> Self:
        for name in (self.key, *self.near):
            if name not in self.columns:
                raise ValueError(f"unknown column {name!r}{did_you_mean(name, self.columns)}")
        return self

    @cached_property
    def _fits(self) -> Matcher:
        return where_test(self.where)

    def facts(self) -> Writes:
        return Writes()

    def notice(self, facts: Writes, step: Step, scenario: Scenario) -> Writes:
        return facts.after(step, frozenset({self.entity}), scenario.domain)

    def verdict(self, facts: Writes, end: End) -> Verdict:
        if end.answer is None:
            return judged("not judged", "the final answer is not known")
        evidence = (*facts.newest.values(), facts.unclear)
        truth = self._keyed(self._truth(end.view, end.scenario.domain))
        if not truth:
            return judged("vacuous", f"no {self.entity} record fits", *evidence)
        answered = self._keyed(read_table(end.answer, [*self.columns]))
        if not answered:
            columns = ", ".join(self.columns)
            return judged("failed", f"the final answer has no Markdown table with the columns {columns}", *evidence)
        rows, items, wrong = self._compare(answered, truth)
        row_f1 = _f1(rows, len(answered), len(truth))
        item_f1 = _f1(items, len(answered) * len(self.columns), len(truth) * len(self.columns))
        holds = row_f1 >= self.row_f1 and item_f1 >= self.item_f1
        score = f"row F1 {row_f1:.3f}, item F1 {item_f1:.3f}: {rows} of {len(truth)} rows right, {len(answered)} given"
        return judged("passed" if holds else "failed", "; ".join([score, *wrong]), *evidence)

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        if self.entity not in domain.entities:
            return [f"unknown entity {self.entity!r}{did_you_mean(self.entity, domain.entities)}"]
        paths = [*self.columns.values(), *self.where]
        return [problem for path in paths if (problem := _problem(path, self.entity, domain))]

    def _truth(self, view: View, domain: Domain) -> Iterator[Record]:
        for _, record in view.rows(self.entity):
            if self._fits(record):
                yield {
                    column: _linked_value(path, self.entity, record, view, domain)
                    for column, path in self.columns.items()
                }

    def _keyed(self, rows: Iterator[Record]) -> dict[str, Record]:
        return {_plain(row[self.key]): row for row in rows}

    def _compare(self, answered: Mapping[str, Record], truth: Mapping[str, Record]) -> tuple[int, int, list[str]]:
        """Return the numbers of right rows and items, and a sentence on the first thing that is wrong."""
        rows = items = 0
        wrong = [f"missing: {truth[key][self.key]}" for key in truth if key not in answered]
        wrong += [f"not one of them: {answered[key][self.key]}" for key in answered if key not in truth]
        for key in answered.keys() & truth.keys():
            differing = [name for name in self.columns if not self._same(name, answered[key][name], truth[key][name])]
            rows += not differing
            items += len(self.columns) - len(differing)
            wrong += [f"{name} of {key} is {truth[key][name]}, not {answered[key][name]}" for name in differing]
        return rows, items, wrong[:1]

    def _same(self, column: str, answered: Json, value: Json) -> bool:
        near, text = self.near.get(column, 0.0), str(answered)
        days = _day(str(value)), _day(text)
        if days[0] is not None and days[1] is not None:
            return abs((days[0] - days[1]).days) <= near
        if isinstance(value, int | float) and not isinstance(value, bool):
            number = _NUMBER.search(text)
            # The last term allows for the rounding of decimals
            return number is not None and abs(float(number[0].replace(",", "")) - value) <= near * abs(value) + 1e-9
        return _plain(text) == _plain(value)


def read_table(text: str, columns: Sequence[str]) -> Iterator[Record]:
    """Yield the rows of the Markdown tables of a text that have all of these columns, by column."""
    header: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if "|" not in line:
            header = []
        elif not header:
            header = [_plain(cell).replace(" ", "") for cell in cells]
        elif not all(map(_RULE.fullmatch, cells)):
            row = dict(zip(header, cells, strict=False))
            values = {column: row.get(_plain(column).replace(" ", "")) for column in columns}
            if None not in values.values():
                yield values


def _linked_value(path: str, entity: str, record: Record, view: View, domain: Domain) -> Json:
    """Return the value at a path whose steps, but for the last, are links to other records; None if one is missing."""
    *links, last = path.split(".")
    for name in links:
        link = domain.entities[entity].fields[name].link if name in domain.entities[entity].fields else None
        if link is None:
            return at_path(record, path.split("."))
        linked = view.get(link, record.get(name, ""))
        if linked is None:
            return None
        entity, record = link, linked
    return record.get(last)


def _problem(path: str, entity: str, domain: Domain) -> str:
    """Return what is wrong with a path from an entity; '' if nothing is."""
    for name in path.split("."):
        known = domain.entities[entity]
        names = {known.key, *known.fields}
        if known.fields and name not in names:
            return f"{entity} has no field {name!r}{did_you_mean(name, names)}"
        link = known.fields[name].link if name in known.fields else None
        if link is None or link not in domain.entities:
            break
        entity = link
    return ""


def _plain(value: Json) -> str:
    return _URL.sub("", " ".join(str(value).strip("*_` ").split()).casefold())


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        return None


def _f1(right: int, given: int, wanted: int) -> float:
    return 2 * right / (given + wanted) if right else 0.0
