"""How much of an answer is read from the network at most?"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

from httpx2 import AsyncByteStream, Response

from mcp_sim.types.errors import Unanswered

MOST_BYTES = 16 * 1024 * 1024


def bounding(where: str) -> Callable[[Response], Awaitable[None]]:
    """What is done to each response before its body is read, so that no more than MOST_BYTES of it ever are.

    Compressed bodies are refused: none was asked for, and a small one may become a huge one.
    """

    async def bounded(response: Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise Unanswered(where, "the answer is compressed, which was not asked for; is there a proxy in between?")
        if isinstance(response.stream, AsyncByteStream):
            response.stream = _Bounded(response.stream, where)

    return bounded


class _Bounded(AsyncByteStream):
    """A body that is read up to a size, and no further."""

    def __init__(self, stream: AsyncByteStream, where: str) -> None:
        self._stream, self._where = stream, where

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MOST_BYTES
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise Unanswered(
                    self._where, f"the answer has more than {MOST_BYTES:,} bytes; what is it that serves it?"
                )
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
