"""The rows of a fictional world, and questions about it, with the answers that the rows give."""

from __future__ import annotations

from calendar import isleap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from random import Random
from typing import Any

from mcp_sim.generate.fiction import theme as themes
from mcp_sim.generate.fiction.theme import SLOT
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import UsageError

_TRIES = 100
"""Draws of a day that shows no withheld number. One in thirty days does for a row with three of them."""
_MOST_TEXT = 64 << 20  # characters of all texts with slots; 20,000 rows of a theme that ships have one million
LEAST_ROWS, MOST_ROWS = 40, 20_000
"""Numbers of rows that a world may have: with fewer, some tables are empty; more make gigabytes of pages."""
_LEAST_SHIFT, _MOST_SHIFT = -100, 900  # how many years a world may be moved: its time must be in the years 1900 to 2999

_YEAR = 2028  # the year in which worlds take place, unless it is shifted: after every date of the themes that ship


@dataclass(frozen=True)
class Fiction:
    """A fictional world: its rows by table, in which ids are unique, and how fields link to other tables."""

    theme: themes.Theme
    rows: Mapping[str, list[Record]]
    links: Mapping[str, str]

    def value(self, table: str, row: Record, path: str) -> Json:
        """Return the value at a path of links from a row: `company.director.name`. None if a link leads nowhere."""
        *steps, last = path.split(".")
        here: Record | None = row
        for step in steps:
            target = self.links[f"{table}.{step}"]
            table, here = target, self.by_id[target].get(here[step]) if here else None
        return here.get(last) if here else None

    @cached_property
    def by_id(self) -> Mapping[str, Mapping[str, Record]]:
        """The rows by table and id."""
        return {table: {row["id"]: row for row in rows} for table, rows in self.rows.items()}

    def state(self) -> Record:
        """Return the state of a world: what `search_world` reads."""
        return {
            "rows": self.rows,
            "links": self.links,
            "withhold": {"snippet": self.theme.withhold},
            "templates": [template.model_dump(exclude_defaults=True) for template in self.theme.templates],
        }


def invent(theme: themes.Theme, *, rows: int, seed: int, shift_years: int = 0) -> Fiction:
    """Return the world of a theme with about this many rows. `shift_years` moves all years and days.

    Raises `UsageError` for a number of rows or years that a world cannot have.
    """
    if not LEAST_ROWS <= rows <= MOST_ROWS:
        raise UsageError(f"--rows: expected {LEAST_ROWS} to {MOST_ROWS}, got {rows}")
    if not _LEAST_SHIFT <= shift_years <= _MOST_SHIFT:
        raise UsageError(f"--shift-years: expected {_LEAST_SHIFT} to {_MOST_SHIFT}, got {shift_years}")
    return _Maker(theme, rows, seed, shift_years).make()


