"""Responses of an OpenAI-compatible endpoint: the completion in them, and reasons for failures."""

from __future__ import annotations

import re
from typing import cast

from mcp_sim.models.language_model.connection import KEYLESS, Disconnected, Refused
from mcp_sim.models.language_model.reply import Reply
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import Unanswered
from mcp_sim.types.json_schema.shapes import as_list, as_object

MIN_SECRET = 16
"""Minimum length of a key that is masked in replies; a shorter one may be an ordinary word. Masking a word that occurs
in answers would change them."""


def read_completion(completion: Json, base_url: str, key: str) -> Reply:
    """Return the reply in a completion; engines may leave out any part of it.

    Raises `Unanswered` if it is not a chat completion.
    """
    choice = as_object(next(iter(as_list(as_object(completion).get("choices"))), None))
    message = as_object(choice.get("message"))
    content = _text(message.get("content"))
    if "content" not in message or content is None:
        raise Unanswered(base_url, "the answer is not a chat completion; does `base_url` end in /v1?")
    reasoning: Json = message.get("reasoning") or message.get("reasoning_content")
    reasoning = reasoning if isinstance(reasoning, str) else ""
    finish: Json = choice.get("finish_reason")
    usage = _usage(as_object(as_object(completion).get("usage")))
    return Reply(_clean(content, key), finish if isinstance(finish, str) else None, usage, _clean(reasoning, key))


def _clean(text: str, key: str) -> str:
    """Return the text without lone surrogates, which cannot be encoded, and without the key."""
    shown = text.replace(key, "***") if len(key) >= MIN_SECRET else text
    return shown.encode("utf-8", "replace").decode("utf-8")


def _text(content: Json) -> str | None:
    """Return the text of a message, which may be a list of parts; None if it is neither."""
    if isinstance(content, list):
        parts = [as_object(block).get("text") for block in as_list(cast("Json", content))]
        texts = [text for text in parts if isinstance(text, str)]
        return "".join(texts) if len(texts) == len(parts) else None
    return content if isinstance(content, str) else "" if content is None else None


def _usage(usage: Record) -> dict[str, int]:
    """Return the token counts that the engine reports."""
    counts: Record = {
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "cached_tokens": as_object(usage.get("prompt_tokens_details")).get("cached_tokens"),
    }
    return {name: count for name, count in counts.items() if isinstance(count, int)}


MAX_REASON = 300
"""Characters of an endpoint's own message in an error: it may repeat the whole request."""
TOO_LONG = re.compile(
    r"context.{0,20}length|maximum context|context.{0,20}(window|size)|too many tokens|prompt is too long"
)
_UNREACHABLE = "cannot be reached; start the server, or correct `base_url`"
_BROKEN = "the connection broke before the answer was complete; look at the server's log"
REDIRECTS = (301, 302, 303, 307, 308)  # a redirected request would send the key to another address
_ADVICE = {
    **dict.fromkeys(REDIRECTS, "the endpoint redirects: use the new address as `base_url`"),
    400: "check `model`, `extra_body` and the context length",
    401: "check the key in the variable that `api_key_env` names",
    403: "check the key in the variable that `api_key_env` names",
    404: "check `base_url` and `model`",
    429: "lower `max_concurrency`",
}
"""Advice by HTTP status."""


def failure_reason(error: Disconnected | Refused | ValueError | RecursionError, key: str) -> str:
    """Return why a request was not answered, without the key, which an endpoint may repeat."""
    match error:
        case Disconnected():
            return _BROKEN if error.began else _UNREACHABLE
        case Refused():
            return _refusal(error, key)
        case _:
            return f"the answer cannot be read ({type(error).__name__}); is this an OpenAI-compatible endpoint?"


def _refusal(error: Refused, key: str) -> str:
    """Return the endpoint's own message, and advice."""
    message = error.message if key == KEYLESS else error.message.replace(key, "***")
    message = " ".join(message.split())[:MAX_REASON]
    advice = _ADVICE.get(error.status)
    return f"HTTP {error.status}: {message}" + (f"; {advice}" if advice else "")
