"""Where is something: cities with their countries, streets, postal codes?"""

from __future__ import annotations

from mcp_sim.generate import wordlists as w
from mcp_sim.generate.chance import Chance
from mcp_sim.generate.pools import pool
from mcp_sim.generate.setting import Setting
from mcp_sim.generate.timeline import Moment
from mcp_sim.types import Json, Record

_AT_HOME = 0.85
_ABROAD = {city: (code, country) for city, code, country in (place.split(",") for place in w.CITIES)}


class Addresses:
    """Writers of places in one setting: most are in its own country."""

    def __init__(self, setting: Setting) -> None:
        self._locale = setting.locale
        self._pool = pool(setting.locale.code)

    def city(self, chance: Chance, record: Record, _moment: Moment) -> str:
        told: Json = next(
            (record[name] for name in ("country", "country_code", "countryCode") if record.get(name)), None
        )
        names = {self._locale.country, self._locale.country_code}
        if chance.unit() < _AT_HOME if told is None else told in names:
            return chance.choice(self._pool.cities)
        near = [city for city, country in _ABROAD.items() if told in country]
        return chance.choice(near or tuple(_ABROAD))

    def country(self, chance: Chance, record: Record, _moment: Moment) -> str:
        return self._country(chance, record)[1]

    def country_code(self, chance: Chance, record: Record, _moment: Moment) -> str:
        return self._country(chance, record)[0]

    def street(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return chance.choice(self._pool.streets)

    def address(self, chance: Chance, record: Record, _moment: Moment) -> str:
        """The street alone where the record has a city of its own; else all of it."""
        street = chance.choice(self._pool.streets)
        if any(record.get(name) for name in ("city", "town", "postal_code", "postcode", "zip")):
            return street
        return f"{street}, {chance.choice(self._pool.postal_codes)} {chance.choice(self._pool.cities)}"

    def postal_code(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return chance.choice(self._pool.postal_codes)

    def currency(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return self._locale.currency if chance.unit() < _AT_HOME else chance.choice(w.CURRENCIES)

    def language(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return self._locale.language if chance.unit() < _AT_HOME else chance.choice(w.LANGUAGES)

    def locale(self, chance: Chance, record: Record, moment: Moment) -> str:
        return f"{self.language(chance, record, moment)}-{self._locale.country_code}"

    def time_zone(self, chance: Chance, _record: Record, _moment: Moment) -> str:
        return self._locale.time_zone if chance.unit() < _AT_HOME else chance.choice(w.TIME_ZONES)

    def _country(self, chance: Chance, record: Record) -> tuple[str, str]:
        """Code and name of a country: that of the record's city, where it has one."""
        home = (self._locale.country_code, self._locale.country)
        city: Json = record.get("city")
        if isinstance(city, str):
            return _ABROAD.get(city, home)
        return home if chance.unit() < _AT_HOME else _ABROAD[chance.choice(tuple(_ABROAD))]
