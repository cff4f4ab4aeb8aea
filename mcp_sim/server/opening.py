"""The first messages of a client over stdio, answered before tools are planned and the SDK is imported.

Both take most of a start. A plain handshake or discovery, and the first list of tools, need neither. The SDK gets the
same messages afterwards, and its answers to them are dropped. Whatever is not certainly plain is left to it.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from mcp_sim.server.descriptors import AT_ONCE, write_ready
from mcp_sim.server.surface import handshake_listing, offers, page
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import decode, encode
from mcp_sim.types.scenario import Presented

SILENCE = 0.1
"""Seconds without a message after which the client waits for nothing, so that the SDK is imported meanwhile. A client
that sends its messages one after the other pauses less."""

CHUNK = 65536  # the capacity of a pipe on Linux: a larger one would not read more
SAFE_INTEGER = 2**53  # clients in JavaScript cannot tell apart larger integers

HANDSHAKES = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
"""Versions of the protocol with a handshake."""

SESSIONLESS = "2026-07-28"
META = "io.modelcontextprotocol/"

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
    """Answers the handshake or the discovery of a client, and its first list of tools, on two descriptors."""

    def __init__(self, source: int, target: int) -> None:
        self._source, self._target = source, target
        self.opened = Opened()
        """What has passed so far."""
        self._waiting, self._rest = list[bytes](), b""
        self._era: Literal["handshake", "sessionless"] | None = None
        self._is_over = False

    def answer(self, presented: Presented, silence: float = SILENCE) -> None:
        """Answer plain messages, until there is another one, or none for `silence` seconds.

        May be called again, once more is known of the server.
        """
        # Elsewhere no one can wait for pipes. The SDK checks icons, and knows which protocols have tasks.
        has_tasks = any("execution" in tool.definition for tool in presented.tools)
        self._is_over = self._is_over or not AT_ONCE or bool(presented.spec.icons) or has_tasks
        self._presented = presented
        with suppress(OSError):
            while not self._is_over and self._answer_waiting() and self._has_more(silence):
                silence = SILENCE  # a client that has written goes on

    def _has_more(self, silence: float) -> bool:
        """Read more lines. Return false if the client is silent."""
        if not select.select([self._source], [], [], silence)[0]:
            return False
        piece = os.read(self._source, CHUNK)
        self.opened.received += piece
        self.opened.has_ended = not piece
        *self._waiting, self._rest = (self._rest + piece).split(b"\n")
        self._is_over = not piece
        return True

    def _answer_waiting(self) -> bool:
        """Answer the lines that were read. Return false if a list has to wait until the tools are known."""
        while self._waiting:
            if not self._presented.is_final and _asks_for_tools(self._waiting[0]):
                return False
            if not self._answer_line(self._waiting.pop(0)):
                self._is_over = True
                return True
        self._is_over = len(self._rest) > CHUNK
        return True

    def _answer_line(self, line: bytes) -> bool:
        """Answer a message. Return false if it is not plain, or the last one that may be."""
        try:
            message = as_object(decode(line))
        except ValueError:
            return False
        if "id" not in message:
            initialized: Record = {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}}
            return self._era == "handshake" and {"params": {}, **message} == initialized
        number = message["id"]
        if not is_id(number) or number in self.opened.answered:
            return False
        try:
            result = self._result(message)
        except Exception:  # noqa: BLE001 (the SDK fails in the same way, and its failure is reported)
            return False
        if result is None:
            return False
        answer = encode({"jsonrpc": "2.0", "id": number, "result": result}) + b"\n"
        self.opened.unwritten = bytes(write_ready(self._target, memoryview(answer), SILENCE))
        self.opened.answered.add(number)
        return not self.opened.unwritten and message["method"] != "tools/list"

    def _result(self, message: Record) -> Record | None:
        """Return the result of a request; None if it is not plain."""
        whole: Record = {"params": {}, **message}
        method, params = message.get("method"), as_object(whole["params"])
        if whole != {"jsonrpc": "2.0", "id": message["id"], "method": method, "params": params}:
            return None
        if method == "initialize":
            return self._welcome(params)
        if self._era == "handshake":
            return self._list(handshake_listing) if method == "tools/list" and not params else None
        return self._sessionless(method, params)

    def _welcome(self, params: Record) -> Record | None:
        """Return the result of a handshake, as the SDK would write it."""
        version, client, able = (params.get(name) for name in ("protocolVersion", "clientInfo", "capabilities"))
        if len(params) > 3 or self._era is not None or not _is_plain_client(client, able):
            return None
        if not isinstance(version, str) or version not in HANDSHAKES:
            return None
        self._era = "handshake"
        information = dict(sorted(self._information.items()))  # as the SDK does in this era only
        return {**self._presentation, "protocolVersion": version, "serverInfo": information}

    def _sessionless(self, method: Json, params: Record) -> Record | None:
        """Return the result of a request that needs no handshake, as the SDK would write it."""
        meta = as_object(params.get("_meta"))
        version, client, able = (
            meta.get(META + name) for name in ("protocolVersion", "clientInfo", "clientCapabilities")
        )
        if len(params) > 1 or len(meta) > 3 or version != SESSIONLESS or not _is_plain_client(client, able):
            return None
        complete: Record = {"resultType": "complete"}
        ending: Record = {"ttlMs": 0, "_meta": {META + "serverInfo": self._information}}
        self._era = "sessionless"
        if method == "server/discover":
            supported = {"supportedVersions": [SESSIONLESS]}
            return {"cacheScope": "private", **self._presentation, **complete, **supported, **ending}
        if method == "tools/list":
            listed = self._list(lambda tools: [tool.definition for tool in tools])
            return {"cacheScope": "private", **complete, "tools": [], **ending, **listed}
        return None

    @property
    def _presentation(self) -> Record:
        spec, offered = self._presented.spec, {"tools", *offers(self._presented.spec, self._presented.interactions)}
        shown: Record = {"capabilities": {name: OFFERED[name] for name in OFFERED if name in offered}}
        return shown if spec.instructions is None else {**shown, "instructions": spec.instructions}

    @property
    def _information(self) -> Record:
        spec = self._presented.spec
        about = {
            "name": spec.name,
            "title": spec.title,
            "version": spec.version,
            "description": spec.description,
            "websiteUrl": spec.website,
        }
        return {name: text for name, text in about.items() if text is not None}

    def _list(self, listing: Callable[[Sequence[Tool]], list[Record]]) -> Record:
        return page("tools", listing(self._presented.tools), None, self._presented.spec.page_size)


def _asks_for_tools(line: bytes) -> bool:
    try:
        return as_object(decode(line)).get("method") == "tools/list"
    except ValueError:
        return False


def _is_plain_client(client: Json, able: Json) -> bool:
    """Whether the SDK would accept what a client says of itself."""
    about, capabilities = as_object(client), as_object(able)
    return (
        client == about
        and able == capabilities
        and {"name", "version"} <= about.keys() <= CLIENT_TEXTS
        and all(isinstance(text, str) for text in about.values())
        and capabilities.keys() <= CAPABILITIES
        and all(_is_plain_capability(each) for each in capabilities.values())
    )


def _is_plain_capability(about: Json) -> bool:
    return isinstance(about, dict) and all(
        isinstance(value, bool) if name == "listChanged" else value == {} for name, value in as_object(about).items()
    )


def is_id(number: Any) -> bool:
    """Whether a value is an id of a request that JSON texts of all parsers have in common."""
    return isinstance(number, str) or (type(number) is int and -SAFE_INTEGER < number < SAFE_INTEGER)
