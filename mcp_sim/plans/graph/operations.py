"""Operations on a graph.

Those that write take a list of objects, or one object. A list skips what exists already, or is missing where it is to
be deleted; a single one is refused then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from mcp_sim.plans.graph.request import GraphRequest
from mcp_sim.plans.graph.shape import EDGE, FIELDS, Shape, bare, field_named
from mcp_sim.plans.outcome import Outcome, as_text, done
from mcp_sim.plans.refusal import Refused, label, noun
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import plural


def add(graph: GraphRequest) -> Outcome:
    """Add nodes or edges. Raises `Refused` if a single one exists, or if a single edge lacks one of its nodes."""
    shape, added = graph.shape, list[Record]()
    for item in graph.items():
        for end in (shape.source, shape.target) if graph.is_of_edges and not graph.is_batch else ():
            graph.known_node(item.get(end))
        key = graph.key(item)
        if graph.find(item) is None and isinstance(key, str | int):
            notes = {} if graph.is_of_edges or not shape.notes else {shape.notes: as_list(item.get(shape.notes))}
            added.append(graph.write({**item, **notes}))
        elif not graph.is_batch:
            raise Refused("conflict", f"{label(graph.kind)} {key} already exists", key=key, entity=graph.kind)
    return _written(graph, added, "created")


def update(graph: GraphRequest) -> Outcome:
    """Update the given fields of nodes or edges. Raises `Refused` if one does not exist."""
    return _written(graph, [graph.write({**graph.known(item), **item}) for item in graph.items()], "updated")


def _written(graph: GraphRequest, records: list[Record], what: str) -> Outcome:
    """Return the written records of a batch, or the only one."""
    entity, names = graph.kind, [str(graph.key(record)) for record in records]
    if graph.is_batch:
        text = f"{len(names)} {plural(noun(entity))} {what}: {', '.join(names)}" if names else f"Nothing {what}"
        return Outcome(text, {plural(entity): records, "count": len(records)}, plural(entity), is_json=True)
    return Outcome(f"{label(entity)} {names[0]} {what}", {**records[0], entity: records[0]}, entity)


def delete(graph: GraphRequest) -> Outcome:
    """Delete nodes with their edges, or edges. Raises `Refused` if a single one does not exist."""
    keys = [*dict.fromkeys(graph.key(row) for row in graph.found())]
    for key in keys:
        for edge in () if graph.is_of_edges else graph.edges_at(key):
            graph.drop(edge[EDGE], graph.shape.edge)
        graph.drop(key, graph.kind)
    what = label(plural(graph.kind)) if graph.is_batch else f"{label(graph.kind)} {keys[0]}"
    return done(f"{what} deleted successfully", success=True, deleted=len(keys), count=len(keys))


def add_notes(graph: GraphRequest) -> Outcome:
    """Add notes to nodes. Notes that exist are skipped. Raises `Refused` if a node does not exist."""
    shape, notes, results, lines = graph.shape, graph.shape.notes or "observations", list[Record](), list[str]()
    for name, texts in _notes(graph):
        node = graph.known_node(name)
        held = as_list(node.get(notes))
        fresh = [text for text in dict.fromkeys(texts) if text not in held]
        if fresh:
            graph.write({**node, notes: [*held, *fresh]})
        results.append({f"{shape.node}Name": name, f"added{notes.capitalize()}": fresh})
        lines.append(f"Added {len(fresh)} {notes} to {name}" + "".join(f"\n- {note}" for note in fresh))
    return Outcome("\n".join(lines), {"results": results, "count": len(results)}, "results", is_json=True)


def delete_notes(graph: GraphRequest) -> Outcome:
    """Delete notes of nodes. Missing ones are skipped."""
    notes = graph.shape.notes or "observations"
    for name, texts in _notes(graph):
        node = graph.node(name) or {}
        kept = [item for item in as_list(node.get(notes)) if item not in texts]
        if node and kept != node.get(notes):
            graph.write({**node, notes: kept})
    return done(f"{label(notes)} deleted successfully", success=True, deleted=0, count=0)


def _notes(graph: GraphRequest) -> Iterator[tuple[Json, list[str]]]:
    """Yield the name of the node and the notes of each item."""
    for item in graph.items():
        name = field_named(item, ("entity_name", graph.shape.key, *FIELDS["key"]))
        texts = next((as_list(value) for value in item.values() if isinstance(value, list)), list[Json]())
        yield None if name is None else item[name], [str(text) for text in texts]


def read_graph(graph: GraphRequest) -> Outcome:
    """Return the whole graph."""
    return _part(graph, graph.all(graph.shape.node), graph.all(graph.shape.edge))


def list_all(graph: GraphRequest) -> Outcome:
    """List all nodes, or all edges."""
    kind, rows = graph.kind, graph.all(graph.kind)
    text = partial(_text, graph.shape, {kind: rows})
    return Outcome(text, {plural(kind): rows, "count": len(rows)}, plural(kind), is_json=True)


def search(graph: GraphRequest) -> Outcome:
    """Return the nodes that contain a text, at most `limit`, and their edges."""
    query = graph.text("query").lower()
    hits = [node for node in graph.rows(graph.shape.node) if query in encode(list(node.values())).decode().lower()]
    return _among(graph, hits[: graph.number("limit")])


def open_nodes(graph: GraphRequest) -> Outcome:
    """Return nodes by a list of names, and their edges; or a single node. Raises `Refused` if that does not exist."""
    shape, nodes = graph.shape, graph.found()
    if graph.is_batch:
        return _among(graph, nodes)
    (node,) = nodes
    return Outcome(partial(_line, shape, node), {**node, shape.node: node}, shape.node, is_json=True)


def _among(graph: GraphRequest, nodes: list[Record]) -> Outcome:
    shape, edges = graph.shape, graph.all(graph.shape.edge)
    names = {node[shape.key] for node in nodes}
    near = [edge for edge in edges if edge.get(shape.source) in names or edge.get(shape.target) in names]
    return _part(graph, nodes, near)


def neighbours(graph: GraphRequest) -> Outcome:
    """Return the nodes and edges within `depth` edges of a node (default 1). Raises `Refused` if it does not exist."""
    shape, start, depth = graph.shape, graph.get("name"), graph.number("depth")
    graph.known_node(start)
    distances, via, reached = {start: 0}, dict[str, Record](), [start]
    for here in reached:  # more are added on the way
        if distances[here] >= (1 if depth is None else depth):
            break
        for edge in graph.edges_at(here):
            via[edge[EDGE]] = bare(edge)
            ends = (edge[shape.source], edge[shape.target])
            new = dict.fromkeys([end for end in ends if end not in distances], distances[here] + 1)
            distances |= new
            reached += new
    return _part(graph, [node for name in reached[1:] if (node := graph.node(name)) is not None], [*via.values()])


def path(graph: GraphRequest) -> Outcome:
    """Return the shortest path along the edges from one node to another. Raises `Refused` if one does not exist."""
    shape, start, end = graph.shape, graph.get("source"), graph.get("target")
    _ = graph.known_node(start), graph.known_node(end)
    before, reached = dict[Json, Json]({start: None}), [start]
    for here in reached:  # more are added on the way
        ends = [edge[shape.target] for edge in graph.edges_at(here, shape.source)]
        new = dict.fromkeys([end for end in ends if end not in before], here)
        before |= new
        reached += new
        if end in before:
            break
    way: list[Json] = [end] if end in before else []
    while way and way[0] != start:
        way.insert(0, before[way[0]])
    text = " -> ".join(str(item) for item in way) or f"No path from {start} to {end}"
    return Outcome(text, {"path": way, "length": max(len(way) - 1, 0), "found": bool(way)}, "path")


def _part(graph: GraphRequest, nodes: list[Record], edges: list[Record]) -> Outcome:
    parts = {graph.shape.node: nodes, graph.shape.edge: edges}
    facts: Record = {plural(name): rows for name, rows in parts.items()}
    return Outcome(partial(_text, graph.shape, parts), facts, is_json=True)


def _text(shape: Shape, parts: Mapping[str, list[Record]]) -> str:
    """Return nodes or edges as lines, with headings if there are both."""
    lines = {name: "\n".join(f"- {_line(shape, row)}" for row in rows) for name, rows in parts.items()}
    shown = {name: text or f"No {plural(noun(name))} found" for name, text in lines.items()}
    headings = {name: f"{label(plural(name))}:\n" if len(parts) > 1 else "" for name in parts}
    return "\n".join(headings[name] + text for name, text in shown.items())


def _line(shape: Shape, row: Record) -> str:
    """Return a node as `Ada (person): likes tea`, and an edge as `Ada -> works at -> Wielhuis`."""
    if shape.source in row and shape.target in row:
        return " -> ".join(str(row[name]) for name in (shape.source, shape.relation, shape.target) if name in row)
    known = (shape.key, shape.kind, shape.notes)
    kind = f" ({row[shape.kind]})" if row.get(shape.kind) else ""
    about = [str(item) for item in as_list(row.get(shape.notes or ""))]
    about += [f"{name} {as_text(value)}" for name, value in row.items() if name not in known]
    return f"{row.get(shape.key)}{kind}" + (f": {'; '.join(about)}" if about else "")
