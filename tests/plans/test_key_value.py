"""Tools that store values under keys chosen by the caller."""

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
NUMBER = {"type": "integer"}
STORE = [
    tool("set", "Set a key.", needed="key value", key=TEXT, value={}, expire_seconds=NUMBER),
    tool("get", "Get the value of a key.", key=TEXT),
    tool("delete", "Delete a key.", key=TEXT),
    tool("exists", key=TEXT),
    tool("list_keys", needed="", pattern=TEXT),
    tool("incr", needed="key", key=TEXT, amount=NUMBER),
    tool("expire", key=TEXT, seconds=NUMBER),
    tool("ttl", key=TEXT),
]
MEMORY = [
    tool("rememberMemory", namespace=TEXT, name=TEXT, value=TEXT),
    tool("recallMemory", namespace=TEXT, name=TEXT),
    tool("forgetMemory", namespace=TEXT, name=TEXT),
    tool("listMemory", namespace=TEXT),
]


@pytest.fixture
def store(tmp_path: Path) -> Simulator:
    return simulator(tmp_path, STORE, {"store": {"user:1": {"name": "Ada"}, "hits": 3}})


async def test_any_value_is_stored_under_its_key_until_it_is_deleted(store: Simulator) -> None:
    assert {one.partition(" ")[0] for one in backends(store).values()} == {"key_value"}
    async with store.open() as world:
        assert await answered(world, "get", key="user:1") == {"name": "Ada"}
        for value in ("text", [1, {"a": None}], 4.5, False):
            assert "user:2" in await answered(world, "set", key="user:2", value=value)
            assert world.view.get("entry", "user:2") == {"key": "user:2", "value": value}
        assert await answered(world, "list_keys", pattern="user:*") == ["user:1", "user:2"]
        assert await answered(world, "list_keys", pattern="hi") == ["hits"]
        await answered(world, "delete", key="user:2")
        for name in ("get", "delete", "ttl"):
            assert "user:2" in await refused(world, name, key="user:2")
        await answered(world, "set", key="user:2", value="again")
        assert await answered(world, "get", key="user:2") == "again"


async def test_a_number_can_be_incremented_and_a_text_cannot(store: Simulator) -> None:
    async with store.open() as world:
        assert "4" in await answered(world, "incr", key="hits")
        assert "14" in await answered(world, "incr", key="hits", amount=10)
        assert "1" in await answered(world, "incr", key="new")
        assert world.view.get("entry", "new") == {"key": "new", "value": 1}
        assert "not a number" in await refused(world, "incr", key="user:1")


async def test_an_expired_key_is_gone(store: Simulator) -> None:
    async with store.open() as world:
        await answered(world, "set", key="token", value="x", expire_seconds=3)
        assert await answered(world, "ttl", key="token") == "2"
        assert await answered(world, "get", key="token") == "x"
        assert "token" in await refused(world, "get", key="token")
        assert "token" not in await answered(world, "list_keys")
        assert await answered(world, "ttl", key="hits") == "-1"


REDIS = [
    tool("set", "Set a Redis value.", needed="key value", key=TEXT, value=TEXT, expiration=NUMBER),
    tool("get", "Get a Redis value.", needed="key", key=TEXT),
    tool("delete", "Delete Redis keys.", needed="key", key={"oneOf": [TEXT, {"type": "array", "items": TEXT}]}),
    tool("list", "List Redis keys matching a pattern.", needed="", pattern=TEXT),
    tool("dbsize", "How many keys the Redis database has."),
    tool(
        "scan",
        "Scan the keys.",
        needed="",
        pattern=TEXT,
        output={"type": "object", "properties": {"result": {"anyOf": [TEXT, {"type": "object"}]}}},
    ),
]  # fmt: skip


async def test_a_database_answers_without_failure_if_a_key_is_missing(tmp_path: Path) -> None:
    async with simulator(tmp_path, REDIS).open() as world:
        for name in ("get", "delete"):
            assert "nope" in await answered(world, name, key="nope")
        assert "600" in await answered(world, "set", key="a", value="1", expiration=600)
        await answered(world, "set", key="b", value="2")
        assert await answered(world, "list", pattern="a*") == ["a"]
        assert await answered(world, "scan") == {"result": "a\nb"}
        assert await answered(world, "dbsize") == "2"
        assert "2" in await answered(world, "delete", key=["a", "b", "c"])
        assert await answered(world, "list") == []


async def test_namespaces_separate_keys(tmp_path: Path) -> None:
    sim = simulator(tmp_path, MEMORY)
    assert {one.partition(" ")[0] for one in backends(sim).values()} == {"key_value"}
    async with sim.open() as world:
        assert await answered(world, "listMemory", namespace="a") == []
        await answered(world, "rememberMemory", namespace="a", name="tea", value="green")
        assert await answered(world, "recallMemory", namespace="a", name="tea") == "green"
        assert "tea" in await refused(world, "recallMemory", namespace="b", name="tea")
        assert await answered(world, "listMemory", namespace="a") == [{"key": "tea", "value": "green"}]


@pytest.mark.parametrize(
    "tools",
    [
        [tool("get_component", key=TEXT), tool("get_style", key=TEXT), tool("set_api_key", api_key=TEXT)],
        [tool("create_issue", title=TEXT, value=TEXT), tool("get_issue", key=TEXT),
         tool("update_issue", key=TEXT, title=TEXT)],
        [tool("press_key", key=TEXT), tool("fill", selector=TEXT, value=TEXT)],
        [tool("set_cell", sheet=TEXT, cell=TEXT, value=TEXT), tool("get_cell", sheet=TEXT, cell=TEXT)],
    ],
    ids=["components", "issues", "browser", "sheets"],
)  # fmt: skip
def test_tools_with_keys_of_other_things_are_no_store(tmp_path: Path, tools: list[Json]) -> None:
    assert not [one for one in backends(simulator(tmp_path, tools)).values() if one.startswith("key_value")]


async def test_programs_call_the_operations_on_a_view(store: Simulator) -> None:
    async with store.open() as world:
        keys = Library("key_value", world.view, DEFAULT_NOW)
        assert keys.get("user:1").value == {"name": "Ada"}
        keys.set("note", "one", seconds=60)
        assert (keys.get("note").text, keys.ttl("note").value) == ("one", 60)
        assert keys.keys("user:*").value == ["user:1"]
        assert keys.list("hits").text == "hits: 3"
        assert keys.increment("hits", 2).value == 5
        keys.set("tea", "green", space="drinks")
        assert (keys.get("tea", space="drinks").text, keys.exists("tea").facts["exists"]) == ("green", False)
        keys.delete(["note", "none"])
        with pytest.raises(Refused, match="note"):
            keys.get("note")
        assert world.view.get("entry", "hits") == {"key": "hits", "value": 3}
        assert {change.key for change in keys.changes} == {"note", "hits", "drinks:tea"}
