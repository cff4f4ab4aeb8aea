"""An agent that gives up on a call: the engine is not left working on it, in both eras, over stdio and HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync
from mcp import Client
from support.desk import MADE, desk_in
from support.endpoint import saying, serving
from support.over_http import listening

from mcp_sim.server.testing import spawned

PATIENCE = 60
Connects = Callable[[Path, str], AbstractAsyncContextManager[Client]]


@asynccontextmanager
async def over_stdio(path: Path, mode: str) -> AsyncGenerator[Client]:
    async with spawned(str(path), mode=mode) as client:
        yield client


@asynccontextmanager
async def over_http(path: Path, mode: str) -> AsyncGenerator[Client]:
    server = listening(str(path))
    served = await run_sync(server.__enter__)  # it asks this loop's endpoint for its models before it listens
    try:
        async with Client(f"{served.url}/w/a/mcp", mode=mode) as client:
            yield client
    finally:
        await run_sync(server.__exit__, None, None, None)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("client_of", [over_stdio, over_http])
async def test_a_call_that_the_agent_cancels_is_cancelled_at_the_engine(
    client_of: Connects, mode: str, tmp_path: Path
) -> None:
    async with serving() as engine:
        desk_in(tmp_path)(engine.url)
        engine.respond = engine.hang
        async with client_of(tmp_path / "desk.yaml", mode) as client:
            with anyio.fail_after(PATIENCE):
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(client.call_tool, "create_ticket", {"title": "one"})
                    await engine.arrived.wait()
                    tasks.cancel_scope.cancel()
                await engine.disconnected.wait()
            engine.respond = saying(MADE)
            made = await client.call_tool("create_ticket", {"title": "one"})
            assert made.structured_content is not None
            assert made.structured_content["id"] == "ticket_00003"
    assert len(engine.asked) == 2
