"""Tool calls over HTTP that need nothing of the SDK: what they look like, and their responses.

The SDK parses and validates a request in several layers. A plain call is one that all of them would pass on unchanged.
Whatever is not certainly plain is left to the SDK, so that there is one implementation of every refusal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, cast

from mcp.server.streamable_http import check_accept_headers
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import InboundModernRoute, classify_inbound_request
from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY, JSONRPCError

from mcp_sim.server.access import WORLD_KEY
from mcp_sim.server.opening import is_id
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import decode, encode

METHOD = "tools/call"

_ENVELOPE_KEYS = {"jsonrpc", "id", "method", "params"}
_PARAMS_KEYS = frozenset({"name", "arguments", "_meta"})
_HANDSHAKE_META = frozenset({WORLD_KEY})
_MODERN_META = frozenset({WORLD_KEY, PROTOCOL_VERSION_META_KEY, CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY})
"""Keys that ask for nothing during the call, such as notifications of its progress."""

_ROUTING = (b"mcp-protocol-version", b"mcp-method", b"mcp-name")


@dataclass(slots=True)
class PlainCall:
    """A `tools/call` request that the SDK would pass on unchanged."""

    id: int | str
    params: Record

    @property
    def name(self) -> str:
        return self.params["name"]

    @property
    def arguments(self) -> Record:
        return self.params.get("arguments") or {}


def parse_plain_call(headers: Mapping[bytes, bytes], body: bytes, *, is_modern: bool) -> PlainCall | None:
    """Return the plain call of a POST request whose headers each occur once, or None."""
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip()
    if kind != b"application/json" or not _accepts_json(headers.get(b"accept", b"")):
        return None
    try:
        message = as_object(decode(body))
    except ValueError:
        return None
    if message.keys() != _ENVELOPE_KEYS or message["jsonrpc"] != "2.0" or message["method"] != METHOD:
        return None
    if not is_id(message["id"]) or not _has_plain_params(message["params"], is_modern=is_modern):
        return None
    params = message["params"]
    if is_modern:  # the headers must mirror the body
        version = params["_meta"].get(PROTOCOL_VERSION_META_KEY)
        routing = [headers.get(header) for header in _ROUTING]
        if not isinstance(version, str) or not _is_routed(version, params["name"], *routing):
            return None
    return PlainCall(message["id"], params)


def _has_plain_params(params: Any, *, is_modern: bool) -> bool:
    given = as_object(params)
    if given is not params or not given.keys() <= _PARAMS_KEYS:
        return False
    if not isinstance(given.get("name"), str) or not isinstance(given.get("arguments"), dict | None):
        return False
    meta = given.get("_meta", {})
    if not isinstance(meta, dict) or not meta.keys() <= (_MODERN_META if is_modern else _HANDSHAKE_META):
        return False
    return not is_modern or isinstance(cast("Record", meta).get(CLIENT_CAPABILITIES_META_KEY), dict)


@lru_cache(maxsize=256)
def _is_routed(version: str, name: str, *headers: bytes | None) -> bool:
    """Whether the SDK serves a call of a tool with these values of the `_ROUTING` headers."""
    meta: Record = {PROTOCOL_VERSION_META_KEY: version, CLIENT_CAPABILITIES_META_KEY: {}}
    mirrored = {key.decode(): (value or b"").decode("latin-1") for key, value in zip(_ROUTING, headers, strict=True)}
    body: Record = {"method": METHOD, "params": {"name": name, "_meta": meta}}
    return isinstance(classify_inbound_request(body, headers=mirrored), InboundModernRoute)


@lru_cache(maxsize=256)
def _accepts_json(accept: bytes) -> bool:
    request: Any = SimpleNamespace(headers={"accept": accept.decode("latin-1")})
    return check_accept_headers(request)[0]


def response_headers(session: str | None) -> list[tuple[bytes, bytes]]:
    """Return the headers of the response of the SDK, without the length of the body."""
    kind = (b"content-type", b"application/json")
    return [kind] if session is None else [kind, (b"mcp-session-id", session.encode())]


def whole_response(headers: list[tuple[bytes, bytes]], body: bytes) -> bytes:
    """Return the bytes of a successful response."""
    lines = b"".join([b"%b: %b\r\n" % header for header in headers])
    return b"HTTP/1.1 200 OK\r\n%bcontent-length: %d\r\n\r\n%b" % (lines, len(body), body)


def response_body(call: PlainCall, result: bytes, *, is_modern: bool) -> bytes:
    """Return the JSON-RPC response with an encoded result, as the SDK would write it."""
    number = json.dumps(call.id).encode() if is_modern and isinstance(call.id, str) else encode(call.id)
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (number, result)


def error_body(call: PlainCall, error: MCPError, *, is_modern: bool) -> bytes:
    """Return the JSON-RPC response with an error, as the SDK would write it."""
    message = JSONRPCError(jsonrpc="2.0", id=call.id, error=error.error)
    if not is_modern:
        return message.model_dump_json(by_alias=True, exclude_unset=True).encode()
    return json.dumps(message.model_dump(mode="json", by_alias=True, exclude_none=True), separators=(",", ":")).encode()
