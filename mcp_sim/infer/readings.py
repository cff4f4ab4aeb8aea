"""What do the names of a server's tools say, read together and with their descriptions?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from types import MappingProxyType

from mcp_sim.infer.deeds import DEEDS, LOOKING, MAKING, deed_named, first_words, verb_said
from mcp_sim.infer.names import Reading, Words, noun_phrase, read
from mcp_sim.infer.phrasing import marked, spoken_of, verb_first
from mcp_sim.infer.unnamed import with_noun_of_all
from mcp_sim.infer.verbs import MAY_LOOK, NOUNS_TOO, PHRASES, PLAIN, STRONG, TOLD, TRANSITIONS, WEAK, verb_place
from mcp_sim.types.lexicon.translations import in_english, one_noun_each
from mcp_sim.types.lexicon.words import singular, singular_phrase, vocabulary, words
from mcp_sim.types.plans import Verb

_MAKES, _CHANGES = vocabulary("create add insert"), vocabulary("update replace edit modify patch set")

_BOTH = re.compile(
    r"(?:create|add|insert|save|store|set|write)s?(?:/| or )(?:updates?|replaces?|overwrites?|edits?)\b", re.IGNORECASE
)
"""How descriptions begin of tools that make a record or change the one that is there."""


def read_names(names: Iterable[str], told: Mapping[str, str] = MappingProxyType({})) -> dict[str, Reading]:
    """The readings of the tools of one server; first words that most of them share are the server's, not the tool's.

    Unless it is what the tools are about: `task_create`, `task_list` and `task_delete` of a server for tasks. `told`
    are the descriptions: what a name leaves open they may say.
    """
    bare = _in_english({name: words(last_segment(name)) for name in names})
    shared = _shared_beginning([*bare.values()])
    bare = {name: parts[len(shared) :] if parts[: len(shared)] == shared else parts for name, parts in bare.items()}
    bare = verb_first(_noun_first(_with_namespaces({name: _joined(parts) for name, parts in bare.items()})))
    alone = with_noun_of_all({name: marked(read(parts)) for name, parts in bare.items()}, told)
    nouns = {reading.noun for reading in alone.values() if reading.noun and reading.verb != "unknown"}
    listed = {reading.noun for reading in alone.values() if reading.noun and reading.verb == "list"}
    alone = {name: spoken_of(reading, told.get(name, ""), nouns, listed) for name, reading in alone.items()}
    whole = {
        name: _completed(reading, bare[name], verb_said(told.get(name, "")), nouns) for name, reading in alone.items()
    }
    return {name: _with_both(reading, told.get(name, "")) for name, reading in whole.items()}


def _with_both(reading: Reading, description: str) -> Reading:
    """`save`, where its description says that it creates or updates."""
    is_both = reading.verb == "create" and _BOTH.match(first_words(description)) is not None
    return replace(reading, word="upsert") if is_both else reading


def _in_english(bare: Mapping[str, Words]) -> dict[str, Words]:
    """The names, those in which another language says what is done with the verb in English."""
    read_so = {name: in_english(parts) for name, parts in bare.items() if parts and verb_place(parts) is None}
    foreign = {name: parts for name, parts in read_so.items() if parts != bare[name]}
    return {**bare, **one_noun_each(foreign)}


def _joined(parts: Words) -> Words:
    """`turn on` as one word, and `create or update` as `upsert`."""
    if parts[1:2] == ("or",) and {parts[0]} <= _MAKES and {*parts[2:3]} <= _CHANGES:
        return ("upsert", *parts[3:])
    return ("_".join(parts[:2]), *parts[2:]) if parts[:2] in PHRASES else parts


def _noun_first(bare: Mapping[str, Words]) -> dict[str, Words]:
    """`hold_place` beside `hold_list`: a word that may be either is a noun where several verbs follow it."""
    verbs = frozenset({*STRONG, *WEAK, *TRANSITIONS})
    pairs = {(name, parts[0]) for name, parts in bare.items() if len(parts) == 2 and parts[1] in verbs}
    counts = Counter(noun for _, noun in pairs if noun in NOUNS_TOO)
    turned = {name for name, noun in pairs if counts[noun] > 1}
    return {name: (parts[1], parts[0]) if name in turned else parts for name, parts in bare.items()}


def _with_namespaces(bare: Mapping[str, Words]) -> dict[str, Words]:
    """`courses.list` and `grades.set` speak of courses and grades, where there are several such namespaces.

    So does a single one, where its names say nothing else: `notes.add`, `notes.list` and `notes.search`.
    """
    spaces = {name: words(_segments(name)[-2]) for name in bare if len(_segments(name)) > 1}
    alone = [name for name in spaces if len(bare[name]) == 1 and read(bare[name]).verb != "unknown"]
    if len({*spaces.values()}) < 2 and (len(alone) < 2 or len(alone) < len(bare)):
        return dict(bare)
    return {
        name: _about(parts, spaces[name]) if name in spaces and not read(parts).noun else parts
        for name, parts in bare.items()
    }


def _about(parts: Words, space: Words) -> Words:
    """The words of a name that begins with a verb and says no more, with what its namespace is about."""
    noun = space if read(parts).verb in {"list", "search"} else words(singular_phrase(space))
    return (*parts[:1], *noun, *parts[1:])


def _completed(reading: Reading, parts: Words, said: str, nouns: AbstractSet[Words]) -> Reading:
    """The reading with what the other tools and the description say, where the name alone tells of no verb."""
    if reading.verb != "unknown" or len(parts) == 0:
        return replace(_opened(reading, said), said=said)
    fused = _taken_apart(parts, nouns)
    if fused is not None:
        return replace(read(fused), said=said)
    deed = deed_named(parts, said)
    verb = _verb_elsewhere(parts, said, deed, nouns)
    if verb is None:
        return replace(reading, said=said, deed=deed)
    starts = parts[0] in DEEDS | MAKING | LOOKING and len(parts) > 1
    word, rest = (parts[0], parts[1:]) if starts else (said, parts)
    noun, after, plural, batch, special = noun_phrase(rest)
    if verb == "get" and plural:
        verb = "list"
    return Reading(verb, noun, after, word, plural, batch=batch, one_of_a_kind=special, said=said, told=not starts)


def _opened(reading: Reading, said: str) -> Reading:
    """`open_case` creates one, unless its description begins with `get`."""
    verb = STRONG.get(said)
    if reading.word not in MAY_LOOK or reading.verb != "create" or verb not in {"get", "list", "search"}:
        return reading
    return replace(reading, verb="list" if verb == "get" and reading.plural else verb)


def _taken_apart(parts: Words, nouns: AbstractSet[Words]) -> Words | None:
    """`listprompts`, where other tools speak of prompts."""
    whole = parts[0] if len(parts) == 1 else ""
    verb = next((verb for verb in PLAIN if whole.startswith(verb)), None)
    rest = whole.removeprefix(verb or "")
    return (verb, rest) if verb is not None and (singular(rest),) in nouns else None


def _verb_elsewhere(parts: Words, said: str, deed: str, nouns: AbstractSet[Words]) -> Verb | None:
    """The verb that other tools and the description make of a name without one; None where it stays so."""
    rest = noun_phrase(parts[1:])[0]
    if parts[0] in MAKING and rest in nouns:
        return "create"
    if parts[0] in LOOKING and any(rest[:end] in nouns or rest[-end:] in nouns for end in range(1, len(rest) + 1)):
        return "get"
    return None if deed or parts[0] in LOOKING else STRONG.get(said) or TOLD.get(said)


def last_segment(name: str) -> str:
    """`slack.post_message`, `jira/create_issue`, `mcp__jira__create_issue`: what stands behind the last separator."""
    return _segments(name)[-1] or name


def _segments(name: str) -> list[str]:
    return re.split(r"[./:]|__", name.strip("_./:"))


def _shared_beginning(names: Sequence[Words]) -> Words:
    """The words with which most names begin, which say nothing of what one tool does."""
    shared: Words = ()
    while word := _shared_word(names, shared):
        shared = (*shared, word)
    while shared and not _are_told_apart(names, shared):
        shared = shared[:-1]
    return shared


def _shared_word(names: Sequence[Words], shared: Words) -> str:
    """The word that most names have behind these; none that is a verb, or with which they end."""
    size = len(shared)
    counts = Counter(parts[size] for parts in names if parts[:size] == shared and len(parts) > size + 1)
    word, count = counts.most_common(1)[0] if counts else ("", 0)
    is_verb = word in STRONG or word in WEAK or word in TRANSITIONS
    return word if count >= 3 and count >= 0.6 * len(names) and not is_verb else ""


def _are_told_apart(names: Sequence[Words], shared: Words) -> bool:
    """Do names say more than a verb behind these words, and not all the same?"""
    ends = [parts[len(shared) :] for parts in names if parts[: len(shared)] == shared and len(parts) > len(shared)]
    followers = {singular(parts[0]) for parts in ends}
    return len(followers) > 1 and len({parts[0] for parts in ends if len(parts) == 1} & PLAIN) < 2
