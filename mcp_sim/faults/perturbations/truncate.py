"""A part of the answer is missing, and nothing says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Self, cast

from pydantic import Field, model_validator

from mcp_sim.backends.rendering.places import Anatomy, each_value, no_reads, part, with_part
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_text import encode
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count, CountFromZero


@perturbations.register("truncate")
class Truncate(Perturbation):
    """Cut the answer silently: `items` keeps so many rows, `characters` cuts each longer text, `bytes` keeps what fits.

    What is served is still valid JSON, and totals and cursors say what they said. Ids are never cut. For `bytes`, rows
    are dropped from the end and then texts are cut, until the JSON is no longer than that (or there is no more to cut).
    No effect where nothing is longer.
    """

    stage = Stage.ANSWER
    visibility = "implicit"

    items: CountFromZero | None = Field(default=None, description="How many rows are kept.", examples=[5])
    characters: CountFromZero | None = Field(default=None, description="How long a text may be.")
    bytes: Count | None = Field(default=None, description="How long the JSON of the answer may be.")

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(limit is not None for limit in (self.items, self.characters, self.bytes)) != 1:
            raise ValueError("say exactly one of items, characters, bytes")
        return self

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        return each_value(tool, domain, lambda _, value, anatomy: self._cut(value, anatomy))

    def _cut(self, value: Json, anatomy: Anatomy) -> Json:
        if self.items is not None:
            return _first_rows(value, anatomy, self.items)
        if self.characters is not None:
            return _short_texts(value, anatomy, self.characters)
        return _within(value, anatomy, cast("int", self.bytes))

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return self.items is not None

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return () if self.items is None else no_reads(domain, tools, ("list", "search"))


def _first_rows(value: Json, anatomy: Anatomy, most: int) -> Json:
    rows = anatomy.rows(value)
    return value if rows is None else with_part(value, rows, cast("list[Json]", part(value, rows))[:most])


def _short_texts(value: Json, anatomy: Anatomy, most: int) -> Json:
    """The value with every text cut that is longer and no key."""
    if isinstance(value, list):
        return [_short_texts(item, anatomy, most) for item in cast("list[Json]", value)]
    if not isinstance(value, dict):
        return value
    return {
        name: inner[:most]
        if isinstance(inner, str) and anatomy.is_text(name, inner)
        else _short_texts(inner, anatomy, most)
        for name, inner in cast("Record", value).items()
    }


def _within(value: Json, anatomy: Anatomy, most: int) -> Json:
    """The value cut to so many bytes of JSON, as far as that goes."""
    rows = anatomy.rows(value)
    count = 0 if rows is None else len(cast("list[Json]", part(value, rows)))
    kept = _most(count, lambda n: _first_rows(value, anatomy, n), most) if len(encode(value)) > most else value
    if len(encode(kept)) <= most:
        return kept
    longest = max((len(text) for text in _texts(kept, anatomy)), default=0)
    return _most(longest, lambda n: _short_texts(kept, anatomy, n), most)


def _most(high: int, cut: Callable[[int], Json], most: int) -> Json:
    """The longest cut that fits, by halving; the shortest where none does."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(encode(cut(middle))) <= most else (low, middle - 1)
    return cut(low)


def _texts(value: Json, anatomy: Anatomy) -> Iterator[str]:
    if isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from _texts(item, anatomy)
    elif isinstance(value, dict):
        for name, inner in cast("Record", value).items():
            if isinstance(inner, str) and anatomy.is_text(name, inner):
                yield inner
            yield from _texts(inner, anatomy)
