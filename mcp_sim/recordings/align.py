"""Align ids: a server and its simulation give new records different ids, and mean the same ones."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import cast

from mcp_sim.recordings.observed import LONGEST_READ, MOST_READ, TIME, Observed, key_of, normal
from mcp_sim.types import Json, Record, leaves

ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\b[0-9a-f]{7,64}\b|\b\d{8}T\d{9,}\b|\b\d{9,}-\d+\b|\b[A-Za-z][A-Za-z]*[-_#]\d+\b|\b\d{3,}\b"
    r"|\b[A-Za-z]+_(?=[a-f]*\d)[0-9a-f]{6,}\b"
)
"""An id in a text: a UUID, a hash, the time to a fraction of a second, a number or hash behind a prefix, a number."""
_ID_KEY = re.compile(
    r"(^|[_\-])(id|ids|uuid|guid|key|ref|hash|sha|token|cursor|number|num|no|code|slug)$"
    r"|(Id|Ids|Hash|Sha|Key|Uuid|Token)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_SHORT_NUMBER = re.compile(r"\d{1,8}")
_LONGEST_ID = 80  # longer texts are contents, and pairing them by chance would replace them everywhere
_SHORTEST_IN_TEXT = 4
"""The length from which an id is replaced within a longer text. Shorter ids, such as 12, occur in other numbers and
words."""

_MOST_PAIRED = 2_000
"""How many items of two lists are paired by shared values. Pairs are compared one by one, in quadratic time."""

_MOST_COMPARED = 50  # how many items are compared with another one, and how many values of each

IsKnown = Callable[[str], bool]


def is_id(key: str, value: Json) -> bool:
    """Whether a value is an id, by its key or its form."""
    if value is None or isinstance(value, bool | dict | list):
        return False
    if _ID_KEY.search(key):
        return True
    if not isinstance(value, str) or len(value) > _LONGEST_ID or TIME.fullmatch(value):
        return False
    return ID.fullmatch(value) is not None and _SHORT_NUMBER.fullmatch(value) is None


def ids_in(value: Json) -> set[str]:
    """Return the ids in a value, also those within texts."""
    ids = set[str]()
    for path, leaf in islice(leaves(value), MOST_READ):
        name = normal(leaf)
        if name is not None and is_id(key_of(path), leaf):
            ids.add(name)
        if isinstance(leaf, str):
            ids.update(_ids_in_text(leaf))
    return ids


class Alignment:
    """The id in the simulation for each id that a recording shows."""

    def __init__(self) -> None:
        self._served: dict[str, Json] = {}
        self._names = set[str]()
        """The ids of the simulation, in their normal form."""
        self._by_word = defaultdict[str, list[str]](list)
        """The recorded ids that can be in a longer text, by their last word; '' for those without one."""

    def __contains__(self, recorded: str) -> bool:
        return recorded in self._served

    def name(self, recorded: str) -> str:
        """Return the normal form of a recorded value as the simulation shows it."""
        served = normal(self._served[recorded]) if recorded in self._served else None
        return recorded if served is None else served

    def recorded(self) -> Iterable[str]:
        """Return the ids of the recording that have one in the simulation."""
        return self._served

    def served(self) -> AbstractSet[str]:
        """Return the ids of the simulation."""
        return self._names

    def translate(self, value: Json, key: str = "") -> Json:
        """Return a recorded value with the ids of the simulation."""
        if isinstance(value, dict):
            return {name: self.translate(inner, name) for name, inner in cast("Record", value).items()}
        if isinstance(value, list):
            return [self.translate(item, key) for item in cast("list[Json]", value)]
        name = normal(value)
        if name in self._served and (isinstance(value, str) or is_id(key, value)):
            # In the type of the recorded id, if it can be.
            served = self._served[name]
            if isinstance(value, str):
                return str(served)
            return int(served) if isinstance(served, str) and served.isdecimal() else served
        return self._translated_text(value) if isinstance(value, str) else value

    def _translated_text(self, text: str) -> str:
        """Return a text with the ids of the simulation in it, the longest first."""
        words = {"", *_WORD.findall(text)}
        within = [name for word in words if word in self._by_word for name in self._by_word[word] if name in text]
        if not within:
            return text
        names = "|".join(re.escape(name) for name in sorted(within, key=len, reverse=True))
        return re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda match: str(self._served[match[0]]), text)

    def add(self, recorded: Observed, served: Observed, is_known: IsKnown) -> None:
        """Pair the new ids of a recorded answer with those at the same places of the answer of the simulation.

        `is_known`: whether a recorded value was known before, so that it cannot be a new id.
        """
        if recorded.is_data and served.is_data:
            self._pair(recorded.value, served.value, "", is_known)
            self._pair_only_ones(recorded.value, served.value, is_known)
        else:
            self._pair_texts(_text_of(recorded), _text_of(served), is_known)

    def _put(self, recorded: str, served: Json) -> None:
        """Note the id of the simulation for a recorded one."""
        if recorded not in self._served and len(recorded) >= _SHORTEST_IN_TEXT:
            self._by_word[next(reversed(_WORD.findall(recorded)), "")].append(recorded)
        self._served[recorded] = served
        self._names.add(self.name(recorded))

    def _pair(self, recorded: Json, served: Json, key: str, is_known: IsKnown) -> None:
        """Pair what two values have at the same paths. Items of lists are paired by shared values."""
        if isinstance(recorded, dict) and isinstance(served, dict):
            others = cast("Record", served)
            for name, value in cast("Record", recorded).items():
                if name in others:
                    self._pair(value, others[name], name, is_known)
        elif isinstance(recorded, list) and isinstance(served, list):
            self._pair_lists(cast("list[Json]", recorded), cast("list[Json]", served), key, is_known)
        elif not isinstance(recorded, dict | list) and not isinstance(served, dict | list):
            name = normal(recorded)
            if name is None or normal(served) is None or name in self._served or is_known(name):
                return
            if is_id(key, recorded):
                self._put(name, served)
            elif isinstance(recorded, str) and isinstance(served, str):
                self._pair_texts(recorded, served, is_known)

    def _pair_lists(self, recorded: Sequence[Json], served: Sequence[Json], key: str, is_known: IsKnown) -> None:
        left = {at: Counter(map(normal, _first_leaves(item))) for at, item in enumerate(served[:_MOST_PAIRED])}
        for at, item in enumerate(recorded[:_MOST_PAIRED]):
            if not left:
                return
            best = next(iter(left))
            if isinstance(item, dict):
                names = map(normal, _first_leaves(item))
                wanted = Counter(None if name is None else self.name(name) for name in names)
                near = islice(left, _MOST_COMPARED)
                best = max(near, key=lambda other: ((wanted & left[other]).total(), -abs(other - at)))
            del left[best]
            self._pair(item, served[best], key, is_known)

    def _pair_only_ones(self, recorded: Json, served: Json, is_known: IsKnown) -> None:
        """Pair a new id with the only one that has the same key elsewhere, or that is new at all."""
        new, other = _ids_by_key(recorded), _ids_by_key(served)
        new = {key: {name: v for name, v in ids.items() if self._is_new(name, is_known)} for key, ids in new.items()}
        for key, ids in new.items():
            if len(ids) == 1 and len(other.get(key, {})) == 1:
                self._put(next(iter(ids)), next(iter(other[key].values())))
        rest = {name for ids in new.values() for name in ids if name not in self._served}
        others = {name: value for ids in other.values() for name, value in ids.items() if not is_known(name)}
        if len(rest) == 1 and len(others) == 1:
            self._put(rest.pop(), others.popitem()[1])

    def _pair_texts(self, recorded: str, served: str, is_known: IsKnown) -> None:
        """Pair the new ids of two texts in their order, those of the same form first."""
        new = [name for name in _ids_in_text(recorded) if self._is_new(name, is_known)]
        others = [name for name in _ids_in_text(served) if name not in self._names and not is_known(name)]
        for name in new:
            alike = [other for other in others if _form(other) == _form(name)]
            alike = alike or (others if len(new) == len(others) else [])
            if alike:
                self._put(name, alike[0])
                others.remove(alike[0])

    def _is_new(self, name: str, is_known: IsKnown) -> bool:
        return name not in self._served and not is_known(name)


def _first_leaves(value: Json) -> Iterator[Json]:
    """Yield the first values of an item of a list: enough to recognise it."""
    return (leaf for _, leaf in islice(leaves(value), _MOST_COMPARED))


def _text_of(observed: Observed) -> str:
    """Return all text of an answer, a line for each value."""
    return "\n".join(str(leaf) for _, leaf in islice(leaves(observed.value), MOST_READ) if leaf is not None)


def _ids_in_text(text: str) -> list[str]:
    return list(dict.fromkeys(ID.findall(TIME.sub(" ", text[:LONGEST_READ]))))


def _ids_by_key(value: Json) -> dict[str, dict[str, Json]]:
    """Return the ids of a value by key and normal form."""
    ids = defaultdict[str, dict[str, Json]](dict)
    for path, leaf in islice(leaves(value), MOST_READ):
        name, key = normal(leaf), key_of(path)
        if name is not None and is_id(key, leaf):
            ids[key][name] = leaf
    return ids


def _form(name: str) -> str:
    """Return an id with placeholders for its digits and hexadecimal parts."""
    return re.sub(r"\d", "9", re.sub(r"[0-9a-f]{4,}", "h", name))
