"""An agent on openai-agents, with a model that reads a script: `on_openai_agents.py SCRIPTS`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from agents import Agent, ModelResponse, Runner, Usage, set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from agents.models.interface import Model
from brain import turns
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText


class Script(Model):
    """A model that makes the calls of a script."""

    def __init__(self, scripts: str) -> None:
        self._script = turns(scripts)
        self._calls = 0

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:  # noqa: A002
        self._calls += 1
        try:
            tool, arguments = next(self._script) if self._calls == 1 else self._script.send(said(input[-1]["output"]))
        except StopIteration as end:
            text = ResponseOutputText(type="output_text", text=end.value, annotations=[])
            message = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text]
            )
            return ModelResponse([message], Usage(), None)
        call = ResponseFunctionToolCall(
            type="function_call", call_id=f"c{self._calls}", name=tool, arguments=json.dumps(arguments)
        )
        return ModelResponse([call], Usage(), None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


def said(output: Any) -> str:
    """Return the text of a tool's output, which is a text or a list of parts."""
    if isinstance(output, list):
        return "".join(said(part) for part in output)
    if isinstance(output, dict):
        return str(output.get("text", ""))
    return str(output)


async def main(entries: dict[str, Any]) -> str:
    set_tracing_disabled(True)
    async with AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(server(entry)) for entry in entries.values()]
        agent = Agent("agent", mcp_servers=servers, model=Script(sys.argv[1]))
        return (await Runner.run(agent, os.environ["MCP_SIM_TASK"], max_turns=60)).final_output


def server(entry: dict[str, Any]) -> Any:
    if "url" in entry:
        return MCPServerStreamableHttp({"url": entry["url"]}, client_session_timeout_seconds=60)
    return MCPServerStdio(
        {"command": entry["command"], "args": entry["args"], "env": entry.get("env", {})},
        client_session_timeout_seconds=60,
    )


print(asyncio.run(main(json.loads(Path(os.environ["MCP_SIM_CONFIG"]).read_text())["mcpServers"])))
