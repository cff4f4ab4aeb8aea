"""How does a tool tell that it did what it was asked, where nothing but its name says what that is?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

from mcp_sim.infer.customary import OPTIONS
from mcp_sim.infer.deeds import DEEDS, is_verb, verb_said
from mcp_sim.infer.names import noun_phrase
from mcp_sim.infer.readings import last_segment
from mcp_sim.infer.verbs import PHRASES, verb_meant
from mcp_sim.types import Json, Record
from mcp_sim.types.lexicon.words import participle, plural, snake, vocabulary, words

Acknowledge: TypeAlias = Callable[[Record], str]

_PLAINER = {"get": "retrieve", "init": "initialize", "lookup": "look_up", "exec": "execute", "calc": "calculate"}
_CONFIDENTIAL = vocabulary("password passphrase passwd secret token credential credentials otp pin")
_LONGEST = 60
"""Letters of a value that is said again."""


def acknowledgement(name: str, description: str) -> Acknowledge:
    """What a tool of this name says: what it did, to what, and what it was asked for in so many words.

    No secret is said again, no option, and nothing that is long or has parts.
    """
    done = _done(words(last_segment(name)), verb_said(description))

    def told(arguments: Record) -> str:
        asked = (f"{_label(name)}: {_written(value)}" for name, value in arguments.items() if _is_told(name, value))
        return "\n".join([done, *asked])

    return told


def _done(parts: tuple[str, ...], said: str) -> str:
    """`Task table generated successfully` for `generate_task_table`; `said` is the verb of the description."""
    place = _place_of_verb(parts, said)
    if place is None:
        return _sentence((*parts, "done"))
    after = place + (2 if parts[place : place + 2] in PHRASES else 1)
    verb = "_".join(parts[place:after])
    noun, _, are_several, _, _ = noun_phrase(parts[after:] or parts[:place])
    named = (*noun[:-1], plural(noun[-1])) if are_several else noun
    return _sentence((*named, participle(_PLAINER.get(verb, verb)), "successfully"))


def _place_of_verb(parts: tuple[str, ...], said: str) -> int | None:
    if is_verb(parts[0]) or (len(parts) > 1 and (verb_meant(parts[0]) or parts[0] in DEEDS)):
        return 0
    found = next((at for at, word in enumerate(parts) if is_verb(word) or verb_meant(word)), None)
    return parts.index(said) if found is None and said in parts else found


def _sentence(parts: Sequence[str]) -> str:
    text = " ".join(parts)
    return text[:1].upper() + text[1:]


def _label(name: str) -> str:
    return snake(name).replace("_", " ").capitalize()


def _is_told(name: str, value: Json) -> bool:
    is_secret = (
        snake(name) in OPTIONS or not _CONFIDENTIAL.isdisjoint(words(name)) or re.search("api_?key", snake(name))
    )
    return isinstance(value, str | int | float) and not is_secret and len(str(value)) <= _LONGEST


def _written(value: Json) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
