"""An agent on pydantic-ai, with a function in place of a model: `on_pydantic_ai.py SCRIPTS`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from brain import ERROR, turns
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

RETRIES = 10
START_SECONDS = 60


def main() -> str:
    entries = json.loads(Path(os.environ["MCP_SIM_CONFIG"]).read_text())["mcpServers"]
    toolsets = [
        MCPToolset(target(entry), max_retries=RETRIES, init_timeout=START_SECONDS) for entry in entries.values()
    ]
    agent = Agent(FunctionModel(model(sys.argv[1])), toolsets=toolsets)
    return asyncio.run(agent.run(os.environ["MCP_SIM_TASK"])).output


def target(entry: dict[str, Any]) -> Any:
    if "url" in entry:
        return entry["url"]
    return StdioTransport(entry["command"], entry["args"], env=entry.get("env"))


def model(scripts: str) -> Any:
    """Return a model that makes the calls of a script."""
    script = turns(scripts)

    def respond(messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        part = messages[-1].parts[-1]
        try:
            if isinstance(part, ToolReturnPart):
                tool, arguments = script.send(part.model_response_str())
            elif isinstance(part, RetryPromptPart):
                tool, arguments = script.send(f"{ERROR}{part.content}")
            else:
                tool, arguments = next(script)
        except StopIteration as end:
            return ModelResponse([TextPart(end.value)])
        return ModelResponse([ToolCallPart(tool, arguments)])

    return respond


print(main())
