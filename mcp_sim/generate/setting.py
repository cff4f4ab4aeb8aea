"""Detect the setting of a world: its country and its trade."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field, replace
from functools import cache, lru_cache

from mcp_sim.generate.locales import Locale, locale_of, locales, usual_locale
from mcp_sim.generate.shipped_data import load, objects
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.lexicon.english import singular, words


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
