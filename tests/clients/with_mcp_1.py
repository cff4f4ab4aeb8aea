"""mcp 1: an error is a result with `isError`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from steps import run, url

# page: imports
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

# page: end


@asynccontextmanager
async def over_stdio(world: str) -> AsyncGenerator[ClientSession]:
    # page: over stdio
    server = StdioServerParameters(command="mcp-sim", args=["serve", "flaky_crm"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as crm:
        await crm.initialize()
        # page: end
        yield crm


@asynccontextmanager
async def over_http(world: str) -> AsyncGenerator[ClientSession]:
    # page: over HTTP
    async with streamable_http_client(url(world)) as (read, write, _), ClientSession(read, write) as crm:
        await crm.initialize()
        # page: end
        yield crm


async def names(crm: ClientSession) -> list[str]:
    return [tool.name for tool in (await crm.list_tools()).tools]


async def call(crm: ClientSession, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    result = await crm.call_tool(tool, arguments)
    return result.isError, result.content[0].text


run({"stdio": over_stdio, "HTTP": over_http}, names, call)