class _Maker:
    def __init__(self, theme: themes.Theme, rows: int, seed: int, shift_years: int) -> None:
        self._theme, self._shift = theme, shift_years
        self._random = Random(f"fiction {seed}")  # noqa: S311 (the same world for the same seed)
        self._names = themes.Names(theme.sounds, self._random)
        whole = sum(theme.share.values())
        counts = {table: max(2, round(rows * theme.share[table] / whole)) for table in theme.tables}
        self._rows: dict[str, list[Record]] = {
            table: [{"id": f"{table}-{number}"} for number in range(1, count + 1)] for table, count in counts.items()
        }
        self._room = _MOST_TEXT
        self._distinct: dict[tuple[str, str], set[str]] = {}
        """Table and linked table -> the rows that are taken, where links are distinct."""
        self._candidates: dict[tuple[Any, ...], list[Record]] = {}
        self._fiction = Fiction(theme, self._rows, theme.links())

    def make(self) -> Fiction:
        """Fill the fields: plain ones, then links, then what is computed from linked rows, and days last."""
        makers: list[tuple[type[themes.FieldRule] | tuple[type[themes.FieldRule], ...], Callable[..., Json]]] = [
            ((themes.Name, themes.Number, themes.Year, themes.Choice), self._plain),
            (themes.Pick, self._picked),
            (themes.Best, self._best),
            (themes.Off, self._off),
            (themes.Text, self._text),
            (themes.Day, self._day),
        ]
        theme = self._theme
        for kinds, maker in makers:
            for table, name, rule in theme.fields():
                if isinstance(rule, kinds):
                    for row in self._rows[table]:
                        row[name] = maker(table, row, rule)
        order = {table: ("id", *fields) for table, fields in theme.tables.items()}
        for table, rows in self._rows.items():
            rows[:] = [{name: row[name] for name in order[table]} for row in rows]
        return self._fiction

    def _plain(
        self, _table: str, _row: Record, rule: themes.Name | themes.Number | themes.Year | themes.Choice
    ) -> Json:
        random = self._random
        if isinstance(rule, themes.Name):
            words = " ".join(self._names.word() for _ in range(rule.name))
            return f"{random.choice(rule.before)}{words}{random.choice(rule.after)}"
        if isinstance(rule, themes.Choice):
            return random.choice(rule.choice)
        if isinstance(rule, themes.Year):
            return random.randint(*rule.year) + self._shift
        low, high = rule.number
        if rule.decimals:
            return round(random.uniform(low, high) * rule.times, rule.decimals)
        return random.randint(low, high) * rule.times

    def _picked(self, table: str, row: Record, rule: themes.Pick) -> str:
        """Return the id of a row that fits. Two links of a row to the same table lead to different rows."""
        picks = (name for name, other in self._theme.tables[table].items() if isinstance(other, themes.Pick))
        taken = {row["id"], *map(row.get, picks)}
        if rule.distinct:
            taken |= self._distinct.setdefault((table, rule.pick), set())
        # The rows to which a rule may link: those with its values, or all if none has them.
        key = (rule.pick, *rule.where.items())
        if key not in self._candidates:
            every = self._rows[rule.pick]
            fitting = [row for row in every if all(row.get(name) == value for name, value in rule.where.items())]
            self._candidates[key] = fitting or every
        others = self._candidates[key]
        chosen = self._random.choice(others)["id"]
        if chosen in taken:
            chosen = self._random.choice([other for other in others if other["id"] not in taken] or others)["id"]
        if rule.distinct:
            self._distinct[table, rule.pick].add(chosen)
        return chosen

    def _best(self, _table: str, row: Record, rule: themes.Best) -> str:
        linked = [other for other in self._rows[rule.best] if other[rule.by] == row["id"]] or self._rows[rule.best]
        return max(linked, key=lambda other: other[rule.of])["id"]

    def _off(self, table: str, row: Record, rule: themes.Off) -> Json:
        return self._fiction.value(table, row, rule.off) + self._random.choice(rule.by)

    def _text(self, table: str, row: Record, rule: themes.Text) -> str:
        text = SLOT.sub(lambda match: str(self._fiction.value(table, row, match[1])), rule.text)
        self._room -= len(text)
        if self._room < 0:
            raise UsageError(f"the texts of the theme take more than {_MOST_TEXT >> 20} MB; use fewer rows")
        return text

    def _day(self, table: str, row: Record, rule: themes.Day) -> str:
        """Return a day that shows none of the numbers that only pages may show of the row and those it links to."""
        secrets = {*self._secrets(table, row)}
        day = self._some_day(rule.day)
        for _ in range(_TRIES):
            if not secrets & {day.year, day.month, day.day}:
                break
            day = self._some_day(rule.day)
        return day.isoformat()

    def _some_day(self, years: list[int]) -> date:
        year = self._random.randint(*years) + self._shift
        return date(year, 1, 1) + timedelta(days=self._random.randrange(366 if isleap(year) else 365))

    def _secrets(self, table: str, row: Record) -> Iterator[Json]:
        for path in self._theme.withhold:
            owner, _, name = path.partition(".")
            if owner == table:
                yield row.get(name)
            for link, target in self._fiction.links.items():
                if target == owner and link.startswith(f"{table}."):
                    yield self._fiction.value(table, row, f"{link.partition('.')[2]}.{name}")


# questions ------------------------------------------------------------------------------------------------------------


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
        columns = rule.columns.items()
        answer = [{column: fiction.value(rule.about, row, way) for column, way in columns} for row in chosen]
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


def _filled(ask: str, fiction: Fiction, table: str, row: Record) -> str:
    return SLOT.sub(lambda match: str(fiction.value(table, row, match[1])), ask)
