"""HTTP requests to an OpenAI-compatible endpoint: prepared once, sent with retries.

The openai package configures them (headers, proxies, limits); a request through it would cost milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from random import random
from typing import TYPE_CHECKING, Any

import anyio

from mcp_sim.types import Json, as_object
from mcp_sim.types.errors import Unanswered

if TYPE_CHECKING:
    from ssl import SSLContext

    from httpx2 import AsyncClient, Response

KEYLESS = "none"  # sent as the key where no key is configured, since local engines need no key

COMPLETIONS = "/chat/completions"  # the path of almost every request, whose URL is parsed once

MAX_BYTES = 16 * 1024 * 1024  # a wrong address, such as that of a stream, may answer without an end
RETRIED = frozenset({408, 409, 429})
FIRST_DELAY, LONGEST_DELAY = 0.5, 8.0
"""Seconds before the first and before a late retry, where the endpoint asks for no other delay."""
LONGEST_ASKED_DELAY = 120.0  # a call must not wait for minutes: such a request is given up


class Refused(Exception):
    """The endpoint answered with another status than success. `message` is its own."""

    def __init__(self, status: int, message: str) -> None:
        self.status, self.message = status, message
        super().__init__(f"HTTP {status}: {message}")


class Disconnected(Exception):
    """No answer came. `began`: the connection ended after it had begun."""

    def __init__(self, *, began: bool) -> None:
        self.began = began
        super().__init__()


class Connection:
    """Sends requests to one endpoint."""

    def __init__(self, http: AsyncClient, base_url: str, headers: Mapping[str, str], retries: int) -> None:
        from httpx2 import URL, Headers  # noqa: PLC0415 (imported by `open_connection` already)

        self._http, self._retries = http, retries
        self._headers = Headers(headers)
        self._base_url = base_url.rstrip("/")
        self._completions = URL(self._base_url + COMPLETIONS)

    async def exchange(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Json:
        """Return the body of the response: its JSON value, or its text. Retries what may succeed later.

        Raises `Disconnected`, `Refused`, `Unanswered`, and `ValueError` if the body cannot be read.
        """
        from httpx2 import Request, RequestError  # noqa: PLC0415 (imported by `open_connection` already)

        sent = self._headers.copy()
        sent.update(headers)
        url = self._completions if path == COMPLETIONS else self._base_url + path
        for retry in range(self._retries + 1):
            is_last = retry == self._retries
            delay: float | None = _backoff(retry)
            try:
                request = Request(method, url, headers=sent, content=body)
                response = await self._http.send(request)
            except RequestError as error:
                if is_last:
                    raise Disconnected(began=type(error).__name__ in _CONNECTION_ENDED) from None
            else:
                if response.is_success:
                    return _body(response)
                delay = _delay(response, retry)
                if is_last or delay is None:
                    raise Refused(response.status_code, _message(response))
            await anyio.sleep(delay or 0)
        raise AssertionError("a request is sent at least once")


_CONNECTION_ENDED = frozenset({"RemoteProtocolError", "ReadError", "WriteError"})
"""The HTTP client's exceptions for connections that ended after they had begun."""


@cache
def _certificates() -> SSLContext:
    """Load the trusted certificates, once in a process: that takes 20 ms."""
    from httpx2 import create_ssl_context  # noqa: PLC0415 (imported by the client as well)

    return create_ssl_context()


_NEUTRAL = frozenset({"Accept", "Content-Type", "User-Agent"})
"""The package's headers that hold nothing of the environment."""


@asynccontextmanager
async def open_connection(base_url: str, key: str, retries: int) -> AsyncGenerator[Connection]:
    """Yield a connection with the headers and the settings of the openai package.

    Without a key, nothing that the environment has for the endpoint of the key is sent: no organisation, no headers.
    """
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient  # noqa: PLC0415 (400 ms, and only who asks needs it)

    hooks = {"response": [size_limit(base_url)]}
    http = DefaultAsyncHttpxClient(event_hooks=hooks, timeout=None, follow_redirects=False, verify=_certificates())
    async with AsyncOpenAI(base_url=base_url, api_key=key, http_client=http) as client:
        own = {"Authorization": f"Bearer {key}", "Accept-Encoding": "identity"}
        is_kept = _NEUTRAL.__contains__ if key == KEYLESS else bool
        headers = {
            name: text for name, text in client.default_headers.items() if isinstance(text, str) and is_kept(name)
        }
        yield Connection(http, base_url, {**own, **headers}, retries)


def _backoff(retry: int) -> float:
    return min(FIRST_DELAY * 2**retry, LONGEST_DELAY) * (1 - 0.25 * random())  # noqa: S311 (spreads retries, no secret)


def _delay(response: Response, retry: int) -> float | None:
    """Return the seconds until a refused request is worth another try; None if it is not."""
    asked = _asked_delay(response.headers)
    if asked is not None and asked > LONGEST_ASKED_DELAY:
        return None
    wanted = response.headers.get("x-should-retry")
    passes = response.status_code in RETRIED or response.status_code >= 500
    if wanted == "false" or (not passes and wanted != "true"):
        return None
    return _backoff(retry) if asked is None else asked


def _asked_delay(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an endpoint asks to wait; None if it does not say a number."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if 0 < seconds < float("inf"):
            return seconds
    return None


def _body(response: Response) -> Json:
    """Return the JSON value of a response, or its text if it is not JSON and does not claim to be."""
    try:
        return json.loads(response.content)
    except ValueError:
        if "json" in response.headers.get("content-type", "json"):
            raise
        return response.text


def _message(response: Response) -> str:
    """Return the endpoint's own words about a refusal."""
    try:
        body: Any = json.loads(response.content)
    except (ValueError, RecursionError):
        return response.text
    error: Json = as_object(body).get("error", body)
    for value in (as_object(error).get("message"), error, as_object(body).get("message")):
        if isinstance(value, str) and value:
            return value
    return response.text


def size_limit(base_url: str) -> Callable[[Response], Awaitable[None]]:
    """Return a hook for responses that stops reading a body after `MAX_BYTES`.

    Compressed bodies are refused: none was requested, and a small one may expand to a huge one. The hook and the body
    raise `Unanswered`.
    """
    from httpx2 import AsyncByteStream  # noqa: PLC0415 (the HTTP client of openai, only needed with it)

    class Limited(AsyncByteStream):
        def __init__(self, stream: AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = MAX_BYTES
            async for chunk in self._stream:
                left -= len(chunk)
                if left < 0:
                    reason = f"the answer has more than {MAX_BYTES:,} bytes; is this an OpenAI-compatible endpoint?"
                    raise Unanswered(base_url, reason)
                yield chunk

        async def aclose(self) -> None:
            await self._stream.aclose()

    async def limit(response: Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise Unanswered(
                base_url, "the answer is compressed, which was not requested; is there a proxy in between?"
            )
        if isinstance(response.stream, AsyncByteStream):
            response.stream = Limited(response.stream)

    return limit
