"""Themes of fictional worlds: their form, the ones that ship, and names that spell nothing well known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from mcp_sim.spec import yaml12
from mcp_sim.types import Json
from mcp_sim.types.errors import DocumentError, Problem, UsageError, did_you_mean

_FOLDER = Path(__file__).parent / "themes"
Bounds = Annotated[list[int], Field(min_length=2, max_length=2)]


Sound: TypeAlias = Literal["onset", "vowel", "coda"]
"""The parts of a syllable."""

_SHORTEST, _LONGEST = 5, 10
"""Letters of a word: shorter ones are common words too often, longer ones cannot be remembered."""
_CLOSED = 0.55
"""The share of syllables that end in a consonant; with many more, names become hard to read."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Name(_Part):
    """Invented words, `name` of them, between one of the texts in `before` and one of those in `after`."""

    name: int = Field(ge=1, le=3)
    before: list[str] = [""]
    after: list[str] = [""]


class Number(_Part):
    """A number between two bounds, times a factor, with some decimals."""

    number: Bounds
    times: int = 1
    decimals: int = Field(default=0, ge=0, le=3)


class Year(_Part):
    """A year between two bounds, which `--shift-years` moves."""

    year: Bounds


class Day(_Part):
    """A day in the years between two bounds, which `--shift-years` moves."""

    day: Bounds


class Choice(_Part):
    """One of some values."""

    choice: list[str] = Field(min_length=1)


class Pick(_Part):
    """A link to a row of a table, with these values in some of its fields if any row has them.

    `distinct`: no two rows link to the same one.
    """

    pick: str
    where: dict[str, str] = {}
    distinct: bool = False


class Best(_Part):
    """A link to the row of a table that links back here by the field `by`, and has most of the field `of`."""

    best: str
    by: str
    of: str


class Off(_Part):
    """A wrong value: that at a path of links, plus one of some numbers."""

    off: str
    by: list[int] = Field(min_length=1)


class Text(_Part):
    """A text with slots for fields and fields of linked rows: `{from.name}-{to.name}`."""

    text: str


FieldRule = Name | Number | Year | Day | Choice | Pick | Best | Off | Text


class PageTemplate(_Part):
    """A page for each row of a table."""

    about: str
    url: str
    title: str
    date: str = ""
    text: list[str]


class QuestionRule(_Part):
    """A question about each row of a table. `answer` is the path of links to it."""

    about: str
    ask: str
    answer: str


class TableRule(_Part):
    """A question whose answer is a table: the rows of a table whose field is `above` or `below` a share of all."""

    about: str
    ask: str
    by: str
    keep: Literal["highest", "lowest"] = "highest"
    share: float = Field(default=0.15, gt=0, le=1)
    key: str
    columns: dict[str, str]


class Theme(_Part):
    """A theme: what its worlds consist of."""

    title: str
    sounds: dict[Sound, list[str]]
    share: dict[str, int]
    """Table -> its part of all rows."""
    tables: dict[str, dict[str, FieldRule]]
    templates: list[PageTemplate]
    withhold: list[str]
    questions: list[QuestionRule]
    lists: list[TableRule]

    @model_validator(mode="after")
    def _names_exist(self) -> Theme:
        for place, table in self._named_tables():
            if table not in self.tables:
                raise ValueError(f"{place}: unknown table {table!r}{did_you_mean(table, self.tables)}")
        if missing := self.tables.keys() - self.share.keys():
            raise ValueError(f"share: expected a part of the rows for {', '.join(sorted(missing))}")
        for table, fields in self.tables.items():
            for name, rule in fields.items():
                if isinstance(rule, Pick) and rule.distinct and self.share[table] > self.share[rule.pick]:
                    raise ValueError(f"tables.{table}.{name}: {rule.pick} has too few rows to be distinct")
        return self

    def _named_tables(self) -> list[tuple[str, str]]:
        links = [
            (f"tables.{table}.{name}", rule.pick if isinstance(rule, Pick) else rule.best)
            for table, fields in self.tables.items()
            for name, rule in fields.items()
            if isinstance(rule, Pick | Best)
        ]
        about = [*self.templates, *self.questions, *self.lists]
        return [*links, *((f"about of {type(rule).__name__}", rule.about) for rule in about)]

    def links(self) -> dict[str, str]:
        """Return TABLE.FIELD -> the table to which the field links."""
        return {
            f"{table}.{name}": rule.pick if isinstance(rule, Pick) else rule.best
            for table, fields in self.tables.items()
            for name, rule in fields.items()
            if isinstance(rule, Pick | Best)
        }


def shipped_themes() -> list[str]:
    """Return the names of the themes that ship."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def read_theme(reference: str) -> Theme:
    """Read a theme: a shipped name, or a file.

    Raises `UsageError` for an unknown name, `DocumentError` with its problems for a theme that cannot be used.
    """
    path = Path(reference) if reference.endswith((".yaml", ".yml", ".json")) else _FOLDER / f"{reference}.yaml"
    if not path.is_file():
        raise UsageError(f"no theme {reference!r}; give a YAML file, or one of {', '.join(shipped_themes())}")
    document = yaml12.load(path.read_bytes(), str(path))
    value: Json = document.value
    try:
        return Theme.model_validate(value)
    except ValidationError as error:
        raise DocumentError([_problem(document, str(path), item) for item in error.errors()]) from None


def _problem(document: yaml12.Document, file: str, item: Json) -> Problem:
    path = tuple(step for step in item["loc"] if isinstance(step, int) or not step[:1].isupper())
    return Problem(file, document.line(path), yaml12.dotted(path), item["msg"].removeprefix("Value error, "))


class Names:
    """Draws words that were not drawn before. Each has two or three syllables."""

    def __init__(self, sounds: Mapping[Sound, Sequence[str]], random: Random) -> None:
        self._sounds, self._random = sounds, random
        self._taken = set[str](known_words())

    def word(self) -> str:
        """Return a new word, with a capital letter."""
        while True:
            syllables = self._random.choice((2, 2, 3))
            word = "".join(self._syllable() for _ in range(syllables))
            if _SHORTEST <= len(word) <= _LONGEST and word not in self._taken:
                self._taken.add(word)
                return word.capitalize()

    def _syllable(self) -> str:
        choice, sounds = self._random.choice, self._sounds
        coda = choice(sounds["coda"]) if self._random.random() < _CLOSED else ""
        return choice(sounds["onset"]) + choice(sounds["vowel"]) + coda


@cache
def known_words() -> frozenset[str]:
    """Return names of well-known places, people, companies and things, in lower case. No invented name equals one."""
    text = Path(__file__).with_name("known_names.txt").read_text(encoding="utf-8")
    return frozenset(word.casefold() for line in text.splitlines() if line[:1] != "#" for word in line.split())
