"""An MCP client, connected to a world in memory or to `mcp-sim serve` in a process of its own: for tests and demos."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, TextIO

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from mcp_sim.server.impersonation import Context, Impersonation
from mcp_sim.types import BrokenDelivery
from mcp_sim.world import World


@asynccontextmanager
async def connected(
    world: World, server: str | None = None, *, mode: str = "auto", **options: Any
) -> AsyncGenerator[Client]:
    """A client of a world in this process. `server`: which of several; `mode`: `auto`, `legacy`, or a version.

    `options` are whatever else a Client takes: what it does when it is asked, or told, something.
    Of the broken deliveries, memory knows only the answer that never comes.
    """

    async def world_of(_ctx: Context) -> World:
        return world

    name = server or next(iter(world.scenario.servers))
    impersonation = Impersonation(world.scenario, name, world_of, _leave_unanswered)
    async with Client(impersonation, mode=mode, **options) as client:
        yield client


@asynccontextmanager
async def spawned(
    *arguments: str, mode: str = "auto", errlog: TextIO | None = None, cwd: str | None = None, **options: Any
) -> AsyncGenerator[Client]:
    """A client of `mcp-sim serve ARGUMENTS` over stdio, which finds the modules that this process finds.

    `errlog` is what the server's stderr goes to; `options` are whatever else a Client takes.
    """
    words = ["-m", "mcp_sim", "serve", *arguments]
    path = {name: value for name, value in os.environ.items() if name == "PYTHONPATH"}
    command = StdioServerParameters(command=sys.executable, args=words, cwd=cwd, env=path)
    async with Client(stdio_client(command, errlog or sys.stderr), mode=mode, **options) as client:
        yield client


async def _leave_unanswered(_ctx: Context, _broken: BrokenDelivery) -> None:
    return
