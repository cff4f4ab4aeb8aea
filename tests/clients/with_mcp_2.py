"""mcp 2: an error is a result with `is_error`."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from steps import run, url

# page: imports
from mcp import Client, StdioServerParameters

# page: end


@asynccontextmanager
async def over_stdio(world: str) -> AsyncGenerator[Client]:
    # page: over stdio
    async with Client(StdioServerParameters(command="mcp-sim", args=["serve", "flaky_crm"])) as crm:
        # page: end
        yield crm


@asynccontextmanager
async def over_http(world: str) -> AsyncGenerator[Client]:
    # page: over HTTP
    async with Client(url(world)) as crm:
        # page: end
        yield crm


async def names(crm: Client) -> list[str]:
    return [tool.name for tool in (await crm.list_tools()).tools]


async def call(crm: Client, tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    result = await crm.call_tool(tool, arguments)
    return result.is_error, result.content[0].text


run({"stdio": over_stdio, "HTTP": over_http}, names, call)
