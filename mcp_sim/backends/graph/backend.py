"""Backend for tools that work on a graph: nodes with notes, and edges between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_sim.backends.given import Given
from mcp_sim.backends.graph.given import take_graph
from mcp_sim.backends.graph.operations import OPERATIONS
from mcp_sim.backends.graph.shape import CLASSIC, Shape, shape_of
from mcp_sim.backends.matching.matched_tools import MatchedTool
from mcp_sim.backends.matching.tool_profiles import ToolProfile, profiles_by_choice
from mcp_sim.backends.operation import Names
from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.backends.request import Binding
from mcp_sim.types import Json
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.kinds import backends
from mcp_sim.types.lexicon.english import plural
from mcp_sim.types.plans import Plan


@backends.register("graph")
class Graph(OperationsBackend):
    """Nodes by name and edges between them. The entities have the tools' names for them (`entity`, `relation`).

    In a batch, existing nodes and edges are skipped, and the result has only new ones. Deleting a node deletes its
    edges. A graph is empty at first, unless a state or records are given. Evidence is a tool that adds edges, one that
    adds or shows nodes, and a third one.
    """

    order = 60
    confidence = 0.9
    operations = OPERATIONS
    request = "request:GraphRequest"
    entities = CLASSIC.entities()

    def accepts(self, found: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept a graph whose edges are added, and whose nodes are added or shown."""
        names = {one.name for one in found}
        if "add_edges" not in names or names.isdisjoint({"add_nodes", "search", "open", "nodes"}) or len(names) < 3:
            return ()
        shape = _shape(found)
        return [replace(one, entity=shape.edge if one.name.endswith("edges") else shape.node) for one in found]

    def entities_for(self, matched: Sequence[MatchedTool]) -> Sequence[Entity]:
        """Return nodes and edges under the names that these tools use."""
        return _shape(matched).entities()

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        """Return the nodes and edges of a state."""
        return take_graph(state, _shape(matched))

    def prepare(self, binding: Binding, domain: Domain) -> Shape:
        """Return the names that the tools of a server use."""
        server = binding.tool.server if binding.tool is not None else ""
        mine = [plan for plan in domain.plans.values() if plan.backend == self.name and _server(plan, domain) == server]
        profiles = profiles_by_choice([domain.tools[plan.tool] for plan in mine])
        plans = {(plan.tool, at): one for plan in mine for at, one in (plan.choices or {"": plan}).items()}
        found = ((plans.get((one.tool.id, one.choice)), one) for one in profiles)
        return shape_of((plan.operation, one) for plan, one in found if plan is not None)

    def result_names(self, binding: Binding) -> Names:
        """Return the usual names of nodes and edges."""
        shape: Shape = binding.shared
        return {
            plural(shape.node): ("entities", "nodes", "results", "vertices"),
            plural(shape.edge): ("relations", "edges", "relationships", "links"),
        }


def _shape(matched: Sequence[MatchedTool]) -> Shape:
    return shape_of((one.name, one.profile) for one in matched)


def _server(plan: Plan, domain: Domain) -> str:
    return domain.tools[plan.tool].server
