"""The operations on a graph, and the words and arguments by which tools mean them."""

from __future__ import annotations

from collections.abc import Collection

from mcp_sim.backends.graph.shape import EDGES, KEYS, NODES, RELATIONS, SOURCES, TARGETS, field_named, parts_of
from mcp_sim.backends.matching.matched_tools import both, either, named, unnamed
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.operation import NUMBERS, OBJECTS, TEXTS, Operation, Test, pick, role, roles
from mcp_sim.types.plans import Verb

_ROLES = roles(
    role("items", "entities nodes relations edges observations deletions facts notes", OBJECTS, positional=True),
    role("names", "names ids", TEXTS | NUMBERS, positional=True, similar=True),
    role("name", " ".join(KEYS), similar=True),
    role("texts", "contents observations facts notes content observation fact note"),
    role("source", " ".join(SOURCES), similar=True),
    role("target", " ".join(TARGETS), similar=True),
    role("relation", " ".join(RELATIONS), similar=True),
    role("query", "query q text term", similar=True),
    role("limit", "limit max_results top_k", similar=True),
    role("depth", "depth max_depth hops", similar=True),
)


# tests of tools -------------------------------------------------------------------------------------------------------


def _has(known: Collection[str]) -> Test:
    """Return a test whether a node or edge that a tool takes has a field with one of these names."""
    return lambda profile: field_named(parts_of(profile), known) is not None


def _needs_nothing(profile: ToolProfile) -> bool:
    return not profile.needed


def _asks(profile: ToolProfile) -> bool:
    """Whether a call names what it wants. Where an argument selects the operation, the others are optional."""
    return bool(profile.needed) or profile.selector is not None


_NODE, _EDGE, _NOTE = named("|".join(NODES)), named("|".join(EDGES)), named("observation|fact|note")
_ADD = named("create|add|insert|new|upsert|make|store|connect|put")
_REMOVE = named("delete|remove|drop|disconnect|forget")
_CHANGE = named("update|edit|set|change|modify")
_JOINS = both(_has(SOURCES), _has(TARGETS))
_OF_EDGE = both(_EDGE, _JOINS)
_OPENS = both(_NODE, unnamed(" ".join(EDGES)), named("open|get|read|show|fetch"), _asks)
_SHOWS = both(named("list|get"), _needs_nothing)


def _writing(name: str, line: str, means: Test, verb: Verb = "update") -> Operation:
    return Operation(name, f"writing:{name}", verb, pick(line, _ROLES), means, is_open=True)


def _reading(name: str, line: str, means: Test, verb: Verb = "list", run: str = "") -> Operation:
    return Operation(name, f"reading:{run or name}", verb, pick(line, _ROLES), means, is_open=True)


OPERATIONS = (
    _writing("add_notes", "items", both(_NOTE, _ADD)),
    _writing("add_notes", "name texts", both(_NOTE, _ADD)),
    _writing("delete_notes", "items", both(_NOTE, _REMOVE)),
    _writing("delete_notes", "name texts", both(_NOTE, _REMOVE)),
    _writing("add_edges", "items", both(_OF_EDGE, _ADD), "create"),
    _writing("add_edges", "source target relation?", both(_OF_EDGE, _ADD), "create"),
    _writing("delete_edges", "items", both(_OF_EDGE, _REMOVE), "delete"),
    _writing("delete_edges", "source target relation?", both(_OF_EDGE, _REMOVE), "delete"),
    _writing("update_edges", "items", both(_OF_EDGE, _CHANGE)),
    _writing("update_edges", "source target relation?", both(_OF_EDGE, _CHANGE)),
    _writing("add_nodes", "items", both(_NODE, _ADD, _has(KEYS)), "create"),
    _writing("add_nodes", "name", both(_NODE, _ADD, _has(KEYS)), "create"),
    _writing("delete_nodes", "names", both(_NODE, _REMOVE), "delete"),
    _writing("delete_nodes", "name", both(_NODE, _REMOVE), "delete"),
    _reading("path", "source target", both(named("path"), _JOINS), "get"),
    _reading("neighbours", "name depth?", named("neighbor|neighbour|connected|related")),
    _reading("search", "query limit?", both(either(_NODE, named("graph")), named("search|find|query")), "search"),
    _reading("open", "names", _OPENS, "get", run="open_nodes"),
    _reading("open", "name", _OPENS, "get", run="open_nodes"),
    _reading("read", "", both(named("graph read|get|export|list|show|load"), _needs_nothing), run="read_graph"),
    _writing("update", "items", both(_NODE, _CHANGE, _has(KEYS))),
    _writing("update", "name", both(_NODE, _CHANGE, _has(KEYS))),
    _reading("nodes", "", both(_NODE, _SHOWS), run="list_nodes"),
    _reading("edges", "", both(_EDGE, _SHOWS), run="list_edges"),
)
"""Operations on a graph, in the order in which the words of a tool are compared.

Of two operations with one name, the first takes a list.
"""
