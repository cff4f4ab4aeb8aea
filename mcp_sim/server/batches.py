"""Batches of messages over HTTP, which only protocol 2025-03-26 has."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_types import INVALID_REQUEST

from mcp_sim.server.event_streams import HEADERS, event
from mcp_sim.server.exchange import Exchange, Message, Refusal, Send, respond
from mcp_sim.server.lines import Batch
from mcp_sim.server.sessions import SessionOwner, Sessions
from mcp_sim.types import Json
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import decode, encode


def batch_of(body: bytes) -> list[Json] | None:
    """Return the messages of a batch, or None. Raises `Refusal` for one that no protocol allows."""
    if not body.lstrip().startswith(b"["):
        return None
    try:
        messages = as_list(decode(body))
    except ValueError:
        return None  # its error is that of other bodies
    if not messages or len(messages) > Batch.MOST_MESSAGES:
        raise _refused(f"A batch has 1 to {Batch.MOST_MESSAGES} messages")
    if any(as_object(message).get("method") == "initialize" for message in messages):
        raise _refused("A batch holds no handshake")
    return messages


async def answer_batch(
    messages: Sequence[Json], exchange: Exchange, owner: SessionOwner, sessions: Sessions, running: set[Exchange]
) -> None:
    """Answer the messages of a batch one after the other, with a list, or with events where answers are events.

    The exchange of a message is one of the `running` meanwhile. Raises `Refusal` in sessions of other protocols.
    """
    session = exchange.names.session
    if session is None or sessions.version(session, owner) != Batch.ERA:
        raise _refused(f"Batches exist in protocol {Batch.ERA} only")
    answers = _Answers(exchange.send)
    for message in messages:
        single = Exchange(dict(exchange.scope), exchange.receive, answers.take, encode(message), exchange.names)
        running.add(single)
        try:
            await sessions.answer(single, session, owner)
        finally:
            running.discard(single)
        if not answers.are_complete:
            return
    await answers.finish()


class _Answers:
    """The answers to the messages of a batch. They are not complete if one of them was an HTTP error, or broken."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._bodies = list[bytes]()
        self._has_begun = self._is_stream = self._is_error = self.are_complete = False

    async def take(self, message: Message) -> None:
        """Take a part of the response to a single message."""
        if message["type"] == "http.response.start":
            self.are_complete = False
            kind = next((value for name, value in message["headers"] if name.lower() == b"content-type"), b"")
            self._is_stream = kind.startswith(b"text/event-stream")
            self._is_error = message["status"] >= 400 and not kind.startswith(b"application/json")
            if not self._has_begun and (self._is_stream or self._is_error):
                self._has_begun = True
                await self._send({**message, "headers": HEADERS} if self._is_stream else message)
            return
        body: bytes = message.get("body", b"")
        self.are_complete = not message.get("more_body") and not self._is_error
        if self._is_error:
            await self._send(message)
        elif self._is_stream:
            await self._send({"type": "http.response.body", "body": body, "more_body": True})
        elif body.strip() and self._has_begun:
            await self._send({"type": "http.response.body", "body": event(body), "more_body": True})
        elif body.strip():
            self._bodies.append(body)

    async def finish(self) -> None:
        """Send the list of answers, or the end of the events. Without requests, 202."""
        if self._has_begun:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        elif self._bodies:
            kinds = [(b"content-type", b"application/json")]
            await respond(self._send, 200, kinds, b"[%b]" % b",".join(self._bodies))
        else:
            await respond(self._send, 202, [], b"")


def _refused(message: str) -> Refusal:
    return Refusal(400, INVALID_REQUEST, message)
