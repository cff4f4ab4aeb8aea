"""Project a record to what a schema shows of it.

The projection is always a new object, never the record of the world.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from mcp_sim.generate.conformance import schema_conformer
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.timeline import Moment
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.types import Json, Record, View
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_object, is_nullable, main_type, map_of, properties, required, takes_null
from mcp_sim.types.lexicon.english import last_word, snake, vocabulary

Show: TypeAlias = Callable[[Record, View], Json]

SECRETS = vocabulary("password password_hash hashed_password passwd passphrase")
"""Names of fields that no result shows."""


def projector(entity: Entity, schema: Record) -> Show:
    """Compile the projection of a record to a schema: its declared properties, or all fields if it declares none.

    Where only other values than those of the record are valid, the projection keeps the record's.
    """
    show, conform = _projector(entity, schema), schema_conformer(entity, schema)
    if conform is None:
        return show

    def conformed(record: Record, view: View) -> Json:
        body: Json = show(record, view)
        if not isinstance(body, dict):
            return body
        shown = as_object(body)
        fitted = conform(shown, record, ())
        return fitted if all(record[name] == value for name, value in fitted.items() if name in record) else shown

    return conformed


def _projector(entity: Entity, schema: Record) -> Show:
    names = properties(schema)
    if main_type(schema) not in {"object", ""}:
        return _scalar(entity, schema)
    if not names:
        return _name_alone(entity) if _is_name(entity) else _fitting(_whole(entity), map_of(schema))
    plain = tuple(names)
    never_null = [name for name in plain if name not in required(schema) and not takes_null(names[name])]
    lacking = {name: _missing_value(entity, name, names[name], name in required(schema)) for name in plain}

    def show(record: Record, _view: View) -> Json:
        try:
            body = {name: record[name] for name in plain}
        except KeyError:
            body = _partial(record, lacking)
        if None in body.values():
            for name in never_null:
                if body.get(name, ABSENT) is None:
                    del body[name]
        return body

    return show


def _is_name(entity: Entity) -> bool:
    """Whether records are only names: those of a list of names in the given state."""
    return entity.natural and [*entity.fields] == [entity.key] and not entity.fields[entity.key].hidden


def _name_alone(entity: Entity) -> Show:
    """Return the projection of a record to its name, unless a call gave it more fields."""
    key, whole = entity.key, _whole(entity)
    return lambda record, view: record[key] if len(record) == 1 else whole(record, view)


def _whole(entity: Entity) -> Callable[[Record, View], Record]:
    """Return a projection to all fields, except hidden ones and passwords."""
    hidden = frozenset(name for name, field in entity.fields.items() if field.hidden or snake(name) in SECRETS)
    return lambda record, _view: {name: value for name, value in record.items() if name not in hidden}


def _fitting(whole: Callable[[Record, View], Record], values: Record) -> Show:
    """Return the projection without the values that a mapping's schema does not allow."""
    if not values:
        return whole
    allows = validity_test(values)
    return lambda record, view: {name: value for name, value in whole(record, view).items() if allows(value)}


def _partial(record: Record, lacking: Mapping[str, Callable[[Record], Json]]) -> Record:
    """Return the fields of a record, with substitutes for missing ones."""
    body: Record = {}
    for name, instead in lacking.items():
        value = record[name] if name in record else instead(record)
        if value is not ABSENT:
            body[name] = value
    return body


def _missing_value(entity: Entity, name: str, schema: Record, needed: bool) -> Callable[[Record], Json]:
    """Return the substitute for a missing field: the key, nothing, null, or if required a fixed generated value."""
    if is_alias_of_key(entity, name) and main_type(schema) in {_kind(entity), ""}:
        return lambda record: record.get(entity.key, ABSENT)
    if not needed:
        return lambda _record: ABSENT
    if is_nullable(schema):
        return lambda _record: None
    make = value_maker(entity.name, name, schema)
    return lambda record: make(chance_of(entity.name, record.get(entity.key), name), record, Moment.unknown())


def is_alias_of_key(entity: Entity, name: str) -> bool:
    """Whether a name means the key under another name: `id` and `order_id` of an order, `code` and `order_code`."""
    ending = last_word(entity.key)
    ids = {ending, f"{entity.name}_{ending}", f"{entity.name.rpartition('_')[2]}_{ending}"}
    return name != entity.key and {snake(name), snake(entity.key)} <= ids


def _kind(entity: Entity) -> str:
    return main_type(entity.fields[entity.key].schema) if entity.key in entity.fields else ""


def _scalar(entity: Entity, schema: Record) -> Show:
    """Return the projection to a single value or a list: the key if the schema allows it, else a generated value.

    Instead of a hidden key, it is the first field that is not hidden: the member of a membership.
    """
    visible, kind = [name for name, field in entity.fields.items() if not field.hidden], main_type(schema)
    key = visible[0] if visible and entity.key in entity.fields and entity.key not in visible else entity.key
    make = value_maker(entity.name, key if kind == "integer" else entity.name, schema)
    allows = validity_test(schema)

    def show(record: Record, _view: View) -> Json:
        value = str(record.get(key)) if kind == "string" else record.get(key)
        return value if allows(value) else make(chance_of(entity.name, record.get(key)), record, Moment.unknown())

    return show
