"""Tools that must be called as tasks, in the protocol that has tasks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.over_http import ERAS, caller, listening

LAB = {
    "mcp_sim": 1,
    "name": "lab",
    "tools": [
        {
            "name": "run_job",
            "inputSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
            "execution": {"taskSupport": "required"},
        },
        {"name": "stop_job", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "optional"}},
        {"name": "look", "inputSchema": {"type": "object"}},
    ],
}
FAULTS = [
    {"error": {"status": 500}, "tools": "run_job", "when": {"arguments": {"name": "bad"}}},
    {"latency": "1h", "tools": "stop_job"},
]


@pytest.fixture
def path(tmp_path: Path) -> str:
    (tmp_path / "lab.json").write_text(json.dumps(LAB), encoding="utf-8")
    file = tmp_path / "slow.json"
    file.write_text(json.dumps({"mcp_sim": 1, "tools": "lab.json", "perturbations": FAULTS}), encoding="utf-8")
    return str(file)


async def test_a_tool_that_requires_a_task_is_polled(path: str) -> None:
    with listening(path) as served:
        async with caller(f"{served.url}/w/a/mcp", ERAS[0]) as one:

            async def ask(method: str, **params: Any) -> Any:
                return (await one.post(method, params)).json()

            async def run(name: str, tool: str = "run_job") -> Any:
                return (await ask("tools/call", name=tool, arguments={"name": name}, task={"ttl": 60_000}))["result"]

            plain = await ask("tools/call", name="run_job", arguments={"name": "x"})
            assert plain["error"]["code"] == -32601
            assert (await ask("tools/call", name="look", arguments={}, task=None))["result"]["content"]
            for odd in (5, False, "x"):
                refused = await ask("tools/call", name="run_job", arguments={"name": "x"}, task=odd)
                assert refused["error"]["code"] == -32602
            forbidden = await ask("tools/call", name="look", arguments={}, task={})
            assert forbidden["error"]["code"] == -32601
            task = (await run("good"))["task"]
            assert (await ask("tasks/get", taskId=task["taskId"]))["result"]["status"] == "completed"
            result = (await ask("tasks/result", taskId=task["taskId"]))["result"]
            assert result["content"]
            assert result["_meta"]["io.modelcontextprotocol/related-task"] == {"taskId": task["taskId"]}
            failed = (await run("bad"))["task"]
            assert (await ask("tasks/get", taskId=failed["taskId"]))["result"]["status"] == "failed"
            assert (await ask("tasks/result", taskId=failed["taskId"]))["result"]["isError"] is True
            long = await ask("tools/call", name="run_job", arguments={"name": "good"}, task={"ttl": 10**400})
            assert long["result"]["task"]["ttl"] == 3_600_000
            working = (await run("x", "stop_job"))["task"]
            assert (working["status"], working["pollInterval"]) == ("working", 1000)
            assert (await ask("tasks/cancel", taskId=working["taskId"]))["result"]["status"] == "cancelled"
            assert (await ask("tasks/cancel", taskId=working["taskId"]))["error"]["code"] == -32602
            assert len((await ask("tasks/list"))["result"]["tasks"]) == 4
        async with caller(f"{served.url}/w/b/mcp", ERAS[0]) as other:
            lost = (await other.post("tasks/get", {"taskId": task["taskId"]})).json()
            assert lost["error"]["code"] == -32602
        async with caller(f"{served.url}/w/c/mcp", ERAS[1]) as modern:
            answer = await modern.post("tools/call", {"name": "run_job", "arguments": {"name": "good"}})
            assert answer.json()["result"]["isError"] is False


@pytest.mark.parametrize(("version", "has_tasks"), [("2025-06-18", False), ("2025-11-25", True)])
async def test_tasks_are_offered_in_the_protocol_that_has_them(path: str, version: str, has_tasks: bool) -> None:
    client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    with listening(path) as served:
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as raw:
            asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
            accepts = {"accept": "application/json, text/event-stream"}
            answer = await raw.post(f"{served.url}/w/a/mcp", json=asked, headers=accepts)
    assert ("tasks" in answer.json()["result"]["capabilities"]) is has_tasks
