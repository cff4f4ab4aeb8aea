"""Tools that work on a graph: nodes with notes, edges between them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, backends, refused, simulator, tool

from mcp_sim import Simulator
from mcp_sim.plans.library import Library
from mcp_sim.plans.refusal import Refused
from mcp_sim.types.clock import DEFAULT_NOW

Json = Any
TEXTS = {"type": "array", "items": TEXT}


def many(**parts: Json) -> Json:
    return {"type": "array", "items": {"type": "object", "properties": parts, "required": list(parts)}}


RELATIONS = many(**{"from": TEXT, "to": TEXT, "relationType": TEXT})
MEMORY = [
    tool("create_entities", entities=many(name=TEXT, entityType=TEXT, observations=TEXTS)),
    tool("create_relations", relations=RELATIONS),
    tool("add_observations", observations=many(entityName=TEXT, contents=TEXTS)),
    tool("delete_entities", entityNames=TEXTS),
    tool("delete_observations", deletions=many(entityName=TEXT, observations=TEXTS)),
    tool("delete_relations", relations=RELATIONS),
    tool("read_graph"),
    tool("search_nodes", query=TEXT),
    tool("open_nodes", names=TEXTS),
]
NONE: list[Json] = []
STATE: Json = {
    "entities": [
        {"name": "Ada", "entityType": "person", "observations": ["likes tea"]},
        {"name": "Wielhuis", "entityType": "company", "observations": NONE},
    ],
    "relations": [{"from": "Ada", "to": "Wielhuis", "relationType": "works at"}],
}
PLAIN = [
    tool("graph.addNode", needed="id", id=TEXT, type=TEXT, properties={"type": "object"}),
    tool("graph.addEdge", source=TEXT, target=TEXT, label=TEXT),
    tool("graph.getNode", id=TEXT),
    tool("graph.deleteNode", id=TEXT),
    tool("graph.deleteEdge", source=TEXT, target=TEXT, label=TEXT),
    tool("graph.listEdges"),
    tool("graph.getNeighbors", nodeId=TEXT),
    tool("graph.findPath", source=TEXT, target=TEXT),
]


@pytest.fixture
def memory(tmp_path: Path) -> Simulator:
    return simulator(tmp_path, MEMORY, STATE)


async def test_existing_nodes_are_skipped_and_only_new_ones_are_returned(memory: Simulator) -> None:
    async with memory.open() as world:
        bo = {"name": "Bo", "entityType": "person", "observations": ["new here"]}
        assert await answered(world, "create_entities", entities=[STATE["entities"][0], bo, bo]) == [bo]
        knows = {"from": "Ada", "to": "Bo", "relationType": "knows"}
        assert await answered(world, "create_relations", relations=[STATE["relations"][0], knows]) == [knows]
        result = await answered(
            world, "add_observations", observations=[{"entityName": "Bo", "contents": ["new here", "tall"]}]
        )
        assert result == [{"entityName": "Bo", "addedObservations": ["tall"]}]
        assert await answered(world, "open_nodes", names=["Bo", "Nobody"]) == {
            "entities": [{**bo, "observations": ["new here", "tall"]}], "relations": [knows]}  # fmt: skip


async def test_deleting_a_node_deletes_its_edges_and_frees_its_name(memory: Simulator) -> None:
    async with memory.open() as world:
        await answered(world, "delete_entities", entityNames=["Wielhuis", "Nobody"])
        graph = await answered(world, "read_graph")
        assert ([one["name"] for one in graph["entities"]], graph["relations"]) == (["Ada"], [])
        made = await answered(world, "create_entities", entities=[STATE["entities"][1]])
        assert made == [STATE["entities"][1]]


async def test_notes_of_a_missing_node_are_refused(memory: Simulator) -> None:
    async with memory.open() as world:
        result = await refused(world, "add_observations", observations=[
            {"entityName": "Ada", "contents": ["x"]}, {"entityName": "Nobody", "contents": ["x"]}])  # fmt: skip
        assert "Nobody" in result
        assert await answered(world, "read_graph") == STATE
        await answered(
            world, "delete_observations", deletions=[{"entityName": "Ada", "observations": ["likes tea", "x"]}]
        )
        assert world.view.get("entity", "Ada") == {**STATE["entities"][0], "observations": []}


async def test_single_nodes_and_edges_are_created_found_and_traversed(tmp_path: Path) -> None:
    sim = simulator(tmp_path, PLAIN)
    assert {one.partition(" ")[0] for one in backends(sim).values()} == {"graph"}
    async with sim.open() as world:
        for name in "abcd":
            await answered(world, "graph.addNode", id=name, type="letter")
        assert "a" in await refused(world, "graph.addNode", id="a")
        for one, other in ("ab", "bc"):
            await answered(world, "graph.addEdge", source=one, target=other, label="next")
        assert "z" in await refused(world, "graph.addEdge", source="a", target="z", label="next")
        assert await answered(world, "graph.getNode", id="a") == {"id": "a", "type": "letter"}
        near = await answered(world, "graph.getNeighbors", nodeId="b")
        assert {one["id"] for one in near["nodes"]} == {"a", "c"}
        assert await answered(world, "graph.findPath", source="a", target="c") == "a -> b -> c"
        assert "No path" in await answered(world, "graph.findPath", source="c", target="d")
        await answered(world, "graph.deleteNode", id="b")
        assert await answered(world, "graph.listEdges") == []
        assert "b" in await refused(world, "graph.deleteNode", id="b")


ADA, WIELHUIS = STATE["entities"]
(WORKS,) = STATE["relations"]


async def test_programs_call_the_operations_on_a_view(memory: Simulator) -> None:
    async with memory.open() as world:
        graph = Library("graph", world.view, DEFAULT_NOW)
        bo = {"name": "Bo", "entityType": "person"}
        assert graph.add_nodes([ADA, bo]).value == [{**bo, "observations": []}]
        with pytest.raises(Refused, match="exists"):
            graph.add_nodes(bo)
        graph.add_edges([{"from": "Bo", "to": "Ada", "relationType": "knows"}])
        graph.add_notes([{"entityName": "Bo", "contents": ["new"]}])
        assert [one["name"] for one in graph.search("new").value["entities"]] == ["Bo"]
        assert graph.path("Bo", "Wielhuis").value == ["Bo", "Ada", "Wielhuis"]
        assert {one["name"] for one in graph.neighbours("Bo", depth=2).value["entities"]} == {"Ada", "Wielhuis"}
        graph.update([{"name": "Bo", "entityType": "founder"}])
        graph.update_edges([{"from": "Bo", "to": "Ada", "relationType": "knows", "since": 2020}])
        graph.delete_notes([{"entityName": "Bo", "observations": ["new"]}])
        assert graph.open(["Bo"]).value["entities"] == [{"name": "Bo", "entityType": "founder", "observations": []}]
        graph.delete_edges([WORKS])
        graph.delete_nodes(["Wielhuis"])
        assert [one["name"] for one in graph.nodes().value] == ["Ada", "Bo"]
        assert graph.edges().value == [{"from": "Bo", "to": "Ada", "relationType": "knows", "since": 2020}]
        assert len(graph.read().value["relations"]) == 1
        assert world.view.count("entity") == 2
