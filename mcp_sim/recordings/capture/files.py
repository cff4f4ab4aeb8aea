"""Read recorded traffic from files: HAR, as browsers and HTTP proxies write it, and JSON-RPC messages, a line each."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from mcp_sim.recordings.capture.conversation import Conversation, Side, iso
from mcp_sim.recordings.capture.folder import Folder
from mcp_sim.recordings.capture.parsing import Lines, Parsed
from mcp_sim.types import Json, Record, as_list, as_object, canonical

Event: TypeAlias = tuple[float, int, str, Any]
"""Time, number of the exchange, kind and data: what `HttpRecorder` takes."""


LONGEST = 1e9  # milliseconds that an exchange can take; a longer time is wrong

_EVENT = re.compile(rb"\s*(?::|(?:event|data|id|retry):)")
"""The beginning of a stream of events, which no JSON has."""

LATEST = 4e9  # the latest time of an exchange, in seconds since 1970; a later one is wrong


def is_har(value: Json) -> bool:
    return isinstance(as_object(as_object(value).get("log")).get("entries"), list)


def har_events(value: Json) -> list[Event]:
    """Return what happened in the exchanges that carry JSON-RPC, in the order of time."""
    entries = [as_object(entry) for entry in as_list(as_object(value)["log"]["entries"])]
    events = [event for number, entry in enumerate(entries) for event in _events(number, entry)]
    return sorted(events, key=lambda event: event[0])


def by_url(value: Json) -> dict[str, Json]:
    """Return a HAR file for each URL, without its query, that exchanges with JSON-RPC have: a server each."""
    entries = [as_object(entry) for entry in as_list(as_object(value)["log"]["entries"])]
    urls = dict.fromkeys(_url(entry) for entry in entries if _body(entry) is not None)
    return {url: {"log": {"entries": [entry for entry in entries if _url(entry) == url]}} for url in urls}


def without_bodies(value: Json) -> tuple[int, int]:
    """Return how many answers with JSON-RPC the exchanges must have, and of how many the file has no body."""
    contents = [
        as_object(as_object(entry.get("response")).get("content"))
        for entry in map(as_object, as_list(as_object(value)["log"]["entries"]))
        if b'"id"' in (_body(entry) or b"")
    ]
    return len(contents), sum("text" not in content for content in contents)


def _url(entry: Record) -> str:
    return str(as_object(entry.get("request")).get("url", "")).partition("?")[0]


def _events(number: int, entry: Record) -> Iterator[Event]:
    request, response = as_object(entry.get("request")), as_object(entry.get("response"))
    body = _body(entry)
    if body is None and request.get("method") != "DELETE":
        return
    start = _seconds(str(entry.get("startedDateTime")))
    took = entry.get("time")
    end = start + (took / 1000 if isinstance(took, int | float) and 0 < took < LONGEST else 0.0)
    head = {
        "method": str(request.get("method")),
        "path": str(request.get("url", "")),
        "headers": _headers(request),
        "peer": ("har", str(entry.get("connection", ""))),
    }
    yield start, number, "request", head
    yield start, number, "client", body or b""
    yield start, number, "asked", None
    status = response.get("status")
    answer = _content(as_object(response.get("content")))
    headers = _headers(response)
    if _EVENT.match(answer):  # browsers leave headers out, and proxies write `text/plain`
        headers.append((b"content-type", b"text/event-stream"))
    yield end, number, "response", {"status": status if isinstance(status, int) else 0, "headers": headers}
    yield end, number, "server", answer
    yield end, number, "done", None


def _body(entry: Record) -> bytes | None:
    """Return the body of a request that carries JSON-RPC, else None."""
    text = as_object(as_object(entry.get("request")).get("postData")).get("text")
    return text.encode() if isinstance(text, str) and '"jsonrpc"' in text else None


def _headers(side: Record) -> list[tuple[bytes, bytes]]:
    """Return the headers of a request or response, but for the compression, which a HAR file undoes."""
    headers = [
        (str(as_object(header).get("name")).lower(), str(as_object(header).get("value")))
        for header in as_list(side.get("headers"))
    ]
    return [(name.encode(), value.encode()) for name, value in headers if name != "content-encoding"]


def _content(content: Record) -> bytes:
    text = content.get("text")
    if not isinstance(text, str):
        return b""
    if content.get("encoding") != "base64":
        return text.encode()
    try:
        return b64decode(text)
    except ValueError:
        return b""


def _seconds(text: str) -> float:
    try:
        return min(max(datetime.fromisoformat(text).timestamp(), 0.0), LATEST)
    except (ValueError, OverflowError):
        return 0.0


# JSON-RPC messages ----------------------------------------------------------------------------------------------------


ASKED_BY_SERVERS = frozenset({"sampling/createMessage", "roots/list", "elicitation/create"})


def is_message(value: Json) -> bool:
    """Whether a JSON value is a JSON-RPC message, or a batch of them."""
    messages = as_list(value) or [value]
    return all("jsonrpc" in as_object(message) for message in messages)


class MessagesRecorder:
    """Reads lines. Nothing in them says who sent a message: its method does, and for an answer, its request.

    The messages have no times: all have that of the file. A handshake begins a new session.
    """

    def __init__(self, folder: Folder, file: Path) -> None:
        self._folder = folder
        self._at = file.stat().st_mtime
        self._conversation: Conversation | None = None
        self._asked = set[str]()
        """The ids of the server's requests that are not answered yet."""

    def read(self, data: bytes) -> None:
        """Take all messages."""
        lines = Lines()
        for message in [*lines.feed(data), *lines.rest()]:
            self._take(message)
        if self._conversation is not None:
            self._conversation.end(self._at)

    def _take(self, parsed: Parsed) -> None:
        message = as_object((as_list(parsed.value) or [parsed.value])[0])
        begins = message.get("method") == "initialize"
        if self._conversation is None or begins:
            if self._conversation is not None:
                self._conversation.end(self._at)
            about = {"started": iso(self._at), "transport": "messages"}
            self._conversation = Conversation(self._folder, about)
        self._conversation.note(self._side(message), parsed, self._at)

    def _side(self, message: dict[str, Json]) -> Side:
        key = canonical(message.get("id"))
        if "method" in message:
            if message["method"] not in ASKED_BY_SERVERS:
                return "client"
            self._asked.add(key)
            return "server"
        if key in self._asked:
            self._asked.discard(key)
            return "client"
        return "server"
