"""Tools that pass messages between users, without message ids."""

from __future__ import annotations

from mcp_sim.backends.matching.tool_profiles import profiles_of_tools
from mcp_sim.backends.messages.matching import matched, recognised
from mcp_sim.backends.messages.replies import REPLYING, reply_plans
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan


@backends.register("messages")
class Messages(Backend):
    """Sends, lists, searches, counts, marks and deletes messages between users, and looks up users.

    Servers whose tools take message ids have records; of those, only replies, threads and read marks are handled here.
    The sender is the user who is logged in. A receiver who is not in the directory is refused.
    """

    order = 70

    def match(self, evidence: ServerEvidence) -> Match | None:
        listed = evidence.once(profiles_of_tools)
        found = recognised(listed)
        if found:
            return matched(evidence, listed, found)
        replies = reply_plans(listed)
        return Match(replies, state=evidence.state) if replies else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.messages import answer, reply_answer

        module = reply_answer if plan.operation in REPLYING else answer
        return module.answer(tool, plan, domain)
