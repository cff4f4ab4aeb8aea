"""The names that a server uses for nodes, edges and their fields, and how a given state has them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from mcp_sim.plans.given import Given, is_named
from mcp_sim.plans.matching.tool_profiles import ToolProfile
from mcp_sim.plans.operation import read_names
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, main_type, properties
from mcp_sim.types.lexicon.english import snake

_WORDS = read_names(__name__)
NODES = ("entity", "node", "vertex", "concept")
EDGES = ("relation", "relationship", "edge", "link", "triple")
FIELDS = _WORDS.table("field")
"""Field of a `Shape` -> usual names, the likeliest first."""
EDGE = "edge"
"""The key of an edge, made of its ends and its relation."""


@frozen
class Shape:
    """The names of nodes and edges, and of their fields."""

    node: str = "entity"
    edge: str = "relation"
    key: str = "name"
    kind: str = "entityType"
    notes: str | None = None
    source: str = "from"
    target: str = "to"
    relation: str = "relationType"

    def entities(self) -> list[Entity]:
        """Return the entities of a graph."""
        text: Record = {"type": "string"}
        fields = {self.key: Field(self.key, text, required=True), self.kind: Field(self.kind, text, required=True)}
        fields |= {self.notes: Field(self.notes, {"type": "array", "items": text}, required=True)} if self.notes else {}
        ends = (self.source, self.target, self.relation)
        edge = {EDGE: Field(EDGE, text), **{name: Field(name, text, required=True) for name in ends}}
        return [
            Entity(self.node, self.key, None, fields, natural=True),
            Entity(self.edge, EDGE, None, edge, natural=True),
        ]

    def node_of(self, row: Record) -> Record:
        """Return a row under the names of a node, with a list of notes if nodes have notes."""
        renamed = self._renamed(row, "key", "kind", "notes")
        return {**renamed, self.notes: as_list(renamed.get(self.notes))} if self.notes else renamed

    def edge_of(self, row: Record) -> Record:
        """Return a row under the names of an edge."""
        return self._renamed(row, "source", "target", "relation")

    def _renamed(self, row: Record, *fields: str) -> Record:
        """Return a row under the names of these fields, as far as it has other usual names for them."""
        wanted = {getattr(self, field): FIELDS[field] for field in fields if getattr(self, field)}
        names: dict[str, str] = {}
        for name, others in wanted.items():
            other = field_named(row.keys() - wanted.keys() - names.keys(), others) if name not in row else None
            names |= {other: name} if other is not None else {}
        return {names.get(name, name): value for name, value in row.items()}

    def keyed(self, edge: Record) -> Record:
        """Return an edge with its key."""
        ends = (edge.get(self.source), edge.get(self.relation), edge.get(self.target))
        return {EDGE: " | ".join(str(end) for end in ends), **bare(edge)}


CLASSIC = Shape(notes="observations")
"""The names of the knowledge graph that most servers imitate; calls from Python use them."""


def bare(edge: Record) -> Record:
    """Return an edge without its key."""
    return {name: value for name, value in edge.items() if name != EDGE}


def shape_of(tools: Iterable[tuple[str, ToolProfile]]) -> Shape:
    """Return the names that tools use for nodes and edges. They are given with their operations."""
    names: dict[str, str | None] = {}
    for operation, profile in tools:
        of = partial(field_of, profile)
        if operation == "add_nodes":
            names |= {"node": field_named(profile.nouns, NODES) or NODES[0], "key": of("key") or "name"}
            names |= {"kind": of("kind") or "type", "notes": of("notes")}
        elif operation == "add_edges":
            names |= {"edge": field_named(profile.nouns, EDGES) or EDGES[0], "relation": of("relation") or "type"}
            names |= {"source": of("source"), "target": of("target")}
    return Shape(**{role: name for role, name in names.items() if name is not None})


def field_of(profile: ToolProfile, field: str) -> str | None:
    """Return the name of a field of the nodes or edges that a tool takes, as items of a list or as arguments."""
    listed = (properties(items(argument)) for argument in profile.arguments.values() if main_type(argument) == "array")
    return field_named(next(filter(None, listed), profile.arguments), FIELDS[field])


def field_named(names: Iterable[str], known: Iterable[str]) -> str | None:
    """Return the name that is the first of the known ones."""
    called = {snake(name): name for name in names}
    return next((called[name] for name in known if name in called), None)


def take_graph(state: Json, shape: Shape) -> Given:
    """Return the nodes and edges of a given state, and the rest of the state.

    They are in tables named after them, or are recognised by their fields, under any wrappers. One list may have both.
    """
    records: dict[str, list[Record]] = {shape.node: [], shape.edge: []}
    return Given(records, _take("", state, shape, records))


def _take(name: str, value: Json, shape: Shape, records: dict[str, list[Record]]) -> Json:
    """Move nodes and edges from a value into `records`. Return the rest; None if nothing is left."""
    rows = _found(name, value, shape)
    if rows is not None:
        for entity, record in rows:
            records[entity].append(record)
        return None
    if not isinstance(value, dict):
        return value
    body = as_object(value)
    left = {field: _take(field, inner, shape, records) for field, inner in body.items()}
    return {field: rest for field, rest in left.items() if rest is not None or body[field] is None} or None


def _found(name: str, value: Json, shape: Shape) -> list[tuple[str, Record]] | None:
    """Return the records of a table with their entities; None if it holds anything else."""
    rows, is_table = _rows(name, value, shape), is_named(name, (*NODES, *EDGES))
    if rows is None or not (rows or is_table):
        return None
    records = [record for row in rows if (record := _record(row, shape, is_table=is_table)) is not None]
    return records if len(records) == len(rows) else None


def _rows(name: str, value: Json, shape: Shape) -> list[Record] | None:
    """Return the rows of a table; None if the value is not a table. Edges may be lists: `[Ada, knows, Bo]`."""
    if is_named(name, EDGES):
        ends, listed = (shape.source, shape.relation, shape.target), [as_list(item) for item in as_list(value)]
        if listed and all(len(edge) == len(ends) for edge in listed):
            return [dict(zip(ends, edge, strict=True)) for edge in listed]
        return rows_of(value, EDGE)
    plain = shape.key if isinstance(value, list) else shape.notes or ""
    return rows_of(value, shape.key, plain if is_named(name, NODES) else "")


def _record(row: Record, shape: Shape, *, is_table: bool) -> tuple[str, Record] | None:
    """Return a row as a node or an edge, with the name of its entity; None if it is neither.

    Fields may have other names if the table is named so (`is_table`) or the row is marked (`{type: relation, ...}`).
    """
    if row.get("type") in (*NODES, *EDGES):
        row, is_table = {name: value for name, value in row.items() if name != "type"}, True
    edge, node = (shape.edge_of(row), shape.node_of(row)) if is_table else (row, row)
    if shape.source in edge and shape.target in edge:
        return shape.edge, shape.keyed(edge)
    if shape.key in node and (is_table or not row.keys().isdisjoint({shape.kind, shape.notes})):
        return shape.node, shape.node_of(node)
    return None
