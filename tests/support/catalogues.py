"""Helpers for perturbations of the tool list: what is listed, and when clients are notified."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from support.over_http import ERAS, caller, listening
from support.stdio_process import MODERN_META, odd, serving

from mcp_sim.server.testing import connected
from mcp_sim.types import Observation, Tool
from mcp_sim.world.world import World

NEWS = "notifications/tools/list_changed"
LIST: tuple[str, dict[str, Any]] = ("list_deals", {})


def names(world: World) -> list[str]:
    return [tool.name for tool in world.catalogue("crm")]


def tool(world: World, name: str) -> Tool:
    return next(tool for tool in world.catalogue("crm") if tool.name == name)


def announces_changed_list(observation: Observation) -> bool:
    """Whether the client is notified that the list of tools has changed."""
    return NEWS in [notice["method"] for notice in observation.notifications]


async def announcing_calls(world: World, calls: int, call: tuple[str, dict[str, Any]] = LIST) -> list[int]:
    """Return the numbers of the calls, from 1, at which a client is notified."""
    return [n for n in range(1, calls + 1) if announces_changed_list(await world.call(*call))]


async def received_announcements(world: World, mode: str, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """Return the notifications of a changed tool list that a client in memory gets while it makes calls."""
    news = list[str]()

    async def message(message: Any) -> None:
        if getattr(message, "method", "") == NEWS:
            news.append(NEWS)

    async with connected(world, mode=mode, message_handler=message) as client:
        if mode == "legacy":
            await _call_all(client, calls)
            await anyio.wait_all_tasks_blocked()
            return news
        async with anyio.create_task_group() as tasks:
            listening_now = anyio.Event()

            async def listen() -> None:
                async with client.listen(tools_list_changed=True) as stream:
                    listening_now.set()
                    async for _event in stream:
                        continue  # the message handler hears of it as well

            tasks.start_soon(listen)
            await listening_now.wait()
            await _call_all(client, calls)
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
    return news


async def _call_all(client: Client, calls: Sequence[tuple[str, dict[str, Any]]]) -> None:
    for name, arguments in calls:
        await client.call_tool(name, arguments)


async def over_http(folder: Path, *entries: dict[str, Any]) -> list[dict[str, dict[str, Any]]]:
    """Return the tools, by name, that clients of both eras see over HTTP."""
    shown = list[dict[str, dict[str, Any]]]()
    with listening(odd(folder, *entries)) as served:
        for era in ERAS:
            async with caller(f"{served.url}/w/{era}/mcp", era) as client:
                tools = (await client.post("tools/list")).json()["result"]["tools"]
                shown.append({tool["name"]: tool for tool in tools})
    return shown


def over_stdio(folder: Path, *entries: dict[str, Any]) -> list[dict[str, dict[str, Any]]]:
    """Return the tools, by name, that clients of both eras see over stdio."""
    shown = list[dict[str, dict[str, Any]]]()
    for handshake in (True, False):
        with serving(odd(folder, *entries), handshake=handshake) as wire:
            wire.request(1, "tools/list", {} if handshake else {"_meta": MODERN_META})
            shown.append({tool["name"]: tool for tool in wire.answer()["result"]["tools"]})
    return shown
