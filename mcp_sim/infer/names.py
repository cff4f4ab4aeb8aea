"""Parsing of a single tool name: its verb, its noun, one record or many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from mcp_sim.infer.verbs import TRANSITIONS, find_verb, known_verb
from mcp_sim.types.lexicon.english import is_plural, singular_phrase, vocabulary, words
from mcp_sim.types.lexicon.translations import in_english
from mcp_sim.types.plans import Verb

Words: TypeAlias = "tuple[str, ...]"
LONGEST_NOUN = 8
"""The most words of a noun that is looked up inside a longer name, so that long names take linear time."""

_FILLERS = vocabulary(
    "a all an any available the my our current existing every given latest most new newest oldest earliest one random "
    "recent single specific next batch bulk many multi multiple"
)
_ONE_OF_A_KIND = frozenset({"current", "my", "next"})
_BATCH = frozenset({"batch", "bulk", "many", "multi", "multiple"})
_PREPOSITIONS = vocabulary("as at by for from in into inside of on to under using via with within")
_NOISE = vocabulary("detail details info information metadata record records exists existence")
_PLURAL_NOISE = frozenset({"list", "lists", "history"})
_VERB_OF_STATE = (
    {state: verb for verb, state in reversed(TRANSITIONS.items()) if state.startswith(verb[:2])}
    | dict.fromkeys(("done", "complete", "finished"), "complete")
    | dict.fromkeys(("undone", "incomplete", "uncompleted", "unfinished", "pending", "open"), "reopen")
)
"""Verbs by the state that they lead to: `pay` by `paid`."""


@dataclass(frozen=True, slots=True)
class ParsedName:
    """What a tool name says.

    `noun` is the noun phrase in the singular, `after` the words behind a preposition. `status` is the state that a verb
    like `close` leads to. `sure` is False for ambiguous verbs. `described_verb` is the verb that the description begins
    with; with `verb_from_description`, the name has no other. `recordless_verb` is a verb of the name that touches no
    records.
    """

    verb: Verb
    noun: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    word: str = ""
    plural: bool = False
    sure: bool = False
    batch: bool = False
    one_of_a_kind: bool = False
    status: str | None = None
    described_verb: str = ""
    verb_from_description: bool = False
    recordless_verb: str = ""


def noun_spans(size: int) -> Iterator[tuple[int, int]]:
    """Yield the start and the end of the nouns in a phrase of `size` words: by start, the longest first."""
    for start in range(size):
        for end in range(min(start + LONGEST_NOUN, size), start, -1):
            yield start, end


def first_nouns(phrase: Words) -> Iterator[Words]:
    """Yield the nouns that a phrase begins with, without itself, the longest first."""
    return (phrase[:end] for end in range(min(len(phrase) - 1, LONGEST_NOUN), 0, -1))


def last_nouns(phrase: Words) -> Iterator[Words]:
    """Yield the nouns that a phrase ends with, itself included if it is not too long, the longest first."""
    return (phrase[start:] for start in range(max(0, len(phrase) - LONGEST_NOUN), len(phrase)))


def parse_name(parts: tuple[str, ...]) -> ParsedName:
    """Parse the words of one name."""
    if len(parts) > 2 and parts[0] in _BATCH:
        return replace(parse_name(parts[1:]), batch=True)
    parts = parts if find_verb(parts) is not None else in_english(parts)
    place = find_verb(parts)
    return _parse_noun_only(parts) if place is None else _resolve_mark(_parse_with_verb(parts, place))


def _parse_noun_only(parts: Words) -> ParsedName:
    noun, after, plural, _, special = parse_noun_phrase(parts)
    return ParsedName("unknown", noun, after, plural=plural, one_of_a_kind=special)


def _parse_with_verb(parts: Words, place: int) -> ParsedName:
    word = parts[place]
    noun, after, plural, batch, special = parse_noun_phrase(parts[place + 1 :] if place == 0 else parts[:place])
    verb, sure = known_verb(word)
    if verb == "get" and plural:
        verb = "list"
    elif verb == "search" and noun and not plural and after[:1] == ("by",):
        verb = "get"
    joined = "and" in parts or "or" in parts
    return ParsedName(verb, noun, after, word, plural, sure and not joined, batch, special, TRANSITIONS.get(word))


def parse_noun_phrase(rest: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], bool, bool, bool]:
    """Return the singular noun phrase, the words behind a preposition, and three flags.

    The flags are: plural, a batch, the current one.
    """
    cut = next((at for at, word in enumerate(rest) if word in _PREPOSITIONS), len(rest))
    phrase, after = rest[:cut], rest[cut:]
    listed = "all" in phrase or (len(phrase) > 1 and phrase[-1] in _PLURAL_NOISE)
    batch, special = not _BATCH.isdisjoint(phrase), not _ONE_OF_A_KIND.isdisjoint(phrase)
    kept = tuple(word for word in phrase if word not in _FILLERS)
    while len(kept) > 1 and kept[-1] in _NOISE | _PLURAL_NOISE:
        kept = kept[:-1]
    plural = listed or bool(kept and is_plural(kept[-1]))
    return words(singular_phrase(kept)), after, plural, batch, special


def _resolve_mark(parsed: ParsedName) -> ParsedName:
    """Resolve `mark_task_done` to complete, `mark_as_incomplete` to reopen, `mark_paid` to pay."""
    noun, state = (
        (parsed.noun, parsed.after[-1:]) if parsed.after[:1] == ("as",) else (parsed.noun[:-1], parsed.noun[-1:])
    )
    verb = _VERB_OF_STATE.get(state[0]) if state and parsed.word == "mark" else None
    return parsed if verb is None else replace(parsed, word=verb, noun=noun, after=(), status=TRANSITIONS[verb])
