"""What of a call does the world leave open, and how do a model's values get into its place?

A backend is run twice: once with a `Survey`, which notes each field that it asks for, then with a `Filling`, which
answers with the model's values. Everything else comes out as the world determines it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from mcp_sim.models.language_model.sight import Sight
from mcp_sim.types import Json, Key, Record, Transition, Turn, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Invent

Place = tuple[str, str, int]
"""Entity, field, and the how-manieth time it was asked for in the call."""

MOST_CANDIDATES = 32
CHOICE: Record = {"type": "integer", "minimum": 1, "maximum": MOST_CANDIDATES}
"""The number of a candidate, whatever the candidates are: engines compile each schema once."""

NAMES = ("name", "title", "full_name", "display_name", "subject", "label", "email")
LONGEST_NAME = 80


@dataclass(slots=True)
class Survey:
    """An `Invent` that notes which fields are open, by the name they get in the request.

    Of a reference it notes the records that it may lead to; of these the model chooses one.
    """

    invent: Invent
    domain: Domain
    schemas: dict[str, Record] = field(default_factory=dict[str, Record])
    places: dict[Place, str] = field(default_factory=dict[Place, str])
    candidates: dict[str, tuple[str, Sequence[Key]]] = field(default_factory=dict[str, tuple[str, Sequence[Key]]])
    """Name in the request -> the entity that is referred to, and the keys to choose from."""
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        self._note(entity, field, schema, is_open=self._is_open(entity, field, schema))
        return self.invent(turn, entity, field, schema, record)

    def refer(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        """The first of these records: the world's own choice."""
        offered = list(dict.fromkeys(islice(keys, MOST_CANDIDATES)))
        name = self._note(entity, field, CHOICE, is_open=len(offered) > 1)
        if name is not None:
            self.candidates[name] = (target, offered)
        return offered[0]

    def settled(self, transition: Transition, sight: Sight) -> list[Record]:
        """The records that the call writes, as far as the world determines them."""
        open_fields = {(entity, field) for entity, field, _ in self.places}
        writes = (*transition.pins, *transition.changes)
        told = [(change.entity, sight.record(change.entity, change.record)) for change in writes]
        return [
            {name: value for name, value in record.items() if (entity, name) not in open_fields}
            for entity, record in told
            if record is not None
        ]

    def listed(self, view: View, sight: Sight) -> Record:
        """The candidates of each open reference, numbered, with the names of the records."""
        return {
            name: [
                f"{n} {_told(sight.record(target, view.get(target, key)) or {}, key)}" for n, key in enumerate(keys, 1)
            ]
            for name, (target, keys) in self.candidates.items()
        }

    def _note(self, entity: str, field: str, schema: Record, *, is_open: bool) -> str | None:
        """Count what is asked for; the name that it gets in the request if it is open."""
        at = self._seen[entity, field]
        self._seen[entity, field] += 1
        if not is_open:
            return None
        name = self._name(field)
        self.schemas[name] = schema
        self.places[entity, field, at] = name
        return name

    def _is_open(self, entity: str, field: str, schema: Record) -> bool:
        known = self.domain.entities.get(entity)
        declared = known.fields.get(field) if known else None
        is_link = declared is not None and declared.link is not None
        return not is_link and "const" not in schema and len(schema.get("enum", "more")) > 1

    def _name(self, field: str) -> str:
        name, n = field, 2
        while name in self.schemas:
            name, n = f"{field}_{n}", n + 1
        return name


@dataclass(slots=True)
class Filling:
    """An `Invent` that gives the values of a model; what the survey did not meet, the built-in one fills."""

    survey: Survey
    values: Record
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        name = self._named(entity, field)
        return self.survey.invent(turn, entity, field, schema, record) if name is None else self.values[name]

    def refer(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        """The record whose number the model said; a number that is too high goes round."""
        name = self._named(entity, field)
        if name is None:
            return next(iter(keys))
        offered = self.survey.candidates[name][1]
        return offered[(int(self.values[name]) - 1) % len(offered)]

    def _named(self, entity: str, field: str) -> str | None:
        at = self._seen[entity, field]
        self._seen[entity, field] += 1
        return self.survey.places.get((entity, field, at))


def _told(record: Record, key: Key) -> str:
    """A record as one line: its key and its name."""
    name = next((record[name] for name in NAMES if isinstance(record.get(name), str)), "")
    return f"{key} {name}".strip()[:LONGEST_NAME]
