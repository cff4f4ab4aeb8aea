"""Generate numbers within the bounds and steps of a schema, with ranges that fit the field's name."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.makers import Make
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
    for pattern, found in _RANGES:
        if pattern.fullmatch(qualified) or pattern.fullmatch(name):
            return Range(found.low, found.high, max(1, found.step), found.small) if whole else found
    return Range(1, 100, 1, small=True) if whole else Range(0, 1000, 0.01, small=True)


def share(chance: Chance, *, small: bool) -> float:
    """Draw the relative position of a number in its range, from 0 to 1."""
    return chance.unit() ** 2 if small else chance.unit()


def round_price(value: float, chance: Chance) -> float:
    """Round an amount as prices are: large ones often to tens, small ones to endings such as .95."""
    if value >= 1000:
        return float(round(value / 10) * 10) if chance.unit() < 0.5 else round(value, 2)
    return int(value) + chance.choice(_ENDINGS)


def _range(low: float, high: float, step: float, marks: str = "") -> Range:
    return Range(low, high, step, "small" in marks, "price" in marks)


_RANGES: tuple[tuple[re.Pattern[str], Range], ...] = tuple(
    (re.compile(pattern), found)
    for pattern, found in (
        (
            r"(property|listing|house|apartment|home|condo):(price|list_price|value)",
            _range(90_000, 900_000, 5_000, "small"),
        ),
        (r"(vehicle|car|truck|boat|motorcycle):(price|list_price|value)", _range(3_000, 60_000, 100, "small")),
        (r"(aircraft|plane):seats.*", _range(70, 350, 10)),
        (r"(baggage|bag|luggage):.*weight.*", _range(5, 32, 0.1)),
        (r"(person|patient|member|athlete|player):weight.*", _range(45, 110, 0.5)),
        (r"(person|patient|member|athlete|player):height.*", _range(150, 200, 1)),
        (r"(lab_.*|result|measurement|reading|observation|vital):value", _range(0.5, 250, 0.1, "small")),
        (r"(book|novel):(number_of_)?pages?(_count)?", _range(80, 640, 1)),
        (r"(stock|quote|fund|security|crypto|coin):volume", _range(10_000, 9_000_000, 100, "small")),
        (r"hotel:stars|(.*_)?(satisfaction|csat|stars)(_.*)?", _range(1, 5, 1)),
        (r"(tax|vat)_(rate|percent|percentage)", _range(5, 20, 5)),
        (r"(.*_)?change(_percent|_percentage|_pct)?", _range(-5, 5, 0.01)),
        (r"gpa|grade_point_average", _range(1.5, 4, 0.01)),
        (r"(.*_)?(interest|mortgage|annual|savings)_rate|apr|apy|yield", _range(0.5, 9.5, 0.05)),
        (r"(.*_)?(principal|loan_amount|credit_limit|mortgage)", _range(1_000, 250_000, 500, "small")),
        (r"overdraft_limit", _range(0, 2_000, 100)),
        (r"(.*_)?term(_months)?", _range(6, 120, 6)),
        (r"(monthly_)?(payment|instal?ment)(_amount)?", _range(40, 1_500, 0.01, "small")),
        (r"(.*_)?(mileage|odometer)(_.*)?", _range(500, 220_000, 1, "small")),
        (r"(.*_)?(square_feet|sqft|sq_ft)", _range(350, 4_500, 10, "small")),
        (r"(.*_)?(square_meters|square_metres|sqm|area|living_area)(_.*)?", _range(25, 320, 1, "small")),
        (r"(.*_)?bedrooms|rooms", _range(1, 6, 1, "small")),
        (r"(.*_)?bathrooms", _range(1, 3, 1, "small")),
        (r"(.*_)?market_cap(itali[sz]ation)?", _range(10**8, 10**12, 10**6, "small")),
        (
            r"(.*_)?(max_(students|participants|guests|attendees|members|occupancy)|capacity)",
            _range(10, 120, 5, "small"),
        ),
        (r"(.*_)?(enrolled|registered|attendees?|participants?)(_count)?", _range(0, 30, 1)),
        (r"credits|credit_hours|ects", _range(1, 6, 1)),
        (r"servings|portions", _range(1, 8, 1)),
        (r"(.*_)?copies(_.*)?", _range(1, 12, 1, "small")),
        (r"(late_)?(fine|penalty)(_amount)?|late_fee", _range(0, 25, 0.5, "small")),
        (r"(.*_)?(cores|cpus?|vcpus?)(_count)?", _range(2, 32, 2, "small")),
        (r"(memory|ram)(_gb|_size)?", _range(4, 128, 4, "small")),
        (r"(disk|storage)(_gb|_size)?", _range(20, 2_000, 20, "small")),
        (r"nps(_score)?", _range(0, 10, 1)),
        (r"(.*_)?queue(_position|_length)?|position_in_.*", _range(1, 8, 1, "small")),
        (r"(.*_)?beds", _range(4, 36, 2)),
        (r"(.*_)?refills", _range(0, 5, 1)),
        (r"birth_year|year_of_birth|born", _range(1930, 2005, 1)),
        (r"(exp|expiry|expiration)_year", _range(2030, 2034, 1)),
        (
            r"(published|publication|release|founding|founded|built|construction)_year|year_(built|published|founded)|founded",
            _range(1960, 2028, 1),
        ),
        (r"(.*_)?late(_minutes)?|minutes_late", _range(0, 20, 1, "small")),
        (r"reading_time(_.*)?", _range(2, 15, 1)),
        (r"(prep|preparation|cook|cooking|total|baking)_time(_.*)?", _range(5, 90, 5, "small")),
        (r"(.*_)?(views?|plays|followers|subscribers|downloads)(_count)?", _range(0, 40_000, 1, "small")),
        (r"(.*_)?(heart_rate|pulse)", _range(55, 110, 1)),
        (r"(.*_)?systolic(_.*)?", _range(100, 160, 1)),
        (r"(.*_)?diastolic(_.*)?", _range(60, 95, 1)),
        (r"bpm|tempo", _range(70, 180, 1)),
        (r"(.*_)?(reorder_.*|min_stock|safety_stock)", _range(5, 50, 5)),
        (r"(.*_)?(calories|kcal)", _range(80, 900, 10)),
        (r"(.*_)?(protein|carbs|carbohydrates|fat|fiber|sugar)(_g|_grams)?", _range(1, 60, 1, "small")),
        (r"episodes?(_count)?", _range(4, 120, 1, "small")),
        (r"(track|episode|chapter|season|round|lap|grade|grade_level)(_number|_no)?", _range(1, 12, 1)),
        (r"(.*_)?exchange_rate", _range(0.5, 2, 0.0001)),
        (r"(hourly|daily)_(rate|wage|price)", _range(25, 180, 1)),
        (r"(.*_)?(ms|millis|milliseconds|latency|response_time)", _range(5, 900, 1, "small")),
        (r"(.*_)?seconds", _range(20, 600, 5, "small")),
        (r"(.*_)?weight(_.*)?", _range(0.1, 40, 0.1, "small")),
        (r"(.*_)?(month|term)ly_(rent|fee)|rent", _range(400, 3_000, 10, "small")),
        (r"(.*_)?(percent|percentage|progress|completion)", _range(0, 100, 1)),
        (r"(.*_)?discount(_.*)?", _range(0, 30, 5, "small")),
        (r"(.*_)?(price|cost|fee|rate_per_.*|unit_price|shipping)", _range(2, 500, 0.01, "small price")),
        (r"(.*_)?(tax|vat)(_amount)?", _range(1, 400, 0.01, "small")),
        (r"(.*_)?(salary|income)", _range(24_000, 120_000, 100)),
        (
            r"(.*_)?(amount|total|subtotal|value|revenue|budget|balance|spend|spent|credit|limit_amount|paid|due)",
            _range(20, 20_000, 0.01, "small price"),
        ),
        (r"(.*_)?(employee|staff|member|head)s?(_count)?|employees", _range(2, 900, 1, "small")),
        (r"(.*_)?(stock|inventory|on_hand|available)(_.*)?", _range(0, 250, 1, "small")),
        (r"(.*_)?(quantity|qty|units?|guests?|adults|seats)", _range(1, 12, 1, "small")),
        (r"(.*_)?(reserved|children|retries|attempts|errors?)(_.*)?", _range(0, 5, 1, "small")),
        (r"(.*_)?(count|num|views|likes|stars|forks|number_of_.*|num_.*|downloads)", _range(0, 400, 1, "small")),
        (r"(.*_)?age", _range(18, 80, 1)),
        (r"(.*_)?(probability|ratio|confidence|fraction|share)", _range(0, 1, 0.01)),
        (r"(.*_)?rating", _range(1, 5, 0.5)),
        (r"(.*_)?(score|points)", _range(0, 100, 1)),
        (r"(.*_)?(story_points|estimate)", _range(1, 13, 1, "small")),
        (r"(.*_)?(hours|hours_.*)", _range(0.5, 40, 0.5, "small")),
        (r"(.*_)?(lat|latitude)", _range(36, 60, 0.0001)),
        (r"(.*_)?(lon|lng|longitude)", _range(-10, 30, 0.0001)),
        (r"(.*_)?year", _range(2015, 2029, 1)),
        (r"(.*_)?month", _range(1, 12, 1)),
        (r"(.*_)?day", _range(1, 28, 1)),
        (r"(.*_)?(duration|minutes|length|runtime)(_.*)?", _range(5, 180, 5)),
        (r"(.*_)?(days|nights)(_.*)?", _range(1, 30, 1, "small")),
        (r"(.*_)?(size|bytes)", _range(200, 5_000_000, 1, "small")),
        (r"(.*_)?pages?", _range(1, 400, 1, "small")),
        (r"(.*_)?(weight|height|width|depth|distance)(_.*)?", _range(0.5, 200, 0.1, "small")),
        (r"(.*_)?(temperature|temp)(_c|_celsius)?", _range(-5, 35, 0.1)),
        (r"(.*_)?(priority|level|order|position|rank|index|floor)", _range(1, 5, 1)),
        (r"(.*_)?(version|revision)", _range(1, 6, 1, "small")),
        (r"(.*_)?port", _range(1024, 49151, 1)),
        (r"(.*_)?humidity", _range(30, 95, 1)),
    )
)
