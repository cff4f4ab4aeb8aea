"""A world: one live instance of a scenario: state, clock, history, agenda, ledger. Only a world writes state."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from itertools import count
from operator import itemgetter
from typing import Any, Protocol, cast

from anyio import Lock
from rpds import HashTrieMap

from mcp_sim.catalogue import Lasting, listed
from mcp_sim.clock import Clock, iso
from mcp_sim.draws import SEPARATOR, Draws
from mcp_sim.errors import BadArguments, Crash, Unwritable
from mcp_sim.extensions import Occasion, Sink, Verdict
from mcp_sim.json_text import canonical, decode
from mcp_sim.late_writes import fitting
from mcp_sim.repeats import Repeats
from mcp_sim.scenario import ExpectationEntry, PerturbationEntry, Scenario
from mcp_sim.state import State
from mcp_sim.trace import History, Ledger, crash_line, fork_line, step_line
from mcp_sim.types import (
    Call,
    Change,
    Decided,
    Due,
    Erred,
    Json,
    Memories,
    Observation,
    Past,
    Record,
    Seen,
    Step,
    Tool,
    Transition,
    Turn,
)

MOST_VERSIONS = 256
"""So many versions of a world's state are kept for perturbations that look back."""

NO_TOOL = Tool("", "", {"name": "", "inputSchema": {"type": "object"}})

MICROSECOND = timedelta(microseconds=1)

LOOKED_AT = ("", "looked-at")
"""Where a world remembers up to when others have acted, in microseconds since its start."""

DEEPEST = 64
"""How many levels the arguments of a call may nest."""


