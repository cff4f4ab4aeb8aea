"""What passes between clients and a real server besides calls and their answers, in both eras of the protocol."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import MCPError
from support import asking_server
from support.places import SUPPORT

from mcp_sim import Simulator
from mcp_sim.server.testing import connected, spawned

ASKING = str(SUPPORT / "asking_server.py")
ERAS = [(client, server) for client in ("legacy", "auto") for server in ("legacy", "modern")]


def passing(folder: Path, era: str, kind: str = "upstream", **spec: Any) -> Simulator:
    """Return a simulator in front of the server that asks."""
    listed = {"mcp_sim": 1, "tools": asking_server.TOOLS, "resources": [{"uri": "x://y", "name": "y", "text": ""}]}
    listed["prompts"] = [
        {
            "name": "greet",
            "messages": [{"role": "user", "content": "Hi"}],
            "arguments": [{"name": "name", "complete": ["Ada"]}],
        }
    ]
    (folder / "asking.json").write_text(json.dumps({**listed, **spec}), encoding="utf-8")
    options = {"command": [sys.executable, ASKING, era]}
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
        assert "Hello Ada" in str((await agent.get_prompt("greet", {"name": "Ada"})).messages[0].content)
        reference = types.PromptReference(type="ref/prompt", name="greet")
        assert (await agent.complete(reference, {"name": "name", "value": "M"})).completion.values == ["Milk"]
