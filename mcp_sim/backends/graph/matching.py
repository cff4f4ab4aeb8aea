"""Match the tools of a server to operations on a graph, and find its names of nodes and edges.

Evidence is a noun (`entity`, `node`; `relation`, `edge`) beside a verb, and arguments that lead from one node to
another. A graph has at least a tool that adds edges and one that adds or shows nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mcp_sim.backends.matching.tool_profiles import ToolProfile, profiles_by_choice
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, items, main_type, properties
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan, Verb

_NODES = ("entity", "node", "vertex", "concept")
_EDGES = ("relation", "relationship", "edge", "link", "triple")
_NOTES = ("observation", "fact", "note")
_SOURCES = (
    "from",
    "source",
    "src",
    "subject",
    "from_entity",
    "source_id",
    "from_id",
    "from_node",
    "source_node",
    "head",
)
_TARGETS = ("to", "target", "dst", "object", "to_entity", "target_id", "to_id", "to_node", "target_node", "tail")
_RELATIONS = (
    "relation_type",
    "relation",
    "relationship",
    "predicate",
    "type",
    "label",
    "relationship_type",
    "edge_type",
)
_KEYS = ("name", "id", "node_id", "entity_name", "entity_id", "key", "node", "entity", "label", "title")
_KINDS = ("entity_type", "node_type", "type", "kind", "category", "label")
_TEXTS = ("observations", "contents", "facts", "notes")
_QUERIES = ("query", "q", "text", "term")
_ADDS = ("create", "add", "insert", "new", "upsert", "make", "store", "connect", "put")
_REMOVES = ("delete", "remove", "drop", "disconnect", "forget")
_CHANGES = ("update", "edit", "set", "change", "modify")
_SEARCHES = ("search", "find", "query")
VERBS: Mapping[str, Verb] = {
    "add_nodes": "create", "add_edges": "create", "add_notes": "update", "delete_nodes": "delete",
    "delete_edges": "delete", "delete_notes": "update", "read": "list", "search": "search", "open": "get",
    "neighbours": "list", "nodes": "list", "edges": "list", "path": "get", "update": "update",
    "update_edges": "update",
}  # fmt: skip
"""The verb of each operation."""

_ENDS = frozenset({"add_edges", "delete_edges", "update_edges", "path"})
_LISTED = _ENDS - {"path"} | {"add_nodes", "add_notes", "delete_notes", "update"}


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
        """Return the entities of a graph. The key of an edge is made of its ends and its relation."""
        text: Record = {"type": "string"}
        listed: Record = {"type": "array", "items": text}
        fields = {self.key: Field(self.key, text, required=True), self.kind: Field(self.kind, text, required=True)}
        fields |= {self.notes: Field(self.notes, listed, required=True)} if self.notes is not None else {}
        ends = (self.source, self.target, self.relation)
        edge = {"edge": Field("edge", text), **{name: Field(name, text, required=True) for name in ends}}
        return [
            Entity(self.node, self.key, None, fields, natural=True),
            Entity(self.edge, "edge", None, edge, natural=True),
        ]


def shape_of(tools: Sequence[Tool]) -> Shape:
    """Return the names that these tools use for nodes and edges."""
    found: dict[str, str | None] = {}
    for profile in profiles_by_choice(tools):
        operation = operation_of(profile)
        if operation == "add_nodes":
            parts = _parts(profile)
            found |= {"node": _noun(profile, _NODES), "key": _named(parts, _KEYS) or "name"}
            found |= {"kind": _named(parts, _KINDS) or "type", "notes": _named(parts, _TEXTS)}
        elif operation == "add_edges":
            parts = _parts(profile)
            found |= {
                "edge": _noun(profile, _EDGES),
                "source": _named(parts, _SOURCES),
                "target": _named(parts, _TARGETS),
            }
            found["relation"] = _named(parts, _RELATIONS) or "type"
    return Shape(**found)  # pyright: ignore[reportArgumentType] (each under its own name, set above)


def plans_of(listed: Sequence[ToolProfile]) -> list[Plan]:
    """Return the plans of a server's tools, or none if they do not work on a graph."""
    found = [(profile, operation_of(profile)) for profile in listed]
    operations = {operation for _, operation in found if operation is not None}
    if (
        "add_edges" not in operations
        or not operations & {"add_nodes", "search", "open", "nodes"}
        or len(operations) < 3
    ):
        return []
    shape = shape_of(list({one.tool.id: one.tool for one in listed}.values()))
    plans = {profile.tool.id: _plan(profile, operation, shape) for profile, operation in found if operation}
    return list(plans.values())


