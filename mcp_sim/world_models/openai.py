"""A language model answers, held to the world: any OpenAI-compatible endpoint."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from anyio import CapacityLimiter, fail_after
from pydantic import Field, field_validator

from mcp_sim.domain import Domain
from mcp_sim.errors import Crash, UsageError
from mcp_sim.extensions import Predictor, WorldModel, world_models
from mcp_sim.language_model.answer import Reply
from mcp_sim.language_model.narrator import Narrator, Request, Settings
from mcp_sim.options import Count, PositiveDuration, duration_text
from mcp_sim.records.values import inventor
from mcp_sim.types import Json, Turn

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI, OpenAIError
    from openai.types.chat import ChatCompletion

KEYLESS = "none"
"""What is sent as the key where there is none; local engines ask for none."""

LONGEST_REASON = 300


@world_models.register("openai")
class Openai(WorldModel):
    """Ask a language model behind an OpenAI-compatible endpoint (vLLM, SGLang, llama.cpp, Ollama, OpenAI, ...).

    Where a tool's plan is sure, the world determines the answer and the model fills in only what is left open; where
    the plan is a guess, the model says everything. An answer that cannot be served is asked for again with its problems
    named, then the call is a crash. An endpoint that does not answer is a crash at once.
    """

    base_url: str = Field(
        description="Where the endpoint is, with its version path.", examples=["http://127.0.0.1:8000/v1"]
    )
    model: str = Field(description="The model's name there.", examples=["Qwen/Qwen-AgentWorld-35B-A3B"])
    ask: Literal["always", "undetermined"] = Field(
        default="always",
        description="Ask for every call, and note where model and world differ, or only where something is open.",
    )
    timeout: PositiveDuration = Field(
        default=timedelta(minutes=2), description="How long one request may take, in real time."
    )
    max_tokens: Count = Field(default=4096, description="The longest answer, in tokens.")
    temperature: float = Field(default=0.7, ge=0, le=2, description="How freely the model chooses.")
    max_concurrency: Count = Field(default=16, description="How many requests may be under way, over all worlds.")
    retries: int = Field(
        default=2,
        ge=0,
        le=10,
        description="How often a request is sent again after 408, 409, 429, 5xx or a lost connection.",
    )
    transcript: Count = Field(default=200_000, description="How much of a world's conversation is sent, in characters.")
    extra_body: dict[str, Json] = Field(default_factory=dict, description="What else each request's body holds.")
    api_key_env: str | None = Field(
        default=None, description="The environment variable with the key; else OPENAI_API_KEY."
    )
    max_attempts: Count = Field(default=2, description="How often one call is asked for before it is a crash.")

    @field_validator("base_url")
    @classmethod
    def _is_url(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError(f"{url!r} is no URL; write it as http://127.0.0.1:8000/v1")
        if parts.username or parts.password:
            raise ValueError("a URL with a user or password would end up in traces; use api_key_env")
        return url

    @asynccontextmanager
    async def bind(self, domain: Domain) -> AsyncGenerator[Predictor]:
        from openai import AsyncOpenAI  # noqa: PLC0415 (400 ms, and only who asks a model needs it)

        key = self._key(os.environ)
        client = AsyncOpenAI(base_url=self.base_url, api_key=key, max_retries=self.retries, timeout=None)
        async with client:
            endpoint = Endpoint(self, client, key)
            yield Narrator(domain, endpoint.complete, inventor(domain), self._settings())

    def _key(self, environment: Mapping[str, str]) -> str:
        name = self.api_key_env or "OPENAI_API_KEY"
        key = environment.get(name, "").strip()
        if not key and self.api_key_env is not None:
            raise UsageError(f"api_key_env: the environment variable {name} is not set")
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"the environment variable {name} holds signs that no HTTP header can; is it the key?")
        return key or KEYLESS

    def _settings(self) -> Settings:
        return Settings(f"openai {self.model} {self.base_url}", self.ask == "always", self.transcript)


class Endpoint:
    """One endpoint: a bounded number of requests at a time, each answered or a crash that says what to do."""

    def __init__(self, options: Openai, client: AsyncOpenAI, key: str) -> None:
        self._options, self._client, self._key = options, client, key
        self._limiter = CapacityLimiter(options.max_concurrency)

    async def complete(self, turn: Turn, request: Request) -> Reply:
        from openai import OpenAIError  # noqa: PLC0415 (imported by bind already)

        options = self._options
        async with self._limiter:
            try:
                with fail_after(options.timeout.total_seconds()):
                    completion = await self._send(request)
            except TimeoutError:
                raise self._crash(turn, f"no answer within {duration_text(options.timeout)}; raise `timeout`") from None
            except (OpenAIError, ValueError) as error:
                raise self._crash(turn, self._reason(error)) from None
        return self._reply(turn, completion)

    async def _send(self, request: Request) -> ChatCompletion:
        """One request. Not through `chat.completions.create`, which walks every message of a long conversation."""
        from openai.types.chat import ChatCompletion  # noqa: PLC0415 (imported by bind already)

        return await self._client.post("/chat/completions", cast_to=ChatCompletion, body=self._body(request))

    def _body(self, request: Request) -> dict[str, Json]:
        """The standard fields, and `extra_body` for the rest."""
        options = self._options
        body: dict[str, Json] = {
            "model": options.model,
            "messages": request.messages,
            "max_tokens": options.max_tokens,
            "temperature": options.temperature,
            "seed": request.seed,
        }
        if request.schema is not None:
            form = {"name": "observation", "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return {**body, **options.extra_body}

    def _reply(self, turn: Turn, completion: ChatCompletion) -> Reply:
        """What is used of a completion. Engines leave out what they like, so nothing is taken for granted."""
        choice = next(iter(getattr(completion, "choices", None) or ()), None)
        message = getattr(choice, "message", None)
        if choice is None or message is None:
            raise self._crash(turn, "the answer is no chat completion; does `base_url` end in /v1?")
        return Reply(message.content or "", choice.finish_reason, _usage(completion))

    def _reason(self, error: OpenAIError | ValueError) -> str:
        from openai import APIConnectionError, APIStatusError  # noqa: PLC0415 (imported by bind already)

        if isinstance(error, APIConnectionError):
            return "cannot be reached; start the server, or correct `base_url`"
        if isinstance(error, APIStatusError):
            return self._refusal(error)
        return f"the answer cannot be read ({type(error).__name__}); is this an OpenAI-compatible endpoint?"

    def _refusal(self, error: APIStatusError) -> str:
        """The endpoint's own words, and what to look at."""
        told = error.message if self._key == KEYLESS else error.message.replace(self._key, "***")
        told = " ".join(told.split())[:LONGEST_REASON]
        advice = _ADVICE.get(error.status_code)
        return f"HTTP {error.status_code}: {told}" + (f"; {advice}" if advice else "")

    def _crash(self, turn: Turn, reason: str) -> Crash:
        return Crash(turn.tool.id, f"{self._options.base_url}: {reason}")


_ADVICE = {
    400: "check `model`, `extra_body` and the context length",
    401: "check the key in the variable that `api_key_env` names",
    403: "check the key in the variable that `api_key_env` names",
    404: "check `base_url` and `model`",
    429: "lower `max_concurrency`",
}
"""What to look at, by HTTP status."""


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
