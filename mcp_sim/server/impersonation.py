"""How does a client see a scenario's server? One SDK server per impersonated one; nothing of mcp-sim shows.

Calls and lists are answered in a middleware, as plain JSON: the SDK's own way, which validates and copies every result,
costs as much as the call itself. Whatever is not plain (a malformed request, a call before the handshake) takes the
SDK's way and gets the SDK's answer.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NoReturn, TypeAlias, cast
from weakref import WeakKeyDictionary

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ServerEvent
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    SERVER_INFO_META_KEY,
    CallToolRequestParams,
    ListToolsResult,
    PaginatedRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)
from pydantic import ValidationError

from mcp_sim.errors import CRASH_CODE, Crash, UsageError
from mcp_sim.repeats import LONGEST_KEY, Reused
from mcp_sim.scenario import Scenario
from mcp_sim.server.rendering import call_result, is_modern, listing
from mcp_sim.types import BrokenDelivery, Observation, Record, RpcError, ToolResult
from mcp_sim.world import World

logger = logging.getLogger(__name__)

IDEMPOTENCY_KEY = "mcp-sim/idempotency"
PLAIN_KEYS = frozenset({"name", "arguments", "_meta"})

Context: TypeAlias = ServerRequestContext[Any, Any]

WorldOf: TypeAlias = Callable[[Context], Awaitable[World]]
"""Which world does a request belong to?"""

Break: TypeAlias = Callable[[Context, BrokenDelivery], Awaitable[None]]
"""Breaks the delivery of an answer, as far as the transport can; it may return once there is nothing left to answer."""


class Impersonation(Server[Any]):
    """One of a scenario's servers. `world_of` finds the world of a request; `break_off` breaks deliveries."""

    def __init__(self, scenario: Scenario, name: str, world_of: WorldOf, break_off: Break) -> None:
        spec = scenario.servers[name]
        self._buses = WeakKeyDictionary[World, tuple[InMemorySubscriptionBus, ListenHandler]]()
        prefix = f"{name}/" if len(scenario.servers) > 1 else ""
        schemas = {tool: scenario.domain.tools[tool].input_schema for tool in spec.tools}
        super().__init__(
            spec.name,
            version=spec.version,
            title=spec.title,
            instructions=spec.instructions,
            on_list_tools=_no_tools,
            on_subscriptions_listen=self._listen,
            get_tool_input_schema=lambda tool: schemas.get(prefix + tool),
        )
        self.add_request_handler("tools/call", CallToolRequestParams, self._call_as_parsed)
        self.middleware[:] = [self._answer]
        self._name = name
        self._prefix = prefix
        self._world_of, self._break_off = world_of, break_off

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """As the SDK's, with the announcement that the list of tools may change."""
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)

    @property
    def speaks_during_calls(self) -> bool:
        """May a call send anything before its answer? Where none does, answers need no event stream."""
        return False

    async def publish(self, world: World, event: ServerEvent) -> None:
        """Tell those who listen to this world."""
        listened = self._buses.get(world)
        if listened is not None:
            await listened[0].publish(event)

    async def _listen(self, ctx: Context, params: SubscriptionsListenRequestParams) -> SubscriptionsListenResult:
        world = await self._world_of(ctx)
        if world not in self._buses:
            bus = InMemorySubscriptionBus()
            self._buses[world] = (bus, ListenHandler(bus))
        return await self._buses[world][1](ctx, params)

    async def _answer(self, ctx: Context, call_next: CallNext) -> HandlerResult:
        """The edge: whatever goes wrong behind it, the client reads nothing of it."""
        try:
            match ctx.method:
                case "tools/call" if _is_plain(ctx):
                    params = cast("Mapping[str, Any]", ctx.params)
                    return await self._call(ctx, params["name"], params.get("arguments"), params.get("_meta"))
                case "tools/list":
                    return await self._list(ctx, call_next)
                case _:
                    return await call_next(ctx)
        except (MCPError, ValidationError):
            raise
        except Exception:
            logger.exception("%s failed", ctx.method)
            raise MCPError(INTERNAL_ERROR, "Internal error") from None

    async def _list(self, ctx: Context, call_next: CallNext) -> Record:
        """The SDK's envelope, around the definitions as they were captured."""
        envelope = cast("Record", await call_next(ctx))
        world = await self._world_of(ctx)
        return {**envelope, "tools": listing(world.catalogue(self._name), ctx.protocol_version)}

    async def _call_as_parsed(self, ctx: Context, params: CallToolRequestParams) -> Record:
        return await self._call(ctx, params.name, params.arguments, (ctx.params or {}).get("_meta"))

    async def _call(self, ctx: Context, name: str, arguments: Record | None, meta: Record | None) -> Record:
        world = await self._world_of(ctx)
        observation = await _ask(world, self._prefix + name, arguments or {}, _idempotency_key(meta))
        if observation.delay:
            await anyio.sleep(world.clock.wait_seconds(observation.delay))
        if isinstance(observation.body, BrokenDelivery):
            await self._fail_to_arrive(ctx, observation.body)
        return self._delivered(ctx, observation.body)

    async def _fail_to_arrive(self, ctx: Context, broken: BrokenDelivery) -> NoReturn:
        """An answer that is not to arrive. Ends with the connection, or when the client cancels its request."""
        await self._break_off(ctx, broken)
        while True:
            await anyio.sleep_forever()

    def _delivered(self, ctx: Context, body: ToolResult | RpcError) -> Record:
        if isinstance(body, RpcError):
            raise MCPError(body.code, body.message, body.data)
        result = call_result(body, ctx.protocol_version)
        if is_modern(ctx.protocol_version):
            result["_meta"] = {SERVER_INFO_META_KEY: self.server_info_stamp}
        return result


async def _ask(world: World, tool: str, arguments: Record, key: str | None) -> Observation:
    try:
        return await world.call(tool, arguments, key)
    except Reused as error:
        raise MCPError(INVALID_PARAMS, str(error)) from None
    except UsageError:
        raise MCPError(INVALID_PARAMS, "Invalid arguments: not finite numbers, or nested too deeply") from None
    except Crash:
        raise MCPError(CRASH_CODE, "The tool call could not be completed", {"mcp_sim": "crash"}) from None


def _idempotency_key(meta: Record | None) -> str | None:
    """What makes two requests one call. Raises MCPError for a key that is none."""
    key = meta.get(IDEMPOTENCY_KEY) if meta else None
    if key is not None and not (isinstance(key, str) and 0 < len(key) <= LONGEST_KEY):
        raise MCPError(INVALID_PARAMS, f"An idempotency key is a string of 1 to {LONGEST_KEY} characters")
    return key


async def _no_tools(_ctx: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=[])


def _is_plain(ctx: Context) -> bool:
    """True for a call that the SDK's validation would let pass unchanged."""
    params = ctx.params
    if params is None or not params.keys() <= PLAIN_KEYS or not isinstance(params.get("name"), str):
        return False
    if not isinstance(params.get("arguments"), dict | None):
        return False
    meta = params.get("_meta", {})
    if not isinstance(meta, dict):
        return False
    if is_modern(ctx.protocol_version):
        return isinstance(cast("Record", meta).get(CLIENT_CAPABILITIES_META_KEY), dict)
    return ctx.session.client_params is not None
