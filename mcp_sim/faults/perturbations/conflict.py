"""Writes that conflict with another actor's edit of the same record."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from mcp_sim.faults.results import ResultShape, no_effect
from mcp_sim.generate.chance import Chance
from mcp_sim.generate.edits import Editor, value_problems
from mcp_sim.types import Change, Json, Key, Proceed, Tool, Transition, Turn
from mcp_sim.types.call_matchers import argument_value
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import refusal
from mcp_sim.types.json_values import READS
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.views import find_key

WITHOUT_RECORD = (*READS, "create", "none", "unknown")


@perturbations.register("conflict")
class Conflict(Perturbation):
    """Let another actor edit the record first, and reject the agent's write to it with a 409.

    The edit is an `event` of its own in the ledger, and later reads show it. A second attempt passes, unless the
    trigger holds again. Affects updates and deletes of existing records.
    """

    stage = Stage.BEFORE

    values: dict[str, Json] = Field(
        default_factory=dict[str, Json],
        description="What the other one writes, by field. Default: another value for one field, drawn.",
    )
    actor: str = Field(
        default="someone else",
        min_length=1,
        description="The other actor's name in the ledger.",
        examples=["a colleague"],
    )
    message: str | None = Field(
        default=None,
        description="The error text, with the placeholders {entity} and {key}. "
        "Default: the tool spec's template for conflict, else a generic one.",
    )

    def acts_on_records(self) -> bool:
        return True

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        known = [ResultShape.of(tool, domain) for tool in tools]
        written = [shape.entity for shape in known if shape.entity is not None and _writes_to_one(shape)]
        if tools and not written:
            return ["no tool in reach updates or deletes a record that its arguments name; choose one that does"]
        entities = {entity.name: entity for entity in written}.values()
        return [problem for entity in entities for problem in value_problems(entity, self.values)]

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        shape = ResultShape.of(tool, domain)
        entity, plan = shape.entity, shape.plan
        if entity is None or plan is None or not _writes_to_one(shape):
            return no_effect
        editor, argument = Editor(entity, self.values), plan.key or ""

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            arguments = turn.call.arguments
            key = find_key(turn.view, entity.name, argument_value(arguments, argument))
            chance = Chance(turn.draws.key + f"{turn.owner}/edit".encode())
            mine = {field for name, field in plan.sets.items() if argument_value(arguments, name) is not ABSENT}
            edit = None if key is None else editor.edited(turn.view, key, turn.now, chance, mine)
            if key is None or edit is None:
                return turn.no_effect(await proceed(turn))
            return self._refused(turn, key, edit)

        return apply

    def _refused(self, turn: Turn, key: Key, edit: Change) -> Transition:
        what = edit.entity.replace("_", " ")
        sentence = f"409 Conflict: {what} {key} was changed by someone else in the meantime"
        slots: dict[str, Json] = {"status": 409, "entity": edit.entity, "key": key, "id": key, "value": key}
        error = refusal(turn, "conflict", sentence, self.message, **slots)
        return Transition(error, events=(turn.by(self.actor, edit),))


def _writes_to_one(shape: ResultShape) -> bool:
    """Whether the tool writes to a record that its arguments name."""
    plan = shape.plan
    return plan is not None and plan.key is not None and plan.verb not in WITHOUT_RECORD