def _plan(profile: ToolProfile, operation: str, shape: Shape) -> Plan:
    entity = shape.edge if operation.endswith("edges") else shape.node
    reasons = (f"'{' '.join(profile.words)}' means {operation} of a graph",)
    verb = VERBS[operation]
    arguments = dict(roles_of(profile, operation))
    if profile.selector is not None:
        verb, operation, arguments = "update", "", {"operation": profile.selector}
    return Plan(profile.tool.id, verb, entity, "graph", operation, arguments, confidence=0.9, reasons=reasons)


def operation_of(profile: ToolProfile) -> str | None:
    """Return the operation of a tool on a graph, or None."""
    about_node, about_edge, about_note = profile.has(*_NODES), profile.has(*_EDGES), profile.has(*_NOTES)
    parts = _parts(profile)
    joins = _named(parts, _SOURCES) is not None and _named(parts, _TARGETS) is not None
    if about_note and _items(profile) is not None:
        return "add_notes" if profile.has(*_ADDS) else "delete_notes" if profile.has(*_REMOVES) else None
    if about_edge and joins and profile.has(*_ADDS, *_REMOVES):
        return "add_edges" if profile.has(*_ADDS) else "delete_edges"
    if about_edge and joins and profile.has(*_CHANGES):
        return "update_edges"
    if about_node and profile.has(*_ADDS, *_REMOVES) and (_named(parts, _KEYS) or _list(profile)):
        return "add_nodes" if profile.has(*_ADDS) else "delete_nodes"
    if profile.has("path") and joins:
        return "path"
    return _look(profile, about_node=about_node, about_edge=about_edge)


def _look(profile: ToolProfile, *, about_node: bool, about_edge: bool) -> str | None:
    if profile.has("graph") and profile.has("read", "get", "export", "list", "show", "load") and not profile.needed:
        return "read"
    if profile.has("neighbor", "neighbour", "connected", "related") and profile.argument_like(_KEYS):
        return "neighbours"
    if (about_node or profile.has("graph")) and profile.has(*_SEARCHES) and profile.argument_like(_QUERIES):
        return "search"
    if about_node and profile.has("open", "get", "read", "show", "fetch") and profile.needed and not about_edge:
        return "open"
    if about_node and profile.has(*_CHANGES) and _named(_parts(profile), _KEYS):
        return "update"
    if (about_node or about_edge) and profile.has("list", "get") and not profile.needed:
        return "nodes" if about_node else "edges"
    return None


def roles_of(profile: ToolProfile, operation: str) -> Iterator[tuple[str, str]]:
    """Yield the roles of an operation with the arguments that fill them."""
    listed = _items(profile)
    if listed is not None and operation in _LISTED:
        yield "items", listed
        return
    named = _list(profile)
    if named is not None and operation in {"delete_nodes", "open"}:
        yield "names", named
        return
    wanted = {"source": _SOURCES, "target": _TARGETS, "relation": _RELATIONS} if operation in _ENDS else {"name": _KEYS}
    if operation == "search":
        wanted = {"query": _QUERIES}
    wanted |= {"limit": ("limit", "max_results", "top_k"), "depth": ("depth", "max_depth", "hops")}
    for role, names in wanted.items():
        argument = profile.argument_like(names)
        if argument is not None:
            yield role, argument


def _items(profile: ToolProfile) -> str | None:
    """Return the argument that is a list of objects."""
    lists = (name for name, part in profile.arguments.items() if main_type(part) == "array" and properties(items(part)))
    return next(lists, None)


def _list(profile: ToolProfile) -> str | None:
    """Return the argument that is a list of names."""
    lists = (name for name, part in profile.arguments.items() if main_type(part) == "array")
    return next(
        (name for name in lists if main_type(items(profile.arguments[name])) in {"string", "integer", ""}), None
    )


def _parts(profile: ToolProfile) -> Mapping[str, Record]:
    """Return the properties of one node or edge: those of the items of a list, else the arguments."""
    listed = _items(profile)
    return profile.arguments if listed is None else properties(items(profile.arguments[listed]))


def _named(parts: Mapping[str, Record], names: Sequence[str]) -> str | None:
    called = {snake(name): name for name in parts}
    return next((called[name] for name in names if name in called), None)


def _noun(profile: ToolProfile, nouns: Sequence[str]) -> str:
    return next((noun for noun in nouns if noun in profile.nouns), nouns[0])


def named_key(item: Record) -> str | None:
    """Return the name of the node that an item mentions."""
    name = _named({name: {} for name in item}, ("entity_name", *_KEYS))
    return None if name is None else str(item[name])


def named_notes(item: Record) -> list[str]:
    """Return the texts of an item that adds or removes notes."""
    lists = [as_list(value) for value in item.values() if isinstance(value, list)]
    return [str(one) for one in lists[0]] if lists else []
