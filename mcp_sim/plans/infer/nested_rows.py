"""Find entities whose records are nested in those of others, also inside objects of these."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from mcp_sim.plans.infer.state_tables import (
    Nouns,
    are_alike,
    find_key,
    infer_fields,
    inner_rows,
    naming_field,
)
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Inside
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.lexicon.english import noun_of_id, singular, snake

_SAMPLE = 200  # records whose fields are looked at
_DEPTH = 2  # how many objects may be around the rows in a record


def nested_entities(tables: Mapping[str, tuple[Entity, Sequence[Record]]], nouns: Nouns) -> Iterator[Entity]:
    """Yield the entities whose records are nested in others, if tools mention them."""
    for entity, rows in tables.values():
        for nested in _nested_in(entity.name, "", rows, nouns):
            if nested.name not in tables:
                yield nested


def _nested_in(holder: str, path: str, rows: Sequence[Record], nouns: Nouns) -> Iterator[Entity]:
    """Yield those in the fields of rows, or of objects in these: the `policy.claims` of an account."""
    for name in dict.fromkeys(name for row in islice(rows, _SAMPLE) for name in row if "." not in name):
        values: list[Json] = [row.get(name) for row in rows]
        inner = [inner_row for value in values for inner_row in inner_rows(value)]
        objects = [as_object(value) for value in values if isinstance(value, dict)]
        if are_alike(inner):
            yield from _nested_entity(Inside(holder, f"{path}{name}"), inner, nouns)
        elif objects and path.count(".") < _DEPTH:
            yield from _nested_in(holder, f"{path}{name}.", objects, nouns)


def _nested_entity(place: Inside, rows: Sequence[Record], nouns: Nouns) -> Iterator[Entity]:
    """Yield the entity of the rows in a field of other records, if they have a key and a tool mentions them."""
    fields, name = infer_fields(rows), place.field.rpartition(".")[2]
    key = find_key(singular(snake(name)), fields, rows) or naming_field(nouns, rows)
    stem = noun_of_id(snake(key or "")) or snake(key or "")
    noun = next((word for word in (stem, nouns.entity_of(name)) if word in nouns.names), None)
    if noun is not None and key is not None:
        yield Entity(noun, key, rows[-1].get(key), fields, inside=place)
