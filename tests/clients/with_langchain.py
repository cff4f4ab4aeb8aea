"""langchain-mcp-adapters: an error is a `ToolMessage` with status `error`."""

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from langchain_core.tools import BaseTool
from steps import run, url

# page: imports
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

# page: end

store = str(Path(tempfile.mkdtemp()) / "worlds.db")


@asynccontextmanager
async def over_stdio(world: str) -> AsyncGenerator[list[BaseTool]]:
    # page: over stdio
    client = MultiServerMCPClient({"crm": {"transport": "stdio", "command": "mcp-sim", "args": ["serve", "flaky_crm"]}})
    async with client.session("crm") as session:  # one process, one world
        tools = await load_mcp_tools(session)
        # page: end
        yield tools


@asynccontextmanager
async def with_a_store(world: str) -> AsyncGenerator[list[BaseTool]]:
    # page: over stdio, `get_tools`: a process for every call, and one world in the store
    args = ["serve", "flaky_crm", "--world", world, "--store", store]
    client = MultiServerMCPClient({"crm": {"transport": "stdio", "command": "mcp-sim", "args": args}})
    tools = await client.get_tools()
    # page: end
    yield tools


@asynccontextmanager
async def over_http(world: str) -> AsyncGenerator[list[BaseTool]]:
    # page: over HTTP, `get_tools`: a session for every call, and one world at the URL
    client = MultiServerMCPClient({"crm": {"transport": "http", "url": url(world)}})
    tools = await client.get_tools()
    # page: end
    yield tools


async def names(tools: list[BaseTool]) -> list[str]:
    return [tool.name for tool in tools]


async def call(tools: list[BaseTool], tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    asked = {"type": "tool_call", "id": "1", "name": tool, "args": arguments}
    message = await next(found for found in tools if found.name == tool).ainvoke(asked)
    return message.status == "error", message.content[0]["text"]


run({"stdio": over_stdio, "stdio, a process per call": with_a_store, "HTTP": over_http}, names, call)
