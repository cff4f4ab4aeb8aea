"""Usual ranges of number fields, by name, kind of record and unit."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache
from typing import NamedTuple

from mcp_sim.generate.shipped_data import load, word_list
from mcp_sim.types.frozen import frozen
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.translations import noun_in_english


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


class _Rule(NamedTuple):
    nouns: re.Pattern[str] | None
    names: re.Pattern[str]
    unit: str
    usual: Range


@cache
def _rules() -> tuple[_Rule, ...]:
    return tuple(
        _Rule(
            re.compile(f"(.*_)?(?:{rule['of']})") if "of" in rule else None,
            re.compile(rule["field"]),
            rule.get("unit", ""),
            Range(*(rule[name] for name in ("low", "high", "step")), *(name in rule for name in _MARKS)),
        )
        for rule in load("numbers")["ranges"]
    )


_MARKS = ("small", "price", "large")


def usual_range(noun: str, name: str, description: str, *, whole: bool) -> Range:
    """Return the usual range of a number field, by its name, its kind of record, and the unit of its description."""
    name, noun = without_currency(noun_in_english(snake(name))), snake(noun)
    stem, unit = _name_and_unit(name)
    unit = unit or described_unit(description)
    rule = (_rule(noun, stem) if unit else None) or _rule(noun, name)
    if rule is None:
        return Range(1, 100, 1, small=True) if whole else Range(0, 1000, 0.01, small=True)
    scaled = rule.usual.times(_factor(rule.unit, unit))
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


def is_in_cents(name: str, description: str) -> bool:
    """Return whether a number field holds an amount in the smallest unit of a currency."""
    return "cent" in {_name_and_unit(snake(name))[1], described_unit(description)}


def unit_of(entity: str, name: str, description: str) -> float | None:
    """Return how many seconds the unit of a field has, None if it measures something else."""
    sizes, own = load("units")["sizes"]["time"], snake(name)
    unit = _units().get(own) or _name_and_unit(own)[1] or described_unit(description)
    rule = _rule(snake(entity.rpartition(".")[2]), _name_and_unit(own)[0])
    return sizes.get(unit or (rule.unit if rule is not None else ""))


@lru_cache(maxsize=4096)
def _rule(noun: str, name: str) -> _Rule | None:
    for rule in _rules():
        if rule.names.fullmatch(name) and (rule.nouns is None or rule.nouns.fullmatch(noun)):
            return rule
    return None


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
    return (stem.removesuffix("_in"), _units()[last]) if stem and last in _units() else (name, "")


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
