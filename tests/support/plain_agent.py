"""An agent of few lines, without an MCP library: `plain_agent.py TOOL ARGUMENTS ...` makes calls and prints answers.

It calls MCP_SIM_URL. `--until-done` repeats a call that fails. `--unless TEXT` repeats the first call if it fails,
unless the second one's answer has the text. `--exit CODE` ends with a code.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.request
from typing import Any

META = "io.modelcontextprotocol/"
ABOUT = {"protocolVersion": "2026-07-28", "clientCapabilities": {}, "clientInfo": {"name": "plain", "version": "1"}}


def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Call a tool, and return its result or error."""
    params = {"name": tool, "arguments": arguments, "_meta": {META + name: value for name, value in ABOUT.items()}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": str(ABOUT["protocolVersion"]),
        "mcp-method": "tools/call",
        "mcp-name": tool,
    }
    request = urllib.request.Request(os.environ["MCP_SIM_URL"], body, headers)
    with urllib.request.urlopen(request) as response:
        message = json.load(response)
    return message.get("result") or {"isError": True, **message["error"]}


def careful(write: tuple[str, Any], look: tuple[str, Any], *, effect: str) -> int:
    """Make a write. After a failure, look for its effect, and repeat it only if it is not found."""
    for _ in range(3):
        if not call(*write).get("isError"):
            break
        looked = call(*look)
        while looked.get("isError"):
            looked = call(*look)
        if effect in json.dumps(looked):
            break
    return 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("calls", nargs="*")
    parser.add_argument("--until-done", action="store_true")
    parser.add_argument("--unless", metavar="TEXT")
    parser.add_argument("--exit", type=int, default=0)
    args = parser.parse_args()
    calls = list(zip(args.calls[::2], args.calls[1::2], strict=True))
    if args.unless is not None:
        return careful(*((tool, json.loads(arguments)) for tool, arguments in calls), effect=args.unless)
    for tool, arguments in calls:
        result = call(tool, json.loads(arguments))
        for _ in range(3):
            if args.until_done and result.get("isError"):
                result = call(tool, json.loads(arguments))
        sys.stdout.write(json.dumps(result) + "\n")
    return args.exit


if __name__ == "__main__":
    sys.exit(main())
