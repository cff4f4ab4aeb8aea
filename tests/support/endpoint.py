"""An OpenAI-compatible endpoint over real HTTP, for cases that a real engine does not produce on demand.

By default it answers as an engine with guided decoding does: with random values that are valid under the request's
`response_format`.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.texts import matching_text

Json: TypeAlias = Any
Body: TypeAlias = dict[str, Json]
Respond: TypeAlias = Callable[["Asked"], Awaitable[Response]]


@dataclass(frozen=True)
class Asked:
    """A received request: its body, its headers, and the number of earlier requests."""

    body: Body
    headers: dict[str, str]
    before: int
    request: Request

    @property
    def question(self) -> str:
        """The content of the newest message."""
        return self.body["messages"][-1]["content"]

    @property
    def schema(self) -> Body | None:
        """The schema that the answer must fit."""
        form: Body = self.body.get("response_format") or {}
        return form.get("schema") or form.get("json_schema", {}).get("schema")


@dataclass
class Engine:
    """The endpoint: its URL, the requests it got, and how it answers."""

    url: str
    respond: Respond
    models: Response | None = None
    """The response to a request for its models; None: it has no such page."""
    asked: list[Asked] = field(default_factory=list[Asked])
    disconnected: anyio.Event = field(default_factory=anyio.Event)
    arrived: anyio.Event = field(default_factory=anyio.Event)
    under_way: int = 0
    most_under_way: int = 0
    failure: Exception | None = None
    """The error of a responder. The package would only see a refusal, and try again."""

    async def complete(self, request: Request) -> Response:
        asked = Asked(json.loads(await request.body()), dict(request.headers), len(self.asked), request)
        self.asked.append(asked)
        self.arrived.set()
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await self.respond(asked)
        except Exception as error:
            self.failure = error
            raise
        finally:
            self.under_way -= 1

    async def listed(self, _request: Request) -> Response:
        return Response(status_code=404) if self.models is None else self.models

    async def hang(self, asked: Asked) -> Response:
        """Answer nothing until the client has gone."""
        while (await asked.request.receive())["type"] != "http.disconnect":
            pass
        self.disconnected.set()
        return Response(status_code=499)


def completion(content: str, finish_reason: str = "stop", **message: Json) -> Response:
    """Return a chat completion as engines send it."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish_reason,
    }
    usage = {
        "prompt_tokens": 120,
        "completion_tokens": 30,
        "total_tokens": 150,
        "prompt_tokens_details": {"cached_tokens": 96},
    }
    body = {"id": "cmpl-1", "object": "chat.completion", "created": 0, "model": "tiny", "choices": [choice]}
    return JSONResponse({**body, "usage": usage})


async def guided(asked: Asked) -> Response:
    """Answer with random values that are valid under the request's schema."""
    random = Random(asked.body["seed"])
    return completion("free text" if asked.schema is None else json.dumps(valid(asked.schema, random)))


def saying(*contents: str) -> Respond:
    """Return a responder that gives these answers in turn, then repeats the last."""

    async def respond(asked: Asked) -> Response:
        return completion(contents[min(asked.before, len(contents) - 1)])

    return respond


def giving(*responses: Response) -> Respond:
    """Return a responder that gives these responses in turn, then repeats the last."""

    async def respond(asked: Asked) -> Response:
        return responses[min(asked.before, len(responses) - 1)]

    return respond


def valid(schema: Body, random: Random) -> Json:
    """Return a random value that is valid under a tightened schema."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return random.choice(schema["enum"])
    if "anyOf" in schema:
        return valid(random.choice(schema["anyOf"]), random)
    match schema.get("type", "string"):
        case "object":
            parts, required = schema.get("properties", {}), schema.get("required", ())
            kept = [name for name in parts if name in required or random.random() < 0.5]
            return {name: valid(parts[name], random) for name in kept}
        case "array":
            least = schema.get("minItems", 0)
            most = min(schema.get("maxItems", least + 8), least + 8)
            return [valid(schema.get("items", {}), random) for _ in range(random.randint(least, most))]
        case "integer":
            return random.randint(schema.get("minimum", -9), schema.get("maximum", 9_999))
        case "number":
            return random.uniform(schema.get("minimum", -9), schema.get("maximum", 9_999))
        case "string":
            return _text(schema, random)
        case kind:
            return {"boolean": random.random() < 0.5, "null": None}[kind]


def _text(schema: Body, random: Random) -> str:
    if "pattern" in schema:
        text = matching_text(schema, Chance(random.randbytes(8)))
        assert text is not None, schema
        return text
    least = schema.get("minLength", 0)
    length = random.randint(least, min(schema.get("maxLength", least + 300), least + 300))
    return "".join(random.choice("abcdé \t\x01漢😀") for _ in range(length))


class _Server(uvicorn.Server):
    """uvicorn's server, without its pauses at the end."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ended = anyio.Event()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.ended.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in [*self.server_state.connections]:
            connection.shutdown()
        if self.server_state.tasks:
            _, late = await asyncio.wait(self.server_state.tasks, timeout=1)
            for task in late:
                task.cancel()


@asynccontextmanager
async def serving(respond: Respond = guided, models: Response | None = None) -> AsyncGenerator[Engine]:
    """Yield an endpoint on a free port of this machine."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:  # named, or asyncio leaves Nagle's 40 ms in
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        engine = Engine(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", respond, models)
        completions = Route("/v1/chat/completions", engine.complete, methods=["POST"])
        app = Starlette(routes=[completions, Route("/v1/models", engine.listed)])
        options = uvicorn.Config(app, log_level="critical", lifespan="off", ws="none")
        server = _Server(options)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [listening])
            try:
                yield engine
            finally:
                server.ended.set()
        if engine.failure is not None:
            raise engine.failure


def closed_port() -> int:
    """Return a port without a listener."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]
