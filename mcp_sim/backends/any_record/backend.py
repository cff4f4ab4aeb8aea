"""Tools that look a record up by its id alone, of whichever kind it is."""

from __future__ import annotations

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.projection import projector
from mcp_sim.backends.records.refusals import invalid, not_found
from mcp_sim.generate.lookup import found_key
from mcp_sim.types import Observation, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.kinds import Answer, Backend, Invent, backends
from mcp_sim.types.plans import Plan


@backends.register("any_record")
class AnyRecord(Backend):
    """The record that has this id, of whichever entity; of several, that of the entity which is named first."""

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
                key = found_key(turn.view, entity, asked)
                if key is not None:
                    record = turn.view.get(entity, key) or {}
                    return Transition(Observation(ToolResult(show(record, turn.view), form=form)))
            return Transition(not_found(tool, "record", asked, name))

        return answer


def _tables(tool: Tool, domain: Domain) -> list[Entity]:
    """The entities of the tool's server that have records of their own; of several servers each has a name before."""
    tables = [one for one in domain.entities.values() if not one.singleton and one.inside is None]
    own = [one for one in tables if one.name.startswith(f"{tool.server}.")]
    return own or [one for one in tables if "." not in one.name]
