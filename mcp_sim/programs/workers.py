"""Workers: confined processes that call the functions of programs which the user does not trust."""

from __future__ import annotations

import ast
import pickle
import weakref
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import BoundedSemaphore
from time import monotonic
from typing import Any

from mcp_sim.programs.confined import Setup
from mcp_sim.programs.distant_views import change_of, decoded
from mcp_sim.programs.loading import Crashed
from mcp_sim.programs.results import Refused, Result, Rpc, fail
from mcp_sim.programs.sandbox import Late, Limits, Process, Stopped
from mcp_sim.programs.served_views import ServedViews, hit, summary
from mcp_sim.programs.watchdog import LIMIT
from mcp_sim.spec.programs import local_modules
from mcp_sim.types import Change, Json, Key, Record, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_values import encode, value_at
from mcp_sim.types.kinds import Invent
from mcp_sim.types.programs import Program, ProgramFunction

MEMORY = 1 << 30
"""Bytes that the worker of a program may use. Python and what the program imports are part of them."""
MOST_ANSWERED = 8 << 20
"""Bytes that one call may write, ask and answer, as JSON."""
MOST_PROCESSES = 2
"""Processes of one program that answer calls at the same time, as many as there are threads for calls."""
_PROCESSOR_SECONDS = 600  # a program that loops ends; a process is replaced at half of it, between calls


@dataclass(slots=True)
class _Seat:
    """A confined process that has loaded the program."""

    process: Process
    initial: dict[str, Mapping[Key, Record]] = field(default_factory=dict[str, Mapping[Key, Record]])
    """The first records that it has been given."""


class Worker:
    """The confined processes of one program. Each is started when a call finds all others busy, up to `MOST_PROCESSES`.

    One that has come to a limit is ended.
    """

    def __init__(self, program: Program, domain: Domain) -> None:
        self._program, self._domain = program, domain
        self._tables = {f"{program.prefix}{table}" for table in program.tables}
        self._free = BoundedSemaphore(MOST_PROCESSES)
        self._idle: list[_Seat] = []
        weakref.finalize(self, _end, self._idle)

    def call(
        self, function: ProgramFunction, before: Sequence[Json], arguments: Record, turn: Turn, invent: Invent
    ) -> tuple[Any, tuple[Change, ...]]:
        """Return what a function returned or refused, and what it has written.

        Raises `Crashed` if it raised an exception, came to a limit or answers nonsense.
        """
        turn.view.entities()  # if the first records are still to be made, this worker may be asked for them
        if not self._free.acquire(timeout=LIMIT):
            raise self._crashed("is busy with other calls")
        try:
            return self._answer(function, before, arguments, turn, invent)
        except Stopped as error:
            why = f"did not end within {LIMIT:g} seconds" if isinstance(error, Late) else str(error)
            raise self._crashed(why) from None
        finally:
            self._free.release()

    def _answer(
        self, function: ProgramFunction, before: Sequence[Json], arguments: Record, turn: Turn, invent: Invent
    ) -> tuple[Any, tuple[Change, ...]]:
        """Return the answer of one of the processes. Raises `Crashed`, or `Stopped` if the process cannot go on."""
        seat, is_usable = self._seat(), False
        try:
            views = ServedViews(turn, invent, seat.initial)
            request = [function.name, before, arguments, self._situation(function, arguments, turn)]
            reply = _Exchange(seat.process, views, LIMIT).reply(request)
            outcome = self._result(reply)
            is_usable = not _is_used_up(reply)
        except Crashed:
            is_usable = True
            raise
        else:
            return outcome
        finally:
            if is_usable:
                self._idle.append(seat)
            else:
                seat.process.kill()

    def close(self) -> None:
        """End the processes that answer no call. The next call starts another one."""
        _end(self._idle)

    def _crashed(self, why: str) -> Crashed:
        return Crashed(f"{self._program.path.name}: the program {why}")

    def _result(self, reply: list[Any]) -> tuple[Any, tuple[Change, ...]]:
        """Return the value and the changes of a reply. Raises `Stopped` if the program crashed or answers nonsense."""
        match reply:
            case ["crashed", str(why)]:
                raise Crashed(why)
            case ["done", list(), list(), int() | float()]:
                return _value_of(reply[1]), self._changes(reply[2])
            case _:
                raise Stopped("answered something unknown")

    def _changes(self, messages: list[Any]) -> tuple[Change, ...]:
        """Return the changes of a reply: those of the program's own tables, or of backends of its server."""
        try:
            changes = tuple(change_of(message) for message in messages)
        except (ValueError, TypeError) as error:
            raise Stopped(f"answered something unknown: {error}") from None
        for change in changes:
            if not change.entity.startswith(self._program.prefix) or self._lacks_key(change):
                raise Stopped(f"wrote what it cannot: {change.op} {change.entity}")
        return changes

    def _lacks_key(self, change: Change) -> bool:
        entity = self._domain.entities[change.entity] if change.entity in self._tables else None
        return not (entity is None or entity.singleton or change.record is None or entity.key in change.record)

    def _seat(self) -> _Seat:
        """Return a process that answers no call, the last one that did first."""
        while True:
            try:
                seat = self._idle.pop()
            except IndexError:
                return _Seat(self._started())
            if seat.process.is_idle:
                return seat
            seat.process.kill()

    def _started(self) -> Process:
        limits = Limits(memory=MEMORY, cpu=_PROCESSOR_SECONDS)
        process = Process("mcp_sim.programs.confined:serve", limits=limits, complete=True)
        try:
            process.send(pickle.dumps(self._setup()), LIMIT)
            loaded = _decoded(process.receive(LIMIT, MOST_ANSWERED))
        except BaseException:
            process.kill()
            raise
        if loaded != ["loaded"]:
            process.kill()
            raise Crashed(_why(loaded))
        return process

    def _setup(self) -> Setup:
        path = self._program.path.resolve()
        source = path.read_bytes()
        beside = local_modules(path, ast.parse(source))
        files = {str(path): source, **{str(file): file.read_bytes() for file in beside}}
        domain = Domain({}, self._domain.entities, {}, self._domain.description, self._domain.now)
        return Setup(path, files, self._program.prefix, domain)

    def _situation(self, function: ProgramFunction, arguments: Record, turn: Turn) -> Record:
        """Return what a function sees of the turn, with what it will probably read first."""
        draws, prefix = turn.draws, self._program.prefix
        hits: dict[str, list[Any]] = {}
        summaries: dict[str, list[Any]] = {}
        for table, path in function.effects.keys.items():
            key = value_at(arguments, path)
            if isinstance(key, str):
                hits.setdefault(f"{prefix}{table}", []).append(hit(turn.view, f"{prefix}{table}", key))
        for table in function.effects.creates:
            count, last, newest = summary(turn.view, f"{prefix}{table}")
            summaries[f"{prefix}{table}"] = [count, last]
            hits.setdefault(f"{prefix}{table}", []).extend(newest)
        return {
            "now": turn.now.isoformat(),
            "caller": turn.call.caller,
            "index": turn.index,
            "draws": [draws.seed, draws.stream, draws.scope, draws.occurrence],
            "lost": sorted(turn.lost),
            "hits": hits,
            "summaries": summaries,
        }


