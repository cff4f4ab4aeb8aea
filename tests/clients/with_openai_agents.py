"""openai-agents: an error is a result with `is_error`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from agents.mcp import MCPServer
from steps import run, url

# page: imports
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp

# page: end


@asynccontextmanager
async def over_stdio(world: str) -> AsyncGenerator[MCPServer]:
    # page: over stdio
    async with MCPServerStdio({"command": "mcp-sim", "args": ["serve", "flaky_crm"]}) as crm:
        # Agent(..., mcp_servers=[crm])
        # page: end
        yield crm


@asynccontextmanager
async def over_http(world: str) -> AsyncGenerator[MCPServer]:
    # page: over HTTP
    async with MCPServerStreamableHttp({"url": url(world)}) as crm:
        # page: end
        yield crm


async def names(crm: MCPServer) -> list[str]:
    return [tool.name for tool in await crm.list_tools()]


async def call(crm: MCPServer, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    result = await crm.call_tool(tool, arguments)
    return result.is_error, result.content[0].text


run({"stdio": over_stdio, "HTTP": over_http}, names, call)
