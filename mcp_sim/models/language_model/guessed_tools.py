"""Tools whose plan is a guess: the model predicts the whole observation, and the world constrains it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from mcp_sim.backends.records.open_world import open_answer
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.models.language_model.absorption import Absorption, Path, RecordNames
from mcp_sim.types import Change, Json, Observation, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import canonical, nests_deeper
from mcp_sim.types.kinds import Answer, Invent, backends
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_parts import MISSING, READS, get_part, replace_part, replace_shown

MAX_DEPTH = 64
"""Maximum nesting depth of an observation."""

_VARYING = terms("verbs.varying")
"""Words in the names of tools that may answer the same call differently each time."""


@dataclass(frozen=True, slots=True)
class GuessedTool:
    """A tool whose plan is a guess.

    `draft` answers by that plan; None if the plan names no entity. `is_read`: nothing suggests that the tool writes, so
    the same call has the same result until something changes.
    """

    tool: Tool
    plan: Plan
    domain: Domain
    names: RecordNames
    entity: Entity | None
    draft: Answer | None
    validator: Validator | None
    fields: Mapping[str, Validator]
    """Validators of the fields that the model may write."""
    is_read: bool

    @classmethod
    def of(cls, tool: Tool, plan: Plan, domain: Domain, names: RecordNames, validator: Validator | None) -> GuessedTool:
        """Compile a tool."""
        entity = domain.entities.get(plan.entity or "")
        is_known = entity is not None and plan.backend == "records"
        draft = (
            open_answer(backends[plan.backend]().compile_answer(tool, plan, domain), plan, domain) if is_known else None
        )
        writes = entity is not None and plan.verb in ("create", "update")
        fields = {name: Validator(field.schema) for name, field in entity.fields.items()} if entity and writes else {}
        return cls(tool, plan, domain, names, entity, draft, validator, fields, _is_read(tool, plan))

    def refusal(self, turn: Turn) -> Observation | None:
        """Return the error if an argument names a record that a closed world does not have."""
        if self.domain.open or self.draft is not None:
            return None
        for name, value in turn.call.arguments.items():
            target = self.names.link(name)
            if target is None or not isinstance(value, str | int) or not turn.view.count(target):
                continue
            if turn.view.get(target, value) is None:
                label = target.replace("_", " ").capitalize()
                slots: Record = {"entity": target, "key": value, "id": value, "argument": name, "value": value}
                slots |= {f"{target}_id": value, name: value} if name not in {"kind", "message", "self"} else {}
                return turn.tool.failure("not_found", f"{label} {value} not found", **slots)
        return None

    def absorb(
        self, turn: Turn, invent: Invent, draft: Transition | None, observation: Observation
    ) -> tuple[Transition, Sequence[str]]:
        """Return the transition of a predicted observation, and the paths that were repaired. Raises `Rejected`."""
        body = observation.body
        if not isinstance(body, ToolResult) or body.is_error:
            return Transition(observation, guessed=True), ()
        if nests_deeper(body.value, MAX_DEPTH):
            raise Rejected(canonical(body.value)[:MAX_DEPTH], [f"the answer nests more than {MAX_DEPTH} levels deep"])
        changes, value = self._changes(turn, draft, body.value)
        shown = turn.view if self.plan.verb == "delete" else turn.view.after(changes)
        absorption = Absorption(self.names, turn, shown, invent, self._record_paths())
        if self.entity is not None and not equal(value, body.value):
            absorption.repaired.append(".".join((*_split(self.plan.envelope.record or ""), self.entity.key)))
        value = self._complete(absorption.resolve(value, (), None), absorption)
        problems = absorption.problems or ([] if self.validator is None else self.validator.problems(value))
        if not problems:
            absorbed = tuple(absorption.absorbed.values())
            corrected = Observation(replace(body, value=value), observation.delay)
            agenda = () if draft is None else draft.agenda
            return Transition(corrected, changes, agenda, absorbed=absorbed, guessed=True), absorption.repaired
        if draft is None:
            raise Rejected(canonical(body.value), problems)
        return replace(draft, guessed=True), [""]

    # what is written

    def _changes(self, turn: Turn, draft: Transition | None, value: Json) -> tuple[tuple[Change, ...], Json]:
        """Return the changes of the call, by its plan and with the model's further fields, and the result to show."""
        entity = self.entity
        if draft is not None and self.plan.verb == "get":
            return (), self._with_requested_key(draft, value)
        if draft is None or entity is None or self.plan.verb not in ("create", "update", "delete"):
            return (), value
        if self.plan.verb == "delete":
            return draft.changes, value
        put = next((change for change in draft.changes if change.entity == entity.name and change.record), None)
        put = put or self._unchanged_put(turn, entity)
        if put is None or put.record is None:
            return draft.changes, value
        place = _split(self.plan.envelope.record or "")
        shown = get_part(value, place)
        fields = cast("Record", shown) if isinstance(shown, dict) else {}
        record = {**put.record, **dict(self._model_fields(turn, entity, fields, put.record))}
        rest = tuple(change for change in draft.changes if change is not put)
        changed = () if equal(turn.view.get(entity.name, put.key), record) else (replace(put, record=record),)
        if isinstance(shown, dict) and entity.key in fields:
            value = replace_part(value, place, {**fields, entity.key: put.key})
        return (*changed, *rest), replace_shown(value, self.plan.envelope.key, put.key)

    def _with_requested_key(self, draft: Transition, value: Json) -> Json:
        """Return the result of a get with the key of the requested record."""
        body, place = draft.observation.body, _split(self.plan.envelope.record or "")
        true = get_part(body.value, place) if isinstance(body, ToolResult) else MISSING
        shown = get_part(value, place)
        if self.entity is None or not isinstance(true, dict) or not isinstance(shown, dict):
            return value
        key = self.entity.key
        if key not in true or key not in shown:
            return value
        return replace_part(value, place, {**cast("Record", shown), key: true[key]})

    def _unchanged_put(self, turn: Turn, entity: Entity) -> Change | None:
        """Return a write of the unchanged record of an update whose plan names no fields to write."""
        key: Json = turn.call.arguments.get(self.plan.key or "")
        record = turn.view.get(entity.name, key) if isinstance(key, str | int) else None
        version = 0 if record is None else turn.view.version(entity.name, key)
        return None if record is None else Change("put", entity.name, key, record, expected=version)

    def _model_fields(self, turn: Turn, entity: Entity, fields: Record, record: Record) -> Iterator[tuple[str, Json]]:
        """Yield the model's fields of the record that neither the arguments nor the world determine."""
        given = {self.plan.sets[name] for name in self.plan.sets if name.partition(".")[0] in turn.call.arguments}
        for name, value in fields.items():
            known = entity.fields.get(name)
            if known is None or name in given or name in self.plan.fixed or name == entity.key:
                continue
            timed = time_meaning(name, known.schema) in ("created", "updated")
            if known.derived is None and known.link is None and not timed and self.fields[name].is_valid(value):
                yield name, value

    # what is shown

    def _record_paths(self) -> dict[Path, Entity]:
        """Return the paths that hold records by the plan, with their entity."""
        if self.entity is None:
            return {}
        envelope = self.plan.envelope
        places = [place for place in (envelope.rows, envelope.record) if place is not None]
        return {_split(place): self.entity for place in places}

    def _complete(self, value: Json, absorption: Absorption) -> Json:
        """Return the result with its list marked as complete: the world has no other page of it."""
        envelope = self.plan.envelope
        rows = None if envelope.rows is None else get_part(value, _split(envelope.rows))
        if not isinstance(rows, list):
            return value
        count = len(cast("list[Json]", rows))
        for path, true in ((envelope.total, count), (envelope.more, False), (envelope.cursor, None)):
            shown = MISSING if path is None else get_part(value, _split(path))
            if path is not None and shown is not MISSING and not equal(shown, true):
                value = replace_shown(value, path, true)
                absorption.repaired.append(path)
        return value


def _is_read(tool: Tool, plan: Plan) -> bool:
    hints = tool.annotations
    if "readOnlyHint" in hints:
        return hints["readOnlyHint"] is True
    if plan.verb == "unknown":
        return hints.get("destructiveHint") is not True and not _VARYING & {*words(tool.name)}
    return plan.verb in READS or plan.verb in {"compute", "none"}


def _split(path: str) -> Path:
    return tuple(path.split(".")) if path else ()
