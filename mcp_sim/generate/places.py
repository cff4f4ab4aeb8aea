"""Generate cities, postal addresses, coordinates, languages and currencies that fit each other."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.locales import Locale, locales, name_pool
from mcp_sim.generate.setting import Setting
from mcp_sim.generate.shipped_data import load, word_list
from mcp_sim.generate.timeline import Moment
from mcp_sim.types import Json, Record

_AT_HOME = 0.85
_TRIES = 4
_ADDRESS = ("city", "town", "zip_code", "zip", "zipCode", "postal_code", "postcode", "address", "street", "country")
_NAMING = ("city", "town", "location", "address", "Address", "name")
_NEAR = 0.06
"""How many degrees a place is from the centre of its city, at most."""


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
    """Return well-known cities, by name."""
    return {city["name"]: City(**city) for city in load("countries")["cities"]}


@cache
def _cities_of(country_code: str) -> tuple[City, ...]:
    return tuple(city for city in cities().values() if city.country_code == country_code) or tuple(cities().values())


def latitude(locale: Locale, chance: Chance, record: Record) -> float:
    """Return a latitude in the record's city, else in a city of the country."""
    city = _city_of(record) or chance.choice(_cities_of(locale.country_code))
    return round(city.latitude + _NEAR * (2 * chance.unit() - 1), 6)


def longitude(locale: Locale, chance: Chance, record: Record, degrees: Json) -> float:
    """Return a longitude in the record's city, else in the city of this latitude."""
    near = _cities_of(locale.country_code)
    city = _city_of(record)
    if city is None and isinstance(degrees, int | float):
        city = min(near, key=lambda one: abs(one.latitude - degrees))
    return round((city or chance.choice(near)).longitude + _NEAR * (2 * chance.unit() - 1), 6)


def _city_of(record: Record) -> City | None:
    """Return the city that a record names, alone or in its address."""
    texts = [value for name, value in record.items() if isinstance(value, str) and name.endswith(_NAMING)]
    parts = (part for text in texts for part in text.split(", "))
    return next((cities()[part] for part in parts if part in cities()), None)


class Places:
    """Writers of places in one setting. Most are in its own country."""

    def __init__(self, setting: Setting) -> None:
        self._locale = setting.locale
        self._pool = name_pool(setting.locale.code)

    def city(self, chance: Chance, record: Record, _moment: Moment) -> str:
        """Return a city in the record's country, another one than in its other fields."""
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
        found = (chance.choice(names) for _ in range(_TRIES))
        return next((name for name in found if name not in used), names[0])

    def country(self, chance: Chance, record: Record, _moment: Moment) -> str:
        return self._country(chance, record)[1]

    def country_code(self, chance: Chance, record: Record, _moment: Moment) -> str:
        return self._country(chance, record)[0]

    def state(self, chance: Chance, record: Record, moment: Moment) -> str:
        """Return the state of an address, or the status of a record without address."""
        if not any(record.get(name) for name in _ADDRESS):
            return chance.choice(word_list("words", "statuses"))
        city = _city_of(record) or chance.choice(_cities_of(self._locale.country_code))
        return city.state or self.city(chance, record, moment)

    def street(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return chance.choice(self._pool.streets)

    def address(self, chance: Chance, record: Record, moment: Moment) -> str:
        """Return the street alone if the record has a city or postal code, else the whole address."""
        street = chance.choice(self._pool.streets)
        if any(record.get(name) for name in ("city", "town", "postal_code", "postcode", "zip")):
            return street
        return f"{street}, {self._town(chance, {}, moment)}"

    def full_address(self, chance: Chance, record: Record, moment: Moment) -> str:
        """Return street, postal code and city."""
        return f"{chance.choice(self._pool.streets)}, {self._town(chance, record, moment)}"

    def _town(self, chance: Chance, record: Record, moment: Moment) -> str:
        city: Json = record.get("city")
        name = city if isinstance(city, str) else chance.choice(self._pool.cities)
        known = cities().get(name)
        code = self.postal_code(chance, {"city": name}, moment)
        return f"{name}, {known.state} {code}" if known is not None and known.state else f"{code} {name}"

    def postal_code(self, chance: Chance, record: Record, _moment: Moment) -> str:
        city = _city_of(record)
        return (
            f"{city.postal}{chance.below(60):02d}" if city and city.postal else chance.choice(self._pool.postal_codes)
        )

    def currency(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return self._locale.currency if chance.unit() < _AT_HOME else chance.choice(word_list("words", "currencies"))

    def language(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return self._locale.language if chance.unit() < _AT_HOME else chance.choice(word_list("words", "languages"))

    def locale(self, chance: Chance, record: Record, moment: Moment) -> str:
        return f"{self.language(chance, record, moment)}-{self._locale.country_code}"

    def time_zone(self, chance: Chance, record: Record, _moment: Moment) -> str:
        """Return the time zone of the record's city, else mostly that of the country."""
        city = _city_of(record)
        zones = {locale.country_code: locale.time_zone for locale in locales()}
        if city is not None and city.country_code in zones:
            return zones[city.country_code]
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
