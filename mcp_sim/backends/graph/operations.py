"""Operations on a graph: add, update and delete nodes, edges and notes; read, search and traverse."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

from mcp_sim.backends.graph.given import keyed
from mcp_sim.backends.graph.matching import named_key, named_notes
from mcp_sim.backends.graph.request import Asked, Graph, bare
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import plural, singular


def add_nodes(graph: Graph, asked: Asked) -> Outcome:
    """Add nodes. Existing ones are skipped in a batch. Raises `Refused` if a single node already exists."""
    shape = graph.shape
    made: list[Record] = []
    for item in asked.items():
        key = item.get(shape.key)
        if graph.node(key) is None and isinstance(key, str | int):
            record = {**item, **({shape.notes: as_list(item.get(shape.notes))} if shape.notes else {})}
            graph.put(shape.node, key, record)
            made.append(record)
        elif not asked.is_batch:
            raise Refused("conflict", f"{shape.node.capitalize()} {key} already exists", key=key, entity=shape.node)
    return _done(graph, asked, made, shape.node, "created")


def add_edges(graph: Graph, asked: Asked) -> Outcome:
    """Add edges. Existing ones are skipped in a batch.

    Raises `Refused` if a single edge already exists, or lacks one of its nodes.
    """
    shape = graph.shape
    made: list[Record] = []
    for item in asked.items():
        if not asked.is_batch:
            _ = graph.known(item.get(shape.source)), graph.known(item.get(shape.target))
        record = keyed(item, shape)
        if graph.edge(item) is None:
            graph.put(shape.edge, record["edge"], record)
            made.append(item)
        elif not asked.is_batch:
            raise Refused("conflict", f"{shape.edge.capitalize()} already exists: {record['edge']}", key=record["edge"])
    return _done(graph, asked, made, shape.edge, "created")


def _done(graph: Graph, asked: Asked, made: list[Record], entity: str, done: str) -> Outcome:
    if asked.is_batch:
        return graph.list_outcome(encode(made).decode(), made, plural(entity))
    facts = {**made[0], entity: made[0]}
    name = made[0].get(graph.shape.key, "")
    return Outcome(
        f"{entity.capitalize()} {name} {done}".replace("  ", " "), facts, entity, changes=tuple(graph.changes)
    )


def add_notes(graph: Graph, asked: Asked) -> Outcome:
    """Add notes to nodes. Existing notes are skipped."""
    notes = graph.shape.notes or "observations"
    results: list[Record] = []
    for item in asked.items():
        name = named_key(item)
        node = graph.known(name)
        held = [str(one) for one in as_list(node.get(notes))]
        fresh = [one for one in dict.fromkeys(named_notes(item)) if one not in held]
        if fresh:
            graph.put(graph.shape.node, str(name), {**node, notes: [*held, *fresh]})
        results.append({f"{graph.shape.node}Name": name, f"added{notes.capitalize()}": fresh})
    return graph.list_outcome(encode(results).decode(), results, "results")


def delete_notes(graph: Graph, asked: Asked) -> Outcome:
    """Delete notes. Missing notes are skipped."""
    notes = graph.shape.notes or "observations"
    for item in asked.items():
        name, gone = named_key(item), set(named_notes(item))
        node = graph.node(name)
        held = [] if node is None else as_list(node.get(notes))
        kept = [one for one in held if one not in gone]
        if node is not None and kept != held:
            graph.put(graph.shape.node, str(name), {**node, notes: kept})
    return _gone(graph, singular(notes))


def delete_nodes(graph: Graph, asked: Asked) -> Outcome:
    """Delete nodes and their edges. Missing nodes are skipped in a batch."""
    count = 0
    for name in asked.names():
        node = graph.node(name)
        if node is None and "names" not in asked.roles:
            graph.known(name)
        if node is not None:
            for edge in graph.ends_in(name):
                graph.put(graph.shape.edge, edge["edge"], None)
            graph.put(graph.shape.node, name, None)
            count += 1
    named = "" if "names" in asked.roles else str(asked.get("name"))
    return _gone(graph, graph.shape.node, count, named)


def delete_edges(graph: Graph, asked: Asked) -> Outcome:
    """Delete edges. Missing edges are skipped in a batch. Raises `Refused` if a single edge does not exist."""
    count, key = 0, ""
    for item in asked.items():
        found, key = graph.edge(item), keyed(item, graph.shape)["edge"]
        if found is not None:
            graph.put(graph.shape.edge, found["edge"], None)
            count += 1
        elif not asked.is_batch:
            raise Refused("not_found", f"{graph.shape.edge.capitalize()} {key} not found", key=key)
    return _gone(graph, graph.shape.edge, count, "" if asked.is_batch else key)


def _gone(graph: Graph, what: str, count: int = 0, named: str = "") -> Outcome:
    """Return the confirmation of a deletion: of one thing by its name, of a batch as a whole."""
    label = (what if named else plural(what)).replace("_", " ").capitalize()
    text = f"{label} {named} deleted successfully" if named else f"{label} deleted successfully"
    return Outcome(text, {"success": True, "deleted": count, "count": count}, changes=tuple(graph.changes))


def update(graph: Graph, asked: Asked) -> Outcome:
    """Update the given fields of nodes. All nodes must exist, in a batch too."""
    if asked.is_batch:
        changed = [_changed(graph, item.get(graph.shape.key), item) for item in asked.items()]
        return graph.list_outcome(encode(changed).decode(), changed, plural(graph.shape.node))
    name = asked.get("name")
    own = asked.roles.get("name", "")
    record = _changed(graph, name, {field: value for field, value in asked.given.items() if field != own})
    text = f"{graph.shape.node.capitalize()} {name} updated"
    return Outcome(text, {**record, graph.shape.node: record}, graph.shape.node, changes=tuple(graph.changes))


def _changed(graph: Graph, name: Json, fields: Record) -> Record:
    record = {**graph.known(name), **fields}
    graph.put(graph.shape.node, name, record)
    return record


def update_edges(graph: Graph, asked: Asked) -> Outcome:
    """Update the fields of edges, which are identified by their ends and their relation.

    Raises `Refused` if one does not exist.
    """
    changed: list[Record] = []
    for item in asked.items():
        found = graph.edge(item)
        if found is None:
            key = keyed(item, graph.shape)["edge"]
            raise Refused("not_found", f"{graph.shape.edge.capitalize()} {key} not found", key=key)
        graph.put(graph.shape.edge, found["edge"], {**found, **item})
        changed.append(bare({**found, **item}))
    return graph.list_outcome(encode(changed).decode(), changed, plural(graph.shape.edge))


def read(graph: Graph, _asked: Asked) -> Outcome:
    """Return the whole graph."""
    return graph.part(graph.nodes(), graph.edges())


def nodes(graph: Graph, _asked: Asked) -> Outcome:
    """List all nodes."""
    found = graph.nodes()
    return graph.list_outcome(encode(found).decode(), found, plural(graph.shape.node))


def edges(graph: Graph, _asked: Asked) -> Outcome:
    """List all edges."""
    found = graph.edges()
    return graph.list_outcome(encode(found).decode(), found, plural(graph.shape.edge))


def search(graph: Graph, asked: Asked) -> Outcome:
    """Return the nodes that contain the searched text, and their edges."""
    query = str(asked.get("query") or "").lower()
    limit = asked.get("limit")
    found = [node for node in graph.nodes() if query in encode(list(node.values())).decode().lower()]
    return _among(graph, found[:limit] if isinstance(limit, int) else found)


def open_nodes(graph: Graph, asked: Asked) -> Outcome:
    """Return nodes by name, and their edges. A single node must exist."""
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
    """Return the nodes within `depth` edges of a node (default 1), and those edges."""
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
    """Return the shortest path along the edges from one node to another."""
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


OPERATIONS: Mapping[str, Callable[[Graph, Asked], Outcome]] = {
    "add_nodes": add_nodes, "add_edges": add_edges, "add_notes": add_notes, "delete_nodes": delete_nodes,
    "delete_edges": delete_edges, "delete_notes": delete_notes, "read": read, "search": search, "open": open_nodes,
    "neighbours": neighbours, "nodes": nodes, "edges": edges, "path": path, "update": update,
    "update_edges": update_edges,
}  # fmt: skip
