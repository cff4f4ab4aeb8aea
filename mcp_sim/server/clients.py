"""The client of a request, for world models that pass requests on to a real server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from mcp_types import LOG_LEVEL_META_KEY

from mcp_sim.server.elicitation import send_question, supports
from mcp_sim.server.protocol import Context, is_modern
from mcp_sim.types import Record
from mcp_sim.types.call_results import own_meta
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.surface import Capability

IDEMPOTENCY_KEY = "mcp-sim/idempotency"

_OURS = frozenset({"progressToken", IDEMPOTENCY_KEY})
"""The keys of a request's `_meta` that are for this server."""

_NEEDS: dict[str, Capability] = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}


class CallingClient:
    """The client of one request: a `RequestingClient`.

    `send` delivers a notification of the request. `level` is the log level of a connection with a handshake.
    """

    def __init__(self, ctx: Context, level: str, send: Callable[[Record], Awaitable[None]]) -> None:
        self._ctx, self._level, self._send = ctx, level, send
        self._params: Record = dict(ctx.params or {})
        self._meta: Record = as_object(self._params.get("_meta"))

    @property
    def meta(self) -> Record:
        return {name: value for name, value in (own_meta(self._meta) or {}).items() if name not in _OURS}

    @property
    def log_level(self) -> str | None:
        return self._meta.get(LOG_LEVEL_META_KEY) if self.is_asked_by_results else self._level

    @property
    def wants_progress(self) -> bool:
        return "progressToken" in self._meta

    @property
    def repeats(self) -> Record:
        names = ("inputResponses", "requestState")
        return {name: self._params[name] for name in names if self._params.get(name) is not None}

    @property
    def is_asked_by_results(self) -> bool:
        return is_modern(self._ctx.protocol_version)

    def can_answer(self, method: str, params: Record) -> bool:
        if method not in _NEEDS:
            return False
        needs: Capability = "elicitation.url" if params.get("mode") == "url" else _NEEDS[method]
        return supports(self._ctx.session.client_capabilities, needs)

    async def ask(self, method: str, params: Record) -> Record | None:
        return await send_question(self._ctx, method, params) if self.can_answer(method, params) else None

    async def notify(self, method: str, params: Record) -> None:
        await self._send({"method": method, "params": params})


STALE: Record = {"ttlMs": 0, "cacheScope": "private"}
"""What the contents of a resource have in the sessionless protocol, if nothing is known of how long they hold."""


def passed_on(answer: Record, version: str, stamp: Any) -> Record:
    """Return the result of a real server or a recording, in the protocol era of the client."""
    result = {name: value for name, value in as_object(answer["result"]).items() if name not in _OF_ERAS}
    meta = own_meta(as_object(answer["result"]).get("_meta")) or {}
    if is_modern(version):
        stale = STALE if "contents" in result else {}
        return {**stale, **result, "resultType": "complete", "_meta": {**meta, **stamp}}
    return {**result, **({"_meta": meta} if meta else {})}


_OF_ERAS = frozenset({"_meta", "resultType", "ttlMs", "cacheScope"})
"""The keys of results that one era of the protocol has, and the other does not."""
