"""inspect-ai: an error is raised as `ToolError`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from inspect_ai.tool import MCPServer, ToolDef, ToolError, mcp_connection
from steps import run, url

# page: imports
from inspect_ai.tool import mcp_server_http, mcp_server_stdio

# page: end


@asynccontextmanager
async def over_stdio(world: str) -> AsyncGenerator[MCPServer]:
    # page: over stdio
    crm = mcp_server_stdio(command="mcp-sim", args=["serve", "flaky_crm"])  # react(tools=[crm])
    # page: end
    async with mcp_connection(crm):
        yield crm


@asynccontextmanager
async def over_http(world: str) -> AsyncGenerator[MCPServer]:
    # page: over HTTP
    crm = mcp_server_http(url=url(world))
    # page: end
    async with mcp_connection(crm):
        yield crm


async def names(crm: MCPServer) -> list[str]:
    return [ToolDef(tool).name for tool in await crm.tools()]


async def call(crm: MCPServer, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    found = next(each for each in await crm.tools() if ToolDef(each).name == tool)
    try:
        result = await found(**arguments)
    except ToolError as error:
        return True, error.message
    return False, result[0].text


run({"stdio": over_stdio, "HTTP": over_http}, names, call)
