"""Decide which fixed values a write may change whose plan is sure: those of the records that it addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Self

from mcp_sim.models.language_model.subjects import STATES, Subject, scalars
from mcp_sim.types import Change, Json, Key, Record, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import READS, Path, split_path
from mcp_sim.types.plans import RECORDLESS, Plan
from mcp_sim.types.time_formats import parse_time

NAMES = ("name", "title", "path", "slug", "key", "full_name", "number", "filename", "file_path", "uri", "url")
"""Fields that a call may name a record by, besides its id."""


@frozen
class Reach:
    """What a write addresses.

    `entity` is that of its plan, and `place` the path of the new or updated record in the answer. `names` has the
    arguments. `written` are the records that it writes, and `linked` those that these refer to, by entity and key.
    """

    entity: str
    place: Path | None
    names: frozenset[str]
    written: frozenset[tuple[str, str]]
    linked: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, turn: Turn, plan: Plan, domain: Domain, changes: Iterable[Change]) -> Self | None:
        """Return the reach of a write with these changes; None if its plan is not sure, so that it may change all."""
        is_unsure = plan.guessed or plan.verb in (*READS, *RECORDLESS)
        if is_unsure or plan.entity is None or plan.entity not in domain.entities:
            return None
        written, linked = set[tuple[str, str]](), set[tuple[str, str]]()
        for change in changes:
            written.add((change.entity, str(change.key)))
            entity = domain.entities.get(change.entity)
            for record in (change.record, turn.view.get(change.entity, change.key)):
                linked.update(() if entity is None or record is None else _links(entity, record))
        place = plan.envelope.record if plan.verb in ("create", "update") else None
        return cls(
            plan.entity,
            None if place is None else split_path(place),
            frozenset(map(str, scalars(turn.call.arguments))),
            frozenset(written),
            frozenset(linked),
        )

    def includes(self, subject: Subject, name: str, known: Record) -> bool:
        """Whether the write may change a field of a record. This is known of it.

        What it names or writes may change, and what refers to a written record or is referred to. So may whatever a
        name identifies, as another object may have it now, and, of records of other entities, what is not a plain text:
        counts, totals, times, states.
        """
        if subject.is_named or subject.path == self.place or not self.names.isdisjoint(names_of(subject.key, known)):
            return True
        if (subject.entity.name, str(subject.key)) in self.written | self.linked:
            return True
        if not self.written.isdisjoint(_links(subject.entity, known)):
            return True
        return subject.entity.name != self.entity and (name in STATES or not _is_plain_text(known.get(name)))


def names_of(key: Key, known: Mapping[str, Json]) -> Iterator[str]:
    """Yield what a call may name a record by: its key, and its fields that are names."""
    yield str(key)
    yield from (str(known[name]) for name in NAMES if isinstance(known.get(name), str | int))


def _links(entity: Entity, record: Record) -> Iterator[tuple[str, str]]:
    """Yield the records that a record refers to."""
    for field in entity.fields.values():
        if field.link is not None and isinstance(record.get(field.name), str | int):
            yield field.link, str(record[field.name])


def _is_plain_text(value: Json) -> bool:
    return isinstance(value, str) and parse_time(value) is None
