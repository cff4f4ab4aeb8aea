"""The names that a server uses for nodes, edges and their fields."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, items, main_type, properties
from mcp_sim.types.lexicon.english import snake

NODES = ("entity", "node", "vertex", "concept")
EDGES = ("relation", "relationship", "edge", "link", "triple")
KEYS = ("name", "id", "node_id", "entity_name", "entity_id", "key", "node", "entity", "label", "title")
KINDS = ("entity_type", "node_type", "type", "kind", "category", "label")
TEXTS = ("observations", "contents", "facts", "notes")
SOURCES = (
    "from", "source", "src", "subject", "from_entity", "source_id", "from_id", "from_node", "source_node", "head",
)  # fmt: skip
TARGETS = (
    "to", "target", "dst", "object", "to_entity", "target_id", "to_id", "to_node", "target_node", "tail",
)  # fmt: skip
RELATIONS = (
    "relation_type", "relation", "relationship", "predicate", "type", "label", "relationship_type", "edge_type",
)  # fmt: skip

EDGE = "edge"
"""The key of an edge, made of its ends and its relation."""


@dataclass(frozen=True, slots=True)
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
        listed: Record = {"type": "array", "items": text}
        fields = {self.key: Field(self.key, text, required=True), self.kind: Field(self.kind, text, required=True)}
        fields |= {self.notes: Field(self.notes, listed, required=True)} if self.notes is not None else {}
        ends = (self.source, self.target, self.relation)
        edge = {EDGE: Field(EDGE, text), **{name: Field(name, text, required=True) for name in ends}}
        return [
            Entity(self.node, self.key, None, fields, natural=True),
            Entity(self.edge, EDGE, None, edge, natural=True),
        ]

    def node_of(self, row: Record) -> Record:
        """Return a row under the names of a node, with a list of notes if nodes have notes."""
        wanted = {self.key: KEYS, self.kind: KINDS, **({self.notes: TEXTS} if self.notes else {})}
        found = _renamed(row, wanted)
        return {**found, self.notes: as_list(found.get(self.notes))} if self.notes else found

    def edge_of(self, row: Record) -> Record:
        """Return a row under the names of an edge."""
        return _renamed(row, {self.source: SOURCES, self.target: TARGETS, self.relation: RELATIONS})

    def keyed(self, edge: Record) -> Record:
        """Return an edge with its key."""
        ends = (edge.get(self.source), edge.get(self.relation), edge.get(self.target))
        return {EDGE: " | ".join(str(end) for end in ends), **bare(edge)}


CLASSIC = Shape(notes="observations")
"""The names of the knowledge graph that most servers imitate; calls from Python use them."""


def bare(edge: Record) -> Record:
    """Return an edge without its key."""
    return {name: value for name, value in edge.items() if name != EDGE}


def _renamed(row: Record, wanted: Mapping[str, Collection[str]]) -> Record:
    """Return a row whose fields have the wanted names, as far as it has fields with one of the other names."""
    found: dict[str, str] = {}
    for name, others in wanted.items():
        other = field_named(row.keys() - wanted.keys() - found.keys(), others) if name not in row else None
        found |= {other: name} if other is not None else {}
    return {found.get(name, name): value for name, value in row.items()}


def shape_of(found: Iterable[tuple[str, ToolProfile]]) -> Shape:
    """Return the names that tools use for nodes and edges. They are given with their operations."""
    names: dict[str, str | None] = {}
    for operation, profile in found:
        parts = parts_of(profile)
        if operation == "add_nodes":
            names |= {"node": _noun(profile, NODES), "key": field_named(parts, KEYS) or "name"}
            names |= {"kind": field_named(parts, KINDS) or "type", "notes": field_named(parts, TEXTS)}
        elif operation == "add_edges":
            names |= {"edge": _noun(profile, EDGES), "relation": field_named(parts, RELATIONS) or "type"}
            names |= {"source": field_named(parts, SOURCES), "target": field_named(parts, TARGETS)}
    return Shape(**{role: name for role, name in names.items() if name is not None})


def parts_of(profile: ToolProfile) -> Mapping[str, Record]:
    """Return the properties of one node or edge: those of the items of a list, else the arguments."""
    listed = (properties(items(part)) for part in profile.arguments.values() if main_type(part) == "array")
    return next(filter(None, listed), profile.arguments)


def field_named(names: Iterable[str], known: Collection[str]) -> str | None:
    """Return the name that is the first of the known ones."""
    called = {snake(name): name for name in names}
    return next((called[name] for name in known if name in called), None)


def _noun(profile: ToolProfile, nouns: Collection[str]) -> str:
    return next((noun for noun in nouns if noun in profile.nouns), next(iter(nouns)))
