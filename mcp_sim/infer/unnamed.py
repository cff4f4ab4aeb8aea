"""What are tools about whose names are verbs alone: `save`, `get`, `list` and `delete` of a store of entries?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from mcp_sim.infer.deeds import first_words
from mcp_sim.infer.names import Reading
from mcp_sim.infer.verbs import verb_meant
from mcp_sim.types.lexicon.words import singular, vocabulary

_READS, _WRITES = frozenset({"get", "list", "search"}), frozenset({"create", "update", "delete"})
_BEFORE = vocabulary(
    "a an the all any one your my its each every new existing single specific given stored saved matching recent more "
    "or and other multiple several available current"
)
_BEHIND = vocabulary(
    "by for from with in into of to that which where when matching using on at as is are if based via whose stored "
    "and or optionally"
)
_LONGEST = 3
"""Words of a noun phrase."""


def with_noun_of_all(readings: Mapping[str, Reading], told: Mapping[str, str]) -> dict[str, Reading]:
    """The readings of a server's tools; those of verbs alone speak of what most of them are described to work on.

    They stay as they are where the descriptions (`told`) do not agree, or tell of no reading and writing.
    """
    bare = {name: one for name, one in readings.items() if not one.noun and one.verb in _READS | _WRITES}
    verbs = {one.verb for one in bare.values()}
    if verbs.isdisjoint(_READS) or verbs.isdisjoint(_WRITES):
        return dict(readings)
    heads = Counter(head for name in bare if (head := _object(told.get(name, ""))))
    noun, times = next(iter(heads.most_common(1)), ("", 0))
    if times < 2:
        return dict(readings)
    return {**readings, **{name: _speaking_of(noun, one) for name, one in bare.items()}}


def _speaking_of(noun: str, reading: Reading) -> Reading:
    return replace(reading, noun=(noun,), plural=reading.verb in {"list", "search"}, implied=True)


def _object(description: str) -> str:
    """What the verb of a description is done to: the `entry` of `Create or update a KB entry by its key`."""
    phrase = [*_phrase(first_words(description))]
    return singular(phrase[-1]) if phrase else ""


def _phrase(text: str) -> Iterator[str]:
    found = 0
    for at, token in enumerate(re.findall(r"[\w'-]+|[^\w\s]", text.lower())):
        if at == 0 or (not found and (token in _BEFORE or verb_meant(token))):
            continue
        if token in _BEHIND or not token[0].isalpha() or found == _LONGEST:
            return
        found += 1
        yield token
