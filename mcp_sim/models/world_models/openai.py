"""A language model answers, held to the world: any OpenAI-compatible endpoint."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, field_validator, model_validator

from mcp_sim.generate.values import inventor
from mcp_sim.models.language_model.cache import Cache
from mcp_sim.models.language_model.complaints import KEYLESS
from mcp_sim.models.language_model.conversation import Conversation
from mcp_sim.models.language_model.dialects import DIALECTS, Dialect, Preset, Thinking, usual_preset
from mcp_sim.models.language_model.endpoint import Ask, Line, opened
from mcp_sim.models.language_model.narrator import Narrator, Settings
from mcp_sim.models.language_model.prompt import system
from mcp_sim.models.language_model.sight import Sight
from mcp_sim.types import Json
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import Predictor, WorldModel, world_models
from mcp_sim.types.options import Count, PositiveDuration

CACHE_FOLDER = "mcp-sim-cache"


class CachePart(BaseModel):
    """Where answers are kept."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dir: str = Field(default=CACHE_FOLDER, min_length=1, description="The folder, relative to where mcp-sim runs.")
    replay: bool = Field(
        default=False, description="Never ask: what is not kept is a crash that names what is nearest."
    )


def _as_cache(value: Any) -> Any:
    if value == "replay":
        return {"replay": True}
    return {"dir": value} if isinstance(value, str) else value


def _as_instructions(value: Any) -> Any:
    return {"*": value} if isinstance(value, str) else value


Instructions = Annotated[dict[str, str], BeforeValidator(_as_instructions, json_schema_input_type=str | dict[str, str])]
CacheOption = Annotated[CachePart, BeforeValidator(_as_cache, json_schema_input_type=str | CachePart)]


@world_models.register("openai")
class Openai(WorldModel):
    """Ask a language model behind an OpenAI-compatible endpoint (vLLM, SGLang, llama.cpp, Ollama, OpenAI, ...).

    Where a tool's plan is sure, the world determines the answer and the model fills in only what is left open; where
    the plan is a guess, the model says everything, and is held to it from then on. An answer that cannot be served is
    asked for again with its problems named, then the call is a crash. An endpoint that does not answer is a crash at
    once. The key comes from the environment, and appears in no trace, log or error.
    """

    base_url: str = Field(
        description="Where the endpoint is, with its version path.", examples=["http://127.0.0.1:8000/v1"]
    )
    model: str = Field(description="The model's name there.", examples=["Qwen/Qwen-AgentWorld-35B-A3B"])
    preset: Preset | None = Field(
        default=None,
        description="What engine it is, for what is not standard. Default: as the URL suggests, else vllm.",
    )
    ask: Literal["always", "undetermined"] = Field(
        default="always",
        description="Ask for every call, and note where model and world differ, or only where something is open.",
    )
    thinking: Literal["off", "on"] | Count | None = Field(
        default=None,
        description="Does the model reason first? A number is the most tokens it may spend on it. Default: as the "
        "engine does. What it thought is in the ledger, and never in an answer.",
    )
    timeout: PositiveDuration = Field(
        default=timedelta(minutes=2), description="How long one request may take, in real time."
    )
    max_tokens: Count = Field(default=4096, description="The longest answer, reasoning included, in tokens.")
    temperature: float = Field(default=0.7, ge=0, le=2, description="How freely the model chooses.")
    max_concurrency: Count = Field(default=16, description="How many requests may be under way, over all worlds.")
    retries: int = Field(
        default=2,
        ge=0,
        le=10,
        description="How often a request is sent again after 408, 409, 429, 5xx or a lost connection.",
    )
    transcript: Count = Field(
        default=200_000,
        description="How much of a world's conversation is sent, in characters; less where the context is shorter.",
    )
    cache: CacheOption | None = Field(
        default=None,
        description="Keep answers in this folder, and ask nothing twice; `replay` never asks.",
        examples=["recorded", {"dir": "recorded", "replay": True}],
    )
    instructions: Instructions = Field(
        default_factory=dict[str, str],
        description="What the model is to do where the world leaves it free: a text, or a text for each glob of tools.",
        examples=["Customers are short of time and answer in one line.", {"search_*": "Results are years old."}],
    )
    withhold: tuple[str, ...] = Field(
        default=(),
        description="Texts that the model is not told and may not say, such as the answer that the agent has to find.",
    )
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

    @model_validator(mode="after")
    def _can_think(self) -> Self:
        if self._dialect.thinking(self._thinking) is None:
            what = "no budget for thinking" if isinstance(self.thinking, int) else "no thinking under a schema"
            raise ValueError(
                f"thinking: {self._preset} has {what}; write off{'' if what.endswith('schema') else ' or on'}"
            )
        return self

    @asynccontextmanager
    async def bind(self, domain: Domain) -> AsyncGenerator[Predictor]:
        line = self.line(os.environ)
        if self.cache is not None and self.cache.replay:
            kept = Cache.opened(Path(self.cache.dir), line, None)
            yield self._narrator(domain, kept.complete, lambda: None)
            return
        async with opened(line) as endpoint:
            cache = None if self.cache is None else Cache.opened(Path(self.cache.dir), line, endpoint.complete)
            yield self._narrator(domain, endpoint.complete if cache is None else cache.complete, lambda: endpoint.room)

    def _narrator(self, domain: Domain, ask: Ask, room: Callable[[], int | None]) -> Narrator:
        owner = f"openai {self.model} {self.base_url}"
        told = system(domain, self.instructions)
        conversation = Conversation(told, Sight(domain, self.withhold), ask, owner, self.transcript, room)
        return Narrator(domain, conversation, inventor(domain), Settings(self.ask == "always", self.withhold))

    def line(self, environment: Mapping[str, str]) -> Line:
        """How the endpoint is reached. Raises UsageError where the environment lacks the key."""
        return Line(
            base_url=self.base_url,
            model=self.model,
            dialect=self._dialect,
            key=self._key(environment),
            timeout=self.timeout,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            max_concurrency=self.max_concurrency,
            retries=self.retries,
            body={**(self._dialect.thinking(self._thinking) or {}), **self.extra_body},
        )

    @property
    def _preset(self) -> Preset:
        return self.preset or usual_preset(self.base_url)

    @property
    def _dialect(self) -> Dialect:
        return DIALECTS[self._preset]

    @property
    def _thinking(self) -> Thinking | None:
        return self.thinking

    def _key(self, environment: Mapping[str, str]) -> str:
        name = self.api_key_env or "OPENAI_API_KEY"
        key = environment.get(name, "").strip()
        if not key and self.api_key_env is not None:
            raise UsageError(f"api_key_env: the environment variable {name} is not set")
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"the environment variable {name} holds signs that no HTTP header can; is it the key?")
        return key or KEYLESS
