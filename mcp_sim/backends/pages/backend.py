"""Backend for tools that search pages and read them by address: the web, documentation, a knowledge base."""

from __future__ import annotations

from mcp_sim.backends.matching.tool_profiles import profiles_of_tools
from mcp_sim.backends.pages.matching import PAGE, entity, match_tools, plan_for, read_given_pages
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan


@backends.register("pages")
class Pages(Backend):
    """Pages found by a query and read by address or id, always the same: entity `page` (url, title, text).

    Pages of a state or of records are the only ones. Otherwise pages are generated from address and seed, and results
    are marked as guessed.
    """

    order = 20

    def match(self, evidence: ServerEvidence) -> Match | None:
        found = match_tools(evidence.once(profiles_of_tools))
        if not found:
            return None
        key, rows, rest = read_given_pages(evidence.state)
        return Match([plan_for(one) for one in found], [entity(key)], {PAGE: rows}, rest)

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.pages.answer import answer

        return answer(tool, plan, domain)
