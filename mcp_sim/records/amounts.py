"""Which numbers does a field of this name hold: prices that end as prices do, counts, shares, coordinates?"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mcp_sim.records.chance import Chance
from mcp_sim.words import snake

_ENDINGS = (0.0, 0.0, 0.5, 0.95, 0.95, 0.99, 0.99, 0.49, 0.9)


@dataclass(frozen=True, slots=True)
class Range:
    """What a number field usually holds: from `low` to `high` in steps; `small`: low values are more frequent."""

    low: float
    high: float
    step: float
    small: bool = False
    price: bool = False

    def within(self, low: float | None, high: float | None) -> Range | None:
        """The part of the range that keeps to these bounds; None where there is none."""
        least = self.low if low is None else max(self.low, low)
        most = self.high if high is None else min(self.high, high)
        return Range(least, most, self.step, self.small, self.price) if least <= most else None


def number_meaning(name: str, *, whole: bool) -> Range:
    """The range of a number field of this name."""
    name = snake(name)
    for pattern, found in _RANGES:
        if pattern.fullmatch(name):
            return Range(found.low, found.high, max(1, found.step), found.small) if whole else found
    return Range(1, 100, 1, small=True) if whole else Range(0, 1000, 0.01, small=True)


def share(chance: Chance, *, small: bool) -> float:
    """Where in its range a number stands, from 0 to 1."""
    return chance.unit() ** 2 if small else chance.unit()


def priced(value: float, chance: Chance) -> float:
    """The amount as a price tag shows it."""
    if value >= 1000:
        return float(round(value / 10) * 10) if chance.unit() < 0.5 else round(value, 2)
    return int(value) + chance.choice(_ENDINGS)


def _range(low: float, high: float, step: float, marks: str = "") -> Range:
    return Range(low, high, step, "small" in marks, "price" in marks)


_RANGES: tuple[tuple[re.Pattern[str], Range], ...] = tuple(
    (re.compile(pattern), found)
    for pattern, found in (
        (r"(tax|vat)_(rate|percent|percentage)", _range(0, 21, 1)),
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
        (r"(.*_)?(temperature|temp)", _range(-5, 35, 0.1)),
        (r"(.*_)?(priority|level|order|position|rank|index|floor)", _range(1, 5, 1)),
        (r"(.*_)?(version|revision)", _range(1, 6, 1, "small")),
        (r"(.*_)?port", _range(1024, 49151, 1)),
        (r"(.*_)?humidity", _range(30, 95, 1)),
    )
)
