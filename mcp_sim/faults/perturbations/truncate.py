"""Silently truncated results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Self, cast

from pydantic import Field, model_validator

from mcp_sim.faults.results import ResultShape, change_values, no_reads
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_values import encode, get_part, replace_part
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count, CountFromZero


@perturbations.register("truncate")
class Truncate(Perturbation):
    """Truncate the result silently: limit its rows (`items`), length of texts (`characters`), or size (`bytes`).

    The result is still valid JSON; ids, totals and cursors stay. For `bytes`, rows are dropped from the end and then
    texts are cut.
    """

    stage = Stage.ANSWER
    visibility = "implicit"

    items: CountFromZero | None = Field(default=None, description="Maximum number of rows.", examples=[5])
    characters: CountFromZero | None = Field(default=None, description="Maximum length of a text.")
    bytes: Count | None = Field(default=None, description="Maximum size of the result's JSON.")

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        if sum(limit is not None for limit in (self.items, self.characters, self.bytes)) != 1:
            raise ValueError("expected exactly one of items, characters, bytes")
        return self

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        return change_values(tool, domain, lambda _, value, shape: self._cut(value, shape))

    def _cut(self, value: Json, shape: ResultShape) -> Json:
        if self.items is not None:
            return _first_rows(value, shape, self.items)
        if self.characters is not None:
            return _short_texts(value, shape, self.characters)
        # The value cut to `most` bytes of JSON, as far as possible.
        most = cast("int", self.bytes)
        rows = shape.rows(value)
        count = 0 if rows is None else len(cast("list[Json]", get_part(value, rows)))
        kept = _most(count, lambda n: _first_rows(value, shape, n), most) if len(encode(value)) > most else value
        if len(encode(kept)) <= most:
            return kept
        longest = max((len(text) for text in _texts(kept, shape)), default=0)
        return _most(longest, lambda n: _short_texts(kept, shape, n), most)

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return self.items is not None

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return () if self.items is None else no_reads(domain, tools, ("list", "search"))


def _first_rows(value: Json, shape: ResultShape, most: int) -> Json:
    rows = shape.rows(value)
    return value if rows is None else replace_part(value, rows, cast("list[Json]", get_part(value, rows))[:most])


def _short_texts(value: Json, shape: ResultShape, most: int) -> Json:
    """Return the value with longer texts cut, except for ids."""
    if isinstance(value, list):
        return [_short_texts(item, shape, most) for item in cast("list[Json]", value)]
    if not isinstance(value, dict):
        return value
    return {
        name: inner[:most]
        if isinstance(inner, str) and shape.is_text(name, inner)
        else _short_texts(inner, shape, most)
        for name, inner in cast("Record", value).items()
    }


def _most(high: int, cut: Callable[[int], Json], most: int) -> Json:
    """Return the longest cut that fits, found by bisection; the shortest if none fits."""
    low = 0
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(encode(cut(middle))) <= most else (low, middle - 1)
    return cut(low)


def _texts(value: Json, shape: ResultShape) -> Iterator[str]:
    if isinstance(value, list):
        for item in cast("list[Json]", value):
            yield from _texts(item, shape)
    elif isinstance(value, dict):
        for name, inner in cast("Record", value).items():
            if isinstance(inner, str) and shape.is_text(name, inner):
                yield inner
            yield from _texts(inner, shape)
