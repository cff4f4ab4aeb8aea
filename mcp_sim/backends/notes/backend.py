"""Tools that keep one list of notes or tasks, addressed by position or read as a whole."""

from __future__ import annotations

from mcp_sim.backends.matching.tool_profiles import profiles_of_tools
from mcp_sim.backends.notes.matching import entities, given_notes, plans_for, recognised
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan


@backends.register("notes")
class Notes(Backend):
    """A scratchpad, a journal, a to-do list: entries without ids, in the order in which they were written.

    Entries are addressed by position, or the whole list is replaced. A list is empty at first, unless a state has
    entries. Servers with a tool that takes the id of a note have records instead.
    """

    order = 80

    def match(self, evidence: ServerEvidence) -> Match | None:
        found = recognised(evidence.once(profiles_of_tools))
        if not found:
            return None
        made = entities(found)
        rows, rest = given_notes(evidence.state, [entity.name for entity in made])
        return Match(plans_for(found), made, rows, rest)

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.notes.answer import answer

        return answer(tool, plan, domain)
