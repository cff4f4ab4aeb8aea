"""Record the exchanges of clients with a server over HTTP: a session for each client."""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast
from urllib.parse import parse_qsl, urljoin

from mcp_sim.recordings.capture.conversation import Conversation, iso
from mcp_sim.recordings.capture.folder import Folder
from mcp_sim.recordings.capture.parsing import Body, Events, Piece
from mcp_sim.recordings.capture.redaction import Redactor
from mcp_sim.recordings.relays.backlog import warn
from mcp_sim.types import Record, as_list, as_object
from mcp_sim.types.urls import split_url

_MOST_WARNINGS = 100  # the most different warnings that are shown

MOST_CLIENTS = 5000
"""The most clients without an end that are kept apart; the session of the one that came first ends then. Clients
without a session id never say that they have left."""

_REDIRECTS = frozenset({301, 302, 303, 307, 308})

_UNAUTHORIZED = frozenset({401, 403})

_REFUSED = 300  # the lowest status of a response without an answer

Headers: TypeAlias = list[tuple[bytes, bytes]]


@dataclass(slots=True)
class _Exchange:
    """A request and its response."""

    method: str
    path: str
    headers: Mapping[bytes, bytes]
    peer: Any
    body: Piece = field(default_factory=Piece)
    conversation: Conversation | None = None
    endpoint: str | None = None
    """The path of the messages that are answered on a stream of HTTP+SSE: on this one, or for this message."""
    parser: Body | Events | None = None
    decoder: Any = None
    status: int = 0


