"""The control plane over HTTP: JSON in and out, and server-sent events."""

from __future__ import annotations

import inspect
import logging
from collections.abc import AsyncGenerator, Mapping
from functools import partial
from typing import Any

import anyio
from mcp_types import INVALID_REQUEST
from pydantic import BaseModel, TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from mcp_sim.server.access import Access
from mcp_sim.server.control.controls import Controls
from mcp_sim.server.control.errors import ControlError, of_model
from mcp_sim.server.control.following import Followed
from mcp_sim.server.control.models import ScreenQuery
from mcp_sim.server.control.operations import OPERATIONS, Operation, document
from mcp_sim.server.control.tokens import ControlToken
from mcp_sim.server.exchange import Bodies, Receive, Refusal, Scope, Send, check_values, replayed
from mcp_sim.types import Json
from mcp_sim.types.json_values import decode, encode, nests_deeper

logger = logging.getLogger(__name__)

DEEPEST = 64
"""The values of a request may nest this many levels. Deeper ones would exceed Python's recursion limit where they are
validated."""

MOST_STREAMS = 1000
"""The most ledgers that are followed at a time. Each holds a connection and a task as long as its reader likes."""

ALIVE_EVERY = 15
"""Seconds without an entry after which a stream sends a comment, so that both ends notice a broken connection. Proxies
close connections that are silent for a minute or less."""

_PAGE: Mapping[str, str] = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; sandbox",
    "x-content-type-options": "nosniff",
}
"""Headers of pages with texts from records: nothing in them runs, loads, is sent or leads anywhere."""

_STREAM: Mapping[str, Any] = {"media_type": "text/event-stream", "headers": {"cache-control": "no-store"}}


class ControlServer:
    """An ASGI application that exposes `Controls` to clients with the token."""

    def __init__(self, controls: Controls, access: Access, token: ControlToken) -> None:
        self._controls, self._access, self._token = controls, access, token
        self._bodies = Bodies()
        self._streams = 0
        self._left = anyio.Event()
        routes = [
            Route(operation.path, partial(self._run, operation), methods=[operation.method]) for operation in OPERATIONS
        ]
        shown = encode(document())

        def show(_request: Request) -> Response:
            return Response(shown, media_type="application/json")

        routes.append(Route("/openapi.json", show))
        handlers: Mapping[Any, Any] = {ControlError: _refused, HTTPException: _refused_by_router, Exception: _failed}
        self._app = Starlette(routes=routes, exception_handlers=handlers)
        self._app.router.redirect_slashes = False

    def leave(self) -> None:
        """End all streams."""
        self._left.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._admit(dict(scope["headers"]))
            body = await self._bodies.whole(receive)
            check_values(body)
        except Refusal as refusal:
            logger.warning("refused %s %s: %d, %s", scope["method"], scope["path"], refusal.status, refusal.reason)
            await _response(refusal.status, str(refusal), refusal.headers)(scope, receive, send)
            return
        try:
            await self._app(scope, replayed(body, receive), send)
        except Exception:  # Starlette has answered, unless the response had begun
            logger.exception("a request failed: %s %s", scope["method"], scope["path"])

    def _admit(self, headers: Mapping[bytes, bytes]) -> None:
        """Raise `Refusal` for requests of others."""
        self._access.check_names(headers.get(b"host"), headers.get(b"origin"))
        if not self._token.admits(headers.get(b"authorization")):
            reason = f"it has not the token of {self._token.source}"
            message = "the control plane needs its token: Authorization: Bearer TOKEN"
            raise Refusal(401, INVALID_REQUEST, message, {"www-authenticate": "Bearer"}, reason=reason)

    async def _run(self, operation: Operation, request: Request) -> Response:
        given = None if operation.takes is None else await _given(operation, operation.takes, request)
        asked = [*request.path_params.values(), *([] if given is None else [given])]
        result = operation.run(self._controls, *asked)
        if operation.streams:
            if self._streams >= MOST_STREAMS:
                raise ControlError(429, f"{MOST_STREAMS} ledgers are followed already, which is the most")
            is_head = request.method == "HEAD"
            return Response(**_STREAM) if is_head else StreamingResponse(self._events(result), **_STREAM)
        answer = await result if inspect.isawaitable(result) else result
        if operation.returns is None:
            return Response(status_code=operation.status)
        if operation.shows:
            kind = "text/plain" if isinstance(given, ScreenQuery) and given.form != "html" else "text/html"
            return Response(answer, operation.status, media_type=kind, headers=_PAGE)
        content = TypeAdapter(operation.returns).dump_json(answer)
        return Response(content, operation.status, media_type="application/json", headers={"cache-control": "no-store"})

    async def _events(self, entries: AsyncGenerator[Followed]) -> AsyncGenerator[bytes]:
        self._streams += 1
        try:
            yield b": the ledger\n\n"
            quiet = 0
            async for entry in entries:
                quiet = quiet + 1 if entry is None else 0
                if self._left.is_set():
                    return
                match entry:
                    case (number, line):
                        yield b"id: %d\nevent: entry\ndata: %b\n\n" % (number, line)
                    case int(number):
                        yield b'id: %d\nevent: gap\ndata: {"lost_up_to":%d}\n\n' % (number, number)
                    case None if quiet % ALIVE_EVERY == 0:
                        yield b": nothing new\n\n"
                    case None:
                        pass
            yield b"event: end\ndata: {}\n\n"
        finally:
            self._streams -= 1
            await entries.aclose()


async def _given(operation: Operation, model: type[BaseModel], request: Request) -> BaseModel:
    """Return the body or query of a request. Raises `ControlError` if it is invalid."""
    value: Json = dict(request.query_params) if operation.method == "GET" else await _json(request)
    if operation.streams and "last-event-id" in request.headers:
        value = {**value, "after": request.headers["last-event-id"]}
    try:
        return model.model_validate(value, strict=operation.method != "GET")  # a query has only text
    except ValidationError as error:
        raise of_model(error, value, model) from None


async def _json(request: Request) -> Json:
    body = await request.body()
    try:
        value: Json = decode(body) if body else {}
    except (ValueError, RecursionError) as error:
        raise ControlError(400, f"the body is not JSON: {error}") from None
    if nests_deeper(value, DEEPEST):
        raise ControlError(400, f"the body nests more than {DEEPEST} levels deep")
    return value


def _refused(_request: Request, error: ControlError) -> Response:
    return Response(error.body.model_dump_json(), error.status, media_type="application/json")


def _refused_by_router(_request: Request, error: HTTPException) -> Response:
    message = "no such path; GET /openapi.json lists them" if error.status_code == 404 else error.detail
    return _response(error.status_code, message, error.headers or {})


def _failed(_request: Request, _error: Exception) -> Response:
    return _response(500, "Internal error", {})


def _response(status: int, message: str, headers: Mapping[str, str]) -> Response:
    return JSONResponse({"error": {"message": message, "problems": []}}, status, headers=dict(headers))
