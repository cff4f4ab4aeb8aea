"""One call on a graph, and the graph as it sees it."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.backends.graph.shape import CLASSIC, Shape, bare
from mcp_sim.backends.refusal import Refused, label
from mcp_sim.backends.request import Request
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object


class GraphRequest(Request):
    """One call on a graph: with a list of nodes, edges or notes, or with one of them."""

    @property
    def shape(self) -> Shape:
        """The names of nodes and edges."""
        return self.binding.shared or CLASSIC

    @property
    def is_batch(self) -> bool:
        """Whether the call gives a list."""
        return isinstance(self.get("items", self.get("names")), list)

    def items(self) -> list[Record]:
        """Return the items of the call; a single one is an object, or consists of the arguments."""
        if self.has("items"):
            given = self.get("items")
            return [as_object(one) for one in (as_list(given) if isinstance(given, list) else [given])]
        fields = {"name": self.shape.key, "source": self.shape.source, "target": self.shape.target,
                  "relation": self.shape.relation, "texts": "texts"}  # fmt: skip
        return [{**{fields.get(role, role): value for role, value in self.given.items()}, **self.others}]

    def item_edges(self) -> list[Record]:
        """Return the items of the call as edges."""
        return [self.shape.edge_of(one) for one in self.items()]

    # nodes

    def node(self, name: Json) -> Record | None:
        """Return the node of this name, None if there is none."""
        return self.record(name, self.shape.node) if isinstance(name, str | int) else None

    def known(self, name: Json) -> Record:
        """Return the node of this name. Raises `Refused` if there is none."""
        found = self.node(name)
        if found is None:
            raise Refused("not_found", f"{label(self.shape.node)} {name} not found", key=name, entity=self.shape.node)
        return found

    def nodes(self) -> list[Record]:
        """Return all nodes."""
        return [*self.rows(self.shape.node)]

    def put_node(self, name: Key, record: Record) -> None:
        """Write a node."""
        self.put(name, record, self.shape.node)

    # edges

    def edges(self) -> list[Record]:
        """Return all edges as results show them, without keys."""
        return [bare(record) for record in self.rows(self.shape.edge)]

    def edge(self, item: Record) -> Record | None:
        """Return the edge with the same ends and the same relation, None if there is none."""
        same = (self.shape.target, self.shape.relation)
        starting = self.edges_with(self.shape.source, item.get(self.shape.source))
        return next((row for row in starting if all(row.get(name) == item.get(name) for name in same)), None)

    def known_edge(self, item: Record) -> Record:
        """Return the same as `edge`. Raises `Refused` if there is none."""
        found = self.edge(item)
        if found is None:
            key = self.shape.keyed(item)["edge"]
            raise Refused("not_found", f"{label(self.shape.edge)} {key} not found", key=key)
        return found

    def edges_with(self, end: str, name: Json) -> Iterator[Record]:
        """Iterate over the edges that have a node at this end."""
        return (record for _, record in self.view.find(self.entity_named(self.shape.edge), end, name))

    def edges_at(self, name: Json) -> list[Record]:
        """Return the edges that start or end at a node."""
        ends = (self.shape.source, self.shape.target)
        return [*{edge["edge"]: edge for end in ends for edge in self.edges_with(end, name)}.values()]
