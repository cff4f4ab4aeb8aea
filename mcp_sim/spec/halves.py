"""Replace halves of characters in JSON that arrives over HTTP: the SDK's client takes no message with them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

from httpx2 import AsyncByteStream, Response

PLAIN = {"accept-encoding": "identity"}
"""A header that asks for bodies as they are: in a compressed one, no text can be replaced."""

_REPLACEMENT = rb"\ufffd"
_TOKENS = re.compile(
    rb"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?P<begun>\\(?:u[0-9a-fA-F]{0,3})?\Z|\\u[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?\Z)"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|\\.",
    re.DOTALL,
)
"""Escapes in JSON: a pair of halves, what may become one with the next bytes, half a character, any other one."""


async def mend(response: Response) -> None:
    """Let the body of a response arrive without halves of characters, which JavaScript writes where it cuts a text."""
    stream: Any = response.stream
    response.stream = _Mended(stream)


class _Mended(AsyncByteStream):
    """A body whose halves of characters are replaced."""

    def __init__(self, stream: AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun = b""
        async for piece in self._stream:
            data = begun + piece
            begun = next((match["begun"] for match in _TOKENS.finditer(data) if match["begun"]), b"")
            yield mended(data[: len(data) - len(begun)])
        if begun:
            yield mended(begun)

    async def aclose(self) -> None:
        await self._stream.aclose()


def mended(data: bytes) -> bytes:
    """Return a JSON text with replaced halves of characters."""
    return _TOKENS.sub(_whole, data) if b"\\u" in data else data


def _whole(match: re.Match[bytes]) -> bytes:
    is_half = match["half"] or (match["begun"] and len(match["begun"]) >= len(_REPLACEMENT))
    return _REPLACEMENT + match[0][len(_REPLACEMENT) :] if is_half else match[0]
