"""Look up cities, and generate addresses, coordinates, languages and currencies that fit each other."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from itertools import chain
from math import asin, cos, radians, sin, sqrt
from typing import NamedTuple, cast

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.setting import Locale, NamePool, Setting, locales, name_pool
from mcp_sim.generate.shipped_data import load, objects, word_list, word_set
from mcp_sim.generate.time_fields import Moment
from mcp_sim.types import Json, Record
from mcp_sim.types.lexicon.english import snake

_LOCATED = re.compile(r"(?:^|[,;]\s*|\b(?:in|near|around|at|to|from|of)\s+)$", re.IGNORECASE)
"""What precedes the name of a city that is also another word, or that is written in lower case."""

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


_AT_HOME = 0.85  # most people and shops are in the country of the world; filters by country need others, too
_TRIES = 4  # bounds the search where a locale has few cities
_ADDRESS = ("city", "town", "zip_code", "zip", "zipCode", "postal_code", "postcode", "address", "street", "country")
_NEAR = 0.06  # how many degrees a place is from the centre of its city, at most

_METRES, _INSIDE = 111_000, 0.7
"""The length of a degree, and the share of a radius within which both coordinates of a place lie."""


@cache
def _cities_of(country_code: str) -> tuple[City, ...]:
    return tuple(city for city in cities().values() if city.country_code == country_code) or tuple(cities().values())


def latitude(locale: Locale, chance: Chance, record: Record) -> float:
    """Return a latitude near the record's place, else in a city of the country."""
    centre = coordinates(record)
    city = city_of(record) or chance.choice(_cities_of(locale.country_code))
    north = city.latitude if centre is None else centre[0]
    return round(north + _reach(record) * (2 * chance.unit() - 1), 6)


def longitude(locale: Locale, chance: Chance, record: Record, degrees: Json) -> float:
    """Return a longitude near the record's place, else in the city of this latitude."""
    near = _cities_of(locale.country_code)
    centre, city = coordinates(record), city_of(record)
    if city is None and isinstance(degrees, int | float):
        city = min(near, key=lambda town: abs(town.latitude - degrees))
    east = centre[1] if centre is not None else (city or chance.choice(near)).longitude
    return round(east + _reach(record) * (2 * chance.unit() - 1), 6)


def _reach(record: Record) -> float:
    """Return how many degrees a place may be from the centre: within the radius (in metres) that the record names."""
    radius: Json = record.get("radius")
    return min(_NEAR, radius / _METRES * _INSIDE) if isinstance(radius, int | float) and radius > 0 else _NEAR


@cache
def _code_of(country_code: str) -> str | None:
    """Return the code of the names of a country, or None."""
    return next((locale.code for locale in locales() if locale.country_code == country_code), None)


