"""Who hears of it when something changes? In each world: streams that listen, and connections of older protocols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias, get_args
from weakref import WeakKeyDictionary, WeakSet

import anyio
from mcp.server.connection import Connection, allowed_log_levels
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    LoggingLevel,
    LoggingMessageNotification,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from mcp_sim.server.protocol import Context, is_modern
from mcp_sim.types import Json, Observation, Record
from mcp_sim.world import World

MOST_WATCHED = 1000
"""So many resources may one client watch."""

DEAF_SECONDS = 0.25
"""Whoever leaves news unread for so long hears no more of it, until the next request; others need not wait."""

Read: TypeAlias = Callable[[World, str], Json]
"""The contents of a resource as they are now; None where there is none."""

METHODS: dict[type, str] = {
    ToolsListChanged: "notifications/tools/list_changed",
    PromptsListChanged: "notifications/prompts/list_changed",
    ResourcesListChanged: "notifications/resources/list_changed",
    ResourceUpdated: "notifications/resources/updated",
}


class Watch:
    """The resources that one client watches, with the contents that it knows of."""

    __slots__ = ("__weakref__", "seen")

    def __init__(self) -> None:
        self.seen: dict[str, Json] = {}


@dataclass(slots=True)
class Peer:
    """A connection that was opened with a handshake: the world it is in, what it watches, what it wants logged.

    `is_deaf`: it leaves unread what it is told.
    """

    world: World
    watch: Watch = field(default_factory=Watch)
    level: str = "debug"
    is_deaf: bool = False


class Audience:
    """The clients of one server, by world. Whoever leaves is forgotten."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._streams = WeakKeyDictionary[World, tuple[InMemorySubscriptionBus, ListenHandler]]()
        self._peers = WeakKeyDictionary[Connection, Peer]()
        self._watches = WeakKeyDictionary[World, WeakSet[Watch]]()

    def peer(self, ctx: Context, world: World) -> Peer:
        """What is kept of the connection of a request, which is in this world."""
        # The session is made anew for each message; what lasts is its connection, which it does not show.
        connection = ctx.session._connection  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] (see above)
        peer = self._peers.get(connection)
        if peer is None:
            peer = self._peers[connection] = Peer(world)
        peer.world, peer.is_deaf = world, False
        return peer

    async def listen(
        self, ctx: Context, world: World, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """One stream, from its beginning to its end."""
        watch = Watch()
        for uri in params.notifications.resource_subscriptions or ():
            self.add(world, watch, uri)
        if world not in self._streams:
            bus = InMemorySubscriptionBus()
            self._streams[world] = (bus, ListenHandler(bus))
        return await self._streams[world][1](ctx, params)

    def add(self, world: World, watch: Watch, uri: str) -> None:
        """Watch one more resource. Raises MCPError."""
        if len(watch.seen) >= MOST_WATCHED and uri not in watch.seen:
            raise MCPError(INVALID_PARAMS, f"At most {MOST_WATCHED} resources can be watched")
        watch.seen[uri] = self._read(world, uri)
        self._watches.setdefault(world, WeakSet()).add(watch)

    async def look_around(self, world: World) -> None:
        """Tell of the watched resources that are not what they were."""
        changed, now = dict[str, None](), dict[str, Json]()
        for watch in list(self._watches.get(world, ())):
            for uri, seen in watch.seen.items():
                if uri not in now:
                    now[uri] = self._read(world, uri)
                if now[uri] != seen:
                    watch.seen[uri] = now[uri]
                    changed[uri] = None
        for uri in changed:
            await self.tell(world, ResourceUpdated(uri))

    async def tell(self, world: World, event: ServerEvent) -> None:
        """Tell everyone in a world who wants to know."""
        stream = self._streams.get(world)
        if stream is not None:
            await stream[0].publish(event)
        uri = event.uri if isinstance(event, ResourceUpdated) else None
        params = None if uri is None else {"uri": uri}
        for connection, peer in list(self._peers.items()):
            if peer.world is world and not peer.is_deaf and (uri is None or uri in peer.watch.seen):
                with anyio.move_on_after(DEAF_SECONDS) as patience:
                    await connection.notify(METHODS[type(event)], params)
                peer.is_deaf = patience.cancelled_caught


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
