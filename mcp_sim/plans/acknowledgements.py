"""Generate acknowledgements of calls whose effect is known by the tool's name only."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from mcp_sim.plans.infer.arguments import OPTIONS
from mcp_sim.plans.infer.names import last_segment, parse_noun_phrase
from mcp_sim.plans.infer.verbs import PHRASES, RECORDLESS_VERBS, classify_verb, find_described_verb, is_verb
from mcp_sim.types import Json, Record
from mcp_sim.types.lexicon.english import participle, plural, snake, words
from mcp_sim.types.lexicon.terms import terms

Acknowledge: TypeAlias = Callable[[Record], str]

_PLAINER = {"get": "retrieve", "init": "initialize", "lookup": "look_up", "exec": "execute", "calc": "calculate"}
_CONFIDENTIAL = terms("arguments.confidential")
_LONGEST = 60
"""The largest number of characters of a repeated value."""


def acknowledgement(name: str, description: str) -> Acknowledge:
    """Return a function that renders what a tool of this name did, and the arguments of the call.

    Secrets, options, and long or structured values are not repeated.
    """
    sentence = _done(words(last_segment(name)), find_described_verb(description))

    def render(arguments: Record) -> str:
        asked = (f"{label(name)}: {_written(value)}" for name, value in arguments.items() if is_repeated(name, value))
        return "\n".join([sentence, *asked])

    return render


def acknowledged_data(name: str, description: str) -> Callable[[Record], Record]:
    """Return a function that confirms a call in data: success, a sentence, and the arguments that answers repeat."""
    sentence = _done(words(last_segment(name)), find_described_verb(description))

    def data(arguments: Record) -> Record:
        repeated = {name: value for name, value in arguments.items() if is_repeated(name, value)}
        return {"success": True, "message": sentence, **repeated}

    return data


def _done(parts: tuple[str, ...], verb_in_description: str) -> str:
    """Return `Table made successfully` for `make_table`, and `Connected to host successfully` for `connect_to_host`."""
    place = verb_place(parts, verb_in_description)
    if place is None:
        return _sentence((*parts, "done"))
    after = place + (2 if parts[place : place + 2] in PHRASES else 1)
    verb = "_".join(parts[place:after])
    rest = parts[after:] or parts[:place]
    phrase = parse_noun_phrase(rest)
    noun = phrase.noun
    place_of_it = () if noun else phrase.after
    subject = (*noun[:-1], plural(noun[-1])) if phrase.plural and noun else noun or (() if place_of_it else rest)
    return _sentence((*subject, participle(_PLAINER.get(verb, verb)), *place_of_it, "successfully"))


def verb_place(parts: tuple[str, ...], verb_in_description: str) -> int | None:
    """Return the position of the verb in the name of a tool, or None."""
    if not parts:
        return None
    if is_verb(parts[0]) or (len(parts) > 1 and (classify_verb(parts[0]) or parts[0] in RECORDLESS_VERBS)):
        return 0
    place = next((at for at, word in enumerate(parts) if is_verb(word) or classify_verb(word)), None)
    return parts.index(verb_in_description) if place is None and verb_in_description in parts else place


def _sentence(parts: Sequence[str]) -> str:
    text = " ".join(parts)
    return text[:1].upper() + text[1:]


def label(name: str) -> str:
    """Return the name of an argument or a field as people write it."""
    return snake(name).replace("_", " ").capitalize()


def is_repeated(name: str, value: Json) -> bool:
    """Return whether an answer repeats an argument: a short value that is neither a secret nor an option."""
    is_secret = (
        snake(name) in OPTIONS or not _CONFIDENTIAL.isdisjoint(words(name)) or re.search("api_?key", snake(name))
    )
    return isinstance(value, str | int | float) and not is_secret and len(str(value)) <= _LONGEST


def _written(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
