"""Generate numbers within the bounds and steps of a schema, in the usual range of a field.

The usual range follows from the name of the field, the kind of record and the unit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.places import latitude, longitude
from mcp_sim.generate.schema_constraints import Make
from mcp_sim.generate.setting import Locale, Setting
from mcp_sim.generate.shipped_data import load, rule_for, word_list, word_set
from mcp_sim.generate.time_fields import Moment, time_maker, time_meaning
from mcp_sim.types import Json, Record, frozen
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.translations import noun_in_english

_REACH = 100  # the width of a range with a single bound outside the usual range

_WHOLE = {"JPY": 150, "KRW": 1300, "HUF": 380, "ISK": 140}
"""Currencies without cents, and roughly how many units are worth a dollar or a euro."""

_COORDINATE = re.compile(r"(.*_)?(lat|latitude|lon|lng|long|longitude)")
_NEAR = 20  # of neighbouring multiples, some divide without a remainder in floating point
_FEW = 4  # ranges with fewer steps are divided into smaller ones


def number_maker(entity: str, name: str, schema: Record, setting: Setting) -> Make:
    whole = main_type(schema) == "integer" or snake(name).rsplit("_", 1)[-1] in word_set("nouns", "whole")
    place = None if whole else _coordinate_maker(name, setting.locale)
    make = time_maker(entity, name, schema) if time_meaning(name, schema) else place
    if make is not None:
        return lambda chance, record, moment: within_bounds(make(chance, record, moment), schema)
    limits = (schema.get(word) for word in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"))
    least, most = bounds({**schema, "type": "integer"})
    has_whole = least is None or most is None or least <= most
    if (
        whole
        and has_whole
        and all(limit is None or isinstance(limit, int) or float(limit).is_integer() for limit in limits)
    ):
        schema = {**schema, "type": "integer"}
    noun = entity.rpartition(".")[2]
    whole, description = main_type(schema) == "integer", str(schema.get("description"))
    low, high = bounds(schema)
    usual = usual_range(noun, name, description, whole=whole)
    is_in_cents = "cent" in {_name_and_unit(snake(name))[1], described_unit(description)}
    if whole and high is None and (low or 0) <= 1 < usual.high and is_in_cents:
        draw_amount: Callable[[Chance], Any] = _free(usual_range(noun, name, "", whole=False))
        return lambda chance, _record, _moment: max(1, round(draw_amount(chance) * 100))
    span = usual.within(low, high) or _beyond(low, high, usual)
    step = _step(schema, whole=whole)
    draw = _stepped(span, step) if step is not None else _free(span)
    if usual.price and setting.locale.currency in _WHOLE and low is high is None and step is None:
        worth = _WHOLE[setting.locale.currency]

        def whole_amount(chance: Chance, record: Record, _moment: Moment) -> Json:
            value, currency = draw(chance), record.get("currency")
            has_cents = isinstance(currency, str) and currency not in _WHOLE
            return value if has_cents else int(value * worth / 10) * 10

        return whole_amount
    return lambda chance, _record, _moment: draw(chance)


def is_coordinate(name: str) -> bool:
    """Return whether a field holds a latitude or longitude."""
    return _COORDINATE.fullmatch(snake(name)) is not None


def _coordinate_maker(name: str, locale: Locale) -> Make | None:
    """Return the maker of a latitude or longitude, None for other fields."""
    match = _COORDINATE.fullmatch(snake(name))
    if match is None:
        return None
    if match[2].startswith("lat"):
        return lambda chance, record, _moment: latitude(locale, chance, record)
    others = [f"{match[1] or ''}{other}" for other in ("latitude", "lat")]
    return lambda chance, record, _moment: longitude(
        locale, chance, record, next((record[other] for other in others if other in record), None)
    )


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
    return Range(least, max(least, most), usual.step, usual.small, large=usual.large)


def _step(schema: Record, *, whole: bool) -> Fraction | None:
    """Return the number that every value must be a multiple of, or None."""
    multiple: Json = schema.get("multipleOf")
    if isinstance(multiple, int | float) and multiple > 0:
        step = Fraction(str(multiple))
        return Fraction(step.numerator) if whole else step
    return Fraction(1) if whole else None


def _stepped(span: Range, step: Fraction) -> Callable[[Chance], Json]:
    first = math.ceil(Fraction(str(span.low)) / step)
    usual = max(1, round(Fraction(str(span.step)) / step))
    count = max(1, math.floor(Fraction(str(span.high)) / step) - first + 1)
    last = first + count - 1
    stride = usual if count >= _FEW * usual and first % usual == 0 else 1
    count = -(-count // stride)
    whole = step.denominator == 1

    def draw(chance: Chance) -> Json:
        place = first + stride * min(int(share(chance, span) * count), count - 1)
        return place * step.numerator if whole else _exact_multiple(place, first, last, step)

    return draw


def _exact_multiple(place: int, first: int, last: int, step: Fraction) -> float:
    """Return a multiple near a place that is one for validators that divide floating-point numbers, too."""
    below, above = range(place, max(first, place - _NEAR) - 1, -1), range(place + 1, min(last, place + _NEAR) + 1)
    near = (float(at * step) for at in (*below, *above))
    return next((value for value in near if (value / float(step)).is_integer()), float(place * step))


def _free(span: Range) -> Callable[[Chance], Json]:
    width = span.high - span.low
    step = span.step if width >= _FEW * span.step else width / _FEW
    if not step:
        return lambda _chance: span.low
    count = int(width / step)
    first = math.ceil(span.low / step) if step == span.step else 0
    start = 0.0 if step == span.step else span.low

    def draw(chance: Chance) -> Json:
        value = start + (first + int(share(chance, span) * count)) * step
        value = round_price(value, chance) if span.price else round(value, 9)
        return min(max(round(value, 2) if span.price else value, span.low), span.high)

    return draw


def within_bounds(value: Json, schema: Record) -> Json:
    """Return a number, or the nearest one within the bounds of a schema that is a multiple of its step."""
    low, high = bounds(schema)
    if low is not None and value < low:
        value = math.ceil(low) if high is None or math.ceil(low) <= high else low
    if high is not None and value > high:
        value = math.floor(high) if low is None or math.floor(high) >= low else high
    step = _step(schema, whole=False)
    if step is None or Fraction(str(value)) % step == 0:
        return value
    place = round(Fraction(str(value)) / step)
    first = place - _NEAR if low is None else math.ceil(Fraction(str(low)) / step)
    last = place + _NEAR if high is None else math.floor(Fraction(str(high)) / step)
    multiple = _exact_multiple(min(max(place, first), last), first, last, step)
    return int(multiple) if main_type(schema) == "integer" else multiple


_ENDINGS = (0.0, 0.0, 0.5, 0.95, 0.95, 0.99, 0.99, 0.49, 0.9)
"""Prices end in .95, .99 or whole amounts more often than not."""


def share(chance: Chance, span: Range) -> float:
    """Draw the relative position of a number in its range, from 0 to 1."""
    drawn = chance.unit()
    return drawn**2 if span.small else 1 - drawn**2 if span.large else drawn


def round_price(value: float, chance: Chance) -> float:
    """Round an amount as prices are: large ones often to tens, small ones to endings such as .95."""
    if value >= 1000:
        return float(round(value / 10) * 10) if chance.unit() < 0.5 else round(value, 2)
    return int(value) + chance.choice(_ENDINGS)


# usual ranges ---------------------------------------------------------------------------------------------------------


@frozen
class Range:
    """The usual values of a number field: `low` to `high` in steps.

    `small`: low values are more frequent; `large`: high values are. `price`: amounts end as prices do.
    """

    low: float
    high: float
    step: float
    small: bool = False
    price: bool = False
    large: bool = False

    def within(self, low: float | None, high: float | None) -> Range | None:
        """Return the part of the range within these bounds; None if it is empty."""
        least = self.low if low is None else max(self.low, low)
        most = self.high if high is None else min(self.high, high)
        return replace(self, low=least, high=most) if least <= most else None

    def times(self, factor: float) -> Range:
        """Return the range in another unit; `factor` of them are one of this unit."""
        step = self.step if factor == 1 else 1 if factor > 1 else 0.1
        return replace(self, low=round(self.low * factor, 2), high=round(self.high * factor, 2), step=step)


def usual_range(noun: str, name: str, description: str, *, whole: bool) -> Range:
    """Return the usual range of a number field, by its name, its kind of record, and the unit of its description."""
    name, noun = without_currency(noun_in_english(snake(name))), snake(noun)
    stem, unit = _name_and_unit(name)
    unit = unit or described_unit(description)
    rule = (rule_for("numbers", "ranges", stem, noun) if unit else None) or rule_for("numbers", "ranges", name, noun)
    if rule is None:
        return Range(1, 100, 1, small=True) if whole else Range(0, 1000, 0.01, small=True)
    usual = Range(rule["low"], rule["high"], rule["step"], *(mark in rule for mark in ("small", "price", "large")))
    scaled = usual.times(_factor(rule.get("unit", ""), unit))
    return replace(scaled, step=max(1, round(scaled.step)), price=False) if whole else scaled


def without_currency(name: str) -> str:
    """Return the name of an amount without its currency: `unit_price` of `unit_price_usd`."""
    stem, _, last = name.rpartition("_")
    return stem if stem and last.upper() in _currencies() else name


@cache
def _currencies() -> frozenset[str]:
    return frozenset(
        (*word_list("words", "currencies"), *(entry["currency"] for entry in load("countries")["locales"]))
    )


def unit_of(entity: str, name: str, description: str) -> float | None:
    """Return how many seconds the unit of a field has, None if it measures something else."""
    sizes, own = load("units")["sizes"]["time"], snake(name)
    unit = _units().get(own) or _name_and_unit(own)[1] or described_unit(description)
    rule = rule_for("numbers", "ranges", _name_and_unit(own)[0], snake(entity.rpartition(".")[2])) or {}
    return sizes.get(unit or rule.get("unit", ""))


def _factor(usual: str, unit: str) -> float:
    """Return how many of a unit are one of the usual unit; 1 if they do not measure the same."""
    for sizes in load("units")["sizes"].values():
        if usual in sizes and unit in sizes:
            return sizes[usual] / sizes[unit]
    return 1


@cache
def _units() -> dict[str, str]:
    """Return the units, by each of their names."""
    return {name: unit for unit, names in load("units")["names"].items() for name in (unit, *names)}


def _name_and_unit(name: str) -> tuple[str, str]:
    """Split the unit off a field's name: `distance` and `m` for `distance_in_meters`."""
    stem, _, last = name.rpartition("_")
    is_unit = stem and last in _units() and not stem.endswith("_per")  # `hours_per_week` are hours
    return (stem.removesuffix("_in"), _units()[last]) if is_unit else (name, "")


@lru_cache(maxsize=4096)
def described_unit(description: str) -> str:
    """Return the unit that a description names: `in meters`, `(kg)`, `amount in cents`."""
    text = description.lower()
    if any(phrase in text for phrase in word_list("units", "cents")):
        return "cent"
    for match in re.finditer(r"(?:\bin |\()([a-z]+)\b", text):
        if match[1] in _units():
            return _units()[match[1]]
    return ""
