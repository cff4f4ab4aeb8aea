"""Play a script through MCP clients."""

from __future__ import annotations

import json
from collections.abc import Mapping

import anyio
from mcp import Client, MCPError
from mcp_types import CallToolResult, TextContent

from mcp_sim.runs.agents.script import Script
from mcp_sim.runs.agents.strategies import Player, Reply, Sleep, Strategy
from mcp_sim.types import Json, Record


async def play(script: Script, strategy: Strategy, clients: Mapping[str, Client], sleep: Sleep = anyio.sleep) -> str:
    """Carry out a script with the clients of its servers, by name. Return the final answer.

    Raises `UsageError` if it calls a tool that there is not.
    """
    tools = {
        f"{server}/{tool.name}" if len(clients) > 1 else tool.name: (client, tool.name)
        for server, client in clients.items()
        for tool in (await client.list_tools()).tools
    }
    script.refuse_unknown(tools)

    async def ask(tool: str, arguments: Record) -> Reply:
        client, name = tools[tool]
        try:
            return _reply(await client.call_tool(name, arguments))
        except MCPError as error:
            return Reply(None, True, str(error))

    return await Player(script, strategy, ask, sleep, frozenset(tools)).play()


def _reply(result: CallToolResult) -> Reply:
    text = " ".join(block.text for block in result.content if isinstance(block, TextContent))
    value: Json = result.structured_content
    if value is None:
        try:
            value = json.loads(text)
        except ValueError:
            value = text
    return Reply(value, bool(result.is_error), text)