class Places:
    """Writers of places in one setting. Most are in its own country."""

    def __init__(self, setting: Setting) -> None:
        self._locale = setting.locale
        self._pool = name_pool(setting.locale.code)

    def city(self, chance: Chance, record: Record, _moment: Moment) -> str:
        """Return the city that was asked for, else one in the record's country, not the same as in its other fields."""
        if isinstance(near := record.get("near"), str):
            return near
        country_value: Json = next(
            (record[name] for name in ("country", "country_code", "countryCode") if record.get(name)), None
        )
        names = {self._locale.country, self._locale.country_code}
        if chance.unit() < _AT_HOME if country_value is None else country_value in names:
            return self._another(chance, self._pool.cities, record)
        near = [city.name for city in cities().values() if country_value in {city.country, city.country_code}]
        return self._another(chance, near or tuple(cities()), record)

    @staticmethod
    def _another(chance: Chance, names: list[str] | tuple[str, ...], record: Record) -> str:
        used = [value for value in record.values() if isinstance(value, str)]
        drawn = (chance.choice(names) for _ in range(_TRIES))
        return next((name for name in drawn if name not in used), names[0])

    def country(self, chance: Chance, record: Record, _moment: Moment) -> str:
        return self._country(chance, record)[1]

    def country_code(self, chance: Chance, record: Record, _moment: Moment) -> str:
        return self._country(chance, record)[0]

    def state(self, chance: Chance, record: Record, moment: Moment) -> str:
        """Return the state of an address, or the status of a record without address."""
        if not any(record.get(name) for name in _ADDRESS):
            return chance.choice(word_list("words", "statuses"))
        city = city_of(record) or chance.choice(_cities_of(self._locale.country_code))
        return city.state or self.city(chance, record, moment)

    def street(self, chance: Chance, record: Record, _moment: Moment) -> str:
        return chance.choice(self._pool_of(city_of(record)).streets)

    def address(self, chance: Chance, record: Record, moment: Moment) -> str:
        """Return the street alone if the record has a city or postal code, else the whole address."""
        if any(record.get(name) for name in ("city", "town", "postal_code", "postcode", "zip")):
            return self.street(chance, record, moment)
        return self.full_address(chance, record, moment)

    def full_address(self, chance: Chance, record: Record, moment: Moment) -> str:
        """Return street, postal code and city."""
        return f"{self.street(chance, record, moment)}, {self._town(chance, record, moment)}"

    def _town(self, chance: Chance, record: Record, moment: Moment) -> str:
        given: Json = record.get("city")
        city = city_of(record)
        name = given if isinstance(given, str) else city.name if city is not None else chance.choice(self._pool.cities)
        known = city or cities().get(name)
        code = self.postal_code(chance, {"city": name}, moment)
        return f"{name}, {known.state} {code}" if known is not None and known.state else f"{code} {name}"

    def postal_code(self, chance: Chance, record: Record, _moment: Moment) -> str:
        city = city_of(record)
        if city is not None and city.postal:
            return f"{city.postal}{chance.below(60):02d}"
        return chance.choice(self._pool_of(city).postal_codes)

    def _pool_of(self, city: City | None) -> NamePool:
        """Return the names of the country of a city, else those of the setting."""
        abroad = None if city is None or city.country_code == self._locale.country_code else _code_of(city.country_code)
        return self._pool if abroad is None else name_pool(abroad)

    def airport(self, chance: Chance, record: Record, _moment: Moment) -> str:
        """Return the code of an airport of the record's city, else of any."""
        city, codes = city_of(record), load("geography")["airports"]
        return chance.choice([code for code in codes if city is not None and codes[code] == city.name] or [*codes])

    def home_currency(self, _chance: Chance, _record: Record, _moment: Moment) -> str:
        """Return the currency of all amounts of the world, so that they can be added."""
        return self._locale.currency

    def currency(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return self._locale.currency if chance.unit() < _AT_HOME else chance.choice(word_list("words", "currencies"))

    def language(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return self._locale.language if chance.unit() < _AT_HOME else chance.choice(word_list("words", "languages"))

    def locale(self, chance: Chance, record: Record, moment: Moment) -> str:
        return f"{self.language(chance, record, moment)}-{self._locale.country_code}"

    def time_zone(self, chance: Chance, record: Record, _moment: Moment) -> str:
        """Return the time zone of the record's city, else mostly that of the country."""
        city, centre = city_of(record), coordinates(record)
        zone = time_zone_of(city, None if centre is None else centre[1]) if city is not None else None
        if zone is not None:
            return zone
        return self._locale.time_zone if chance.unit() < _AT_HOME else chance.choice(word_list("words", "time_zones"))

    def _country(self, chance: Chance, record: Record) -> tuple[str, str]:
        """Return code and name of a country: that of the record's city if it has one."""
        home = (self._locale.country_code, self._locale.country)
        city: Json = record.get("city")
        if isinstance(city, str):
            known = cities().get(city)
            return home if known is None else (known.country_code, known.country)
        if chance.unit() < _AT_HOME:
            return home
        abroad = chance.choice(tuple(cities().values()))
        return abroad.country_code, abroad.country
