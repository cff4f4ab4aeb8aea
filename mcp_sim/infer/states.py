"""In which states can a record be, as all tools together say, and in which one does it begin?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.arguments import Roles
from mcp_sim.infer.choices import choices_of
from mcp_sim.infer.flags import flags_spoken_of
from mcp_sim.infer.looks import Look
from mcp_sim.infer.narrowing import ANY
from mcp_sim.infer.verbs import TRANSITIONS
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import at, constants, items, main_type, properties
from mcp_sim.types.lexicon.words import snake

STATUS = ("status", "state", "stage")
_TIMES = ("date", "time", "timestamp")
_BEGINNINGS = (
    "pending", "open", "opened", "draft", "new", "todo", "to_do", "not_started", "backlog", "created", "queued",
    "planned", "scheduled", "requested", "submitted", "unread", "unpaid", "active", "reserved", "booked", "confirmed",
)  # fmt: skip
_BEFORE = {
    "closed": "open", "resolved": "open", "completed": "pending", "approved": "pending", "rejected": "pending",
    "accepted": "pending", "declined": "pending", "confirmed": "pending", "finished": "pending", "published": "draft",
}  # fmt: skip


def with_choices(
    fields: Mapping[str, Field], looks: Sequence[Look], roles: Mapping[str, Roles], rows: Sequence[Record]
) -> dict[str, Field]:
    """The fields of one entity; what arguments of its tools may say of a text is what the text may be."""
    found = dict(fields)
    for look in sorted(looks, key=lambda look: look.verb not in {"create", "update"}):
        mine = roles[look.tool.id]
        places = [*mine.sets.items(), *((path, one.field) for path, one in mine.filters.items() if one.op != "not")]
        for path, name in places:
            field, said = found.get(name), _said(at(look.input, path))
            if field is not None and said and not constants(field.schema) and _is_open(field):
                held = (row[name] for row in rows if isinstance(row.get(name), str))
                found[name] = replace(field, schema={**field.schema, "enum": [*dict.fromkeys([*said, *held])]})
    return found


def _said(schema: Record) -> list[Json]:
    inner = items(schema) if main_type(schema) == "array" else schema
    said = [value for value in constants(inner) if isinstance(value, str) and snake(value) not in ANY]
    return said if len(said) > 1 else []


def _is_open(field: Field) -> bool:
    """May the field be any text?"""
    return main_type(field.schema) == "string" and not field.schema.keys() & {"format", "pattern"} and not field.link


def beginning(field: Field, rows: Sequence[Record]) -> Json:
    """The state in which a new record is, where the choices or the given records tell of one."""
    held = dict.fromkeys(str(row[field.name]) for row in rows if isinstance(row.get(field.name), str))
    by_name = {snake(str(value)): value for value in (*held, *choices_of(field.schema))}
    return next((by_name[name] for name in _BEGINNINGS if name in by_name), None)


def begun(entity: Entity, rows: Sequence[Record], looks: Sequence[Look]) -> Entity:
    """The entity whose new records are in the first state that there is; else in that to which making them leads."""
    name = next((name for name in entity.fields if snake(name) in STATUS), None)
    if name is None or "default" in entity.fields[name].schema:
        return entity
    field = entity.fields[name]
    first = beginning(field, rows) or (_made_to_be(field, rows, looks) if rows else None)
    if first is None or main_type(field.schema) not in {"string", ""}:
        return entity
    told = replace(field, schema={**field.schema, "default": first})
    return replace(entity, fields={**entity.fields, name: told})


def _made_to_be(field: Field, rows: Sequence[Record], looks: Sequence[Look]) -> str | None:
    """A state to which nothing else leads, or what the verb says: what is booked is `booked`."""
    led = {look.reading.status for look in looks if look.verb == "update"} | {*TRANSITIONS.values()}
    held = [str(row[field.name]) for row in rows if isinstance(row.get(field.name), str)]
    first = next((state for state, _ in Counter(held).most_common() if snake(state) not in led), None)
    said = (_MADE[look.reading.word] for look in looks if look.verb == "create" and look.reading.word in _MADE)
    choices = choices_of(field.schema)
    return first or next((state for state in said if not choices or state in choices), None)


_MADE = {"book": "booked", "reserve": "reserved", "schedule": "scheduled", "place": "pending", "submit": "pending"}


def told_by_verbs(looks: Sequence[Look]) -> list[Field]:
    """The state and the flags of one entity's records, where tools speak of them and no schema tells how they look."""
    if any(properties(look.output) or items(look.output) for look in looks):
        return []
    updates = [look.reading for look in looks if look.verb == "update"]
    state = state_of(looks)
    flags = flags_spoken_of(one.word for one in updates if state is None or one.status not in choices_of(state.schema))
    named = {snake(name).removeprefix("is_") for look in looks for name in properties(look.input)}
    return [*([state] if state else []), *(flag for flag in flags if flag.name not in named)]


def with_stamp(fields: Mapping[str, Field], looks: Sequence[Look]) -> dict[str, Field]:
    """The fields with the time of creation, which most services keep, where no schema tells how records look."""
    names = [name for look in looks for name in properties(look.input)]
    told = any(properties(look.output) or items(look.output) for look in looks)
    kept = any(snake(name).startswith("creat") or snake(name) in _TIMES for name in (*names, *fields))
    if told or kept or not any(look.verb == "create" and look.tool.description for look in looks):
        return dict(fields)
    name = "createdAt" if any(name != name.lower() and "_" not in name for name in names) else "created_at"
    return {**fields, name: Field(name, {"type": "string", "format": "date-time"}, required=True)}


def state_of(looks: Sequence[Look]) -> Field | None:
    """The state of one entity's records, as arguments or verbs like `close` tell of it."""
    arguments = [(name, part) for look in looks for name, part in properties(look.input).items()]
    leads = [look.reading.status for look in looks if look.verb == "update" and look.reading.status]
    if any(_is_flag(name, part, leads) for name, part in arguments):
        return None
    named = [(name, _said(part)) for name, part in arguments if snake(name) in STATUS]
    ends = [state for state in leads if state in _BEFORE]
    states = next((said for _, said in named if said), [_BEFORE[ends[0]], *leads] if ends and not named else [])
    name = named[0][0] if named else "status"
    return Field(name, {"type": "string", "enum": [*dict.fromkeys(states)]}, required=True) if states else None


def _is_flag(name: str, schema: Record, leads: Sequence[str]) -> bool:
    """`completed: true` says it already."""
    plain = snake(name).removeprefix("is_")
    return main_type(schema) == "boolean" and (plain in leads or (plain in {"done", "complete"} and bool(leads)))
