"""How does a field keep what an argument says: a number as a text, a text as the number, a day as a moment?"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

from mcp_sim.generate.shown import field_schemas
from mcp_sim.types import Json
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import type_name, types_of
from mcp_sim.types.json_text import parsed

Keep: TypeAlias = Callable[[Json], Json]

_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(:\d\d)?)?")
_PLAIN = frozenset(("integer", "number", "boolean"))


def keeper(domain: Domain, entity: Entity, field: str) -> Keep:
    """A number becomes a text where there are only texts, a text the number or the flag that it says where there are
    only these, and a day or a time of a day the moment that results promise.
    """
    if field not in entity.fields:
        return _as_it_is
    shown = [*field_schemas(domain, entity, field)]
    kinds = {frozenset(types_of(schema)) - {"null"} for schema in (entity.fields[field].schema, *shown)}
    held = next(iter(kinds)) if len(kinds) == 1 else frozenset[str]()
    if shown and all(schema.get("format") == "date-time" for schema in shown):
        return _moment
    if held == frozenset(("string",)):
        return _text
    return _as_it_is if not held or held - _PLAIN else lambda value: _plain(value, held)


def _as_it_is(value: Json) -> Json:
    return value


def _text(value: Json) -> Json:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _moment(value: Json) -> Json:
    found = _MOMENT.fullmatch(value) if isinstance(value, str) else None
    return value if found is None else f"{found[1]}T{found[2] or '00:00'}{found[3] or ':00'}"


def _plain(value: Json, kinds: frozenset[str]) -> Json:
    if isinstance(value, str):
        with suppress(ValueError):
            said = parsed(value.strip().lower())
            return said if type_name(said) in kinds or (isinstance(said, int) and "number" in kinds) else value
    return value
