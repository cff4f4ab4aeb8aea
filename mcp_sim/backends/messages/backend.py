"""Tools that pass messages between people: sent to somebody, and read back by conversation instead of by id."""

from __future__ import annotations

from mcp_sim.backends.matching.tool_profiles import whole_purposes
from mcp_sim.backends.messages.matching import claimed, recognised
from mcp_sim.backends.messages.replies import REPLYING, reply_plans
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan


@backends.register("messages")
class Messages(Backend):
    """Send to a user, view what was sent or received, search, mark as read, delete the latest, count; and the users.

    Claimed where messages have no ids that a tool takes: servers whose messages are got and listed one by one have
    records, of which only replies, threads and what is read are told here. The sender is who is logged in; a receiver
    whom the directory does not know is refused.
    """

    order = 70

    def match(self, evidence: ServerEvidence) -> Match | None:
        listed = evidence.once(whole_purposes)
        found = recognised(listed)
        if found:
            return claimed(evidence, listed, found)
        replies = reply_plans(listed)
        return Match(replies, state=evidence.state) if replies else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.messages import answer as answers
        from mcp_sim.backends.messages import reply_answer as replying

        of = replying if plan.operation in REPLYING else answers
        return of.answer(tool, plan, domain)
