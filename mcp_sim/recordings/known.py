"""What a session has shown so far: the values that its caller knows, the ids of a responder, the facts of records."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Literal, NamedTuple

from mcp_sim.recordings.align import ID, Alignment, ids_in, is_id
from mcp_sim.recordings.observed import MOST_READ, Observed, normal, values_in
from mcp_sim.spec.sessions import RecordedCall, Session
from mcp_sim.types import Json, Record
from mcp_sim.types.json_values import leaves, objects_in

Source = Literal["state", "argument", "result"]

_LONGEST_DOCUMENT = 4000
"""The length up to which the parts of a given text of several lines are values. In a longer one, words occur in answers
by chance."""


_OF_A_RECORD = re.compile(r"\s|\d")  # in texts of records rather than in words for states and kinds

_SHORTEST_LEAK = 6  # the length from which a text of another world does not occur in an answer by chance


def data_of(sessions: Iterable[Session]) -> frozenset[str]:
    """Return the texts in given states and arguments that are those of records."""
    given = (
        arguments for session in sessions for arguments in (session.state, *(call.arguments for call in session.calls))
    )
    names = (normal(leaf) for source in given for _, leaf in leaves(source) if isinstance(leaf, str))
    return frozenset(name for name in names if name is not None and _OF_A_RECORD.search(name))


class ForeignData:
    """The data of recorded worlds that a session has no part in."""

    def __init__(self, data: frozenset[str], session: Session) -> None:
        """`data`: that of all recorded worlds, see `data_of`."""
        calls = (given for call in session.calls for given in (call.arguments, call.answer))
        sources = [session.state, *session.tools, *calls]
        values = {name for source in sources for name, _ in values_in(source, with_times=True)}
        self._texts = {name for name in data if len(name) >= _SHORTEST_LEAK and not ID.fullmatch(name)} - values

    def __bool__(self) -> bool:
        return bool(self._texts)

    def shown_by(self, value: Json) -> list[str]:
        """Return the foreign texts in a value."""
        return [name for name in dict.fromkeys(name for name, _ in values_in(value)) if name in self._texts]


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
        if state is not self._state:
            values = set[str]()  # also the parts of its shorter texts of several lines
            for _, leaf in leaves(state):
                is_document = isinstance(leaf, str) and "\n" in leaf and len(leaf) < _LONGEST_DOCUMENT
                name = normal(leaf)
                if is_document:
                    values.update(value for value, _ in values_in(leaf))
                elif name is not None:
                    values.add(name)
            self._state, self._values = state, dict.fromkeys(values, Seen("state", 0, is_part=False))
        return self._values


_given = _GivenValues()


class ReplayIds:
    """The ids of a responder for those that a recorded session has shown so far."""

    def __init__(self, state: Json) -> None:
        self.alignment = Alignment()
        self.known = KnownValues(state)
        self.shown = set[str]()
        """The ids that recorded results have shown."""

    def arguments(self, call: RecordedCall) -> Record:
        """Return the arguments of a call with the ids of the responder."""
        return self.alignment.translate(call.arguments)

    def pair(self, call: RecordedCall, recorded: Observed, served: Observed | None) -> None:
        """Pair the ids that an answer shows first; `served` is None if the responder did not answer."""
        self.known.learn(call.arguments, "argument", call.seq)
        if served is not None and not recorded.is_error and not served.is_error:
            self.alignment.add(recorded, served, self.is_known)

    def is_known(self, name: str) -> bool:
        """Whether a value was known or shown before, so that it cannot be a new id."""
        return name in self.known or name in self.shown

    def learn(self, recorded: Observed, seq: int) -> None:
        """Remember the values and ids of a recorded result, after its ids are paired."""
        if not recorded.is_error:
            self.shown |= {name for name in ids_in(recorded.value) if name not in self.known}
        self.known.learn(recorded.value, "result", seq)


_Place = tuple[str, str]  # the id of a record, and the name of a field


class Fact(NamedTuple):
    """A field of a record that an answer shows again."""

    identity: str
    field: str
    before: str
    """What the simulation showed when the field was last shown."""
    now: str | None
    """What it shows now; None if it does not show the field."""


class ShownFacts:
    """The fields of the records that a session has shown, each with the value in the simulation.

    A record is an object with an id, which differs between recording and simulation.
    """

    def __init__(self) -> None:
        self._shown = dict[_Place, tuple[str, str]]()

    def repeated(self, recorded: Json, served: Json, alignment: Alignment) -> list[Fact]:
        """Return the facts that a recorded answer shows unchanged, and remember those of both answers."""
        facts, ours = list[Fact](), dict(_facts_in(served))
        for (identity, field), value in _facts_in(recorded):
            now = ours.get((alignment.name(identity), field))
            before = self._shown.get((identity, field))
            if before is not None and before[0] == value:
                facts.append(Fact(alignment.name(identity), field, before[1], now))
            if now is not None:
                self._shown[identity, field] = value, now
        return facts


def _facts_in(value: Json) -> Iterator[tuple[_Place, str]]:
    """Yield the fields of the objects with ids in a value, without the ids."""
    for record in islice(objects_in(value), MOST_READ):
        names = ((key, normal(inner)) for key, inner in record.items() if not isinstance(inner, dict | list))
        fields = [(key, name) for key, name in names if name is not None]
        identity = next((name for key, name in fields if is_id(key, record[key])), None)
        if identity is not None:
            yield from (((identity, key), name) for key, name in fields if not is_id(key, record[key]))
