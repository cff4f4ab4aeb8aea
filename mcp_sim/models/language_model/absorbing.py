"""What does a predicted observation tell of the world, and where must it say what the world has?

A model that foretells a whole answer names records, links and totals. Those that the world has are shown as it has
them; what it says of a record beyond that is absorbed, and true from then on; what cannot be is repaired.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from mcp_sim.backends.records.invention import candidates, chosen, made_up, may_exist
from mcp_sim.types import Change, Json, Key, Record, Turn, View
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import is_nullable
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.words import plural, singular, snake

Path: TypeAlias = tuple[str, ...]

GONE: Any = object()
"""Stands for a row that is not shown, or a field that is left out."""

TOTALS = frozenset({"total", "total_count", "total_results", "count", "num_results", "result_count"})
_NUMBERED = re.compile(r"(.*?[A-Za-z].*?)(\d+)(\D{0,2})")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How answers name the records of a domain: which property holds which, which links to which, how ids look."""

    domain: Domain
    records: dict[str, str]
    links: dict[str, str]
    ids: tuple[tuple[str, re.Pattern[str]], ...]

    @classmethod
    def of(cls, domain: Domain) -> Vocabulary:
        several = [entity for entity in domain.entities.values() if not entity.singleton]
        names = [(entity, entity.name.rpartition(".")[2]) for entity in several]
        records = {form: entity.name for entity, name in names for form in (snake(name), snake(plural(name)))}
        links = {f"{snake(name)}_id": entity.name for entity, name in names}
        return cls(domain, records, links, tuple(_ids(domain)))

    def entity(self, name: str) -> Entity | None:
        """The entity whose records stand under a property of this name."""
        form = snake(name)
        found = self.records.get(form) or self.records.get(singular(form))
        return None if found is None else self.domain.entities[found]

    def link(self, name: str) -> str | None:
        """The entity that a property of this name refers to."""
        return self.links.get(snake(name))


def _ids(domain: Domain) -> Iterator[tuple[str, re.Pattern[str]]]:
    """What an id looks like in the middle of a text, for entities whose ids cannot be taken for anything else."""
    for entity in domain.entities.values():
        found = _NUMBERED.fullmatch(entity.key_like) if isinstance(entity.key_like, str) else None
        if found is not None and len(found[1]) > 1:
            width = len(found[2])
            yield entity.name, re.compile(rf"(?<!\w){re.escape(found[1])}\d{{{width},}}{re.escape(found[3])}(?!\w)")


