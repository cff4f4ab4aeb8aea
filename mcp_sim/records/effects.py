"""What does a create, an update or a delete write, and what forbids it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, cast

from mcp_sim.domain import Domain, Entity, Field, Plan
from mcp_sim.extensions import Invent
from mcp_sim.records.keys import keys_of, next_key
from mcp_sim.records.queries import ABSENT, Fetch, argument
from mcp_sim.records.times import sense, written
from mcp_sim.schemas import at, constants, expanded, is_nullable, main_type, takes_null
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.words import plural, snake


@dataclass(frozen=True, slots=True)
class Effect:
    """A record as it is after the call (before it, where the call removes it), and what is written."""

    key: Key
    record: Record
    changes: tuple[Change, ...]


Write: TypeAlias = Callable[[Turn, Invent], "Effect | Observation"]


# failures -------------------------------------------------------------------------------------------------------------


def label(entity: str) -> str:
    """The entity as a sentence begins with it: `pull_request` is `Pull request`."""
    text = entity.replace("_", " ")
    return text[:1].upper() + text[1:]


def not_found(tool: Tool, entity: str, value: Json, name: str | None) -> Observation:
    """The failure that no such record exists. `name` is the argument that asked for it."""
    slots = {f"{entity}_id": value, **({name.rsplit(".", 1)[-1]: value} if name else {})}
    slots = {slot: told for slot, told in slots.items() if slot not in {"kind", "message", "self"}}
    more: Record = {"entity": entity, "key": value, "id": value, "argument": name, "value": value}
    return tool.failure("not_found", f"{label(entity)} {told(value)} not found", **{**slots, **more})


def told(value: Json) -> str:
    """A value as a sentence names it."""
    return value if isinstance(value, str) and value and not value.isspace() else repr(value)


def found_key(view: View, entity: str, value: Json) -> Key | None:
    """The key of the record that a value names, also where one side writes a number as a text; else None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, str | int) or isinstance(value, bool):
        return None
    if view.get(entity, value) is not None:
        return value
    other: Key | None = str(value) if isinstance(value, int) else int(value) if value.isdecimal() else None
    return other if other is not None and view.get(entity, other) is not None else None


# create ---------------------------------------------------------------------------------------------------------------


