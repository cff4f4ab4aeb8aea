"""Small services of the catalogue: a memory, a log of thoughts, a clock, a calculator and two forms of Redis."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.world.world import World


async def text(world: World, tool: str, arguments: dict[str, Any]) -> str:
    """Return the text of an answer, a failure or not."""
    body = (await world.call(tool, arguments)).body
    assert isinstance(body, ToolResult)
    return "\n".join(block["text"] for block in body.content)


async def test_a_memory_begins_with_a_team_and_shows_nodes_with_their_edges() -> None:
    async with Simulator(compiled("memory")).open() as world:
        shown = value(await world.call("search_nodes", {"query": "TIMETABLE"}))
        names = [entity["name"] for entity in shown["entities"]]
        assert len(names) >= 2
        assert all(relation["from"] in names or relation["to"] in names for relation in shown["relations"])
        await world.call("delete_entities", {"entityNames": ["Timetable"]})
        left = value(await world.call("read_graph", {}))
        assert all("Timetable" not in (relation["from"], relation["to"]) for relation in left["relations"])


async def test_a_memory_skips_what_it_knows_and_refuses_unknown_nodes() -> None:
    async with Simulator(compiled("memory")).open() as world:
        kite = {"name": "Kite", "entityType": "service", "observations": ["new"]}
        mira: dict[str, Any] = {"name": "Mira Okafor", "entityType": "person", "observations": []}
        assert json.loads(await text(world, "create_entities", {"entities": [mira, kite]})) == [kite]
        additions = [{"entityName": name, "contents": ["x"]} for name in ("Kite", "Nobody")]
        refused = await world.call("add_observations", {"observations": additions})
        assert message(refused) == "Entity with name Nobody not found"
        assert value(await world.call("open_nodes", {"names": ["Kite"]}))["entities"] == [kite]
        wrong = await text(world, "create_entities", {"entities": [{"name": "Half"}]})
        assert wrong.splitlines() == [
            "MCP error -32602: Input validation error: Invalid arguments for tool create_entities: Invalid input: "
            "expected string, received undefined at entities[0].entityType",
            "Invalid input: expected array, received undefined at entities[0].observations",
        ]


async def test_thoughts_are_counted_and_converted_as_javascript_does() -> None:
    async with Simulator(compiled("sequential_thinking")).open() as world:
        step = {"thought": "First", "nextThoughtNeeded": "False", "thoughtNumber": "3", "totalThoughts": 2}
        await world.call("sequentialthinking", {**step, "branchFromThought": 1, "branchId": "b"})
        assert value(await world.call("sequentialthinking", step)) == {
            "thoughtNumber": 3,
            "totalThoughts": 3,
            "nextThoughtNeeded": False,
            "branches": ["b"],
            "thoughtHistoryLength": 2,
        }
        refused = message(await world.call("sequentialthinking", {**step, "thoughtNumber": 0, "totalThoughts": "x"}))
        assert refused.endswith(
            "Too small: expected number to be >=1 at thoughtNumber\n"
            "Invalid input: expected number, received NaN at totalThoughts"
        )


@pytest.mark.parametrize(
    ("source", "time", "target", "expected"),
    [
        ("Asia/Kolkata", "09:00", "UTC", "-5.5h"),
        ("UTC", "23:30", "Asia/Kathmandu", "+5.75h"),
        ("Europe/Berlin", "12:00", "America/New_York", "-6.0h"),
        ("Mars/Base", "12:00", "UTC", "Invalid timezone: 'No time zone found with key Mars/Base'"),
        ("UTC", "25:00", "UTC", "Invalid time format. Expected HH:MM [24-hour format]"),
        ("UTC", "12:00", "", "Missing required argument: target_timezone"),
    ],
)
async def test_a_time_is_converted_on_the_day_of_the_world(source: str, time: str, target: str, expected: str) -> None:
    async with Simulator(compiled("calm_desk")).open() as world:
        arguments = {"source_timezone": source, "time": time, "target_timezone": target}
        answer = await text(world, "clock/convert_time", arguments)
        if expected.endswith("h"):
            assert json.loads(answer)["time_difference"] == expected
            assert json.loads(answer)["source"]["datetime"].startswith(f"2029-03-01T{time}:00")
        else:
            assert answer == f"Error executing tool convert_time: {expected}"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("2^10 ÷ 4", "256.0"),
        ("sqrt(16) + comb(10**6, 1)", "1000004.0"),
        ("1 / 0", "division by zero"),
        ("abs(1)", "Unknown identifier: abs"),
        ("9**9**9", "Exceeds the limit (4300 digits)"),
        ("factorial(10**8)", "Exceeds the limit (4300 digits)"),
        ("'a' * 10**12", "Exceeds the limit (4300 digits)"),
        ("__import__('os')", "Unknown identifier: __import__"),
    ],
)
async def test_an_expression_is_computed_or_refused_at_once(expression: str, expected: str) -> None:
    async with Simulator(compiled("calculator")).open() as world:
        answer = await text(world, "calculate", {"expression": expression})
        assert answer.removeprefix("Error executing tool calculate: ").startswith(expected)


async def test_wrong_arguments_are_worded_as_pydantic_does() -> None:
    async with Simulator(compiled("redis")).open() as world:
        answer = await text(world, "lrange", {"name": "queue:mail", "start": "a", "stop": 1.5})
        lines = answer.splitlines()
        assert lines[0] == "Error executing tool lrange: 2 validation errors for lrangeArguments"
        assert lines[1:3] == [
            "start",
            "  Input should be a valid integer, unable to parse string as an integer [type=int_parsing, "
            "input_value='a', input_type=str]",
        ]
        assert "[type=int_from_float, input_value=1.5, input_type=float]" in lines[5]


async def test_keys_of_redis_have_types_and_expire() -> None:
    async with Simulator(compiled("redis")).open() as world:
        assert "WRONGTYPE" in await text(world, "lpush", {"name": "user:17", "value": "x"})
        await world.call("set", {"key": "token", "value": {"a": 1}, "expiration": 60})
        assert await text(world, "get", {"key": "token"}) == '{"a": 1}'
        assert value(await world.call("type", {"key": "token"}))["result"]["ttl"] == 58  # a call takes a second
        await world.call("expire", {"name": "user:17", "expire_seconds": 1})
        await world.advance(timedelta(minutes=2))
        for key in ("token", "user:17"):
            assert value(await world.call("type", {"key": key}))["result"] == {"key": key, "type": "none", "ttl": -2}
        assert "token" not in await text(world, "scan_all_keys", {"pattern": "*"})


async def test_a_group_reads_each_entry_of_a_stream_once() -> None:
    async with Simulator(compiled("redis")).open() as world:
        for number in range(2):
            await world.call("xadd", {"key": "log", "fields": {"n": number}})
        await world.call("xgroup_create", {"key": "log", "group_name": "g", "start_id": "0"})
        read = {"key": "log", "group_name": "g", "consumer_name": "c", "count": 5}
        entries = await text(world, "xreadgroup", read)
        first = entries.split("'")[3]
        assert entries.count("'n':") == 2
        assert await text(world, "xreadgroup", read) == (
            "No entries available for consumer 'c' in group 'g' on stream 'log'"
        )
        ack = {"key": "log", "group_name": "g", "entry_ids": [first]}
        assert "acknowledged 1 entry in" in await text(world, "xack", ack)
        assert "acknowledged 0 entries in" in await text(world, "xack", ack)


async def test_json_vectors_and_channels_of_redis() -> None:
    async with Simulator(compiled("redis")).open() as world:
        document = '{"items": [{"n": 1}, {"n": 2}]}'
        await world.call("json_set", {"name": "doc", "path": "$", "value": document})
        await world.call("json_set", {"name": "doc", "path": "$.items[1].n", "value": "7"})
        await world.call("json_del", {"name": "doc", "path": "$.items[0]"})
        assert json.loads(await text(world, "json_get", {"name": "doc", "path": "$.items[*].n"})) == [7]
        await world.call("create_vector_index_hash", {"dim": 2})
        for key, vector in (("doc:a", [1, 0]), ("doc:b", [0, 1])):
            await world.call("set_vector_in_hash", {"name": key, "vector": vector})
        nearest = value(await world.call("vector_search_hash", {"query_vector": [0.1, 1], "k": 1}))["result"]
        assert [row["id"] for row in nearest] == ["doc:b"]
        listener = value(await world.call("psubscribe", {"pattern": "news.*"}))["result"]["subscription_id"]
        await world.call("publish", {"channel": "news.today", "message": "hi"})
        received = value(await world.call("read_messages", {"subscription_id": listener}))["result"]
        assert [entry["data"] for entry in received["messages"]] == ["hi"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("user:?", ["user:1", "user:2"]), ("user:[^1]", ["user:2"]), ("[a-c]*", ["cart*"]), (r"cart\*", ["cart*"])],
)
async def test_keys_are_matched_by_globs(pattern: str, expected: list[str], tmp_path: Path) -> None:
    scenario = tmp_path / "keys.yaml"
    state = {"user:1": "a", "user:2": "b", "cart*": "c"}
    document = {"mcp_sim": 1, "name": "keys", "tools": "redis_strings", "world": {"state": state}}
    scenario.write_text(json.dumps(document))
    async with Simulator.load(scenario).open() as world:
        assert await text(world, "list", {"pattern": pattern}) == "\n".join(["Found keys:", *expected])


HUGE = 10**400


@pytest.mark.parametrize(
    ("service", "tool", "arguments"),
    [
        ("redis", "expire", {"name": "user:17", "expire_seconds": HUGE}),
        ("redis", "zadd", {"key": "z", "score": HUGE, "member": "a"}),
        ("redis", "xdel", {"key": "log", "entry_id": "9" * 5000}),
        ("redis", "json_get", {"name": "doc", "path": f"$[{'9' * 5000}]"}),
        ("redis", "set_vector_in_hash", {"name": "v", "vector": [HUGE, 1e300]}),
        ("redis_strings", "set", {"key": "a", "value": "b", "expireSeconds": HUGE}),
        ("redis_strings", "list", {"pattern": "[" * 5000}),
        ("redis_strings", "list", {"pattern": "*a" * 240}),
        ("sequential_thinking", "sequentialthinking",
         {"thought": "", "nextThoughtNeeded": True, "thoughtNumber": HUGE, "totalThoughts": "9" * 5000}),
        ("time", "convert_time", {"source_timezone": "UTC", "time": "9" * 5000, "target_timezone": "\0"}),
    ],
)  # fmt: skip
async def test_huge_values_are_answered_without_a_crash(service: str, tool: str, arguments: dict[str, Any]) -> None:
    async with Simulator.load(service).open() as world:
        await world.call("xadd", {"key": "log", "fields": {"a": 1}})
        await world.call("json_set", {"name": "doc", "path": "$", "value": "[1]"})
        assert await text(world, tool, arguments)
