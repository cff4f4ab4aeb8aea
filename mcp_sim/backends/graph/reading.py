"""Operations that read, search and traverse a graph."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from mcp_sim.backends.graph.request import GraphRequest
from mcp_sim.backends.graph.shape import bare
from mcp_sim.backends.outcome import Outcome, as_text
from mcp_sim.backends.refusal import label, noun
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import plural


def read_graph(graph: GraphRequest) -> Outcome:
    """Return the whole graph."""
    return _part(graph, graph.nodes(), graph.edges())


def list_nodes(graph: GraphRequest) -> Outcome:
    """List all nodes."""
    return _listed(graph, graph.nodes(), graph.shape.node)


def list_edges(graph: GraphRequest) -> Outcome:
    """List all edges."""
    return _listed(graph, graph.edges(), graph.shape.edge)


def search(graph: GraphRequest) -> Outcome:
    """Return the nodes that contain a text, at most `limit`, and their edges."""
    query = graph.text("query").lower()
    found = [node for node in graph.nodes() if query in encode(list(node.values())).decode().lower()]
    return _among(graph, found[: graph.number("limit")])


def open_nodes(graph: GraphRequest) -> Outcome:
    """Return nodes by a list of names, and their edges; or a single node. Raises `Refused` if that does not exist."""
    asked = graph.get("names", graph.get("name"))
    if isinstance(asked, list):
        return _among(graph, [node for name in as_list(asked) if (node := graph.node(name)) is not None])
    node = graph.known(asked)
    return Outcome(_line(graph, node), {**node, graph.shape.node: node}, graph.shape.node, is_json=True)


def _among(graph: GraphRequest, found: list[Record]) -> Outcome:
    shape = graph.shape
    names = {node[shape.key] for node in found}
    near = [edge for edge in graph.edges() if edge.get(shape.source) in names or edge.get(shape.target) in names]
    return _part(graph, found, near)


def neighbours(graph: GraphRequest) -> Outcome:
    """Return the nodes within `depth` edges of a node (default 1), and those edges.

    Raises `Refused` if the node does not exist.
    """
    start, depth = graph.get("name"), graph.number("depth")
    graph.known(start)
    reached, via = {start: 0}, dict[str, Record]()
    waiting = deque([start])
    while waiting:
        here = waiting.popleft()
        if reached[here] >= (1 if depth is None else depth):
            continue
        for edge in graph.edges_at(here):
            via[edge["edge"]] = bare(edge)
            for end in (edge[graph.shape.source], edge[graph.shape.target]):
                if end not in reached:
                    reached[end] = reached[here] + 1
                    waiting.append(end)
    found = [node for name in reached if name != start and (node := graph.node(name)) is not None]
    return _part(graph, found, via.values())


def path(graph: GraphRequest) -> Outcome:
    """Return the shortest path along the edges from one node to another. Raises `Refused` if one does not exist."""
    start, end = graph.get("source"), graph.get("target")
    _ = graph.known(start), graph.known(end)
    before: dict[Json, Json] = {start: None}
    waiting = deque([start])
    while waiting and end not in before:
        here = waiting.popleft()
        for edge in graph.edges_with(graph.shape.source, here):
            if edge[graph.shape.target] not in before:
                before[edge[graph.shape.target]] = here
                waiting.append(edge[graph.shape.target])
    way: list[Json] = [end] if end in before else []
    while way and way[0] != start:
        way.insert(0, before[way[0]])
    text = " -> ".join(str(one) for one in way) or f"No path from {start} to {end}"
    return Outcome(text, {"path": way, "length": max(len(way) - 1, 0), "found": bool(way)}, "path")


def _part(graph: GraphRequest, nodes: Iterable[Record], edges: Iterable[Record]) -> Outcome:
    """Return an outcome with some nodes and edges."""
    parts = {graph.shape.node: [*nodes], graph.shape.edge: [*edges]}
    text = "\n".join(f"{label(plural(name))}:\n{_lines(graph, rows, name)}" for name, rows in parts.items())
    return Outcome(text, {plural(name): rows for name, rows in parts.items()}, is_json=True)


def _listed(graph: GraphRequest, rows: list[Record], entity: str) -> Outcome:
    facts: Record = {plural(entity): rows, "count": len(rows)}
    return Outcome(_lines(graph, rows, entity), facts, plural(entity), is_json=True)


def _lines(graph: GraphRequest, rows: Iterable[Record], entity: str) -> str:
    return "\n".join(f"- {_line(graph, row)}" for row in rows) or f"No {plural(noun(entity))} found"


def _line(graph: GraphRequest, row: Record) -> str:
    """Return a node as `Ada (person): likes tea`, and an edge as `Ada -> works at -> Wielhuis`."""
    shape = graph.shape
    if shape.source in row and shape.target in row:
        return " -> ".join(str(row[name]) for name in (shape.source, shape.relation, shape.target) if name in row)
    known = (shape.key, shape.kind, shape.notes)
    kind = f" ({row[shape.kind]})" if row.get(shape.kind) else ""
    about = [str(one) for one in as_list(row.get(shape.notes or ""))]
    about += [f"{name} {as_text(value)}" for name, value in row.items() if name not in known]
    return f"{row.get(shape.key)}{kind}" + (f": {'; '.join(about)}" if about else "")
