"""Put what is recorded of an event, such as its recording or its participants, at the time of that event."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple, TypeAlias

from mcp_sim.generate.shipped_data import word_set
from mcp_sim.generate.time_fields import format_time, time_meaning
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.time_formats import parse_time

Find: TypeAlias = Callable[[str, Json], Record | None]
"""Looks up a linked record, by its entity and key."""

Shift: TypeAlias = Callable[[Record, Find, datetime], None]
"""Moves the times of a record."""


def occasion_shift(entity: Entity, entities: Mapping[str, Entity]) -> Shift | None:
    """Return the function that moves a record to the event that it links to; None if it is of no event."""
    fields = {field.name: field.schema for field in entity.fields.values() if field.link is None}
    times = [name for name, schema in fields.items() if time_meaning(name, schema) in {"start", "occurred", "end"}]
    events = [*_events(entity, entities)] if times and _is_of_past(entity) else []
    if not events:
        return None

    def shift(record: Record, find: Find, now: datetime) -> None:
        begun = {name: moment for name in times if (moment := parse_time(record.get(name))) is not None}
        event = next((moment for occasion in events if (moment := occasion.begun(record, find)) is not None), None)
        if event is None or not begun or event > now:
            return
        first = min(begun.values())
        for name, moment in begun.items():
            record[name] = format_time(event + (moment - first), name, fields[name])

    return shift


def _is_of_past(entity: Entity) -> bool:
    noun = snake(entity.name.rpartition(".")[2])
    words = {noun, noun.rsplit("_", 1)[-1], noun.split("_", 1)[0]}
    return not words.isdisjoint(word_set("times", "recorded") | word_set("states", "ended"))


class _Event(NamedTuple):
    """A link to an event, and the field with its start."""

    link: str
    entity: str
    start: str

    def begun(self, record: Record, find: Find) -> datetime | None:
        event = find(self.entity, record.get(self.link))
        return parse_time(event.get(self.start)) if event is not None else None


def _events(entity: Entity, entities: Mapping[str, Entity]) -> Iterator[_Event]:
    """Yield the links of an entity to events."""
    for field in entity.fields.values():
        start = (
            _start(entities.get(field.link)) if field.link is not None and main_type(field.schema) != "array" else None
        )
        if start is not None:
            yield _Event(field.name, field.link or "", start)


def _start(entity: Entity | None) -> str | None:
    """Return the field with the start of an event."""
    fields = entity.fields.values() if entity is not None else ()
    return next((field.name for field in fields if time_meaning(field.name, field.schema) == "start"), None)
