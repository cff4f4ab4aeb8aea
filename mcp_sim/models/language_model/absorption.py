"""Compare a predicted observation with the world, correct it, and absorb what is new.

A model that predicts a whole observation names records, links and totals. Those that the world has are shown as the
world has them. Further fields of a record are absorbed into the state. What contradicts the world is repaired.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from mcp_sim.backends.records.accepted_keys import may_exist
from mcp_sim.generate.missing_records import choose_key, generate_record, link_candidates
from mcp_sim.types import Change, Json, Key, Record, Turn, View
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import is_nullable
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import plural, singular, snake

Path: TypeAlias = tuple[str, ...]

OMITTED: Any = object()
"""Marks a row or a field that is left out."""

TOTALS = frozenset({"total", "total_count", "total_results", "count", "num_results", "result_count"})
_NUMBERED = re.compile(r"(.*?[A-Za-z].*?)(\d+)(\D{0,2})")


@dataclass(frozen=True, slots=True)
class RecordNames:
    """How observations name the records of a domain.

    `records` maps property names to the entities whose records they hold, `links` maps them to the entities that they
    refer to. `ids` has patterns of ids within texts.
    """

    domain: Domain
    records: dict[str, str]
    links: dict[str, str]
    ids: tuple[tuple[str, re.Pattern[str]], ...]

    @classmethod
    def of(cls, domain: Domain) -> RecordNames:
        several = [entity for entity in domain.entities.values() if not entity.singleton]
        names = [(entity, entity.name.rpartition(".")[2]) for entity in several]
        records = {form: entity.name for entity, name in names for form in (snake(name), snake(plural(name)))}
        links = {f"{snake(name)}_id": entity.name for entity, name in names}
        return cls(domain, records, links, tuple(_ids(domain)))

    def entity(self, name: str) -> Entity | None:
        """Return the entity whose records a property of this name holds."""
        form = snake(name)
        found = self.records.get(form) or self.records.get(singular(form))
        return None if found is None else self.domain.entities[found]

    def link(self, name: str) -> str | None:
        """Return the entity that a property of this name refers to."""
        return self.links.get(snake(name))


def _ids(domain: Domain) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield a pattern of ids within texts for each entity whose ids are unmistakable."""
    for entity in domain.entities.values():
        found = _NUMBERED.fullmatch(entity.key_like) if isinstance(entity.key_like, str) else None
        if found is not None and len(found[1]) > 1:
            width = len(found[2])
            yield entity.name, re.compile(rf"(?<!\w){re.escape(found[1])}\d{{{width},}}{re.escape(found[3])}(?!\w)")


