"""Tools that work on a graph: nodes with notes, and edges between them."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.claiming.fitting import Names
from mcp_sim.claiming.outcomes import Outcome, answering
from mcp_sim.claiming.purposes import Purpose, by_server
from mcp_sim.claiming.ways import Way, way_chooser
from mcp_sim.domain import Domain, Plan
from mcp_sim.extensions import Answer, Behaviour, Claims, Survey, behaviours
from mcp_sim.graphs.given import given_graph
from mcp_sim.graphs.operations import OPERATIONS, Asked, Graph, keyed
from mcp_sim.graphs.recognition import operation_of, plans_of, roles_of, shape_of
from mcp_sim.types import Tool, Turn
from mcp_sim.words import plural


@behaviours.register("knowledge_graph")
class KnowledgeGraph(Behaviour):
    """Nodes by name and edges between them; the entities are called as the tools call them (`entity`, `relation`).

    In a list, what is there already is silently skipped, and only what was new is told. With a node its edges go.
    A graph is empty at first, unless a state or records are given.
    """

    def claims(self, survey: Survey) -> Claims | None:
        plans = [plan for tools in by_server(survey.tools) for plan in plans_of(tools)]
        if not plans:
            return None
        shape = shape_of([survey.tools[plan.tool] for plan in plans])
        nodes, edges, rest = given_graph(survey.state, shape)
        records = {shape.node: nodes, shape.edge: [keyed(edge, shape) for edge in edges]}
        return Claims(plans, shape.entities(), records, rest)

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        mine = (domain.tools[other.tool] for other in domain.plans.values() if other.behaviour == "knowledge_graph")
        shape = shape_of([other for other in mine if other.server == tool.server])
        prefix = (plan.entity or "").removesuffix(shape.node).removesuffix(shape.edge)
        way = way_chooser(tool, plan, OPERATIONS, _ways)

        def operate(turn: Turn) -> Outcome:
            operation, roles = way(turn.call.arguments)
            return OPERATIONS[operation](Graph(turn.view, shape, prefix), Asked(turn.call.arguments, roles))

        names: Names = {
            plural(shape.node): ("entities", "nodes", "results", "vertices"),
            plural(shape.edge): ("relations", "edges", "relationships", "links"),
        }
        return answering(tool, domain, operate, names)


def _ways(purpose: Purpose) -> Iterator[Way]:
    operation = operation_of(purpose)
    if operation is not None:
        yield operation, dict(roles_of(purpose, operation))