class HttpRecorder:
    """Reads what happens in exchanges.

    A client is known by its session id. Without one it is known by its connection, or by address, user agent
    and authorization of its requests. A handshake or a discovery begins a new session.

    In the older HTTP+SSE a stream is a session: its first event names a path, and messages to it are answered on the
    stream.
    """

    def __init__(self, folder: Folder, redactor: Redactor | None, about: Record) -> None:
        self._folder, self._redactor, self._about = folder, redactor, about
        self._exchanges = dict[int, _Exchange]()
        self._by_key = OrderedDict[Any, Conversation]()
        self._by_endpoint = dict[str, Conversation]()
        self._warned = set[str]()

    def take(self, kind: str, channel: int, data: Any, at: float) -> None:
        """Take what happens in an exchange."""
        if kind == "request":
            headers = cast("Headers", data["headers"])
            self._exchanges[channel] = _Exchange(data["method"], data["path"], dict(headers), data["peer"])
            if self._redactor is not None:
                learn_request(self._redactor, data["path"], headers)
            return
        exchange = self._exchanges[channel]
        match kind:
            case "client":
                exchange.body.add(data)
            case "asked":
                self._asked(exchange, channel, at)
            case "response":
                self._respond(exchange, data)
            case "server":
                self._received(exchange, channel, data, at)
            case "late":
                self._warn("a request was given up, since the server sent nothing in time; --timeout sets the limit")
                if exchange.conversation is not None:
                    exchange.conversation.give_up(str(channel))
            case _:
                self._done(exchange, channel, at)

    def finish(self, at: float) -> None:
        """End all sessions."""
        for conversation in [*self._by_key.values(), *self._by_endpoint.values()]:
            conversation.end(at)

    # requests ---------------------------------------------------------------------------------------------------------

    def _asked(self, exchange: _Exchange, channel: int, at: float) -> None:
        """Take the messages in the body of a request."""
        parsed = exchange.body.parsed()
        if exchange.method == "POST" and exchange.path in self._by_endpoint:
            exchange.endpoint = exchange.path
        if exchange.method == "POST" and parsed is not None and parsed.has_messages:
            first = as_object(next(iter(as_list(parsed.value)), parsed.value))  # of a batch, its first message
            exchange.conversation = self._conversation(exchange, first, at)
            exchange.conversation.note("client", parsed, at, str(channel))
        elif exchange.method in {"GET", "DELETE"}:
            exchange.conversation = self._known(exchange)

    def _conversation(self, exchange: _Exchange, message: Record, at: float) -> Conversation:
        """Return the conversation of a request; a new one at the beginning of a session, and for unknown clients."""
        if exchange.endpoint is not None:
            return self._by_endpoint[exchange.endpoint]
        session = exchange.headers.get(b"mcp-session-id")
        begins = session is None and message.get("method") in {"initialize", "server/discover"}
        known = None if begins else self._known(exchange)
        conversation = known or self._new_conversation(at, "http")
        for key in _keys(exchange):
            self._by_key[key] = conversation
            self._by_key.move_to_end(key)
            while len(self._by_key) > MOST_CLIENTS:
                _, oldest = self._by_key.popitem(last=False)
                if oldest not in self._by_key.values():
                    oldest.end(at)
        return conversation

    def _new_conversation(self, at: float, transport: str) -> Conversation:
        return Conversation(self._folder, {"started": iso(at), "transport": transport, **self._about})

    def _known(self, exchange: _Exchange) -> Conversation | None:
        return next((self._by_key[key] for key in _keys(exchange) if key in self._by_key), None)

    # responses --------------------------------------------------------------------------------------------------------

    def _respond(self, exchange: _Exchange, head: Mapping[str, Any]) -> None:
        headers = dict(cast("Headers", head["headers"]))
        exchange.status = head["status"]
        if self._redactor is not None:
            for name, value in cast("Headers", head["headers"]):
                self._redactor.learn_header(name.decode("latin-1"), value.decode("latin-1").partition(";")[0])
        location = headers.get(b"location", b"").decode("latin-1") if exchange.status in _REDIRECTS else ""
        if _origin(location) is not None:
            self._warn(
                f"the server redirects to {_origin(location)}{split_url(location).path}, "
                "where nothing is recorded: give that URL to --url"
            )
        if exchange.status in _UNAUTHORIZED:
            self._warn(
                f"the server answers HTTP {exchange.status}: it needs an HTTP header of the client that authorizes"
            )
        session = headers.get(b"mcp-session-id")
        if session is not None and exchange.conversation is not None:
            self._by_key["session", session] = exchange.conversation
        exchange.parser = Events() if headers.get(b"content-type", b"").startswith(b"text/event-stream") else Body()
        encoding = headers.get(b"content-encoding", b"identity").strip().lower()
        if encoding in {b"gzip", b"x-gzip", b"deflate"}:
            exchange.decoder = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
        elif encoding != b"identity":
            exchange.parser = None
            self._warn(f"bodies compressed by {encoding.decode('latin-1')} are passed on, and cannot be recorded")

    def _received(self, exchange: _Exchange, channel: int, data: bytes, at: float) -> None:
        if exchange.parser is None or (exchange.conversation is None and not isinstance(exchange.parser, Events)):
            return
        try:
            plain = data if exchange.decoder is None else exchange.decoder.decompress(data)
        except zlib.error:
            exchange.parser = None
            return
        for message in exchange.parser.feed(plain):
            if message.endpoint is not None and exchange.method == "GET":
                # The session of a stream of HTTP+SSE, which is answered there.
                endpoint = message.endpoint
                if _origin(endpoint) is not None:
                    self._warn(f"the server sends its clients to {_origin(endpoint)}, where nothing is recorded")
                exchange.endpoint = exchange.path
                with suppress(ValueError):  # an endpoint that is not a URL: what its clients send there is never seen
                    exchange.endpoint = urljoin(exchange.path, endpoint.removeprefix(_origin(endpoint) or ""))
                exchange.conversation = self._new_conversation(at, "sse")
                self._by_endpoint[exchange.endpoint] = exchange.conversation
            elif exchange.conversation is not None:
                exchange.conversation.note("server", message, at, str(channel))

    def _warn(self, text: str) -> None:
        """Show a warning once, without secrets."""
        if text not in self._warned and len(self._warned) < _MOST_WARNINGS:
            self._warned.add(text)
            warn(text if self._redactor is None else str(self._redactor.redact(text, "warning")))

    def _done(self, exchange: _Exchange, channel: int, at: float) -> None:
        """Take the rest of a response. Without a session, or if it is refused, what is unanswered now stays so."""
        del self._exchanges[channel]
        conversation = exchange.conversation
        if conversation is None:
            return
        for message in exchange.parser.rest() if exchange.parser is not None else ():
            if message.has_messages:
                conversation.note("server", message, at, str(channel))
        session = exchange.headers.get(b"mcp-session-id")
        if exchange.endpoint is not None:
            if exchange.method == "GET":
                if self._by_endpoint.get(exchange.endpoint) is conversation:
                    del self._by_endpoint[exchange.endpoint]
                conversation.end(at)
            elif exchange.status >= _REFUSED:
                conversation.close(str(channel), exchange.status)
        elif session is None or exchange.status >= _REFUSED:
            conversation.close(str(channel), exchange.status)
        elif exchange.method == "DELETE" and exchange.status < _REFUSED:
            conversation.end(at)
            self._by_key.pop(("session", session), None)


def _origin(url: str) -> str | None:
    """Return the scheme, host and port of a URL. None if it is missing or invalid."""
    parts = split_url(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.netloc else None


def learn_request(redactor: Redactor, path: str, headers: Headers) -> None:
    """Learn the secrets in the headers and the query of a request."""
    for name, value in headers:
        redactor.learn_header(name.decode("latin-1"), value.decode("latin-1"))
    for name, value in parse_qsl(split_url(path).query):
        redactor.learn_header(name, value)


def _keys(exchange: _Exchange) -> list[Any]:
    """Return what identifies the client of a request, the surest first."""
    session = exchange.headers.get(b"mcp-session-id")
    if session is not None:
        return [("session", session)]
    host = exchange.peer[0] if exchange.peer else ""
    common = tuple(exchange.headers.get(name) for name in (b"user-agent", b"authorization"))
    return [("connection", tuple(exchange.peer or ())), ("client", host, *common)]
