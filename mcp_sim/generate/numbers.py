"""Numbers that keep to bounds and steps, and look like what their field's name promises."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from mcp_sim.generate.amounts import Range, number_meaning, priced, share
from mcp_sim.generate.chance import Chance
from mcp_sim.generate.making import Make
from mcp_sim.generate.timeline import Moment, time_maker
from mcp_sim.generate.times import sense
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import main_type

_REACH = 100
"""How far numbers go from a bound that stands alone, outside what the name promises."""

_WHOLE = {"JPY": 150, "KRW": 1300, "HUF": 380, "ISK": 140}
"""Currencies without cents, and about how many of them make what a dollar or a euro does."""

_FEW = 20
"""A range of fewer steps than these is divided anew."""


def number_maker(entity: str, name: str, schema: Record, currency: str = "") -> Make:
    """The maker of a number field; `currency` is what most amounts of the world are in."""
    whole = main_type(schema) == "integer"
    if sense(name, schema):
        timed = time_maker(name, schema)
        return lambda chance, record, moment: _within(timed(chance, record, moment), schema)
    usual = number_meaning(name, whole=whole, noun=entity.rpartition(".")[2])
    low, high = bounds(schema)
    found = usual.within(low, high) or _beyond(low, high, usual)
    step = _step(schema, whole=whole)
    draw = _stepped(found, step) if step is not None else _free(found)
    if usual.price and currency in _WHOLE and low is high is None and step is None:
        return _in_coins(draw, currency)
    return lambda chance, _record, _moment: draw(chance)


def _in_coins(draw: Callable[[Chance], Json], currency: str) -> Make:
    """Amounts of a currency without cents, unless the record says that it is in another one."""
    worth = _WHOLE[currency]

    def make(chance: Chance, record: Record, _moment: Moment) -> Json:
        value = draw(chance)
        told: Json = record.get("currency")
        return value if isinstance(told, str) and told not in _WHOLE else int(value * worth / 10) * 10

    return make


def bounds(schema: Record) -> tuple[float | None, float | None]:
    """The least and the largest number that is allowed; None where there is no end."""
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
    """A range at the bounds, where what is usual lies outside of them."""
    least = low if low is not None else (high or 0) - _REACH
    most = high if high is not None else least + _REACH
    return Range(least, max(least, most), usual.step, usual.small)


def _step(schema: Record, *, whole: bool) -> Fraction | None:
    """What every value must be a multiple of; None where there is no such number."""
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
        value = priced(value, chance) if found.price else round(value, 9)
        return min(max(round(value, 2) if found.price else value, found.low), found.high)

    return draw


def _within(value: Json, schema: Record) -> Json:
    low, high = bounds(schema)
    value = value if low is None or value >= low else math.ceil(low)
    return value if high is None or value <= high else math.floor(high)
