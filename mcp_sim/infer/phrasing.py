"""What do names say that put the verb between two nouns, mark something, or leave out what they are about?"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from mcp_sim.infer.names import Reading, Words, read
from mcp_sim.infer.verbs import NOUNS_TOO, STRONG, TRANSITIONS, WEAK
from mcp_sim.types.lexicon.words import singular, vocabulary, words

_BETWEEN = frozenset({*STRONG, *WEAK, *TRANSITIONS}) - NOUNS_TOO - {"new"}
_TO = vocabulary("to from in into on")
_DONE = vocabulary("done complete completed finished")
_UNDONE = vocabulary("undone incomplete uncompleted unfinished pending open")
_LED_TO = {state: verb for verb, state in reversed(TRANSITIONS.items()) if state.startswith(verb[:2])}
"""Verbs by the state that they lead to: `pay` by `paid`."""


def verb_first(bare: Mapping[str, Words]) -> dict[str, Words]:
    """`card_add_comment` as `add_card_comment`, where other tools speak of cards."""
    alone = (read(parts) for parts in bare.values() if len(parts) == 2)
    nouns = {reading.noun for reading in alone if reading.verb != "unknown"}
    return {name: _turned(parts, nouns) for name, parts in bare.items()}


def _turned(parts: Words, nouns: AbstractSet[Words]) -> Words:
    if len(parts) < 3 or parts[0] in _BETWEEN or (parts[-1] in STRONG and parts[-2] not in _TO):
        return parts
    at = next((at for at in range(1, len(parts) - 1) if parts[at] in _BETWEEN), None)
    if at is None or parts[:at] not in nouns:
        return parts
    return (parts[at], *parts[:at], *parts[at + 1 :])


def marked(reading: Reading) -> Reading:
    """`mark_done` and `mark_task_as_complete` complete something, `mark_incomplete` opens it, `mark_paid` pays it."""
    if reading.word not in {"mark", "set"} or reading.plural:
        return reading
    noun, state = (reading.noun, reading.after[-1:]) if reading.after[:1] == ("as",) else _parted(reading.noun)
    if state and state[0] in _DONE:
        return replace(reading, word="complete", noun=noun, after=(), status="completed")
    if state and state[0] in _UNDONE and reading.word == "mark":
        return replace(reading, word="reopen", noun=noun, after=(), status="open")
    if state and state[0] in _LED_TO and reading.word == "mark":
        return replace(reading, word=_LED_TO[state[0]], noun=noun, after=(), status=state[0])
    return reading


def _parted(noun: Words) -> tuple[Words, Words]:
    return noun[:-1], noun[-1:]


def spoken_of(reading: Reading, description: str, nouns: AbstractSet[Words], listed: AbstractSet[Words]) -> Reading:
    """The reading of a verb alone with what its description is about, where that is one of what other tools name.

    A search of which nothing is said is one of what is listed, where that is one thing.
    """
    if reading.noun or reading.verb not in {"update", "delete", "search"}:
        return reading
    first = {singular(word) for word in words(description.strip().split("\n")[0].lower())}
    is_search = reading.verb == "search"
    found = [noun for noun in (listed if is_search else nouns) if len(noun) == 1 and noun[0] in first]
    found = found or [*(listed if is_search else ())]
    return replace(reading, noun=found[0], plural=is_search) if len(found) == 1 else reading
