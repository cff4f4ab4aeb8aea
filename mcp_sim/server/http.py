"""The servers of a scenario over streamable HTTP, for both eras of the protocol, each request in its world.

Paths: `/mcp`, `/w/WORLD/mcp`; with several servers, the server's name precedes `mcp`. `/health` is for operators. For
HTTP+SSE, paths end in `sse` and `messages`.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs
from uuid import uuid4

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from mcp_sim.server.access import Access, WorldNames, explicit_names
from mcp_sim.server.batches import answer_batch, batch_of
from mcp_sim.server.exchange import (
    CONNECTION,
    EXCHANGE,
    LEAVING,
    App,
    Bodies,
    Exchange,
    Receive,
    Refusal,
    Scope,
    Send,
    check_message,
    check_single,
    check_values,
    is_preflight,
    preflight_headers,
    readable_by,
    respond,
)
from mcp_sim.server.impersonation import Context, Impersonation
from mcp_sim.server.older_http import MESSAGES, SESSION, STREAM, OlderHttp
from mcp_sim.server.plain_calls import error_body, parse_plain_call, response_body, response_headers, whole_response
from mcp_sim.server.sessions import Addressee, SessionOwner, Sessions
from mcp_sim.server.turns import LONG, NEWCOMERS, Turn, Turns
from mcp_sim.server.workers import Worker
from mcp_sim.server.worlds import DEFAULT, Worlds, WorldUnavailable, is_name
from mcp_sim.types import BrokenDelivery
from mcp_sim.types.frozen import frozen
from mcp_sim.types.oauth import AUTHORIZATION
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

if TYPE_CHECKING:
    from mcp_sim.server.oauth.grants import Token
    from mcp_sim.server.oauth.service import Authorization

logger = logging.getLogger(__name__)

HEALTH = "/health"
_PATH = re.compile(r"(?:/w/(?P<world>[^/]+))?(?:/(?P<server>[^/]+))?/(?P<end>mcp|sse|messages)/?")
MOST_CLIENTS = 4096
"""Paths and credentials whose checks are remembered."""

LONGEST_KEPT = 1024
"""Bytes of a host, an origin and a token together whose check is remembered."""

_HANDSHAKE = frozenset(version.encode() for version in HANDSHAKE_PROTOCOL_VERSIONS)
_WANTS_NOTIFICATIONS = re.compile(rb'"progressToken"|/logLevel"')


@frozen
class Limits:
    """At most `sessions` are open; one that is idle for `idle` seconds ends.

    Calls may continue for `grace` seconds after a signal to stop.
    """

    sessions: int = 2000
    idle: float = 300.0
    grace: float = 2.0


class HttpServer:
    """An ASGI application. `on_nameless` is called once, when a request first uses the default world.

    `worker` is this process, if it is one of several with the same port. `serves_older`: HTTP+SSE is served, too.
    """

    def __init__(
        self,
        scenario: Scenario,
        worlds: Worlds,
        access: Access,
        limits: Limits,
        on_nameless: Callable[[], None],
        worker: Worker | None = None,
        *,
        serves_older: bool = False,
    ) -> None:
        self._serves_older = serves_older
        self._auth = None if scenario.auth is None else _authorization(scenario, worlds)
        self._worlds, self._access, self._limits, self._worker = worlds, access, limits, worker
        self._on_nameless: Callable[[], None] | None = on_nameless
        self._servers = {
            name: Impersonation(scenario, name, self._world_of, _break_off, _splice, _exchange, _caller)
            for name in scenario.servers
        }
        self._bodies, self._turns = Bodies(), Turns()
        self._kept_principal = lru_cache(maxsize=MOST_CLIENTS)(self._checked_principal)
        self._target = lru_cache(maxsize=MOST_CLIENTS)(self._parsed_path)
        self._running = set[Exchange]()
        self._is_leaving = False

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[App]:
        """Yield the application, ready to be served."""
        async with anyio.create_task_group() as tasks, AsyncExitStack() as stack:
            new_id = (lambda: uuid4().hex) if self._worker is None else self._worker.new_session
            self._sessions = Sessions(tasks, self._limits.sessions, self._limits.idle, self._worlds.forget, new_id)
            self._older = OlderHttp(self._limits.sessions, self._worlds.forget, new_id)
            self._plain = {name: await _modern(stack, server, True) for name, server in self._servers.items()}
            self._streaming = {name: await _modern(stack, server, False) for name, server in self._servers.items()}
            yield self
            tasks.cancel_scope.cancel()

    def leave(self) -> None:
        """Refuse new requests and end streams. Running calls may finish within the grace period."""
        self._is_leaving = True
        asyncio.get_running_loop().call_later(self._limits.grace, self._end_requests)
        for exchange in tuple(self._running):
            if exchange.is_endless:
                exchange.abandon()

    def _end_requests(self) -> None:
        for exchange in tuple(self._running):
            exchange.time_out()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == HEALTH:
            await self._report_health(scope, send)
            return
        headers = dict[bytes, bytes](scope["headers"])
        origin = headers.get(b"origin")
        if origin is not None and self._access.is_allowed_page(origin, headers.get(b"host")):
            send = readable_by(origin, send)
            if is_preflight(scope["method"], headers):
                await respond(send, 200, preflight_headers(headers), b"")
                return
        try:
            await self._answer(scope, receive, headers, send)
        except Refusal as refusal:
            logger.warning("refused %s %s: %d, %s", scope["method"], scope["path"], refusal.status, refusal.reason)
            await refusal.send(send)
        except Exception:
            logger.exception("a request failed: %s %s", scope["method"], scope["path"])
            exchange: Exchange | None = scope.get(EXCHANGE)
            if exchange is None or not exchange.has_begun:
                await Refusal(500, INTERNAL_ERROR, "Internal error").send(send)
            else:
                scope["extensions"][CONNECTION]["close"]()

    async def _report_health(self, scope: Scope, send: Send) -> None:
        """Answer 200 while the server serves, 503 while it ends. It needs no token and shows nothing else."""
        if scope["method"] not in ("GET", "HEAD"):
            await respond(send, 405, [(b"allow", b"GET, HEAD")], b"")
            return
        status, word = (503, b"ending") if self._is_leaving else (200, b"ok")
        headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
        await respond(send, status, headers, b'{"status":"%b"}' % word)

    async def _answer(self, scope: Scope, receive: Receive, headers: Mapping[bytes, bytes], send: Send) -> None:
        """Check a request and pass it to its server."""
        if self._auth is not None and self._auth.has(scope["path"]):
            self._principal(headers.get(b"host"), headers.get(b"origin"), None)
            await self._auth.answer(scope, await self._bodies.whole(receive), send)
            return
        addressee = self._addressee(scope["path"], scope["query_string"], scope["headers"], headers)
        token = None if self._auth is None else await self._log_in(self._auth, scope, headers, addressee)
        body = await self._bodies.whole(receive)
        if self._auth is not None and token is not None:
            try:
                body = self._auth.take_call(token, scope, body)  # without tokens
            finally:
                await self._note_events(self._auth, addressee.names)
        exchange = Exchange(scope, receive, send, body, addressee.names)
        self._running.add(exchange)
        try:
            # Before its turn: turns are shared by the requests that this process works on.
            if addressee.is_clear and await self._pass_on(exchange, addressee, send):
                return
            exchange.turn = await self._next_turn(exchange)
            check_values(exchange.body)
            check_message(exchange.body)
            # Else the body names the world. It is parsed only now, after its values were counted.
            if addressee.is_clear or not await self._pass_on(exchange, addressee, send):
                await self._answer_here(exchange, addressee, headers, send)
        finally:
            self._running.discard(exchange)
            if exchange.turn is not None:
                exchange.turn.end()

    async def _log_in(
        self, auth: Authorization, scope: Scope, headers: Mapping[bytes, bytes], addressee: Addressee
    ) -> Token:
        """Return the token of a request, whose client becomes its principal. Raises `Refusal`."""
        try:
            token = auth.admitted(scope, headers.get(b"authorization"))
        except Refusal:
            await self._note_events(auth, addressee.names)
            raise
        addressee.names.principal = addressee.owner.principal = auth.name_of(token)
        return token

    async def _note_events(self, auth: Authorization, names: WorldNames) -> None:
        """Record what has happened to the tokens of a world, if it exists."""
        world = self._worlds.find(names.likely or DEFAULT)
        if world is None:
            return
        for name in filter(None, (names.path, names.principal)):
            events = auth.grants.take_events(name)
            if events:
                await world.note(events, AUTHORIZATION)

    async def _next_turn(self, exchange: Exchange) -> Turn:
        """Wait for the turn of a request."""
        connection = exchange.scope.get("extensions", {}).get(CONNECTION)
        has_more = connection is not None and connection["has_more"]()
        flow = exchange.names.likely if self._is_known(exchange.names) else NEWCOMERS
        # Sixteen bodies of 4 MB that began in one round kept another world waiting for 570 ms.
        if len(exchange.body) >= LONG:
            await self._turns.await_round()
        return await self._turns.next(flow, is_patient=has_more)

    async def _answer_here(
        self, exchange: Exchange, addressee: Addressee, headers: Mapping[bytes, bytes], send: Send
    ) -> None:
        """Pass a request to its server, and its answer to the client. Raises `Refusal`."""
        scope = exchange.scope
        if addressee.end != "mcp":
            session = addressee.names.session or ""
            if addressee.end == STREAM:
                await self._older.open(exchange, self._servers[addressee.server], addressee.owner, session)
            else:
                await self._older.take(exchange, addressee.owner, session)
            return
        may_be_plain = scope["method"] == "POST" and not exchange.is_unanswered
        plain = self._answer_plain(addressee, scope["headers"], headers, exchange.body) if may_be_plain else None
        if plain is not None:
            del scope[EXCHANGE]
            await respond(send, 200, *plain)
            return
        batch = None if addressee.is_modern else batch_of(exchange.body)
        if batch is not None:
            await answer_batch(batch, exchange, addressee.owner, self._sessions, self._running)
        elif addressee.is_modern:
            await exchange.answer_with(self._modern(exchange, addressee.server, headers))
            del scope[EXCHANGE]  # breaks a reference cycle; only sessions need it later
        else:
            exchange.is_endless = exchange.scope["method"] == "GET"
            session = exchange.names.session
            if session is None:
                await self._sessions.open_and_answer(exchange, self._servers[addressee.owner.server], addressee.owner)
            else:
                await self._sessions.answer(exchange, session, addressee.owner)
        if exchange.is_unanswered:
            raise _leaving()

    async def _pass_on(self, exchange: Exchange, addressee: Addressee, send: Send) -> bool:
        """Pass a request with its connection to the worker that has its world, unless this process has it.

        Raises `Refusal` if that worker takes no more.
        """
        world = None if self._worker is None else addressee.deciding_world(exchange.body)
        if world is None or self._worker is None or self._worker.has(world):
            return False
        if not self._worker.has_room(world):
            raise Refusal(503, INTERNAL_ERROR, "Too many requests", reason="the worker of this world is busy")
        detached = await exchange.scope["extensions"][CONNECTION]["detach"](exchange.scope, exchange.body)
        if detached is not None:
            self._worker.pass_on(detached, world)
        await respond(send, 200, [], b"")  # goes nowhere; uvicorn expects an answer
        return True

    def answer_at_once(self, url: bytes, headers: Sequence[tuple[bytes, bytes]], body: bytes) -> bytes | None:
        """Return the response to a POST request for a plain call in an existing world, if it needs no wait.

        None if the application has to answer it, as it does with whatever is to be refused. Then nothing has happened.
        """
        # Where a long body is refused, or waits, its values would be counted twice.
        if self._auth is not None or len(body) >= LONG:
            return None
        path, _, query = url.partition(b"?")
        table = dict(headers)
        # Such paths must be decoded first, which the application does. It also lets pages read what they may.
        if b"%" in path or b"#" in url or not path.isascii() or b"origin" in table:
            return None
        try:
            addressee = self._addressee(path.decode(), query, headers, table)
            check_values(body)
        except Refusal:
            return None
        if addressee.end != "mcp" or not self._is_known(addressee.names) or not self._turns.take_brief():
            return None
        plain = self._answer_plain(addressee, headers, table, body)
        return None if plain is None else whole_response(*plain)

    def _answer_plain(
        self, addressee: Addressee, headers: Sequence[tuple[bytes, bytes]], table: Mapping[bytes, bytes], body: bytes
    ) -> tuple[list[tuple[bytes, bytes]], bytes] | None:
        """Return the headers and the body of the response to a plain call, if it needs no wait; else None."""
        is_modern, names, server = addressee.is_modern, addressee.names, self._servers[addressee.server]
        call = None if len(table) < len(headers) else parse_plain_call(table, body, is_modern=is_modern)
        if call is None:
            return None
        connection = None
        if not is_modern:
            connection = None if names.session is None else self._sessions.connection(names.session, addressee.owner)
            if connection is None:
                return None
        try:
            world = self._world(names, call.params)
        except Exception:  # noqa: BLE001 (it occurs again where it is reported)
            return None
        kinds = response_headers(None if is_modern else names.session)
        try:
            result = server.call_at_once(world, call.name, call.arguments, names.principal or "", connection)
        except MCPError as error:
            return kinds, error_body(call, error, is_modern=is_modern)
        return None if result is None else (kinds, response_body(call, result, is_modern=is_modern))

    def _addressee(
        self, path: str, query: bytes, headers: Sequence[tuple[bytes, bytes]], table: Mapping[bytes, bytes]
    ) -> Addressee:
        """Return where a request belongs. Raises `Refusal` for one that is not admitted, or that belongs nowhere."""
        if len(table) < len(headers):
            check_single(headers)
        if self._is_leaving:
            raise _leaving()
        principal = self._principal(table.get(b"host"), table.get(b"origin"), table.get(b"authorization"))
        world, server, end = self._target(path)
        try:
            if world is not None:
                self._worlds.check(world)
        except WorldUnavailable as error:
            status, code = (503, INTERNAL_ERROR) if error.is_full else (404, INVALID_REQUEST)
            hint = "" if error.is_full else "; with --worlds declared, only those of --world exist"
            raise Refusal(status, code, str(error), reason=f"{error}{hint}") from None
        session, version = table.get(b"mcp-session-id"), table.get(b"mcp-protocol-version")
        is_modern = version is not None and version not in _HANDSHAKE and end == "mcp"
        session_id = None if is_modern or session is None else session.decode("latin-1")
        if end == STREAM:
            session_id = self._older.new_id()
        elif end == MESSAGES:
            session_id = next(iter(parse_qs(query.decode("latin-1")).get(SESSION, [])), "")
        names = WorldNames(world, explicit_names(query, headers), session_id, principal)
        bound = world if self._worker is None else world or next(iter(names.explicit), None)
        return Addressee(SessionOwner(server, bound, principal), names, is_modern, end)

    def _is_known(self, names: WorldNames) -> bool:
        """Whether the session of a request is open, or its world exists."""
        if names.session is not None:
            return names.session in self._sessions or names.session in self._older
        return (names.likely or DEFAULT) in self._worlds

    def _modern(self, exchange: Exchange, server: str, headers: Mapping[bytes, bytes]) -> App:
        """Return the application for a request without a session: a streaming one only if it may send notifications."""
        if b'"subscriptions/listen"' in exchange.body:
            exchange.is_endless = True
        takes_streams = b"text/event-stream" in headers.get(b"accept", b"") or b"*/*" in headers.get(b"accept", b"")
        # A stream costs more than a plain answer, so that it is opened only for requests that may use it.
        if takes_streams and _WANTS_NOTIFICATIONS.search(exchange.body):
            return self._streaming[server].handle_request
        exchange.takes_results = True
        return self._plain[server].handle_request

    def _principal(self, *credentials: bytes | None) -> str | None:
        """Return the world of the bearer token, if any. Raises `Refusal` for clients that are not admitted."""
        # The cache holds its keys: 4,096 heads of 64 KiB would hold 256 MiB.
        is_short = sum(map(len, filter(None, credentials))) <= LONGEST_KEPT
        return (self._kept_principal if is_short else self._checked_principal)(*credentials)

    def _checked_principal(self, host: bytes | None, origin: bytes | None, authorization: bytes | None) -> str | None:
        """Return the world of the bearer token, if any. Raises `Refusal` for clients that are not admitted."""
        self._access.check_names(host, origin)
        return None if self._auth is not None else self._access.principal(authorization)

    def _parsed_path(self, path: str) -> tuple[str | None, str, str]:
        """Return the world in a path, if any, the server, and the path's end. Raises `Refusal` for an unknown path."""
        match = _PATH.fullmatch(path)
        if match and match["end"] != "mcp" and not self._serves_older:
            raise Refusal(404, INVALID_REQUEST, "Not found", reason="HTTP+SSE is served with --sse only")
        name = match["server"] if match else None
        if match and name is None and len(self._servers) == 1:
            name = next(iter(self._servers))
        if not match or name not in self._servers or (match["world"] is not None and not is_name(match["world"])):
            paths = "/w/WORLD/mcp" if len(self._servers) == 1 else f"/w/WORLD/{{{','.join(self._servers)}}}/mcp"
            raise Refusal(404, INVALID_REQUEST, "Not found", reason=f"the paths of this server are {paths}")
        return match["world"], name, match["end"]

    async def _world_of(self, ctx: Context) -> World:
        return self._world(_exchange(ctx).names, ctx.params)

    def _world(self, names: WorldNames, params: Mapping[str, Any] | None) -> World:
        """Return the world of a request. Raises `MCPError` if it names an unknown one."""
        name = names.world(params)
        # The other world may be in another process, and the session cannot move there.
        if self._worker is not None and names.session is not None and name != names.likely:
            raise MCPError(INVALID_PARAMS, "The request names another world than its session")
        if name is None:
            name = DEFAULT
            if self._on_nameless is not None:
                self._on_nameless()
                self._on_nameless = None
        try:
            return self._worlds.get(name)
        except WorldUnavailable as error:
            raise MCPError(INTERNAL_ERROR if error.is_full else INVALID_PARAMS, str(error)) from None


