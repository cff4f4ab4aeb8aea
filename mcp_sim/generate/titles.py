"""Generate the titles and names of what a search finds. All words of the search occur in each, but not the place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.contacts import slug
from mcp_sim.generate.geography import city_in, known_cities
from mcp_sim.generate.shipped_data import load, word_list
from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.types.domain import Entity
from mcp_sim.types.draws import Draws
from mcp_sim.types.record_kinds.usual_fields import is_person, is_written_work

_WHERE = re.compile(r"\s*\b(?:in|near|around|at|close to|next to)\s+(?P<place>.+)$", re.IGNORECASE)
_TRIES = 4  # bounds the search where a noun has few titles
_USUAL = ("{}", "{} {stem}", "{stem} {}", "The {}", "{} Central", "New {}")


def split_place(words: str) -> tuple[str, str]:
    """Split a search for things at a place: `coffee` and `Amsterdam` for `coffee in Amsterdam`."""
    match = _WHERE.search(words)
    if match is None or not match.start() or city_in(match[0]) is None:
        return words, ""
    return words[: match.start()], match["place"]


def titles_about(words: str, entity: Entity, count: int, draws: Draws) -> list[str]:
    """Return titles or names of records of a kind in which these words occur. A place in them is left out."""
    noun, rule = entity.name, _rule(entity.name)
    topic = split_place(words)[0]
    is_proper = any(word[:1].isupper() for word in topic.split())
    topic = topic if rule is not None else words
    topic = topic[:1].upper() + topic[1:]
    chance = chance_of(draws.seed, "titles", noun, words)
    if rule is None and is_person(noun):
        return _people(topic, count, chance)
    if rule is None and is_written_work(noun):
        titles = word_list("pages", "titles")
        first = chance.below(len(titles))
        return [titles[(first + at) % len(titles)].format(topic) for at in range(count)]
    rule = rule or {"names": _USUAL}
    if "exact" in rule and words.lower() in known_cities():
        make = value_maker(noun, "name", {"type": "string"})
        return _different(lambda: str(make(chance, {}, Moment.unknown())), count)
    templates = rule.get("exact", rule["names"]) if is_proper else rule["names"]  # a proper name comes first
    return [_filled(template, topic, chance) for template in _as_many(templates, count)]


def _as_many(templates: Sequence[str], count: int) -> list[str]:
    whole = [templates[at % len(templates)] for at in range(count)]
    return [f"{template} {at}" if at >= len(templates) else template for at, template in enumerate(whole)]


@cache
def _rule(noun: str) -> dict[str, Any] | None:
    names = (noun, noun.rpartition(".")[2], noun.rsplit("_", 1)[-1])
    return next((rule for name in names for rule in load("titles") if name in rule["nouns"]), None)


def _filled(template: str, topic: str, chance: Chance) -> str:
    stem, stems = "", word_list("words", "company_stems")
    if "stem" in template:
        stem = chance.choice(stems)
    if "<" in template:
        name = slug(topic, "-")
        is_whole = all(word in name for word in topic.lower().split())
        return template.replace("<stem>", stem.lower()).replace("<>", name if is_whole else topic.lower())
    return template.replace("{stem}", stem).replace("{}", topic)


def _people(topic: str, count: int, chance: Chance) -> list[str]:
    """Return different full names: the asked one and double names if it has several parts, else with last names."""
    last, asked = value_maker("person", "last_name", {"type": "string"}), topic.title()
    joint = "-" if len(topic.split()) > 1 else " "
    people = (asked,) if joint == "-" else ()
    return _different(lambda: f"{asked}{joint}{last(chance, {}, Moment.unknown())}", count, *people)


def _different(draw: Callable[[], str], count: int, *known: str) -> list[str]:
    names = dict.fromkeys(known)
    for _ in range(_TRIES * count):
        if len(names) < count:
            names[draw()] = None
    return _as_many([*names], count)
