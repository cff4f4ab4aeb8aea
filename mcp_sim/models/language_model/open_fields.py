"""Fields of a call that the world leaves open, and the model's values for them.

A backend runs twice: first with an `OpenFieldSurvey`, which records each field that the backend asks for, then with a
`Filling`, which supplies the model's values. The world determines everything else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from mcp_sim.models.language_model.disclosure import Disclosure
from mcp_sim.types import Json, Key, Record, Transition, Turn, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Invent

Place = tuple[str, str, int]
"""Entity, field, and how often the call asked for it before."""

MAX_CANDIDATES = 32
CHOICE: Record = {"type": "integer", "minimum": 1, "maximum": MAX_CANDIDATES}
"""Schema of a candidate's number. It does not depend on the candidates: engines compile each schema once."""

NAMES = ("name", "title", "full_name", "display_name", "subject", "label", "email")
MAX_LABEL = 80


@dataclass(slots=True)
class OpenFieldSurvey:
    """An `Invent` that records the open fields, by the names they get in the request.

    For a reference it records the candidates; the model chooses one of them.
    """

    invent: Invent
    domain: Domain
    schemas: dict[str, Record] = field(default_factory=dict[str, Record])
    places: dict[Place, str] = field(default_factory=dict[Place, str])
    candidates: dict[str, tuple[str, Sequence[Key]]] = field(default_factory=dict[str, tuple[str, Sequence[Key]]])
    """Name in the request -> the referenced entity, and the keys to choose from."""
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        self._note(entity, field, schema, is_open=self._is_open(entity, field, schema))
        return self.invent(turn, entity, field, schema, record)

    def choose_reference(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        """Return the first of these records, which is the world's own choice."""
        offered = list(dict.fromkeys(islice(keys, MAX_CANDIDATES)))
        name = self._note(entity, field, CHOICE, is_open=len(offered) > 1)
        if name is not None:
            self.candidates[name] = (target, offered)
        return offered[0]

    def settled(self, transition: Transition, disclosure: Disclosure) -> list[Record]:
        """Return the records that the call writes, without their open fields."""
        open_fields = {(entity, field) for entity, field, _ in self.places}
        writes = (*transition.absorbed, *transition.changes)
        disclosed = [(change.entity, disclosure.record(change.entity, change.record)) for change in writes]
        return [
            {name: value for name, value in record.items() if (entity, name) not in open_fields}
            for entity, record in disclosed
            if record is not None
        ]

    def listed(self, view: View, disclosure: Disclosure) -> Record:
        """Return the numbered candidates of each open reference, with the names of the records."""
        return {
            name: [
                f"{n} {_label(disclosure.record(target, view.get(target, key)) or {}, key)}"
                for n, key in enumerate(keys, 1)
            ]
            for name, (target, keys) in self.candidates.items()
        }

    def _note(self, entity: str, field: str, schema: Record, *, is_open: bool) -> str | None:
        """Count a field that is asked for. Return its name in the request, if it is open."""
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
    """An `Invent` that returns the model's values. Fields that the survey did not meet get generated ones."""

    survey: OpenFieldSurvey
    values: Record
    _seen: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        name = self._named(entity, field)
        return self.survey.invent(turn, entity, field, schema, record) if name is None else self.values[name]

    def choose_reference(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        """Return the record whose number the model chose, modulo the number of candidates."""
        name = self._named(entity, field)
        if name is None:
            return next(iter(keys))
        offered = self.survey.candidates[name][1]
        return offered[(int(self.values[name]) - 1) % len(offered)]

    def _named(self, entity: str, field: str) -> str | None:
        at = self._seen[entity, field]
        self._seen[entity, field] += 1
        return self.survey.places.get((entity, field, at))


def _label(record: Record, key: Key) -> str:
    """Return a record as one line: its key and its name."""
    name = next((record[name] for name in NAMES if isinstance(record.get(name), str)), "")
    return f"{key} {name}".strip()[:MAX_LABEL]
