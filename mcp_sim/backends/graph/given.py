"""Read the nodes and edges of a given state."""

from __future__ import annotations

from typing import cast

from mcp_sim.backends.graph.matching import Shape
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object


def given_graph(state: Json, shape: Shape) -> tuple[list[Record], list[Record], Json]:
    """Return the nodes, the edges, and the rest of the state."""
    nodes: list[Record] = []
    edges: list[Record] = []
    rest = _taken(state, shape, nodes, edges)
    return nodes, edges, rest


def keyed(edge: Record, shape: Shape) -> Record:
    """Return the edge with a key made of its ends and its relation."""
    ends = (edge.get(shape.source), edge.get(shape.relation), edge.get(shape.target))
    return {"edge": " | ".join(str(end) for end in ends), **{name: one for name, one in edge.items() if name != "edge"}}


def _taken(value: Json, shape: Shape, nodes: list[Record], edges: list[Record]) -> Json:
    rows = _rows(value, shape)
    if rows is not None:
        for row in rows:
            (edges if _is_edge(row, shape) else nodes).append(_bare(row))
        return None
    if not isinstance(value, dict):
        return value
    left: Record = {}
    for name, inner in cast("Record", value).items():
        kept = _taken(inner, shape, nodes, edges)
        if kept is not None or inner is None:
            left[name] = kept
    return left if left or not value else None


def _rows(value: Json, shape: Shape) -> list[Record] | None:
    """Return the rows of a list, or of an object keyed by the names of nodes, or None if it holds other data."""
    rows = [as_object(one) for one in as_list(value)]
    if not rows:
        body = as_object(value)
        named = body and all(
            isinstance(one, dict) and (shape.kind in one or shape.notes in one) for one in body.values()
        )
        rows = [{shape.key: key, **as_object(one)} for key, one in body.items()] if named else []
    return rows if rows and all(_is_edge(row, shape) or _is_node(row, shape) for row in rows) else None


def _is_edge(row: Record, shape: Shape) -> bool:
    return shape.source in row and shape.target in row


def _is_node(row: Record, shape: Shape) -> bool:
    return shape.key in row and (shape.kind in row or (shape.notes is not None and shape.notes in row))


def _bare(row: Record) -> Record:
    """Return a row without the marker that it is a node or an edge."""
    return {name: value for name, value in row.items() if not (name == "type" and value in {"entity", "relation"})}
