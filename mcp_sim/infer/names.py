"""Parsing of a single tool name: its verb, its noun, one record or many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeAlias

from mcp_sim.infer.verbs import NOUNS_TOO, STRONG, TRANSITIONS, WEAK, find_verb, known_verb
from mcp_sim.types.lexicon.english import is_plural, singular, singular_phrase, vocabulary, words
from mcp_sim.types.lexicon.translations import in_english
from mcp_sim.types.plans import Verb

Words: TypeAlias = "tuple[str, ...]"
LONGEST_NOUN = 8
"""The most words of a noun that is looked up inside a longer name, so that long names take linear time."""

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
_INFIX_VERBS = frozenset({*STRONG, *WEAK, *TRANSITIONS}) - NOUNS_TOO - {"new"}
_DIRECTIONS = vocabulary("to from in into on")
_DONE_WORDS = vocabulary("done complete completed finished")
_UNDONE_WORDS = vocabulary("undone incomplete uncompleted unfinished pending open")
_VERB_OF_STATE = {state: verb for verb, state in reversed(TRANSITIONS.items()) if state.startswith(verb[:2])}
"""Verbs by the state that they lead to: `pay` by `paid`."""


@dataclass(frozen=True, slots=True)
class ParsedName:
    """What a tool name says.

    `noun` is the noun phrase in the singular, `after` the words behind a preposition. `status` is the state that a verb
    like `close` leads to. `sure` is False for ambiguous verbs. `described_verb` is the verb that the description begins
    with; with `verb_from_description`, the name has no other. `recordless_verb` is a verb of the name that touches no
    records. `implied`: only descriptions name the noun.
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
    described_verb: str = ""
    verb_from_description: bool = False
    recordless_verb: str = ""
    implied: bool = False


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
    if len(parts) > 2 and parts[0] in _BATCH | _AGAIN:
        return replace(parse_name(parts[1:]), batch=parts[0] in _BATCH)
    parts = parts if find_verb(parts) is not None else in_english(parts)
    place = find_verb(parts)
    if place is None:
        return _parse_noun_only(parts)
    word = parts[place]
    rest = parts[place + 1 :] if place == 0 else parts[:place]
    noun, after, plural, batch, special = parse_noun_phrase(rest)
    verb, sure = known_verb(word)
    if verb == "get" and plural:
        verb = "list"
    if verb == "search" and noun and not plural and after[:1] == ("by",):
        verb = "get"
    status = TRANSITIONS.get(word)
    joined = "and" in parts or "or" in parts
    return ParsedName(verb, noun, after, word, plural, sure and not joined, place == 0, batch, special, status)


def parse_noun_phrase(rest: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...], bool, bool, bool]:
    """Return the singular noun phrase, the words behind a preposition, and three flags.

    The flags are: plural, a batch, the current one.
    """
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


def _parse_noun_only(parts: tuple[str, ...]) -> ParsedName:
    noun, after, plural, _, special = parse_noun_phrase(parts)
    return ParsedName("unknown", noun, after, plural=plural, one_of_a_kind=special)


def put_verb_first(bare: Mapping[str, Words]) -> dict[str, Words]:
    """Turn `card_add_comment` into `add_card_comment`, if other tools mention cards."""
    pairs = (parse_name(parts) for parts in bare.values() if len(parts) == 2)
    nouns = {parsed.noun for parsed in pairs if parsed.verb != "unknown"}
    return {name: _turn_around(parts, nouns) for name, parts in bare.items()}


def _turn_around(parts: Words, nouns: AbstractSet[Words]) -> Words:
    if len(parts) < 3 or parts[0] in _INFIX_VERBS or (parts[-1] in STRONG and parts[-2] not in _DIRECTIONS):
        return parts
    at = next((at for at in range(1, len(parts) - 1) if parts[at] in _INFIX_VERBS), None)
    if at is None or parts[:at] not in nouns:
        return parts
    return (parts[at], *parts[:at], *parts[at + 1 :])


def resolve_mark(parsed: ParsedName) -> ParsedName:
    """Resolve `mark_done` and `mark_task_as_complete` to complete, `mark_incomplete` to reopen, `mark_paid` to pay."""
    if parsed.word not in {"mark", "set"} or parsed.plural:
        return parsed
    noun, state = (parsed.noun, parsed.after[-1:]) if parsed.after[:1] == ("as",) else _split_last(parsed.noun)
    if state and state[0] in _DONE_WORDS:
        return replace(parsed, word="complete", noun=noun, after=(), status="completed")
    if state and state[0] in _UNDONE_WORDS and parsed.word == "mark":
        return replace(parsed, word="reopen", noun=noun, after=(), status="open")
    if state and state[0] in _VERB_OF_STATE and parsed.word == "mark":
        return replace(parsed, word=_VERB_OF_STATE[state[0]], noun=noun, after=(), status=state[0])
    return parsed


def _split_last(noun: Words) -> tuple[Words, Words]:
    return noun[:-1], noun[-1:]


def add_described_noun(
    parsed: ParsedName, description: str, nouns: AbstractSet[Words], listed: AbstractSet[Words]
) -> ParsedName:
    """Add the noun of the description to a name without one, if other tools have that noun.

    A search without a description has the noun of the lists, if there is only one.
    """
    if parsed.noun or parsed.verb not in {"update", "delete", "search"}:
        return parsed
    first = {singular(word) for word in words(description.strip().split("\n")[0].lower())}
    is_search = parsed.verb == "search"
    found = [noun for noun in (listed if is_search else nouns) if len(noun) == 1 and noun[0] in first]
    found = found or [*(listed if is_search else ())]
    return replace(parsed, noun=found[0], plural=is_search) if len(found) == 1 else parsed
