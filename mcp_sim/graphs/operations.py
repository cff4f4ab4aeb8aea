"""What do the tools of a graph do to its nodes and edges, and what do they tell?"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from mcp_sim.abilities.refusal import Refused
from mcp_sim.claiming.outcomes import Outcome
from mcp_sim.graphs.given import keyed
from mcp_sim.graphs.recognition import Shape, named_key, named_notes
from mcp_sim.json_text import encode
from mcp_sim.schemas import as_list, as_object
from mcp_sim.types import Change, Json, Record, View
from mcp_sim.words import plural


@dataclass(slots=True)
class Graph:
    """The graph as one call sees it, and the changes that the call makes, each seen by what follows."""

    view: View
    shape: Shape
    prefix: str
    changes: list[Change] = field(default_factory=list[Change])

    def node(self, name: Json) -> Record | None:
        return self.view.get(self.prefix + self.shape.node, name) if isinstance(name, str | int) else None

    def known(self, name: Json) -> Record:
        """The node of this name. Raises Refused where there is none."""
        found = self.node(name)
        if found is None:
            label = self.shape.node.replace("_", " ").capitalize()
            raise Refused("not_found", f"{label} {name} not found", key=name, entity=self.shape.node)
        return found

    def nodes(self) -> list[Record]:
        return [record for _, record in self.view.rows(self.prefix + self.shape.node)]

    def edges(self) -> list[Record]:
        """All edges, as they are told: without the key."""
        return [bare(record) for _, record in self.view.rows(self.prefix + self.shape.edge)]

    def edge(self, item: Record) -> Record | None:
        """The edge that leads from and to the same nodes, and is called the same."""
        same = (self.shape.target, self.shape.relation)
        rows = self.view.find(self.prefix + self.shape.edge, self.shape.source, item.get(self.shape.source))
        return next((row for _, row in rows if all(row.get(name) == item.get(name) for name in same)), None)

    def ends_in(self, name: Json) -> list[Record]:
        """The edges that begin or end at a node."""
        entity = self.prefix + self.shape.edge
        ends = (self.shape.source, self.shape.target)
        found = {key: record for end in ends for key, record in self.view.find(entity, end, name)}
        return list(found.values())

    def put(self, entity: str, key: str | int, record: Record | None) -> None:
        """Write a record, or remove it."""
        name = self.prefix + entity
        version = self.view.version(name, key)
        change = Change("remove" if record is None else "put", name, key, record, expected=version)
        self.changes.append(change)
        self.view = self.view.after((change,))

    def told(self, text: str, value: Json, main: str) -> Outcome:
        """An answer with one list in it."""
        facts = {main: value, "count": len(as_list(value))}
        return Outcome(text, facts, main, is_json=True, changes=tuple(self.changes))

    def part(self, nodes: Iterable[Record], edges: Iterable[Record]) -> Outcome:
        """Some nodes and edges, as a graph."""
        facts = {plural(self.shape.node): list(nodes), plural(self.shape.edge): list(edges)}
        return Outcome(encode(facts).decode(), facts, is_json=True)


@dataclass(frozen=True, slots=True)
class Asked:
    """One call. `roles` says which argument is for what."""

    given: Mapping[str, Json]
    roles: Mapping[str, str]

    def get(self, role: str) -> Json:
        return self.given.get(self.roles.get(role, ""))

    @property
    def is_batch(self) -> bool:
        return "items" in self.roles

    def items(self) -> list[Record]:
        """The items of a list, or the arguments as the only one."""
        if self.is_batch:
            return [as_object(one) for one in as_list(self.get("items"))]
        return [{name: value for name, value in self.given.items() if name not in {"limit", "depth"}}]

    def names(self) -> list[Json]:
        return as_list(self.get("names")) if "names" in self.roles else [self.get("name")]


def bare(edge: Record) -> Record:
    return {name: value for name, value in edge.items() if name != "edge"}


def add_nodes(graph: Graph, asked: Asked) -> Outcome:
    """New nodes; those that are there are skipped, or where only one is asked for refused."""
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
    """New edges. Those that are there are skipped; a single one needs both its ends."""
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
        return graph.told(encode(made).decode(), made, plural(entity))
    facts = {**made[0], entity: made[0]}
    name = made[0].get(graph.shape.key, "")
    return Outcome(
        f"{entity.capitalize()} {name} {done}".replace("  ", " "), facts, entity, changes=tuple(graph.changes)
    )


def add_notes(graph: Graph, asked: Asked) -> Outcome:
    """More notes of nodes that are there; what a node says already is skipped."""
    notes = graph.shape.notes or "observations"
    told: list[Record] = []
    for item in asked.items():
        name = named_key(item)
        node = graph.known(name)
        held = [str(one) for one in as_list(node.get(notes))]
        fresh = [one for one in dict.fromkeys(named_notes(item)) if one not in held]
        if fresh:
            graph.put(graph.shape.node, str(name), {**node, notes: [*held, *fresh]})
        told.append({f"{graph.shape.node}Name": name, f"added{notes.capitalize()}": fresh})
    return graph.told(encode(told).decode(), told, "results")


def delete_notes(graph: Graph, asked: Asked) -> Outcome:
    """Fewer notes; what is not there is skipped."""
    notes = graph.shape.notes or "observations"
    for item in asked.items():
        name, gone = named_key(item), set(named_notes(item))
        node = graph.node(name)
        held = [] if node is None else as_list(node.get(notes))
        kept = [one for one in held if one not in gone]
        if node is not None and kept != held:
            graph.put(graph.shape.node, str(name), {**node, notes: kept})
    return _gone(graph, notes)


def delete_nodes(graph: Graph, asked: Asked) -> Outcome:
    """Nodes, and the edges that begin or end there. A list may name what is not there; a single name may not."""
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
    return _gone(graph, plural(graph.shape.node), count)


def delete_edges(graph: Graph, asked: Asked) -> Outcome:
    count = 0
    for item in asked.items():
        found, key = graph.edge(item), keyed(item, graph.shape)["edge"]
        if found is not None:
            graph.put(graph.shape.edge, found["edge"], None)
            count += 1
        elif not asked.is_batch:
            raise Refused("not_found", f"{graph.shape.edge.capitalize()} {key} not found", key=key)
    return _gone(graph, plural(graph.shape.edge), count)


def _gone(graph: Graph, what: str, count: int = 0) -> Outcome:
    text = f"{what.replace('_', ' ').capitalize()} deleted successfully"
    return Outcome(text, {"success": True, "deleted": count, "count": count}, changes=tuple(graph.changes))


def update(graph: Graph, asked: Asked) -> Outcome:
    """A node with other fields, those that are given."""
    name = asked.get("name")
    node = graph.known(name)
    own = asked.roles.get("name", "")
    record = {**node, **{field: value for field, value in asked.given.items() if field != own}}
    graph.put(graph.shape.node, name, record)
    text = f"{graph.shape.node.capitalize()} {name} updated"
    return Outcome(text, {**record, graph.shape.node: record}, graph.shape.node, changes=tuple(graph.changes))


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


OPERATIONS: Mapping[str, Callable[[Graph, Asked], Outcome]] = {
    "add_nodes": add_nodes, "add_edges": add_edges, "add_notes": add_notes, "delete_nodes": delete_nodes,
    "delete_edges": delete_edges, "delete_notes": delete_notes, "read": read, "search": search, "open": open_nodes,
    "neighbours": neighbours, "nodes": nodes, "edges": edges, "path": path, "update": update,
}  # fmt: skip
