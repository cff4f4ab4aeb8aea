"""What do tools show of a graph: all of it, what a search finds, what is near a node, the way from one to another?"""

from __future__ import annotations

from collections import deque

from mcp_sim.backends.graph.asking import Asked, Graph, bare
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record
from mcp_sim.types.json_text import encode
from mcp_sim.types.lexicon.words import plural


def read(graph: Graph, _asked: Asked) -> Outcome:
    return graph.part(graph.nodes(), graph.edges())


def nodes(graph: Graph, _asked: Asked) -> Outcome:
    found = graph.nodes()
    return graph.told(encode(found).decode(), found, plural(graph.shape.node))


def edges(graph: Graph, _asked: Asked) -> Outcome:
    found = graph.edges()
    return graph.told(encode(found).decode(), found, plural(graph.shape.edge))


def search(graph: Graph, asked: Asked) -> Outcome:
    """The nodes in which the text of the question occurs, and the edges that begin or end there."""
    query = str(asked.get("query") or "").lower()
    limit = asked.get("limit")
    found = [node for node in graph.nodes() if query in encode(list(node.values())).decode().lower()]
    return _among(graph, found[:limit] if isinstance(limit, int) else found)


def open_nodes(graph: Graph, asked: Asked) -> Outcome:
    """Nodes by their names, and the edges that begin or end there; a single one must be there."""
    if "names" in asked.roles:
        found = (graph.node(name) for name in asked.names())
        return _among(graph, [node for node in found if node is not None])
    node = graph.known(asked.get("name"))
    facts = {**node, graph.shape.node: node}
    return Outcome(encode(node).decode(), facts, graph.shape.node, is_json=True)


def _among(graph: Graph, found: list[Record]) -> Outcome:
    shape = graph.shape
    names = {node[shape.key] for node in found}
    near = [edge for edge in graph.edges() if edge.get(shape.source) in names or edge.get(shape.target) in names]
    return graph.part(found, near)


def neighbours(graph: Graph, asked: Asked) -> Outcome:
    """The nodes that so many edges lead to (one, where nothing else is said), and those edges."""
    start, depth = asked.get("name"), asked.get("depth")
    graph.known(start)
    reached, via = {start: 0}, dict[str, Record]()
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        if reached[here] >= (depth if isinstance(depth, int) else 1):
            continue
        for edge in graph.ends_in(here):
            via[edge["edge"]] = bare(edge)
            for end in (edge[graph.shape.source], edge[graph.shape.target]):
                if end not in reached:
                    reached[end] = reached[here] + 1
                    waiting.append(end)
    found = [node for name in reached if name != start and (node := graph.node(name)) is not None]
    return graph.part(found, via.values())


def path(graph: Graph, asked: Asked) -> Outcome:
    """The shortest way along the edges from one node to another."""
    start, end = asked.get("source"), asked.get("target")
    _ = graph.known(start), graph.known(end)
    before: dict[Json, Json] = {start: None}
    waiting = deque([start])
    while waiting and end not in before:
        here = waiting.popleft()
        for _, edge in graph.view.find(graph.prefix + graph.shape.edge, graph.shape.source, here):
            if edge[graph.shape.target] not in before:
                before[edge[graph.shape.target]] = here
                waiting.append(edge[graph.shape.target])
    way: list[Json] = [end] if end in before else []
    while way and way[0] != start:
        way.insert(0, before[way[0]])
    text = " -> ".join(str(one) for one in way) or f"No path from {start} to {end}"
    return Outcome(text, {"path": way, "length": max(len(way) - 1, 0), "found": bool(way)}, "path")
