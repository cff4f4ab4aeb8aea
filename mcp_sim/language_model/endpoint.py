"""How is an OpenAI-compatible endpoint asked? So many requests at a time, each answered, or refused with the reason."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from anyio import CapacityLimiter, fail_after

from mcp_sim.errors import TooLong, Unanswered, UsageError, did_you_mean
from mcp_sim.json_text import canonical
from mcp_sim.language_model.answer import Reply
from mcp_sim.language_model.dialects import Dialect
from mcp_sim.language_model.prompt import Message
from mcp_sim.options import duration_text
from mcp_sim.schemas import as_list, as_object
from mcp_sim.types import Json, Record

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI, OpenAIError
    from openai.types.chat import ChatCompletion

KEYLESS = "none"
"""What is sent as the key where there is none; local engines ask for none."""

SHORTEST_SECRET = 16
"""A key that is shorter is none, and may be a word."""

LONGEST_REASON = 300
FORMS_KEPT = 1_024
FEWEST_CHARACTERS = 2.0
"""So many characters a token has at least, as long as no answer has told how many it has."""

_TOO_LONG = re.compile(
    r"context.{0,20}length|maximum context|context.{0,20}(window|size)|too many tokens|prompt is too long"
)
_PROBE = timedelta(seconds=20)


@dataclass(frozen=True, slots=True)
class Request:
    """One question to an engine: the conversation, the schema that binds the answer (None: free), the sampling seed.

    `affinity` names the conversation for routers that keep it at one replica.
    """

    messages: Sequence[Message]
    schema: Record | None
    seed: int
    affinity: str = ""


Ask: TypeAlias = Callable[[Request], Awaitable[Reply]]
"""Who answers a question. Raises Unanswered where there is no answer, TooLong where the conversation does not fit."""


@dataclass(frozen=True, slots=True)
class Line:
    """How an endpoint is reached, and what every request says."""

    base_url: str
    model: str
    dialect: Dialect
    key: str = KEYLESS
    timeout: timedelta = timedelta(minutes=2)
    max_tokens: int = 4096
    temperature: float = 0.7
    max_concurrency: int = 16
    retries: int = 2
    body: Record = field(default_factory=dict[str, Any])
    """Fields beyond the standard ones; they win over these."""


@asynccontextmanager
async def opened(line: Line) -> AsyncGenerator[Endpoint]:
    """The endpoint, found to be there. Raises UsageError where it is not, or does not serve the model."""
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient  # noqa: PLC0415 (400 ms, and only who asks needs it)

    from mcp_sim.language_model.bounded import bounding  # noqa: PLC0415 (imports the HTTP client of openai)

    hooks = {"response": [bounding(line.base_url)]}
    http = DefaultAsyncHttpxClient(event_hooks=hooks, timeout=None, follow_redirects=False)
    options: Any = {"http_client": http, "timeout": None, "default_headers": {"accept-encoding": "identity"}}
    async with AsyncOpenAI(base_url=line.base_url, api_key=line.key, max_retries=line.retries, **options) as client:
        endpoint = Endpoint(line, client)
        await endpoint.probe()
        yield endpoint


class Endpoint:
    """One endpoint, open. Raises Unanswered where there is no answer, TooLong where the conversation does not fit."""

    def __init__(self, line: Line, client: AsyncOpenAI) -> None:
        self.line, self._client = line, client
        self._limiter = CapacityLimiter(line.max_concurrency)
        self._lowered: OrderedDict[str, int] = OrderedDict()
        self._takes_schemas = False
        self._context: int | None = None
        self._density = FEWEST_CHARACTERS

    @property
    def room(self) -> int | None:
        """How many characters a conversation may have, as far as the engine told; None where it did not."""
        if self._context is None:
            return None
        return max(0, int((self._context - self.line.max_tokens) * self._density * 0.9))

    async def probe(self) -> None:
        """Is there an endpoint, and does it serve the model? Raises UsageError with what to do if not.

        Engines that list no models are believed.
        """
        from openai import APIConnectionError, OpenAIError  # noqa: PLC0415 (imported by `opened` already)

        try:
            with fail_after(_PROBE.total_seconds()):
                listed = await self._client.get("/models", cast_to=object)
        except TimeoutError:
            raise UsageError(
                f"{self.line.base_url}: no answer within {duration_text(_PROBE)}; is it the server?"
            ) from None
        except APIConnectionError as error:
            raise UsageError(f"{self.line.base_url}: {self._reason(error)}") from None
        except Unanswered as error:
            raise UsageError(str(error)) from None
        except (OpenAIError, ValueError, RecursionError) as error:
            if getattr(error, "status_code", None) in (401, 403, *_ELSEWHERE):
                raise UsageError(f"{self.line.base_url}: {self._reason(error)}") from None
            return
        self._learn(listed)

    async def complete(self, request: Request) -> Reply:
        """The engine's answer."""
        from openai import OpenAIError  # noqa: PLC0415 (imported by `opened` already)

        async with self._limiter:
            try:
                with fail_after(self.line.timeout.total_seconds()):
                    return await self._answered(request)
            except TimeoutError:
                reason = f"no answer within {duration_text(self.line.timeout)}; raise `timeout`"
                raise Unanswered(self.line.base_url, reason) from None
            except (OpenAIError, ValueError, RecursionError) as error:
                reason = self._reason(error)
                too_long = _TOO_LONG.search(reason.lower()) is not None
                raise (TooLong if too_long else Unanswered)(self.line.base_url, reason) from None

    # one request

    async def _answered(self, request: Request) -> Reply:
        """The answer to the request in the strictest form that the engine takes for this schema.

        An engine may fail at what it happened to sample; so after a 500 it is asked once more, with another seed.
        """
        from openai import APIStatusError  # noqa: PLC0415 (imported by `opened` already)

        digest = "" if request.schema is None else canonical(request.schema)
        rung, seed = self._lowered.get(digest, 0), request.seed
        while True:
            try:
                reply = self._reply(await self._sent(replace(request, seed=seed), rung))
            except APIStatusError as error:
                if request.schema is not None and self._is_about_the_form(error, rung):
                    rung += 1
                elif error.status_code == 500 and self.line.retries and seed == request.seed:
                    seed = request.seed ^ 1
                else:
                    raise
                continue
            self._settle(digest, rung)
            self._measure(request, reply)
            return reply

    async def _sent(self, request: Request, rung: int) -> ChatCompletion:
        """Not through `chat.completions.create`, which walks every message of a long conversation."""
        from openai.types.chat import ChatCompletion  # noqa: PLC0415 (imported by `opened` already)

        header = self.line.dialect.affinity
        options: Any = {"headers": {header: request.affinity}} if header and request.affinity else {}
        body = self._body(request, rung)
        return await self._client.post("/chat/completions", cast_to=ChatCompletion, body=body, options=options)

    def _body(self, request: Request, rung: int) -> dict[str, Json]:
        line = self.line
        body: dict[str, Json] = {
            "model": line.model,
            "messages": request.messages,
            line.dialect.limit: line.max_tokens,
            "temperature": line.temperature,
            "seed": request.seed,
        }
        form = None if request.schema is None else _form(request.schema, rung, line.dialect)
        return {**body, **({} if form is None else {"response_format": form}), **line.body}

    def _reply(self, completion: ChatCompletion) -> Reply:
        """What is used of a completion. Engines leave out what they like, so nothing is taken for granted."""
        choice = next(iter(as_list(getattr(completion, "choices", None))), None)
        message = getattr(choice, "message", None)
        content = _text(getattr(message, "content", None))
        if not hasattr(message, "content") or content is None:
            raise Unanswered(self.line.base_url, "the answer is no chat completion; does `base_url` end in /v1?")
        thought = getattr(message, "reasoning", None) or getattr(message, "reasoning_content", None)
        reasoning = thought if isinstance(thought, str) else ""
        finish: Json = getattr(choice, "finish_reason", None)
        return Reply(self._clean(content), finish, _usage(completion), self._clean(reasoning))

    def _clean(self, text: str) -> str:
        """What an engine said, without lone surrogates, which nothing can carry, and without the key."""
        key = self.line.key
        told = text.replace(key, "***") if len(key) >= SHORTEST_SECRET else text
        return told.encode("utf-8", "replace").decode("utf-8")

    # what is learnt

    def _learn(self, listed: Json) -> None:
        """The models that the endpoint serves, and how long a conversation may be."""
        models = {one["id"]: one for one in map(as_object, as_list(as_object(listed).get("data"))) if "id" in one}
        if models and self.line.model not in models:
            known = did_you_mean(self.line.model, models)
            raise UsageError(f"{self.line.base_url}: serves no model {self.line.model!r}{known}")
        told: Json = models.get(self.line.model, {}).get("max_model_len")
        self._context = told if isinstance(told, int) and told > 0 else None

    def _is_about_the_form(self, error: APIStatusError, rung: int) -> bool:
        """May the engine have refused the form of the answer, and not the rest?

        Some answer 500 to a `json_schema`; an engine that took one before has another reason.
        """
        if rung == len(_RUNGS) - 1:
            return False
        if error.status_code == 500:
            return rung == 0 and not self._takes_schemas
        return error.status_code in (400, 415, 422, 501) and not _TOO_LONG.search(error.message.lower())

    def _settle(self, digest: str, rung: int) -> None:
        self._takes_schemas = self._takes_schemas or (rung == 0 and digest != "")
        if rung:
            self._lowered[digest] = rung
            if len(self._lowered) > FORMS_KEPT:
                self._lowered.popitem(last=False)

    def _measure(self, request: Request, reply: Reply) -> None:
        """How many characters a token of this model has, in the longest conversation of late."""
        tokens = reply.usage.get("prompt_tokens", 0)
        if tokens:
            self._density = sum(len(message["content"]) for message in request.messages) / tokens

    # refusals

    def _reason(self, error: OpenAIError | ValueError | RecursionError) -> str:
        from openai import APIConnectionError, APIStatusError  # noqa: PLC0415 (imported by `opened` already)

        if isinstance(error, APIConnectionError):
            return _BROKEN if type(error.__cause__).__name__ in _MID_WAY else _UNREACHABLE
        if isinstance(error, APIStatusError):
            return self._refusal(error)
        return f"the answer cannot be read ({type(error).__name__}); is this an OpenAI-compatible endpoint?"

    def _refusal(self, error: APIStatusError) -> str:
        """The endpoint's own words, and what to look at."""
        told = error.message if self.line.key == KEYLESS else error.message.replace(self.line.key, "***")
        told = " ".join(told.split())[:LONGEST_REASON]
        advice = _ADVICE.get(error.status_code)
        return f"HTTP {error.status_code}: {told}" + (f"; {advice}" if advice else "")


_UNREACHABLE = "cannot be reached; start the server, or correct `base_url`"
_BROKEN = "the connection broke before the answer was complete; look at the server's log"
_MID_WAY = frozenset({"RemoteProtocolError", "ReadError", "WriteError"})
"""How the HTTP client names connections that ended after they had begun."""
_ELSEWHERE = (301, 302, 303, 307, 308)
_ADVICE = {
    **dict.fromkeys(_ELSEWHERE, "it sends elsewhere: give that address as `base_url`"),
    400: "check `model`, `extra_body` and the context length",
    401: "check the key in the variable that `api_key_env` names",
    403: "check the key in the variable that `api_key_env` names",
    404: "check `base_url` and `model`",
    429: "lower `max_concurrency`",
}
"""What to look at, by HTTP status."""


_RUNGS = ("json_schema", "json_object with schema", "json_object", "none")
"""How an answer is bound to a schema, the strictest way first; engines refuse what they do not know."""


def _form(schema: Record, rung: int, dialect: Dialect) -> Record | None:
    """The `response_format` of a rung."""
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