def _why(loaded: Any) -> str:
    match loaded:
        case ["failed", str(why)]:
            return why
        case _:
            return "the program cannot be loaded"


def _is_used_up(reply: list[Any]) -> bool:
    """Whether a process nears the end of the processor time that it may use."""
    return reply[3] > _PROCESSOR_SECONDS / 2


def _end(seats: list[_Seat]) -> None:
    while seats:
        seats.pop().process.kill()


def _value_of(message: list[Any]) -> Any:
    """Return the value of a message, as a function would return or raise it. Raises `Stopped` for another message."""
    match message:
        case ["value", value]:
            return value
        case ["bytes", str(text)]:
            return b64decode(text)
        case ["refused", value]:
            return Refused(value)
        case ["failure", value]:
            return fail(value)
        case ["rpc", int(code), str(text), data]:
            return Rpc(code, text, data)
        case ["result", str() | None as text, structured, list() | None, bool(is_error)]:
            return Result(text, structured, message[3], is_error)
        case _:
            raise Stopped("answered something unknown")


@dataclass(slots=True)
class _Exchange:
    """The messages of one call, within its time and its bytes."""

    process: Process
    views: ServedViews
    left: float
    """Seconds. Those that a language model takes do not count."""
    bytes_left: int = MOST_ANSWERED

    def reply(self, request: list[Any]) -> list[Any]:
        """Send a request, answer the questions about the state, and return the reply. Raises `Stopped`."""
        message = encode(request)
        while True:
            began = monotonic()
            self.process.send(message, self.left)
            received = self.process.receive(self.left + began - monotonic(), self.bytes_left)
            self.bytes_left -= len(received)
            try:
                reply = _decoded(received)
                if reply[0] != "ask":
                    return reply
                message = encode(self.views.answer(*reply[1:]))
            except Stopped:
                raise
            except Exception as error:
                raise Stopped(f"asked something unknown: {type(error).__name__}") from error
            self.left -= monotonic() - began - self.views.waited
            self.views.waited = 0.0
            if self.left <= 0:
                raise Late


def _decoded(data: bytes) -> Any:
    """Return the value of a message of a worker. Raises `Stopped` if it is not JSON."""
    try:
        return decoded(data)
    except ValueError as error:
        raise Stopped(f"answered what is no JSON: {error}") from None
