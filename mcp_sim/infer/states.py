"""State fields of entities, and the initial values of new records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice

from mcp_sim.infer.arguments import Roles
from mcp_sim.infer.descriptions import choices_of, nearest_choice
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.fields import ANY_VALUES
from mcp_sim.infer.flags import find_flag
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_object, at, constants, items, main_type, properties
from mcp_sim.types.lexicon.english import snake

STATUS = ("status", "state", "stage")
_TIME_NAMES = ("date", "time", "timestamp")
_INITIAL_STATES = (
    "pending", "open", "opened", "draft", "new", "todo", "to_do", "not_started", "backlog", "created", "queued",
    "planned", "scheduled", "requested", "submitted", "unread", "unpaid", "active", "reserved", "booked", "confirmed",
)  # fmt: skip
_PREVIOUS_STATES = {
    "closed": "open", "resolved": "open", "completed": "pending", "approved": "pending", "rejected": "pending",
    "accepted": "pending", "declined": "pending", "confirmed": "pending", "finished": "pending", "published": "draft",
}  # fmt: skip
_SAMPLE_SIZE = 200
_MAX_ROWS = 2_000
_UNDETERMINED = object()


def with_choices(
    fields: Mapping[str, Field],
    feature_list: Sequence[ToolFeatures],
    roles: Mapping[str, Roles],
    rows: Sequence[Record],
) -> dict[str, Field]:
    """Return the fields of one entity, with the choices of arguments that set or filter them, and those of rows."""
    found = dict(fields)
    for features in feature_list:
        mine = roles[features.tool.id]
        for path, name in (*mine.sets.items(), *((path, one.field) for path, one in mine.filters.items())):
            field, listed = found.get(name), _listed_values(at(features.input, path))
            if field is not None and listed and _accepts_any_text(field):
                held = (row[name] for row in rows if isinstance(row.get(name), str))
                found[name] = replace(field, schema={**field.schema, "enum": [*dict.fromkeys([*listed, *held])]})
    return found


def _accepts_any_text(field: Field) -> bool:
    bound = field.schema.keys() & {"format", "pattern", "enum", "const"}
    return main_type(field.schema) == "string" and not bound and not field.link


def _listed_values(schema: Record) -> list[Json]:
    inner = items(schema) if main_type(schema) == "array" else schema
    values = [value for value in constants(inner) if isinstance(value, str) and snake(value) not in ANY_VALUES]
    return values if len(values) > 1 else []


def _find_initial_state(field: Field, rows: Sequence[Record]) -> Json:
    """Return the state of new records among the choices or the given records, or None."""
    held = dict.fromkeys(str(row[field.name]) for row in rows if isinstance(row.get(field.name), str))
    by_name = {snake(str(value)): value for value in (*held, *choices_of(field.schema))}
    return next((by_name[name] for name in _INITIAL_STATES if name in by_name), None)


def with_initial_state(entity: Entity, rows: Sequence[Record]) -> Entity:
    """Return the entity with a default for its state: the first one."""
    name = next((name for name in entity.fields if snake(name) in STATUS), None)
    if name is None or "default" in entity.fields[name].schema:
        return entity
    field = entity.fields[name]
    first = _find_initial_state(field, rows)
    if first is None or main_type(field.schema) not in {"string", ""}:
        return entity
    with_default = replace(field, schema={**field.schema, "default": first})
    return replace(entity, fields={**entity.fields, name: with_default})


def fields_from_verbs(feature_list: Sequence[ToolFeatures]) -> list[Field]:
    """Return the state that tools mention, if no schema shows the fields of records."""
    state = None if _are_fields_shown(feature_list) else _find_state_field(feature_list)
    return [state] if state is not None else []


def with_creation_time(fields: Mapping[str, Field], feature_list: Sequence[ToolFeatures]) -> dict[str, Field]:
    """Add a creation time, which most services keep, if no schema shows the fields of records."""
    names = [*_argument_names(feature_list), *fields]
    is_kept = any(snake(name).startswith("creat") or snake(name) in _TIME_NAMES for name in names)
    is_made = any(features.verb == "create" and features.tool.description for features in feature_list)
    if is_kept or not is_made or _are_fields_shown(feature_list):
        return dict(fields)
    name = "createdAt" if any(map(_is_camel_case, names)) else "created_at"
    return {**fields, name: Field(name, {"type": "string", "format": "date-time"}, required=True)}


def _argument_names(feature_list: Sequence[ToolFeatures]) -> list[str]:
    return [name for features in feature_list for name in properties(features.input)]


def _is_camel_case(name: str) -> bool:
    return name != name.lower() and "_" not in name


def _are_fields_shown(feature_list: Sequence[ToolFeatures]) -> bool:
    return any(properties(features.output) or items(features.output) for features in feature_list)


def _find_state_field(feature_list: Sequence[ToolFeatures]) -> Field | None:
    """Return the state field that arguments or verbs like `close` imply, or None."""
    arguments = [one for features in feature_list for one in properties(features.input).items()]
    leads = [features.status for features in feature_list if features.verb == "update" and features.status]
    if any(_is_flag(name, part, leads) for name, part in arguments):
        return None
    named = {name: _listed_values(part) for name, part in arguments if snake(name) in STATUS}
    named = named or {"status": _states_of_verbs(leads)}
    name = max(named, key=lambda name: bool(named[name]))
    return Field(name, {"type": "string", "enum": named[name]}, required=True) if named[name] else None


def _states_of_verbs(leads: Sequence[str]) -> list[Json]:
    """Return the states that verbs lead to, and the one before; none if no usual one is before."""
    before = [_PREVIOUS_STATES[state] for state in leads if state in _PREVIOUS_STATES][:1]
    return [*dict.fromkeys([*before, *leads])] if before else []


def _is_flag(name: str, schema: Record, leads: Sequence[str]) -> bool:
    """Whether it is a flag that already holds the state: `completed: true`."""
    plain = snake(name).removeprefix("is_")
    return main_type(schema) == "boolean" and (plain in leads or (plain in {"done", "complete"} and bool(leads)))


def with_given_defaults(entity: Entity, rows: Sequence[Record]) -> Entity:
    """Return the entity with the initial values that given records suggest: 0 renewals, no grade."""
    if entity.singleton or not rows:
        return entity
    defaults = {
        name: _with_default(field, rows) for name, field in entity.fields.items() if _needs_default(entity, field)
    }
    return replace(entity, fields={**entity.fields, **defaults})


def _needs_default(entity: Entity, field: Field) -> bool:
    return field.name != entity.key and field.derived is None and field.required and "default" not in field.schema


def _with_default(field: Field, rows: Sequence[Record]) -> Field:
    held = [row[field.name] for row in islice(rows, _SAMPLE_SIZE) if field.name in row]
    if None in held:
        kinds = [kind for kind in (main_type(field.schema), "null") if kind]
        return replace(field, schema={**field.schema, "type": kinds, "default": None})
    value = _UNDETERMINED if field.link is not None else _default_of(held)
    return field if value is _UNDETERMINED else replace(field, schema={**field.schema, "default": value})


def _are_mappings(held: Sequence[Json]) -> bool:
    """Whether all values are objects with no name in common, so that their names are data."""
    names = Counter(name for value in held for name in as_object(value))
    return len(held) > 1 and all(isinstance(value, dict) for value in held) and len(held) not in names.values()


def _default_of(held: Sequence[Json]) -> Json:
    """Return the initial value.

    It is empty or 0 if some value is or if all are mappings, the most frequent flag, or the value that all have.
    """
    if all(isinstance(value, bool) for value in held):
        return Counter(held).most_common(1)[0][0] if held else _UNDETERMINED
    empty = (value for value in held if value in (0, "", [], {}) and value is not False)
    if _are_mappings(held):
        return {}
    is_plain = all(isinstance(value, str | int | float) for value in held)
    is_constant = is_plain and len(held) > 1 and len({*map(str, held)}) == 1
    return next(empty, held[0] if is_constant else _UNDETERMINED)


def find_target_state(features: ToolFeatures, entity: Entity, rows: Sequence[Record]) -> dict[str, Json]:
    """Return the flag or the state that a verb like `close` leads to, spelled like the other states."""
    flag = find_flag(features.parsed.word, entity)
    name = next((name for name in entity.fields if snake(name) in STATUS), None)
    if flag or features.status is None or name is None:
        return flag
    schema = entity.fields[name].schema
    found = _state_among(_known_states(name, schema, rows), features.parsed.word, features.status)
    if found is None and not constants(schema):
        found = _spell_like(_known_states(name, schema, rows), features.status)
    return {} if found is None else {name: found}


def _known_states(field: str, schema: Record, rows: Sequence[Record]) -> list[str]:
    """Return the choices of the field, and the values of the first given records."""
    held = dict.fromkeys(str(row[field]) for row in islice(rows, _MAX_ROWS) if isinstance(row.get(field), str))
    return [str(one) for one in (*choices_of(schema), *held)]


def _state_among(states: Sequence[str], word: str, status: str) -> Json:
    return nearest_choice(word, states) or next((one for one in states if snake(one) == status), None)


def _spell_like(others: Sequence[str], state: str) -> str:
    """Return a state spelled like the others: `On Hold` beside `In Use`."""
    if others and all(text.isupper() for text in others):
        return state.upper()
    is_titled = bool(others) and all(text[:1].isupper() for text in others)
    joined = "".join(others)
    text = state.replace("_", " ") if " " in joined or (is_titled and "_" not in joined) else state
    return " ".join(word.capitalize() for word in text.split(" ")) if is_titled else text
