"""Find where an answer disagrees with its own call: another record, other values than the arguments, a taken id."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mcp_sim.models.language_model.absorption import Contradiction
from mcp_sim.models.language_model.fixed_facts import EMPTY, restates
from mcp_sim.models.language_model.subjects import Subject, scalars
from mcp_sim.plans.records.accepted_keys import has_usual_form, may_be_key
from mcp_sim.types import Change, Json, Key, Turn, as_object, find_key, frozen, was_written
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_values import NOWHERE, Path, get_part, is_key, split_path, value_at
from mcp_sim.types.plans import Plan


@frozen
class CallAgreement:
    """The comparison of an answer with its call, as far as the plan is sure what the call means.

    `changes` are those that follow from the answer. `is_absent` says whether a record of an entity certainly does not
    exist after them.
    """

    turn: Turn
    plan: Plan
    entity: Entity | None
    subjects: Sequence[Subject]
    changes: Sequence[Change]
    value: Json
    is_absent: Callable[[Entity, Key], bool]

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield what the answer shows otherwise than the call asks for."""
        if self.plan.guessed or self.plan.each is not None:
            return
        fields = () if self.entity is None else self.entity.fields.values()
        # One of a few values may be a part of another, so that it is not restated by it.
        choices = {field.name for field in fields if "enum" in field.schema}
        for subject in self._written():
            for argument, name in self.plan.sets.items():
                given, shown = value_at(self.turn.call.arguments, argument), subject.value.get(name, NOWHERE)
                agrees = equal(given, shown) if name in choices else restates(given, shown)
                if NOWHERE not in (given, shown) and given is not None and not agrees:
                    problem = f"{name} is {given!r}, as the call says, not {shown!r}"
                    yield Contradiction((*subject.path, name), problem, given)
        yield from self._taken_ids()
        yield from self._misidentified()

    def _written(self) -> Iterator[Subject]:
        """Yield the new record of a create, and the record that an update names, if the call writes no others."""
        written = {(change.entity, str(change.key)) for change in self.changes if change.record is not None}
        if self.entity is not None and [name for name, _ in written] == [self.entity.name]:
            yield from (subject for subject in self.subjects if subject.path == self._place)

    @property
    def _place(self) -> Path | None:
        """The path of the record that the call is about, in the answer."""
        place = self.plan.envelope.record
        return None if place is None else split_path(place)

    def _taken_ids(self) -> Iterator[Contradiction]:
        """Yield the id of a new record that another one has or had, unless the call asks for that very record."""
        entity = self.entity
        if self.plan.verb != "create" or entity is None or entity.natural:
            return
        new = [key for key in self._written_keys(entity) if self.turn.view.get(entity.name, key) is None]
        if len(new) != 1:
            return
        for subject in self.subjects:
            if subject.entity.name == entity.name and subject.key != new[0] and self._is_taken(entity, subject.key):
                problem = f"the id {subject.key!r} is taken; the new {entity.name} needs another one"
                yield Contradiction((*subject.path, subject.key_field), problem, new[0])

    def _written_keys(self, entity: Entity) -> list[Key]:
        return [change.key for change in self.changes if change.entity == entity.name and change.record is not None]

    def _is_taken(self, entity: Entity, key: Key) -> bool:
        """Whether an id is that of a record that is or was there, and that the call does not ask for."""
        was_used = was_written(self.turn.view, entity.name, key)
        record = self.turn.view.get(entity.name, key)
        arguments = self.turn.call.arguments
        given = {name: value_at(arguments, argument) for argument, name in self.plan.sets.items()}
        # Creating a record again that has what the call sets may return it.
        is_asked_for = record is not None and all(
            value is NOWHERE or (name in record and restates(value, record[name])) for name, value in given.items()
        )
        return was_used and not is_asked_for and key not in scalars(arguments)

    def _misidentified(self) -> Iterator[Contradiction]:
        """Yield the id of another record than the one that the call names, or an empty id."""
        place, entity = self._place, self.entity
        if place is None or entity is None:
            return
        shown = as_object(get_part(self.value, place)).get(entity.key, NOWHERE)
        key = self._asked_key(entity) if self.plan.verb != "create" else self._new_key(entity, shown)
        if shown is NOWHERE or key is None or str(shown) == str(key):
            return
        if not (is_key(shown) and self.is_absent(entity, shown)) and self._is_called(place, shown, key):
            return
        yield Contradiction((*place, entity.key), f"the call is about {entity.name} {key!r}, not {shown!r}", key)

    def _asked_key(self, entity: Entity) -> Key | None:
        """Return the id that a get or an update asks for: that of a known record, or one that looks like an id."""
        plan, view = self.plan, self.turn.view
        asked: Json = NOWHERE if plan.key is None else value_at(self.turn.call.arguments, plan.key)
        if (
            plan.verb not in ("get", "update")
            or self._given_keys(entity)
            or not (is_key(asked) and may_be_key(entity, asked))
        ):
            return None
        stored = find_key(view, entity.name, asked)
        if stored is not None:
            return stored
        has_form = view.last_key(entity.name) is not None and has_usual_form(view, entity, asked)
        is_id = (plan.key or "").lower().endswith(entity.key.lower()) and any(map(str.isdigit, str(asked)))
        return asked if has_form or is_id else None

    def _given_keys(self, entity: Entity) -> list[Json]:
        """Return what the call says that the key of the written record is."""
        arguments = self.turn.call.arguments
        given = (value_at(arguments, at) for at, name in self.plan.sets.items() if name == entity.key)
        return [key for key in given if key is not NOWHERE]

    def _new_key(self, entity: Entity, shown: Json) -> Key | None:
        """Return the id of a new record: that of the arguments, or one instead of an empty one; else None."""
        named = next((key for key in self._given_keys(entity) if isinstance(key, str | int) and key != ""), None)
        new = self._written_keys(entity)
        return new[0] if named is None and shown in EMPTY and len(new) == 1 else named

    def _is_called(self, place: Path, shown: Json, key: Key) -> bool:
        """Whether the call names the record by another field, or by its id in another notation."""
        if self.plan.verb == "create":
            is_same = str(shown).strip("/ ").casefold() == str(key).strip("/ ").casefold()
            return is_same and any(change.key == shown for change in self.changes)
        if any(
            subject.path == place and any(equal(value, key) for value in subject.value.values())
            for subject in self.subjects
        ):
            return True
        is_known = self.entity is not None and find_key(self.turn.view, self.entity.name, key) is not None
        return not is_known and shown not in EMPTY and restates(key, shown)
