"""The reference: the MCP SDK's own low-level server over stdio, which answers with one constant result per tool.

python benchmarks/bare_server.py TOOLS.json RESULTS.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent, Tool


def bare_server(definitions: list[dict[str, Any]], results: Mapping[str, dict[str, Any]]) -> Server[Any]:
    """Return a server whose tools return their `results`."""
    tools = [Tool.model_validate(definition) for definition in definitions]
    inputs = {tool.name: tool.input_schema for tool in tools}
    texts = {tool: json.dumps(result, separators=(",", ":"), ensure_ascii=False) for tool, result in results.items()}

    async def list_tools(ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        text = TextContent(type="text", text=texts[params.name])
        return CallToolResult(content=[text], structured_content=results[params.name])

    return Server(
        "bare", version="1", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema=inputs.get
    )


async def serve(server: Server[Any]) -> None:
    """Serve until stdin closes."""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    tools_file, results_file = (json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:3])
    anyio.run(serve, bare_server(tools_file["tools"], results_file))
