"""Which records does a world begin with? Made from the entities, linked with each other, the same for the same seed.

A record's values depend on seed, entity, key and field, not on how many others there are; only what it links to does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mcp_sim.domain import Domain, Entity, Field
from mcp_sim.draws import SEPARATOR
from mcp_sim.records.chance import Chance
from mcp_sim.records.keys import base_keys
from mcp_sim.records.timeline import Moment, born
from mcp_sim.records.times import moment_of, sense
from mcp_sim.records.values import Make, chance_of, value_maker
from mcp_sim.scenario import GivenRecords
from mcp_sim.schemas import IMPOSSIBLE, is_nullable, main_type
from mcp_sim.types import Json, Key, Record

DEFAULT_COUNT = 20
"""How many records an entity has of which the scenario says nothing."""

_PRESENT = 0.85
_MOST_LINKED = 3

Tables: TypeAlias = Mapping[str, Mapping[Key, Record]]
Choose: TypeAlias = Callable[[Chance, Record, Key], Json]
"""Chooses what a record links to; the key is the record's own."""


def generate(domain: Domain, given: Mapping[str, GivenRecords], seed: int) -> dict[str, dict[Key, Record]]:
    """The records of every entity, in the order of creation: first the rows that are given, completed, then others."""
    asked = {name: given.get(name, GivenRecords(_usual(domain.entities[name]))) for name in domain.entities}
    keys = {name: _keys(domain.entities[name], asked[name], seed) for name in domain.entities}
    for name in orphans(domain.entities, asked):
        keys[name] = keys[name][: len(asked[name].rows)]
    tables: dict[str, dict[Key, Record]] = {name: {} for name in domain.entities}
    for name in _linked_first(domain.entities):
        rows = dict(zip(keys[name], asked[name].rows, strict=False))
        tables[name].update(_Writer(domain, name, seed, keys, tables).written(rows))
    return tables


def _usual(entity: Entity) -> int:
    return 1 if entity.singleton else DEFAULT_COUNT


def _keys(entity: Entity, asked: GivenRecords, seed: int) -> list[Key]:
    """All keys of an entity: those of the rows first, made up where a row has none."""
    if entity.singleton:
        return [entity.name]
    named = {row[entity.key] for row in asked.rows if row.get(entity.key) is not None}
    total = max(asked.count, len(asked.rows))
    fresh = iter(base_keys(entity, total - len(named), named, seed))
    rows: list[Key] = [row[entity.key] if row.get(entity.key) is not None else next(fresh) for row in asked.rows]
    return [*rows, *fresh]


def orphans(entities: Mapping[str, Entity], given: Mapping[str, GivenRecords]) -> dict[str, str]:
    """The entities of which no records are made up, because they must link to one that has none; each with that one."""
    asked = {name: given.get(name, GivenRecords(_usual(entities[name]))) for name in entities}
    counts = {name: max(one.count, len(one.rows)) for name, one in asked.items()}
    found: dict[str, str] = {}
    while True:
        lost = {
            name: field.link or ""
            for name, entity in entities.items()
            for field in entity.fields.values()
            if counts[name] > len(asked[name].rows) and _must_link(field) and not counts.get(field.link or "")
        }
        if not lost:
            return found
        found |= lost
        counts |= {name: len(asked[name].rows) for name in lost}


def _must_link(field: Field) -> bool:
    one = field.link is not None and main_type(field.schema) != "array"
    return one and field.required and not is_nullable(field.schema)


def _linked_first(entities: Mapping[str, Entity]) -> list[str]:
    """The entities, each behind those it links to; where they link in a circle, in the order they are declared."""
    ordered: dict[str, None] = {}

    def visit(name: str, trail: tuple[str, ...]) -> None:
        if name in ordered or name in trail or name not in entities:
            return
        for field in entities[name].fields.values():
            if field.link is not None:
                visit(field.link, (*trail, name))
        ordered[name] = None

    for name in entities:
        visit(name, ())
    return list(ordered)


@dataclass(frozen=True, slots=True)
class _Part:
    """How one field is filled. `present`: how likely it is that there is a value at all; else null or nothing."""

    name: str
    salt: bytes
    present: float
    nullable: bool
    make: Make | None = None
    choose: Choose | None = None


