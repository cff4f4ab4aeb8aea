"""A world: one live instance of a scenario, with state, clock, history, agenda and ledger.

Only a world writes state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import count
from operator import itemgetter
from typing import Any, Protocol

from anyio import Lock

from mcp_sim.types import Call, Due, Memories, Observation, PastCall, PastVersion, Record, Step, Tool, Turn
from mcp_sim.types.clock import Clock, iso
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import Crash, Unwritable, UsageError
from mcp_sim.types.grades import Grade
from mcp_sim.types.kinds import Sink
from mcp_sim.types.scenario import PerturbationEntry, Scenario
from mcp_sim.world.catalogue import list_tools
from mcp_sim.world.commits import (
    ACTED_UNTIL,
    AnsweredCall,
    Origin,
    Unsaved,
    Version,
    absorbed_changes,
    applied_after,
    changes_of_act,
    is_due,
    mark_acted,
    past_call,
    scheduled_acts,
    scope_of,
    state_after,
    step_of,
    turn_without_call,
    version_after,
)
from mcp_sim.world.deferred_commits import fitting
from mcp_sim.world.idempotency import KeyedCalls
from mcp_sim.world.state import State
from mcp_sim.world.trace import History, Ledger, crash_line, fork_line, step_line

MOST_VERSIONS = 256
"""The most versions of the state that are kept for perturbations that read them."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A world as it was before a call, to which it returns if the call cannot be saved."""

    version: Version
    crashed: str
    clock: Clock
    ledger: Ledger
    entries: int
    history: History
    pasts: int
    past_versions: deque[PastVersion]
    unsaved: Unsaved | None


class Judge(Protocol):
    """Grades worlds."""

    def __call__(self, world: World, answer: str | None, *, strict: bool) -> Grade: ...


