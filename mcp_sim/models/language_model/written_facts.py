"""Note what a successful write leaves: what is fixed from now on, and what it has unsettled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import cast

from mcp_sim.models.language_model.effects import Draft
from mcp_sim.models.language_model.fixed_facts import EMPTY, EVERY, MAX_NAMED, FixedFacts, scope_of
from mcp_sim.models.language_model.subjects import ENVELOPE, STATES, Subject, scalars
from mcp_sim.types import NOWHERE, Change, Json, Key, Record, Turn, frozen
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.lexicon.terms import table, terms
from mcp_sim.types.plans import RECORDLESS, Plan

_HIDING = terms("verbs.hiding") | table("verbs.states").keys()
"""Words in names of tools after whose calls other tools may no longer show a record, or still show it."""
MOST_ACKNOWLEDGED = 3  # the most properties of an object that only acknowledges a call


@frozen
class WrittenFacts:
    """The facts that a write leaves."""

    turn: Turn
    plan: Plan
    domain: Domain
    facts: FixedFacts
    draft: Draft | None

    def note_effect(self, changes: Sequence[Change], answer: Json) -> None:
        """Note what the write unsettles: the records that it names; if it names none and its effect is unknown, all.

        What is unknown and only acknowledges a call may have changed anything; what answers with data has read it.
        """
        self.facts.touch(self.turn.call.arguments)
        if (self.plan.guessed or self.plan.verb in RECORDLESS) and not self._names_a_record():
            self.facts.unsettle(_linked(self.domain, self.plan.entity) or ({EVERY} if _acknowledges(answer) else set()))
        self.facts.note_growth(self._growing(changes))

    def _growing(self, changes: Sequence[Change]) -> AbstractSet[str]:
        """Return the entities that may have new records, unknown to the world, after the write."""
        entity = self.plan.entity
        if self.plan.guessed or entity is None or self.plan.verb in RECORDLESS:
            return {EVERY}
        is_known = bool(changes) or (self.draft is not None and self.draft.ok)
        if self.plan.verb != "create":
            return set() if is_known else {entity}
        parts = {*words(entity)}
        return {name for name in self.domain.entities if not parts.isdisjoint(words(name))} - (
            {entity} if is_known else set()
        )

    def note_reported(self, changes: Sequence[Change]) -> None:
        """Note what is fixed after changes that the model said: all values that they write, and no more unsettled."""
        self.facts.touch({"arguments": self.turn.call.arguments, "keys": [change.key for change in changes]})
        for change in changes:
            entity = self.domain.entities.get(change.entity) or Entity(change.entity, "id")
            if change.record is not None:
                record = Subject((), entity, change.key, entity.key, change.record)
                self.facts.note(record, self._written(change), changes)

    def note_records(self, changes: tuple[Change, ...], subjects: Sequence[Subject]) -> None:
        """Note what is fixed of the written records: what the reply shows, and what arguments of the same name set.

        A new record whose id is only the draft's is noted as provisional.
        """
        shown = {(subject.identity, name) for subject in subjects for name, _ in subject.fields() if name not in STATES}
        keys = {subject.key for subject in subjects} | {*scalars(self.turn.call.arguments)}
        drafted = () if self.draft is None else [change.key for change in self.draft.transition.changes]
        named = {name for path, name in self.plan.sets.items() if path.rpartition(".")[2] == name}
        for change in changes:
            entity, record = self.domain.entities.get(change.entity), change.record
            if record is None or entity is None:
                continue
            before, written = self.turn.view.get(change.entity, change.key), self._written(change)
            if before is None and change.key not in keys and change.key in drafted:
                self.facts.note_provisional(change.entity, (*self.facts.provisional(change.entity), change.key))
            said = {
                name
                for name in named - self.plan.how.keys()
                if name in record and _is_whole((before or {}).get(name), record[name])
            }
            fixed = [name for name in written if name in said or ((change.entity, change.key), name) in shown]
            guessed = [name for name in written if name not in fixed]
            self.facts.note(Subject((), entity, change.key, entity.key, record), fixed, changes, guessed)

    def note_hidden(self, changes: Sequence[Change], subjects: Sequence[Subject]) -> None:
        """Note which records the write may have hidden: whether tools still show them is for the model to say."""
        may_hide = not _HIDING.isdisjoint(words(self.domain.tools[self.plan.tool].name))
        for change in changes:
            is_soft = change.op == "remove" and any(self._shows_kept(change, subject) for subject in subjects)
            is_new = self.turn.view.get(change.entity, change.key) is None
            self.facts.note_hidden(change.entity, change.key, is_hidden=(may_hide and not is_new) or is_soft)
        for entity, key in self._named_records() if may_hide else ():
            self.facts.note_hidden(entity, key, is_hidden=True)

    def _shows_kept(self, change: Change, subject: Subject) -> bool:
        """Whether the answer to a removal shows the record in another state than before, or with a new time."""
        before = self.turn.view.get(change.entity, change.key)
        if before is None or subject.identity != (change.entity, change.key):
            return False
        shown = subject.value
        is_whole = any(name in shown and name not in STATES for name in before.keys() - {subject.key_field})
        return is_whole and any(before.get(name) != value for name, value in scope_of(shown).items())

    def _written(self, change: Change) -> list[str]:
        """Return the fields of a record that a change writes."""
        before = self.turn.view.get(change.entity, change.key) or {}
        return [name for name, value in (change.record or {}).items() if not equal(before.get(name, NOWHERE), value)]

    def _names_a_record(self) -> bool:
        """Whether an argument is the key of a record that is known."""
        return any(map(self.facts.is_known, self._arguments())) or any(self._named_records(self.domain.entities))

    def _named_records(self, entities: Iterable[str] = ()) -> Iterator[tuple[str, Key]]:
        """Yield the known records that arguments name by key, of these entities; default that of the plan, or all."""
        own = (self.plan.entity,) if self.plan.entity is not None else self.domain.entities
        for key in self._arguments():
            for name in entities or own:
                if self.turn.view.get(name, key) is not None:
                    yield name, key

    def _arguments(self) -> Iterator[Key]:
        return islice(scalars(self.turn.call.arguments), MAX_NAMED)


def _acknowledges(answer: Json) -> bool:
    """Whether an answer only says that the call is done: prose, or an object with nothing else of use."""
    if isinstance(answer, dict):
        return not ENVELOPE.isdisjoint(cast("Record", answer)) and len(cast("Record", answer)) <= MOST_ACKNOWLEDGED
    return answer is None or isinstance(answer, str)


def _is_whole(before: Json, after: Json) -> bool:
    """Whether a written value is all that the field has now: no empty one, nor a part of a longer text before."""
    if isinstance(before, str) and isinstance(after, str) and len(after) < len(before) / 2:
        return False
    return after not in EMPTY


def _linked(domain: Domain, entity: str | None) -> set[str]:
    """Return an entity and those that it refers to, or that refer to it."""
    if entity is None or entity not in domain.entities:
        return set()
    ours = {field.link for field in domain.entities[entity].fields.values() if field.link is not None}
    theirs = {
        name for name, other in domain.entities.items() if any(field.link == entity for field in other.fields.values())
    }
    return {entity, *ours, *theirs}
