"""Notifications during calls, and to the subscribers of a world: streams, and connections of older protocols."""

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
from mcp_sim.world.world import World

MAX_WATCHED = 1000
"""Resources that one client may watch. Every write looks through them."""

STALL_SECONDS = 0.25
"""Seconds after which a client that does not read is skipped until its next request. Other clients of the world wait as
long."""

Read: TypeAlias = Callable[[World, str], Json]
"""Returns the current contents of a resource, or None if it is missing."""

METHODS: dict[type, str] = {
    ToolsListChanged: "notifications/tools/list_changed",
    PromptsListChanged: "notifications/prompts/list_changed",
    ResourcesListChanged: "notifications/resources/list_changed",
    ResourceUpdated: "notifications/resources/updated",
}


class Watch:
    """The resources that a client watches, with their last known contents."""

    __slots__ = ("__weakref__", "seen")

    def __init__(self) -> None:
        self.seen: dict[str, Json] = {}


@dataclass(slots=True)
class Peer:
    """A connection with a handshake: its world, the resources it watches, and its log level.

    `is_stalled`: it does not read notifications.
    """

    world: World
    watch: Watch = field(default_factory=Watch)
    level: str = "debug"
    is_stalled: bool = False


class Subscribers:
    """The clients of a server that get notifications, by world. References to them are weak."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._streams = WeakKeyDictionary[World, tuple[InMemorySubscriptionBus, ListenHandler]]()
        self._peers = WeakKeyDictionary[Connection, Peer]()
        self._watches = WeakKeyDictionary[World, WeakSet[Watch]]()

    def peer(self, ctx: Context, world: World) -> Peer:
        """Return the peer of the connection of a request in a world."""
        # Each message has a session of its own; only the private connection lasts.
        return self.peer_of(ctx.session._connection, world)  # noqa: SLF001 # pyright: ignore[reportPrivateUsage] (see above)

    def peer_of(self, connection: Connection, world: World) -> Peer:
        """Return the peer of a connection, which is in a world from now on."""
        peer = self._peers.get(connection)
        if peer is None:
            peer = self._peers[connection] = Peer(world)
        peer.world, peer.is_stalled = world, False
        return peer

    async def listen(
        self, ctx: Context, world: World, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Serve a stream of notifications until it ends."""
        watch = Watch()
        for uri in params.notifications.resource_subscriptions or ():
            await self.add(world, watch, uri)
        if world not in self._streams:
            bus = InMemorySubscriptionBus()
            self._streams[world] = (bus, ListenHandler(bus))
        return await self._streams[world][1](ctx, params)

    async def add(self, world: World, watch: Watch, uri: str) -> None:
        """Watch a resource. Raises `MCPError` if a client watches too many."""
        if len(watch.seen) >= MAX_WATCHED and uri not in watch.seen:
            raise MCPError(INVALID_PARAMS, f"At most {MAX_WATCHED} resources can be watched")
        watch.seen[uri] = await self._read(world, uri)
        self._watches.setdefault(world, WeakSet()).add(watch)

    def are_in(self, world: World) -> bool:
        """Whether someone watches resources of a world."""
        return bool(self._watches.get(world))

    async def notify_changed(self, world: World) -> None:
        """Notify of watched resources whose contents have changed."""
        changed, now = dict[str, None](), dict[str, Json]()
        for watch in list(self._watches.get(world, ())):
            for uri, seen in [*watch.seen.items()]:
                if uri not in now:
                    now[uri] = await self._read(world, uri)
                if now[uri] != seen:
                    watch.seen[uri] = now[uri]
                    changed[uri] = None
        for uri in changed:
            await self.publish(world, ResourceUpdated(uri))

    async def publish(self, world: World, event: ServerEvent) -> None:
        """Notify the subscribers of a world."""
        stream = self._streams.get(world)
        if stream is not None:
            await stream[0].publish(event)
        uri = event.uri if isinstance(event, ResourceUpdated) else None
        params = None if uri is None else {"uri": uri}
        for connection, peer in list(self._peers.items()):
            if peer.world is world and not peer.is_stalled and (uri is None or uri in peer.watch.seen):
                with anyio.move_on_after(STALL_SECONDS) as patience:
                    await connection.notify(METHODS[type(event)], params)
                peer.is_stalled = patience.cancelled_caught


LEVELS: tuple[str, ...] = get_args(LoggingLevel)
"""Log levels in ascending order of severity."""

_LIST_CHANGES: dict[str, ServerEvent] = {
    "notifications/tools/list_changed": ToolsListChanged(),
    "notifications/prompts/list_changed": PromptsListChanged(),
    "notifications/resources/list_changed": ResourcesListChanged(),
}


async def wait_until_due(ctx: Context, world: World, subscribers: Subscribers, observation: Observation) -> None:
    """Wait until an observation is due, and send its notifications at their times."""
    passed = timedelta(0)
    for notice in observation.notifications:
        at = timedelta(milliseconds=notice.get("at_ms", 0))
        if at > passed:
            await anyio.sleep(world.clock.wait_seconds(at - passed))
            passed = at
        await send(ctx, world, subscribers, notice)
    if observation.delay > passed:
        await anyio.sleep(world.clock.wait_seconds(observation.delay - passed))


async def send(ctx: Context, world: World, subscribers: Subscribers, notice: Record) -> None:
    """Send a notification in the course of a request."""
    params: Record = notice["params"]
    match notice["method"]:
        case "notifications/progress":
            await ctx.session.report_progress(params["progress"], params.get("total"), params.get("message"))
        case "notifications/message":
            if _is_wanted(ctx, world, subscribers, params["level"]):
                entry = LoggingMessageNotification.model_validate({"method": notice["method"], "params": params})
                await ctx.session.send_notification(entry, related_request_id=ctx.request_id)
        case "notifications/resources/updated":
            await subscribers.publish(world, ResourceUpdated(params["uri"]))
        case method:
            await subscribers.publish(world, _LIST_CHANGES[method])


def _is_wanted(ctx: Context, world: World, subscribers: Subscribers, level: str) -> bool:
    """Whether the client wants log entries of a level. Sessionless requests state their level themselves."""
    if is_modern(ctx.protocol_version):
        return level in allowed_log_levels(ctx.protocol_version, ctx.meta)
    return LEVELS.index(level) >= LEVELS.index(subscribers.peer(ctx, world).level)
