"""Which operations are there on a graph?"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mcp_sim.backends.graph.asking import Asked, Graph
from mcp_sim.backends.graph.changing import (
    add_edges,
    add_nodes,
    add_notes,
    delete_edges,
    delete_nodes,
    delete_notes,
    update,
    update_edges,
)
from mcp_sim.backends.graph.looking import edges, neighbours, nodes, open_nodes, path, read, search
from mcp_sim.backends.rendering.outcomes import Outcome

OPERATIONS: Mapping[str, Callable[[Graph, Asked], Outcome]] = {
    "add_nodes": add_nodes, "add_edges": add_edges, "add_notes": add_notes, "delete_nodes": delete_nodes,
    "delete_edges": delete_edges, "delete_notes": delete_notes, "read": read, "search": search, "open": open_nodes,
    "neighbours": neighbours, "nodes": nodes, "edges": edges, "path": path, "update": update,
    "update_edges": update_edges,
}  # fmt: skip
