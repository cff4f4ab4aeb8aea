"""What does a tool's name say: which verb, which noun, one or many?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from mcp_sim.infer.verbs import TRANSITIONS, verb_of, verb_place
from mcp_sim.types.lexicon.translations import in_english
from mcp_sim.types.lexicon.words import is_plural, singular_phrase, vocabulary, words
from mcp_sim.types.plans import Verb

Words: TypeAlias = "tuple[str, ...]"

_FILLERS = vocabulary(
    "a all an any available the my our current existing every given latest most new newest oldest earliest one random "
    "recent single specific"
)
_ONE_OF_A_KIND = frozenset({"current", "my"})
_BATCH = frozenset({"batch", "bulk", "many", "multi", "multiple"})
_AGAIN = frozenset({"do", "please", "then"})
_PREPOSITIONS = vocabulary("as at by for from in into inside of on to under using via with within")
_NOISE = vocabulary("detail details info information metadata record records exists existence")
_PLURAL_NOISE = frozenset({"list", "lists", "history"})


@dataclass(frozen=True, slots=True)
class Reading:
    """What a name says. `noun` is the noun phrase in the singular, `after` the words behind a preposition.

    `status` is the state that a verb like `close` leads to. `sure` is False for verbs that mean other things elsewhere.
    `said` is the verb that the description begins with; `told` says that the verb is that one, the name has none.
    A `deed` is a verb of the name that is done to no record. `implied`: only descriptions tell the noun.
    """

    verb: Verb
    noun: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    word: str = ""
    plural: bool = False
    sure: bool = False
    first: bool = True
    batch: bool = False
    one_of_a_kind: bool = False
    status: str | None = None
    said: str = ""
    told: bool = False
    deed: str = ""
    implied: bool = False


def read(parts: tuple[str, ...]) -> Reading:
    """The reading of the words of one name."""
    if len(parts) > 2 and parts[0] in _BATCH | _AGAIN:
        return replace(read(parts[1:]), batch=parts[0] in _BATCH)
    parts = parts if verb_place(parts) is not None else in_english(parts)
    place = verb_place(parts)
    if place is None:
        return _noun_only(parts)
    word = parts[place]
    rest = parts[place + 1 :] if place == 0 else parts[:place]
    noun, after, plural, batch, special = noun_phrase(rest)
    verb, sure = verb_of(word)
    if verb == "get" and plural:
        verb = "list"
    if verb == "search" and noun and not plural and after[:1] == ("by",):
        verb = "get"
    status = TRANSITIONS.get(word)
    joined = "and" in parts or "or" in parts
    return Reading(verb, noun, after, word, plural, sure and not joined, place == 0, batch, special, status)


def noun_phrase(rest: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], bool, bool, bool]:
    """The noun phrase in the singular, what follows a preposition, and whether it is plural, a batch, the only one."""
    cut = next((at for at, word in enumerate(rest) if word in _PREPOSITIONS), len(rest))
    phrase, after = rest[:cut], rest[cut:]
    listed = "all" in phrase or (len(phrase) > 1 and phrase[-1] in _PLURAL_NOISE)
    batch = any(word in _BATCH for word in phrase)
    special = any(word in _ONE_OF_A_KIND for word in phrase) or phrase[:1] == ("next",)
    phrase = phrase[1:] if phrase[:1] == ("next",) and len(phrase) > 1 else phrase
    kept = tuple(word for word in phrase if word not in _FILLERS and word not in _BATCH)
    while len(kept) > 1 and (kept[-1] in _NOISE or kept[-1] in _PLURAL_NOISE):
        kept = kept[:-1]
    plural = listed or bool(kept and is_plural(kept[-1]))
    return words(singular_phrase(kept)), after, plural, batch, special


def _noun_only(parts: tuple[str, ...]) -> Reading:
    noun, after, plural, _, special = noun_phrase(parts)
    return Reading("unknown", noun, after, plural=plural, one_of_a_kind=special)
