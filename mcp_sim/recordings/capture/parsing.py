"""Parse messages as they pass: lines of a pipe, events of a stream, whole bodies. All with a limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from pydantic_core import from_json

from mcp_sim.server.lines import request_id
from mcp_sim.types import Json, Record, decode, frozen

LONGEST = 4 * 1024 * 1024  # bytes of a message that are recorded; longer ones pass all the same

_LONGEST_FIELD = len("event:")  # bytes of a line of an event that are enough to know its field: `data` or `event`

_LONGEST_EVENT = 32  # bytes of the name of an event that are kept

TAIL = 256
"""Bytes at the end of a longer message that are searched for its id. Most servers write the id last or first; the
beginning is known."""


@frozen
class Parsed:
    """A message. If it is not whole, it is too long, and the rest is cut off.

    An event may name an `endpoint` instead: where clients of HTTP+SSE send their messages.
    """

    value: Json
    is_whole: bool
    size: int
    endpoint: str | None = None

    @property
    def has_messages(self) -> bool:
        """Whether it can be a message, or a batch of them."""
        return isinstance(self.value, dict | list)


class Piece:
    """A message as it arrives. Its beginning and its end are kept."""

    def __init__(self) -> None:
        self._head, self._tail = bytearray(), b""
        self.size = 0

    def add(self, data: bytes | memoryview) -> None:
        room = LONGEST - len(self._head)
        self._head += data[:room]
        if len(data) > room:
            self._tail = (self._tail + bytes(data[max(room, len(data) - TAIL) :]))[-TAIL:]
        self.size += len(data)

    def parsed(self) -> Parsed | None:
        """Return the message; its value is None if it is invalid. None for a blank one."""
        if self.size <= LONGEST:
            return parsed(bytes(self._head))
        return Parsed(_beginning(bytes(self._head), self._tail), is_whole=False, size=self.size)

    def text(self) -> str:
        """Return the beginning of what has come, as text."""
        return self._head.decode("utf-8", "replace")


def parsed(data: bytes) -> Parsed | None:
    """Parse a message; its value is None if it is invalid. None for a blank one."""
    if not data.strip():
        return None
    try:
        return Parsed(decode(data), is_whole=True, size=len(data))
    except ValueError:
        return Parsed(None, is_whole=True, size=len(data))


def _beginning(head: bytes, tail: bytes) -> Json:
    """Return the first part of a long message, with its id, which some write at its end."""
    try:
        value: Json = from_json(head, allow_partial="trailing-strings")
    except ValueError:
        return None
    if not isinstance(value, dict) or {"id", "method"} & cast("Record", value).keys():
        return cast("Json", value)
    at = tail.rfind(b'"id"')
    number = request_id(b"{" + tail[at:]) if at >= 0 else None
    event = cast("Record", value)
    return event if number is None else {**event, "id": number}


class Lines:
    """Splits what passes through a pipe into messages."""

    def __init__(self) -> None:
        self._piece = Piece()

    def feed(self, data: bytes) -> Iterator[Parsed]:
        """Yield the messages that are complete with these bytes."""
        view, at = memoryview(data), 0
        while (end := data.find(b"\n", at)) >= 0:
            self._piece.add(view[at:end])
            yield from self.rest()
            at = end + 1
        self._piece.add(view[at:])

    def rest(self) -> Iterator[Parsed]:
        remainder, self._piece = self._piece.parsed(), Piece()
        if remainder is not None:
            yield remainder


class Body:
    """A whole body, which is one message or a batch."""

    def __init__(self) -> None:
        self._piece = Piece()

    def feed(self, data: bytes) -> Iterator[Parsed]:
        """Take bytes. The message is complete at the end only."""
        self._piece.add(data)
        return iter(())

    def rest(self) -> Iterator[Parsed]:
        parsed = self._piece.parsed()
        return iter(() if parsed is None else (parsed,))


class Events:
    """Splits a stream of server-sent events into the messages in their data."""

    def __init__(self) -> None:
        self._data = Piece()
        self._event = b""
        self._start = b""
        self._field: str | None = None
        """The field of the current line; None until enough of it has come."""

    def feed(self, data: bytes) -> Iterator[Parsed]:
        """Yield the messages that are complete with these bytes."""
        *ends, last = data.split(b"\n")
        for chunk in ends:
            self._take(chunk)
            is_blank = self._field is None and not self._start.strip()
            if self._field is None:
                self._field, line = _split(self._start)
                self._add(line)
            if self._field == "data":
                self._data.add(b"\n")
            self._start, self._field = b"", None
            if is_blank:
                yield from self.rest()
        self._take(last)

    def rest(self) -> Iterator[Parsed]:
        event, data, self._event, self._data = self._event.strip(), self._data, b"", Piece()
        if event == b"endpoint":
            yield Parsed(None, is_whole=True, size=data.size, endpoint=data.text().strip())
        elif (remainder := data.parsed()) is not None:
            yield remainder

    def _take(self, chunk: bytes) -> None:
        if self._field is None:
            self._start += chunk
            if len(self._start) < _LONGEST_FIELD:
                return
            self._field, chunk = _split(self._start)
        self._add(chunk)

    def _add(self, chunk: bytes) -> None:
        if self._field == "data":
            self._data.add(chunk)
        elif self._field == "event":
            self._event = (self._event + chunk)[:_LONGEST_EVENT]


def _split(line: bytes) -> tuple[str, bytes]:
    """Return the field of a line, and what of its value has come."""
    name, sign, value = line.partition(b":")
    return name.decode("latin-1") if sign else "", value
