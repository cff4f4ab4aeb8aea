"""The world model that asks a language model behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, field_validator, model_validator

from mcp_sim.generate.invention import inventor
from mcp_sim.models.language_model.cache import Cache
from mcp_sim.models.language_model.connection import KEYLESS
from mcp_sim.models.language_model.conversation import Conversation
from mcp_sim.models.language_model.disclosure import Disclosure
from mcp_sim.models.language_model.domains import DomainPredictor, DomainSettings, no_summary, system_text
from mcp_sim.models.language_model.endpoint import Ask, EndpointSettings, open_endpoint
from mcp_sim.models.language_model.engines import ENGINES, Engine, Preset, default_preset
from mcp_sim.models.language_model.predictor import ModelPredictor, PredictorSettings
from mcp_sim.models.language_model.prompt import system
from mcp_sim.models.language_model.tighten import Bounds
from mcp_sim.spec.trust import is_below
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import Predictor, WorldModel, world_models
from mcp_sim.types.options import Count, PositiveDuration

DEFAULT_KEY = "OPENAI_API_KEY"
KEY_URLS = ("https://api.openai.com",)  # the URLs that the default key is for

CACHE_FOLDER = "mcp-sim-cache"


class CachePart(BaseModel):
    """Where replies are stored."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dir: str = Field(default=CACHE_FOLDER, min_length=1, description="The folder, relative to where mcp-sim runs.")
    replay: bool = Field(
        default=False, description="Never ask: a request that is not stored is a crash that shows the nearest one."
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

    The model answers each call as a whole, in the tool's own form. What contradicts a fixed fact (the given state, what
    was written, what was shown) is asked for again, and then corrected; everything else is served as the model says it
    and holds from then on. If a reply cannot be used at all, the call is a crash. An endpoint that does not answer is a
    crash at once. The key comes from the environment and appears in no trace, log or error. It goes only to a host that
    the user named outside the document, unless the user trusts the document.
    """

    written: ClassVar[str] = "MODEL@URL"
    makes_records: ClassVar[bool] = True
    is_local: ClassVar[bool] = False

    base_url: str = Field(
        description="The URL of the endpoint, with its version path.", examples=["http://127.0.0.1:8000/v1"]
    )
    model: str = Field(description="The name of the model at the endpoint.", examples=["Qwen/Qwen-AgentWorld-35B-A3B"])
    preset: Preset | None = Field(
        default=None, description="The engine, for non-standard options. Default: inferred from the URL, else vllm."
    )
    ask: Literal["always", "undetermined"] = Field(
        default="always", description="Ask for every call, or only if the world does not determine the answer."
    )
    arguments: Literal["strict", "model"] = Field(
        default="model",
        description="What refuses arguments that violate the inputSchema: mcp-sim, or the model, which may accept.",
    )
    max_text: Count = Field(default=4_000, description="Maximum length of a text in a structured reply, in characters.")
    max_items: Count = Field(default=100, description="Maximum length of a list in a structured reply.")
    thinking: Literal["off", "on"] | Count | None = Field(
        default=None,
        description="Whether the model reasons first; a number is the maximum of tokens for it. Default: the engine's "
        "default. Reasoning is in the ledger, never in an answer.",
    )
    timeout: PositiveDuration = Field(default=timedelta(minutes=2), description="Maximum real time of one request.")
    max_tokens: Count = Field(default=4096, description="Maximum length of a reply in tokens, including reasoning.")
    temperature: float = Field(default=0.7, ge=0, le=2, description="Sampling temperature.")
    max_concurrency: Count = Field(default=16, description="Maximum number of concurrent requests, over all worlds.")
    retries: int = Field(
        default=2,
        ge=0,
        le=10,
        description="How often a request is retried after 408, 409, 429, 5xx or a lost connection.",
    )
    transcript: Count = Field(
        default=200_000,
        description="Maximum size of the conversation that is sent, in characters; less if the context is shorter.",
    )
    compile: bool = Field(
        default=False, description="`serve` has the model write a program in the background, whose tools then answer."
    )
    cache: CacheOption | None = Field(
        default=None,
        description="Store replies in this folder and ask nothing twice; `replay` never asks.",
        examples=["recorded", {"dir": "recorded", "replay": True}],
    )
    instructions: Instructions = Field(
        default_factory=dict[str, str],
        description="Instructions for what the world leaves open: a text, or a text for each glob of tools.",
        examples=["Customers are short of time and answer in one line.", {"search_*": "Results are years old."}],
    )
    withhold: tuple[str, ...] = Field(
        default=(),
        description="Texts that prompts omit and replies must not contain, such as the solution of the task.",
    )
    extra_body: dict[str, Json] = Field(default_factory=dict, description="Further fields of each request's body.")
    api_key_env: str | None = Field(
        default=None, description="The environment variable with the key. Default: OPENAI_API_KEY."
    )
    max_attempts: Count = Field(
        default=2, description="How often the model is asked about one call before it is a crash."
    )
    domain: Literal["mcp", "search", "swe", "terminal", "android", "web", "os"] = Field(
        default="mcp",
        description="The domain of AgentWorld in whose turns the model is asked. Except in mcp it answers with raw "
        "text, and the last screen is kept as the record `screen`.",
    )
    prompts: str | None = Field(
        default=None,
        min_length=1,
        description="A folder with the domain's system prompt, DOMAIN/system_prompt.txt or DOMAIN.md, instead of ours.",
    )
    screen: str = Field(
        default="", description="What is on the screen at the start; for terminal, android, web and os."
    )
    task: str = Field(default="", description="The agent's task, which turns of android, web and os repeat.")

    _is_trusted: bool = PrivateAttr(default=False)

    @field_validator("base_url")
    @classmethod
    def _is_url(cls, url: str) -> str:
        parts = urlsplit(url)
        is_plain = url.isascii() and url.isprintable() and not {" ", "\\"} & set(url)  # read alike by every parser
        if not is_plain or parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError(f"{url!r} is not a URL; expected a form like http://127.0.0.1:8000/v1")
        if parts.username or parts.password:
            raise ValueError("a URL with a user or password would end up in traces; use api_key_env")
        return url

    @model_validator(mode="after")
    def _can_think(self) -> Self:
        if self._dialect.thinking(self.thinking) is None:
            what = "no budget for thinking" if isinstance(self.thinking, int) else "no thinking under a schema"
            raise ValueError(
                f"thinking: {self._preset} has {what}; write off{'' if what.endswith('schema') else ' or on'}"
            )
        return self

    @model_validator(mode="after")
    def _fits_domain(self) -> Self:
        if self.domain == "mcp" and (self.prompts or self.screen or self.task):
            raise ValueError("prompts, screen and task go with a domain other than mcp")
        # Whether a folder elsewhere exists is not revealed to a document that may not be trusted.
        if self.prompts is not None and is_below(Path(self.prompts), Path()) and not Path(self.prompts).is_dir():
            raise ValueError(f"prompts: there is no folder {self.prompts!r} in the working directory")
        return self

    @classmethod
    def options_in(cls, text: str) -> Record | None:
        model, has_url, url = text.rpartition("@")
        return {"model": model, "base_url": url} if has_url and model and url else None

    @property
    def judges_arguments(self) -> bool:
        return self.arguments == "model"

    def needs_trust(self, environment: Mapping[str, str]) -> Iterator[str]:
        key = self.api_key_env or DEFAULT_KEY
        is_sent = self.api_key_env is not None or (bool(environment.get(key)) and not _is_loopback(self.base_url))
        if is_sent and not _is_named(key, self.base_url, environment):
            yield f"sends the value of {key} to {urlsplit(self.base_url).netloc}"
        if self.prompts is not None and not is_below(Path(self.prompts), Path()):
            yield f"sends files of {self.prompts}, outside the working directory"
        if self.compile:
            yield f"runs the Python program that {self.model} writes"
        if self.cache is not None and not is_below(Path(self.cache.dir), Path()):
            yield f"stores replies in {self.cache.dir}, outside the working directory"

    def sends_to(self, environment: Mapping[str, str]) -> Iterator[str]:
        if not _is_loopback(self.base_url) and not _is_named(DEFAULT_KEY, self.base_url, environment):
            yield urlsplit(self.base_url).netloc

    def trusted(self) -> Self:
        model = self.model_copy()
        model._is_trusted = True  # noqa: SLF001 (its own attribute, on a copy)
        return model

    @asynccontextmanager
    async def bind(self, domain: Domain) -> AsyncGenerator[Predictor]:
        line = self.line(os.environ)
        if self.cache is not None and self.cache.replay:
            kept = Cache.open(Path(self.cache.dir), line, None)
            yield self._predictor(domain, kept.complete, lambda: None)
            return
        async with open_endpoint(line) as endpoint:
            cache = None if self.cache is None else Cache.open(Path(self.cache.dir), line, endpoint.complete)
            yield self._predictor(
                domain, endpoint.complete if cache is None else cache.complete, lambda: endpoint.max_characters
            )

    def _predictor(self, domain: Domain, ask: Ask, max_characters: Callable[[], int | None]) -> Predictor:
        owner = f"openai {self.model} {self.base_url}"
        if self.domain != "mcp":
            instructions = "\n".join(self.instructions.values())
            text = system_text(self.domain, self.prompts, domain, instructions)
            disclosure = Disclosure(domain, self.withhold)
            conversation = Conversation(text, disclosure, ask, owner, self.transcript, max_characters, no_summary)
            settings = DomainSettings(self.screen, self.task, self.withhold)
            return DomainPredictor(self.domain, conversation, settings, self.max_attempts)
        bounds = Bounds(self.max_text, self.max_items, is_open=True)
        system_prompt = system(domain, self.instructions, bounds)
        conversation = Conversation(
            system_prompt, Disclosure(domain, self.withhold), ask, owner, self.transcript, max_characters
        )
        return ModelPredictor(
            domain,
            conversation,
            inventor(domain),
            PredictorSettings(self.ask == "always", self.max_attempts, bounds, self.withhold),
        )

    def line(self, environment: Mapping[str, str]) -> EndpointSettings:
        """Return how the endpoint is reached. Raises `UsageError` if the environment lacks the key."""
        return EndpointSettings(
            base_url=self.base_url,
            model=self.model,
            dialect=self._dialect,
            key=self._key(environment),
            timeout=self.timeout,
            max_tokens=self.max_tokens,
            temperature=self.temperature,
            max_concurrency=self.max_concurrency,
            retries=self.retries,
            body={**(self._dialect.thinking(self.thinking) or {}), **self.extra_body},
        )

    @property
    def _preset(self) -> Preset:
        return self.preset or default_preset(self.base_url)

    @property
    def _dialect(self) -> Engine:
        return ENGINES[self._preset]

    def _key(self, environment: Mapping[str, str]) -> str:
        name = self.api_key_env or DEFAULT_KEY
        if not self._is_trusted and not _is_named(name, self.base_url, environment):
            return KEYLESS
        key = environment.get(name, "").strip()
        if not key and self.api_key_env is not None:
            raise UsageError(f"api_key_env: the environment variable {name} is not set")
        if not (key.isascii() and key.isprintable()):
            raise UsageError(
                f"the environment variable {name} has characters that an HTTP header cannot have; is it the key?"
            )
        return key or KEYLESS


def _is_named(variable: str, base_url: str, environment: Mapping[str, str]) -> bool:
    """Whether the user named an endpoint, outside any document, as the one that the key in a variable is for."""
    urls = (*KEY_URLS, environment.get("OPENAI_BASE_URL", ""))
    return variable == DEFAULT_KEY and _origin(base_url) in map(_origin, urls)


def _is_loopback(url: str) -> bool:
    """Whether a URL is one of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _origin(url: str) -> tuple[str, str | None, int | None]:
    """Return the scheme, host and port of a URL."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
