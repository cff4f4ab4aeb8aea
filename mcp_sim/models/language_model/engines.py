"""Differences between the engines behind the OpenAI protocol: request fields and ways to enforce a schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from mcp_sim.types import Record, frozen

Preset: TypeAlias = Literal["vllm", "sglang", "llamacpp", "ollama", "openai"]
Thinking: TypeAlias = Literal["off", "on"] | int
"""Whether the model reasons before it answers; a number is the most tokens that it may spend on it."""


@frozen
class Engine:
    """The request fields of one engine. `off`, `on` and `thinking_budget` are None if it does not support them.

    `limit` is the name of the field that bounds a reply, `strict` the value of `strict` for schemas, `affinity` the
    header by which routers keep a conversation on one replica. `stops`: whether requests may name texts to stop at.
    """

    off: Record | None
    on: Record | None
    thinking_budget: Callable[[int], Record] | None = None
    limit: str = "max_tokens"
    strict: bool = True
    affinity: str | None = None
    stops: bool = True

    def thinking(self, wanted: Thinking | None) -> Record | None:
        """Return the fields that make the model think as wanted; None if the engine cannot."""
        match wanted:
            case None:
                return {}
            case "off":
                return self.off
            case "on":
                return self.on
            case int():
                return None if self.thinking_budget is None else self.thinking_budget(wanted)


def _template(*, thinks: bool) -> Record:
    return {"chat_template_kwargs": {"enable_thinking": thinks}}


ENGINES: Mapping[Preset, Engine] = MappingProxyType(
    {
        "vllm": Engine(
            off=_template(thinks=False),
            on=_template(thinks=True),
            thinking_budget=lambda tokens: {**_template(thinks=True), "thinking_token_budget": tokens},
            affinity="X-Session-ID",
        ),
        "sglang": Engine(off=_template(thinks=False), on=_template(thinks=True)),
        "llamacpp": Engine(off=_template(thinks=False), on=None),  # its grammar binds from the first token
        "ollama": Engine(off={"reasoning_effort": "none"}, on={"reasoning_effort": "medium"}),
        "openai": Engine(
            off={"reasoning_effort": "none"},
            on={"reasoning_effort": "medium"},
            limit="max_completion_tokens",
            strict=False,  # strict schemas may not bound texts and numbers
            stops=False,  # models that reason refuse the field
        ),
    }
)


def default_preset(base_url: str) -> Preset:
    """Return the default preset of an endpoint: by OpenAI's host and Ollama's port, else vLLM's."""
    parts = urlsplit(base_url)
    if (parts.hostname or "").endswith("openai.com"):
        return "openai"
    return "ollama" if parts.port == 11434 else "vllm"


RESPONSE_FORMATS = ("json_schema", "json_object with schema", "json_object", "none")
"""Ways to enforce a schema, the strictest first. Engines reject those that they do not know."""
LAST_WITH_SCHEMA = 1  # the position of the last one under which a grammar ends the reply


def response_format(schema: Record, rung: int, dialect: Engine) -> Record | None:
    """Return the `response_format` at a position of `RESPONSE_FORMATS`; None for a free reply."""
    match rung:
        case 0:
            bound: Record = {"name": "observation", "schema": schema, "strict": dialect.strict}
            return {"type": "json_schema", "json_schema": bound}
        case 1:
            return {"type": "json_object", "schema": schema}
        case 2:
            return {"type": "json_object"}
        case _:
            return None
