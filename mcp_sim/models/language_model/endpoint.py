"""Client of an OpenAI-compatible endpoint, with a limit on concurrent requests."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import field, replace
from datetime import timedelta
from typing import Any, TypeAlias, cast

from anyio import CapacityLimiter, fail_after

from mcp_sim.models.language_model.connection import (
    COMPLETIONS,
    KEYLESS,
    Connection,
    Disconnected,
    Refused,
    open_connection,
)
from mcp_sim.models.language_model.engines import LAST_WITH_SCHEMA, RESPONSE_FORMATS, Engine, response_format
from mcp_sim.models.language_model.prompt import Message
from mcp_sim.models.language_model.reply import Reply
from mcp_sim.types import Json, Record, as_list, as_object, canonical, encode, frozen
from mcp_sim.types.errors import TooLong, Unanswered, UsageError, did_you_mean
from mcp_sim.types.options import duration_text

FORMS_KEPT = 1_024  # a forgotten schema costs one refused request more
FEWEST_CHARACTERS = 2.0
"""Assumed number of characters per token, until a reply reports its tokens. Low, so that a text of digits or ids is
shortened early rather than refused."""

_PROBE = timedelta(seconds=20)  # shorter, a busy engine looks absent
_VERSION = re.compile(r"/v\d+\w*/?$")
ABSENT = (404, 405, 501)  # the statuses of servers that have no such page


@frozen
class Request:
    """One request to an engine: the conversation, the schema of the answer (None: free text), the sampling seed.

    `affinity` identifies the conversation for routers that keep it on one replica. A reply that no grammar ends stops
    before one of the texts in `stop`.
    """

    messages: Sequence[Message]
    schema: Record | None
    seed: int
    affinity: str = ""
    stop: tuple[str, ...] = ()


Ask: TypeAlias = Callable[[Request], Awaitable[Reply]]
"""Answers a request. Raises `Unanswered` if there is no answer, `TooLong` if the conversation does not fit."""


@frozen
class EndpointSettings:
    """How an endpoint is reached, and the parameters of every request."""

    base_url: str
    model: str
    dialect: Engine
    key: str = KEYLESS
    timeout: timedelta = timedelta(minutes=2)
    max_tokens: int = 4096
    temperature: float = 0.7
    max_concurrency: int = 16
    retries: int = 2
    body: Record = field(default_factory=dict[str, Any])
    """Further fields of the request body; they override the standard ones."""


@asynccontextmanager
async def open_endpoint(line: EndpointSettings) -> AsyncGenerator[Endpoint]:
    """Connect to the endpoint. Raises `UsageError` if it cannot be reached or does not serve the model."""
    async with open_connection(line.base_url, line.key, line.retries) as connection:
        endpoint = Endpoint(line, connection)
        await endpoint.probe()
        yield endpoint


class Endpoint:
    """An open endpoint."""

    def __init__(self, line: EndpointSettings, connection: Connection) -> None:
        self.line, self._connection = line, connection
        self._limiter = CapacityLimiter(line.max_concurrency)
        self._lowered: OrderedDict[str, int] = OrderedDict()
        self._takes_schemas = False
        self._context: int | None = None
        self._density = FEWEST_CHARACTERS

    @property
    def max_characters(self) -> int | None:
        """The number of characters that a conversation may have; None if the engine does not report it."""
        if self._context is None:
            return None
        return max(0, int((self._context - self.line.max_tokens) * self._density * 0.9))

    async def probe(self) -> None:
        """Check that the endpoint answers and serves the model. Raises `UsageError` with advice if not.

        An engine that lists no models is accepted.
        """
        try:
            with fail_after(_PROBE.total_seconds()):
                listed = await self._models()
        except TimeoutError:
            raise UsageError(
                f"{self.line.base_url}: no answer within {duration_text(_PROBE)}; is it the server?"
            ) from None
        except Disconnected as error:
            raise UsageError(f"{self.line.base_url}: {failure_reason(error, self.line.key)}") from None
        except Unanswered as error:
            raise UsageError(str(error)) from None
        except (Refused, ValueError, RecursionError) as error:
            if isinstance(error, Refused) and error.status in (401, 403, *REDIRECTS):
                raise UsageError(f"{self.line.base_url}: {failure_reason(error, self.line.key)}") from None
            return
        models = {
            model["id"]: model for model in map(as_object, as_list(as_object(listed).get("data"))) if "id" in model
        }
        if models and self.line.model not in models:
            known = did_you_mean(self.line.model, models)
            raise UsageError(f"{self.line.base_url}: serves no model {self.line.model!r}{known}")
        length: Json = models.get(self.line.model, {}).get("max_model_len")
        self._context = length if isinstance(length, int) and length > 0 else None

    async def _models(self) -> Json:
        """Return the list of models. Raises `UsageError` if the URL is not that of an endpoint."""
        try:
            return await self._connection.exchange("GET", "/models")
        except Refused as error:
            if error.status not in ABSENT or _VERSION.search(self.line.base_url):
                raise
            refusal = error
        if await self._has("GET", "/v1/models"):
            problem = "but /v1/models exists; write `base_url` with /v1 at its end"
        elif not await self._has("POST", COMPLETIONS):
            problem = "nor for /chat/completions; does `base_url` lack a /v1 at its end?"
        else:
            raise refusal
        raise UsageError(f"{self.line.base_url}: HTTP {refusal.status} for /models, {problem}")

    async def _has(self, method: str, path: str) -> bool:
        """Whether there is such a page, whatever it answers."""
        try:
            await self._connection.exchange(method, path, b"{}" if method == "POST" else None)
        except Refused as error:
            return error.status not in ABSENT
        except ValueError:
            return False
        return True

    async def complete(self, request: Request) -> Reply:
        """Return the reply. Raises `Unanswered` if it does not exist, `TooLong` if the conversation does not fit."""
        async with self._limiter:
            try:
                with fail_after(self.line.timeout.total_seconds()):
                    return await self._answered(request)
            except TimeoutError:
                reason = f"no answer within {duration_text(self.line.timeout)}; raise `timeout`"
                raise Unanswered(self.line.base_url, reason) from None
            except (Disconnected, Refused, ValueError, RecursionError) as error:
                reason = failure_reason(error, self.line.key)
                too_long = TOO_LONG.search(reason.lower()) is not None
                raise (TooLong if too_long else Unanswered)(self.line.base_url, reason) from None

    # one request

    async def _answered(self, request: Request) -> Reply:
        """Return the reply in the strictest response format that the engine accepts for this schema.

        An engine may fail on what it happened to sample, so a 500 is retried once with another seed.
        """
        is_lowered = self._lowered and request.schema is not None
        rung, seed = self._lowered.get(canonical(request.schema), 0) if is_lowered else 0, request.seed
        while True:
            try:
                completion = await self._sent(replace(request, seed=seed), rung)
                reply = read_completion(completion, self.line.base_url, self.line.key)
            except Refused as error:
                if request.schema is not None and self._is_about_the_form(error, rung):
                    rung += 1
                elif error.status == 500 and self.line.retries and seed == request.seed:
                    seed = request.seed ^ 1
                else:
                    raise
                continue
            self._settle(request.schema, rung)
            tokens = reply.usage.get("prompt_tokens", 0)
            if tokens:
                self._density = sum(len(message["content"]) for message in request.messages) / tokens
            return reply

    async def _sent(self, request: Request, rung: int) -> Json:
        header = self.line.dialect.affinity
        headers = {header: request.affinity} if header and request.affinity else None
        line = self.line
        body: dict[str, Json] = {
            "model": line.model,
            "messages": request.messages,
            line.dialect.limit: line.max_tokens,
            "temperature": line.temperature,
            "seed": request.seed,
        }
        form = None if request.schema is None else response_format(request.schema, rung, line.dialect)
        if form is not None:
            body["response_format"] = form
        if request.stop and line.dialect.stops and (request.schema is None or rung > LAST_WITH_SCHEMA):
            body["stop"] = [*request.stop]
        return await self._connection.exchange("POST", COMPLETIONS, encode({**body, **line.body}), headers)

    # what the engine reports

    def _is_about_the_form(self, error: Refused, rung: int) -> bool:
        """Whether the engine may have rejected the response format, and not the rest of the request.

        Some engines answer 500 to a `json_schema`; one that accepted it before has another reason.
        """
        if rung == len(RESPONSE_FORMATS) - 1:
            return False
        if error.status == 500:
            return rung == 0 and not self._takes_schemas
        return error.status in (400, 415, 422, 501) and not TOO_LONG.search(error.message.lower())

    def _settle(self, schema: Record | None, rung: int) -> None:
        self._takes_schemas = self._takes_schemas or (rung == 0 and schema is not None)
        if rung and schema is not None:
            self._lowered[canonical(schema)] = rung
            if len(self._lowered) > FORMS_KEPT:
                self._lowered.popitem(last=False)


# completions ----------------------------------------------------------------------------------------------------------


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
    counts = as_object(as_object(completion).get("usage"))
    cached: Json = as_object(counts.get("prompt_tokens_details")).get("cached_tokens")
    usage = {name: counts.get(name) for name in ("prompt_tokens", "completion_tokens")} | {"cached_tokens": cached}
    usage = {name: count for name, count in usage.items() if isinstance(count, int)}
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


MAX_REASON = 300  # characters of an endpoint's own message in an error: it may repeat the whole request
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
            message = error.message if key == KEYLESS else error.message.replace(key, "***")
            message = " ".join(message.split())[:MAX_REASON]
            advice = _ADVICE.get(error.status)
            return f"HTTP {error.status}: {message}" + (f"; {advice}" if advice else "")
        case _:
            return f"the answer cannot be read ({type(error).__name__}); is this an OpenAI-compatible endpoint?"
