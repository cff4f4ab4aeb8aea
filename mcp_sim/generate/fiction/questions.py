"""Questions about a fictional world, with the answers that its rows give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mcp_sim.generate.fiction.rows import Fiction
from mcp_sim.generate.fiction.theme import SLOT, TableRule
from mcp_sim.types import Json, Record

_YEAR = 2028
"""The year in which worlds take place, unless it is shifted: after every date of the themes that ship."""


@dataclass(frozen=True)
class Question:
    """A question with one answer. `pages` have to be read for it: each shows the name that leads to the next."""

    ask: str
    answer: Json
    pages: int


@dataclass(frozen=True)
class Table:
    """A question whose answer is a table: `rows` by column. `expectation` are the options of `table` in a scenario."""

    ask: str
    expectation: Record
    rows: list[Record]


def questions(fiction: Fiction) -> Iterator[Question]:
    """Yield the questions of the theme about each row that has an answer."""
    for rule in fiction.theme.questions:
        for row in fiction.rows[rule.about]:
            answer = fiction.value(rule.about, row, rule.answer)
            if answer is not None:
                yield Question(_filled(rule.ask, fiction, rule.about, row), answer, max(1, rule.answer.count(".")))


def tables(fiction: Fiction) -> Iterator[Table]:
    """Yield the questions of the theme whose answer is a table of rows with an extreme value."""
    for rule in fiction.theme.lists:
        rows = sorted(fiction.rows[rule.about], key=lambda row: row[rule.by], reverse=rule.keep == "highest")
        count = max(2, round(len(rows) * rule.share))
        while count < len(rows) and rows[count][rule.by] == rows[count - 1][rule.by]:
            count += 1  # an equal value belongs to the answer, too
        chosen = rows[:count]
        limit = chosen[-1][rule.by]
        where = {rule.by: {"gte" if rule.keep == "highest" else "lte": limit}}
        expectation = {"entity": rule.about, "where": where, "columns": rule.columns, "key": rule.key}
        answer = [_columns(rule, fiction, row) for row in chosen]
        yield Table(rule.ask.replace("{limit}", str(limit)), expectation, answer)


def fiction_scenario(fiction: Fiction, name: str, seed: int, shift_years: int = 0) -> Record:
    """Return the document of a scenario in a fictional world. Its task is the first table of the theme."""
    table = next(tables(fiction))
    return {
        "mcp_sim": 1,
        "name": f"{name}-{seed}",
        "task": table.ask,
        "tools": {"search": "search_world"},
        "seed": seed,
        "world": {
            "description": f"{fiction.theme.title}.",
            "now": f"{_YEAR + shift_years}-06-01T09:00:00Z",
            "state": fiction.state(),
        },
        "expect": [{"table": table.expectation, "id": "table"}],
    }


def _columns(rule: TableRule, fiction: Fiction, row: Record) -> Record:
    return {column: fiction.value(rule.about, row, path) for column, path in rule.columns.items()}


def _filled(ask: str, fiction: Fiction, table: str, row: Record) -> str:
    return SLOT.sub(lambda match: str(fiction.value(table, row, match[1])), ask)
