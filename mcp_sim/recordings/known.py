"""The values that the caller of a session has seen so far: in the given state, in arguments, in results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from mcp_sim.recordings.align import Alignment
from mcp_sim.recordings.observed import leaves, normal, values_in
from mcp_sim.types import Json

Source = Literal["state", "argument", "result"]

_LONGEST_DOCUMENT = 4000
"""The length up to which the parts of a given text of several lines are values. In a longer one, words occur in answers
by chance."""


class Seen(NamedTuple):
    """Where a value was seen first."""

    source: Source
    seq: int
    """The number of the call; 0: the given state."""
    is_part: bool
    """Whether it was a part of a longer text."""


class KnownValues:
    """The values of a session by their normal form."""

    def __init__(self, state: Json) -> None:
        self._given = _given.of(state)
        self._seen = dict[str, Seen]()

    def __contains__(self, name: str) -> bool:
        return name in self._seen or name in self._given

    def seen(self, name: str) -> Seen:
        """Return where a known value was seen first."""
        return self._given.get(name) or self._seen[name]

    def learn(self, value: Json, source: Source, seq: int) -> None:
        """Add the values in the arguments or the result of a call."""
        for name, is_part in values_in(value):
            if name not in self._given:
                self._seen.setdefault(name, Seen(source, seq, is_part))

    def facts(self, value: Json) -> Counter[str]:
        """Return how often a recorded value shows each known value."""
        return _facts(value, self.__contains__)

    def served_facts(self, value: Json, alignment: Alignment) -> Counter[str]:
        """Return how often a value of the simulation shows each known value, under the names of the simulation."""
        names = {alignment.name(name) for name in alignment.recorded() if name in self}
        return _facts(value, lambda name: name in names or (name in self and name not in alignment))


def _facts(value: Json, is_known: Callable[[str], bool]) -> Counter[str]:
    """Return the known values in a value. A text that is one as a whole is not searched for others."""
    facts = Counter[str]()
    whole = False
    for name, is_part in values_in(value):
        if not is_part:
            whole = is_known(name)
        if is_known(name) and not (is_part and whole):
            facts[name] += 1
    return facts


class _GivenValues:
    """The values of the given state that was read last: sessions in a row often share it."""

    def __init__(self) -> None:
        self._state: Json = None
        self._values: Mapping[str, Seen] = {}

    def of(self, state: Json) -> Mapping[str, Seen]:
        """Return the values of a state."""
        if state is not self._state:
            self._state, self._values = state, dict.fromkeys(_values_of_state(state), Seen("state", 0, is_part=False))
        return self._values


_given = _GivenValues()


def _values_of_state(state: Json) -> set[str]:
    """Return the values of a state, and the parts of its shorter texts of several lines."""
    values = set[str]()
    for _, leaf in leaves(state):
        is_document = isinstance(leaf, str) and "\n" in leaf and len(leaf) < _LONGEST_DOCUMENT
        name = normal(leaf)
        if is_document:
            values.update(value for value, _ in values_in(leaf))
        elif name is not None:
            values.add(name)
    return values
