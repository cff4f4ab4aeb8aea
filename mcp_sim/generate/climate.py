"""Generate temperatures that fit the place and the season."""

from __future__ import annotations

import re
from math import cos, pi

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.geography import city_of
from mcp_sim.generate.makers import Make
from mcp_sim.generate.timeline import Moment
from mcp_sim.types import Json, Record
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.time_formats import parse_time

_NAME = re.compile(r"(.*_)?(temp|temperature|feels_like|apparent_temperature|dew_point)(_.*)?")
_SHIFTS = ((re.compile(r".*(_min|_low|^low|dew).*|min_.*"), -4.0), (re.compile(r".*(_max|_high|^high).*|max_.*"), 4.0))
_FAHRENHEIT = re.compile(r".*_f|.*fahrenheit")
_IMPERIAL = frozenset({"imperial", "fahrenheit", "f", "us"})
_WARMEST, _DAYS = 200, 365.25
_EQUATOR, _COOLER, _SWING, _SPREAD = 28.0, 0.006, 0.22, 3.0
"""The mean at the equator, how it falls with the square of the latitude, and how much seasons and weather change it."""


def temperature_maker(noun: str, name: str) -> Make | None:
    """Return the maker of a temperature of the air, None for other fields."""
    name = snake(name)
    if not _NAME.fullmatch(name) or not re.search(r"weather|forecast|climate|temperature", snake(noun)):
        return None
    shift = next((value for form, value in _SHIFTS if form.fullmatch(name)), 0.0)

    def make(chance: Chance, record: Record, moment: Moment) -> Json:
        city = city_of(record)
        latitude = 45.0 if city is None else city.latitude
        day = (parse_time(record.get("date")) or moment.now).timetuple().tm_yday
        season = cos(2 * pi * (day - _WARMEST) / _DAYS) * (1 if latitude >= 0 else -1)
        mean = _EQUATOR - _COOLER * latitude**2 + _SWING * abs(latitude) * season
        celsius = mean + shift + _SPREAD * (2 * chance.unit() - 1)
        is_fahrenheit = _FAHRENHEIT.fullmatch(name) or str(record.get("units")).lower() in _IMPERIAL
        return round(celsius * 1.8 + 32 if is_fahrenheit else celsius, 1)

    return make
