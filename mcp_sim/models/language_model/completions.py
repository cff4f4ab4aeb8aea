"""Responses of an OpenAI-compatible endpoint: their size limit, the completion in them, and reasons for failures."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, cast

from mcp_sim.models.language_model.reply import Reply
from mcp_sim.types import Json
from mcp_sim.types.errors import Unanswered
from mcp_sim.types.json_schema.shapes import as_list, as_object

if TYPE_CHECKING:
    from httpx2 import Response
    from openai import APIStatusError, OpenAIError
    from openai.types.chat import ChatCompletion

MAX_BYTES = 16 * 1024 * 1024


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


MIN_SECRET = 16
"""Minimum length of a key that is masked in replies; a shorter one may be an ordinary word."""


def read_completion(completion: ChatCompletion, base_url: str, key: str) -> Reply:
    """Return the reply in a completion; engines may leave out any part of it.

    Raises `Unanswered` if it is no chat completion.
    """
    choice = next(iter(as_list(getattr(completion, "choices", None))), None)
    message = getattr(choice, "message", None)
    content = _text(getattr(message, "content", None))
    if not hasattr(message, "content") or content is None:
        raise Unanswered(base_url, "the answer is not a chat completion; does `base_url` end in /v1?")
    reasoning = getattr(message, "reasoning", None) or getattr(message, "reasoning_content", None)
    reasoning = reasoning if isinstance(reasoning, str) else ""
    finish: Json = getattr(choice, "finish_reason", None)
    return Reply(_clean(content, key), finish, _usage(completion), _clean(reasoning, key))


def _clean(text: str, key: str) -> str:
    """Return the text without lone surrogates, which cannot be encoded, and without the key."""
    shown = text.replace(key, "***") if len(key) >= MIN_SECRET else text
    return shown.encode("utf-8", "replace").decode("utf-8")


def _text(content: Json) -> str | None:
    """Return the text of a message, which may be a list of parts; None if it is neither."""
    if isinstance(content, list):
        parts = [as_object(part).get("text") for part in as_list(cast("Json", content))]
        texts = [part for part in parts if isinstance(part, str)]
        return "".join(texts) if len(texts) == len(parts) else None
    return content if isinstance(content, str) else "" if content is None else None


def _usage(completion: ChatCompletion) -> dict[str, int]:
    """Return the token counts that the engine reports."""
    usage = completion.usage
    if usage is None:
        return {}
    details = getattr(usage, "prompt_tokens_details", None)
    counts = {
        "prompt_tokens": getattr(usage, "prompt_tokens", None),
        "completion_tokens": getattr(usage, "completion_tokens", None),
        "cached_tokens": getattr(details, "cached_tokens", None),
    }
    return {name: count for name, count in counts.items() if isinstance(count, int)}


KEYLESS = "none"
"""Sent as the key if there is none, since local engines need no key."""

MAX_REASON = 300
TOO_LONG = re.compile(
    r"context.{0,20}length|maximum context|context.{0,20}(window|size)|too many tokens|prompt is too long"
)
_UNREACHABLE = "cannot be reached; start the server, or correct `base_url`"
_BROKEN = "the connection broke before the answer was complete; look at the server's log"
_CONNECTION_ENDED = frozenset({"RemoteProtocolError", "ReadError", "WriteError"})
"""The HTTP client's exceptions for connections that ended after they had begun."""
REDIRECTS = (301, 302, 303, 307, 308)
_ADVICE = {
    **dict.fromkeys(REDIRECTS, "the endpoint redirects: use the new address as `base_url`"),
    400: "check `model`, `extra_body` and the context length",
    401: "check the key in the variable that `api_key_env` names",
    403: "check the key in the variable that `api_key_env` names",
    404: "check `base_url` and `model`",
    429: "lower `max_concurrency`",
}
"""Advice by HTTP status."""


def failure_reason(error: OpenAIError | ValueError | RecursionError, key: str) -> str:
    """Return why there is no answer, without the key, which an endpoint may repeat."""
    from openai import APIConnectionError, APIStatusError  # noqa: PLC0415 (imported by `open_endpoint` already)

    if isinstance(error, APIConnectionError):
        return _BROKEN if type(error.__cause__).__name__ in _CONNECTION_ENDED else _UNREACHABLE
    if isinstance(error, APIStatusError):
        return _refusal(error, key)
    return f"the answer cannot be read ({type(error).__name__}); is this an OpenAI-compatible endpoint?"


def _refusal(error: APIStatusError, key: str) -> str:
    """Return the endpoint's own message, and advice."""
    message = error.message if key == KEYLESS else error.message.replace(key, "***")
    message = " ".join(message.split())[:MAX_REASON]
    advice = _ADVICE.get(error.status_code)
    return f"HTTP {error.status_code}: {message}" + (f"; {advice}" if advice else "")
