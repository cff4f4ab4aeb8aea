"""Missing permissions for records or fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Literal, Self, TypeAlias

from pydantic import Field, model_validator

from mcp_sim.faults.results import ResultShape, no_effect, proceed_twice, result_value, with_value
from mcp_sim.plans.refusal import not_found
from mcp_sim.types import Change, Json, Key, Proceed, Record, Tool, Transition, Turn
from mcp_sim.types.call_matchers import argument_value, unfit_fields
from mcp_sim.types.conditions import ABSENT, Matcher, where_test
from mcp_sim.types.domain import Concealed, Domain, Entity
from mcp_sim.types.error_templates import refusal
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import at, is_nullable, items, properties, required
from mcp_sim.types.json_values import MISSING, get_part, replace_part
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import MatcherSource
from mcp_sim.types.views import find_key

Withhold: TypeAlias = Literal["null", "absent"]
"""How a field is withheld from the agent."""


@perturbations.register("permission_denied")
class PermissionDenied(Perturbation):
    """Deny access to the records of an `entity`, to some of them (`where`), or to some `fields`.

    A call that names a denied record by its id is rejected with a 403. So are creates, and lists if no record may be
    read. With `where`, lists still show the denied records, unless `hidden`: then they are missing from lists, totals
    and counts, and are not found by id.

    A call that sets a denied field is rejected. Results show it as null if the outputSchema allows it, else not at all.
    """

    stage = Stage.BEFORE

    entity: str = Field(min_length=1, description="The entity of the records.", examples=["deal"])
    where: dict[str, MatcherSource] = Field(
        default_factory=dict[str, MatcherSource],
        description="The denied records: field -> matcher; dotted names select nested values. Default: all.",
        examples=[{"stage": "won"}],
    )
    fields: tuple[str, ...] = Field(default=(), description="The denied fields. Default: the whole record.")
    actions: Literal["any", "read", "write"] = Field(default="any", description="The denied actions.")
    hidden: bool = Field(default=False, description="Whether the records seem not to exist.")
    message: str | None = Field(
        default=None,
        description="The error text, with the placeholders {entity} and, if there is one, {key}. "
        "Default: the tool spec's template for forbidden, else a generic one.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.hidden and self.fields:
            raise ValueError("hidden is only valid for whole records; denied fields are never shown")
        if self.hidden and self.actions != "any":
            raise ValueError(f"a hidden record can be neither read nor written; leave out actions: {self.actions}")
        return self

    @cached_property
    def fits(self) -> Matcher:
        """Whether a record is one of the denied records."""
        return where_test(self.where)

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        entity = domain.entities.get(self.entity)
        if entity is None:
            return [f"unknown entity {self.entity!r}{did_you_mean(self.entity, domain.entities)}"]
        known = {entity.key, *entity.fields}
        unknown = [name for name in self.fields if entity.fields and name not in known]
        problems = [f"{self.entity} has no field {name!r}{did_you_mean(name, known)}" for name in unknown]
        problems.extend(unfit_fields(entity, self.where))
        about = [shape for shape in (ResultShape.of(tool, domain) for tool in tools) if _is_about(shape, self.entity)]
        if tools and not about:
            problems.append(f"no tool in reach works on {self.entity}")
        return [*problems, *(problem for shape in about for problem in self._unshowable(shape))]

    def acts_on_records(self) -> bool:
        return self.hidden or bool(self.where)

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        shape = ResultShape.of(tool, domain)
        if self.hidden and shape.is_read:
            return self._seen_without
        entity = shape.entity
        if entity is None or entity.name != self.entity:
            return no_effect
        return _Guard(self, shape, entity, dict(self._withheld(shape))).apply

    def conceals(self, domain: Domain, tools: Sequence[Tool], *, always: bool) -> Sequence[Concealed]:
        about = [
            shape for tool in domain.tools.values() if _is_about(shape := ResultShape.of(tool, domain), self.entity)
        ]
        is_bypassed = any(shape.is_read and shape.tool not in tools for shape in about)
        is_shown = not self.hidden and not self.fields and (bool(self.where) or not always)
        if self.actions == "write" or is_bypassed or is_shown:
            return ()
        return [Concealed(self.entity, frozenset(self.fields), self.fits)]

    async def _seen_without(self, turn: Turn, proceed: Proceed) -> Transition:
        """Answer a read in a world without the denied records."""
        gone = [Change("remove", self.entity, key) for key, row in turn.view.rows(self.entity) if self.fits(row)]
        if not gone:
            return turn.no_effect(await proceed(turn))
        truth, seen = await proceed_twice(turn, proceed, turn.after(gone))
        if seen.observation == truth.observation:
            return turn.no_effect(truth)
        return replace(truth, observation=seen.observation)

    def denied(self, turn: Turn, key: Key | None = None) -> Transition:
        """Return the rejection of a call."""
        what = self.entity.replace("_", " ") + ("" if key is None else f" {key}")
        slots: dict[str, Json] = {"status": 403, "entity": self.entity}
        if key is not None:
            slots |= {"key": key, "id": key, "value": key}
        sentence = f"403 Forbidden: no permission for {what}"
        return Transition(refusal(turn, "forbidden", sentence, self.message, **slots))

    def _withheld(self, shape: ResultShape) -> Iterator[tuple[str, Withhold]]:
        for field in self.fields:
            if self.actions != "write":
                yield field, "null" if is_nullable(properties(_record_whole(shape)).get(field, {})) else "absent"

    def _unshowable(self, shape: ResultShape) -> Iterator[str]:
        """Yield a problem for each field that a tool's outputSchema requires, so that it cannot be withheld."""
        for field, how in self._withheld(shape):
            if how == "absent" and field in required(_record_whole(shape)):
                yield f"{shape.tool.id} must show {field!r} by its outputSchema, so it cannot be withheld"


