"""What differs between the engines that speak OpenAI's protocol? Beyond the standard fields, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from mcp_sim.types import Record

Preset: TypeAlias = Literal["vllm", "sglang", "llamacpp", "ollama", "openai"]
Thinking: TypeAlias = Literal["off", "on"] | int
"""Whether the model reasons before it answers; a number is the most tokens that it may spend on it."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """The fields of one engine. `off`, `on` and `budgeted` are None where it has no such thing.

    `limit` is the name of the field that bounds an answer, `strict` what is said of schemas, `affinity` the header by
    which routers keep a conversation at one replica.
    """

    off: Record | None
    on: Record | None
    budgeted: Callable[[int], Record] | None = None
    limit: str = "max_tokens"
    strict: bool = True
    affinity: str | None = None

    def thinking(self, wanted: Thinking | None) -> Record | None:
        """The fields that make the model think as wanted; None where the engine cannot."""
        match wanted:
            case None:
                return {}
            case "off":
                return self.off
            case "on":
                return self.on
            case int():
                return None if self.budgeted is None else self.budgeted(wanted)


def _template(*, thinks: bool) -> Record:
    return {"chat_template_kwargs": {"enable_thinking": thinks}}


DIALECTS: Mapping[Preset, Dialect] = MappingProxyType(
    {
        "vllm": Dialect(
            off=_template(thinks=False),
            on=_template(thinks=True),
            budgeted=lambda tokens: {**_template(thinks=True), "thinking_token_budget": tokens},
            affinity="X-Session-ID",
        ),
        "sglang": Dialect(off=_template(thinks=False), on=_template(thinks=True)),
        "llamacpp": Dialect(off=_template(thinks=False), on=None),  # its grammar binds from the first token
        "ollama": Dialect(off={"reasoning_effort": "none"}, on={"reasoning_effort": "medium"}),
        "openai": Dialect(
            off={"reasoning_effort": "none"},
            on={"reasoning_effort": "medium"},
            limit="max_completion_tokens",
            strict=False,  # strict schemas may not bound texts and numbers
        ),
    }
)


def usual_preset(base_url: str) -> Preset:
    """The preset of an endpoint that says nothing: by OpenAI's host and Ollama's port, else vLLM's."""
    parts = urlsplit(base_url)
    if (parts.hostname or "").endswith("openai.com"):
        return "openai"
    return "ollama" if parts.port == 11434 else "vllm"
