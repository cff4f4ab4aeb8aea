"""A scenario behind the endpoints of a resources server of NeMo Gym, which the taskset `nemo_gym` of verifiers calls.

    POST /seed_session     begin an episode; a cookie, or `resources_session_id`, names it from then on
    POST /TOOL             call a tool with the arguments in the body; the response is the text that the agent reads
    POST /verify           end the episode, and return the row with its reward
    POST /close_session    drop the episode
    GET  /rows?seeds=N     the data set: a row of JSON per seed

It is for the trainer. Agents reach it only through the calls that the trainer makes for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from mcp_sim.training.actions import Answer, ToolCall
from mcp_sim.training.environment import Environment
from mcp_sim.types import Record
from mcp_sim.types.errors import McpSimError, UsageError
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import decode_strict, encode

RESERVED = frozenset({"rows", "seed_session", "verify", "close_session"})  # the paths that tools cannot have

VERIFIED = ("response", "responses_create_params", "verification_input")
"""The keys of what is verified; the last is that of newer versions of NeMo Gym."""

MOST_SESSIONS = 10_000  # episodes at a time: 10,000 worlds take about half a gigabyte after twenty calls each

COOKIE = "session"
SETTINGS = "mcp_sim"  # the key of a row that has the parameters of an episode


def rows(environment: Environment, seeds: Iterable[int]) -> Iterator[Record]:
    """Yield the row of a data set for each seed: what the model is asked, and how its episode begins."""
    tools: list[Record] = [
        {"type": "function", **tool["function"], "strict": False} for tool in environment.tools("openai")
    ]
    for seed in seeds:
        asked = {"input": [{"role": "user", "content": environment.task}], "tools": tools}
        yield {"responses_create_params": asked, SETTINGS: {"seed": seed}}


class GymServer:
    """The episodes of one scenario, by the names of their sessions.

    Raises `UsageError` if a tool has the name of an endpoint.
    """

    def __init__(
        self, scenario: str | Path, *, world_model: str | None = None, trust: bool | Iterable[Path] = False
    ) -> None:
        self._open = lambda: Environment(scenario, world_model=world_model, trust=trust, max_calls=None)
        self._listing = self._open()
        taken = sorted(RESERVED & {tool["name"] for tool in self._listing.tools("mcp")})
        if taken:
            raise UsageError(
                f"{scenario}: the tool {taken[0]!r} has the name of an endpoint of this server; rename it in its spec"
            )
        self._sessions = dict[str, Environment]()

    def app(self) -> Starlette:
        """Return the ASGI application."""
        return Starlette(
            routes=[
                Route("/", _alive),
                Route("/rows", self._rows),
                Route("/seed_session", self._seed, methods=["POST"]),
                Route("/verify", self._verify, methods=["POST"]),
                Route("/close_session", self._close, methods=["POST"]),
                Route("/{tool}", self._call, methods=["POST"]),
            ],
            exception_handlers={HTTPException: _refused_by_body},
        )

    async def _rows(self, request: Request) -> Response:
        asked = request.query_params.get("seeds", "1")
        if not asked.isdecimal() or len(asked) > len(str(MOST_SESSIONS)):
            return _refused(400, f"seeds: expected a number up to {MOST_SESSIONS}, got {asked!r}")
        lines = (encode(row) + b"\n" for row in rows(self._listing, range(min(int(asked), MOST_SESSIONS))))
        return StreamingResponse(lines, media_type="application/jsonl")

    async def _seed(self, request: Request) -> Response:
        """Begin an episode. The same session again is the same episode, so that a retry begins none."""
        body = await _body(request)
        name = body.get("resources_session_id") or token_hex(8)
        # A cookie cannot hold other characters.
        if not isinstance(name, str) or len(name) > 200 or not (name.isascii() and name.isprintable()):
            return _refused(400, "resources_session_id: expected a text of up to 200 printable ASCII characters")
        if name not in self._sessions:
            if len(self._sessions) >= MOST_SESSIONS:
                return _refused(503, f"there are {MOST_SESSIONS} sessions, which is the most; close some")
            environment = self._open()
            settings = as_object(as_object(body.get("task_data", body)).get(SETTINGS))
            try:
                environment.reset(**_parameters(settings))
            except McpSimError as error:
                return _refused(400, f"{SETTINGS}: {error}")
            self._sessions[name] = environment
        response = JSONResponse({"resources_session_id": name} if "resources_session_id" in body else {})
        response.set_cookie(COOKIE, name, httponly=True)
        return response

    async def _call(self, request: Request) -> Response:
        environment = self._session(request, {})
        if environment is None:
            return _refused(404, "there is no such session; POST /seed_session begins one")
        if environment.done:
            return _refused(409, "the episode is over")
        step = await environment.astep(
            ToolCall(request.path_params["tool"], (await request.body()).decode("utf-8", "replace"))
        )
        return PlainTextResponse(step.messages[0].text, 500 if environment.crash else 200)

    async def _verify(self, request: Request) -> Response:
        """Return the row with its reward. An episode without one is to be left out: its reward is 0, and masked."""
        body = await _body(request)
        # A model may call a tool that does not exist, of this name, which must not end its episode.
        if not body.keys() & {*VERIFIED}:
            return _refused(404, f"there is no such tool; a row to verify has {' or '.join(VERIFIED)}")
        environment = self._session(request, body)
        if environment is None:
            return JSONResponse({**body, **_masked("lost_session", "there is no such session")})
        if not environment.done:
            # The last text of the model in a response of the Responses API.
            output: Any = as_object(body.get("response")).get("output")
            messages = [as_object(item) for item in cast("list[Any]", output if isinstance(output, list) else [])]
            blocks: list[Any] = [
                block
                for message in messages
                if message.get("type") == "message" and isinstance(message.get("content"), list)
                for block in message["content"]
            ]
            texts = [str(as_object(block)["text"]) for block in blocks if "text" in as_object(block)]
            environment.step(Answer(texts[-1] if texts else ""))
        grade, reward = environment.grade(), environment.reward()
        judged = {
            f"passed_{verdict.id}": float(verdict.outcome == "passed")
            for verdict in grade.verdicts
            if verdict.outcome in ("passed", "failed")
        }
        sure = {"reward": reward, "reward_guessed": grade.reward_guessed}
        scored = sure if reward is not None else _masked("crashed", environment.crash)
        about = {"outcome": grade.outcome, "because": grade.because, "calls": environment.calls, **judged}
        return JSONResponse({**body, **scored, **about})

    async def _close(self, request: Request) -> Response:
        body = await _body(request)
        name = body.get("resources_session_id") or request.cookies.get(COOKIE, "")
        self._sessions.pop(name if isinstance(name, str) else "", None)
        return JSONResponse({"resources_session_id": name})

    def _session(self, request: Request, body: Record) -> Environment | None:
        name = body.get("resources_session_id") or request.cookies.get(COOKIE)
        return self._sessions.get(name) if isinstance(name, str) else None


async def _alive(_request: Request) -> Response:
    return JSONResponse({"status": "ok"})


def _masked(kind: str, reason: str) -> Record:
    return {"reward": 0.0, "mask_sample": True, "failure_kind": f"mcp_sim:{kind}", "failure_reason": reason}


def _refused(status: int, problem: str) -> Response:
    return JSONResponse({"error": problem}, status)


async def _body(request: Request) -> Record:
    """Return the JSON object of a request. Raises `HTTPException` for another body."""
    try:
        body = decode_strict((await request.body()).decode() or "{}")
    except ValueError as error:
        raise HTTPException(400, f"the body is not valid JSON: {error}") from None
    if not isinstance(body, dict):
        raise HTTPException(400, "expected a JSON object as the body")
    return cast("Record", body)


async def _refused_by_body(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _refused(error.status_code, error.detail)


def _parameters(settings: Record) -> dict[str, Any]:
    """Return the parameters of `reset`. Raises `UsageError` for others."""
    kinds: Mapping[str, tuple[type, ...]] = {
        "seed": (int,), "stream": (str,), "intensity": (int, float), "faults": (bool, list),
    }  # fmt: skip
    for name, value in settings.items():
        if name not in kinds or not isinstance(value, (*kinds[name], type(None))):
            raise UsageError(f"{name}: expected {', '.join(kinds)} of the right type, got {value!r}")
    return {name: value for name, value in settings.items() if value is not None}
