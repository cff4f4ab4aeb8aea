"""The routes of the authorization server, and the check of tokens."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from html import escape
from importlib.resources import files
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from mcp.server.auth.handlers.authorize import AuthorizationHandler
from mcp.server.auth.handlers.register import RegistrationHandler
from mcp.server.auth.handlers.token import TokenHandler
from mcp.server.auth.middleware.client_auth import AuthenticationError, ClientAuthenticator
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp_types import INVALID_REQUEST
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from mcp_sim.server.exchange import Receive, Refusal, Scope, Send, check_values
from mcp_sim.server.oauth.grants import Grants, Reason, Token
from mcp_sim.server.oauth.provider import Provider
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import decode, encode
from mcp_sim.types.oauth import OAuth
from mcp_sim.types.readable import readable

RESOURCE = "/.well-known/oauth-protected-resource"
SERVER = "/.well-known/oauth-authorization-server"
CONSENT = "/consent"
LONGEST_BODY = 65_536
"""Bytes of a body. A form takes hundreds of bytes, a registration at most a few thousand."""
NO_STORE = {"cache-control": "no-store"}
PAGE_HEADERS = {
    **NO_STORE,
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "x-frame-options": "DENY",
}

_WORLD = re.compile(r"/w/(?P<world>[^/]+)/")
_REASONS: Mapping[Reason, str] = {
    "unknown": "The access token is unknown",
    "expired": "The access token expired",
    "revoked": "The access token was revoked",
    "audience": "The access token is for another resource",
}

Route: TypeAlias = Callable[[Request], Awaitable[Response]]


class Authorization:
    """OAuth 2.1 in front of the servers of a scenario. `now` returns the time of a world."""

    def __init__(self, settings: OAuth, now: Callable[[str], datetime]) -> None:
        self.grants = Grants(settings, now)
        self._provider = Provider(self.grants, resource_of, CONSENT)
        authenticator = ClientAuthenticator(self._provider)
        self._authenticator = authenticator
        registration = ClientRegistrationOptions(enabled=True)
        self._routes: Mapping[tuple[str, str], Route] = {
            ("GET", SERVER): self._describe_server,
            ("GET", "/authorize"): AuthorizationHandler(self._provider).handle,
            ("POST", "/authorize"): AuthorizationHandler(self._provider).handle,
            ("POST", "/token"): TokenHandler(self._provider, authenticator).handle,
            ("POST", "/register"): RegistrationHandler(self._provider, registration).handle,
            ("POST", "/revoke"): self._revoke,
            ("GET", CONSENT): self._show_request,
            ("POST", CONSENT): self._decide,
        }

    # routes -----------------------------------------------------------------------------------------------------------

    def has(self, path: str) -> bool:
        """Whether a path is one of the authorization server's."""
        return path.startswith(RESOURCE) or any(path == route for _, route in self._routes)

    async def answer(self, scope: Scope, body: bytes, send: Send) -> None:
        """Answer a request for one of the paths. Raises `Refusal` for another method, a long body, a malformed form."""
        if len(body) > LONGEST_BODY:
            raise Refusal(413, INVALID_REQUEST, f"The body is longer than {LONGEST_BODY} bytes")
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        request = Request(scope, _whole(body))
        if scope["path"].startswith(RESOURCE) and method == "GET":
            response: Response = self._describe_resource(request)
        elif (method, scope["path"]) in self._routes:
            if request.headers.get("content-type", "").lower().startswith("multipart/"):
                # RFC 6749 knows one form alone. This one names a character set: some take minutes, or yield halves.
                raise Refusal(400, INVALID_REQUEST, "Malformed form")
            response = await self._routes[method, scope["path"]](request)
        else:
            raise Refusal(405, INVALID_REQUEST, "Method Not Allowed")
        await response(scope, _whole(b""), send)

    def _describe_resource(self, request: Request) -> Response:
        """Return the metadata of a protected resource (RFC 9728)."""
        base = base_of(request.scope)
        path = request.url.path.removeprefix(RESOURCE)
        about = {"resource": f"{base}{path}", "authorization_servers": [base], "bearer_methods_supported": ["header"]}
        return JSONResponse(about, headers=NO_STORE)

    async def _describe_server(self, request: Request) -> Response:
        """Return the metadata of the authorization server (RFC 8414)."""
        base = base_of(request.scope)
        ways = ["none", "client_secret_post", "client_secret_basic"]
        about: Record = {
            "issuer": base,
            "authorization_endpoint": f"{base}/authorize",
            "token_endpoint": f"{base}/token",
            "registration_endpoint": f"{base}/register",
            "revocation_endpoint": f"{base}/revoke",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ways,
            "revocation_endpoint_auth_methods_supported": ways,
        }
        return JSONResponse(about, headers=NO_STORE)

    async def _revoke(self, request: Request) -> Response:
        """Revoke a token of the client (RFC 7009)."""
        try:
            client = await self._authenticator.authenticate_request(request)
        except AuthenticationError as error:
            body = {"error": "invalid_client", "error_description": error.message}
            return JSONResponse(body, 401, headers=NO_STORE)
        form = await request.form()
        self.grants.revoke(str(form.get("token", "")), client.client_id)
        return Response(status_code=200, headers=NO_STORE)

    async def _show_request(self, request: Request) -> Response:
        number = request.query_params.get("request", "")
        waiting = self._provider.waiting(number)
        if waiting is None:
            return HTMLResponse("<p>This request is over.", 404, headers=PAGE_HEADERS)
        texts = {
            "client": waiting.client.client_name or "An unnamed client",
            "resource": waiting.params.resource or "this server",
            "back": str(waiting.params.redirect_uri),
            "number": number,
        }
        page = (
            files("mcp_sim.server.oauth")
            .joinpath("consent.html")
            .read_text(encoding="utf-8")
            .format(**{name: escape(readable(text)) for name, text in texts.items()})
        )
        return HTMLResponse(page, headers=PAGE_HEADERS)

    async def _decide(self, request: Request) -> Response:
        form = await request.form()
        where = self._provider.decide(str(form.get("request", "")), is_granted=form.get("decision") == "grant")
        if where is None:
            return HTMLResponse("<p>This request is over.", 404, headers=PAGE_HEADERS)
        return RedirectResponse(where, 302, headers=NO_STORE)

    # tokens -----------------------------------------------------------------------------------------------------------

    def admitted(self, scope: Scope, authorization: bytes | None) -> Token:
        """Return the token of a request. Raises `Refusal` if it grants no access."""
        scheme, _, text = (authorization or b"").partition(b" ")
        if scheme.lower() != b"bearer" or not text.strip():
            raise _unauthorized(scope, None)
        token = self.grants.access_token(text.strip().decode("latin-1"))
        reason = self.grants.why_refused(token, _resource_path(scope))
        if token is None or reason is not None:
            if token is not None:
                self.grants.note(token.grant.world, "refused", reason or "")
            raise _unauthorized(scope, reason)
        self._provider.used(token.grant.client)
        return token

    def name_of(self, token: Token) -> str:
        """Return the name of the client that has a token."""
        return self._provider.name_of(token.grant.client)

    def take_call(self, token: Token, scope: Scope, body: bytes) -> bytes:
        """Count the tool calls of a body, and return it without tokens. Raises `Refusal` if a fault refuses one.

        A body without calls may hold a token, too: clients of older protocols post what a user answers on its own.
        """
        body, calls = _calls_in(body)
        world = token.grant.world
        for _ in range(calls):
            reason = self.grants.count_call(token, world)
            if reason is not None:
                self.grants.note(world, "refused", reason)
                raise _unauthorized(scope, reason)
        return self.grants.withheld(body, world)


