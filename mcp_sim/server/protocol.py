"""Observations and lists as results of MCP, as plain JSON for both protocol eras."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol, TypeAlias

from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcp_sim.server.surface import handshake_listing
from mcp_sim.types import BrokenDelivery, Json, Record, Tool, ToolResult
from mcp_sim.types.json_values import encode
from mcp_sim.world.world import World

Context: TypeAlias = ServerRequestContext[Any, Any]

WorldOf: TypeAlias = Callable[[Context], Awaitable[World]]
"""Returns the world of a request."""

Break: TypeAlias = Callable[[Context, BrokenDelivery], Awaitable[None]]
"""Breaks the delivery of an answer as the transport can. May return when no answer is to be sent."""

Splice: TypeAlias = Callable[[Context], Callable[[bytes], None] | None]
"""Returns a function that takes an encoded result, if the transport can insert it into an empty response."""


class Stages(Protocol):
    """The stages of a request that the end of the server treats differently."""

    def calling(self) -> AbstractContextManager[None]:
        """Enclose the call of a world, which the end of the server cancels. Raises `MCPError` if it did."""
        ...

    def delayed(self) -> AbstractContextManager[None]:
        """Enclose the delay of an answer that is certain, which the end of the server cuts short."""
        ...


class Uninterrupted:
    """The stages of requests whose transport ends them as a whole."""

    def calling(self) -> AbstractContextManager[None]:
        return nullcontext()

    def delayed(self) -> AbstractContextManager[None]:
        return nullcontext()


StagesOf: TypeAlias = Callable[[Context], Stages]
"""Returns the stages of a request."""

UNINTERRUPTED = Uninterrupted()


def is_modern(version: str) -> bool:
    """Whether a version is of the sessionless protocol, whose results may hold any JSON value."""
    return version in MODERN_PROTOCOL_VERSIONS


def call_result(body: ToolResult, version: str) -> Record:
    """Return a `tools/call` result.

    Protocols with a handshake allow only objects as structuredContent; other values are sent as text alone.
    """
    result: Record = {"content": body.content, "isError": body.is_error}
    value: Json = body.value
    if body.form == "structured" and (is_modern(version) or isinstance(value, dict)):
        result["structuredContent"] = body.value
    if body.meta is not None:
        result["_meta"] = body.meta
    if is_modern(version):
        result["resultType"] = "complete"
    return result


def call_result_bytes(body: ToolResult, version: str, meta: bytes) -> bytes:
    """Return a `tools/call` result as JSON, with `meta` as its `_meta` in the sessionless protocol.

    The value is not serialised again.
    """
    modern = is_modern(version)
    shown = body.form == "structured" and (modern or isinstance(body.value, dict))
    meta_bytes = b"" if body.meta is None else encode(body.meta)
    return b'{"content":%b,"isError":%b%b%b}' % (
        encode(body.content),
        b"true" if body.is_error else b"false",
        b',"structuredContent":%b' % body.encoded if shown else b"",
        b',"resultType":"complete","_meta":%b' % (b"%b,%b" % (meta[:-1], meta_bytes[1:]) if meta_bytes else meta)
        if modern
        else b',"_meta":%b' % meta_bytes
        if meta_bytes
        else b"",
    )


def listing(tools: Sequence[Tool], version: str) -> list[Record]:
    """Return tool definitions as captured, or as a handshake protocol allows them."""
    return [tool.definition for tool in tools] if is_modern(version) else handshake_listing(tools)
