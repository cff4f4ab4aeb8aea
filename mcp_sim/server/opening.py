"""The first messages of a client over stdio, answered before the SDK is imported, which takes half of a start.

A plain handshake and the first list of tools need nothing of the SDK. It gets the same messages afterwards, and its
answers to them are dropped. Whatever is not certainly plain is left to the SDK.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from mcp_sim.server.descriptors import AT_ONCE, write_ready
from mcp_sim.server.surface import handshake_listing, offers, page
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import decode, encode
from mcp_sim.types.scenario import ServerSpec
from mcp_sim.world.world import World

SILENCE = 0.1
"""Seconds without a message after which the client waits for nothing, so that the SDK is imported meanwhile."""

CHUNK = 65536
SAFE_INTEGER = 2**53

HANDSHAKES = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
"""Versions of the protocol with a handshake."""

CAPABILITIES = frozenset({"elicitation", "experimental", "roots", "sampling"})
CLIENT_TEXTS = frozenset({"name", "title", "version"})

OFFERED: Mapping[str, Record] = {
    "completions": {},
    "logging": {},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "tools": {"listChanged": True},
}
"""Capabilities of servers, in the order of the SDK."""


@dataclass(slots=True)
class Opened:
    """What has passed between a client and its server so far.

    `received` is all that was read. `answered` has the ids of the requests whose answers were sent, but for the bytes
    `unwritten`.
    """

    received: bytes = b""
    has_ended: bool = False
    answered: set[Any] = field(default_factory=set[Any])
    unwritten: bytes = b""

    def reader(self, source: int) -> Callable[[int], bytes]:
        """Return a function that reads all from the beginning, first what was received already."""
        before = [self.received] if self.received else []

        def read(size: int) -> bytes:
            if before:
                return before.pop()
            return b"" if self.has_ended else os.read(source, size)

        return read


class Opening:
    """Answers the handshake of a client and its first list of tools."""

    def __init__(self, world: World, server: str) -> None:
        self._world, self._server = world, server
        self._spec = world.scenario.servers[server]
        self._opened = Opened()
        self._is_welcomed = self._has_listed = False

    def answer(self, source: int, target: int) -> Opened:
        """Answer plain messages, until there is another one, or none for a moment. Return what has passed."""
        if AT_ONCE and not self._spec.icons:  # elsewhere no one can wait for pipes; the SDK checks icons
            with suppress(OSError):
                self._answer_lines(source, target)
        return self._opened

    def _answer_lines(self, source: int, target: int) -> None:
        opened, rest = self._opened, b""
        while select.select([source], [], [], SILENCE)[0]:
            piece = os.read(source, CHUNK)
            opened.received += piece
            opened.has_ended = not piece
            *lines, rest = (rest + piece).split(b"\n")
            if opened.has_ended or not all(self._answer_line(line, target) for line in lines) or len(rest) > CHUNK:
                return

    def _answer_line(self, line: bytes, target: int) -> bool:
        """Answer a message. Return false if it is not plain, or the last one that may be."""
        try:
            message = as_object(decode(line))
        except ValueError:
            return False
        if "id" not in message:
            return self._is_welcomed and _is_initialized(message)
        number = message["id"]
        if not _is_id(number) or number in self._opened.answered:
            return False
        try:
            result = self._result(message)
        except Exception:  # noqa: BLE001 (the SDK fails in the same way, and its failure is reported)
            return False
        if result is None:
            return False
        answer = encode({"jsonrpc": "2.0", "id": number, "result": result}) + b"\n"
        self._opened.unwritten = bytes(write_ready(target, memoryview(answer)))
        self._opened.answered.add(number)
        return not self._opened.unwritten and not self._has_listed

    def _result(self, message: Record) -> Record | None:
        """Return the result of a request; None if it is not plain."""
        params = as_object(message.get("params"))
        if message == {"jsonrpc": "2.0", "id": message["id"], "method": "initialize", "params": params}:
            if self._is_welcomed or not _is_plain_client(params):
                return None
            self._is_welcomed = True
            return _welcome(self._spec, offers(self._world.scenario, self._server), params["protocolVersion"])
        if not self._is_welcomed or {"params": {}, **message} != {
            "jsonrpc": "2.0",
            "id": message["id"],
            "method": "tools/list",
            "params": {},
        }:
            return None
        self._has_listed = True
        return page("tools", handshake_listing(self._world.catalogue(self._server)), None, self._spec.page_size)


def _welcome(spec: ServerSpec, offered: frozenset[str], version: str) -> Record:
    """Return the result of `initialize`, as the SDK would write it."""
    information = {
        "description": spec.description,
        "name": spec.name,
        "title": spec.title,
        "version": spec.version,
        "websiteUrl": spec.website,
    }
    result = {
        "capabilities": {name: about for name, about in OFFERED.items() if name == "tools" or name in offered},
        "instructions": spec.instructions,
        "protocolVersion": version,
        "serverInfo": {name: text for name, text in information.items() if text is not None},
    }
    return {name: part for name, part in result.items() if part is not None}


def _is_plain_client(params: Record) -> bool:
    """Whether the SDK would accept the params of a handshake, and its version."""
    client, able = as_object(params.get("clientInfo")), as_object(params.get("capabilities"))
    return (
        params == {"protocolVersion": params.get("protocolVersion"), "capabilities": able, "clientInfo": client}
        and isinstance(params["protocolVersion"], str)
        and params["protocolVersion"] in HANDSHAKES
        and {"name", "version"} <= client.keys() <= CLIENT_TEXTS
        and all(isinstance(text, str) for text in client.values())
        and able.keys() <= CAPABILITIES
        and all(_is_plain_capability(about) for about in able.values())
    )


def _is_plain_capability(about: Json) -> bool:
    return isinstance(about, dict) and all(
        isinstance(part, bool) if name == "listChanged" else part == {} for name, part in as_object(about).items()
    )


def _is_id(number: Any) -> bool:
    return isinstance(number, str) or (type(number) is int and -SAFE_INTEGER < number < SAFE_INTEGER)


def _is_initialized(message: Record) -> bool:
    return message in (
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}},
    )
