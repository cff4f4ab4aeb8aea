"""Operations that add, update and delete nodes, edges and notes.

They take a list of objects, or one object. A list skips what exists already, or is missing where it is to be deleted;
a single one is refused then.
"""

from __future__ import annotations

from mcp_sim.backends.graph.request import GraphRequest
from mcp_sim.backends.graph.shape import KEYS, bare, field_named
from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused, label, noun
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.lexicon.english import plural, singular


def add_nodes(graph: GraphRequest) -> Outcome:
    """Add nodes. Raises `Refused` if a single one exists."""
    shape, made = graph.shape, list[Record]()
    for item in graph.items():
        key = item.get(shape.key)
        if graph.node(key) is None and isinstance(key, str | int):
            record = {**item, **({shape.notes: as_list(item.get(shape.notes))} if shape.notes else {})}
            graph.put_node(key, record)
            made.append(record)
        elif not graph.is_batch:
            raise Refused("conflict", f"{label(shape.node)} {key} already exists", key=key, entity=shape.node)
    return _written(graph, made, shape.node, "created", [str(one[shape.key]) for one in made])


def add_edges(graph: GraphRequest) -> Outcome:
    """Add edges. Raises `Refused` if a single one exists, or lacks one of its nodes."""
    shape, made = graph.shape, list[Record]()
    for item in graph.item_edges():
        if not graph.is_batch:
            _ = graph.known(item.get(shape.source)), graph.known(item.get(shape.target))
        record = shape.keyed(item)
        if graph.edge(item) is None:
            graph.put(record["edge"], record, shape.edge)
            made.append(item)
        elif not graph.is_batch:
            raise Refused("conflict", f"{label(shape.edge)} already exists: {record['edge']}", key=record["edge"])
    return _written(graph, made, shape.edge, "created", [shape.keyed(one)["edge"] for one in made])


def update(graph: GraphRequest) -> Outcome:
    """Update the given fields of nodes. Raises `Refused` if one does not exist."""
    key, changed = graph.shape.key, list[Record]()
    for item in graph.items():
        record = {**graph.known(item.get(key)), **item}
        graph.put_node(record[key], record)
        changed.append(record)
    return _written(graph, changed, graph.shape.node, "updated", [str(one[key]) for one in changed])


def update_edges(graph: GraphRequest) -> Outcome:
    """Update the fields of edges, which are identified by their ends and their relation.

    Raises `Refused` if one does not exist.
    """
    changed: list[Record] = []
    for item in graph.item_edges():
        record = {**graph.known_edge(item), **item}
        graph.put(record["edge"], record, graph.shape.edge)
        changed.append(record)
    shown = [bare(one) for one in changed]
    return _written(graph, shown, graph.shape.edge, "updated", [one["edge"] for one in changed])


def _written(graph: GraphRequest, records: list[Record], entity: str, what: str, names: list[str]) -> Outcome:
    """Return the written records of a batch, or the only one."""
    if graph.is_batch:
        text = f"{len(names)} {plural(noun(entity))} {what}: {', '.join(names)}" if names else f"Nothing {what}"
        return Outcome(text, {plural(entity): records, "count": len(records)}, plural(entity), is_json=True)
    return Outcome(f"{label(entity)} {names[0]} {what}", {**records[0], entity: records[0]}, entity)


def _note_items(graph: GraphRequest) -> list[tuple[Json, list[str]]]:
    """Return the name of the node and the notes of each item."""
    if not graph.has("items"):
        return [(graph.get("name"), graph.texts("texts"))]
    found: list[tuple[Json, list[str]]] = []
    for item in graph.items():
        name = field_named(item, ("entity_name", *KEYS))
        texts = next((as_list(value) for value in item.values() if isinstance(value, list)), list[Json]())
        found.append((None if name is None else str(item[name]), [str(one) for one in texts]))
    return found


def add_notes(graph: GraphRequest) -> Outcome:
    """Add notes to nodes. Notes that exist are skipped. Raises `Refused` if a node does not exist."""
    shape, notes, results, lines = graph.shape, graph.shape.notes or "observations", list[Record](), list[str]()
    for name, texts in _note_items(graph):
        node = graph.known(name)
        held = as_list(node.get(notes))
        fresh = [one for one in dict.fromkeys(texts) if one not in held]
        if fresh:
            graph.put_node(str(name), {**node, notes: [*held, *fresh]})
        results.append({f"{shape.node}Name": name, f"added{notes.capitalize()}": fresh})
        lines.append(f"Added {len(fresh)} {notes} to {name}" + "".join(f"\n- {one}" for one in fresh))
    return Outcome("\n".join(lines), {"results": results, "count": len(results)}, "results", is_json=True)


def delete_notes(graph: GraphRequest) -> Outcome:
    """Delete notes of nodes. Missing ones are skipped."""
    notes = graph.shape.notes or "observations"
    for name, texts in _note_items(graph):
        node = graph.node(name) or {}
        kept = [one for one in as_list(node.get(notes)) if one not in texts]
        if node and kept != node.get(notes):
            graph.put_node(str(name), {**node, notes: kept})
    return _deleted(singular(notes))


def delete_nodes(graph: GraphRequest) -> Outcome:
    """Delete nodes, by name or a list of names, and their edges. Raises `Refused` if a single one does not exist."""
    asked = graph.get("names", graph.get("name"))
    names = [one for one in as_list(asked) if graph.node(one)] if isinstance(asked, list) else [asked]
    for name in dict.fromkeys(names):
        key = graph.known(name)[graph.shape.key]
        for edge in graph.edges_at(name):
            graph.drop(edge["edge"], graph.shape.edge)
        graph.drop(key, graph.shape.node)
    return _deleted(graph.shape.node, len(names), "" if isinstance(asked, list) else str(asked))


def delete_edges(graph: GraphRequest) -> Outcome:
    """Delete edges. Raises `Refused` if a single one does not exist."""
    found = [graph.edge(one) if graph.is_batch else graph.known_edge(one) for one in graph.item_edges()]
    keys = [*dict.fromkeys(one["edge"] for one in found if one is not None)]
    for key in keys:
        graph.drop(key, graph.shape.edge)
    return _deleted(graph.shape.edge, len(keys), "" if graph.is_batch else keys[0])


def _deleted(what: str, count: int = 0, named: str = "") -> Outcome:
    """Return the confirmation of a deletion: of one thing by its name, of a batch as a whole."""
    text = f"{label(what)} {named} deleted successfully" if named else f"{label(plural(what))} deleted successfully"
    return done(text, success=True, deleted=count, count=count)
