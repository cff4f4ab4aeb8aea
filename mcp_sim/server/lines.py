"""How do bytes become JSON-RPC messages, one a line, and back? Bounded in memory; bad input gets an answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from mcp_sim.types.json_values import decode, encode

LONGEST_LINE = 32 * 1024 * 1024
"""A message of more bytes is refused, not held in memory."""

CHUNK = 65536
WHERE_AN_ID_STANDS = 4096

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\]]')
_ID = re.compile(rb'\s*:\s*(-?\d{1,18}(?![\d.eE])|"(?:[^"\\]|\\.)*")')


class Refused(Exception):
    """A line that is no message. `answer` is the error to send."""

    def __init__(self, line: bytes, code: int, message: str) -> None:
        self.answer = JSONRPCError(jsonrpc="2.0", id=request_id(line), error=ErrorData(code=code, message=message))
        super().__init__(message)


def lines(read: Callable[[int], bytes], longest: int = LONGEST_LINE) -> Iterator[bytes]:
    """Lines without their ends, until `read` gives nothing. Of a line longer than `longest` only the beginning."""
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


def parsed(line: bytes, longest: int = LONGEST_LINE) -> JSONRPCMessage:
    """The message of a line. Raises Refused; a batch is refused too, MCP has them no more."""
    if len(line) > longest:
        raise Refused(line, INVALID_REQUEST, f"Message is longer than {longest} bytes")
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


def written(message: JSONRPCMessage) -> bytes:
    """The line of a message, with its end."""
    return encode(message.model_dump(by_alias=True, exclude_unset=True)) + b"\n"


def request_id(line: bytes) -> int | str | None:
    """The id of a message that cannot be parsed, so that its sender does not wait for ever; None if it has none."""
    depth = 0
    for token in _TOKEN.finditer(line[:WHERE_AN_ID_STANDS]):
        sign = token[0]
        if sign in b"{[":
            depth += 1
        elif sign in b"}]":
            depth -= 1
        elif depth == 1 and sign == b'"id"' and (found := _ID.match(line, token.end())):
            return _decoded_id(found[1])
    return None


def _decoded_id(text: bytes) -> int | str | None:
    try:
        return decode(text)
    except ValueError:
        return None
