"""Generate numbers within the bounds and steps of a schema, with ranges that fit the field's name."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.makers import Make
from mcp_sim.generate.shipped_data import load
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.generate.timeline import Moment, time_maker
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.translations import noun_in_english

_REACH = 100
"""The width of a range with a single bound outside the usual range."""

_WHOLE = {"JPY": 150, "KRW": 1300, "HUF": 380, "ISK": 140}
"""Currencies without cents, and roughly how many units are worth a dollar or a euro."""

_FEW = 20
"""Ranges with fewer steps are divided into smaller ones."""


def number_maker(entity: str, name: str, schema: Record, currency: str = "") -> Make:
    """Return the maker of a number field. `currency` is the currency of most amounts of the world."""
    whole = main_type(schema) == "integer"
    if time_meaning(name, schema):
        timed = time_maker(name, schema)
        return lambda chance, record, moment: _within(timed(chance, record, moment), schema)
    usual = usual_range(name, whole=whole, noun=entity.rpartition(".")[2])
    low, high = bounds(schema)
    found = usual.within(low, high) or _beyond(low, high, usual)
    step = _step(schema, whole=whole)
    draw = _stepped(found, step) if step is not None else _free(found)
    if usual.price and currency in _WHOLE and low is high is None and step is None:
        return _in_coins(draw, currency)
    return lambda chance, _record, _moment: draw(chance)


def _in_coins(draw: Callable[[Chance], Json], currency: str) -> Make:
    """Return a maker of amounts in a currency without cents, unless the record holds another currency."""
    worth = _WHOLE[currency]

    def make(chance: Chance, record: Record, _moment: Moment) -> Json:
        value = draw(chance)
        own_currency: Json = record.get("currency")
        return value if isinstance(own_currency, str) and own_currency not in _WHOLE else int(value * worth / 10) * 10

    return make


def bounds(schema: Record) -> tuple[float | None, float | None]:
    """Return the smallest and largest number that a schema allows; None if it has no such bound."""
    nudge = 1 if main_type(schema) == "integer" else 1e-6
    lows = (_bound(schema, "minimum", 0), _bound(schema, "exclusiveMinimum", nudge))
    highs = (_bound(schema, "maximum", 0), _bound(schema, "exclusiveMaximum", -nudge))
    low = max((bound for bound in lows if bound is not None), default=None)
    return low, min((bound for bound in highs if bound is not None), default=None)


def _bound(schema: Record, word: str, nudge: float) -> float | None:
    bound: Json = schema.get(word)
    if not isinstance(bound, int | float) or isinstance(bound, bool):
        return None
    if isinstance(nudge, int) and nudge and not float(bound).is_integer():
        return math.ceil(bound) if nudge > 0 else math.floor(bound)
    return bound + nudge


def _beyond(low: float | None, high: float | None, usual: Range) -> Range:
    """Return a range at the bounds, for bounds that exclude the usual range."""
    least = low if low is not None else (high or 0) - _REACH
    most = high if high is not None else least + _REACH
    return Range(least, max(least, most), usual.step, usual.small)


def _step(schema: Record, *, whole: bool) -> Fraction | None:
    """Return the number that every value must be a multiple of; None if there is none."""
    multiple: Json = schema.get("multipleOf")
    if isinstance(multiple, int | float) and multiple > 0:
        step = Fraction(str(multiple))
        return Fraction(step.numerator) if whole else step
    return Fraction(1) if whole else None


def _stepped(found: Range, step: Fraction) -> Callable[[Chance], Json]:
    first = math.ceil(Fraction(str(found.low)) / step)
    usual = max(1, round(Fraction(str(found.step)) / step))
    count = max(1, math.floor(Fraction(str(found.high)) / step) - first + 1)
    stride = usual if count >= _FEW * usual and first % usual == 0 else 1
    count = -(-count // stride)
    whole, size = step.denominator == 1, float(step)

    def draw(chance: Chance) -> Json:
        place = first + stride * min(int(share(chance, small=found.small) * count), count - 1)
        return place * step.numerator if whole else round(place * size, 9)

    return draw


def _free(found: Range) -> Callable[[Chance], Json]:
    width = found.high - found.low
    step = found.step if width >= _FEW * found.step else width / _FEW
    if not step:
        return lambda _chance: found.low
    count = int(width / step)
    first = math.ceil(found.low / step) if step == found.step else 0
    start = 0.0 if step == found.step else found.low

    def draw(chance: Chance) -> Json:
        value = start + (first + int(share(chance, small=found.small) * count)) * step
        value = round_price(value, chance) if found.price else round(value, 9)
        return min(max(round(value, 2) if found.price else value, found.low), found.high)

    return draw


def _within(value: Json, schema: Record) -> Json:
    low, high = bounds(schema)
    value = value if low is None or value >= low else math.ceil(low)
    return value if high is None or value <= high else math.floor(high)


_ENDINGS = (0.0, 0.0, 0.5, 0.95, 0.95, 0.99, 0.99, 0.49, 0.9)


@dataclass(frozen=True, slots=True)
class Range:
    """The usual values of a number field: `low` to `high` in steps. `small`: low values are more frequent."""

    low: float
    high: float
    step: float
    small: bool = False
    price: bool = False

    def within(self, low: float | None, high: float | None) -> Range | None:
        """Return the part of the range within these bounds; None if it is empty."""
        least = self.low if low is None else max(self.low, low)
        most = self.high if high is None else min(self.high, high)
        return Range(least, most, self.step, self.small, self.price) if least <= most else None


def usual_range(name: str, *, whole: bool, noun: str = "") -> Range:
    """Return the usual range of a number field, by its name and its kind of record."""
    name = noun_in_english(snake(name))
    qualified = f"{snake(noun).rsplit('_', 1)[-1]}:{name}"
    for pattern, found in _ranges():
        if pattern.fullmatch(qualified) or pattern.fullmatch(name):
            return Range(found.low, found.high, max(1, found.step), found.small) if whole else found
    return Range(1, 100, 1, small=True) if whole else Range(0, 1000, 0.01, small=True)


@cache
def _ranges() -> tuple[tuple[re.Pattern[str], Range], ...]:
    return tuple(
        (re.compile(rule.pop("field")), Range(**rule)) for rule in map(dict[str, Any], load("numbers")["ranges"])
    )


def share(chance: Chance, *, small: bool) -> float:
    """Draw the relative position of a number in its range, from 0 to 1."""
    return chance.unit() ** 2 if small else chance.unit()


def round_price(value: float, chance: Chance) -> float:
    """Round an amount as prices are: large ones often to tens, small ones to endings such as .95."""
    if value >= 1000:
        return float(round(value / 10) * 10) if chance.unit() < 0.5 else round(value, 2)
    return int(value) + chance.choice(_ENDINGS)
