"""`python -m mcp_sim.runs.agents NAME [--script FILE]`: a scripted agent for `mcp-sim run`."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_sim.runs.agents.script import Script, read_script, script_for
from mcp_sim.runs.agents.strategies import STRATEGIES
from mcp_sim.runs.agents.trials import play
from mcp_sim.types.errors import UsageError


def main() -> int:
    """Carry out the task, and print the final answer. Exit with 0, or with 2 without a script that fits the server."""
    parser = argparse.ArgumentParser(
        prog="python -m mcp_sim.runs.agents",
        description="A scripted agent for `mcp-sim run`.",
        epilog="\n".join(f"{name}: {strategy.summary}" for name, strategy in STRATEGIES.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=STRATEGIES, metavar="NAME", help=", ".join(STRATEGIES))
    parser.add_argument("--script", type=Path, metavar="FILE", help="the calls (default: those of a shipped task)")
    args = parser.parse_args()
    try:
        script = read_script(args.script) if args.script else script_for(os.environ.get("MCP_SIM_TASK", ""))
        servers = _servers(os.environ)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    return anyio.run(_play, script, args.name, servers)


def _servers(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the servers to connect to, by name: URLs, or parameters of commands. Raises `UsageError`."""
    if "MCP_SIM_CONFIG" not in environment:
        raise UsageError("MCP_SIM_CONFIG is not set: start this with `mcp-sim run SCENARIO -- ...`")
    entries: dict[str, Any] = json.loads(Path(environment["MCP_SIM_CONFIG"]).read_text(encoding="utf-8"))["mcpServers"]
    return {
        name: entry["url"] if "url" in entry else stdio_client(StdioServerParameters(**entry))
        for name, entry in entries.items()
    }


async def _play(script: Script, name: str, servers: Mapping[str, Any]) -> int:
    async with AsyncExitStack() as stack:
        clients = {server: await stack.enter_async_context(Client(target)) for server, target in servers.items()}
        try:
            print(await play(script, STRATEGIES[name], clients))
        except UsageError as error:
            print(error, file=sys.stderr)
            return 2
        return 0


if __name__ == "__main__":
    sys.exit(main())
