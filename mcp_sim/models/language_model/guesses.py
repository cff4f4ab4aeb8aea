"""How is a call answered whose plan is a guess? The model foretells the answer; the world says what must hold of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from mcp_sim.backends.rendering.places import NOTHING, READS, part, with_part, with_told
from mcp_sim.generate.times import sense
from mcp_sim.models.language_model.absorbing import Path, Reading, Vocabulary
from mcp_sim.types import Change, Json, Observation, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_text import canonical, nests_deeper
from mcp_sim.types.kinds import Answer, Invent, backends
from mcp_sim.types.lexicon.words import vocabulary, words
from mcp_sim.types.plans import Plan

DEEPEST = 64
"""How many levels an observation may nest."""

_LIVELY = vocabulary(
    "random next roll shuffle flip send run execute start stop set add post put do make trigger generate submit book "
    "pay order move play say reset toggle write save store register login logout poll wait retry cancel"
)
"""Words of names of tools that may answer the same call differently each time."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A tool whose plan is a guess. `settle` is what the world would say by that plan; None where it names no entity.

    `is_read`: nothing speaks for its changing anything, so the same call has the same answer while nothing changes.
    """

    tool: Tool
    plan: Plan
    domain: Domain
    vocabulary: Vocabulary
    entity: Entity | None
    settle: Answer | None
    judge: Validator | None
    fields: Mapping[str, Validator]
    """What judges the fields that the model may write."""
    is_read: bool

    @classmethod
    def of(cls, tool: Tool, plan: Plan, domain: Domain, known: Vocabulary, judge: Validator | None) -> Guess:
        """What is known of a tool, compiled."""
        entity = domain.entities.get(plan.entity or "")
        is_known = entity is not None and plan.backend == "records"
        settle = backends[plan.backend]().answering(tool, plan, domain) if is_known else None
        writes = entity is not None and plan.verb in ("create", "update")
        fields = {name: Validator(field.schema) for name, field in entity.fields.items()} if entity and writes else {}
        return cls(tool, plan, domain, known, entity, settle, judge, fields, _is_read(tool, plan))

    def refusal(self, turn: Turn) -> Observation | None:
        """The answer where an argument names a record that a closed world does not have."""
        if self.domain.open or self.settle is not None:
            return None
        for name, value in turn.call.arguments.items():
            target = self.vocabulary.link(name)
            if target is None or not isinstance(value, str | int) or not turn.view.count(target):
                continue
            if turn.view.get(target, value) is None:
                label = target.replace("_", " ").capitalize()
                slots: Record = {"entity": target, "key": value, "id": value, "argument": name, "value": value}
                slots |= {f"{target}_id": value, name: value} if name not in {"kind", "message", "self"} else {}
                return turn.tool.failure("not_found", f"{label} {value} not found", **slots)
        return None

    def absorbed(
        self, turn: Turn, invent: Invent, settled: Transition | None, observation: Observation
    ) -> tuple[Transition, Sequence[str]]:
        """The transition of a foretold answer, and the places that were repaired. Raises Rejected."""
        body = observation.body
        if not isinstance(body, ToolResult) or body.is_error:
            return Transition(observation, guessed=True), ()
        if nests_deeper(body.value, DEEPEST):
            raise Rejected(canonical(body.value)[:DEEPEST], [f"the answer nests more than {DEEPEST} levels deep"])
        changes, value = self._written(turn, settled, body.value)
        shown = turn.view if self.plan.verb == "delete" else turn.view.after(changes)
        reading = Reading(self.vocabulary, turn, shown, invent, self._places())
        if self.entity is not None and not equal(value, body.value):
            reading.repaired.append(".".join((*_split(self.plan.envelope.record or ""), self.entity.key)))
        value = self._complete(reading.read(value, (), None), reading)
        problems = reading.problems or ([] if self.judge is None else self.judge.problems(value))
        if not problems:
            pins = tuple(reading.pins.values())
            told = Observation(replace(body, value=value), observation.delay)
            agenda = () if settled is None else settled.agenda
            return Transition(told, changes, agenda, pins=pins, guessed=True), reading.repaired
        if settled is None:
            raise Rejected(canonical(body.value), problems)
        return replace(settled, guessed=True), [""]

    # what is written

    def _written(self, turn: Turn, settled: Transition | None, value: Json) -> tuple[tuple[Change, ...], Json]:
        """What the call writes: as its plan says, and what the model says of the record beyond that."""
        entity = self.entity
        if settled is not None and self.plan.verb == "get":
            return (), self._asked_for(settled, value)
        if settled is None or entity is None or self.plan.verb not in ("create", "update", "delete"):
            return (), value
        if self.plan.verb == "delete":
            return settled.changes, value
        put = next((change for change in settled.changes if change.entity == entity.name and change.record), None)
        put = put or self._untouched(turn, entity)
        if put is None or put.record is None:
            return settled.changes, value
        place = _split(self.plan.envelope.record or "")
        told = part(value, place)
        said = cast("Record", told) if isinstance(told, dict) else {}
        record = {**put.record, **dict(self._said(turn, entity, said, put.record))}
        rest = tuple(change for change in settled.changes if change is not put)
        changed = () if equal(turn.view.get(entity.name, put.key), record) else (replace(put, record=record),)
        if isinstance(told, dict) and entity.key in said:
            value = with_part(value, place, {**said, entity.key: put.key})
        return (*changed, *rest), with_told(value, self.plan.envelope.key, put.key)

    def _asked_for(self, settled: Transition, value: Json) -> Json:
        """The answer of a get, which shows the record that was asked for and no other."""
        body, place = settled.observation.body, _split(self.plan.envelope.record or "")
        true = part(body.value, place) if isinstance(body, ToolResult) else NOTHING
        told = part(value, place)
        if self.entity is None or not isinstance(true, dict) or not isinstance(told, dict):
            return value
        key = self.entity.key
        if key not in true or key not in told:
            return value
        return with_part(value, place, {**cast("Record", told), key: true[key]})

    def _untouched(self, turn: Turn, entity: Entity) -> Change | None:
        """The record that an update is about, where its plan knows of nothing that it writes."""
        key: Json = turn.call.arguments.get(self.plan.key or "")
        record = turn.view.get(entity.name, key) if isinstance(key, str | int) else None
        version = 0 if record is None else turn.view.version(entity.name, key)
        return None if record is None else Change("put", entity.name, key, record, expected=version)

    def _said(self, turn: Turn, entity: Entity, said: Record, record: Record) -> Iterator[tuple[str, Json]]:
        """The fields of the record that the model says, where neither the arguments nor the world determine them."""
        given = {self.plan.sets[name] for name in self.plan.sets if name.partition(".")[0] in turn.call.arguments}
        for name, value in said.items():
            known = entity.fields.get(name)
            if known is None or name in given or name in self.plan.fixed or name == entity.key:
                continue
            timed = sense(name, known.schema) in ("created", "updated")
            if known.derived is None and known.link is None and not timed and self.fields[name].is_valid(value):
                yield name, value

    # what is shown

    def _places(self) -> dict[Path, Entity]:
        """Whose records stand where, by the plan."""
        if self.entity is None:
            return {}
        envelope = self.plan.envelope
        places = [place for place in (envelope.rows, envelope.record) if place is not None]
        return {_split(place): self.entity for place in places}

    def _complete(self, value: Json, reading: Reading) -> Json:
        """The answer with the list that it shows as the whole list: the world can show no other page of it."""
        envelope = self.plan.envelope
        rows = None if envelope.rows is None else part(value, _split(envelope.rows))
        if not isinstance(rows, list):
            return value
        count = len(cast("list[Json]", rows))
        for path, true in ((envelope.total, count), (envelope.more, False), (envelope.cursor, None)):
            told = NOTHING if path is None else part(value, _split(path))
            if path is not None and told is not NOTHING and not equal(told, true):
                value = with_told(value, path, true)
                reading.repaired.append(path)
        return value


def _is_read(tool: Tool, plan: Plan) -> bool:
    hints = tool.annotations
    if "readOnlyHint" in hints:
        return hints["readOnlyHint"] is True
    if plan.verb == "unknown":
        return hints.get("destructiveHint") is not True and not _LIVELY & {*words(tool.name)}
    return plan.verb in READS or plan.verb in {"compute", "none"}


def _split(path: str) -> Path:
    return tuple(path.split(".")) if path else ()
