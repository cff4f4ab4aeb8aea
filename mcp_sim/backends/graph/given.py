"""Read the nodes and edges of a given state."""

from __future__ import annotations

from typing import TypeAlias

from mcp_sim.backends.given import Given, is_named
from mcp_sim.backends.graph.shape import EDGE, EDGES, NODES, Shape
from mcp_sim.types import Json, Record
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.shapes import as_list, as_object

_Records: TypeAlias = dict[str, list[Record]]


def take_graph(state: Json, shape: Shape) -> Given:
    """Return the nodes and edges of a given state, and the rest of the state.

    They are in tables named after them, or are recognised by their fields, under any wrappers. One list may have both.
    """
    records: _Records = {shape.node: [], shape.edge: []}
    rest = _take("", state, shape, records)
    return Given(records, rest)


def _take(name: str, value: Json, shape: Shape, records: _Records) -> Json:
    """Move nodes and edges from a value into `records`. Return the rest; None if nothing is left."""
    found = _found(name, value, shape)
    if found is not None:
        for entity, record in found:
            records[entity].append(record)
        return None
    if not isinstance(value, dict):
        return value
    body = as_object(value)
    left = {part: _take(part, inner, shape, records) for part, inner in body.items()}
    return {part: rest for part, rest in left.items() if rest is not None or body[part] is None} or None


def _found(name: str, value: Json, shape: Shape) -> list[tuple[str, Record]] | None:
    """Return the records of a table with their entities; None if it holds anything else."""
    is_table = is_named(name, (*NODES, *EDGES))
    rows = _rows(name, value, shape)
    if rows is None or not (rows or is_table):
        return None
    records = [_record(row, shape, is_table=is_table) for row in rows]
    found = [one for one in records if one is not None]
    return found if len(found) == len(records) else None


def _rows(name: str, value: Json, shape: Shape) -> list[Record] | None:
    """Return the rows of a table; None if the value is none. Edges may be lists: `[Ada, knows, Bo]`."""
    if is_named(name, EDGES):
        ends, listed = (shape.source, shape.relation, shape.target), [as_list(one) for one in as_list(value)]
        if listed and all(len(one) == len(ends) for one in listed):
            return [dict(zip(ends, one, strict=True)) for one in listed]
        return rows_of(value, EDGE)
    plain = shape.key if isinstance(value, list) else shape.notes or ""
    return rows_of(value, shape.key, plain if is_named(name, NODES) else "")


def _record(row: Record, shape: Shape, *, is_table: bool) -> tuple[str, Record] | None:
    """Return a row as a node or an edge, with the name of its entity; None if it is neither.

    `is_table`: the table is named after nodes or edges, so that fields may have other names. A row may also be marked:
    `{type: relation, ...}`.
    """
    if row.get("type") in (*NODES, *EDGES):
        row, is_table = {name: value for name, value in row.items() if name != "type"}, True
    edge, node = (shape.edge_of(row), shape.node_of(row)) if is_table else (row, row)
    if shape.source in edge and shape.target in edge:
        return shape.edge, shape.keyed(edge)
    if shape.key in node and (is_table or not row.keys().isdisjoint({shape.kind, shape.notes})):
        return shape.node, shape.node_of(node)
    return None
