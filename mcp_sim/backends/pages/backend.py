"""Tools that search pages, and read one by its address: the web, documentation, a knowledge base."""

from __future__ import annotations

from mcp_sim.backends.matching.tool_profiles import whole_purposes
from mcp_sim.backends.pages.matching import PAGE, entity, given_pages, plan_for, recognised
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan


@backends.register("pages")
class Pages(Backend):
    """Pages found by a query and read by address or id, the same ones every time: entity `page` (url, title, text).

    Where a state or records hold pages, it is those and no others. Else pages are made up, each from its address and
    the seed, and what is told of them is marked as guessed.
    """

    order = 20

    def match(self, evidence: ServerEvidence) -> Match | None:
        found = recognised(evidence.once(whole_purposes))
        if not found:
            return None
        key, rows, rest = given_pages(evidence.state)
        return Match([plan_for(one) for one in found], [entity(key)], {PAGE: rows}, rest)

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.pages.answer import answer

        return answer(tool, plan, domain)