@dataclass(slots=True)
class Absorption:
    """The comparison of one observation with the world.

    It collects the absorbed records, the paths of the repaired values, and the problems that cannot be repaired.
    """

    record_names: RecordNames
    turn: Turn
    view: View
    invent: Invent
    record_paths: Mapping[Path, Entity]
    """Path -> the entity whose records are there, as far as the tool's plan shows."""
    absorbed: dict[tuple[str, Key], Change] = field(default_factory=dict[tuple[str, Key], Change])
    repaired: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])

    def resolve(self, value: Json, path: Path, entity: Entity | None, *, is_row: bool = False) -> Json:
        """Return a part of the observation in the form to serve; `entity` is the one whose records it holds."""
        entity = self.record_paths.get(path, entity)
        match value:
            case dict():
                return self._object(cast("Record", value), path, entity, is_row=is_row)
            case list():
                rows = [
                    self.resolve(row, (*path, str(at)), entity, is_row=True)
                    for at, row in enumerate(cast("list[Json]", value))
                ]
                return [row for row in rows if row is not OMITTED]
            case str():
                return self._text(value, path)
            case _:
                return value

    # records

    def _object(self, value: Record, path: Path, entity: Entity | None, *, is_row: bool) -> Json:
        if entity is not None and isinstance(value.get(entity.key), str | int):
            return self._record(value, path, entity, is_row=is_row)
        return self._with_true_total(
            {name: part for name, part in self._parts(value, path, None) if part is not OMITTED}, path
        )

    def _parts(self, value: Record, path: Path, entity: Entity | None) -> Iterator[tuple[str, Json]]:
        for name, part in value.items():
            here = (*path, name)
            declared = entity.fields.get(name) if entity is not None else None
            link = declared.link if declared is not None and declared.derived is None else None
            if link is None and not isinstance(part, dict):
                link = self.record_names.link(name)
            if entity is not None and name == entity.key:
                yield name, part
            elif link is not None:
                yield name, self._linked(part, here, link, declared)
            else:
                yield name, self.resolve(part, here, self.record_names.entity(name))

    def _record(self, value: Record, path: Path, entity: Entity, *, is_row: bool) -> Json:
        key: Key = value[entity.key]
        stored = self.view.get(entity.name, key)
        if stored is None and self._may_be_new(entity, key):
            stored = self._add_record(entity, key, self._own_fields(value, path, entity))
        if stored is None:
            others = link_candidates(self.view, entity.name)
            if is_row or not others:
                return self._unknown(entity, key, path, is_row=is_row)
            key = choose_key(others, self.turn.draws, ".".join(path))
            stored = self.view.get(entity.name, key) or {}
            self.repaired.append(".".join((*path, entity.key)))
        return self._as_stored({**value, entity.key: key}, path, entity, stored)

    def _unknown(self, entity: Entity, key: Key, path: Path, *, is_row: bool) -> Json:
        if is_row:
            self.repaired.append(".".join(path))
        else:
            self.problems.append(f"R1: there is no {entity.name} {key!r}, nor any other")
        return OMITTED

    def _as_stored(self, value: Record, path: Path, entity: Entity, stored: Record) -> Record:
        """Return the record as the world has it, and absorb further fields."""
        key: Key = value[entity.key]
        shown: Record = {}
        fresh: Record = {}
        for name, part in self._parts(value, path, entity):
            if name in stored:
                shown[name] = stored[name]
                if not equal(stored[name], value[name]):
                    self.repaired.append(".".join((*path, name)))
            elif part is not OMITTED:
                shown[name] = part
                fresh |= {name: part} if self._is_record_field(entity, name, path) else {}
        if fresh:
            self._absorb(entity, key, {**stored, **fresh})
        return shown

    def _is_record_field(self, entity: Entity, name: str, path: Path) -> bool:
        """Whether a property is a field of the record, and not of its envelope."""
        declared = entity.fields.get(name)
        return declared.derived is None if declared is not None else bool(path) and not self.record_names.entity(name)

    def _own_fields(self, value: Record, path: Path, entity: Entity) -> Record:
        """Return the fields of a record that is new to the world."""
        parts = self._parts(value, path, entity)
        return {name: part for name, part in parts if part is not OMITTED and self._is_record_field(entity, name, path)}

    def _may_be_new(self, entity: Entity, key: Json) -> bool:
        return (self.record_names.domain.open or entity.open) and may_exist(self.view, key, entity=entity)

    def _add_record(self, entity: Entity, key: Key, fields: Record) -> Record:
        record = generate_record(self.turn, entity, key, self.invent, fields)
        self._absorb(entity, key, record)
        return record

    def _absorb(self, entity: Entity, key: Key, record: Record) -> None:
        change = Change("put", entity.name, key, record)
        self.absorbed[entity.name, key] = change
        self.view = self.view.after([change])

    # links, mentions, totals

    def _linked(self, value: Json, path: Path, target: str, declared: Field | None) -> Json:
        if isinstance(value, list):
            kept = [key for key in cast("list[Json]", value) if self._exists(target, key)]
            if len(kept) < len(cast("list[Json]", value)):
                self.repaired.append(".".join(path))
            return kept
        if value is None or value == "" or self._exists(target, value):
            return value
        others = link_candidates(self.view, target)
        if not others and declared is None:
            return value
        self.repaired.append(".".join(path))
        if others:
            return choose_key(others, self.turn.draws, ".".join(path))
        return None if declared is not None and is_nullable(declared.schema) else OMITTED

    def _exists(self, target: str, key: Json) -> bool:
        """Whether there is such a record. One that may exist in an open world is generated."""
        if isinstance(key, bool) or not isinstance(key, str | int):
            return False
        entity = self.record_names.domain.entities.get(target)
        if self.view.get(target, key) is not None:
            return True
        if entity is None or not self._may_be_new(entity, key):
            return False
        self._add_record(entity, key, {})
        return True

    def _text(self, text: str, path: Path) -> str:
        """Return the text with ids of unknown records replaced by ids of known ones."""
        for target, form in self.record_names.ids:
            true = {mentioned: self._existing_id(target, mentioned, path) for mentioned in form.findall(text)}
            if any(mentioned != key for mentioned, key in true.items()):
                text = form.sub(lambda found, true=true: true[found[0]], text)
                self.repaired.append(".".join(path))
        return text

    def _existing_id(self, target: str, mentioned: str, path: Path) -> str:
        """Return the id if its record exists, else that of another record, if there is one."""
        others = [] if self._exists(target, mentioned) else link_candidates(self.view, target)
        return str(choose_key(others, self.turn.draws, f"{'.'.join(path)}/{mentioned}")) if others else mentioned

    def _with_true_total(self, value: Record, path: Path) -> Record:
        """Return the object with its total corrected to the length of the one list in it."""
        lists = [cast("list[Json]", part) for part in value.values() if isinstance(part, list)]
        if len(lists) != 1:
            return value
        totals = [name for name in value if snake(name) in TOTALS and isinstance(value[name], int)]
        wrong = [name for name in totals if value[name] != len(lists[0])]
        self.repaired.extend(".".join((*path, name)) for name in wrong)
        return {**value, **dict.fromkeys(wrong, len(lists[0]))}