@dataclass(slots=True)
class Reading:
    """One observation, read against the world: what it says in the end, what is pinned, repaired, or cannot be."""

    vocabulary: Vocabulary
    turn: Turn
    view: View
    invent: Invent
    places: Mapping[Path, Entity]
    """Whose records stand where, as far as the tool's plan tells."""
    pins: dict[tuple[str, Key], Change] = field(default_factory=dict[tuple[str, Key], Change])
    repaired: list[str] = field(default_factory=list[str])
    problems: list[str] = field(default_factory=list[str])

    def read(self, value: Json, path: Path, known: Entity | None, *, is_row: bool = False) -> Json:
        """A part of the observation as it is served; `known`: whose record it is, or whose records."""
        known = self.places.get(path, known)
        match value:
            case dict():
                return self._object(cast("Record", value), path, known, is_row=is_row)
            case list():
                rows = [
                    self.read(row, (*path, str(at)), known, is_row=True)
                    for at, row in enumerate(cast("list[Json]", value))
                ]
                return [row for row in rows if row is not GONE]
            case str():
                return self._text(value, path)
            case _:
                return value

    # records

    def _object(self, value: Record, path: Path, known: Entity | None, *, is_row: bool) -> Json:
        if known is not None and isinstance(value.get(known.key), str | int):
            return self._record(value, path, known, is_row=is_row)
        return self._counted({name: part for name, part in self._parts(value, path, None) if part is not GONE}, path)

    def _parts(self, value: Record, path: Path, entity: Entity | None) -> Iterator[tuple[str, Json]]:
        for name, part in value.items():
            here = (*path, name)
            declared = entity.fields.get(name) if entity is not None else None
            link = declared.link if declared is not None and declared.derived is None else None
            if link is None and not isinstance(part, dict):
                link = self.vocabulary.link(name)
            if entity is not None and name == entity.key:
                yield name, part
            elif link is not None:
                yield name, self._linked(part, here, link, declared)
            else:
                yield name, self.read(part, here, self.vocabulary.entity(name))

    def _record(self, value: Record, path: Path, entity: Entity, *, is_row: bool) -> Json:
        key: Key = value[entity.key]
        stored = self.view.get(entity.name, key)
        if stored is None and self._may_be_new(entity, key):
            stored = self._pinned(entity, key, self._said(value, path, entity))
        if stored is None:
            others = candidates(self.view, entity.name)
            if is_row or not others:
                return self._unknown(entity, key, path, is_row=is_row)
            key = chosen(others, self.turn.draws, ".".join(path))
            stored = self.view.get(entity.name, key) or {}
            self.repaired.append(".".join((*path, entity.key)))
        return self._as_stored({**value, entity.key: key}, path, entity, stored)

    def _unknown(self, entity: Entity, key: Key, path: Path, *, is_row: bool) -> Json:
        if is_row:
            self.repaired.append(".".join(path))
        else:
            self.problems.append(f"R1: there is no {entity.name} {key!r}, nor any other")
        return GONE

    def _as_stored(self, value: Record, path: Path, entity: Entity, stored: Record) -> Record:
        """The record as the world has it; what is said beyond that becomes part of it."""
        key: Key = value[entity.key]
        shown: Record = {}
        fresh: Record = {}
        for name, part in self._parts(value, path, entity):
            if name in stored:
                shown[name] = stored[name]
                if not equal(stored[name], value[name]):
                    self.repaired.append(".".join((*path, name)))
            elif part is not GONE:
                shown[name] = part
                fresh |= {name: part} if self._belongs(entity, name, path) else {}
        if fresh:
            self._pin(entity, key, {**stored, **fresh})
        return shown

    def _belongs(self, entity: Entity, name: str, path: Path) -> bool:
        """Is it a field of the record, and not of what stands around it?"""
        declared = entity.fields.get(name)
        return declared.derived is None if declared is not None else bool(path) and not self.vocabulary.entity(name)

    def _said(self, value: Record, path: Path, entity: Entity) -> Record:
        """The fields of a record that is new to the world."""
        parts = self._parts(value, path, entity)
        return {name: part for name, part in parts if part is not GONE and self._belongs(entity, name, path)}

    def _may_be_new(self, entity: Entity, key: Json) -> bool:
        return self.vocabulary.domain.open and may_exist(self.view, entity, key)

    def _pinned(self, entity: Entity, key: Key, said: Record) -> Record:
        record = made_up(self.turn, entity, key, self.invent, said)
        self._pin(entity, key, record)
        return record

    def _pin(self, entity: Entity, key: Key, record: Record) -> None:
        pin = Change("put", entity.name, key, record)
        self.pins[entity.name, key] = pin
        self.view = self.view.after([pin])

    # links, mentions, totals

    def _linked(self, value: Json, path: Path, target: str, declared: Field | None) -> Json:
        if isinstance(value, list):
            kept = [key for key in cast("list[Json]", value) if self._exists(target, key)]
            if len(kept) < len(cast("list[Json]", value)):
                self.repaired.append(".".join(path))
            return kept
        if value is None or value == "" or self._exists(target, value):
            return value
        others = candidates(self.view, target)
        if not others and declared is None:
            return value
        self.repaired.append(".".join(path))
        if others:
            return chosen(others, self.turn.draws, ".".join(path))
        return None if declared is not None and is_nullable(declared.schema) else GONE

    def _exists(self, target: str, key: Json) -> bool:
        """Is there such a record, or may there be, in which case it is made up?"""
        if isinstance(key, bool) or not isinstance(key, str | int):
            return False
        entity = self.vocabulary.domain.entities.get(target)
        if self.view.get(target, key) is not None:
            return True
        if entity is None or not self._may_be_new(entity, key):
            return False
        self._pinned(entity, key, {})
        return True

    def _text(self, text: str, path: Path) -> str:
        """The text, in which ids of records are those of records that exist."""
        for target, form in self.vocabulary.ids:
            true = {told: self._mentioned(target, told, path) for told in form.findall(text)}
            if any(told != key for told, key in true.items()):
                text = form.sub(lambda found, true=true: true[found[0]], text)
                self.repaired.append(".".join(path))
        return text

    def _mentioned(self, target: str, told: str, path: Path) -> str:
        """The id of a record that exists: the one that is told, else another; the same where the world has none."""
        others = [] if self._exists(target, told) else candidates(self.view, target)
        return str(chosen(others, self.turn.draws, f"{'.'.join(path)}/{told}")) if others else told

    def _counted(self, value: Record, path: Path) -> Record:
        """The object, whose total is that of the one list in it."""
        lists = [cast("list[Json]", part) for part in value.values() if isinstance(part, list)]
        if len(lists) != 1:
            return value
        totals = [name for name in value if snake(name) in TOTALS and isinstance(value[name], int)]
        wrong = [name for name in totals if value[name] != len(lists[0])]
        self.repaired.extend(".".join((*path, name)) for name in wrong)
        return {**value, **dict.fromkeys(wrong, len(lists[0]))}
