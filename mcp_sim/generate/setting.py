"""Detect the setting of a world: its country, with the names of people and places there, and its trade."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import field, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from mcp_sim.generate.shipped_data import load, objects
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.lexicon.english import singular, words

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
        from mimesis import Gender  # noqa: PLC0415 (60 ms, once a world is generated)

        person, address = _library(locale)
        sexes = Gender.FEMALE, Gender.MALE
        women, men = (_drawn(lambda gender=sex: person.first_name(gender), _FIRST) for sex in sexes)
        hers, his = (_drawn(lambda gender=sex: person.last_name(gender), _LAST) for sex in sexes)
        cities, streets = _drawn(address.city, _PLACES), _drawn(address.address, _PLACES)
        return NamePool((women, men), (hers, his), cities, streets, _drawn(address.postal_code, _PLACES))
    cities = [city for city in load("countries")["cities"] if city["country_code"] == country.country_code]
    streets = tuple(f"{17 * at % 480 + 1} {own['streets'][at % len(own['streets'])]}" for at in range(_PLACES))
    family = tuple(own["family"])
    codes = tuple(f"{city['postal']}01" for city in cities if "postal" in city)
    return NamePool(
        (tuple(own["women"]), tuple(own["men"])), (family, family), tuple(city["name"] for city in cities), streets,
        codes or _drawn(_library(locale)[1].postal_code, _PLACES),
    )  # fmt: skip


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


@frozen
class Theme:
    """A trade. `words` occur in descriptions of it (singular, lower case); `goods` are in the singular.

    `kinds` are categories of goods. `matters` are subjects that people write about, with their article if they have
    one. `firms` are the second words of company names. `entities` are kinds of records that only this trade has.
    """

    name: str
    words: tuple[str, ...]
    goods: tuple[str, ...]
    kinds: tuple[str, ...]
    matters: tuple[str, ...]
    firms: tuple[str, ...]
    entities: tuple[str, ...] = ()


@cache
def themes() -> tuple[Theme, ...]:
    """Return all trades. The first one is used if a description names none."""
    return objects(Theme, load("themes"))


def general_theme() -> Theme:
    """Return the trade of worlds whose description names none."""
    return themes()[0]


_UNSPACED = "\u2e80"
MAX_DESCRIPTION = 4000
"""How many characters of a description are read. Descriptions come from strangers, and patterns are searched in
them."""


@frozen
class Setting:
    """The country and the trade of generated records."""

    locale: Locale = field(default_factory=usual_locale)
    theme: Theme = field(default_factory=general_theme)

    @property
    def usual(self) -> frozenset[str]:
        """Currency, country, language and time zone of most records."""
        home = self.locale
        return frozenset({home.currency, home.country, home.country_code, home.language, home.time_zone})


@cache
def plain_setting() -> Setting:
    """Return the setting of values that belong to no world."""
    return Setting()


def setting_of(domain: Domain) -> Setting:
    """Return the setting of a domain, detected in its description, else in the names of entities and fields."""
    detected = detect_setting(domain.description)
    detected = detected if detected.locale is not usual_locale() else replace(detected, locale=_named_in(domain))
    if detected.theme is not general_theme():
        return detected
    nouns = [word for name in domain.entities for word in (name, *words(name))]
    return Setting(detected.locale, _theme(nouns, with_entities=True))


def _named_in(domain: Domain) -> Locale:
    """Return the country whose script the names of entities and fields are in, the default for Latin script."""
    names = "".join((*domain.entities, *(field for entity in domain.entities.values() for field in entity.fields)))
    return usual_locale() if names.isascii() else _by_script(names) or usual_locale()


@lru_cache(maxsize=64)
def detect_setting(description: str) -> Setting:
    text = description[:MAX_DESCRIPTION]
    return Setting(_locale(text), _theme(re.findall(r"[^\W\d_]+", text.lower())))


def _locale(text: str) -> Locale:
    """Return the country that is named first, else that of the text's script or language."""
    lowered = text.lower()
    named = [
        (match.start(), place)
        for place, locale in enumerate(locales())
        for word in locale.words
        if word in lowered and (match := re.search(rf"(?<!\w){re.escape(word)}(?!\w)", lowered)) is not None
    ]
    return locales()[min(named)[1]] if named else _by_script(text) or _spoken(lowered) or usual_locale()


def _by_script(text: str) -> Locale | None:
    """Return the country of the first script, in the order of the data file, that the text has letters of."""
    scripts = (
        script
        for script in load("countries")["scripts"]
        if any(script["first"] <= sign <= script["last"] for sign in text)
    )
    return next((locale_of(script["code"]) for script in scripts), None)


def _spoken(text: str) -> Locale | None:
    """Return the country of a text's language, judged by function words; None if it is English or unclear."""
    matches = re.findall(r"[^\W\d_]+", text)
    languages: dict[str, list[str]] = load("countries")["function_words"]
    counts = sorted(((sum(word in known for word in matches), code) for code, known in languages.items()), reverse=True)
    (most, code), (second, _) = counts[:2]
    return locale_of(code) if most > max(1, second) else None


def _theme(nouns: Iterable[str], *, with_entities: bool = False) -> Theme:
    """Return the theme with the most matching words; of two with as many, the first."""
    singulars = [singular(word) for word in nouns]

    def matches(word: str, theme: Theme) -> bool:
        """Whether a word is of the theme, or contains one, in a language without spaces."""
        is_unspaced = word[:1] >= _UNSPACED and any(sign in word for sign in theme.words if sign[0] >= _UNSPACED)
        return word in theme.words or is_unspaced or (with_entities and word in theme.entities)

    counts = {theme.name: sum(matches(word, theme) for word in singulars) for theme in themes()[1:]}
    best = max(counts.values(), default=0)
    return next((theme for theme in themes()[1:] if best and counts[theme.name] == best), general_theme())
