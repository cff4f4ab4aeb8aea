"""MCP clients for tests and demos: of a world in memory, or of `mcp-sim serve` in a subprocess."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, TextIO

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_sim.server.impersonation import Break, Context, Impersonation
from mcp_sim.types import BrokenDelivery
from mcp_sim.world.world import World


def impersonated(world: World, server: str | None = None, break_off: Break | None = None) -> Impersonation:
    """Return a server of a world in this process, as `connected` does its client."""

    async def world_of(_ctx: Context) -> World:
        return world

    name = server or next(iter(world.scenario.servers))
    return Impersonation(world.scenario, name, world_of, break_off or _leave_unanswered)


@asynccontextmanager
async def connected(
    world: World, server: str | None = None, *, mode: str = "auto", break_off: Break | None = None, **options: Any
) -> AsyncGenerator[Client]:
    """Yield an MCP client of a world in this process.

    `server` selects one of several servers; `mode` is `auto`, `legacy` or a protocol version. `options` are passed to
    the `Client`, such as its callbacks. Without a `break_off`, a broken delivery is an answer that never arrives.
    """
    async with Client(impersonated(world, server, break_off), mode=mode, **options) as client:
        yield client


@asynccontextmanager
async def spawned(
    *arguments: str, mode: str = "auto", errlog: TextIO | None = None, cwd: str | None = None, **options: Any
) -> AsyncGenerator[Client]:
    """Yield an MCP client of `mcp-sim serve ARGUMENTS` over stdio, with the PYTHONPATH of this process.

    `errlog` receives the stderr of the server; `mode` and `options` are those of `connected`.
    """
    words = ["-m", "mcp_sim", "serve", *arguments]
    path = {name: value for name, value in os.environ.items() if name == "PYTHONPATH"}
    command = StdioServerParameters(command=sys.executable, args=words, cwd=cwd, env=path)
    async with Client(stdio_client(command, errlog or sys.stderr), mode=mode, **options) as client:
        yield client


async def _leave_unanswered(_ctx: Context, _broken: BrokenDelivery) -> None:
    return
