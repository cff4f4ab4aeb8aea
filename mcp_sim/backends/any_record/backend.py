"""Tools that look up a record of any entity by its id."""

from __future__ import annotations

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.projection import projector
from mcp_sim.backends.refusal import invalid, not_found
from mcp_sim.types import Observation, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.kinds import Answer, Backend, Invent, backends
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key


@backends.register("any_record")
class AnyRecord(Backend):
    """Gets the record with an id from any entity. If several have the id, the entity declared first wins."""

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        name = plan.arguments["id"]
        fetch = argument(name)
        kinds = [(one.name, projector(one, {}, domain.entities)) for one in _tables(tool, domain)]
        form = "json" if tool.output_schema is None else "structured"

        def answer(turn: Turn, _invent: Invent) -> Transition:
            asked = fetch(turn.call.arguments)
            if asked is ABSENT:
                return Transition(invalid(tool, name, None, f"{name} is required"))
            for entity, show in kinds:
                key = find_key(turn.view, entity, asked)
                if key is not None:
                    record = turn.view.get(entity, key) or {}
                    return Transition(Observation(ToolResult(show(record, turn.view), form=form)))
            return Transition(not_found(tool, "record", asked, name))

        return answer


def _tables(tool: Tool, domain: Domain) -> list[Entity]:
    """Return the entities of the tool's server that have records of their own."""
    tables = [one for one in domain.entities.values() if not one.singleton and one.inside is None]
    own = [one for one in tables if one.name.startswith(f"{tool.server}.")]
    return own or [one for one in tables if "." not in one.name]
