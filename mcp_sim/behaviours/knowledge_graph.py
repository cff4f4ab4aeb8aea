"""Tools that work on a graph: nodes with notes, and edges between them."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.domain import Domain, Plan
from mcp_sim.extensions import Answer, Behaviour, Claims, Survey, behaviours
from mcp_sim.graphs.given import given_graph
from mcp_sim.graphs.operations import OPERATIONS, Asked, Graph, keyed
from mcp_sim.graphs.recognition import operation_of, plans_of, roles_of, shape_of
from mcp_sim.outcomes import Names, Outcome, answering
from mcp_sim.purposes import purposes_of
from mcp_sim.types import Tool, Turn
from mcp_sim.words import plural


@behaviours.register("knowledge_graph")
class KnowledgeGraph(Behaviour):
    """Nodes by name and edges between them; the entities are called as the tools call them (`entity`, `relation`).

    In a list, what is there already is silently skipped, and only what was new is told. With a node its edges go.
    A graph is empty at first, unless a state or records are given.
    """

    def claims(self, survey: Survey) -> Claims | None:
        servers = dict.fromkeys(tool.server for tool in survey.tools.values())
        groups = [[tool for tool in survey.tools.values() if tool.server == server] for server in servers]
        plans = [plan for tools in groups for plan in plans_of(tools)]
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
        ways = _ways(tool, plan)
        selector = plan.arguments.get("operation", "")

        def operate(turn: Turn) -> Outcome:
            choice = str(turn.call.arguments.get(selector, "")) if not plan.operation else ""
            operation, roles = ways[choice if choice in ways else next(iter(ways))]
            return OPERATIONS[operation](Graph(turn.view, shape, prefix), Asked(turn.call.arguments, roles))

        names: Names = {
            plural(shape.node): ("entities", "nodes", "results", "vertices"),
            plural(shape.edge): ("relations", "edges", "relationships", "links"),
        }
        return answering(tool, domain, operate, names)


def _ways(tool: Tool, plan: Plan) -> dict[str, tuple[str, Mapping[str, str]]]:
    """What a tool does, and with which arguments, by the choice that selects it ('' where it does one thing)."""
    if plan.operation:
        if plan.operation not in OPERATIONS:
            raise ValueError(f"{tool.id}: a knowledge graph knows no operation {plan.operation!r}")
        return {"": (plan.operation, plan.arguments)}
    found = [(purpose, operation_of(purpose)) for purpose in purposes_of(tool)]
    ways: dict[str, tuple[str, Mapping[str, str]]] = {
        purpose.choice: (operation, dict(roles_of(purpose, operation))) for purpose, operation in found if operation
    }
    if not ways:
        raise ValueError(f"{tool.id}: say under `sim:` which `operation` it is")
    return ways
