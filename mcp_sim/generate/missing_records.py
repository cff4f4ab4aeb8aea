"""Generate single records that a call asks for: of an open world, or that another record refers to."""

from __future__ import annotations

from datetime import timedelta
from itertools import islice

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import value_maker
from mcp_sim.types import Json, Key, Record, Turn, View
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import is_nullable, main_type
from mcp_sim.types.json_values import NOWHERE
from mcp_sim.types.kinds import Invent

MOST_CANDIDATES = 32
"""The most records that a link is chosen from."""

_AGE = timedelta(days=30)
"""How long before the start of the world generated records may date back."""


def generate_record(turn: Turn, entity: Entity, key: Key, invent: Invent, known: Record | None = None) -> Record:
    """Generate the record of a key, with the `known` fields.

    Times lie before the start of the world, links refer to existing records, and optional values are left out.
    """
    record: Record = {**(known or {}), entity.key: key}
    for field in entity.fields.values():
        if field.name not in record and field.derived is None:
            value = _value(turn, entity, field, invent, record)
            if value is not NOWHERE:
                record[field.name] = value
    return {name: record[name] for name in dict.fromkeys((*entity.fields, *record)) if name in record}


def link_candidates(view: View, entity: str) -> list[Key]:
    """Return the first keys that a link may refer to."""
    return [key for key, _ in islice(view.rows(entity), MOST_CANDIDATES)]


def choose_key(keys: list[Key], draws: Draws, profile: str) -> Key:
    """Choose one of the keys by the seed."""
    return keys[int(draws.unit(f"link/{profile}") * len(keys))]


def _value(turn: Turn, entity: Entity, field: Field, invent: Invent, record: Record) -> Json:
    if field.link is not None:
        keys = link_candidates(turn.view, field.link)
        if not keys:
            return None if is_nullable(field.schema) else NOWHERE
        key = choose_key(keys, turn.draws, f"{entity.name}.{field.name}")
        return [key] if main_type(field.schema) == "array" else key
    if is_nullable(field.schema) and not field.required:
        return None
    if time_meaning(field.name, field.schema) is not None:
        chance = Chance(turn.draws.key + f"{entity.name}/{record[entity.key]}".encode("utf-8", "surrogatepass"))
        made = value_maker(entity.name, field.name, field.schema)
        return made(chance, record, Moment(turn.start - _AGE, turn.start))
    return invent(turn, entity.name, field.name, field.schema, record) if field.required else NOWHERE