def creation(tool: Tool, plan: Plan, domain: Domain) -> Write:
    """The record that a call creates, compiled: what arguments say, then what the world knows, then what is open."""
    entity = domain.entities[plan.entity or ""]
    keys, sets, links = keys_of(entity), _sets(tool, plan, entity), _links(plan, entity)
    rules = [rule for rule in _rules(entity) if rule.field.name not in plan.fixed]
    order, name = tuple(entity.fields), entity.name

    def create(turn: Turn, invent: Invent) -> Effect | Observation:
        record = {**_given(turn, sets), **plan.fixed}
        missing = _missing_link(turn, tool, links, record)
        if missing is not None:
            return missing
        key = record.get(entity.key)
        if key is None:
            key = next_key(entity, keys, turn.view, turn.draws)
        elif turn.view.get(name, key) is not None:
            message = f"{label(name)} {told(key)} already exists"
            return tool.failure("conflict", message, entity=name, key=key, id=key, value=key)
        record[entity.key] = key
        for rule in rules:
            if rule.field.name not in record:
                rule.fill(turn, invent, record)
        whole = {field: record[field] for field in order if field in record}
        return Effect(key, whole, (Change("put", name, key, whole, expected=turn.view.version(name, key)),))

    return create


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a field that nobody gave holds from the beginning. `settled`: a value that is no question."""

    entity: str
    field: Field
    stamped: bool
    settled: Json

    def fill(self, turn: Turn, invent: Invent, record: Record) -> None:
        field = self.field
        if self.stamped:
            record[field.name] = written(turn.now, field.name, field.schema)
        elif self.settled is not ABSENT:
            record[field.name] = self.settled
        elif field.required:
            linked = _linked(turn, field)
            value = invent(turn, self.entity, field.name, field.schema, record) if linked is ABSENT else linked
            record[field.name] = value


def _linked(turn: Turn, field: Field) -> Json:
    """What a link that nobody gave refers to: a record that the world has, or ABSENT where it has none."""
    count = turn.view.count(field.link) if field.link is not None else 0
    if field.link is None or not count:
        return ABSENT
    place = int(turn.draws.unit(f"link/{field.name}") * count)
    key = next(key for at, (key, _) in enumerate(turn.view.rows(field.link)) if at == place)
    return [key] if main_type(field.schema) == "array" else key


def _rules(entity: Entity) -> Iterator[_Rule]:
    for field in entity.fields.values():
        if field.name == entity.key or field.derived is not None:
            continue
        stamped = sense(field.name, field.schema) in {"created", "updated"} and not is_nullable(field.schema)
        yield _Rule(entity.name, field, stamped, _settled(field))


def _settled(field: Field) -> Json:
    schema = field.schema
    if "default" in schema and field.link is None:
        return schema["default"]
    if is_nullable(schema):
        return None
    if not field.required:
        return ABSENT
    choices = constants(schema)
    if choices and (len(choices) == 1 or snake(field.name).rsplit("_", 1)[-1] in {"status", "state", "stage"}):
        return choices[0]
    if main_type(schema) == "boolean":
        return False
    if main_type(schema) == "array" and not schema.get("minItems"):
        return []
    counts = main_type(schema) == "integer" and snake(field.name).endswith(("count", "_total"))
    return 0 if counts and schema.get("minimum", 0) <= 0 else ABSENT


# update ---------------------------------------------------------------------------------------------------------------


def updating(tool: Tool, plan: Plan, domain: Domain) -> Write:
    """The record as a call changes it, compiled: only what is given changes, and the time of the last change."""
    entity = domain.entities[plan.entity or ""]
    sets, links, fetch = _sets(tool, plan, entity, defaults=False), _links(plan, entity), argument(plan.key or "")
    stamps = [f for f in entity.fields.values() if sense(f.name, f.schema) == "updated"]
    name = entity.name

    def update(turn: Turn, _invent: Invent) -> Effect | Observation:
        asked = fetch(turn.call.arguments)
        key = found_key(turn.view, name, asked)
        if key is None:
            return not_found(tool, name, None if asked is ABSENT else asked, plan.key)
        given = {**_given(turn, sets), **plan.fixed}
        given.pop(entity.key, None)
        missing = _missing_link(turn, tool, links, given)
        if missing is not None:
            return missing
        before = turn.view.get(name, key) or {}
        if not given:
            return Effect(key, before, ())
        record = {**before, **given, **{stamp.name: _later(turn.now, stamp) for stamp in stamps}}
        return Effect(key, record, (Change("put", name, key, record, expected=turn.view.version(name, key)),))

    return update


def _later(now: datetime, field: Field) -> Json:
    return written(now, field.name, field.schema)


# delete ---------------------------------------------------------------------------------------------------------------


def removal(tool: Tool, plan: Plan, domain: Domain) -> Write:
    """The record that a call removes. What may do without it lets go of it; what must link to it forbids it."""
    name, fetch = plan.entity or "", argument(plan.key or "")
    referring = [
        (other.name, field)
        for other in domain.entities.values()
        for field in other.fields.values()
        if field.link == name and field.derived is None
    ]

    def remove(turn: Turn, _invent: Invent) -> Effect | Observation:
        asked = fetch(turn.call.arguments)
        key = found_key(turn.view, name, asked)
        if key is None:
            return not_found(tool, name, None if asked is ABSENT else asked, plan.key)
        changes = _let_go(turn.view, referring, key, Change("remove", name, key, expected=turn.view.version(name, key)))
        if isinstance(changes, str):
            message = f"{label(name)} {told(key)} cannot be deleted: {changes}"
            return tool.failure("conflict", message, entity=name, key=key, id=key, value=key)
        return Effect(key, turn.view.get(name, key) or {}, changes)

    return remove


def _let_go(view: View, referring: Sequence[tuple[str, Field]], key: Key, removed: Change) -> tuple[Change, ...] | str:
    """The changes that leave no link behind, or what forbids it."""
    touched: dict[tuple[str, Key], Record] = {}
    for entity, field in referring:
        rows = _linking(view, entity, field, key)
        rows = [row for row in rows if (entity, row[0]) != (removed.entity, key)]
        if rows and field.required and not is_nullable(field.schema) and main_type(field.schema) != "array":
            others = (entity if len(rows) == 1 else plural(entity)).replace("_", " ")
            return f"{len(rows)} {others} {'refers' if len(rows) == 1 else 'refer'} to it"
        for other, record in rows:
            touched[entity, other] = _without(touched.get((entity, other), record), field, key)
    freed = (
        Change("put", entity, other, record, expected=view.version(entity, other))
        for (entity, other), record in touched.items()
    )
    return (removed, *freed)


def _linking(view: View, entity: str, field: Field, key: Key) -> list[tuple[Key, Record]]:
    if main_type(field.schema) == "array":
        return [row for row in view.rows(entity) if key in cast("list[Json]", row[1].get(field.name) or [])]
    return list(view.find(entity, field.name, key))


def _without(record: Record, field: Field, key: Key) -> Record:
    if main_type(field.schema) == "array":
        return {**record, field.name: [one for one in record[field.name] if one != key]}
    if is_nullable(field.schema):
        return {**record, field.name: None}
    return {name: value for name, value in record.items() if name != field.name}


# arguments ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Set:
    """An argument, the field that it sets ('*': each by its own name), and what it is where it is not given."""

    fetch: Fetch
    field: str
    default: Json
    takes_null: bool


def _sets(tool: Tool, plan: Plan, entity: Entity, *, defaults: bool = True) -> list[_Set]:
    schema = expanded(tool.input_schema)
    return [
        _Set(
            argument(path.removesuffix(".*")),
            field,
            at(schema, path).get("default", ABSENT) if defaults and field != "*" else ABSENT,
            _takes_null(entity, field),
        )
        for path, field in plan.sets.items()
    ]


def _takes_null(entity: Entity, field: str) -> bool:
    return field not in entity.fields or takes_null(entity.fields[field].schema)


def _given(turn: Turn, sets: Sequence[_Set]) -> Record:
    """The fields that the arguments set. A default of null says nothing, nor does null for a field that takes none."""
    arguments, given = turn.call.arguments, Record()
    for rule in sets:
        value = rule.fetch(arguments)
        if value is ABSENT or (value is None and not rule.takes_null):
            if rule.default is not ABSENT and rule.default is not None:
                given[rule.field] = rule.default
        elif rule.field != "*":
            given[rule.field] = value
        elif isinstance(value, Mapping):
            given.update(cast("Record", value))
    return given


def _links(plan: Plan, entity: Entity) -> list[tuple[str, str, str]]:
    """The links that arguments set: field, entity that it links to, argument."""
    return [
        (field, entity.fields[field].link or "", path)
        for path, field in plan.sets.items()
        if field in entity.fields and entity.fields[field].link
    ]


def _missing_link(
    turn: Turn, tool: Tool, links: Sequence[tuple[str, str, str]], given: Mapping[str, Json]
) -> Observation | None:
    """The failure that an argument names a record that does not exist."""
    for field, target, path in links:
        value: Json = given.get(field)
        if value is None:
            continue
        for key in cast("list[Json]", value) if isinstance(value, list) else [value]:
            is_key = isinstance(key, str | int) and not isinstance(key, bool)
            if not is_key or turn.view.get(target, key) is None:
                return not_found(tool, target, key, path)
    return None
