"""Why did an endpoint not answer, in words that say what to look at?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAIError

KEYLESS = "none"
"""What is sent as the key where there is none; local engines ask for none."""

LONGEST_REASON = 300
TOO_LONG = re.compile(
    r"context.{0,20}length|maximum context|context.{0,20}(window|size)|too many tokens|prompt is too long"
)
_UNREACHABLE = "cannot be reached; start the server, or correct `base_url`"
_BROKEN = "the connection broke before the answer was complete; look at the server's log"
_MID_WAY = frozenset({"RemoteProtocolError", "ReadError", "WriteError"})
"""How the HTTP client names connections that ended after they had begun."""
ELSEWHERE = (301, 302, 303, 307, 308)
_ADVICE = {
    **dict.fromkeys(ELSEWHERE, "it sends elsewhere: give that address as `base_url`"),
    400: "check `model`, `extra_body` and the context length",
    401: "check the key in the variable that `api_key_env` names",
    403: "check the key in the variable that `api_key_env` names",
    404: "check `base_url` and `model`",
    429: "lower `max_concurrency`",
}
"""What to look at, by HTTP status."""


def reason_of(error: OpenAIError | ValueError | RecursionError, key: str) -> str:
    """Why there is no answer; the key, which an endpoint may repeat, is not said."""
    from openai import APIConnectionError, APIStatusError  # noqa: PLC0415 (imported by `opened` already)

    if isinstance(error, APIConnectionError):
        return _BROKEN if type(error.__cause__).__name__ in _MID_WAY else _UNREACHABLE
    if isinstance(error, APIStatusError):
        return _refusal(error, key)
    return f"the answer cannot be read ({type(error).__name__}); is this an OpenAI-compatible endpoint?"


def _refusal(error: APIStatusError, key: str) -> str:
    """The endpoint's own words, and what to look at."""
    told = error.message if key == KEYLESS else error.message.replace(key, "***")
    told = " ".join(told.split())[:LONGEST_REASON]
    advice = _ADVICE.get(error.status_code)
    return f"HTTP {error.status_code}: {told}" + (f"; {advice}" if advice else "")