def _calls_in(body: bytes) -> tuple[bytes, int]:
    """Return a body without escapes, which could hide a token, and how many tool calls it has.

    Raises `Refusal` for one with too many values.
    """
    check_values(body)
    try:
        value = decode(body)
    except ValueError:
        return body, 0  # it is refused where it is answered
    messages = as_list(value) or [value]
    calls = sum(as_object(message).get("method") == "tools/call" for message in messages)
    return encode(value) if b"\\" in body else body, calls


def _unauthorized(scope: Scope, reason: Reason | None) -> Refusal:
    error = f'error="invalid_token", error_description="{_REASONS[reason]}", ' if reason else ""
    challenge = f'Bearer {error}resource_metadata="{base_of(scope)}{RESOURCE}{_resource_path(scope)}"'
    why = _REASONS[reason] if reason else "it has no access token"
    return Refusal(401, INVALID_REQUEST, "Unauthorized", {"www-authenticate": challenge}, reason=why)


def _resource_path(scope: Scope) -> str:
    """Return the path of the resource of a request. HTTP+SSE takes messages beside the stream, with its token."""
    return re.sub(r"/messages/?$", "/sse", scope["path"])


def resource_of(resource: str) -> tuple[str, str | None]:
    """Return the path of a resource and the world that it names. Raises `ValueError` for what is not a URL."""
    parts = urlsplit(resource)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.fragment:
        raise ValueError(resource)
    match = _WORLD.match(f"{parts.path}/")
    return parts.path or "/", None if match is None else match["world"]


def base_of(scope: Any) -> str:
    """Return the origin by which a client reaches this server."""
    host = next((value for name, value in scope["headers"] if name == b"host"), b"127.0.0.1")
    return f"{scope.get('scheme', 'http')}://{host.decode('latin-1')}"


def _whole(body: bytes) -> Receive:
    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
