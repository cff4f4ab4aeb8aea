"""States of records: those that verbs lead to, and the initial values of new records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import islice

from mcp_sim.infer.argument_fields import narrowing_choices
from mcp_sim.infer.descriptions import choices_of, nearest_choice
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.flags import find_flag
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_object, constants, items, main_type, properties
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import ordered, table, terms
from mcp_sim.types.plans import RECORDLESS

_STATES, _TIMES = terms("fields.state"), frozenset({"date", "time", "timestamp"})
_INITIAL, _PREVIOUS = ordered("states.initial"), table("states.previous")
_SAMPLE_SIZE = 200
_MAX_ROWS = 2_000


def find_described_state(feature_list: Sequence[ToolFeatures]) -> dict[str, Field]:
    """Return the state field that arguments or verbs like `close` imply, if no schema shows the fields of records."""
    mine = [features for features in feature_list if features.verb not in RECORDLESS and features.singleton is None]
    arguments = [one for features in mine for one in properties(features.input).items()]
    leads = [features.status for features in mine if features.verb == "update" and features.status]
    if _are_fields_shown(mine) or any(_is_flag(name, part, leads) for name, part in arguments):
        return {}
    listed = {name: narrowing_choices(part) for name, part in arguments if snake(name) in _STATES}
    before = [_PREVIOUS[state] for state in leads if state in _PREVIOUS][:1]
    of_verbs = [*dict.fromkeys([*before, *leads])] if before else []
    named = listed or {"status": of_verbs}
    name = max(named, key=lambda name: len(named[name]) > 1)
    return {name: Field(name, {"type": "string", "enum": named[name]}, required=True)} if len(named[name]) > 1 else {}


def _are_fields_shown(feature_list: Sequence[ToolFeatures]) -> bool:
    return any(properties(features.output) or items(features.output) for features in feature_list)


def _is_flag(name: str, schema: Record, leads: Collection[str]) -> bool:
    """Whether it is a flag that already holds the state: `completed: true`."""
    plain = snake(name).removeprefix("is_")
    return main_type(schema) == "boolean" and (plain in leads or (plain in {"done", "complete"} and bool(leads)))


def find_creation_time(feature_list: Sequence[ToolFeatures], fields: Collection[str]) -> dict[str, Field]:
    """Return the creation time, which most services keep, if no schema shows the fields of records."""
    names = [*(name for features in feature_list for name in properties(features.input)), *fields]
    is_kept = any(snake(name).startswith("creat") or snake(name) in _TIMES for name in names)
    is_made = any(features.verb == "create" and features.tool.description for features in feature_list)
    if is_kept or not is_made or _are_fields_shown(feature_list):
        return {}
    is_camel_case = any(name != name.lower() and "_" not in name for name in names)
    name = "createdAt" if is_camel_case else "created_at"
    return {name: Field(name, {"type": "string", "format": "date-time"}, required=True)}


def with_initial_value(field: Field, rows: Sequence[Record], *, is_state: bool, is_key: bool) -> Field:
    """Return a field with the default that given records suggest: the first state, 0 renewals, no grade."""
    if "default" in field.schema:
        return field
    state = _find_initial_state(field, rows) if is_state and main_type(field.schema) in {"string", ""} else None
    if state is not None:
        return replace(field, schema={**field.schema, "default": state})
    if not rows or is_key or field.derived is not None or not field.required:
        return field
    held = [row[field.name] for row in islice(rows, _SAMPLE_SIZE) if field.name in row]
    if None in held:
        kinds = [kind for kind in (main_type(field.schema), "null") if kind]
        return replace(field, schema={**field.schema, "type": kinds, "default": None})
    found = _usual_values(held) if field.link is None else []
    return replace(field, schema={**field.schema, "default": found[0]}) if found else field


def _find_initial_state(field: Field, rows: Sequence[Record]) -> Json:
    """Return the state of new records among the choices or the given records, or None."""
    held = dict.fromkeys(str(row[field.name]) for row in rows if isinstance(row.get(field.name), str))
    by_name = {snake(str(value)): value for value in (*held, *choices_of(field.schema))}
    return next((by_name[name] for name in _INITIAL if name in by_name), None)


def _usual_values(held: Sequence[Json]) -> list[Json]:
    """Return the possible initial values, the best first.

    These are the most frequent flag, an empty mapping if names are data, an empty value or 0, the value that all have.
    """
    if all(isinstance(value, bool) for value in held):
        return [value for value, _ in Counter(held).most_common(1)]
    names = Counter(name for value in held for name in as_object(value))
    if len(held) > 1 and all(isinstance(value, dict) for value in held) and len(held) not in names.values():
        return [{}]
    is_plain = all(isinstance(value, str | int | float) for value in held)
    is_constant = is_plain and len(held) > 1 and len({*map(str, held)}) == 1
    empty = [value for value in held if value in (0, "", [], {}) and value is not False]
    return [*empty, held[0]] if is_constant else empty


def find_target_state(features: ToolFeatures, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """Return the flag or the state that a verb like `close` leads to, spelled like the other states."""
    flag, status = find_flag(features.parsed.word, entity), features.status
    name = next((name for name in entity.fields if snake(name) in _STATES), None)
    if flag or status is None or name is None:
        return flag
    schema = entity.fields[name].schema
    held = dict.fromkeys(str(row[name]) for row in islice(rows, _MAX_ROWS) if isinstance(row.get(name), str))
    states = [str(one) for one in (*choices_of(schema), *held)]
    near = nearest_choice(features.parsed.word, states)
    found = near or next((one for one in states if snake(one) == status), None)
    if found is None and not constants(schema):
        found = _spell_like(states, status)
    return {} if found is None else {name: found}


def _spell_like(others: Sequence[str], state: str) -> str:
    """Return a state spelled like the others: `On Hold` beside `In Use`."""
    if others and all(text.isupper() for text in others):
        return state.upper()
    is_titled = bool(others) and all(text[:1].isupper() for text in others)
    joined = "".join(others)
    text = state.replace("_", " ") if " " in joined or (is_titled and "_" not in joined) else state
    return " ".join(word.capitalize() for word in text.split(" ")) if is_titled else text
