"""Convert values between units of measurement."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from mcp_sim.plans.refusal import Refused
from mcp_sim.types.frozen import frozen
from mcp_sim.types.lexicon.english import singular, snake


@frozen
class Unit:
    """A unit: the quantity that it measures, its size in base units, and its zero point in base units."""

    name: str
    measures: str
    size: float
    zero: float = 0.0


def find_unit(name: str) -> Unit | None:
    """Return the unit with this name, symbol or plural; None if it is unknown."""
    known = _units()
    plain = snake(name.replace("°", "").replace("²", "2").replace("³", "3").replace("/", "_per_"))
    each = "_".join(singular(word) for word in plain.split("_"))
    spellings = (plain, plain.replace("_", ""), singular(plain), plain.replace("_per_", "_"), each)
    return next((known[spelling] for spelling in spellings if spelling in known), None)


def convert_unit(value: float, source: str, target: str) -> float:
    """Convert a value to the target unit. Raises `Refused`, which lists the alternatives."""
    first, second = _known(source), _known(target)
    if first.measures != second.measures:
        pair = f"from {source} ({first.measures}) to {target} ({second.measures})"
        listed = ", ".join(_names(first.measures))
        raise Refused("invalid", f"Cannot convert {pair}; units of {first.measures} are {listed}")
    if first.zero == second.zero:
        return float(value) if first == second else value * (first.size / second.size)
    number = (value * first.size + first.zero - second.zero) / second.size
    return round(number, 10)


def _names(measures: str) -> list[str]:
    return [*dict.fromkeys(unit.name for unit in _units().values() if unit.measures == measures)]


def is_convertible(first: str, second: str) -> bool:
    """Return whether two units measure the same quantity."""
    unit, other = find_unit(first), find_unit(second)
    return unit is not None and other is not None and unit.measures == other.measures


def _known(name: str) -> Unit:
    unit = find_unit(name)
    if unit is None:
        measured = dict.fromkeys(known_unit.measures for known_unit in _units().values())
        kinds = "; ".join(f"{kind}: {', '.join(_names(kind)[:8])}" for kind in measured)
        raise Refused("invalid", f"Unknown unit {name!r}. Supported units are {kinds}")
    return unit


@cache
def _units() -> Mapping[str, Unit]:
    """Return the units by spelling. A unit's name is its second spelling if the first is a symbol.

    The file lists quantities, and for each the spellings of its units, their size, and their zero point if it differs.
    """
    units: dict[str, Unit] = {}
    measures = ""
    for line in files("mcp_sim.plans.compute").joinpath("units.txt").read_text(encoding="utf-8").splitlines():
        names, _, amount = line.partition(" = ")
        size, _, zero = amount.partition(" + ")
        if amount:
            spellings = names.split()
            name = spellings[1] if len(spellings) > 1 and len(spellings[0]) <= 4 else spellings[0]
            unit = Unit(name, measures, float(size), float(zero or 0))
            units |= dict.fromkeys((*spellings, *map(snake, spellings)), unit)
        else:
            measures = line
    return units
