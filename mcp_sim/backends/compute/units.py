"""Convert values between units of measurement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from mcp_sim.backends.refusal import Refused
from mcp_sim.types.lexicon.english import singular, snake


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: the quantity that it measures, its size in base units, and its zero point in base units."""

    name: str
    measures: str
    size: float
    zero: float = 0.0


_TABLE = """
length: m meter metre=1; km kilometer kilometre=1000; cm centimeter centimetre=0.01; mm millimeter millimetre=0.001;
 um micrometer micron=1e-6; nm nanometer=1e-9; in inch=0.0254; ft foot=0.3048; yd yard=0.9144; mi mile=1609.344;
 nmi nautical_mile=1852; ly light_year=9.4607304725808e15; au astronomical_unit=149597870700
mass: kg kilogram=1; g gram=0.001; mg milligram=1e-6; ug microgram=1e-9; t tonne metric_ton=1000;
 lb lbs pound=0.45359237; oz ounce=0.028349523125; st stone=6.35029318; ton short_ton=907.18474
volume: l liter litre=1; ml milliliter millilitre=0.001; cl centiliter=0.01; dl deciliter=0.1; m3 cubic_meter=1000;
 cm3 cubic_centimeter=0.001; gal gallon us_gallon=3.785411784; qt quart=0.946352946; pt pint=0.473176473;
 cup=0.2365882365; floz fl_oz fluid_ounce=0.0295735295625; tbsp tablespoon=0.01478676478125;
 tsp teaspoon=0.00492892159375; imperial_gallon=4.54609; bbl barrel=158.987294928
area: m2 sqm square_meter=1; km2 square_kilometer=1e6; cm2 square_centimeter=1e-4; ha hectare=10000;
 acre=4046.8564224; ft2 sqft square_foot square_feet=0.09290304; mi2 square_mile=2589988.110336;
 in2 square_inch=0.00064516; yd2 square_yard=0.83612736
speed: mps m_s meter_per_second=1; kmh km_h kph kilometer_per_hour=0.2777777777777778;
 mph mile_per_hour=0.44704; knot kn=0.5144444444444445; fps foot_per_second=0.3048
time: s sec second=1; ms millisecond=0.001; us microsecond=1e-6; ns nanosecond=1e-9; min minute=60; h hr hour=3600;
 d day=86400; week wk=604800; month=2629746; yr year=31556952
energy: j joule=1; kj kilojoule=1000; cal calorie=4.184; kcal kilocalorie=4184; wh watt_hour=3600;
 kwh kilowatt_hour=3600000; ev electronvolt=1.602176634e-19; btu=1055.05585262
power: w watt=1; kw kilowatt=1000; mw megawatt=1e6; hp horsepower=745.6998715822702
pressure: pa pascal=1; kpa kilopascal=1000; bar=100000; mbar millibar=100; hpa hectopascal=100; psi=6894.757293168361;
 atm atmosphere=101325; mmhg torr=133.322387415
data: b byte=1; bit=0.125; kb kilobyte=1000; mb megabyte=1e6; gb gigabyte=1e9; tb terabyte=1e12; pb petabyte=1e15;
 kib kibibyte=1024; mib mebibyte=1048576; gib gibibyte=1073741824; tib tebibyte=1099511627776
angle: rad radian=1; deg degree=0.017453292519943295; grad gradian=0.015707963267948967; turn=6.283185307179586
force: n newton=1; kn_force kilonewton=1000; lbf pound_force=4.4482216152605; dyn dyne=1e-5
frequency: hz hertz=1; khz kilohertz=1000; mhz megahertz=1e6; ghz gigahertz=1e9; rpm=0.016666666666666666
temperature: k kelvin=1; c celsius centigrade degree_celsius=1@273.15;
 f fahrenheit degree_fahrenheit=0.5555555555555556@255.3722222222222; r rankine=0.5555555555555556
"""


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
    found = (value * first.size + first.zero - second.zero) / second.size
    return round(found, 10)


def _names(measures: str) -> list[str]:
    return [*dict.fromkeys(one.name for one in _units().values() if one.measures == measures)]


def is_convertible(first: str, second: str) -> bool:
    """Return whether two units measure the same quantity."""
    one, other = find_unit(first), find_unit(second)
    return one is not None and other is not None and one.measures == other.measures


def _known(name: str) -> Unit:
    found = find_unit(name)
    if found is None:
        measured = dict.fromkeys(one.measures for one in _units().values())
        kinds = "; ".join(f"{kind}: {', '.join(_names(kind)[:8])}" for kind in measured)
        raise Refused("invalid", f"Unknown unit {name!r}. Supported units are {kinds}")
    return found


@cache
def _units() -> Mapping[str, Unit]:
    """Return the units by spelling. Their name is the second spelling if the first is a symbol."""
    found: dict[str, Unit] = {}
    for line in _TABLE.replace("\n ", " ").strip().splitlines():
        measures, _, entries = line.partition(": ")
        for entry in entries.split(";"):
            names, _, amount = entry.strip().partition("=")
            size, _, zero = amount.partition("@")
            spellings = names.split()
            name = spellings[1] if len(spellings) > 1 and len(spellings[0]) <= 4 else spellings[0]
            unit = Unit(name, measures, float(size), float(zero or 0))
            found |= dict.fromkeys((*spellings, *map(snake, spellings)), unit)
    return found
