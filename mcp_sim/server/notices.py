"""What is sent in the course of a call, and when? Progress, log entries, and news for everyone in the world."""

from __future__ import annotations

from datetime import timedelta
from typing import get_args

import anyio
from mcp.server.connection import allowed_log_levels
from mcp.server.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types import LoggingLevel, LoggingMessageNotification

from mcp_sim.server.audience import Audience
from mcp_sim.server.rendering import is_modern
from mcp_sim.server.wire import Context
from mcp_sim.types import Observation, Record
from mcp_sim.world import World

LEVELS: tuple[str, ...] = get_args(LoggingLevel)
"""From the least grave to the gravest."""

_NEWS: dict[str, ServerEvent] = {
    "notifications/tools/list_changed": ToolsListChanged(),
    "notifications/prompts/list_changed": PromptsListChanged(),
    "notifications/resources/list_changed": ResourcesListChanged(),
}


async def wait(ctx: Context, world: World, audience: Audience, observation: Observation) -> None:
    """Wait until the observation is due, and send on the way what is due before it."""
    passed = timedelta(0)
    for notice in observation.notifications:
        at = timedelta(milliseconds=notice.get("at_ms", 0))
        if at > passed:
            await anyio.sleep(world.clock.wait_seconds(at - passed))
            passed = at
        await _send(ctx, world, audience, notice)
    if observation.delay > passed:
        await anyio.sleep(world.clock.wait_seconds(observation.delay - passed))


async def _send(ctx: Context, world: World, audience: Audience, notice: Record) -> None:
    params: Record = notice["params"]
    match notice["method"]:
        case "notifications/progress":
            await ctx.session.report_progress(params["progress"], params.get("total"), params.get("message"))
        case "notifications/message":
            if _is_wanted(ctx, world, audience, params["level"]):
                entry = LoggingMessageNotification.model_validate({"method": notice["method"], "params": params})
                await ctx.session.send_notification(entry, related_request_id=ctx.request_id)
        case "notifications/resources/updated":
            await audience.tell(world, ResourceUpdated(params["uri"]))
        case method:
            await audience.tell(world, _NEWS[method])


def _is_wanted(ctx: Context, world: World, audience: Audience, level: str) -> bool:
    """Does the client want log entries of this level? Without sessions, each request says so for itself."""
    if is_modern(ctx.protocol_version):
        return level in allowed_log_levels(ctx.protocol_version, ctx.meta)
    return LEVELS.index(level) >= LEVELS.index(audience.peer(ctx, world).level)
