"""Themes of fictional worlds: their form, the ones that ship, and names that spell nothing well known."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from mcp_sim.spec import yaml12
from mcp_sim.spec.trust import read_whole
from mcp_sim.types import Json
from mcp_sim.types.errors import DocumentError, Problem, UsageError, did_you_mean
from mcp_sim.types.result_templates import SLOT as PAGE_SLOT

_FOLDER = Path(__file__).parent / "themes"
_MOST = 10**12  # the largest number, about as large as money gets
_FIRST_YEAR, _LAST_YEAR = 200, 9000  # years of a theme: those that it may be moved to are in the calendar, too
_MOST_WORDS = 100_000
"""Draws of a word that was not drawn before. Sounds of a theme that ships make millions of words."""


def _in_order(bounds: list[int]) -> list[int]:
    if bounds[0] > bounds[1]:
        raise ValueError(f"expected the lower bound first, got {bounds}")
    return bounds


Whole = Annotated[int, Field(ge=-_MOST, le=_MOST)]
Bounds = Annotated[list[Whole], Field(min_length=2, max_length=2), AfterValidator(_in_order)]
Years = Annotated[
    list[Annotated[int, Field(ge=_FIRST_YEAR, le=_LAST_YEAR)]],
    Field(min_length=2, max_length=2),
    AfterValidator(_in_order),
]
Short = Annotated[str, Field(max_length=100)]
Long = Annotated[str, Field(max_length=1_000)]
Letters = Annotated[str, Field(max_length=4, pattern=r"^\w*$")]

Sound: TypeAlias = Literal["onset", "vowel", "coda"]
"""The parts of a syllable."""

SLOT = re.compile(r"\{([\w.]+)\}")  # the place of a field in a text
_SHORTEST, _LONGEST = 5, 10
"""Letters of a word: shorter ones are common words too often, longer ones cannot be remembered."""
_CLOSED = 0.55  # the share of syllables that end in a consonant; with many more, names become hard to read


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Name(_Part):
    """Invented words, `name` of them, between one of the texts in `before` and one of those in `after`."""

    name: int = Field(ge=1, le=3)
    before: list[Short] = Field(default=[""], min_length=1)
    after: list[Short] = Field(default=[""], min_length=1)


class Number(_Part):
    """A number between two bounds, times a factor, with some decimals."""

    number: Bounds
    times: Whole = 1
    decimals: int = Field(default=0, ge=0, le=3)


class Year(_Part):
    """A year between two bounds, which `--shift-years` moves."""

    year: Years


class Day(_Part):
    """A day in the years between two bounds, which `--shift-years` moves."""

    day: Years


class Choice(_Part):
    """One of some values."""

    choice: list[Short] = Field(min_length=1)


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
    by: list[Whole] = Field(min_length=1)


class Text(_Part):
    """A text with slots for fields and fields of linked rows: `{from.name}-{to.name}`."""

    text: Long


FieldRule = Name | Number | Year | Day | Choice | Pick | Best | Off | Text
_NamedField: TypeAlias = tuple[str, str, str, tuple[type[FieldRule], ...], Mapping[str, str]]
"""Where a path is, the table that it begins at, the path, the rules that its field may have, and the links on it."""
_NUMBERS: tuple[type[FieldRule], ...] = (Number, Year)
_SHOWN: tuple[type[FieldRule], ...] = (Name, Number, Year, Day, Choice, Off, Text)


class PageTemplate(_Part):
    """A page for each row of a table."""

    about: str
    url: str
    title: str
    date: str = ""
    text: list[Long]


class QuestionRule(_Part):
    """A question about each row of a table. `answer` is the path of links to it."""

    about: str
    ask: Long
    answer: str


class TableRule(_Part):
    """A question whose answer is a table: the rows of a table whose field is `above` or `below` a share of all."""

    about: str
    ask: Long
    by: str
    keep: Literal["highest", "lowest"] = "highest"
    share: float = Field(default=0.15, gt=0, le=1)
    key: str
    columns: dict[str, str]


class Theme(_Part):
    """A theme: what its worlds consist of."""

    title: str
    sounds: dict[Sound, Annotated[list[Letters], Field(min_length=1)]] = Field(min_length=3)
    share: dict[str, Annotated[int, Field(ge=1, le=1_000_000)]]
    """Table -> its part of all rows."""
    tables: dict[str, Annotated[dict[str, FieldRule], Field(max_length=100)]] = Field(max_length=100)
    templates: list[PageTemplate] = Field(max_length=200)
    withhold: list[str]
    questions: list[QuestionRule] = Field(max_length=100)
    lists: list[TableRule] = Field(min_length=1, max_length=100)

    @model_validator(mode="after")
    def _withheld_fields_exist(self) -> Theme:
        known = [f"{table}.{name}" for table, fields in self.tables.items() for name in fields]
        for path in self.withhold:
            if path not in known:
                raise ValueError(f"withhold: unknown field {path!r}{did_you_mean(path, known)}")
        return self

    @model_validator(mode="after")
    def _names_exist(self) -> Theme:
        links = self.links()
        named = [(f"tables.{path}", table) for path, table in links.items()]
        rules = (*self.templates, *self.questions, *self.lists)
        for place, table in (*named, *((f"about of {type(rule).__name__}", rule.about) for rule in rules)):
            if table not in self.tables:
                raise ValueError(f"{place}: unknown table {table!r}{did_you_mean(table, self.tables)}")
        if missing := self.tables.keys() - self.share.keys():
            raise ValueError(f"share: expected a part of the rows for {', '.join(sorted(missing))}")
        for table, name, rule in self.fields():
            if isinstance(rule, Pick) and rule.distinct and self.share[table] > self.share[rule.pick]:
                raise ValueError(f"tables.{table}.{name}: {rule.pick} has too few rows to be distinct")
        for place, table, path, kinds, steps in (
            *self._computed_from(links),
            *self._asked_for(links),
            *self._slots_of_pages(links),
        ):
            if not isinstance(self._field_at(table, path, steps), kinds):
                words = " or ".join(kind.__name__.lower() for kind in kinds)
                raise ValueError(f"{place}: expected a path to a field ({words}), got {path!r}")
        return self

    def _computed_from(self, links: Mapping[str, str]) -> Iterator[_NamedField]:
        """Yield the fields that others are computed from.

        No text shows another text, which would let them double with each field.
        """
        for table, name, rule in self.fields():
            place = f"tables.{table}.{name}"
            if isinstance(rule, Best):
                yield place, rule.best, rule.of, _NUMBERS, {}
                yield place, rule.best, rule.by, (Pick,), {}
            elif isinstance(rule, Off):
                yield place, table, rule.off, _NUMBERS, links
            elif isinstance(rule, Text):
                for path in SLOT.findall(rule.text):
                    yield place, table, path, (Name, Choice, *_NUMBERS), links

    def _asked_for(self, links: Mapping[str, str]) -> Iterator[_NamedField]:
        """Yield the fields that questions and lists show, and those by which lists choose rows."""
        for number, question in enumerate(self.questions):
            for path in (question.answer, *SLOT.findall(question.ask)):
                yield f"questions.{number}", question.about, path, _SHOWN, links
        for number, listing in enumerate(self.lists):
            yield f"lists.{number}.by", listing.about, listing.by, _SHOWN, {}
            for path in listing.columns.values():
                yield f"lists.{number}.columns", listing.about, path, _SHOWN, links

    def _slots_of_pages(self, links: Mapping[str, str]) -> Iterator[_NamedField]:
        """Yield what pages show. Their slots also lead to the rows that link to a row."""
        steps = {f"{table}.{path.partition('.')[0]}": path.partition(".")[0] for path, table in links.items()} | {
            **links
        }
        for number, template in enumerate(self.templates):
            for text in (template.url, template.title, template.date, *template.text):
                for match in PAGE_SLOT.finditer(text):
                    if match[1] != "id":
                        yield f"templates.{number}", template.about, match[1], (*_SHOWN, Pick, Best), steps

    def _field_at(self, table: str, path: str, links: Mapping[str, str]) -> FieldRule | None:
        """Return the rule of the field that a path of links leads to."""
        *steps, last = path.split(".")
        for step in steps:
            table = links.get(f"{table}.{step}", "")
        return self.tables.get(table, {}).get(last)

    def fields(self) -> Iterator[tuple[str, str, FieldRule]]:
        """Yield the table, the name and the rule of each field."""
        return ((table, name, rule) for table, fields in self.tables.items() for name, rule in fields.items())

    def links(self) -> dict[str, str]:
        """Return TABLE.FIELD -> the table to which the field links."""
        return {
            f"{table}.{name}": rule.pick if isinstance(rule, Pick) else rule.best
            for table, name, rule in self.fields()
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
    document = yaml12.load(read_whole(path), str(path))
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
        """Return a new word, with a capital letter. Raises `UsageError` if the sounds make too few."""
        for _ in range(_MOST_WORDS):
            syllables = self._random.choice((2, 2, 3))
            word = "".join(self._syllable() for _ in range(syllables))
            if _SHORTEST <= len(word) <= _LONGEST and word not in self._taken:
                self._taken.add(word)
                return word.capitalize()
        letters = f"{_SHORTEST} to {_LONGEST} letters"
        raise UsageError(f"the sounds of the theme make too few words of {letters}; add some, or use fewer rows")

    def _syllable(self) -> str:
        choice, sounds = self._random.choice, self._sounds
        coda = choice(sounds["coda"]) if self._random.random() < _CLOSED else ""
        return choice(sounds["onset"]) + choice(sounds["vowel"]) + coda


@cache
def known_words() -> frozenset[str]:
    """Return names of well-known places, people, companies and things, in lower case. No invented name equals one."""
    text = Path(__file__).with_name("known_names.txt").read_text(encoding="utf-8")
    return frozenset(word.casefold() for line in text.splitlines() if line[:1] != "#" for word in line.split())
