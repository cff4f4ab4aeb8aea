"""Verbs of tool names: those of records, and those that touch no records."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import cast

from mcp_sim.types.lexicon.english import participle, words
from mcp_sim.types.lexicon.terms import by_word, groups, table, terms
from mcp_sim.types.lexicon.translations import verb_in_english
from mcp_sim.types.plans import Verb
from mcp_sim.types.tools import WRAPPER

STRONG = cast("Mapping[str, Verb]", by_word("verbs.certain"))
WEAK = cast("Mapping[str, Verb]", by_word("verbs.likely"))
TRANSITIONS = table("verbs.states")
"""States that verbs lead to: `closed` by `close`."""

MARKS = table("verbs.marks")
"""Verbs for states that records are marked with: `complete` for `mark_done`."""

PHRASES = frozenset((verb.partition("_")[0], verb.partition("_")[2]) for verb in terms("verbs.two_words"))
NOUNS_TOO = terms("verbs.nouns_too")
"""Verbs that are nouns before a final verb, and before words like `details`: `file_upload`, `place_details`."""

STATES = (frozenset(TRANSITIONS.values()) | {"pending"}) - NOUNS_TOO
"""States of records that no tool has records of its own for: `open` in `list_open_tasks`."""

QUALIFIERS = STATES | terms("states.qualifying")
"""What names of lists say of their records besides their kind: `overdue` in `list_overdue_invoices`."""

PLAIN_VERBS = terms("verbs.plain")
RETURN_VERBS = terms("verbs.returning")
"""Verbs of descriptions that say what is returned."""

RECORDLESS_VERBS = terms("verbs.recordless")
CREATION_VERBS = terms("verbs.creating")
"""Verbs that create a record, if other tools mention such records."""

_READS = frozenset({"get", "list", "search"})
_SUCCESS, _OUTCOMES = terms("results.call_success"), groups("results.outcomes")
"""Flags of success, and what else than its participle a verb leads to."""

INSPECTION_VERBS = terms("verbs.inspecting")
"""Verbs that read a record, if other tools mention such records."""

DIRECTION = re.compile(r"\b(?:(?P<leaving>from|off|out of)|(?:in|on)?to)\b")
"""What a description says of members: that they leave a record, or join it."""

COUNT = "count"
"""The verb that lists records and shows only their number, if other tools mention such records."""

_OPPOSITES, _REVERSALS, _STATES_AFTER = table("verbs.opposites"), table("verbs.reversals"), groups("states.after")
_WHOLE = terms("verbs.whole")
"""Verbs that only seem to undo another one: `discharge_patient` undoes no charge."""
VERBS_OF_RECORDS = STRONG.keys() | WEAK.keys() | TRANSITIONS.keys()
_KNOWN_VERBS = VERBS_OF_RECORDS.union(
    RETURN_VERBS, RECORDLESS_VERBS, CREATION_VERBS, INSPECTION_VERBS, terms("verbs.emptying")
)
_NOUNS_OF_RECORDLESS = terms("verbs.recordless_nouns")
_ATTRIBUTES = terms("nouns.attributes")
_FINAL_VERBS = terms("verbs.final")
_OPENERS = re.compile(
    r"(?:use this (?:\w+ )?to|this (?:\w+ )?(?:is used to|allows you to|lets you|can be used to|will|tool|function|"
    r"method|endpoint)|(?:a |the )?(?:tool|function) (?:to|for|that)|allows? (?:you|users?|the user) to|lets you|"
    r"used to|useful (?:for|to)|to|please|\w+ly)\s+",
    re.IGNORECASE,
)
_WRITTEN_BY = re.compile(r"(PUT|POST|PATCH|DELETE) /")
"""How importers describe operations about which a document says nothing."""
_LEAST_STEM = 4
"""Number of letters that a verb and its noun share: `rejection` of `reject`, `lock` of `locked`."""
_MAX_PREFIX = 200
"""Number of characters of a description that are searched for its first verb. What a tool does is said first; later
verbs are about other tools."""


def classify_verb(word: str) -> Verb | None:
    """Return the meaning of a verb of records, or None."""
    known = STRONG.get(word) or ("get" if word in RETURN_VERBS else WEAK.get(word))
    return known or ("update" if word in TRANSITIONS else None)


def find_verb(parts: Sequence[str]) -> int | None:
    """Return the position of the verb in a name, or None."""
    if not parts:
        return None
    last = len(parts) - 1
    if last and parts[0] in NOUNS_TOO and parts[-1] in _FINAL_VERBS:
        return last
    if parts[0] in VERBS_OF_RECORDS:
        return 0
    computes = is_verb(parts[0]) and parts[0] in RECORDLESS_VERBS
    weak = NOUNS_TOO if parts[0] in CREATION_VERBS else WEAK if computes else ()
    if last and parts[-1] in VERBS_OF_RECORDS and parts[-1] not in weak:  # `calculate_reserve` reserves nothing
        return last
    is_inside = last > 1 and (parts[-2] in STRONG or (parts[-2] in WEAK and parts[-1] in _ATTRIBUTES))
    return last - 1 if is_inside else None  # `task_set_status`


def find_recordless_verb(parts: Sequence[str], described_verb: str) -> str:
    """Return a verb without records at the beginning or end of a name, or ''.

    At the end it may be a noun: `init_project`.
    """
    first, last = (parts[0], parts[-1]) if parts else ("", "")
    is_last = last in RECORDLESS_VERBS and (last not in _NOUNS_OF_RECORDLESS or last == described_verb)
    return first if first in RECORDLESS_VERBS else last if is_last else ""


def is_verb(word: str) -> bool:
    """Whether a word is known as a verb."""
    return word in _KNOWN_VERBS and word not in _NOUNS_OF_RECORDLESS


def plain_form(word: str) -> str:
    """Return the plain form of a verb: `create` of `creates`. Other words are returned as they are."""
    return next((form for form in _plain_forms(word) if form in _KNOWN_VERBS), word)


def _plain_forms(word: str) -> Iterator[str]:
    """Yield possible plain forms of `creates`, `copies` or `pushes`."""
    yield word
    if word.endswith("s"):
        yield from (word[:-1], word.removesuffix("es"), f"{word.removesuffix('ies')}y")


def undone_verbs(word: str) -> tuple[str, ...]:
    """Return the verbs that a verb may undo: `check_out` for `check_in`, `arm` for `disarm`."""
    prefixes = () if word in _WHOLE else ("un", "dis", "de")
    stems = [word.removeprefix(prefix) for prefix in prefixes if word.startswith(prefix)]
    return (*(pairs[word] for pairs in (_OPPOSITES, _REVERSALS) if word in pairs), *stems)


def reversible_state(word: str) -> str | None:
    """Return the state that one of two verbs leads to which undo each other: `reserved`. None for other verbs."""
    is_one = word in _REVERSALS or word in _REVERSALS.values()
    return next(iter(_states_after(word)), None) if is_one else None


def flag_after(word: str, flags: Container[str]) -> tuple[str, bool] | None:
    """Return the flag that a verb sets, with its value: `armed` and False for `disarm`. None if no flag fits."""
    verbs = [(verb, False) for verb in undone_verbs(word)[: word in _OPPOSITES]] + [(word, True)]
    undoing = [verb for verb, other in _REVERSALS.items() if other == word]
    verbs += [(verb, False) for verb in (*undone_verbs(word), *undoing)]
    states = [(state, value) for verb, value in verbs for state in _states_after(verb)]
    ended = [(state.removeprefix("in"), False) for state in _states_after(word) if state.startswith("in")]
    return next(((state, value) for state, value in (*states, *ended) if state in flags), None)


def success_flags(name: Sequence[str], flags: Iterable[str]) -> list[str]:
    """Return the flags of a result that are true if a call succeeds, by the words in the name of the tool.

    Such are `sent` of `send_alert`, `form_accepted` of `submit_form`, the `success` of any tool, and a whole result.

    Those of a tool that reads or checks, such as `verified`, say what it finds.
    """
    act = name[0] if name else ""
    is_finding = act in RETURN_VERBS | INSPECTION_VERBS or STRONG.get(act) in _READS or WEAK.get(act) in _READS
    meant = _SUCCESS if is_finding else _SUCCESS | {WRAPPER, participle(act), *_OUTCOMES.get(act, ())}
    bare = ((flag, [word for word in words(flag) if word not in {*name[1:], "is", "was"}]) for flag in flags)
    return [flag for flag, parts in bare if "_".join(parts) in meant]


def is_act(word: str, noun: str) -> bool:
    """Whether a noun is that of a verb, or of a state that it leads to: `rejection` or `decline` of `reject`.

    An `assignee` is a person, no assignment.
    """
    if noun != word and noun.endswith(("ee", "er", "or")):
        return False
    stems = {form[:_LEAST_STEM] for form in (word, *_states_after(word)) if len(form) >= _LEAST_STEM}
    return word != "" and noun[:_LEAST_STEM] in stems


def _states_after(verb: str) -> Iterator[str]:
    """Yield the states that a verb may lead to, the most usual first."""
    yield from _STATES_AFTER.get(verb, ())
    yield from (TRANSITIONS.get(verb, ""), participle(verb).replace(" ", "_"))


def change_of_members(word: str, about: str) -> str:
    """Return how a verb changes a list of members, `append` or `remove`.

    It is a usual verb, one like `untag`, or a description says it by a preposition.
    """
    known = table("verbs.entering").get(table("verbs.joining").get(word, word))
    match = DIRECTION.search(about.partition("\n")[0].lower())
    is_leaving = match is not None and match["leaving"] is not None
    return known or ("remove" if word.startswith("un") or is_leaving else "append")


def find_described_verb(about: str) -> str:
    """Return the plain form of the first verb of a description: `retrieve` of `Retrieves all notes`."""
    if _WRITTEN_BY.match(about):
        return ""  # how a request is sent says little about what it does
    first = next(iter(words(skip_opener(about).partition(" ")[0])), "")
    plain = plain_form(first)
    return plain if plain in _KNOWN_VERBS else verb_in_english(first) or first


def skip_opener(about: str) -> str:
    """Return the description from its verb on."""
    text = about[:_MAX_PREFIX].strip()
    while match := _OPENERS.match(text):
        text = text[match.end() :]
    return text
