"""Edits and new records by other users."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from datetime import datetime
from itertools import islice

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.keys import key_maker, next_key
from mcp_sim.generate.time_fields import Moment, format_time, time_meaning
from mcp_sim.generate.values import value_maker
from mcp_sim.types import Change, Json, Key, Record, View, find_key, frozen
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_schema.shapes import is_nullable, main_type
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import in_list

TRIES = 8  # how often a value is drawn for a field until it differs from the present one

VERSION = re.compile(r"(.*_)?(version|revision|rev)")


@frozen
class Editor:
    """Edits records of one entity as another user of the same tools would.

    `values` are the fields to write. Without any, one field is drawn and gets another value. Fields that hold the time
    of the last change or a version number are updated with every edit.
    """

    entity: Entity
    values: Mapping[str, Json]

    def edited(self, view: View, key: Key, now: datetime, chance: Chance, spared: Container[str] = ()) -> Change | None:
        """Return the edit of a record; None if it is missing, would not change, or would get a dangling link.

        `spared` fields are drawn only if there is no other.
        """
        before = view.get(self.entity.name, key)
        if before is None:
            return None
        given = dict(self.values) or self._drawn(before, now, chance, spared)
        changed = any(name not in before or not equal(before[name], value) for name, value in given.items())
        if not changed or _has_dangling_link(self.entity, view, given):
            return None
        moved: Record = {}
        for field in self.entity.fields.values():
            number = before.get(field.name)
            if field.name in given:
                continue
            if time_meaning(field.name, field.schema) == "updated":
                moved[field.name] = format_time(now, field.name, field.schema)
            elif isinstance(number, int) and VERSION.fullmatch(field.name):
                moved[field.name] = number + 1
        record = {**before, **given, **moved}
        return Change("put", self.entity.name, key, record, expected=view.version(self.entity.name, key))

    def _drawn(self, record: Record, now: datetime, chance: Chance, spared: Container[str]) -> Record:
        """Draw a field and another value for it."""
        fields = [field for field in self.entity.fields.values() if _is_open(self.entity, field)]
        rest = [field for field in fields if field.name not in spared] or fields
        while rest:
            field = rest.pop(chance.below(len(rest)))
            make = value_maker(self.entity.name, field.name, field.schema)
            values = (make(chance, record, Moment(now, now)) for _ in range(TRIES))
            for value in values:
                if not equal(value, record.get(field.name)):
                    return {field.name: value}
        return {}


def _is_open(entity: Entity, field: Field) -> bool:
    """Whether a user may set the field freely: it is not a key, link, version, time or object."""
    if field.name == entity.key or field.link is not None or VERSION.fullmatch(field.name):
        return False
    return time_meaning(field.name, field.schema) is None and main_type(field.schema) not in {"object", "null"}


def _has_dangling_link(entity: Entity, view: View, given: Record) -> bool:
    """Whether a written link refers to a missing record."""
    written = ((entity.fields[name].link, value) for name, value in given.items() if name in entity.fields)
    links = ((link, key) for link, value in written if link is not None for key in in_list(value))
    return any(key is not None and find_key(view, link, key) is None for link, key in links)


def value_problems(entity: Entity, values: Mapping[str, Json]) -> list[str]:
    """Return the problems of values that an edit should write into a record of this entity."""
    problems = [f"{entity.key!r} identifies the {entity.name} and cannot be changed"] if entity.key in values else []
    for name, value in values.items():
        field = entity.fields.get(name)
        if field is None and entity.fields and name != entity.key:
            problems.append(f"{entity.name} has no field {name!r}{did_you_mean(name, entity.fields)}")
        elif field is not None:
            problems += [f"{name}: {problem}" for problem in Validator(field.schema).problems(value)]
    return problems


MAX_TARGETS = 1000  # a generated link targets one of this many oldest records


@frozen
class Inserter:
    """Creates records of one entity as another user of the same tools would. `values` are fixed fields."""

    entity: Entity
    values: Mapping[str, Json]

    def inserted(self, view: View, now: datetime, draws: Draws) -> Change | None:
        """Return the change that creates a record; None if a required link has no target."""
        key = next_key(self.entity, key_maker(self.entity), view, draws)
        chance = Chance(draws.key + f"insert/{self.entity.name}/{key}".encode("utf-8", "surrogatepass"))
        record: Record = {self.entity.key: key, **self.values}
        for field in self.entity.fields.values():
            if field.name in record:
                continue
            value = self._value(field, view, now, chance, record)
            if value is None and not is_nullable(field.schema):
                if field.required:
                    return None
                continue
            record[field.name] = value
        order = [name for name in self.entity.fields if name in record]
        return Change("put", self.entity.name, key, {name: record[name] for name in dict.fromkeys((*order, *record))})

    def _value(self, field: Field, view: View, now: datetime, chance: Chance, record: Record) -> Json:
        if field.link is not None:
            keys = [key for key, _ in islice(view.rows(field.link), MAX_TARGETS)]
            key = chance.choice(keys) if keys else None
            return key if main_type(field.schema) != "array" else [] if key is None else [key]
        if time_meaning(field.name, field.schema) in {"created", "updated"}:
            return format_time(now, field.name, field.schema)
        return value_maker(self.entity.name, field.name, field.schema)(chance, record, Moment(now, now))
