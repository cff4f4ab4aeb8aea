"""The changes of a call that a model answers: those of the plan, with what the reply shows of the written records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.models.language_model.disclosure import Disclosure
from mcp_sim.models.language_model.subjects import Subject, identity_of
from mcp_sim.types import Change, Json, Key, Observation, Record, ToolResult, Transition, Turn, as_object, frozen
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_values import NOWHERE, is_key, split_path, value_at
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key, was_written

_FAILED = re.compile(
    r"\W*(?:\w+ )?(?:error|failed|failure|invalid|cannot|could not|unable|no such|unknown|exception|traceback)\b"
    r"|.{0,120}\b(?:not found|does not exist|doesn't exist|already exists|is not valid|not allowed)\b",
    re.IGNORECASE | re.DOTALL,
)
_ID_IN_TEXT = re.compile(r"\b(?:id|uuid|key|number|no)\b[\"'`*]*+\s*+[:=#]?\s*+[\"'`*(]*+([\w.-]*\w)", re.IGNORECASE)
_REMOVALS = terms("verbs.certain.delete", "verbs.likely.delete")
_NUMBERED = re.compile(r"(?:#|\b[A-Za-z]+[-_])\d+\b")


@dataclass(slots=True)
class Survey:
    """An `Invent` that notes what it generates: nothing else than the generator says so."""

    invent: Invent
    generated: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Entity and field."""

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        self.generated.add((entity, field))
        return self.invent(turn, entity, field, schema, record)

    def choose_reference(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        self.generated.add((entity, field))
        return self.invent.choose_reference(turn, entity, field, target, keys)

    def imagine(self, turn: Turn, schema: Record, about: str) -> Json:
        return self.invent.imagine(turn, schema, about)


@frozen
class Draft:
    """What weaker sources than the model would answer, and the fields that only the generator knows."""

    transition: Transition
    generated: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, answer: Answer, turn: Turn, invent: Invent) -> Draft:
        survey = Survey(invent)
        transition = answer(turn, survey)
        absorbed = {(change.entity, name) for change in transition.absorbed for name in change.record or {}}
        return cls(transition, frozenset(survey.generated | absorbed))

    @property
    def is_determined(self) -> bool:
        """Whether nothing in the draft is generated."""
        return not self.generated and not self.transition.guessed

    @property
    def ok(self) -> bool:
        return self.transition.observation.ok


def has_failed(observation: Observation) -> bool:
    """Whether an answer reports a failure, also one that is not marked as an error."""
    body = observation.body
    if not isinstance(body, ToolResult) or body.is_error:
        return True
    value: Any = body.value
    if body.form == "blocks":
        value = "\n".join(str(block.get("text", "")) for block in cast("list[Record]", value))
    if isinstance(value, dict):
        fields = cast("Record", value)
        # Many servers report failures in a plain result: an agent would not take it for a success either.
        if fields.get("error") not in (None, False, "", []) or False in (fields.get("success"), fields.get("ok")):
            return True
        value = next(iter(fields.values())) if len(fields) == 1 else None
    # A longer text has content that may begin with such a word.
    return isinstance(value, str) and len(value) < 400 and _FAILED.match(value) is not None


