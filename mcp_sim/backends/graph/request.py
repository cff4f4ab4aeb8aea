"""One call by argument roles, and the graph as the call sees it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mcp_sim.backends.graph.matching import Shape
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Change, Json, Record, View
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import plural


@dataclass(slots=True)
class Graph:
    """The graph as one call sees it, with the changes that the call has made."""

    view: View
    shape: Shape
    prefix: str
    changes: list[Change] = field(default_factory=list[Change])

    def node(self, name: Json) -> Record | None:
        return self.view.get(self.prefix + self.shape.node, name) if isinstance(name, str | int) else None

    def known(self, name: Json) -> Record:
        """Return the node of this name. Raises Refused if there is none."""
        found = self.node(name)
        if found is None:
            label = self.shape.node.replace("_", " ").capitalize()
            raise Refused("not_found", f"{label} {name} not found", key=name, entity=self.shape.node)
        return found

    def nodes(self) -> list[Record]:
        return [record for _, record in self.view.rows(self.prefix + self.shape.node)]

    def edges(self) -> list[Record]:
        """Return all edges as results show them, without keys."""
        return [bare(record) for _, record in self.view.rows(self.prefix + self.shape.edge)]

    def edge(self, item: Record) -> Record | None:
        """Return the edge with the same ends and the same relation, or None."""
        same = (self.shape.target, self.shape.relation)
        rows = self.view.find(self.prefix + self.shape.edge, self.shape.source, item.get(self.shape.source))
        return next((row for _, row in rows if all(row.get(name) == item.get(name) for name in same)), None)

    def ends_in(self, name: Json) -> list[Record]:
        """Return the edges that start or end at a node."""
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

    def list_outcome(self, text: str, value: Json, main: str) -> Outcome:
        """Return an outcome with one list."""
        facts = {main: value, "count": len(as_list(value))}
        return Outcome(text, facts, main, is_json=True, changes=tuple(self.changes))

    def part(self, nodes: Iterable[Record], edges: Iterable[Record]) -> Outcome:
        """Return an outcome with some nodes and edges."""
        facts = {plural(self.shape.node): list(nodes), plural(self.shape.edge): list(edges)}
        return Outcome(encode(facts).decode(), facts, is_json=True)


@dataclass(frozen=True, slots=True)
class Asked:
    """One call. `roles` maps roles to arguments."""

    given: Mapping[str, Json]
    roles: Mapping[str, str]

    def get(self, role: str) -> Json:
        return self.given.get(self.roles.get(role, ""))

    @property
    def is_batch(self) -> bool:
        return "items" in self.roles

    def items(self) -> list[Record]:
        """Return the items of a list, or the arguments as the only item."""
        if self.is_batch:
            return [as_object(one) for one in as_list(self.get("items"))]
        return [{name: value for name, value in self.given.items() if name not in {"limit", "depth"}}]

    def names(self) -> list[Json]:
        return as_list(self.get("names")) if "names" in self.roles else [self.get("name")]


def bare(edge: Record) -> Record:
    """Return the edge without its key."""
    return {name: value for name, value in edge.items() if name != "edge"}
