"""Lay what the world has written over what a real server shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from mcp_sim.models.language_model.absorption import OMITTED, Contradiction, corrected
from mcp_sim.models.language_model.adoption import Adoption
from mcp_sim.models.language_model.observations import Readable
from mcp_sim.models.language_model.subjects import Subject
from mcp_sim.plans.records.filters import matching_rows
from mcp_sim.types import Change, Json, Key, Memory, Observation, Record, View, as_object, find_key, frozen
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_values import Path, get_part, replace_part, split_path, value_at
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan

_COUNTS = terms("results.total", "results.count")  # names of counts of rows


@frozen
class Written:
    """What the world has written over the records of a real server.

    `memory` has, by entity and key, what the real server has shown of a record. What differs from it was written.
    """

    view: View
    memory: Memory

    def shown(self, entity: str, key: Key) -> Record | None:
        """Return what the real server has shown of a record, None if it has shown nothing."""
        return self.memory.get(f"shown/{entity}/{key!r}")

    def note(self, subjects: Iterable[Subject]) -> None:
        """Note what the real server shows now."""
        for subject in subjects:
            entity, key = subject.identity
            before = self.shown(entity, key) or {}
            if len(subject.value) > 1:
                self.memory.set(f"form/{entity}", (key, tuple(subject.value)))
            self.memory.set(f"shown/{entity}/{key!r}", {**before, subject.key_field: key, **dict(subject.fields())})

    def form(self, entity: str) -> tuple[Key | None, Sequence[str]]:
        """Return the key and the names of the fields of the record that the real server showed last."""
        return self.memory.get(f"form/{entity}", (None, ()))

    def is_deleted(self, entity: str, key: Key) -> bool:
        return self.view.get(entity, key) is None and self.view.version(entity, key) > 0

    def is_created(self, entity: str, key: Key) -> bool:
        is_new = self.view.get(entity, key) is not None and self.view.version(entity, key) > 0
        return is_new and self.shown(entity, key) is None

    def fields(self, entity: str, key: Key) -> Record:
        """Return the fields of a record that were written, all of one that was created."""
        record, shown = self.view.get(entity, key), self.shown(entity, key) or {}
        if record is None or self.view.version(entity, key) == 0:
            return {}
        return {name: value for name, value in record.items() if name not in shown or not equal(shown[name], value)}

    def records(self, entity: str) -> list[tuple[Key, Record]]:
        """Return the records with written fields, in the order of their creation."""
        keys = self.view.written(entity)
        return [row for row in self.view.rows(entity) if row[0] in keys and self.fields(entity, row[0])]

    def has_any(self, entities: Iterable[str]) -> bool:
        """Whether anything of these entities was written."""
        return any(
            self.is_deleted(entity, key) or self.fields(entity, key)
            for entity in entities
            for key in self.view.written(entity)
        )


@frozen
class Laid:
    """An answer with what the world has written. `is_unsure`: something was written that the answer may lack."""

    observation: Observation
    is_changed: bool
    is_unsure: bool = False


@dataclass(slots=True)
class Overlay:
    """The overlay over the answer to one call."""

    adoption: Adoption
    written: Written

    @property
    def plan(self) -> Plan:
        return self.adoption.tool.plan

    def lay(self, observation: Observation) -> Laid:
        """Return the answer with written fields instead of the shown ones, without deleted and with created rows."""
        readable = Readable.of(observation)
        value = None if readable is None else readable.value
        subjects = list[Subject]()
        for subject in self.adoption.subjects(value):
            key = find_key(self.written.view, subject.entity.name, subject.key)  # in the form in which the world has it
            subjects.append(
                subject if key is None else replace(subject, key=key, container=frozenset(), is_named=False)
            )
        contradictions = [*self._differences(subjects)]
        self.written.note(subjects)
        if readable is None or value is None:
            return Laid(observation, is_changed=False, is_unsure=self.may_lack_writes)
        laid = self._with_rows(corrected(value, contradictions), subjects, contradictions)
        if equal(laid, value):
            is_read = self._is_laid_over and (subjects or self._rows(value, subjects) is not None)
            return Laid(observation, is_changed=False, is_unsure=not is_read and self.may_lack_writes)
        return Laid(Observation(readable.write(laid), observation.delay, observation.notifications), is_changed=True)

    def _rows(self, value: Json, subjects: Sequence[Subject]) -> Path | None:
        """Return the path of the list of records: where they are, else where the plan has it, else the only list."""
        entity = self.plan.entity
        rows = [subject.path[:-1] for subject in subjects if subject.entity.name == entity and subject.path]
        rows = [path for path in rows if isinstance(get_part(value, path), list)]
        if rows:
            return rows[0]
        planned = None if self.plan.envelope.rows is None else split_path(self.plan.envelope.rows)
        if planned is not None and isinstance(get_part(value, planned), list):
            return planned
        lists = [name for name, inner in as_object(value).items() if isinstance(inner, list)]
        return () if isinstance(value, list) else (lists[0],) if len(lists) == 1 else None

    @property
    def may_lack_writes(self) -> bool:
        """Whether something was written that an answer of the real server as it is may lack."""
        entity = self.plan.entity if self._is_laid_over else None
        return self.written.has_any(self.written.view.entities() if entity is None else (entity,))

    @property
    def may_hide_writes(self) -> bool:
        """Whether a failure may be about something that was written. A read by its key is not: it is in the world."""
        is_by_key = self._is_laid_over and self.plan.verb == "get" and self.plan.key is not None
        return not is_by_key and self.may_lack_writes

    @property
    def _is_laid_over(self) -> bool:
        """Whether the tool shows records one by one, so that what was written can be found in its answers."""
        return self.plan.backend == "records" and self.plan.each is None

    def _differences(self, subjects: Sequence[Subject]) -> Iterator[Contradiction]:
        """Yield what the world has otherwise: written fields, and rows that it has deleted, or changed too much."""
        is_left_out = self._left_out(subjects)
        for subject in subjects:
            if self.written.is_deleted(*subject.identity) or (*subject.identity,) in is_left_out:
                yield Contradiction(subject.path, "", OMITTED)
                continue
            fields = self.written.fields(*subject.identity) if self.written.shown(*subject.identity) else {}
            for name, value in fields.items():
                if name in subject.value and not equal(subject.value[name], value):
                    yield Contradiction((*subject.path, name), "", value)

    def _left_out(self, subjects: Sequence[Subject]) -> set[tuple[str, Key]]:
        """Return the shown records that no longer match the call, since the world has changed them."""
        entity, kept = self.adoption.tool.entity, self._matching(self.written.view)
        if entity is None or kept is None:
            return set()
        names = {subject.key for subject in subjects if subject.entity.name == entity.name}
        changed = (key for key in names if self.written.fields(entity.name, key))
        return {(entity.name, key) for key in changed if key not in kept}

    def _matching(self, view: View) -> set[Key] | None:
        """Return the keys of the records of a view that a list or search asks for; None for other tools."""
        tool, plan, entity = self.adoption.tool.tool, self.plan, self.adoption.tool.entity
        if entity is None or plan.backend != "records" or plan.verb not in ("list", "search"):
            return None
        select = matching_rows(tool, plan, entity)
        return {key for key, _ in select(view, self.adoption.turn.call.arguments)}

    # rows that the real server does not have

    def _with_rows(self, value: Json, subjects: Sequence[Subject], contradictions: Sequence[Contradiction]) -> Json:
        """Return an answer with created rows, and with counts that fit."""
        entity, path, kept = self.adoption.tool.entity, self._rows(value, subjects), self._matching(self.written.view)
        if entity is None or path is None or kept is None:
            return value
        rows = cast("list[Json]", get_part(value, path))
        shown = {subject.key for subject in subjects}
        added = [record for key, record in self.written.records(entity.name) if key in kept - shown]
        new = [self._row(record, rows, entity) for record in added if self._is_missing(entity, record, len(shown))]
        more = len(new) - sum(contradiction.true is OMITTED for contradiction in contradictions)
        value, around = replace_part(value, path, [*rows, *new]), path[:-1]
        for name, count in as_object(get_part(value, around)).items() if more else ():
            if snake(name) in _COUNTS and isinstance(count, int) and not isinstance(count, bool):
                value = replace_part(value, (*around, name), max(0, count + more))
        return value

    def _is_missing(self, entity: Entity, record: Record, shown: int) -> bool:
        """Whether a written record belongs on this page: on the last one, if the real server would not show it."""
        if not self._is_last_page(shown):
            return False
        key = cast("Key", record[entity.key])
        before = self.written.shown(entity.name, key)
        if before is None:
            return True
        return key not in (self._matching(self.written.view.after([Change("put", entity.name, key, before)])) or ())

    def _is_last_page(self, shown: int) -> bool:
        """Whether a page with so many rows is the last one, as far as its size shows."""
        paging, arguments = self.plan.paging, self.adoption.turn.call.arguments
        limit = None if paging.limit is None else value_at(arguments, paging.limit)
        size = limit if isinstance(limit, int) and not isinstance(limit, bool) else None
        begins = (value_at(arguments, name) for name in (paging.offset, paging.cursor, paging.page) if name is not None)
        is_first = all(not isinstance(begin, str | int) or begin in (0, paging.first_page, "") for begin in begins)
        return (size is None or shown < size) and (shown > 0 or is_first)

    def _row(self, record: Record, rows: Sequence[Json], entity: Entity) -> Json:
        """Return a record in the form of the other rows."""
        first = as_object(rows[0]) if rows else {}
        names = (*first,) or self.written.form(entity.name)[1]
        if names:
            return {name: record.get(name) for name in names if name in record or name in entity.fields}
        hidden = {field.name for field in entity.fields.values() if field.hidden}
        return {name: value for name, value in record.items() if name not in hidden}
