"""Requests of web pages on other origins: preflights, and headers that let a page read an answer."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.server.exchange import Message, Send

_EXPOSED = b"mcp-session-id, mcp-protocol-version, www-authenticate, retry-after"
"""Headers of answers that clients in browsers need."""
_METHODS = b"GET, POST, DELETE, OPTIONS"
_SECONDS = b"600"
"""Seconds that a browser remembers a preflight: Chromium allows 7,200, and a restarted server may allow less."""
_REQUESTED, _NEAR = b"access-control-request-headers", b"access-control-request-private-network"


def is_preflight(method: str, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser asks whether a page may send a request."""
    return method == "OPTIONS" and b"access-control-request-method" in headers


def preflight_headers(headers: Mapping[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """Return what allows the request that a preflight announces, with the headers that it names."""
    allowed = [(b"access-control-allow-methods", _METHODS), (b"access-control-max-age", _SECONDS)]
    if _REQUESTED in headers:
        allowed.append((b"access-control-allow-headers", headers[_REQUESTED]))
    if _NEAR in headers:  # a page of the Internet asks for a server on this machine
        allowed.append((b"access-control-allow-private-network", b"true"))
    return allowed


def readable_by(origin: bytes, send: Send) -> Send:
    """Return a `send` whose responses the pages of an origin may read."""
    added = [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", _EXPOSED),
        (b"vary", b"origin"),
    ]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return sending
