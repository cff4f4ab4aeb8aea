"""Backend for tools that work on a graph: nodes with notes, and edges between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_sim.plans.given import Given
from mcp_sim.plans.graph.shape import CLASSIC, EDGES, NODES, Shape, field_of, shape_of, take_graph
from mcp_sim.plans.matching.matched_tools import MatchedTool, both, named, unnamed
from mcp_sim.plans.matching.tool_profiles import ToolProfile, profiles_by_choice
from mcp_sim.plans.operation import Names, Operation, Test, pick, read_names
from mcp_sim.plans.operations_backend import OperationsBackend
from mcp_sim.plans.request import Binding
from mcp_sim.types import Json
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.kinds import backends
from mcp_sim.types.lexicon.english import plural
from mcp_sim.types.plans import Verb

_ROLES = read_names(__name__).roles


def _has(*fields: str) -> Test:
    """Return a test whether a node or edge that a tool takes has these fields."""
    return lambda profile: all(field_of(profile, field) is not None for field in fields)


def _operations(run: str, name: str, lines: str, means: Test, verb: Verb) -> Sequence[Operation]:
    """Return an operation with the roles of each line: first on a list, then on a single thing."""
    function = f"operations:{run}"
    return [Operation(name, function, verb, pick(line, _ROLES), means, is_open=True) for line in lines.split(" / ")]


_NODE_NAMES = "|".join(NODES)
_NODE, _EDGE, _NOTE = named(_NODE_NAMES), named("|".join(EDGES)), named("observation|fact|note")
_ADD = named("create|add|insert|new|upsert|make|store|connect|put")
_REMOVE = named("delete|remove|drop|disconnect|forget")
_CHANGE = named("update|edit|set|change|modify")
_JOINS, _HAS_KEY = _has("source", "target"), _has("key")
_ASKS = both(unnamed(" ".join(EDGES)), lambda profile: bool(profile.needed or profile.selector))
_IS_FREE = both(lambda profile: not profile.needed)
_LISTS = both(named("list|get"), _IS_FREE)
_ENDS = "items / source target relation?"

_OPERATIONS = (
    *_operations("add_notes", "add_notes", "items / name texts", both(_NOTE, _ADD), "update"),
    *_operations("delete_notes", "delete_notes", "items / name texts", both(_NOTE, _REMOVE), "update"),
    *_operations("add", "add_edges", _ENDS, both(_EDGE, _JOINS, _ADD), "create"),
    *_operations("delete", "delete_edges", _ENDS, both(_EDGE, _JOINS, _REMOVE), "delete"),
    *_operations("update", "update_edges", _ENDS, both(_EDGE, _JOINS, _CHANGE), "update"),
    *_operations("add", "add_nodes", "items / name", both(_NODE, _ADD, _HAS_KEY), "create"),
    *_operations("delete", "delete_nodes", "names / name", both(_NODE, _REMOVE), "delete"),
    *_operations("path", "path", "source target", both(named("path"), _JOINS), "get"),
    *_operations("neighbours", "neighbours", "name depth?", named("neighbor|neighbour|connected|related"), "list"),
    *_operations("search", "search", "query limit?", named(f"{_NODE_NAMES}|graph search|find|query"), "search"),
    *_operations("open_nodes", "open", "names / name", both(_NODE, _ASKS, named("open|get|read|show|fetch")), "get"),
    *_operations("read_graph", "read", "", both(named("graph read|get|export|list|show|load"), _IS_FREE), "list"),
    *_operations("update", "update", "items / name", both(_NODE, _CHANGE, _HAS_KEY), "update"),
    *_operations("list_all", "nodes", "", both(_NODE, _LISTS), "list"),
    *_operations("list_all", "edges", "", both(_EDGE, _LISTS), "list"),
)
"""In the order in which the words of a tool are compared."""


@backends.register("graph")
class Graph(OperationsBackend):
    """Nodes by name and edges between them. The entities have the tools' names for them (`entity`, `relation`).

    In a batch, existing nodes and edges are skipped, and the result has only new ones. Deleting a node deletes its
    edges. A graph is empty at first, unless a state or records are given. Evidence is a tool that adds edges, one that
    adds or shows nodes, and a third one.
    """

    order = 60
    confidence = 0.9
    operations = _OPERATIONS
    request = "request:GraphRequest"
    entities = CLASSIC.entities()

    def accepts(self, tools: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept a graph whose edges are added, and whose nodes are added or shown."""
        names = {tool.name for tool in tools}
        if "add_edges" not in names or names.isdisjoint({"add_nodes", "search", "open", "nodes"}) or len(names) < 3:
            return ()
        shape = _shape(tools)
        return [replace(tool, entity=shape.edge if tool.name.endswith("edges") else shape.node) for tool in tools]

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
        server, tools = binding.tool.server if binding.tool is not None else "", domain.tools
        own, plans = (self.name, server), domain.plans.values()
        mine = [plan for plan in plans if (plan.backend, tools[plan.tool].server) == own]
        profiles = profiles_by_choice([tools[plan.tool] for plan in mine])
        parts = {(plan.tool, at): choice for plan in mine for at, choice in (plan.choices or {"": plan}).items()}
        pairs = ((profile, parts.get((profile.tool.id, profile.choice))) for profile in profiles)
        return shape_of((plan.operation, profile) for profile, plan in pairs if plan)

    def result_names(self, binding: Binding) -> Names:
        """Return the usual names of nodes and edges."""
        shape: Shape = binding.shared
        return {
            plural(shape.node): ("entities", "nodes", "results", "vertices"),
            plural(shape.edge): ("relations", "edges", "relationships", "links"),
        }


def _shape(matched: Sequence[MatchedTool]) -> Shape:
    return shape_of((tool.name, tool.profile) for tool in matched)
