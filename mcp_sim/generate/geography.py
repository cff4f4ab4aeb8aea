"""Look up cities: by their names in a text, by the codes of their airports, and by coordinates."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import chain
from math import asin, cos, radians, sin, sqrt
from typing import NamedTuple, cast

from mcp_sim.generate.shipped_data import load, objects, word_set
from mcp_sim.types import Json, Record
from mcp_sim.types.lexicon.english import snake

_LOCATED = re.compile(r"(?:^|[,;]\s*|\b(?:in|near|around|at|to|from|of)\s+)$", re.IGNORECASE)
"""What stands before the name of a city that is also another word, or that is written in lower case."""

_STREET = r"\s+(?:st|street|rd|road|ave|avenue|lane|drive|way|court|place|square|boulevard|blvd)\b"
"""What follows the name of a city in the name of a street."""

_STATE = re.compile(r",\s*([A-Z]{2})\b")
_AIRPORT = re.compile(r"[A-Z]{3}")
_PLACES = re.compile(r"(.*_)?(city|town|location|place|near|address|formatted_address|region)")
_WHERE = re.compile(r"(.*_)?(lat(itude)?|lon|lng|long(itude)?|radius)")
_SEARCHED = re.compile(r"\b(?:in|near|around|at)\s+(\w.*)", re.IGNORECASE)
_LATITUDE, _LONGITUDE = re.compile(r"(.*_)?lat(itude)?"), re.compile(r"(.*_)?(lon|lng|long)(gitude)?")


class City(NamedTuple):
    """A well-known city. `postal` are the first digits of its postal codes."""

    name: str
    country_code: str
    country: str
    latitude: float
    longitude: float
    state: str = ""
    postal: str = ""


@cache
def cities() -> dict[str, City]:
    """Return the cities that addresses are generated in, by name."""
    return {city.name: city for city in objects(City, load("countries")["cities"])}


@cache
def known_cities() -> dict[str, City]:
    """Return all cities that texts may mention, by each of their names in lower case."""
    known = cities() | {town.name: town for town in objects(City, load("geography")["towns"])}
    others = {name: known[city] for name, city in load("geography")["other_names"].items()}
    return {name.lower(): city for name, city in (known | others).items()}


@cache
def _names() -> re.Pattern[str]:
    longest_first = sorted(known_cities(), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest_first))})(?!\w|{_STREET})", re.IGNORECASE)


@lru_cache(maxsize=4096)
def city_in(text: str) -> City | None:
    """Return the city that a text names: the last one, an airport, or one of the state or country that it names."""
    text = text[:200]
    if _AIRPORT.fullmatch(text):
        return known_cities().get(load("geography")["airports"].get(text, "").lower())
    names = [match[0] for match in _names().finditer(text) if _is_named(match[0], text[: match.start()])]
    if names:
        return known_cities()[names[-1].lower()]
    state = _STATE.search(text)
    of_state = (city for city in cities().values() if state is not None and city.state == state[1])
    of_country = (city for city in known_cities().values() if re.search(rf"\b{re.escape(city.country)}\b", text))
    return next(of_state, None) or next(of_country, None)


def _is_named(name: str, before: str) -> bool:
    is_plain = not name[:1].islower() and name not in word_set("geography", "ambiguous")
    return is_plain or _LOCATED.search(before) is not None


def city_of(record: Record) -> City | None:
    """Return the city that a record names in a field with a place, or that its coordinates are near."""
    texts = [value for name, value in record.items() if isinstance(value, str) and _PLACES.fullmatch(snake(name))]
    name: Json = record.get("name")
    known = (cities().get(piece) for piece in (name.split(", ") if isinstance(name, str) else ()))
    city = next(filter(None, chain(map(city_in, texts), known)), None)
    centre = coordinates(record) if city is None else None
    return nearest_city(*centre) if centre is not None else city


def coordinates(record: Record) -> tuple[float, float] | None:
    """Return the latitude and longitude of a record, if it has both."""

    def number(names: re.Pattern[str]) -> float | None:
        values = (value for name, value in record.items() if names.fullmatch(snake(name)))
        return next((float(value) for value in values if isinstance(value, int | float)), None)

    latitude, longitude = number(_LATITUDE), number(_LONGITUDE)
    return None if latitude is None or longitude is None else (latitude, longitude)


def asked_place(arguments: Record) -> Record:
    """Return where a call looks for something: coordinates and radius, or the city that it is `near`."""
    values = list(arguments.items())
    for argument in arguments.values():
        values += cast("Record", argument).items() if isinstance(argument, dict) else ()
    numbers = {
        name: number for name, number in values if isinstance(number, int | float) and _WHERE.fullmatch(snake(name))
    }
    if coordinates(numbers) is not None:
        return numbers
    city = next(filter(None, (_city_searched(text) for _, text in values if isinstance(text, str))), None)
    return numbers if city is None else {**numbers, "near": city.name}


@lru_cache(maxsize=1024)
def _city_searched(text: str) -> City | None:
    """Return the city that a text is about, or that it searches in: `Amsterdam`, `coffee in Amsterdam`."""
    place = _SEARCHED.search(text[:200])
    return city_in(place[1]) if place is not None else city_in(text) if text.lower() in known_cities() else None


@lru_cache(maxsize=1024)
def nearest_city(latitude: float, longitude: float) -> City:
    """Return the city that is nearest to a point."""

    def distance(city: City) -> float:
        low, high = radians(latitude), radians(city.latitude)
        across = sin(radians(city.longitude - longitude) / 2) ** 2 * cos(low) * cos(high)
        return asin(sqrt(min(1.0, sin((high - low) / 2) ** 2 + across)))

    return min(known_cities().values(), key=distance)


def time_zone_of(city: City, longitude: float | None = None) -> str | None:
    """Return the time zone of a city, or of a place at this longitude near it."""
    zones = load("geography")["zones"].get(city.country_code, [])
    east = city.longitude if longitude is None else longitude
    return next((zone for limit, zone in zones if east <= limit), None)
