"""JSON-RPC messages as lines of bytes, limited in length; invalid lines get an error as their answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import cast

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.json_values import decode, encode

LONGEST_LINE = 32 * 1024 * 1024
"""Longer messages, in bytes, are refused and not held in memory."""

CHUNK = 65536  # the capacity of a pipe on Linux: a larger one would not read more
ID_SEARCH_BYTES = 4096  # clients write the id near the beginning; a long line is not searched

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_ID = re.compile(rb'\s*:\s*(-?\d{1,18}(?![\d.eE])|"(?:[^"\\]|\\.)*")')


class Refused(Exception):
    """Raised for a line that is not a valid message. `answer` is the error to send."""

    def __init__(self, line: bytes, code: int, message: str) -> None:
        self.answer = JSONRPCError(jsonrpc="2.0", id=request_id(line), error=ErrorData(code=code, message=message))
        super().__init__(message)


def lines(read: Callable[[int], bytes], longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Yield lines without their ends, until `read` returns nothing. Lines longer than `longest` are cut."""
    parts, size = list[bytes](), 0
    while chunk := read(CHUNK):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield b"".join((*parts, end))
            parts, size = [], 0
        if size <= longest and rest:
            parts.append(rest)
            size += len(rest)
    if parts:
        yield b"".join(parts)


def parse_message(line: bytes) -> JSONRPCMessage:
    """Parse a line. Raises `Refused` for an invalid message or a batch."""
    if len(line) > LONGEST_LINE:
        raise Refused(line, INVALID_REQUEST, f"Message is longer than {LONGEST_LINE} bytes")
    try:
        body = decode(line)
        message = jsonrpc_message_adapter.validate_python(body, by_name=False)
    except ValidationError:
        raise Refused(line, INVALID_REQUEST, "Not a JSON-RPC 2.0 message") from None
    except ValueError as error:
        raise Refused(line, PARSE_ERROR, f"Parse error: {error}") from None
    if isinstance(message, JSONRPCNotification) and "id" in body:
        raise Refused(line, INVALID_REQUEST, "The id of a request is a string or a whole number")
    return message


class Batch:
    """The messages of a line that is a batch, which only protocol 2025-03-26 has, and the answers to them."""

    ERA = "2025-03-26"
    MOST_MESSAGES = 100
    """Messages of a batch. Each may be a call, and the answers to all are kept until the last one."""

    def __init__(self, line: bytes) -> None:
        """Raise `Refused` for a line that is not a batch."""
        try:
            bodies = as_list(decode(line))
        except ValueError as error:
            raise Refused(b"", PARSE_ERROR, f"Parse error: {error}") from None
        if not 0 < len(bodies) <= self.MOST_MESSAGES:
            raise Refused(b"", INVALID_REQUEST, f"A batch has 1 to {self.MOST_MESSAGES} messages")
        self.messages = list[JSONRPCMessage]()
        self._answers = list[JSONRPCMessage]()
        for body in bodies:
            try:
                self.messages.append(parse_message(encode(body)))
            except Refused as refused:
                self._answers.append(refused.answer)
        self.open = {message.id for message in self.messages if isinstance(message, JSONRPCRequest)}
        """The ids of the requests that are not answered yet."""

    @property
    def is_complete(self) -> bool:
        """Whether the answers can be sent."""
        return not self.open and bool(self._answers)

    def add(self, answer: JSONRPCResponse | JSONRPCError) -> None:
        self.open.discard(cast("RequestId", answer.id))
        self._answers.append(answer)

    def line(self) -> bytes:
        """Return the answers as a line, including its end."""
        return b"[%b]\n" % b",".join(encode_line(answer).rstrip() for answer in self._answers)


def encode_line(message: JSONRPCMessage) -> bytes:
    """Return a message as a line, including its end."""
    return encode(message.model_dump(by_alias=True, exclude_unset=True)) + b"\n"


def request_id(line: bytes) -> int | str | None:
    """Return the id of a message that cannot be parsed, so that its sender gets an answer; None if not found."""
    depth = 0
    for token in _TOKEN.finditer(line[:ID_SEARCH_BYTES]):
        sign = token[0]
        if sign in b"{[":
            depth += 1
        elif sign in b"}]":
            depth -= 1
        elif depth == 1 and sign == b'"id"' and (match := _ID.match(line, token.end())):
            try:
                return decode(match[1])
            except ValueError:
                return None
    return None
