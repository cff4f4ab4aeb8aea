"""Generate the titles and names of what a search finds. All words of the search occur in each, but not the place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.contacts import slug
from mcp_sim.generate.geography import city_in, known_cities
from mcp_sim.generate.shipped_data import load, word_list
from mcp_sim.generate.timeline import Moment
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
    noun, seed = entity.name, draws.seed
    topic = split_place(words)[0] if _rule(noun) is not None else words
    chance = chance_of(seed, "titles", noun, words)
    topic = topic[:1].upper() + topic[1:]
    if "exact" in (_rule(noun) or {}) and words.lower() in known_cities():
        return _usual_names(noun, count, chance)
    if _rule(noun) is None and is_person(noun):
        return _people(topic, count, chance)
    if _rule(noun) is None and is_written_work(noun):
        titles = word_list("pages", "titles")
        first = chance.below(len(titles))
        return [titles[(first + at) % len(titles)].format(topic) for at in range(count)]
    templates = _templates(noun, words)
    return [_filled(template, topic, chance) for template in _as_many(templates, count)]


def _as_many(templates: Sequence[str], count: int) -> list[str]:
    whole = [templates[at % len(templates)] for at in range(count)]
    return [f"{template} {at}" if at >= len(templates) else template for at, template in enumerate(whole)]


@cache
def _rule(noun: str) -> dict[str, Any] | None:
    names = (noun, noun.rpartition(".")[2], noun.rsplit("_", 1)[-1])
    return next((rule for name in names for rule in load("titles") if name in rule["nouns"]), None)


def _templates(noun: str, words: str) -> Sequence[str]:
    """Return the names of things of a kind; for a proper name, those that begin with it."""
    rule = _rule(noun) or {"names": _USUAL}
    is_proper = any(word[:1].isupper() for word in split_place(words)[0].split())
    return rule.get("exact", rule["names"]) if is_proper else rule["names"]


def _filled(template: str, topic: str, chance: Chance) -> str:
    stem, stems = "", word_list("words", "company_stems")
    if "stem" in template:
        stem = chance.choice(stems)
    if "<" in template:
        name = slug(topic, "-")
        is_whole = all(word in name for word in topic.lower().split())
        return template.replace("<stem>", stem.lower()).replace("<>", name if is_whole else topic.lower())
    return template.replace("{stem}", stem).replace("{}", topic)


def _usual_names(noun: str, count: int, chance: Chance) -> list[str]:
    """Return different names of things of a kind."""
    make, usual_names = value_maker(noun, "name", {"type": "string"}), dict[str, int]()
    for _ in range(_TRIES * count):
        if len(usual_names) < count:
            usual_names[str(make(chance, {}, Moment.unknown()))] = 0
    return _as_many([*usual_names], count)


def _people(topic: str, count: int, chance: Chance) -> list[str]:
    """Return different full names: the asked one and double names if it has several parts, else with last names."""
    last, asked = value_maker("person", "last_name", {"type": "string"}), topic.title()
    joint = "-" if len(topic.split()) > 1 else " "
    people = {asked: 0} if joint == "-" else dict[str, int]()
    for _ in range(_TRIES * count):
        if len(people) < count:
            people[f"{asked}{joint}{last(chance, {}, Moment.unknown())}"] = 0
    return _as_many([*people], count)
