"""A simulated memory: a knowledge graph of entities with observations, and relations between them."""

import json

from mcp_sim.programs import Refused, Result, initial, invalid_arguments, records, resource, tool
from mcp_sim.programs.helpers import indented, shown, zod_refusal

tables = {
    "entity": {"key": "name", "natural": True, "fields": {"name": "", "entityType": "", "observations": []}},
    "relation": {"ids": 1, "fields": {"from": "", "to": "", "relationType": ""}},
}

BEGINNING = json.loads("""{"entities": [
  {"name": "Mira Okafor", "entityType": "person",
   "observations": ["Prefers short answers", "Works on the tram timetable", "Is in Rotterdam until June"]},
  {"name": "Jonas Lind", "entityType": "person", "observations": ["Reviews Mira's changes", "Away on Fridays"]},
  {"name": "Timetable", "entityType": "project", "observations": ["Written in Python", "Ships on 2029-03-14"]},
  {"name": "Stop finder", "entityType": "service", "observations": ["Reads the timetable every night"]},
  {"name": "Depot Zuid", "entityType": "place", "observations": ["Opens at 06:30"]}
], "relations": [
  {"from": "Mira Okafor", "to": "Timetable", "relationType": "leads"},
  {"from": "Jonas Lind", "to": "Timetable", "relationType": "reviews"},
  {"from": "Stop finder", "to": "Timetable", "relationType": "depends on"},
  {"from": "Mira Okafor", "to": "Depot Zuid", "relationType": "works at"}
]}""")


def node(row):
    return {name: row[name] for name in ("name", "entityType", "observations")}


def edge(row):
    return {name: row[name] for name in ("from", "to", "relationType")}


def graph(world, names=None):
    """Return the entities with these names (default all), and the relations that touch them."""
    entities = [node(row) for row in world.entity if names is None or row["name"] in names]
    shown_names = {entity["name"] for entity in entities}
    relations = [edge(row) for row in world.relation if names is None or {row["from"], row["to"]} & shown_names]
    return {"entities": entities, "relations": relations}


def done(what):
    message = f"{what} deleted successfully"
    return Result(text=message, structured={"success": True, "message": message})


@tool(verb="create", entity="entity")
def create_entities(world, entities):
    added = []
    for entity in world.each([entity for entity in entities if entity["name"] not in world.entity]):
        if entity["name"] not in world.entity:
            world.entity.add(node(entity))
        added.append(node(entity))
    return shown(added, {"entities": added})


@tool(verb="create", entity="relation")
def create_relations(world, relations):
    added = [edge(relation) for relation in relations if not world.relation.find(**edge(relation))]
    for relation in world.each(added):
        world.relation.add(relation)
    return shown(added, {"relations": added})


@tool(verb="update", entity="entity")
def add_observations(world, observations):
    results = []
    for addition in world.each(observations):
        row = world.entity.get(addition["entityName"])
        if row is None:
            raise Refused(f"Entity with name {addition['entityName']} not found")
        added = [text for text in addition["contents"] if text not in row["observations"]]
        row["observations"] = [*row["observations"], *added]
        results.append({"entityName": row["name"], "addedObservations": added})
    return shown(results, {"results": results})


@tool(verb="delete", entity="entity")
def delete_entities(world, entityNames):
    for name in world.each(entityNames):
        world.entity.delete(name)
        for relation in [*world.relation.find(**{"from": name}), *world.relation.find(to=name)]:
            world.relation.delete(relation)
    return done("Entities")


@tool(verb="update", entity="entity")
def delete_observations(world, deletions):
    for deletion in world.each(deletions):
        row = world.entity.get(deletion["entityName"])
        if row is not None:
            row["observations"] = [text for text in row["observations"] if text not in deletion["observations"]]
    return done("Observations")


@tool(verb="delete", entity="relation")
def delete_relations(world, relations):
    for relation in world.each(relations):
        for row in world.relation.find(**edge(relation)):
            world.relation.delete(row)
    return done("Relations")


@tool(verb="list", entity="entity", rows="entities")
def read_graph(world):
    return shown(graph(world))


@tool(verb="search", entity="entity", rows="entities")
def search_nodes(world, query):
    wanted = query.lower()
    texts = {row["name"]: (row["name"], row["entityType"], *row["observations"]) for row in world.entity}
    return shown(graph(world, {name for name, found in texts.items() if any(wanted in text.lower() for text in found)}))


@tool(verb="list", entity="entity", rows="entities")
def open_nodes(world, names):
    return shown(graph(world, {*names}))


@resource("memory://knowledge-graph", name="knowledge-graph", mime_type="application/json")
def knowledge_graph(world):
    return indented(graph(world))


@invalid_arguments
def refuse(world, tool, arguments, problems):
    return zod_refusal(world, tool, arguments, problems)


@initial
def begin(given, world):
    """Fill the graph with the entities and relations of `world.state`; with a small team if there is none."""
    given = BEGINNING if given is None else given
    for row in records(given, "entities", "nodes", key="name"):
        world.entity.add({"entityType": "", "observations": [], **row})
    for row in records(given, "relations", "edges"):
        world.relation.add(edge(row))
