"""Tools that work on a graph: nodes with notes, and edges between them."""

from __future__ import annotations

from mcp_sim.backends.graph.given import given_graph, keyed
from mcp_sim.backends.graph.matching import plans_of, shape_of
from mcp_sim.backends.matching.tool_profiles import profiles_by_server
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan


@backends.register("graph")
class Graph(Backend):
    """Nodes by name and edges between them. The entities have the tools' names for them (`entity`, `relation`).

    In a batch, existing nodes and edges are skipped, and the result has only new ones. Deleting a node deletes its
    edges. A graph is empty at first, unless a state or records are given.
    """

    order = 60

    def match(self, evidence: ServerEvidence) -> Match | None:
        plans = [plan for listed in evidence.once(profiles_by_server) for plan in plans_of(listed)]
        if not plans:
            return None
        shape = shape_of([evidence.tools[plan.tool] for plan in plans])
        nodes, edges, rest = given_graph(evidence.state, shape)
        records = {shape.node: nodes, shape.edge: [keyed(edge, shape) for edge in edges]}
        return Match(plans, shape.entities(), records, rest)

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.graph.answer import answer

        return answer(tool, plan, domain)
