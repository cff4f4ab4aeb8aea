"""The facts of records that a session has shown so far, in the recording and in the simulation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from mcp_sim.recordings.align import Alignment, is_id
from mcp_sim.recordings.observed import MOST_READ, normal
from mcp_sim.types import Json
from mcp_sim.types.json_values import objects_in

_Place = tuple[str, str]
"""The id of a record, and the name of a field."""


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
