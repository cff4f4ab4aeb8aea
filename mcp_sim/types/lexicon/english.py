"""English words in names: splitting, singular and plural, participles, and fields with the time of a past event."""

from __future__ import annotations

import re
from functools import lru_cache

from mcp_sim.types.lexicon.terms import table, terms

_CAPITAL, _SMALL = "A-ZÀ-ÖØ-Þ", "a-zß-öø-ÿĀ-ž"
_PARTS = re.compile(
    rf"[{_CAPITAL}]+(?=[{_CAPITAL}][{_SMALL}])|[{_CAPITAL}]?[{_SMALL}]+|[{_CAPITAL}]+|\d+s(?![{_SMALL}])|\d+|[^\W\d_{_CAPITAL}{_SMALL}]+"
)


_IRREGULAR = table("nouns.irregular_plurals")
_PLURAL_OF = {singular: plural for plural, singular in _IRREGULAR.items() if plural != singular}
_ALREADY_SINGULAR = terms("nouns.already_singular")
_PARTICIPLES = table("participles.irregular")
_PREFIX = re.compile(r"^(over|pre|re|un)")
"""Before irregular verbs: `overwrite`, `prepay`, `resend`, `unbind`."""
_DOUBLED = terms("participles.doubled")
_SHORT = re.compile(r"[^aeiou]*[aeiou][bdgklmnprtvz]")
"""Verbs of one short syllable, whose last letter is doubled: `stop`, `plan`, `zip`."""


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    """Split a name: `createPullRequest`, `create-pull-request` and `create_pull_request` are the same three words."""
    return tuple(item.lower() for item in _PARTS.findall(name))


def snake(name: str) -> str:
    """Return the words of a name joined with `_`, to compare names."""
    return "_".join(words(name))


def last_word(name: str) -> str:
    """Return the last word of a name, '' for others, such as `*`."""
    return next(reversed(words(name)), "")


@lru_cache(maxsize=4096)
def singular(noun: str) -> str:
    """Return the singular of a noun in lower case. A singular noun is returned as it is."""
    if noun in _IRREGULAR:
        return _IRREGULAR[noun]
    if noun[:-1].isdecimal() and noun.endswith("s"):
        return noun[:-1]  # `7s` of `thing7s`
    if noun in _ALREADY_SINGULAR or not noun.endswith("s") or len(noun) < 3 or noun.endswith(("ss", "us", "is")):
        return noun
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("sses", "shes", "ches", "xes", "zes")):
        return noun[:-2]
    return noun[:-1]


def is_plural(noun: str) -> bool:
    """Whether the singular of the noun is another word."""
    return singular(noun) != noun


@lru_cache(maxsize=4096)
def plural(noun: str) -> str:
    """Return the plural of a noun in lower case; of words joined with `_`, the last one is changed."""
    head, _, last = noun.rpartition("_")
    if head:
        return f"{head}_{plural(last)}"
    if last in _PLURAL_OF:
        return _PLURAL_OF[last]
    if is_plural(last) or last in _IRREGULAR or not last[-1:].isascii():
        return last  # `series` is both
    if last.endswith("y") and last[-2:-1] not in {"a", "e", "i", "o", "u", ""}:
        return last[:-1] + "ies"
    return last + ("es" if last.endswith(("s", "sh", "ch", "x", "z")) else "s")


def participle(verb: str) -> str:
    """Return the past participle of a verb: `copied` for `copy`, `sent` for `send`, `turned on` for `turn_on`."""
    head, _, rest = verb.partition("_")
    if rest:
        return f"{participle(head)} {rest.replace('_', ' ')}"
    stem = next((stem for stem in (verb, _PREFIX.sub("", verb)) if stem in _PARTICIPLES), None)
    if stem is not None:
        return verb.removesuffix(stem) + _PARTICIPLES[stem]
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in {"a", "e", "i", "o", "u", ""}:
        return f"{verb[:-1]}ied"
    is_doubled = verb in _DOUBLED or _SHORT.fullmatch(verb) is not None
    return f"{verb}{verb[-1]}ed" if is_doubled else f"{verb}ed"


_IDS = frozenset({"id", "gid", "guid", "uid", "uuid"})


def noun_of_id(name: str) -> str:
    """Return what an id identifies: `task` for `task_id` and `task_gid`. '' for other names."""
    return name.rpartition("_")[0] if is_id(name) else ""


def is_id(name: str) -> bool:
    """Whether a name in snake case is that of an id: `id`, `task_id` or `task_gid`."""
    return name.rpartition("_")[2] in _IDS


def singular_phrase(phrase: tuple[str, ...]) -> str:
    """Return the name of the entity that a noun phrase refers to: its last word in the singular."""
    return "_".join((*phrase[:-1], singular(phrase[-1]))) if phrase else ""


_FORM = re.compile(r"(last_|date_)?(.+?)(_at|_on|_date|_time)?")
_NAMED, _BARE, _PLANNED = terms("fields.past"), terms("fields.past_events"), terms("fields.planned")
_PAST_PARTICIPLES = frozenset(past for verb, past in _PARTICIPLES.items() if past != verb) | {"read"}


@lru_cache(maxsize=4096)
def is_past_event(name: str) -> bool:
    """Whether a field holds the time of something that has happened.

    It has a past participle and ends in `at` or `on`, is the last time of something, or is in the lexicon. What may lie
    in the future, such as `scheduled_at`, `due_on` and `expired_at`, does not count.
    """
    name = snake(name)
    match = _FORM.fullmatch(name)
    if name in _NAMED or match is None:
        return name in _NAMED
    first, event, mark = match.groups()
    parts = event.split("_")
    if event in _BARE or not _PLANNED.isdisjoint(parts):
        return event in _BARE
    return mark in ("_at", "_on") and (first == "last_" or any(map(is_participle, parts)))


def is_participle(word: str) -> bool:
    """Whether a word looks like a past participle: `approved`, `sent`."""
    return not _PAST_PARTICIPLES.isdisjoint({word, _PREFIX.sub("", word)}) or (word.endswith("ed") and len(word) > 4)
