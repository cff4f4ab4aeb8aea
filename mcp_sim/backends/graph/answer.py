"""Answer calls of tools that work on a graph."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.backends.graph.matching import operation_of, roles_of, shape_of
from mcp_sim.backends.graph.operations import OPERATIONS
from mcp_sim.backends.graph.request import Asked, Graph
from mcp_sim.backends.matching.operations import OperationCall, operation_chooser
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.rendering.outcomes import Outcome, compile_answer
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.types import Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer
from mcp_sim.types.lexicon.english import plural
from mcp_sim.types.plans import Plan


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Compile the answer of a tool on the graph of its server."""
    mine = (domain.tools[other.tool] for other in domain.plans.values() if other.backend == "graph")
    shape = shape_of([other for other in mine if other.server == tool.server])
    prefix = (plan.entity or "").removesuffix(shape.node).removesuffix(shape.edge)
    choose = operation_chooser(tool, plan, OPERATIONS, _operation_calls)

    def operate(turn: Turn) -> Outcome:
        operation, roles = choose(turn.call.arguments)
        return OPERATIONS[operation](Graph(turn.view, shape, prefix), Asked(turn.call.arguments, roles))

    names: Names = {
        plural(shape.node): ("entities", "nodes", "results", "vertices"),
        plural(shape.edge): ("relations", "edges", "relationships", "links"),
    }
    return compile_answer(tool, domain, operate, names)


def _operation_calls(profile: ToolProfile) -> Iterator[OperationCall]:
    operation = operation_of(profile)
    if operation is not None:
        yield operation, dict(roles_of(profile, operation))
