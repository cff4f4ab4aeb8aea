"""Responders answer the calls of a recorded session: a simulation, or another recording of the same session."""

from __future__ import annotations

import json
import re
from collections import Counter, OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, Self, TypeAlias

from mcp_sim.recordings.observed import key_of, observe
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.spec.foreign.files import file_name
from mcp_sim.spec.sessions import Answer, RecordedCall, Session
from mcp_sim.types import Json, Observation, Record, RpcError, ToolResult, leaves
from mcp_sim.types.errors import Crash, UsageError
from mcp_sim.types.lexicon.english import is_past_event
from mcp_sim.types.scenario import Scenario
from mcp_sim.types.time_formats import parse_time
from mcp_sim.world.world import World

SIMULATORS_KEPT = 4  # how many compiled scenarios are kept for later sessions


class Responder(Protocol):
    """Anything that answers the calls of one session."""

    async def call(self, tool: str, arguments: Record) -> Answer:
        """Return the answer to the next call. Raises `Crash` or `BadArguments` if mcp-sim cannot answer it."""
        ...


Responders: TypeAlias = Callable[[Session], AbstractAsyncContextManager[Responder]]
"""Opens a responder for a session, in the state that the session begins with."""


class SimulatedServer:
    """A world of mcp-sim as the responder of a session. Its time passes as it did between the calls of the session."""

    def __init__(self, world: World, ids: dict[str, str], times: Iterable[datetime | None] = ()) -> None:
        self._world, self._ids, self._times = world, ids, iter(times)

    async def call(self, tool: str, arguments: Record) -> Answer:
        """Return the answer to a call, as a client would receive it."""
        at, clock = next(self._times, None), self._world.clock
        if at is not None:
            passed = at - clock.start - clock.elapsed() - self._world.scenario.clock.per_call
            clock.advance(max(passed, timedelta(0)))
        return answer_of(await self._world.call(self._ids.get(tool, tool), arguments))


class RecordedServer:
    """The recorded answers to the calls of a session, in their order: what a perfect simulation would answer."""

    def __init__(self, calls: Iterable[RecordedCall]) -> None:
        self._calls = iter(calls)

    async def call(self, tool: str, arguments: Record) -> Answer:
        """Return the next recorded answer. Raises `Crash` if another tool was recorded."""
        recorded = next(self._calls, None)
        if recorded is None or recorded.tool != tool:
            raise Crash(tool, f"the recording has {'no such call' if recorded is None else recorded.tool} here")
        return recorded.answer


def answer_of(observation: Observation) -> Answer:
    """Return an observation as a client receives it. A delivery without an answer is an error."""
    body = observation.body
    if isinstance(body, RpcError):
        return {"error": {"code": body.code, "message": body.message, "data": body.data}}
    if not isinstance(body, ToolResult):
        return {"error": {"code": -32000, "message": "no answer"}}
    structured = {"structuredContent": body.value} if body.form == "structured" else {}
    meta = {} if body.meta is None else {"_meta": body.meta}
    return {"result": {"content": body.content, **structured, "isError": body.is_error, **meta}}


# opening them ---------------------------------------------------------------------------------------------------------


def recorded_answers(sessions: Sequence[Session]) -> Responders:
    """Return responders that answer with other recordings of the same sessions."""
    by_name = {(session.server, session.name): session for session in sessions}

    @asynccontextmanager
    async def opened(session: Session) -> AsyncGenerator[Responder]:
        other = by_name.get((session.server, session.name))
        if other is None:
            raise UsageError(f"no other recording of session {session.name} of {session.server}")
        yield RecordedServer(other.calls)

    return opened