@dataclass(frozen=True, slots=True)
class Version:
    """Everything of a world that a call may change: kept by reference, so that a snapshot and a fork are O(1)."""

    state: State
    counts: tuple[int, ...]
    facts: tuple[Any, ...]
    occurrences: HashTrieMap[str, int]
    memories: HashTrieMap[tuple[str, str], Any]
    index: int = 0
    n: int = 0


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a world comes from and what it goes back to: all that worlds of one scenario and seed have in common."""

    scenario: Scenario
    seed: int
    stream: str
    first: Version
    timed: tuple[PerturbationEntry, ...] = ()
    """The perturbations that act by themselves."""
    lasting: tuple[Lasting, ...] = ()
    """The perturbations of the catalogue."""


class Passed(Protocol):
    """What became of a call, as a world commits it."""

    @property
    def truth(self) -> Transition | None: ...
    @property
    def transition(self) -> Transition: ...
    @property
    def decided(self) -> tuple[Decided, ...]: ...
    @property
    def erred(self) -> tuple[Erred, ...]: ...
    @property
    def is_stub(self) -> bool: ...


class World:
    """One agent's world. Calls are answered one at a time; delays are for whoever delivers the observation."""

    def __init__(
        self,
        name: str,
        origin: Origin,
        clock: Clock,
        answer: Callable[[World, Call], Awaitable[Observation]],
        sinks: Sequence[Sink] = (),
        ledger_keep: int = 1000,
    ) -> None:
        self.name = name
        self.origin = origin
        self.clock = clock
        self.lock = Lock(fast_acquire=True)
        self.version = origin.first
        self.ledger = Ledger(ledger_keep)
        self.history = History(ledger_keep)
        self.repeats = Repeats()
        self.seen = deque[Seen](maxlen=MOST_VERSIONS if origin.scenario.looks_back else 0)
        self._answer = answer
        self._sinks = sinks
        self._forks = count(1)

    # what users of the Python API call

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        key: str | None = None,
        answers: Mapping[str, Any] | None = None,
    ) -> Observation:
        """Answer a call of a tool, by its id. Raises Crash, or BadArguments where they cannot be arguments.

        With an idempotency `key`, a call that was answered under this key before is not made again: it gets the same
        observation. Forks begin without keys, and a reset forgets them. `answers` are those to the tool's questions.
        """
        call = Call(tool, dict(arguments or {}), dict(answers or {}), key)
        if key is None:
            return await self._answer(self, call)
        return await self.repeats.once(key, call, lambda: self._answer(self, call))

    @property
    def view(self) -> State:
        """The newest version of the state, read-only."""
        return self.version.state

    @property
    def size(self) -> int:
        """About how many bytes it holds that no other world holds: what was written, its ledger, answers under keys."""
        return self.version.state.size + self.ledger.size + self.repeats.size

    @property
    def scenario(self) -> Scenario:
        return self.origin.scenario

    def catalogue(self, server: str) -> list[Tool]:
        """The tools of one server as this world lists them now."""
        scenario = self.scenario
        tools = [scenario.listed(scenario.domain.tools[tool]) for tool in scenario.servers[server].tools]
        lasting = self.origin.lasting
        return (
            list(listed(tools, server, lasting, self._glance(self.version, self.clock.elapsed()))) if lasting else tools
        )

    def lists(self, tool: str) -> bool:
        """Is there a tool of this id in the lists as they are now?"""
        return any(one.id == tool for server in self.scenario.servers for one in self.catalogue(server))

    def fork(self, name: str | None = None, stream: str | None = None) -> World:
        """A second world that stands where this one stands. With a `stream` of its own, its chances differ."""
        origin = self.origin if stream is None else replace(self.origin, stream=stream)
        twin_name = name or f"{self.name}-fork-{next(self._forks)}"
        twin = World(twin_name, origin, self.clock.fork(), self._answer, self._sinks, self.ledger.keep)
        twin.version = self.version
        twin.ledger, twin.history = self.ledger.fork(), self.history.fork()
        twin.seen = self.seen.copy()
        for sink in self._sinks:
            sink.write(fork_line(twin_name, self.name, self.version.n, origin.stream))
        return twin

    def reset(self) -> None:
        """Back to the start: state, clock, counters, memory. The ledger goes on."""
        n = self.version.n
        self.clock = self.clock.restarted()
        self.version = replace(self.origin.first, n=n)
        self.history = History(self.ledger.keep)
        self.repeats = Repeats()
        self.open()

    def grade(self) -> list[tuple[ExpectationEntry, Verdict]]:
        """What the expectations say of the world as it stands."""
        domain, version = self.scenario.domain, self.version
        return [
            (entry, entry.expectation.verdict(facts, version.state, domain))
            for entry, facts in zip(self.scenario.expectations, version.facts, strict=True)
        ]

    # what the simulator calls

    def open(self) -> None:
        """Write the step that opens the world, or opens it again."""
        opening: Record = {
            "seed": self.origin.seed,
            "stream": self.origin.stream,
            "clock": {"mode": self.clock.mode, "now": iso(self.clock.start)},
        }
        if self.scenario.intensity != 1:
            opening["intensity"] = self.scenario.intensity
        self._record(Step(self.version.n + 1, "reset", self.clock.start, opening=opening), self.version, {})

    def tick(self) -> None:
        """Let the time of one call pass, then commit what has come due."""
        self.clock.advance(self.scenario.clock.per_call)
        now = self.clock.start + self.clock.elapsed()
        index = self.version.index + 1
        due, state = self.version.state.split_agenda(lambda entry: _is_due(entry, now, index))
        if due:
            self.version = replace(self.version, state=state)
        late = [(entry.at if entry.call is None else now, partial(self._late, entry)) for entry in due]
        acts = [*late, *self._acts(now)] if self.origin.timed else late
        for at, commit in sorted(acts, key=itemgetter(0)):
            commit(at)

    def _late(self, entry: Due, at: datetime) -> None:
        """Commit what was put on the agenda, if it still fits."""
        changes = fitting(self.version.state, entry.changes, self.scenario.domain)
        self._commit_due(replace(entry, at=at, changes=changes))

    def _acts(self, now: datetime) -> Iterator[tuple[datetime, Callable[[datetime], None]]]:
        """What others do by themselves, since the world was last looked at until now."""
        start, memories = self.clock.start, self.version.memories
        since = memories.get(LOOKED_AT, -1)
        self.version = replace(self.version, memories=memories.insert(LOOKED_AT, (now - start) // MICROSECOND))
        for entry in self.origin.timed:
            for number, at in entry.perturbation.occasions(start, start + since * MICROSECOND, now):
                yield at, partial(self._act, entry, number)

    def _act(self, entry: PerturbationEntry, number: int, at: datetime) -> None:
        draws = Draws(self.origin.seed, self.origin.stream, f"{entry.id}/act", number)
        actor, changes = entry.perturbation.act(Occasion(at, self.version.state, draws), self.scenario.domain)
        if changes:
            self._commit_due(Due(at, actor, tuple(changes)))

    def turn(self, call: Call, tool: Tool) -> Turn:
        """Open a turn on the newest version. Raises BadArguments for arguments that no JSON text could hold."""
        scope = scope_of(call)
        version, origin = self.version, self.origin
        occurrence = version.occurrences.get(scope, 0)
        return Turn(
            call=call,
            index=version.index + 1,
            tool=tool,
            view=version.state,
            start=self.clock.start,
            now=self.clock.start + self.clock.elapsed(),
            draws=Draws(origin.seed, origin.stream, scope, occurrence),
            history=self.history,
            memories=Memories(version.memories, version.counts),
            versions=self.seen,
        )

    def beginning(self) -> Turn:
        """The world at its start, seen as if a call were made."""
        return self._glance(self.origin.first, timedelta(0))

    def _glance(self, version: Version, elapsed: timedelta) -> Turn:
        """A turn of no call: what the next one would find."""
        return Turn(
            call=Call("", {}),
            index=version.index + 1,
            tool=NO_TOOL,
            view=version.state,
            start=self.clock.start,
            now=self.clock.start + elapsed,
            draws=Draws(self.origin.seed, self.origin.stream, "", 0),
            history=(),
            memories=Memories(version.memories, version.counts),
        )

    def commit(self, turn: Turn, passed: Passed, measured: Mapping[str, Any]) -> None:
        """Write the changes and the ledger entry of a call, and make the new version visible; before it, its events."""
        transition, truth = passed.transition, passed.truth
        shown = truth is not None and transition.observation.body is truth.observation.body
        pins = transition.pins if shown else ()
        changes = (*transition.changes, *pins)
        state = self.version.state
        for due in transition.events:
            state = state.apply(due.changes)
        if changes or transition.agenda:
            state = state.apply(changes, transition.agenda)
        for due in transition.events:
            self._commit_due(due)
        before = self.version
        version = Version(
            state=state,
            counts=tuple(turn.memories.counts),
            facts=before.facts,
            occurrences=before.occurrences.insert(turn.draws.scope, turn.draws.occurrence + 1),
            memories=turn.memories.committed(),
            index=turn.index,
            n=before.n,
        )
        step = Step(
            n=before.n + 1,
            entry="call",
            at=turn.now,
            index=turn.index,
            tool=turn.call.tool,
            arguments=turn.call.arguments,
            truth=truth,
            served=transition.observation,
            committed=transition.changes,
            pins=pins,
            guessed=transition.guessed,
            stub=passed.is_stub,
            perturbations=passed.decided,
            erred=passed.erred,
            answers=turn.call.answers,
        )
        past = Past(turn.index, turn.call.tool, turn.call.arguments, transition.observation.ok, turn.now, changes)
        self._record(step, version, {**transition.measured, **measured}, past)
        self.clock.advance(transition.observation.delay)

    def crash(self, call: Call, crash: Crash, measured: Mapping[str, Any]) -> None:
        """Record a crash: no step, no change. What keeps it from one sink does not keep it from the others."""
        line = crash_line(self.name, crash, call.arguments, measured)
        for sink in self._sinks:
            with suppress(Unwritable):
                sink.write(line)
        self.ledger.append(line)

    def _commit_due(self, due: Due) -> None:
        """Someone else's changes, as an event of their own."""
        version = replace(self.version, state=self.version.state.apply(due.changes))
        step = Step(self.version.n + 1, "event", due.at, committed=due.changes, actor=due.actor)
        self._record(step, version, {}, Past(self.version.index, "", {}, ok=True, at=due.at, changes=due.changes))

    def _record(self, step: Step, version: Version, measured: Mapping[str, Any], past: Past | None = None) -> None:
        """One more entry: to the expectations' facts, the sinks, the ledger, the history; then the version is visible.

        Whatever fails on the way leaves the world as it was.
        """
        domain = self.scenario.domain
        facts = tuple(
            entry.expectation.notice(known, step, domain)
            for entry, known in zip(self.scenario.expectations, version.facts, strict=True)
        )
        line = step_line(self.name, step, measured)
        self._write(line)
        if step.entry == "reset":
            self.seen.clear()
        if step.entry == "reset" or version.state.overlays is not self.version.state.overlays:
            self.seen.append(Seen(version.index, step.at, version.state))
        self.version = replace(version, facts=facts, n=step.n)
        if past is not None:
            self.history.append(past, len(line))

    def _write(self, line: bytes) -> None:
        for sink in self._sinks:
            sink.write(line)
        self.ledger.append(line)


def _is_due(due: Due, now: datetime, index: int) -> bool:
    return due.at <= now if due.call is None else due.call <= index


def replayed(state: State, steps: Sequence[Record]) -> State:
    """The state after all changes that a ledger's steps say were committed."""
    for step in steps:
        written = [*step.get("committed", ()), *step.get("pins", ())]
        state = state.apply([Change.from_json(body) for body in written])
    return state


def scope_of(call: Call) -> str:
    """Names a call for draws and counters: the same for the same tool and equal arguments."""
    try:
        text = canonical(call.arguments)
    except (RecursionError, ValueError, TypeError) as error:
        reason = "they nest too deeply" if isinstance(error, RecursionError) else str(error)
        raise BadArguments(call.tool, f"are not JSON: {reason}") from None
    if text.count("[") + text.count("{") > DEEPEST and _depth(call.arguments) > DEEPEST:
        raise BadArguments(call.tool, f"nest more than {DEEPEST} levels deep")
    if not _has_names(call.arguments):
        raise BadArguments(call.tool, "are not JSON: every key must be a string")
    if "\\ud" in text and _has_surrogate(text):
        raise BadArguments(call.tool, "are not JSON: they hold half of a character, a lone surrogate")
    return sha256(f"{call.tool}{SEPARATOR}{text}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _has_names(value: Any) -> bool:
    """Is every key in it a string?"""
    if isinstance(value, dict):
        for key, inner in cast("dict[Any, Any]", value).items():
            if not isinstance(key, str) or (not isinstance(inner, str | int) and not _has_names(inner)):
                return False
        return True
    return all(map(_has_names, cast("Sequence[Any]", value))) if isinstance(value, list | tuple) else True


def _has_surrogate(text: str) -> bool:
    """Does a JSON text hold an escaped half of a pair without the other?"""
    try:
        decode(text)
    except ValueError:
        return True
    return False


def _depth(value: Json) -> int:
    """How many levels of arrays and objects a value has, counted up to one more than is allowed."""
    level: list[Json] = [value]
    deep = -1
    while level and deep <= DEEPEST:
        level = [inner for item in level for inner in _inner(item)]
        deep += 1
    return deep


def _inner(value: Json) -> Iterable[Json]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()
