"""One call on a graph, and the graph as it sees it."""

from __future__ import annotations

from mcp_sim.plans.graph.shape import CLASSIC, EDGE, Shape, bare
from mcp_sim.plans.refusal import Refused, label
from mcp_sim.plans.request import Request
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object


class GraphRequest(Request):
    """One call on a graph: with a list of nodes, edges or notes, or with one of them."""

    @property
    def shape(self) -> Shape:
        """The names of nodes and edges."""
        return self.binding.shared or CLASSIC

    @property
    def is_of_edges(self) -> bool:
        """Whether the operation works on edges, not on nodes or their notes."""
        return self.binding.operation.name.endswith("edges")

    @property
    def kind(self) -> str:
        """The entity that the operation works on."""
        return self.shape.edge if self.is_of_edges else self.shape.node

    @property
    def is_batch(self) -> bool:
        """Whether the call gives a list."""
        return isinstance(self.get("items", self.get("names")), list)

    def items(self) -> list[Record]:
        """Return the nodes, edges or notes of the call: objects, names of nodes, or its arguments as a single one."""
        shape, asked = self.shape, self.get("items", self.get("names"))
        if self.has("items") or self.has("names"):
            listed = as_list(asked) if isinstance(asked, list) else [asked]
            items = [as_object(item) or {shape.key: item} for item in listed]
        else:
            fields = {"name": shape.key, "source": shape.source, "target": shape.target, "relation": shape.relation}
            given = {role: self.texts(role) if role == "texts" else value for role, value in self.given.items()}
            items = [{**{fields.get(role, role): value for role, value in given.items()}, **self.others}]
        return [shape.edge_of(row) for row in items] if self.is_of_edges else items

    def key(self, item: Record) -> Json:
        """Return the key of a node or an edge."""
        if not self.is_of_edges:
            return item.get(self.shape.key)
        return item.get(EDGE) or self.shape.keyed(item)[EDGE]

    def find(self, item: Record) -> Record | None:
        """Return the node with the same key, or the edge with the same ends and relation, or None."""
        shape = self.shape
        if not self.is_of_edges:
            return self.node(item.get(shape.key))
        starting = self.edges_at(item.get(shape.source), shape.source)
        same = (shape.target, shape.relation)
        return next((row for row in starting if all(row.get(name) == item.get(name) for name in same)), None)

    def known(self, item: Record) -> Record:
        """Return the same as `find`. Raises `Refused` if it does not exist."""
        return _known(self.find(item), self.kind, self.key(item))

    def found(self) -> list[Record]:
        """Return the nodes or edges of the call. Raises `Refused` if a single one is missing; a list may have such."""
        hits = (self.find(row) if self.is_batch else self.known(row) for row in self.items())
        return [row for row in hits if row is not None]

    def write(self, record: Record) -> Record:
        """Write a node or an edge. Return it as results show it."""
        stored = self.shape.keyed(record) if self.is_of_edges and EDGE not in record else record
        self.put(self.key(stored), stored, self.kind)
        return bare(stored) if self.is_of_edges else stored

    def all(self, entity: str) -> list[Record]:
        """Return all nodes, or all edges, as results show them."""
        return [bare(row) if entity == self.shape.edge else row for row in self.rows(entity)]

    def node(self, name: Json) -> Record | None:
        """Return the node of this name, or None."""
        return self.record(name, self.shape.node) if isinstance(name, str | int) else None

    def known_node(self, name: Json) -> Record:
        """Return the node of this name. Raises `Refused` if it does not exist."""
        return _known(self.node(name), self.shape.node, name)

    def edges_at(self, name: Json, *ends: str) -> list[Record]:
        """Return the edges that have a node at one of these ends; by default, at any end."""
        entity, ends = self.entity_named(self.shape.edge), ends or (self.shape.source, self.shape.target)
        return [*{edge[EDGE]: edge for end in ends for _, edge in self.view.find(entity, end, name)}.values()]


def _known(row: Record | None, entity: str, key: Json) -> Record:
    if row is None:
        raise Refused("not_found", f"{label(entity)} {key} not found", key=key, entity=entity)
    return row