class Simulations:
    """Opens worlds for sessions. Those of one day with the same tools and state share a compiled scenario.

    `source` is a tool spec, a scenario, or None for what mcp-sim infers from the recorded list of tools alone. Each
    world begins with the state and at the time of its session, if that was recorded; a compiled `Scenario` keeps its
    own. Faults are left out. Use it as an async context manager.
    """

    def __init__(self, source: str | Path | Scenario | None, trust: bool | Iterable[Path] = False) -> None:
        self._source = source
        self._trust = trust if isinstance(trust, bool) else [*trust]
        self._digests = _Digests()
        self._simulators = OrderedDict[tuple[str, str, date | None], Simulator]()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._keep(0)

    @asynccontextmanager
    async def __call__(self, session: Session) -> AsyncGenerator[Responder]:
        """Open a world for a session."""
        start = start_of(session)
        day = None if start is None else start.date()
        key = self._digests.of(session.tools), self._digests.of(session.state), day
        if key not in self._simulators:
            await self._keep(SIMULATORS_KEPT - 1)
            scenario = replace(self._scenario(session), perturbations=())
            self._simulators[key] = Simulator(scenario, ledger_keep=1)
            await self._simulators[key].start()
        simulator = self._simulators[key]
        now = None if isinstance(self._source, Scenario) else start_of(session)
        times = (call.at for call in session.calls) if now is not None else ()
        world = simulator.world(session.name, now=now)
        # Where several servers have a tool of one name, the recorded server's comes last and wins.
        tools = sorted(simulator.scenario.domain.tools.values(), key=lambda tool: tool.server == session.server)
        yield SimulatedServer(world, {tool.name: tool.id for tool in tools}, times)

    async def _keep(self, most: int) -> None:
        """Close the simulators that were opened first, but for so many."""
        while len(self._simulators) > most:
            _, simulator = self._simulators.popitem(last=False)
            await simulator.aclose()

    def _scenario(self, session: Session) -> Scenario:
        if isinstance(self._source, Scenario):
            return self._source
        if self._source is not None:
            return load(self._source, trust=self._trust, state=session.state, now=start_of(session))
        with TemporaryDirectory() as folder:
            file = Path(folder) / f"{file_name(session.server)}.json"
            file.write_text(json.dumps({"tools": session.tools}), encoding="utf-8")
            return load(file, state=session.state, now=start_of(session))


class _Digests:
    """The digests of values. That of a value that sessions share is computed once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Json, str]] = {}

    def of(self, value: Json) -> str:
        """Return a text that is equal for equal values."""
        if id(value) not in self._known:
            self._known[id(value)] = value, sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
        return self._known[id(value)][1]


# time of a session ----------------------------------------------------------------------------------------------------


_IN_TEXT = re.compile(
    r"(?:created|added|updated|modified|completed|saved|recorded|date)\W{1,12}"
    r"(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)",
    re.IGNORECASE,
)
"""When something was done, in a text."""
_FIRST = datetime(2024, 1, 1, tzinfo=UTC)  # no session with an MCP server is older than the protocol
_PAST = re.compile(r"creat|updat|modif|added|complet", re.IGNORECASE)  # names of fields with such a time


def start_of(session: Session) -> datetime | None:
    """Return when a session began; None if neither its header nor its answers show it.

    Servers note when something is created or changed. The day that most such times name, but for those that the given
    state or an argument has, is that of the session; its first time is the start.
    """
    if session.started is not None:
        return session.started
    noted = dict.fromkeys(text for call in session.calls for text in _noted(observe(call.answer).value))
    moments = [(text, moment) for text in noted if (moment := _moment(text)) is not None]
    if not moments:
        return None
    known = json.dumps([session.state, [call.arguments for call in session.calls]])
    shown = [moment for text, moment in moments if moment >= _FIRST and str(text) not in known]
    days = Counter(moment.date() for moment in shown)
    if not days:
        return None
    (day, _), *_ = days.most_common(1)
    return min(moment for moment in shown if moment.date() == day)


def _noted(value: Json) -> Iterator[Json]:
    """Yield what an answer says about when something was done."""
    for path, leaf in leaves(value):
        name = key_of(path)
        if isinstance(leaf, str | int | float) and (_PAST.search(name) or is_past_event(name)):
            yield leaf
        elif isinstance(leaf, str):
            yield from _IN_TEXT.findall(leaf)


def _moment(value: Json) -> datetime | None:
    moment = None if isinstance(value, bool) else parse_time(value)
    return moment if moment is None or moment.tzinfo is not None else moment.replace(tzinfo=UTC)
