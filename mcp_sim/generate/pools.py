"""Which names do the people and places of a country have? Drawn once per locale from a library, always the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

_SEED = 1
_FIRST, _LAST, _PLACES = 260, 600, 300
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Pool:
    """Names to choose from. Family names go with the given names of the same index: women's, men's."""

    given: tuple[tuple[str, ...], tuple[str, ...]]
    family: tuple[tuple[str, ...], tuple[str, ...]]
    cities: tuple[str, ...]
    streets: tuple[str, ...]
    postal_codes: tuple[str, ...]


@lru_cache(maxsize=64)
def pool(locale: str) -> Pool:
    """The names of one locale."""
    from mimesis import Address, Gender, Locale, Person  # noqa: PLC0415 (60 ms, once a world is generated)

    person, address = Person(Locale(locale), seed=_SEED), Address(Locale(locale), seed=_SEED)
    sexes = Gender.FEMALE, Gender.MALE
    women, men = (_drawn(lambda one=one: person.first_name(one), _FIRST) for one in sexes)
    hers, his = (_drawn(lambda one=one: person.last_name(one), _LAST) for one in sexes)
    cities, streets = _drawn(address.city, _PLACES), _drawn(address.address, _PLACES)
    return Pool((women, men), (hers, his), cities, streets, _drawn(address.postal_code, _PLACES))


def _drawn(draw: Callable[[], str], wanted: int) -> tuple[str, ...]:
    """Different values, as many as wanted, or as there are."""
    found: dict[str, None] = {}
    for _ in range(wanted * _TRIES):
        found[draw()] = None
        if len(found) == wanted:
            break
    return tuple(found)
