"""What do the fields of a new record hold that nobody says, as the records that are given tell?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_object, main_type

_LOOKED_AT = 200
_OPEN = object()


def beginning_as_given(entity: Entity, rows: Sequence[Record]) -> Entity:
    """The entity whose new records begin as empty as those that are given: 0 renewals, no grade, nobody assigned."""
    if entity.singleton or not rows:
        return entity
    told = {name: _begun(field, rows) for name, field in entity.fields.items() if _is_open(entity, field)}
    return replace(entity, fields={**entity.fields, **told})


def _is_open(entity: Entity, field: Field) -> bool:
    return field.name != entity.key and field.derived is None and field.required and "default" not in field.schema


def _begun(field: Field, rows: Sequence[Record]) -> Field:
    held = [row[field.name] for row in islice(rows, _LOOKED_AT) if field.name in row]
    if None in held:
        kinds = [kind for kind in (main_type(field.schema), "null") if kind]
        return replace(field, schema={**field.schema, "type": kinds, "default": None})
    value = _OPEN if field.link is not None else _first(held)
    return field if value is _OPEN else replace(field, schema={**field.schema, "default": value})


def _are_mappings(held: Sequence[Json]) -> bool:
    """Have objects no name in common, so that their names are data?"""
    names = Counter(name for value in held for name in as_object(value))
    return len(held) > 1 and len(held) not in names.values()


def _first(held: Sequence[Json]) -> Json:
    """Nothing, where some have nothing or each has entries of its own; of yes and no what most have; else what all
    have, if there are several.
    """
    if held and all(isinstance(value, bool) for value in held):
        return Counter(held).most_common(1)[0][0]
    numbers = [value for value in held if isinstance(value, int | float)]
    if 0 in numbers:
        return next(value for value in numbers if value == 0)
    empty = next((value for value in held if value in ("", [], {})), None)
    if empty is not None:
        return empty
    if held and all(isinstance(value, dict) for value in held) and _are_mappings(held):
        return {}
    plain = all(isinstance(value, str | int | float) for value in held)
    return held[0] if plain and len(held) > 1 and len({*map(str, held)}) == 1 else _OPEN