def _authorization(scenario: Scenario, worlds: Worlds) -> Authorization:
    from mcp_sim.server.oauth.service import Authorization  # noqa: PLC0415 (only scenarios with `auth` need it)

    assert scenario.auth is not None

    def now(name: str) -> datetime:
        world = worlds.find(name)
        return scenario.now if world is None else world.now

    return Authorization(scenario.auth, now)


async def _modern(stack: AsyncExitStack, server: Impersonation, as_json: bool) -> StreamableHTTPSessionManager:
    """Open the SDK's session manager for requests without a session."""
    manager = StreamableHTTPSessionManager(server, json_response=as_json, stateless=True)
    await stack.enter_async_context(manager.run())
    return manager


def _leaving() -> Refusal:
    return Refusal(503, INTERNAL_ERROR, LEAVING, {"connection": "close"})


async def _break_off(ctx: Context, broken: BrokenDelivery) -> None:
    await _exchange(ctx).break_off(broken)


def _splice(ctx: Context) -> Callable[[bytes], None] | None:
    exchange = _exchange(ctx)
    return exchange.take_result if exchange.takes_results else None


def _caller(ctx: Context) -> str:
    """Return the principal of the token that a request presented; '' without tokens."""
    return _exchange(ctx).names.principal or ""


def _exchange(ctx: Context) -> Exchange:
    """Return the HTTP exchange of a protocol message."""
    assert ctx.request is not None
    return ctx.request.scope[EXCHANGE]
