"""What passes between clients and a real server besides calls and their answers, in both eras of the protocol."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError
from support import asking_server
from support.places import SUPPORT
from support.warm import PYTHON

from mcp_sim import Simulator
from mcp_sim.server.testing import connected, spawned
from mcp_sim.simulator.compile import check
from mcp_sim.types.errors import DocumentError

ASKING = str(SUPPORT / "asking_server.py")
ERAS = [(client, server) for client in ("legacy", "auto") for server in ("legacy", "modern")]


def passing(folder: Path, era: str, kind: str = "upstream", **spec: Any) -> Simulator:
    """Return a simulator in front of the server that asks."""
    listed: dict[str, Any] = {
        "mcp_sim": 1,
        "tools": asking_server.TOOLS,
        "resources": [{"uri": "x://y", "name": "y", "text": ""}],
    }
    listed["prompts"] = [
        {
            "name": "greet",
            "messages": [{"role": "user", "content": "Hi"}],
            "arguments": [{"name": "name", "complete": ["Ada"]}],
        }
    ]
    (folder / "asking.json").write_text(json.dumps({**listed, **spec}), encoding="utf-8")
    options = {"command": [PYTHON, ASKING, era]}
    document = {"mcp_sim": 1, "tools": "asking.json", "world_model": {kind: options}}
    (folder / "passing.yaml").write_text(json.dumps(document), encoding="utf-8")
    return Simulator.load(folder / "passing.yaml", trust=True)


async def named(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    assert params.message == "Who?"
    return types.ElicitResult(action="accept", content={"name": "Ada"})


@pytest.mark.parametrize(("client", "server"), ERAS)
async def test_questions_progress_logs_and_meta_pass_in_all_pairs_of_eras(
    tmp_path: Path, client: str, server: str
) -> None:
    steps, logs = list[Any](), list[Any]()

    async def stepped(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total, message))

    async def logged(params: types.LoggingMessageNotificationParams) -> None:
        logs.append((params.level, params.data))

    callbacks: dict[str, Any] = {"elicitation_callback": named, "logging_callback": logged, "log_level": "info"}
    passing(tmp_path, server)
    path = str(tmp_path / "passing.yaml")
    async with spawned(path, "--trust", path, "--log-level", "error", mode=client, **callbacks) as agent:
        meta: Any = {"shop/order": "o-1"}
        result = await agent.call_tool("ask", {}, progress_callback=stepped, meta=meta)
        assert isinstance(result.content[0], types.TextContent)
        shown = json.loads(result.content[0].text)
        assert (shown["answer"]["action"], shown["answer"]["content"]) == ("accept", {"name": "Ada"})
        assert shown["meta"] == meta
        assert (result.meta or {})["shop/cost"] == 3
        assert {*steps} == {(1, 2, "step 1"), (2, 2, "step 2")}
        assert ("info", {"at": "work"}) in logs


@pytest.mark.parametrize(("client", "server"), ERAS)
async def test_a_client_that_cannot_be_asked_gets_no_questions(tmp_path: Path, client: str, server: str) -> None:
    async with passing(tmp_path, server).open() as world, connected(world, mode=client) as agent:
        if server == "legacy":
            result = await agent.call_tool("ask", {})
            assert "not supported" in str(result.content[0])
        else:
            with pytest.raises((MCPError, RuntimeError)):
                await agent.call_tool("ask", {})
        assert not (await agent.call_tool("count", {})).is_error


@pytest.mark.parametrize(("client", "server"), ERAS)
async def test_resources_prompts_and_completions_pass(tmp_path: Path, client: str, server: str) -> None:
    async with passing(tmp_path, server).open() as world, connected(world, mode=client) as agent:
        listed = await agent.list_resources()
        assert [(str(one.uri), one.name) for one in listed.resources] == [("notes://1", "first")]
        assert listed.next_cursor == "2"
        read = await agent.read_resource("notes://1")
        assert read.contents[0].model_dump(by_alias=True, exclude_none=True) == asking_server.PAGE["contents"][0]
        with pytest.raises(MCPError, match="No such note"):
            await agent.read_resource("notes://2")
        assert [one.name for one in (await agent.list_prompts()).prompts] == ["greet"]
        assert "Hello" in str((await agent.get_prompt("greet", {"name": "Ada"})).messages[0].content)
        reference = types.PromptReference(type="ref/prompt", name="greet")
        assert (await agent.complete(reference, {"name": "name", "value": "M"})).completion.values == ["Milk"]


LIVE: dict[str, Any] = {"mcp_sim": 1, "tools": "live", "perturbations": [{"error": {}, "tools": ["count"]}]}


def live(folder: Path, **world_model: Any) -> str:
    document = {**LIVE, "world_model": world_model or {"upstream": {"command": [PYTHON, ASKING, "legacy"]}}}
    (folder / "live.yaml").write_text(json.dumps(document), encoding="utf-8")
    return str(folder / "live.yaml")


async def test_the_tools_and_capabilities_can_be_those_of_the_live_server(tmp_path: Path) -> None:
    simulator = Simulator.load(live(tmp_path), trust=True)
    async with simulator.open() as world, connected(world, mode="legacy") as agent:
        assert [tool.name for tool in (await agent.list_tools()).tools] == ["ask", "count"]
        assert (await agent.call_tool("count", {})).is_error
        assert [str(one.uri) for one in (await agent.list_resources()).resources] == ["notes://1"]
        assert agent.server_capabilities is not None
        assert agent.server_capabilities.prompts is not None


def test_a_live_list_is_read_only_from_servers_that_a_trusted_document_names(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="needs your trust"):
        Simulator.load(live(tmp_path))
    problems = check([live(tmp_path)])
    assert [problem.severity for problem in problems] == ["warning"] * len(problems)
    assert any("is not asked" in problem.message for problem in problems)
    with pytest.raises(DocumentError, match="'no-such-server' not found"):
        Simulator.load(live(tmp_path, upstream={"command": ["no-such-server"]}), trust=True)
    with pytest.raises(DocumentError, match="needs a world model that asks a server"):
        Simulator.load(live(tmp_path, builtin={}), trust=True)


RECORDED: list[dict[str, Any]] = [
    {"type": "session", "server": "asking", "session": "first", "capabilities": {"tools": {}, "resources": {}}},
    {
        "type": "request",
        "method": "resources/list",
        "params": {},
        "result": {"resources": [{"uri": "notes://1", "name": "n"}]},
    },
    {"type": "resource", "uri": "notes://1", "result": {"contents": [{"uri": "notes://1", "text": "empty"}]}},
    {"type": "call", "tool": "count", "arguments": {}, "result": {"content": [{"type": "text", "text": "1"}]}},
    {"type": "resource", "uri": "notes://1", "result": {"contents": [{"uri": "notes://1", "text": "Milk"}]}},
    {"type": "prompt", "name": "greet", "arguments": {"name": "Ada"}, "result": {"messages": []}},
]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_recorded_resources_and_prompts_are_replayed_as_the_session_went(tmp_path: Path, mode: str) -> None:
    (tmp_path / "tools.json").write_text(json.dumps({"tools": asking_server.TOOLS}), encoding="utf-8")
    (tmp_path / "first.jsonl").write_text("\n".join(map(json.dumps, RECORDED)), encoding="utf-8")
    document = {"mcp_sim": 1, "tools": "tools.json", "world_model": {"replay": {"recordings": "first.jsonl"}}}
    (tmp_path / "replayed.yaml").write_text(json.dumps(document), encoding="utf-8")
    simulator = Simulator.load(tmp_path / "replayed.yaml")
    async with simulator.open() as world, connected(world, mode=mode) as agent:

        async def text() -> str:
            read = (await agent.read_resource("notes://1")).contents[0]
            return read.text if isinstance(read, types.TextResourceContents) else ""

        assert [str(one.uri) for one in (await agent.list_resources()).resources] == ["notes://1"]
        assert [await text(), await text()] == ["empty", "empty"]
        await agent.call_tool("count", {})
        assert await text() == "Milk"
        assert (await agent.get_prompt("greet", {"name": "Ada"})).messages == []
        for asked in (agent.read_resource("notes://2"), agent.get_prompt("greet", {"name": "Bob"})):
            with pytest.raises(MCPError) as missing:
                await asked
            assert missing.value.error.data == {"mcp_sim": "crash"}
