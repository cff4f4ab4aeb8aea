"""What is used of a chat completion: the text, why it ended, how many tokens it took?"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from mcp_sim.models.language_model.answer import Reply
from mcp_sim.types import Json
from mcp_sim.types.errors import Unanswered
from mcp_sim.types.json_schema.shapes import as_list, as_object

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletion

SHORTEST_SECRET = 16
"""A key that is shorter is none, and may be a word."""


def reply_of(completion: ChatCompletion, base_url: str, key: str) -> Reply:
    """What is used of a completion. Engines leave out what they like, so nothing is taken for granted.

    Raises Unanswered where it is none.
    """
    choice = next(iter(as_list(getattr(completion, "choices", None))), None)
    message = getattr(choice, "message", None)
    content = _text(getattr(message, "content", None))
    if not hasattr(message, "content") or content is None:
        raise Unanswered(base_url, "the answer is no chat completion; does `base_url` end in /v1?")
    thought = getattr(message, "reasoning", None) or getattr(message, "reasoning_content", None)
    reasoning = thought if isinstance(thought, str) else ""
    finish: Json = getattr(choice, "finish_reason", None)
    return Reply(_clean(content, key), finish, _usage(completion), _clean(reasoning, key))


def _clean(text: str, key: str) -> str:
    """What an engine said, without lone surrogates, which nothing can carry, and without the key."""
    told = text.replace(key, "***") if len(key) >= SHORTEST_SECRET else text
    return told.encode("utf-8", "replace").decode("utf-8")


def _text(content: Json) -> str | None:
    """The text of a message, which may come in parts; None where it is neither."""
    if isinstance(content, list):
        parts = [as_object(part).get("text") for part in as_list(cast("Json", content))]
        texts = [part for part in parts if isinstance(part, str)]
        return "".join(texts) if len(texts) == len(parts) else None
    return content if isinstance(content, str) else "" if content is None else None


def _usage(completion: ChatCompletion) -> dict[str, int]:
    """The token counts that the engine tells."""
    usage = completion.usage
    if usage is None:
        return {}
    details = getattr(usage, "prompt_tokens_details", None)
    told = {
        "prompt_tokens": getattr(usage, "prompt_tokens", None),
        "completion_tokens": getattr(usage, "completion_tokens", None),
        "cached_tokens": getattr(details, "cached_tokens", None),
    }
    return {name: count for name, count in told.items() if isinstance(count, int)}