@frozen
class _Guard:
    """The access check of one tool that works on the entity."""

    rule: PermissionDenied
    shape: ResultShape
    entity: Entity
    withheld: Mapping[str, Withhold]

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        refused = self._refused(turn)
        if refused is not None:
            return refused
        transition = await proceed(turn)
        return self._withholding(turn, transition) if self.withheld else turn.no_effect(transition)

    def _refused(self, turn: Turn) -> Transition | None:
        """Return the rejection of the call; None if it is allowed."""
        rule, plan = self.rule, self.shape.plan
        if plan is None or rule.actions == ("write" if self.shape.is_read else "read"):
            return None
        if rule.fields and (self.shape.is_read or not set(rule.fields) & self._set(turn).keys()):
            return None
        if plan.verb == "create":
            return rule.denied(turn) if rule.fits(self._set(turn)) else None
        if plan.key is None:
            return rule.denied(turn) if not rule.where else None
        asked = argument_value(turn.call.arguments, plan.key)
        key = find_key(turn.view, self.entity.name, asked)
        record = None if key is None else turn.view.get(self.entity.name, key)
        if key is None or record is None or not self.rule.fits(record):
            return None
        if self.rule.hidden:
            return Transition(not_found(turn.tool, self.entity.name, asked, plan.key))
        return self.rule.denied(turn, key)

    def _set(self, turn: Turn) -> Record:
        """Return the fields that the call sets."""
        plan = self.shape.plan
        if plan is None:
            return {}
        given = {field: argument_value(turn.call.arguments, name) for name, field in plan.sets.items()}
        return {field: value for field, value in given.items() if value is not ABSENT} | dict(plan.fixed)

    def _withholding(self, turn: Turn, transition: Transition) -> Transition:
        """Return the result without the fields that the agent may not see."""
        value = result_value(transition)
        if value is MISSING:
            return turn.no_effect(transition)
        after = turn.view.after(transition.changes)
        for path in self.shape.records(value):
            shown: Record = get_part(value, path)
            key = find_key(after, self.entity.name, self.shape.key_of(shown))
            record = None if key is None else after.get(self.entity.name, key)
            if self.rule.fits(shown if record is None else record):
                forms = {name: self.withheld.get(name) for name in shown}
                kept = {name: None if form else shown[name] for name, form in forms.items() if form != "absent"}
                value = replace_part(value, path, kept)
        return with_value(turn, transition, value)


def _is_about(shape: ResultShape, entity: str) -> bool:
    return shape.entity is not None and shape.entity.name == entity


def _record_whole(shape: ResultShape) -> Record:
    """Return the schema of the records that a tool shows; {} if it declares none."""
    plan, declared = shape.plan, shape.tool.output_schema
    if plan is None or declared is None:
        return {}
    schema = expanded(declared)
    rows, record = plan.envelope.rows, plan.envelope.record
    if rows is not None:
        return items(at(schema, rows))
    return at(schema, record) if record is not None else {}