class _Writer:
    """Writes the records of one entity."""

    def __init__(
        self,
        domain: Domain,
        entity: str,
        seed: int,
        keys: Mapping[str, Sequence[Key]],
        tables: Mapping[str, Mapping[Key, Record]],
    ) -> None:
        self.domain, self.seed, self.keys, self.tables = domain, seed, keys, tables
        self.entity = domain.entities[entity]
        self.places = {key: at for at, key in enumerate(keys[entity])} if self._links_to_itself() else {}
        self.parts = [self._part(field) for field in sorted(self._stored(), key=self._rank)]
        self.order = [name for name in self.entity.fields if self.entity.fields[name].derived is None]

    def written(self, rows: Mapping[Key, Record]) -> dict[Key, Record]:
        now = self.domain.now
        made: dict[Key, Record] = {}
        for index, key in enumerate(self.keys[self.entity.name]):
            salt = f"{self.seed}{SEPARATOR}{self.entity.name}{SEPARATOR}{key}{SEPARATOR}".encode()
            moment = Moment(born(index, chance_of(self.seed, self.entity.name, index), now), now)
            made[key] = self._record(key, rows.get(key), salt, moment)
        return made

    def _record(self, key: Key, row: Record | None, salt: bytes, moment: Moment) -> Record:
        named: Record = {} if self.entity.singleton else {self.entity.key: key}
        record = dict(named)
        if row is not None:
            record.update({name: value for name, value in row.items() if not self._is_derived(name)})
            record.update(named)
            moment = self._as_told(record, moment)
        for part in self.parts:
            if part.name in record:
                continue
            chance = Chance(salt + part.salt)
            if part.present >= 1 or chance.unit() < part.present:
                value = self._value(part, chance, record, key, moment)
                if value is None and not part.nullable:
                    continue
                record[part.name] = value
            elif part.nullable:
                record[part.name] = None
        return {name: record[name] for name in (*self.order, *record) if name in record}

    @staticmethod
    def _value(part: _Part, chance: Chance, record: Record, key: Key, moment: Moment) -> Json:
        if part.choose is not None:
            return part.choose(chance, record, key)
        return part.make(chance, record, moment) if part.make is not None else None

    def _as_told(self, record: Record, moment: Moment) -> Moment:
        """A row that says when it was made was made then."""
        for name, field in self.entity.fields.items():
            if name in record and sense(name, field.schema) == "created":
                told = moment_of(record[name])
                return Moment(min(told, moment.now), moment.now) if told else moment
        return moment

    def _stored(self) -> Iterable[Field]:
        return [f for f in self.entity.fields.values() if f.derived is None and f.name != self.entity.key]

    def _is_derived(self, name: str) -> bool:
        field = self.entity.fields.get(name)
        return field is not None and field.derived is not None

    def _links_to_itself(self) -> bool:
        return any(field.link == self.entity.name for field in self.entity.fields.values())

    def _part(self, field: Field) -> _Part:
        nullable = is_nullable(field.schema)
        certain = field.required and not nullable
        present = 0.0 if field.schema == IMPOSSIBLE else 1.0 if certain else _PRESENT
        salt = field.name.encode("utf-8", "surrogatepass")
        if field.link is not None and field.link in self.keys:
            return _Part(field.name, salt, present, nullable, choose=self._chooser(field))
        return _Part(field.name, salt, present, nullable, make=value_maker(self.entity.name, field.name, field.schema))

    def _rank(self, field: Field) -> int:
        """The order in which fields are filled: names before what is made of them, links after what they may follow."""
        if field.link is not None:
            return 2 if self._by_way_of(field) else 1
        meaning = sense(field.name, field.schema)
        if meaning == "created" or field.name.lower().endswith("name") or field.name in {"city", "title"}:
            return 0
        return 4 if meaning in {"updated", "end"} else 3

    # links

    def _chooser(self, field: Field) -> Choose:
        keys = self.keys[field.link or ""]
        if main_type(field.schema) == "array":
            return lambda chance, _record, _key: _some(chance, keys)
        if field.link == self.entity.name:
            return self._among_earlier
        by_way = self._by_way_of(field)
        if by_way is not None:
            return self._following(field, *by_way)
        return lambda chance, _record, _key: chance.choice(keys) if keys else None

    def _among_earlier(self, chance: Chance, _record: Record, key: Key) -> Json:
        """A record of the same entity that was there before: half of them have none."""
        place = self.places[key]
        return self.keys[self.entity.name][chance.below(place)] if place and chance.unit() < 0.5 else None

    def _by_way_of(self, field: Field) -> tuple[str, str, str] | None:
        """Another link of this entity whose target links to the same: a deal's company is its contact's company."""
        for other in self.entity.fields.values():
            if other.link in {None, field.link, self.entity.name} or main_type(other.schema) == "array":
                continue
            target = self.domain.entities.get(other.link or "")
            for theirs in target.fields.values() if target else ():
                if theirs.link == field.link and main_type(theirs.schema) != "array" and self.tables[other.link or ""]:
                    return other.name, other.link or "", theirs.name
        return None

    def _following(self, field: Field, mine: str, target: str, theirs: str) -> Choose:
        keys, needed = self.keys[field.link or ""], _must_link(field)

        def follow(chance: Chance, record: Record, _key: Key) -> Json:
            linked = self.tables[target].get(record[mine]) if record.get(mine) is not None else None
            found = linked.get(theirs) if linked is not None else None
            if found is not None or (linked is not None and not needed):
                return found
            return chance.choice(keys) if keys else None

        return follow


def _some(chance: Chance, keys: Sequence[Key]) -> list[Key]:
    wanted = min(chance.below(_MOST_LINKED + 1), len(keys))
    return list(dict.fromkeys(chance.choice(keys) for _ in range(wanted)))
