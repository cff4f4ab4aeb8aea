"""Generate the initial records of a world, linked with each other.

The values of a record depend on seed, entity, key and field only. Its creation time and its links also depend on the
number of records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mcp_sim.generate.invention import Pick, embedder
from mcp_sim.generate.keys import initial_keys
from mcp_sim.generate.links import Targets
from mcp_sim.generate.record_counts import orphans, total_count, usual_count
from mcp_sim.generate.record_writer import RecordWriter, creation_times
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.setting import setting_of
from mcp_sim.generate.values import chance_of
from mcp_sim.types import Key, Record
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.scenario import GivenRecords


def generate(domain: Domain, given: Mapping[str, GivenRecords], seed: int) -> dict[str, dict[Key, Record]]:
    """Return the records of every entity: first the given rows, completed, then generated ones by creation time."""
    draft = Draft(domain, given, seed)
    for name in draft.order:
        if name in given and given[name].whole:
            draft.tables[name].update(draft.given(name))
        else:
            draft.write(name, draft.given(name))
    for name in () if domain.programs else draft.order:
        draft.embed(name)
    return draft.tables


class Draft:
    """Initial records in the making. Keys and creation times are fixed; tables are written one by one.

    `order` lists each entity after those that it links to. `namesakes`: whether two people may have the same name.
    """

    def __init__(self, domain: Domain, given: Mapping[str, GivenRecords], seed: int, *, namesakes: bool = True) -> None:
        self.domain, self.seed, self._namesakes = domain, seed, namesakes
        self.order = _linked_first(domain.entities)
        self._asked = {
            name: given.get(name, GivenRecords(usual_count(domain.entities[name]))) for name in domain.entities
        }
        self.keys = {name: _keys(domain.entities[name], self._asked[name], seed) for name in domain.entities}
        for name in orphans(domain.entities, self._asked):
            self.keys[name] = self.keys[name][: len(self._asked[name].rows)]
        self.tables: dict[str, dict[Key, Record]] = {name: {} for name in domain.entities}
        levels: dict[str, int] = {}  # the lengths of the longest chains of links; cycles are ignored
        for name in self.order:
            linked = [levels[link] for link in _links(domain.entities[name]) if link in levels]
            levels[name] = 1 + max(linked) if linked else 0
        self.created_at = {
            name: creation_times(domain.entities[name], len(self.keys[name]), seed, domain.now, levels[name])
            for name in self.order
        }
        self.targets = {
            name: Targets(name, seed, self.keys[name], self.created_at[name], self.tables[name])
            for name in domain.entities
        }
        self._setting = setting_of(domain)
        self._embed = embedder(domain)

    def given(self, name: str) -> dict[Key, Record]:
        """Return the given rows of an entity, by key."""
        return dict(zip(self.keys[name], self._asked[name].rows, strict=False))

    def writer(self, name: str) -> RecordWriter:
        """Return the writer of an entity's records. The entities that it links to must have been written."""
        entity = self.domain.entities[name]
        return RecordWriter(self.domain, entity, self.seed, self.targets, self._setting, namesakes=self._namesakes)

    def write(self, name: str, rows: Mapping[Key, Record]) -> None:
        """Write all records of an entity. `rows` holds given fields of some of them."""
        self.writer(name).write(rows, self.tables[name], self.created_at[name])

    def embed(self, name: str) -> None:
        """Show known records in the objects of generated records. All entities must have been written."""
        given = self.given(name)
        fields = self.domain.entities[name].fields.values()
        for field in fields:
            if field.link is not None or main_type(field.schema) not in {"object", "array", ""}:
                continue
            is_valid = validity_test(field.schema)
            for key, record in self.tables[name].items():
                if key not in given and isinstance(record.get(field.name), dict | list):
                    value = self._embed(field.name, field.schema, record[field.name], self._picker(name, key))
                    record[field.name] = value if is_valid(value) else record[field.name]

    def _picker(self, name: str, key: Key) -> Pick:
        """Return what chooses records for the places in a record."""

        def pick(entity: str, place: str) -> Record | None:
            keys = self.keys[entity]
            chance = chance_of(self.seed, name, key, entity, place)
            return self.tables[entity].get(keys[chance.below(len(keys))]) if keys else None

        return pick

    def drop(self, name: str, key: Key) -> None:
        """Remove a record. No other record may link to it yet."""
        place = self.keys[name].index(key)
        del self.keys[name][place], self.created_at[name][place], self.tables[name][key]


def _keys(entity: Entity, asked: GivenRecords, seed: int) -> list[Key]:
    """Return all keys of an entity, those of the given rows first. Rows without a key get a generated one."""
    if entity.singleton:
        return [entity.name]
    asked_keys = {row[entity.key] for row in asked.rows if row.get(entity.key) is not None}
    fresh = iter(initial_keys(entity, total_count(entity, asked) - len(asked_keys), asked_keys, seed))
    rows: list[Key] = [row[entity.key] if row.get(entity.key) is not None else next(fresh) for row in asked.rows]
    return [*rows, *fresh]


def _links(entity: Entity) -> Iterator[str]:
    return (field.link for field in entity.fields.values() if field.link is not None)


def _linked_first(entities: Mapping[str, Entity]) -> list[str]:
    """Sort entities so that each follows those it links to. Entities in a cycle keep their declared order."""
    ordered: dict[str, None] = {}
    for first in entities:
        trail: dict[str, Iterator[str]] = {first: _links(entities[first])}
        while trail:  # no recursion: a chain of links may be long
            name, links = next(reversed(trail.items()))
            following = next(
                (link for link in links if link in entities and link not in trail and link not in ordered), None
            )
            if following is None:
                ordered[name] = None
                del trail[name]
            else:
                trail[following] = _links(entities[following])
    return list(ordered)
