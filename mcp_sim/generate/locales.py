"""Countries: currency, telephone numbers, company names, and the names of their people and places."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from mcp_sim.generate.shipped_data import load, objects
from mcp_sim.types.frozen import frozen

if TYPE_CHECKING:
    from mimesis import Address, Person


@frozen
class Locale:
    """A country. `code` is the locale of the library that generates the names of people and places.

    `areas` are telephone area codes, `forms` endings of company names such as GmbH, `words` the names of the country
    in descriptions (lower case).
    """

    code: str
    country: str
    country_code: str
    currency: str
    calling: str
    language: str
    time_zone: str
    areas: tuple[str, ...]
    forms: tuple[str, ...]
    words: tuple[str, ...]


@cache
def locales() -> tuple[Locale, ...]:
    """Return all countries. The first one is the default."""
    return objects(Locale, load("countries")["locales"])


def usual_locale() -> Locale:
    """Return the default country."""
    return locales()[0]


def locale_of(code: str) -> Locale | None:
    """Return the country of a locale code."""
    return next((locale for locale in locales() if locale.code == code), None)


_SEED = 1  # fixed, so that the pools of names are the same in every world
_FIRST, _LAST, _PLACES = 260, 600, 300
_TRIES = 3  # the library repeats common names


@frozen
class NamePool:
    """Names of one locale. Given and family names come as a pair: women's, men's."""

    given: tuple[tuple[str, ...], tuple[str, ...]]
    family: tuple[tuple[str, ...], tuple[str, ...]]
    cities: tuple[str, ...]
    streets: tuple[str, ...]
    postal_codes: tuple[str, ...]


@lru_cache(maxsize=64)
def name_pool(locale: str) -> NamePool:
    """Return the names of a locale: from the data files, else drawn from a library. They are always the same."""
    country = locale_of(locale) or usual_locale()
    own = next((names for names in load("countries")["names"] if names["language"] == country.language), None)
    if own is None:
        return _drawn_pool(locale)
    cities = [city for city in load("countries")["cities"] if city["country_code"] == country.country_code]
    streets = tuple(f"{17 * at % 480 + 1} {own['streets'][at % len(own['streets'])]}" for at in range(_PLACES))
    family = tuple(own["family"])
    codes = tuple(f"{city['postal']}01" for city in cities if "postal" in city)
    return NamePool(
        (tuple(own["women"]), tuple(own["men"])), (family, family), tuple(city["name"] for city in cities), streets,
        codes or _drawn(_library(locale)[1].postal_code, _PLACES),
    )  # fmt: skip


def _drawn_pool(locale: str) -> NamePool:
    from mimesis import Gender  # noqa: PLC0415 (60 ms, once a world is generated)

    person, address = _library(locale)
    sexes = Gender.FEMALE, Gender.MALE
    women, men = (_drawn(lambda gender=sex: person.first_name(gender), _FIRST) for sex in sexes)
    hers, his = (_drawn(lambda gender=sex: person.last_name(gender), _LAST) for sex in sexes)
    cities, streets = _drawn(address.city, _PLACES), _drawn(address.address, _PLACES)
    return NamePool((women, men), (hers, his), cities, streets, _drawn(address.postal_code, _PLACES))


def _library(locale: str) -> tuple[Person, Address]:
    from mimesis import Address, Locale, Person  # noqa: PLC0415 (60 ms, once a world is generated)

    return Person(Locale(locale), seed=_SEED), Address(Locale(locale), seed=_SEED)


def _drawn(draw: Callable[[], str], wanted: int) -> tuple[str, ...]:
    """Return distinct values: as many as wanted, or fewer if the library has fewer."""
    names: dict[str, None] = {}
    for _ in range(wanted * _TRIES):
        names[draw()] = None
        if len(names) == wanted:
            break
    return tuple(names)