@frozen
class Effect:
    """The writes of one successful call."""

    turn: Turn
    plan: Plan
    disclosure: Disclosure
    draft: Draft | None

    @property
    def domain(self) -> Domain:
        return self.disclosure.domain

    @property
    def entity(self) -> Entity | None:
        return self.domain.entities.get(self.plan.entity or "")

    def changes(self, subjects: Sequence[Subject], observation: Observation) -> tuple[Change, ...]:
        """Return the changes of the call, with the ids and the fields that the reply shows."""
        entity = self.entity
        planned = [change for change in self._planned(subjects) if not self._is_generated(change)]
        if entity is None:
            return tuple(planned)
        new = [at for at, change in enumerate(planned) if change.entity == entity.name and self._is_new(change)]
        issued = dict(zip(new, self._issued([planned[at] for at in new], entity, subjects, observation), strict=True))
        return tuple(self._completed(change, entity, issued.get(at), subjects) for at, change in enumerate(planned))

    def _planned(self, subjects: Sequence[Subject]) -> tuple[Change, ...]:
        """Return the changes of the draft; without a usable draft, those that follow from the arguments."""
        entity, key = self.entity, self._named_key()
        # An update removes its record if an argument that is a verb of removal is true.
        flags = [snake(name) for name, value in self.turn.call.arguments.items() if value is True]
        is_removal = self.plan.verb == "update" and not _REMOVALS.isdisjoint(flags)
        if entity is not None and key is not None and is_removal:
            return self._plain_delete(entity, key)
        if self.draft is not None and self.draft.ok:
            return self.draft.transition.changes
        match self.plan.verb:
            case "create" if entity is not None:
                place = self.plan.envelope.record
                new = [subject for subject in subjects if place is not None and subject.path == split_path(place)]
                if not new or new[0].entity.name != entity.name or self.turn.view.get(*new[0].identity) is not None:
                    return ()
                return (Change("put", entity.name, new[0].key, {entity.key: new[0].key, **self._given()}),)
            case "update" if entity is not None and key is not None:
                stored = find_key(self.turn.view, entity.name, key)
                key = key if stored is None else stored
                before = self.turn.view.get(entity.name, key) or {entity.key: key}
                return (Change("put", entity.name, key, {**before, **self._given()}),)
            case "delete" if entity is not None and key is not None:
                return self._plain_delete(entity, key)
            case _:
                return ()

    def _is_generated(self, change: Change) -> bool:
        """Whether a change creates a record of another entity that only the generator knows."""
        if self.draft is None or change.record is None or not self._is_new(change) or change.entity == self.plan.entity:
            return False
        entity = self.domain.entities.get(change.entity)
        known = [name for name in change.record if (change.entity, name) not in self.draft.generated]
        return entity is not None and all(name == entity.key for name in known)

    def _named_key(self) -> Key | None:
        key = NOWHERE if self.plan.key is None else value_at(self.turn.call.arguments, self.plan.key)
        return key if is_key(key) else None

    def _given(self) -> Record:
        """Return the fields that the arguments of the call set."""
        arguments = self.turn.call.arguments
        return {name: arguments[path] for path, name in self.plan.sets.items() if path in arguments}

    def _plain_delete(self, entity: Entity, key: Key) -> tuple[Change, ...]:
        """Return the removal of a record; also of an unknown one, if the plan is sure."""
        stored = find_key(self.turn.view, entity.name, key)
        gone = key if stored is None and not self.plan.guessed else stored
        return () if gone is None else (Change("remove", entity.name, gone),)

    def _completed(self, change: Change, entity: Entity, issued: Key | None, subjects: Sequence[Subject]) -> Change:
        """Return a write with what the reply shows of its record instead of what the generator made."""
        if change.record is None:
            return change
        generated = self.draft.generated if self.draft is not None else frozenset[tuple[str, str]]()
        record = {name: value for name, value in change.record.items() if (change.entity, name) not in generated}
        if change.entity != entity.name:
            return replace(change, record=record)
        # The time of a write is that of the real system's clock.
        sets = {entity.key, *(path.split(".")[0] for path in (*self.plan.sets.values(), *self.plan.fixed))}
        fields, key = entity.fields, change.key if issued is None else issued
        times = {name for name in record if name in fields and time_meaning(name, fields[name].schema) is not None}
        record = {name: value for name, value in record.items() if name in sets or name not in times}
        record[entity.key] = key
        # The reply decides the fields of a new record, and those of another that the model may see.
        is_new, may_change = self._is_new(change), self.disclosure.may_change
        same = (other for other in subjects if other.entity.name == entity.name and str(other.key) == str(key))
        shown = next((subject.fields() for subject in same), ())
        record |= {name: value for name, value in shown if is_new or may_change(entity.name, record, name, value)}
        return replace(change, key=key, record=record)

    def _is_new(self, change: Change) -> bool:
        is_put = change.op == "put" and change.record is not None
        return is_put and self.turn.view.get(change.entity, change.key) is None

    def _issued(
        self, new: Sequence[Change], entity: Entity, subjects: Sequence[Subject], observation: Observation
    ) -> Iterator[Key]:
        """Yield the id that the reply shows of each new record; its own id if the arguments determine it."""
        ids = dict.fromkeys(subject.key for subject in subjects if subject.entity.name == entity.name)
        shown = [key for key in ids if self._may_issue(entity, key)]
        # With several new records, nothing would say which id belongs to which.
        if not shown and len(new) == 1 and entity.key not in _fields_of(observation):
            ids = _ids_in(observation) or self._only_id(_fields_of(observation))
            shown = [key for key in ids if self._may_issue(entity, key)]
        for change in new:
            yield change.key if self._is_given(change.key) or not shown else shown.pop(0)

    def _only_id(self, fields: Record) -> list[Key]:
        """Return the only id among these fields that the call does not give, whatever record it is called after."""
        ids = [value for name, value in fields.items() if snake(name).endswith("_id") and isinstance(value, str | int)]
        new: list[Key] = [key for key in ids if not isinstance(key, bool) and not self._is_given(key)]
        return new if len(new) == 1 else []

    def _is_given(self, key: Key) -> bool:
        return any(equal(key, value) for value in self.turn.call.arguments.values())

    def _may_issue(self, entity: Entity, key: Key) -> bool:
        """Whether a new record may get this id: it is unused, and was not deleted."""
        view = self.turn.view
        return find_key(view, entity.name, key) is None and (entity.natural or not was_written(view, entity.name, key))


def _fields_of(observation: Observation) -> Record:
    """Return the properties of a reply that is one object. Empty for other replies."""
    return as_object(observation.body.value) if isinstance(observation.body, ToolResult) else {}


def _ids_in(observation: Observation) -> list[Key]:
    """Return what may be ids in a reply: an object's id, or in a text what follows `ID` or looks like an id."""
    body = observation.body
    if not isinstance(body, ToolResult):
        return []
    identity = identity_of(as_object(body.value), "")
    if identity is not None:
        return [identity[1]]
    text = "\n".join(str(block.get("text", "")) for block in body.content)
    named = [key for key in _ID_IN_TEXT.findall(text) if any(map(str.isdigit, key))]
    keys = [*named, *(token.lstrip("#") for token in _NUMBERED.findall(text))]
    return [int(key) if key.isdecimal() and len(key) < 16 and str(int(key)) == key else key for key in keys]
