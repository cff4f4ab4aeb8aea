"""fastmcp: an error is raised as `ToolError`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from steps import run, url

# page: imports
from fastmcp import Client
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError

# page: end


@asynccontextmanager
async def over_stdio(world: str) -> AsyncGenerator[Client]:
    # page: over stdio
    async with Client(StdioTransport("mcp-sim", ["serve", "flaky_crm"])) as crm:
        # page: end
        yield crm


@asynccontextmanager
async def over_http(world: str) -> AsyncGenerator[Client]:
    # page: over HTTP
    async with Client(url(world)) as crm:
        # page: end
        yield crm


async def names(crm: Client) -> list[str]:
    return [tool.name for tool in await crm.list_tools()]


async def call(crm: Client, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    try:
        result = await crm.call_tool(tool, arguments)
    except ToolError as error:
        return True, str(error)
    return False, result.content[0].text


run({"stdio": over_stdio, "HTTP": over_http}, names, call)