class World:
    """One agent's world.

    Calls are answered one at a time. Delays are left to the server that delivers the observation.
    """

    def __init__(
        self,
        name: str,
        origin: Origin,
        clock: Clock,
        answer: Callable[[World, Call], Awaitable[Observation]],
        judge: Judge,
        sinks: Sequence[Sink] = (),
        ledger_keep: int = 1000,
    ) -> None:
        self.name = name
        self.origin = origin
        self.clock = clock
        self.lock = Lock(fast_acquire=True)
        self.version = origin.first
        self.crashed = ""
        """The first crash since the start, '' if there was none."""
        self.ledger = Ledger(ledger_keep)
        self.history = History(ledger_keep)
        self.keyed_calls = KeyedCalls()
        self.past_versions = deque[PastVersion](maxlen=MOST_VERSIONS if origin.scenario.reads_past_versions else 0)
        self.unsaved: Unsaved | None = None
        """What a store has not saved yet; None for a world that is kept in memory only."""
        self._answer = answer
        self._judge = judge
        self._sinks = sinks
        self._forks = count(1)

    # what users of the Python API call

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        key: str | None = None,
        answers: Mapping[str, Any] | None = None,
        caller: str = "",
    ) -> Observation:
        """Answer a call of a tool, by its id.

        With an idempotency `key`, a call that was answered under this key is not made again: it gets the same
        observation. A fork begins without keys, and a reset forgets them. `answers` are the client's answers to the
        tool's questions. `caller`: who calls, which programs may ask for.

        Raises `Crash`, or `BadArguments` if the arguments cannot be those of a call.
        """
        call = Call(tool, dict(arguments or {}), dict(answers or {}), key, caller)
        if key is None:
            return await self._answer(self, call)
        return await self.keyed_calls.once(key, call, lambda: self._answer(self, call))

    @property
    def view(self) -> State:
        """The newest version of the state, read-only."""
        return self.version.state

    @property
    def size(self) -> int:
        """About how many bytes it holds that no other world holds: writes, ledger, and answers under keys."""
        return self.version.state.size + self.ledger.size + self.keyed_calls.size

    @property
    def scenario(self) -> Scenario:
        return self.origin.scenario

    def catalogue(self, server: str) -> list[Tool]:
        """Return the tools of one server as this world lists them now."""
        scenario = self.scenario
        tools = [scenario.listed(scenario.domain.tools[tool]) for tool in scenario.servers[server].tools]
        lasting = self.origin.lasting
        if not lasting:
            return tools
        return [
            *list_tools(
                tools,
                server,
                lasting,
                turn_without_call(self.origin, self.clock.start, self.version, self.clock.elapsed()),
            )
        ]

    def lists(self, tool: str) -> bool:
        """Whether a tool of this id is listed now."""
        return any(one.id == tool for server in self.scenario.servers for one in self.catalogue(server))

    def fork(self, name: str | None = None, stream: str | None = None) -> World:
        """Return a second world with the same state and history. With a `stream` of its own, its draws differ.

        Raises `UsageError` for a world in a store, which keeps one line of history.
        """
        if self.unsaved is not None:
            raise UsageError(f"the world {self.name} is kept in a store, and cannot be forked")
        origin = self.origin if stream is None else replace(self.origin, stream=stream)
        twin_name = name or f"{self.name}-fork-{next(self._forks)}"
        twin = World(twin_name, origin, self.clock.fork(), self._answer, self._judge, self._sinks, self.ledger.keep)
        twin.version, twin.crashed = self.version, self.crashed
        twin.ledger, twin.history = self.ledger.fork(), self.history.fork()
        twin.past_versions = self.past_versions.copy()
        for sink in self._sinks:
            sink.write(fork_line(twin_name, self.name, self.version.n, origin.stream))
        return twin

    def reset(self) -> None:
        """Return to the start: state, clock, counters, memory. The ledger continues."""
        n = self.version.n
        self.clock = self.clock.restarted()
        self.version, self.crashed = replace(self.origin.first, n=n), ""
        self._forget()
        self.open()

    def _forget(self) -> None:
        """Forget what later calls read of earlier ones; the ledger stays."""
        self.history = History(self.ledger.keep)
        self.keyed_calls = KeyedCalls()
        if self.unsaved is not None:
            self.unsaved.clear()

    def continue_with(self, origin: Origin, answer: Callable[[World, Call], Awaitable[Observation]]) -> None:
        """Let another simulator answer from now on. Its perturbations begin with those that the world has so far."""
        self.origin, self._answer = origin, answer
        counts = self.version.counts
        self.version = replace(self.version, counts=(*counts, *origin.first.counts[len(counts) :]))
        kept = MOST_VERSIONS if origin.scenario.reads_past_versions else 0
        self.past_versions = deque(self.past_versions, maxlen=kept)

    def grade(self, answer: str | None = None, *, strict: bool = False) -> Grade:
        """Return the grade of the world as it is now: verdicts, outcome, reward.

        `answer` is the agent's final answer, if it is known. With `strict`, a verdict that rests on a guess is
        inconclusive.
        """
        return self._judge(self, answer, strict=strict)

    # what a store calls

    def mark(self) -> Mark:
        """Return the world as it is now."""
        unsaved = None if self.unsaved is None else self.unsaved.copy()
        return Mark(
            self.version,
            self.crashed,
            self.clock.fork(),
            self.ledger,
            self.ledger.mark(),
            self.history,
            self.history.mark(),
            self.past_versions.copy(),
            unsaved,
        )

    def rewind(self, mark: Mark) -> None:
        """Return to the newest mark."""
        self.version, self.crashed, self.clock = mark.version, mark.crashed, mark.clock
        self.ledger, self.history = mark.ledger, mark.history
        self.ledger.rewind(mark.entries)
        self.history.rewind(mark.pasts)
        self.past_versions, self.unsaved = mark.past_versions, mark.unsaved

    # what the simulator calls

    def open(self) -> None:
        """Write the step that opens the world, or reopens it."""
        opening: Record = {
            "seed": self.origin.seed,
            "stream": self.origin.stream,
            "clock": {"mode": self.clock.mode, "now": iso(self.clock.start)},
        }
        if self.scenario.intensity != 1:
            opening["intensity"] = self.scenario.intensity
        if not self.scenario.has_faults:
            opening["faults"] = False
        self._record(Step(self.version.n + 1, "reset", self.clock.start, opening=opening), self.version, {})

    def tick(self) -> None:
        """Let the time of one call pass, then commit what has become due."""
        self.clock.advance(self.scenario.clock.per_call)
        now = self.clock.start + self.clock.elapsed()
        index = self.version.index + 1
        due, state = self.version.state.split_agenda(lambda entry: is_due(entry, now, index))
        if due:
            self.version = replace(self.version, state=state)
        late = [(entry.at if entry.call is None else now, partial(self._late, entry)) for entry in due]
        acts = [*late, *self._acts(now)] if self.origin.timed else late
        for at, commit in sorted(acts, key=itemgetter(0)):
            commit(at)

    def _late(self, entry: Due, at: datetime) -> None:
        """Commit an entry of the agenda, if it still fits."""
        changes = fitting(self.version.state, entry.changes, self.scenario.domain)
        self._commit_due(replace(entry, at=at, changes=changes))

    def _acts(self, now: datetime) -> Iterator[tuple[datetime, Callable[[datetime], None]]]:
        """Yield the acts of scheduled perturbations since the last call, with their times."""
        since, self.version = mark_acted(self.version, self.clock.start, now)
        if self.unsaved is not None:
            self.unsaved.memories.add(ACTED_UNTIL)
        for at, entry, number in scheduled_acts(self.origin, self.clock.start, since, now):
            yield at, partial(self._act, entry, number)

    def _act(self, entry: PerturbationEntry, number: int, at: datetime) -> None:
        due = changes_of_act(self.origin, self.version.state, entry, number, at)
        if due is not None:
            self._commit_due(due)

    def turn(self, call: Call, tool: Tool) -> Turn:
        """Open a turn on the newest version. Raises `BadArguments` for arguments that no JSON text can hold."""
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
            versions=self.past_versions,
            is_real=self.clock.mode == "real",
        )

    def beginning(self) -> Turn:
        """Return a turn at the world's start."""
        return turn_without_call(self.origin, self.clock.start, self.origin.first, timedelta(0))

    def commit(self, turn: Turn, answered: AnsweredCall, measured: Mapping[str, Any]) -> None:
        """Write a call's events, changes and ledger entry, and make the new version visible."""
        transition, absorbed = answered.transition, absorbed_changes(answered)
        state = state_after(self.version.state, transition, absorbed)
        for due in transition.events:
            self._commit_due(due)
        version = version_after(self.version, turn, state)
        step = step_of(version.n + 1, turn, answered, absorbed)
        self._record(step, version, {**transition.measured, **measured}, past_call(turn, transition, absorbed))
        if self.unsaved is not None:
            self.unsaved.note(turn)
        self.clock.advance(transition.observation.delay)

    def crash(self, call: Call, crash: Crash, measured: Mapping[str, Any]) -> None:
        """Record a crash: no step, no change. If one sink fails, the others still get it."""
        self.crashed = self.crashed or str(crash)
        line = crash_line(self.name, crash, call.arguments, measured)
        for sink in self._sinks:
            with suppress(Unwritable):
                sink.write(line)
        self.ledger.append(line)

    def repeat(self, step: Step, line: bytes = b"", past: PastCall | None = None) -> None:
        """Take over an entry of the ledger of another run of this scenario, with its changes. No sink gets it.

        `line` is the entry as it was written, if it is known, and `past` its call or event as later calls see it.
        """
        if step.entry == "reset":
            self.clock = self.clock.restarted()
            self._forget()
            version = replace(self.origin.first, n=self.version.n)
        else:
            state = self.version.state.apply((*step.committed, *step.absorbed))
            version = replace(self.version, state=state, index=step.index or self.version.index)
        self._add(step, self._noticed(step, version), line or step_line(self.name, step, {}), past)

    def _commit_due(self, due: Due) -> None:
        """Commit changes by someone other than the agent, as an event."""
        version = replace(self.version, state=self.version.state.apply(due.changes))
        step = Step(self.version.n + 1, "event", due.at, committed=due.changes, actor=due.actor)
        self._record(step, version, {}, PastCall(self.version.index, "", {}, ok=True, at=due.at, changes=due.changes))

    def _record(self, step: Step, version: Version, measured: Mapping[str, Any], past: PastCall | None = None) -> None:
        """Add an entry: to the facts, sinks, ledger and history; then make the version visible.

        If anything fails on the way, the world is left as it was.
        """
        noticed = self._noticed(step, version)
        line = step_line(self.name, step, measured)
        for sink in self._sinks:
            sink.write(line)
        self._add(step, noticed, line, past)

    def _noticed(self, step: Step, version: Version) -> Version:
        """Return the version with what expectations know after the entry, and with the number of the entry."""
        scenario = self.scenario
        facts = tuple(
            entry.expectation.notice(known, step, scenario)
            for entry, known in zip(scenario.expectations, version.facts, strict=True)
        )
        applied = applied_after(version.applied, step, self.origin, self.clock.start)
        return Version(
            version.state,
            version.counts,
            facts,
            version.occurrences,
            version.memories,
            version.index,
            step.n,
            applied,
        )

    def _add(self, step: Step, version: Version, line: bytes, past: PastCall | None) -> None:
        """Add an entry to ledger and history, and make its version visible."""
        self.ledger.append(line)
        if step.entry == "reset":
            self.past_versions.clear()
        if step.entry == "reset" or version.state.overlays is not self.version.state.overlays:
            self.past_versions.append(PastVersion(version.index, step.at, version.state))
        self.version = version
        if past is not None:
            self.history.append(past, len(line))
