"""What of a call does the world leave open, and how do a model's values get into its place?

A behaviour is run twice: once with a `Survey`, which notes each field that it asks for, then with a `Filling`, which
answers with the model's values. Everything else comes out as the world determines it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from mcp_sim.domain import Domain
from mcp_sim.extensions import Invent
from mcp_sim.types import Json, Record, Transition, Turn

Place = tuple[str, str, int]
"""Entity, field, and the how-manieth time it was asked for in the call."""


@dataclass(slots=True)
class Survey:
    """An `Invent` that notes which fields are open, by the name they get in the request. References are not: the
    world chooses those."""

    invent: Invent
    domain: Domain
    schemas: dict[str, Record] = field(default_factory=dict[str, Record])
    places: dict[Place, str] = field(default_factory=dict[Place, str])
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        at = self._seen[entity, field]
        self._seen[entity, field] += 1
        if self._is_open(entity, field, schema):
            name = self._name(field)
            self.schemas[name] = schema
            self.places[entity, field, at] = name
        return self.invent(turn, entity, field, schema, record)

    def settled(self, transition: Transition) -> list[Record]:
        """The records that the call writes, as far as the world determines them."""
        open_fields = {(entity, field) for entity, field, _ in self.places}
        return [
            {name: value for name, value in change.record.items() if (change.entity, name) not in open_fields}
            for change in transition.changes
            if change.record is not None
        ]

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
        name = self.survey.places.get((entity, field, self._seen[entity, field]))
        self._seen[entity, field] += 1
        return self.survey.invent(turn, entity, field, schema, record) if name is None else self.values[name]
