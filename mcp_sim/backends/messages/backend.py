"""Tools that pass messages between users, without message ids."""

from __future__ import annotations

from mcp_sim.backends.matching.tool_profiles import whole_purposes
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
    The\nsender is the user who is logged in. A receiver who is not in the directory is refused.
    """

    order = 70

    def match(self, evidence: ServerEvidence) -> Match | None:
        listed = evidence.once(whole_purposes)
        found = recognised(listed)
        if found:
            return matched(evidence, listed, found)
        replies = reply_plans(listed)
        return Match(replies, state=evidence.state) if replies else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.messages import answer as answers
        from mcp_sim.backends.messages import reply_answer as replying

        of = replying if plan.operation in REPLYING else answers
        return of.answer(tool, plan, domain)
