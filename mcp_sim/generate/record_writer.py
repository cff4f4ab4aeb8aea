"""Write generated records field by field. Each value may depend on the fields before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import cast

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.coherence import adjustments
from mcp_sim.generate.conformance import record_conformers
from mcp_sim.generate.links import Choose, Targets, indirect_link, inherited_fields, inherited_value, link_chooser
from mcp_sim.generate.numbers import is_coordinate
from mcp_sim.generate.schema_constraints import Make
from mcp_sim.generate.setting import Setting
from mcp_sim.generate.time_fields import Moment, creation_time, event_of, has_reached, time_meaning
from mcp_sim.generate.uniqueness import is_unique, make_distinct, unique_together
from mcp_sim.generate.values import value_maker
from mcp_sim.types import Json, Key, Record, frozen
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.draws import SEPARATOR
from mcp_sim.types.json_schema.expansion import IMPOSSIBLE
from mcp_sim.types.json_schema.satisfiability import is_satisfiable
from mcp_sim.types.json_schema.shapes import constants, is_nullable, main_type
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.time_formats import parse_time

_PRESENT = 0.85  # most optional fields are there, and some are missing, as in real records
_TRIES = 8  # bounds the search where a field has few values
_MANY = 1_000  # the number of taken values above which another draw rarely finds a free one

_FIRST = frozenset({"gender", "sex", "city", "currency"})  # fields that names and amounts depend on

_ACCOUNTS = frozenset({"username", "user_name", "login_name", "screen_name", "nickname"})


@frozen
class _Part:
    """How one field is filled. `present` is the probability of a value; otherwise the field is null or missing.

    `step` is the event whose time the field holds, and `steps` are the states of the record in order. `taken` holds the
    values that no other record may have.
    """

    name: str
    salt: bytes
    present: float
    nullable: bool
    make: Make | None = None
    choose: Choose | None = None
    step: str | None = None
    steps: tuple[str, ...] = ()
    taken: dict[Json, int] | None = None
    schema: Record | None = None


class RecordWriter:
    """Writes the records of one entity. `targets` are the records of all entities that have been written.

    `namesakes`: whether two people may have the same name. `pair`: the fields that are unique together.
    """

    def __init__(
        self,
        domain: Domain,
        entity: Entity,
        seed: int,
        targets: Mapping[str, Targets],
        setting: Setting,
        *,
        namesakes: bool = True,
    ) -> None:
        self.domain, self.entity, self.seed, self.targets, self.setting = domain, entity, seed, targets, setting
        self.namesakes = namesakes
        fields = [field for field in entity.fields.values() if field.name != entity.key]
        states = (field for field in entity.fields.values() if snake(field.name) in {"status", "state", "stage"})
        choices = next((constants(field.schema) for field in states), ())
        self.steps = tuple(snake(choice) for choice in choices if isinstance(choice, str))
        self.parts = [self._part(field) for field in sorted(fields, key=self._rank)]
        self.order = [*entity.fields]
        self.inherits = inherited_fields(domain, entity)
        self.tables = {name: target.records for name, target in targets.items()}
        self.adjustments, self.conforms = adjustments(entity), record_conformers(domain, entity)
        self.pair = unique_together(entity, namesakes=namesakes)

    def write(self, rows: Mapping[Key, Record], written: dict[Key, Record], created_at: Sequence[datetime]) -> None:
        """Write all records into `written`. `rows` holds the given fields of some of them."""
        now, pairs = self.domain.now, set[tuple[Json, ...]]()
        for row in rows.values():
            for field_part in self.parts:
                if field_part.taken is not None and isinstance(row.get(field_part.name), str):
                    field_part.taken[row[field_part.name]] = 1
        for place, key in enumerate(self.targets[self.entity.name].keys):
            salt = f"{self.seed}{SEPARATOR}{self.entity.name}{SEPARATOR}{key}{SEPARATOR}".encode(
                "utf-8", "surrogatepass"
            )
            record = self._record(key, rows.get(key), salt, place, Moment(created_at[place], now))
            for again in range(_TRIES if self.pair else 0):
                pair = tuple(record.get(name) for name in self.pair)
                if key in rows or pair not in pairs:
                    pairs.add(pair)
                    break
                record = self._record(key, None, salt + bytes([again]), place, Moment(created_at[place], now))
            written[key] = record

    def _record(self, key: Key, row: Record | None, salt: bytes, place: int, moment: Moment) -> Record:
        record: Record = {} if self.entity.singleton else {self.entity.key: key}
        given: frozenset[str] = frozenset()
        if row is not None:
            record = {**row, **record}
            moment, given = self._row_times(record, moment), frozenset(record)
        for field_part in self.parts:
            if field_part.name not in record:
                self._fill(field_part, Chance(salt + field_part.salt), record, place, moment, given=row is not None)
        for rule in self.inherits:
            if rule.name not in given and record.get(rule.name) is not None:
                value = inherited_value(record, rule, self.tables)
                record[rule.name] = record[rule.name] if value is None else value
        for name, adjust in self.adjustments:
            if name not in given:
                adjust(record)
        for conform in self.conforms:
            record = conform(record, given)
        ordered = {name: record[name] for name in self.order if name in record}
        return ordered if len(ordered) == len(record) else ordered | record

    def _fill(
        self, field_part: _Part, chance: Chance, record: Record, place: int, moment: Moment, *, given: bool
    ) -> None:
        """Set the value of a field. A `given` row gets required values and defaults only."""
        value: Json = None
        if given and field_part.present < 1:
            value = (field_part.schema or {}).get("default")
        elif field_part.present >= 1 or self._is_there(field_part, chance, record):
            if field_part.choose is not None:
                value = field_part.choose(chance, record, place, moment)
            elif field_part.make is not None:
                value = self._distinct(field_part.make, field_part, chance, record, moment)
        if value is not None or field_part.nullable:
            record[field_part.name] = value

    @staticmethod
    def _is_there(field_part: _Part, chance: Chance, record: Record) -> bool:
        there = chance.unit() < field_part.present
        reached = has_reached(field_part.step, record, field_part.steps) if field_part.step is not None else None
        return there if reached is None else reached

    @staticmethod
    def _distinct(make: Make, field_part: _Part, chance: Chance, record: Record, moment: Moment) -> Json:
        """Make a value; if the field's values are unique, one that is not taken. Lists and objects may be alike."""
        value, taken = make(chance, record, moment), field_part.taken
        if taken is None:
            return value
        tries = _TRIES if len(taken) < _MANY else 1
        while not isinstance(value, dict | list) and value in taken and tries:
            value, tries = make(chance, record, moment), tries - 1
        if isinstance(value, dict | list):
            return cast("Json", value)
        if value in taken:
            value = make_distinct(value, taken, field_part.schema or {})
        taken[value] = 1
        return value

    def _row_times(self, record: Record, moment: Moment) -> Moment:
        """Return the times of a record whose given row may hold its creation time."""
        for name, field in self.entity.fields.items():
            if name in record and time_meaning(name, field.schema) == "created":
                created = parse_time(record[name])
                return Moment(min(created, moment.now), moment.now) if created else moment
        return moment

    def _part(self, field: Field) -> _Part:
        nullable, schema = is_nullable(field.schema), field.schema
        certain = field.required and not nullable
        impossible = schema == IMPOSSIBLE or (not field.required and is_satisfiable(schema) is False)
        present = 0.0 if impossible else 1.0 if certain else _PRESENT
        salt = field.name.encode("utf-8", "surrogatepass")
        if field.link is not None and field.link in self.targets:
            choose = link_chooser(self.domain, self.entity, field, self.targets)
            return _Part(field.name, salt, present, nullable, choose=choose)
        make = value_maker(self.entity.name, field.name, schema, self.setting)
        step = event_of(field.name) if time_meaning(field.name, schema) else None
        taken = dict[Json, int]() if is_unique(self.entity, field, namesakes=self.namesakes) else None
        return _Part(field.name, salt, present, nullable, make, None, step, self.steps, taken, schema)

    def _rank(self, field: Field) -> int:
        """Return the rank by which fields are filled: names before values derived from them, dependent links last."""
        if field.link is not None:
            return 2 if indirect_link(self.domain, self.entity, field) else 1
        meaning, name = time_meaning(field.name, field.schema), snake(field.name)
        if name in _FIRST:
            return -1
        is_name = (name.endswith("name") and name not in _ACCOUNTS) or name in {"title", "subject"}
        if meaning == "created" or is_name:
            return 0
        if meaning is not None or is_coordinate(field.name):
            return 6 if meaning in {"updated", "end"} else 5
        return 4 if main_type(field.schema) == "string" and "enum" not in field.schema else 3


def creation_times(entity: Entity, count: int, seed: int, now: datetime, level: int) -> list[datetime]:
    """Return the creation times of an entity's records, in ascending order."""
    salt = f"{seed}{SEPARATOR}{entity.name}{SEPARATOR}".encode("utf-8", "surrogatepass")
    return [creation_time(index, count, Chance(salt + b"%d" % index), now, level) for index in range(count)]
