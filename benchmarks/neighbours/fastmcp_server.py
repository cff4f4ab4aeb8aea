"""FastMCP over HTTP, which answers with one constant result per tool: for `over_http.py --beside`.

PYTHON fastmcp_server.py TOOLS.json RESULTS.json, where PYTHON has fastmcp (and uvloop and httptools) installed.

Its own defaults stay: it checks arguments, and writes a line of log per request. JSON responses instead of streams.
"""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastmcp import FastMCP
from fastmcp.tools import Tool, ToolResult


class ConstantTool(Tool):
    """A tool that returns the same result for every call."""

    result: dict[str, Any]

    async def run(self, arguments: dict[str, Any]) -> Any:
        return ToolResult(structured_content=self.result)


def main(tools_file: str, results_file: str) -> None:
    definitions, results = (json.loads(Path(name).read_text(encoding="utf-8")) for name in (tools_file, results_file))
    server: Any = FastMCP("constant")
    for definition in definitions["tools"]:
        name, schema = definition["name"], definition["inputSchema"]
        if name in results:
            server.add_tool(ConstantTool(name=name, parameters=schema, result=results[name]))
    config = uvicorn.Config(server.http_app(json_response=True), port=0, timeout_keep_alive=75)
    uvicorn.Server(config).run()


if __name__ == "__main__":
    main(*sys.argv[1:3])
