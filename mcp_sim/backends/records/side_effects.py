"""What does a write do to records of other entities: the stock that an order takes, the balance that is left?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import cast

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.effects import Consequence, Effect, Step, stepped
from mcp_sim.backends.records.refusals import conflict, not_found
from mcp_sim.backends.records.standing import standing
from mcp_sim.backends.records.ways import Refused, entered
from mcp_sim.generate.named import found_key
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Field
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.words import snake
from mcp_sim.types.plans import Also, Plan


def side_effects(tool: Tool, plan: Plan, domain: Domain) -> Consequence | None:
    """What a write does elsewhere; None where it does nothing there."""
    rules = [_Rule(tool, plan, one, domain) for one in plan.also if one.entity in domain.entities]

    def done_elsewhere(turn: Turn, _invent: Invent, effect: Effect) -> Effect | Observation:
        return stepped(turn, plan.entity or "", effect, (step for rule in rules for step in rule.steps(turn, effect)))

    return done_elsewhere if rules else None


class _Rule:
    """One thing that is done elsewhere, compiled."""

    def __init__(self, tool: Tool, plan: Plan, also: Also, domain: Domain) -> None:
        self.tool, self.also, self.entity = tool, also, domain.entities[also.entity]
        self.field = self.entity.fields.get(also.field) or Field(also.field, {})
        self.moves = plan.verb == "update" and plan.entity == also.entity
        self.stood = standing(tool, replace(plan, fixed={})) if self.moves else None

    def steps(self, turn: Turn, effect: Effect) -> Iterator[Step]:
        for asked, value in self._meant(turn, effect.record):
            yield partial(self._change, asked=asked, value=value, effect=effect)

    def _meant(self, turn: Turn, record: Record) -> Iterator[tuple[Json, Json]]:
        """The records that a call names, each with what gets into its field; none where it names none."""
        key, value = self.also.key, self.also.value
        lines, _, part = (key or "").partition(".")
        listed: Json = _named(turn, record, lines) if part else ABSENT
        if not isinstance(listed, list):
            asked = self.entity.name if key is None else _named(turn, record, key)
            yield asked, self.also.fixed if value is None else _named(turn, record, value)
            return
        for line in map(as_object, cast("list[Json]", listed)):
            count = ABSENT if value is None else argument(value.partition(".")[2])(line)
            yield argument(part)(line), self.also.fixed if count is ABSENT else count

    def _change(self, view: View, asked: Json, value: Json, effect: Effect) -> Change | Observation | None:
        """What is written, or what forbids it; None where the call says no record, or nothing of it is counted."""
        name = self.entity.name
        if asked is ABSENT or asked is None or value is ABSENT or value is None:
            return None
        key = found_key(view, name, asked)
        if key is None:
            return not_found(self.tool, name, asked, self.also.key)
        before = view.get(name, key) or {}
        refused = self._refused(key, before, effect) or self._in_the_way(key, before)
        if refused is not None:
            return refused
        if self.also.how == "subtract" and before.get(self.field.name, 0) is None:
            return None
        found = entered(before.get(self.field.name), value, self.also.how, self.field)
        if isinstance(found, Refused):
            return conflict(self.tool, name, key, found.why, field=self.field.name)
        return Change("put", name, key, {**before, self.field.name: found}, expected=view.version(name, key))

    def _refused(self, key: Key, before: Record, effect: Effect) -> Observation | None:
        """What forbids it to a record of the kind that the call writes: it is the same one, or in the wrong state."""
        if self.moves and key == effect.key:
            return conflict(self.tool, self.entity.name, key, "cannot receive from itself")
        return None if self.stood is None else self.stood(key, before)

    def _in_the_way(self, key: Key, before: Record) -> Observation | None:
        """What forbids it to a record that is not as it must be."""
        needed, field = self.also.requires, self.field.name
        if needed is None or equal(before.get(field), needed):
            return None
        wanted = (needed if isinstance(needed, str) else snake(field).removeprefix("is_")).replace("_", " ")
        return conflict(self.tool, self.entity.name, key, f"is not {wanted}", status=before.get(field))


def _named(turn: Turn, record: Record, name: str) -> Json:
    """An argument of the call; else a field of the record that it writes."""
    given = argument(name)(turn.call.arguments)
    return record.get(name, ABSENT) if given is ABSENT else given
