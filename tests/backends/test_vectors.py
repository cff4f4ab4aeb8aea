"""Collections of texts, with ids and metadata in parallel lists."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, backends, refused, simulator, tool

from mcp_sim import Simulator
from mcp_sim.backends.library import Library
from mcp_sim.backends.refusal import Refused

Json = Any
NOW = datetime(2030, 1, 1, tzinfo=UTC)
_TEXTS: Json = {"type": "array", "items": TEXT}
_OBJECTS: Json = {"type": "array", "items": {"type": "object"}}
_OBJECT: Json = {"type": "object"}
_WHOLE: Json = {"type": "integer", "default": 5}
_INCLUDED: Json = {**_TEXTS, "default": ["documents"]}
TOOLS = [
    tool("make_collection", "Make a collection", needed="collection", collection=TEXT, metadata=_OBJECT),
    tool("list_collections", "List the names of all collections"),
    tool("count_collection", "Count what a collection holds", collection=TEXT),
    tool("update_collection", "Rename one", needed="collection", collection=TEXT, new_name=TEXT),
    tool("clone_collection", "Copy one", collection=TEXT, new_collection_name=TEXT),
    tool("drop_collection", "Drop a collection", collection=TEXT),
    tool("add_texts", needed="collection texts ids", collection=TEXT, texts=_TEXTS, ids=_TEXTS, metadatas=_OBJECTS),
    tool("upsert_texts", collection=TEXT, texts=_TEXTS, ids=_TEXTS),
    tool("update_texts", needed="collection ids", collection=TEXT, ids=_TEXTS, texts=_TEXTS, metadatas=_OBJECTS),
    tool("get_texts", needed="collection", collection=TEXT, ids=_TEXTS, where=_OBJECT, where_document=_OBJECT),
    tool("search_texts", needed="collection query", collection=TEXT, query=TEXT, top_k=_WHOLE, where=_OBJECT),
    tool("query_texts", needed="collection queries", collection=TEXT, queries=_TEXTS, k=_WHOLE, include=_INCLUDED),
    tool("delete_texts", collection=TEXT, ids=_TEXTS),
]
HENS: Json = {
    "collection": "hens", "texts": ["the red hen lays", "a grey cock crows"], "ids": ["a", "b"],
    "metadatas": [{"age": 2}, {"age": 5}],
}  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Simulator:
    return simulator(tmp_path, TOOLS)


async def test_texts_are_added_and_returned_in_parallel_lists(store: Simulator) -> None:
    assert {name.split()[0] for name in backends(store).values()} == {"vectors"}
    async with store.open() as world:
        await refused(world, "add_texts", **HENS)
        await answered(world, "make_collection", collection="hens")
        assert "exists" in await refused(world, "make_collection", collection="hens")
        await answered(world, "add_texts", **HENS)
        assert "exist" in await refused(world, "add_texts", **HENS)
        assert await answered(world, "count_collection", collection="hens") == "2"
        found = await answered(world, "get_texts", collection="hens")
        assert found == {"ids": ["a", "b"], "documents": HENS["texts"], "metadatas": HENS["metadatas"]}
        assert "as many" in await refused(world, "upsert_texts", collection="hens", ids=["c"], texts=["x", "y"])


async def test_texts_are_found_by_ids_metadata_and_words(store: Simulator) -> None:
    async with store.open() as world:
        await answered(world, "make_collection", collection="hens")
        await answered(world, "add_texts", **HENS)

        async def ids(**arguments: Json) -> Json:
            return (await answered(world, "get_texts", collection="hens", **arguments))["ids"]

        assert await ids(ids=["b", "z"]) == ["b"]
        assert await ids(where={"age": 2}) == ["a"]
        assert await ids(where={"age": {"$gt": 2}}) == ["b"]
        assert await ids(where={"$or": [{"age": 2}, {"age": {"$in": [5]}}]}) == ["a", "b"]
        assert await ids(where_document={"$contains": "crows"}) == ["b"]
        assert "$near" in await refused(world, "get_texts", collection="hens", where={"age": {"$near": 2}})


async def test_a_question_finds_the_nearest_texts_and_several_questions_return_a_list_each(store: Simulator) -> None:
    async with store.open() as world:
        await answered(world, "make_collection", collection="hens")
        await answered(world, "add_texts", **HENS)
        near = await answered(world, "search_texts", collection="hens", query="which cocks crow", top_k=1)
        assert near["ids"] == ["b"]
        assert len(near["distances"]) == 1
        each = await answered(world, "query_texts", collection="hens", queries=["cock", "hen"], k=1)
        assert each["ids"] == [["b"], ["a"]]
        assert each["documents"] == [["a grey cock crows"], ["the red hen lays"]]
        assert (each["metadatas"], each["included"]) == (None, ["documents"])


async def test_texts_are_updated_and_deleted_and_unknown_ids_are_ignored(store: Simulator) -> None:
    async with store.open() as world:
        await answered(world, "make_collection", collection="hens")
        await answered(world, "add_texts", **HENS)
        await answered(world, "update_texts", collection="hens", ids=["a", "z"], texts=["she sleeps", "nobody"])
        await answered(world, "upsert_texts", collection="hens", ids=["c"], texts=["a chick"])
        await answered(world, "delete_texts", collection="hens", ids=["b", "z"])
        found = await answered(world, "get_texts", collection="hens")
        assert found == {"ids": ["a", "c"], "documents": ["she sleeps", "a chick"], "metadatas": [{"age": 2}, None]}


async def test_collections_are_renamed_copied_and_dropped_with_their_texts(store: Simulator) -> None:
    async with store.open() as world:
        await answered(world, "make_collection", collection="hens")
        await answered(world, "add_texts", **HENS)
        await answered(world, "update_collection", collection="hens", new_name="fowl")
        await refused(world, "count_collection", collection="hens")
        await answered(world, "clone_collection", collection="fowl", new_collection_name="birds")
        assert (await answered(world, "list_collections")).splitlines() == ["fowl", "birds"]
        await answered(world, "drop_collection", collection="fowl")
        await refused(world, "drop_collection", collection="fowl")
        assert await answered(world, "count_collection", collection="birds") == "2"


def test_tools_without_parallel_lists_do_not_match(tmp_path: Path) -> None:
    tools = [
        tool("add_document", collection=TEXT, text=TEXT),
        tool("get_documents", collection=TEXT),
        tool("list_collections"),
    ]
    assert not any("vector" in name for name in backends(simulator(tmp_path, tools)).values())


async def test_ids_are_unique_within_a_collection(store: Simulator) -> None:
    async with store.open() as world:
        for name in ("hens", "hens | a"):
            await answered(world, "make_collection", collection=name)
        for name in ("add_texts", "upsert_texts", "update_texts"):
            assert "unique" in await refused(world, name, collection="hens", ids=["a", "a"], texts=["x", "y"])
        await answered(world, "add_texts", collection="hens", ids=["a | b"], texts=["x"])
        await answered(world, "add_texts", collection="hens | a", ids=["b"], texts=["y"])
        assert (await answered(world, "get_texts", collection="hens"))["documents"] == ["x"]
        await answered(world, "delete_texts", collection="hens", ids=["a | b", "a | b"])
        assert await answered(world, "count_collection", collection="hens") == "0"


async def test_comparisons_and_copies_are_limited(store: Simulator) -> None:
    async with store.open() as world:
        await answered(world, "make_collection", collection="hens")
        many = [str(at) for at in range(10_001)]
        await answered(world, "add_texts", collection="hens", ids=many, texts=many)
        assert "too many" in await refused(world, "query_texts", collection="hens", queries=["a", "b"])
        assert (await answered(world, "search_texts", collection="hens", query="7", top_k=-1))["ids"] == []
        assert "more than" in await refused(world, "clone_collection", collection="hens", new_collection_name="geese")


BLANK: Json = {"ids": ["a", "b"], "documents": ["hen", "cock"], "metadatas": [{"age": 2}, None]}
GIVEN: list[Json] = [
    {"collections": {"fowl": BLANK}},
    {"chroma": {"collections": [{"name": "fowl", **BLANK}]}},
    {"store": {"fowl": [{"id": "a", "text": "hen", "metadata": {"age": 2}}, {"id": "b", "text": "cock"}]}},
    {"fowl": {"columns": ["id", "document", "metadata"], "rows": [["a", "hen", {"age": 2}], ["b", "cock", None]]}},
    {"fowl": {"documents": {"a": {"text": "hen", "metadata": {"age": 2}}, "b": {"text": "cock"}}}},
]


@pytest.mark.parametrize("state", GIVEN, ids=[str(at) for at in range(len(GIVEN))])
async def test_collections_are_given_in_any_shape(tmp_path: Path, state: Json) -> None:
    async with simulator(tmp_path, TOOLS, state).open() as world:
        assert await answered(world, "list_collections") == "fowl"
        assert await answered(world, "get_texts", collection="fowl") == BLANK
        await answered(world, "add_texts", collection="fowl", ids=["c"], texts=["chick"])
        assert await answered(world, "count_collection", collection="fowl") == "3"


@pytest.mark.parametrize("texts", [["hen", "cock"], {"1": "hen", "2": "cock"}])
@pytest.mark.parametrize("wrapper", ["", "collections"])
async def test_given_collections_may_be_plain_texts(tmp_path: Path, texts: Json, wrapper: str) -> None:
    state = {"fowl": texts, "cows": ["ox"]}
    async with simulator(tmp_path, TOOLS, {wrapper: state} if wrapper else state).open() as world:
        assert (await answered(world, "list_collections")).splitlines() == ["fowl", "cows"]
        assert (await answered(world, "get_texts", collection="fowl"))["ids"] == ["1", "2"]
        assert (await answered(world, "get_texts", collection="fowl"))["documents"] == ["hen", "cock"]


async def test_a_given_list_of_names_is_one_of_empty_collections(tmp_path: Path) -> None:
    state = {"collections": ["fowl", {"name": "cows", "description": "All cows"}]}
    async with simulator(tmp_path, TOOLS, state).open() as world:
        assert (await answered(world, "list_collections")).splitlines() == ["fowl", "cows"]
        assert [await answered(world, "count_collection", collection=one) for one in ("fowl", "cows")] == ["0", "0"]


async def test_a_spec_may_choose_the_backend_of_a_single_tool(tmp_path: Path) -> None:
    chosen = {"sim": {"search": {"backend": "vectors", "operation": "query"}}}
    sim = simulator(tmp_path, [tool("search", query=TEXT, collection=TEXT)], {"collections": {"fowl": BLANK}}, chosen)
    assert backends(sim) == {"search": "vectors query"}
    async with sim.open() as world:
        assert (await answered(world, "search", query="hens", collection="fowl"))["ids"] == ["a", "b"]


async def test_operations_are_called_from_python(store: Simulator) -> None:
    async with store.open() as world:
        vectors = Library("vectors", world.view, NOW)
        assert vectors.create_collection("hens").text == "Successfully created collection hens"
        vectors.upsert("hens", HENS["texts"], HENS["ids"], HENS["metadatas"])
        with pytest.raises(Refused, match="already exist"):
            vectors.add("hens", ["again"], ["a"])
        assert vectors.query("hens", "a red hen", limit=1).facts["documents"] == ["the red hen lays"]
        vectors.update("hens", ["b"], ["a cock sleeps"])
        vectors.copy_collection("hens", "fowl")
        vectors.modify_collection("fowl", "birds", {"kind": "tame"})
        vectors.delete("hens", ["a"])
        assert vectors.get("hens").text == 'b {"age":5}: a cock sleeps'
        assert (vectors.count("birds").value, vectors.peek("birds", 1).facts["ids"]) == (2, ["a"])
        assert vectors.info("birds").text == 'birds: 2 documents, metadata {"kind":"tame"}'
        vectors.delete_collection("birds")
        assert vectors.list_collections().value == ["hens"]
        assert len(vectors.changes) > len(HENS["ids"])
