"""Countries: currency, telephone numbers, company names, and the names of their people and places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, cast

from mcp_sim.generate.shipped_data import load
from mcp_sim.types import Record


@dataclass(frozen=True, slots=True)
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
    return tuple(_locale(entry) for entry in load("countries")["locales"])


def _locale(entry: Record) -> Locale:
    fields: dict[str, Any] = {name: tuple(cast("list[str]", value)) if isinstance(value, list) else value
                     for name, value in entry.items()}  # fmt: skip
    return Locale(**fields)


def usual_locale() -> Locale:
    """Return the default country."""
    return locales()[0]


def locale_of(code: str) -> Locale | None:
    """Return the country of a locale code."""
    return next((locale for locale in locales() if locale.code == code), None)


_SEED = 1
_FIRST, _LAST, _PLACES = 260, 600, 300
_TRIES = 3


@dataclass(frozen=True, slots=True)
class NamePool:
    """Names of one locale. Given and family names come as a pair: women's, men's."""

    given: tuple[tuple[str, ...], tuple[str, ...]]
    family: tuple[tuple[str, ...], tuple[str, ...]]
    cities: tuple[str, ...]
    streets: tuple[str, ...]
    postal_codes: tuple[str, ...]


@lru_cache(maxsize=64)
def name_pool(locale: str) -> NamePool:
    """Return the names of a locale. They are drawn once from a library and are always the same."""
    from mimesis import Address, Gender, Locale, Person  # noqa: PLC0415 (60 ms, once a world is generated)

    person, address = Person(Locale(locale), seed=_SEED), Address(Locale(locale), seed=_SEED)
    sexes = Gender.FEMALE, Gender.MALE
    women, men = (_drawn(lambda one=one: person.first_name(one), _FIRST) for one in sexes)
    hers, his = (_drawn(lambda one=one: person.last_name(one), _LAST) for one in sexes)
    cities, streets = _drawn(address.city, _PLACES), _drawn(address.address, _PLACES)
    return NamePool((women, men), (hers, his), cities, streets, _drawn(address.postal_code, _PLACES))


def _drawn(draw: Callable[[], str], wanted: int) -> tuple[str, ...]:
    """Return distinct values: as many as wanted, or fewer if the library has fewer."""
    found: dict[str, None] = {}
    for _ in range(wanted * _TRIES):
        found[draw()] = None
        if len(found) == wanted:
            break
    return tuple(found)
