"""pydantic-ai: an error is raised as `ModelRetry`."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from pydantic_ai import ModelRetry
from steps import run, url

# page: imports
from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset

# page: end


@asynccontextmanager
async def over_stdio(world: str) -> AsyncGenerator[MCPToolset]:
    # page: over stdio
    crm = MCPToolset(StdioTransport("mcp-sim", ["serve", "flaky_crm"]))  # Agent(..., toolsets=[crm])
    # page: end
    async with crm:
        yield crm


@asynccontextmanager
async def over_http(world: str) -> AsyncGenerator[MCPToolset]:
    # page: over HTTP
    crm = MCPToolset(url(world))
    # page: end
    async with crm:
        yield crm


async def names(crm: MCPToolset) -> list[str]:
    return [tool.name for tool in await crm.list_tools()]


async def call(crm: MCPToolset, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    try:
        return False, json.dumps(await crm.direct_call_tool(tool, arguments))
    except ModelRetry as error:
        return True, error.message


run({"stdio": over_stdio, "HTTP": over_http}, names, call)
