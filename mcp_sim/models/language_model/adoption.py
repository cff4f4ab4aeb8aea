"""Adopt one answer of a model: judge it, correct it, and derive what it changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcp_sim.models.language_model.absorption import OMITTED, Absorption, Contradiction, Unchecked, corrected, is_absent
from mcp_sim.models.language_model.asked_changes import ReportedChanges
from mcp_sim.models.language_model.call_agreement import CallAgreement
from mcp_sim.models.language_model.compiled_tools import CompiledTool
from mcp_sim.models.language_model.disclosure import Disclosure
from mcp_sim.models.language_model.effects import Draft, Effect, has_failed
from mcp_sim.models.language_model.fixed_facts import FixedFacts, differences
from mcp_sim.models.language_model.observations import Readable
from mcp_sim.models.language_model.pages import Pages
from mcp_sim.models.language_model.subjects import Subject
from mcp_sim.models.language_model.written_facts import WrittenFacts
from mcp_sim.plans.records.accepted_keys import has_usual_form
from mcp_sim.types import Change, Json, Observation, ToolResult, Transition, Turn, frozen, was_written
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.error_templates import invalid_arguments
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import MISSING, READS, Path, get_part, is_key, replace_part, split_path, value_at

MAX_ROUNDS = 5  # how often one answer is corrected, since a correction may show another contradiction

EXISTS = "the record exists: the call succeeds"
MISSES = "no such record exists: the call fails"


@frozen
class _Judged:
    """An answer, what it is about, and what the call writes."""

    observation: Observation
    readable: Readable | None
    value: Json
    subjects: Sequence[Subject]
    changes: tuple[Change, ...]


@dataclass(slots=True)
class Adoption:
    """The adoption of the answer to one call. The turn's arguments are named as in plans, without a wrapper."""

    turn: Turn
    tool: CompiledTool
    disclosure: Disclosure
    facts: FixedFacts
    draft: Draft | None
    before: Observation | None = None
    """The answer to the same call, if nothing has been written since."""
    reported: ReportedChanges | None = None
    """What the model says that the call changed, if it was asked."""
    is_repeated: bool = False
    """Whether the model gave the same answer at the attempt before."""
    identified: bool = False
    """Whether the answer showed anything that has an identity."""
    figures: dict[str, Any] = field(default_factory=dict[str, Any])
    """What is noted in the ledger about the answer."""

    @property
    def domain(self) -> Domain:
        return self.disclosure.domain

    def adopt(self, observation: Observation, *, is_last: bool) -> Transition:
        """Return the transition of an answer.

        Raises `Rejected` if the answer contradicts a fixed fact; at the last attempt it is corrected instead. What
        cannot be corrected is then answered by the plan.
        """
        failed = has_failed(observation)
        true, problem = (self._certain(), EXISTS) if failed else (self._denied(), MISSES)
        if true is None:
            if failed:
                return Transition(observation, guesses=self.tool.plan.guesses)
            return self._consistent(observation) if is_last else self._transition(self._judged(observation))
        if not is_last:
            raise Rejected("", [problem])
        return self._overruled(Transition(true))

    def _consistent(self, observation: Observation) -> Transition:
        """Return the transition of the last answer: corrected, or that of the plan if that does not suffice."""
        turn = self.facts.turn
        staged = dict(turn.memories.staged)
        transition = self._transition(self._judged(observation, is_last=True))
        body, validator = transition.observation.body, self.tool.validator
        if not self.tool.inspect(turn, transition) and (
            validator is None or not isinstance(body, ToolResult) or body.is_error or validator.is_valid(body.value)
        ):
            return transition
        turn.memories.staged = staged
        return self._overruled(Transition(invalid_arguments(turn)) if self.draft is None else self.draft.transition)

    def _overruled(self, transition: Transition) -> Transition:
        """Return a transition that nothing of the answer is in."""
        self.identified = False
        self.figures["repaired"] = [""]
        return replace(transition, guesses=self.tool.plan.guesses)

    def taken(self, observation: Observation) -> Transition:
        """Return the transition of an answer that is true, whatever the world knows."""
        if has_failed(observation):
            return Transition(observation)
        return replace(self._transition(self._read(observation)), guesses=())

    def subjects(self, value: Json) -> list[Subject]:
        """Return what an answer of this call is about."""
        return [self.facts.place(subject) for subject in self.tool.names.subjects(value, self.turn.call.arguments)]

    def _drafted(self) -> list[Subject]:
        """Return what the draft shows, if there is anything that the model may not see."""
        body = None if self.draft is None else self.draft.transition.observation.body
        if not isinstance(body, ToolResult) or self.disclosure.is_whole:
            return []
        return self.subjects(body.value)

    def _denied(self) -> Observation | None:
        """Return the refusal of a call whose key names a record that certainly does not exist; else None."""
        plan, draft = self.tool.plan, self.draft
        if draft is None or draft.ok or plan.guessed or plan.verb not in ("create", *READS, "update", "delete"):
            return None
        is_missing = any(self._is_missing(entity, argument) for entity, argument in self.named_records())
        return draft.transition.observation if is_missing else None

    def named_records(self) -> Iterator[tuple[Entity, str]]:
        """Yield each argument that names a record by its key, with the entity of that record."""
        plan, entity = self.tool.plan, self.tool.entity
        if entity is None or entity.singleton:
            return
        if plan.key is not None and plan.verb != "create":
            yield entity, plan.key
        filters = {argument: narrowed.field for argument, narrowed in plan.filters.items()}
        for argument, name in {**plan.sets, **filters}.items():
            link = entity.fields[name].link if name in entity.fields else None
            if link is not None and link in self.domain.entities:
                yield self.domain.entities[link], argument

    def _is_missing(self, entity: Entity, argument: str) -> bool:
        key = value_at(self.turn.call.arguments, argument)
        if not is_key(key):
            return False
        # A key in another form may be a second name of a record, such as a path, which the model may know.
        is_known = was_written(self.turn.view, entity.name, key) or has_usual_form(self.turn.view, entity, key)
        return is_known and is_absent(self.turn.view, self.facts, self.domain, entity, key)

    def _certain(self) -> Observation | None:
        """Return the answer to a call for one record that certainly exists, as nothing may refuse it; else None."""
        plan, entity, draft = self.tool.plan, self.tool.entity, self.draft
        if draft is None or not draft.ok or plan.guessed or plan.verb != "get" or entity is None or plan.key is None:
            return None
        key = value_at(self.turn.call.arguments, plan.key)
        # Records that nothing specifies are guesses, which the model may deny.
        if entity.name not in self.domain.specified or not isinstance(key, str | int):
            return None
        is_hidden = self.facts.was_hidden(entity.name, key) or self.facts.has_moved(entity.name, key)
        is_certain = self.turn.view.get(entity.name, key) is not None and not is_hidden
        return draft.transition.observation if is_certain else None

    # what contradicts the world

    def _judged(self, observation: Observation, *, is_last: bool = False) -> _Judged:
        """Return the answer with its contradictions corrected. Raises `Rejected` before the last attempt."""
        repaired, judged = list[str](), self._read(observation)
        for _ in range(MAX_ROUNDS):
            contradictions = self._contradictions(judged)
            if not contradictions or judged.readable is None:
                break
            problems = [contradiction.problem for contradiction in contradictions if contradiction.problem]
            if problems and not is_last:
                raise Rejected("", problems)
            repaired += [".".join(map(str, contradiction.path)) for contradiction in contradictions]
            value = self.with_total(corrected(judged.readable.value, contradictions), contradictions)
            judged = self._read(replace(judged.observation, body=judged.readable.write(value)))
        if repaired:
            self.figures["repaired"] = [*dict.fromkeys(repaired)]
        return judged

    def _contradictions(self, judged: _Judged) -> list[Contradiction]:
        """Return what contradicts the world, and note what is shown and fixed."""
        self.identified = bool(judged.subjects)
        absorption, after = self._absorption(()), self._absorption(judged.changes)
        plan, entity = self.tool.plan, self.tool.entity
        agreement = CallAgreement(
            self.turn, plan, entity, judged.subjects, judged.changes, judged.value, after.is_certainly_absent
        )
        contradictions = [
            *absorption.contradictions(judged.subjects, self._is_row),
            *after.undisclosed(judged.subjects, self._drafted()),
            *after.dangling_links(judged.subjects),
            *absorption.impossible_times(judged.subjects),
            *agreement.contradictions(),
        ]
        pages = Pages(self.tool, self.domain, self.facts, self.draft, self.is_repeated)
        self.figures |= {"values_shown": absorption.shown, "values_fixed": absorption.fixed}
        # Rows are counted and ordered only after they are right: a wrong row would be reported as a missing one, too.
        return contradictions or [*pages.contradictions(judged.value)] or [*self._unlike_before(judged.value)]

    def _unlike_before(self, value: Json) -> Iterator[Contradiction]:
        """Yield what the answer to the same call had otherwise, if nothing has been written since."""
        readable = None if self.before is None or value is None else Readable.of(self.before)
        for path, ours, theirs in () if readable is None else differences(readable.value, value):
            label = ".".join(map(str, path))
            yield Contradiction(path, f"{label} was {ours!r} in the answer to the same call, not {theirs!r}", ours)

    def _read(self, observation: Observation) -> _Judged:
        readable = Readable.of(observation)
        value = None if readable is None else readable.value
        subjects = self.subjects(value)
        changes: tuple[Change, ...] = ()
        if self.tool.is_write and self.reported is not None:
            changes = self.reported.changes(self.turn, self.disclosure)
        elif self.tool.is_write:
            effect = Effect(self.turn, self.tool.plan, self.disclosure, self.draft)
            changes = effect.changes(subjects, observation)
        return _Judged(observation, readable, value, subjects, changes)

    def with_total(self, value: Json, contradictions: Sequence[Contradiction]) -> Json:
        """Return an answer with a total that does not count rows that were left out."""
        total = self.tool.plan.envelope.total
        shown = MISSING if total is None else get_part(value, split_path(total))
        is_right = any(
            total is not None and contradiction.path == split_path(total) for contradiction in contradictions
        )
        omitted = 0 if is_right else sum(contradiction.true is OMITTED for contradiction in contradictions)
        if total is None or not omitted or not isinstance(shown, int) or isinstance(shown, bool):
            return value
        return replace_part(value, split_path(total), max(0, shown - omitted))

    def _is_row(self, path: Path) -> bool:
        """Whether a path is one of the rows that the plan names, in a list that shows records."""
        rows = self.tool.plan.envelope.rows
        return rows is not None and not self.tool.plan.guessed and path[:-1] == split_path(rows) and bool(path)

    # what follows from it

    def _transition(self, judged: _Judged) -> Transition:
        plan, changes = self.tool.plan, judged.changes
        written = WrittenFacts(self.turn, plan, self.domain, self.facts, self.draft)
        if self.tool.is_write:
            if self.reported is not None:
                written.note_reported(changes)
            else:
                written.note_effect(changes, judged.value)
                written.note_records(changes, judged.subjects)
            written.note_hidden(changes, judged.subjects)
        absorption = self._absorption(changes)
        absorption.absorb(judged.subjects)
        for change in changes:
            if change.record is not None and change.entity in self.domain.entities:
                absorption.absorb_links(self.domain.entities[change.entity], change.record)
        absorption.unchecked |= self._unidentified(judged)
        absorption.unchecked |= {(removal.entity, removal.key, "*") for removal in changes if removal.op == "remove"}
        absorption.unchecked |= self._reworded((*changes, *absorption.absorbed))
        return Transition(
            judged.observation,
            changes,
            () if self.draft is None or not self.draft.ok else self.draft.transition.agenda,
            absorbed=tuple(absorption.absorbed),
            guesses=plan.guesses,
            unchecked=frozenset(absorption.unchecked),
        )

    def _absorption(self, changes: tuple[Change, ...]) -> Absorption:
        is_search = self.tool.plan.verb == "search"
        return Absorption(self.disclosure, self.facts, self.turn.view.after(changes), is_search, changes)

    def _unidentified(self, judged: _Judged) -> Unchecked:
        """Return the rows of the plan that identify nothing, as no check may compare them."""
        entity = self.tool.entity
        if entity is None:
            return set()
        known = {subject.path for subject in judged.subjects if subject.entity.name == entity.name}
        places = (self.tool.plan.envelope.record, self.tool.plan.envelope.rows)
        rows = list[tuple[Path, Json]]()
        for path in (split_path(place) for place in places if place is not None):
            shown = get_part(judged.value, path)
            rows += [(path, shown), *(((*path, at), row) for at, row in enumerate(as_list(shown)))]
        keys = (as_object(row).get(entity.key) for path, row in rows if path not in known)
        return {(entity.name, key, "*") for key in keys if isinstance(key, str | int)}

    def _reworded(self, changes: Sequence[Change]) -> Unchecked:
        """Return the written values that differ from the arguments: the system keeps them in another form."""
        return {
            (change.entity, change.key, name)
            for change in changes
            if change.record is not None and change.entity == self.tool.plan.entity
            for argument, name in self.tool.plan.sets.items()
            if not equal(change.record.get(name), value_at(self.turn.call.arguments, argument))
        }
