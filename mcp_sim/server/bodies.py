"""How does the body of a request arrive? Bounded: its size, its time, and what all of them hold together."""

from __future__ import annotations

import anyio
from mcp_types import INVALID_REQUEST

from mcp_sim.server.exchange import Receive
from mcp_sim.server.refusals import Refusal

LONGEST_BODY = 4 * 1024 * 1024
BODY_SECONDS = 30.0
"""How long a client may take to send a request."""

MOST_HELD = 64 * 1024 * 1024
"""Where unfinished bodies hold more, those that have been under way for longest are given up."""


class Bodies:
    """The bodies that are under way."""

    def __init__(self) -> None:
        self._sizes: dict[anyio.CancelScope, int] = {}
        self._held = 0

    async def whole(self, receive: Receive) -> bytes:
        """The body of one request. Raises Refusal for one that is too long, or that does not arrive in time."""
        message = await receive()
        if not message.get("more_body"):
            return message.get("body", b"")
        with anyio.move_on_after(BODY_SECONDS) as scope:
            self._sizes[scope] = 0
            try:
                return await self._rest(bytearray(message["body"]), receive, scope)
            finally:
                self._held -= self._sizes.pop(scope)
        raise Refusal(408, INVALID_REQUEST, "The request took too long to arrive", {"connection": "close"})

    async def _rest(self, body: bytearray, receive: Receive, scope: anyio.CancelScope) -> bytes:
        while len(body) <= LONGEST_BODY:
            self._hold(scope, len(body))
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refusal(400, INVALID_REQUEST, "The request did not arrive whole", {"connection": "close"})
            body += message.get("body", b"")
            if not message.get("more_body"):
                return bytes(body)
        raise Refusal(413, INVALID_REQUEST, "Request body too large", {"connection": "close"})

    def _hold(self, scope: anyio.CancelScope, size: int) -> None:
        self._held += size - self._sizes[scope]
        self._sizes[scope] = size
        if self._held > MOST_HELD:
            next(iter(self._sizes)).cancel()
