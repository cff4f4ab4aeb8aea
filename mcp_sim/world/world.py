"""A world: one live instance of a scenario, with state, clock, history, agenda and ledger.

Only a world writes state.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count
from typing import Any

from anyio import Lock

from mcp_sim.types import Call, Change, Due, Memories, Observation, PastCall, PastVersion, Record, Step, Tool, Turn
from mcp_sim.types.call_matchers import idempotency_key
from mcp_sim.types.calls import Request, RequestingClient, scope_of
from mcp_sim.types.clock import Clock, iso
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import Crash, Unwritable, UsageError
from mcp_sim.types.grades import Exercised, Grade
from mcp_sim.types.kinds import Sink
from mcp_sim.types.oauth import without_tokens
from mcp_sim.types.scenario import Scenario
from mcp_sim.world import steering
from mcp_sim.world.background import wait_for
from mcp_sim.world.catalogue import list_tools
from mcp_sim.world.commits import (
    AnsweredCall,
    Faults,
    Mark,
    Moment,
    Origin,
    Unsaved,
    Version,
    answer_to_keep,
    applied_after,
    arguments_text,
    state_after,
    step_of,
    turn_without_call,
    version_after,
)
from mcp_sim.world.engine import Engine, Judge
from mcp_sim.world.idempotency import KeyedCalls
from mcp_sim.world.state import State
from mcp_sim.world.trace import History, Ledger, answer_line, crash_line, fork_line, step_line

CALL_BYTES = 350
"""About the size of the counter of one distinct call, by which it draws."""


class World:
    """One agent's world.

    Calls are answered one at a time. Delays are left to the server that delivers the observation.
    """

    def __init__(
        self,
        name: str,
        origin: Origin,
        clock: Clock,
        engine: Engine,
        judge: Judge,
        sinks: Sequence[Sink] = (),
        ledger_keep: int = 1000,
    ) -> None:
        self.name = name
        self.origin = origin
        self.clock = clock
        # Without `fast_acquire`, each call would yield to the event loop once more.
        self.lock = Lock(fast_acquire=True)
        self.version = origin.first
        self.crashed = ""
        """The first crash since the start, '' if there was none."""
        self.ledger = Ledger(ledger_keep)
        self.history = History(ledger_keep)
        self.keyed_calls = KeyedCalls()
        self.past_versions = deque[PastVersion](maxlen=steering.versions_kept(origin.first.faults))
        self.answer: str | None = None
        """The final answer that the agent was said to have given."""
        self._asked: tuple[int, dict[str, Observation]] = 0, {}
        """The number of the newest step at the time, and the answers to the final calls of expectations."""
        self.unsaved: Unsaved | None = None
        """What a store has not saved yet; None for a world that is kept in memory only."""
        self.engine = engine
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
        client: RequestingClient | None = None,
    ) -> Observation:
        """Answer a call of a tool, by its id.

        With an idempotency `key`, a call that was answered under this key is not made again: it gets the same
        observation. A fork begins without keys, and a reset forgets them. `answers` are the client's answers to the
        tool's questions. `caller`: who calls, which programs may ask for. `client`: what a real server may send its
        questions and notifications to.

        Raises `Crash`, `BadArguments` if the arguments cannot be those of a call, or `InputRequired` if the client is
        to answer questions first.
        """
        call = Call(tool, dict(arguments or {}), dict(answers or {}), key, caller, client)
        if key is None:
            return await self.engine.answer(self, call)
        return await self.keyed_calls.once(key, call, lambda: self.engine.answer(self, call))

    def call_at_once(self, tool: str, arguments: Mapping[str, Any], caller: str = "") -> Observation | None:
        """Answer a call like `call`, if its result can be delivered without waiting for anything.

        None means that it may take longer, as with a language model or a delay, or that it ends otherwise. Then the
        call was not made: `call` makes it. Raises `Crash` if the answer could not be recorded.
        """
        return self.engine.answer_at_once(self, Call(tool, dict(arguments), {}, None, caller))

    def call_sync(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Observation:
        """Answer a call like `call`, from any thread, with or without an event loop.

        A call that waits for something, such as a language model, is made in a thread of mcp-sim.
        """
        call = Call(tool, dict(arguments or {}), {}, None, "")
        observation = self.engine.answer_at_once(self, call)
        return wait_for(self.engine.answer(self, call)) if observation is None else observation

    async def request(
        self, server: str, method: str, params: Record, client: RequestingClient | None = None
    ) -> Record | None:
        """Return the `result` or `error` of a request other than a call, such as `resources/read`, from outside.

        It is that of a real server or a recording; None if the world models of this server leave it to the tool spec.
        Raises `Crash`.
        """
        return await self.engine.request(self, server, Request(method, params, client))

    async def inject(self, fault: Record, actor: str = steering.OPERATOR) -> str:
        """Add a fault from the next call on, as in a document: `{"lost_ack": {}, "tools": "create_deal"}`.

        Return its id. A reset removes it. Raises `DocumentError` with its problems.
        """
        return await self.engine.steer(self, lambda: steering.inject(self, fault, actor))

    async def enable(self, fault: str, actor: str = steering.OPERATOR) -> None:
        """Enable a fault by its id, until the next reset. Raises `UsageError` if it does not exist."""
        await self.engine.steer(self, lambda: steering.switch(self, fault, actor, on=True))

    async def disable(self, fault: str, actor: str = steering.OPERATOR) -> None:
        """Disable a fault by its id, until the next reset. Raises `UsageError` if it does not exist."""
        await self.engine.steer(self, lambda: steering.switch(self, fault, actor, on=False))

    async def advance(self, span: timedelta, actor: str = steering.OPERATOR) -> None:
        """Let world time pass. Raises `UsageError` on a real clock."""
        await self.engine.steer(self, lambda: steering.advance(self, span, actor))

    async def note(self, events: Sequence[Record], actor: str) -> None:
        """Record what happened beside the calls. It changes nothing."""
        await self.engine.steer(self, lambda: steering.note(self, events, actor))

    async def change(self, changes: Sequence[Change], actor: str) -> None:
        """Write records as another actor. Raises `StaleChange` if one is not at the version that was expected."""
        await self.engine.steer(self, lambda: steering.change(self, changes, actor))

    async def act(
        self, tool: str, arguments: Mapping[str, Any] | None = None, actor: str = steering.OPERATOR
    ) -> Observation:
        """Make a call as someone other than the agent would: no fault applies, and its changes are those of an event.

        Raises `Crash`, or `BadArguments`.
        """
        return await self.engine.act(self, Call(tool, dict(arguments or {})), actor)

    @property
    def now(self) -> datetime:
        """The time of the world."""
        return self.clock.start + self.clock.elapsed()

    @property
    def view(self) -> State:
        """The newest version of the state, read-only."""
        return self.version.state

    @property
    def size(self) -> int:
        """About how many bytes it holds that no other world holds: writes, ledger, and answers under keys."""
        counted = CALL_BYTES * len(self.version.occurrences)
        return self.version.state.size + self.ledger.size + self.keyed_calls.size + self.version.kept.size + counted

    @property
    def scenario(self) -> Scenario:
        return self.version.faults.scenario

    def catalogue(self, server: str) -> list[Tool]:
        """Return the tools of one server as this world lists them now."""
        scenario = self.scenario
        tools = [scenario.listed(scenario.domain.tools[tool]) for tool in scenario.servers[server].tools]
        lasting = self.version.faults.lasting
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
        return any(known_tool.id == tool for server in self.scenario.servers for known_tool in self.catalogue(server))

    def fork(self, name: str | None = None, stream: str | None = None, actor: str = "") -> World:
        """Return a second world with the same state and history. With a `stream` of its own, its draws differ.

        Raises `UsageError` for a world in a store, which keeps one line of history.
        """
        self._refuse_if_stored("forked")
        origin = self.origin if stream is None else replace(self.origin, stream=stream)
        twin_name = name or f"{self.name}-fork-{next(self._forks)}"
        twin = World(twin_name, origin, self.clock, self.engine, self._judge, self._sinks, self.ledger.keep)
        twin._become(self._here())
        twin.ledger = self.ledger.fork()
        twin._write(fork_line(twin_name, self.name, self.version.n, origin.stream, actor))
        return twin

    def moment(self) -> Moment:
        """Return what the world is now; O(1) in its records."""
        return self._here().kept()

    def _here(self) -> Moment:
        """Return what the world is now, sharing what it will change."""
        elapsed = self.clock.elapsed()
        return Moment(self.version, self.crashed, elapsed, self.history, self.past_versions, self.answer)

    def return_to(self, moment: Moment, actor: str = "") -> None:
        """Become what the world was at an earlier moment. The ledger continues; keys of calls are forgotten."""
        self._refuse_if_stored("taken back")
        self._write(fork_line(self.name, self.name, moment.version.n, self.origin.stream, actor))
        self._become(moment)

    def _become(self, moment: Moment) -> None:
        self.version, self.crashed, self.answer = moment.version, moment.crashed, moment.answer
        self.clock = self.clock.resumed(moment.elapsed, 0.0)
        self.history, self.past_versions = moment.history.fork(), moment.past_versions.copy()
        self.keyed_calls = KeyedCalls()

    def _refuse_if_stored(self, done: str) -> None:
        if self.unsaved is not None:
            raise UsageError(f"the world {self.name} is kept in a store, and cannot be {done}")

    def _write(self, line: bytes) -> None:
        """Add a line that is not a step to the sinks and the ledger."""
        for sink in self._sinks:
            sink.write(line)
        self.ledger.append(line)

    def submit(self, answer: str, actor: str = "") -> None:
        """Note the agent's final answer, by which the world is graded until it is reset."""
        answer = answer if self.scenario.auth is None else without_tokens(answer)
        self._write(answer_line(self.name, answer, actor))
        self.answer = answer

    def reset(self, actor: str = "") -> None:
        """Return to the start: state, clock, counters, memory, faults. The ledger continues."""
        n = self.version.n
        self.clock = self.clock.restarted()
        # The ledger goes on, so its steps are numbered on.
        self.version, self.crashed, self.answer = replace(self.origin.first, n=n), "", None
        self._forget()
        self.open(actor)

    def _forget(self) -> None:
        """Forget what later calls read of earlier ones; the ledger stays."""
        self.history = History(self.ledger.keep)
        self.keyed_calls = KeyedCalls()
        if self.unsaved is not None:
            self.unsaved.clear()

    def grade(self, answer: str | None = None, *, strict: bool = False, exercised: Exercised = "require") -> Grade:
        """Return the grade of the world as it is now: verdicts, outcome, reward.

        `answer` is the agent's final answer, by default the one that was submitted. With `strict`, a verdict that rests
        on a guess is inconclusive. `exercised="ignore"`: a run that no fault was applied to passes or fails like any
        other, instead of being not exercised.
        """
        return self._judge(self, self.answer if answer is None else answer, strict=strict, exercised=exercised)

    async def ask(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Observation:
        """Return what a call would be answered now, without faults. It leaves no step and no change.

        A real server does make the call. Raises `Crash`.
        """
        return await self.engine.ask(self, Call(tool, dict(arguments or {})))

    async def probe(self) -> None:
        """Ask what the expectations ask at the end, so that `grade` can judge it; needed where answers take time."""
        answers = dict[str, Observation]()
        for key, tool, arguments in self._final_calls():
            with suppress(Crash):
                answers[key] = await self.ask(tool, arguments)
        self._asked = self.version.n, answers

    def asked(self) -> Mapping[str, Observation]:
        """Return the answers to the final calls of the expectations: those of `probe`, and those that take no time."""
        n, known = self._asked
        answers = dict(known) if n == self.version.n else {}
        for key, tool, arguments in self._final_calls():
            if key not in answers:
                answer = self.engine.ask_at_once(self, Call(tool, dict(arguments)))
                answers |= {} if answer is None else {key: answer}
        return answers

    def _final_calls(self) -> Iterator[tuple[str, str, Record]]:
        for entry in self.scenario.expectations:
            if entry.expectation.final_call is not None:
                yield entry.expectation.probe_key, *entry.expectation.final_call

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
            self.answer,
        )

    def rewind(self, mark: Mark) -> None:
        """Return to the newest mark."""
        self.version, self.crashed, self.clock = mark.version, mark.crashed, mark.clock
        self.ledger, self.history = mark.ledger, mark.history
        self.ledger.rewind(mark.entries)
        self.history.rewind(mark.pasts)
        self.past_versions, self.unsaved, self.answer = mark.past_versions, mark.unsaved, mark.answer

    # what the simulator calls

    def open(self, actor: str = "") -> None:
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
        if actor:
            opening["actor"] = actor
        self.record(Step(self.version.n + 1, "reset", self.clock.start, opening=opening), self.version, {})

    def tick(self) -> None:
        """Let the time of one call pass, then commit what has become due."""
        self.clock.advance(self.scenario.clock.per_call)
        if self.version.state.agenda or self.version.faults.timed:
            steering.settle(self)

    def untick(self) -> None:
        """Take back the time of a call that is not made yet. What became due by then remains committed."""
        self.clock.advance(-self.scenario.clock.per_call)

    def turn(self, call: Call, tool: Tool) -> Turn:
        """Open a turn on the newest version. Raises `BadArguments` for arguments that no JSON text can hold."""
        arguments = arguments_text(call)
        scope = scope_of(call.tool, arguments)
        version, origin = self.version, self.origin
        occurrence = version.occurrences.get(scope, 0)
        plan, now = self.scenario.domain.plans.get(call.tool), self.now
        idempotency = None if plan is None else plan.idempotency
        key = "" if idempotency is None else idempotency_key(call, self.scenario.domain)
        return Turn(
            call=call,
            index=version.index + 1,
            tool=tool,
            view=version.state,
            start=self.clock.start,
            now=now,
            draws=Draws(origin.seed, origin.stream, scope, occurrence),
            history=self.history,
            memories=Memories(version.memories, version.counts),
            versions=self.past_versions,
            is_real=self.clock.mode == "real",
            size=len(arguments),
            key=key,
            kept=version.kept.get(key, now, idempotency.expires) if key and idempotency is not None else None,
        )

    def beginning(self) -> Turn:
        """Return a turn at the world's start."""
        return turn_without_call(self.origin, self.clock.start, self.origin.first, timedelta(0))

    def commit(self, turn: Turn, answered: AnsweredCall, measured: Mapping[str, Any]) -> None:
        """Write a call's events, changes and ledger entry, and make the new version visible."""
        transition, truth = answered.transition, answered.truth
        # A fault may have altered what is shown; the agent never saw the records of the world's own answer then.
        is_shown = truth is not None and transition.observation.body is truth.observation.body
        absorbed = transition.absorbed if is_shown else ()
        state = state_after(self.version.state, transition, absorbed)
        for due in transition.events:
            self.commit_due(due)
        version = version_after(self.version, turn, state)
        plan = self.scenario.domain.plans.get(turn.call.tool)
        keeps = "" if plan is None else answer_to_keep(turn, answered, absorbed, plan)
        step = step_of(version, turn, answered, absorbed, self.version.state, keeps)
        changes, ok = (*transition.changes, *absorbed), transition.observation.ok
        past = PastCall(turn.index, turn.call.tool, turn.call.arguments, ok, turn.now, changes, absorbed)
        self.record(step, version, {**transition.measured, **measured}, past)
        if self.unsaved is not None:
            self.unsaved.note(turn)
        if transition.observation.delay:
            self.clock.advance(transition.observation.delay)

    def crash(self, call: Call, crash: Crash, measured: Mapping[str, Any]) -> None:
        """Record a crash: no step, no change. If one sink fails, the others still get it."""
        self.crashed = self.crashed or str(crash)
        line = crash_line(self.name, crash, call.arguments, measured)
        for sink in self._sinks:
            # A full disk must not hide the crash from the sinks that still work.
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
            step.before = self.version.state
            state = self.version.state.apply((*step.committed, *step.absorbed))
            faults = self.refit(step.steered)
            version = replace(self.version, state=state, index=step.index or self.version.index)
            version = steering.with_faults(self, version, faults)
        self._add(step, self._noticed(step, version), line or step_line(self.name, step, {}), past)

    def refit(self, steered: Record) -> Faults:
        """Return the faults of the world as they are after an event."""
        return self.engine.refit(self.version.faults, steered) if steered else self.version.faults

    def commit_due(self, due: Due, absorbed: tuple[Change, ...] = ()) -> None:
        """Commit changes by someone other than the agent, and the records that they were shown first, as an event."""
        before, changes = self.version.state, (*due.changes, *absorbed)
        version = replace(self.version, state=before.apply(changes))
        step = Step(
            n=self.version.n + 1,
            entry="event",
            at=due.at,
            before=before,
            committed=due.changes,
            absorbed=absorbed,
            actor=due.actor,
        )
        past = PastCall(self.version.index, "", {}, ok=True, at=due.at, changes=changes, absorbed=absorbed)
        self.record(step, version, {}, past)

    def record(self, step: Step, version: Version, measured: Mapping[str, Any], past: PastCall | None = None) -> None:
        """Add an entry: to the facts, sinks, ledger and history; then make the version visible.

        If anything fails on the way, the world is left as it was.
        """
        noticed = self._noticed(step, version)
        line = step_line(self.name, step, measured)
        for sink in self._sinks:
            sink.write(line, step)
        self._add(step, noticed, line, past)

    def _noticed(self, step: Step, version: Version) -> Version:
        """Return the version with what expectations know after the entry, and with the number of the entry."""
        scenario = version.faults.scenario
        judges = zip([entry.expectation for entry in scenario.expectations], version.facts, strict=True)
        facts = tuple([kind.notice(known, step, scenario) if kind.notices else known for kind, known in judges])
        applied = applied_after(version, step, self.origin, self.clock.start)
        kept = version.kept.after(step, idempotency_key(step, scenario.domain)) if step.keeps else version.kept
        # Not `replace`, which collects all fields by their names: this runs at every call.
        return Version(
            version.state,
            version.counts,
            facts,
            version.faults,
            version.occurrences,
            version.memories,
            version.index,
            step.n,
            applied,
            kept,
        )

    def _add(self, step: Step, version: Version, line: bytes, past: PastCall | None) -> None:
        """Add an entry to ledger and history, and make its version visible."""
        self.ledger.append(line)
        if step.entry == "reset":
            self.past_versions.clear()
        # Only writes make a version: reads would push older ones out before a stale read could show them.
        if step.entry == "reset" or version.state.overlays is not self.version.state.overlays:
            self.past_versions.append(PastVersion(version.index, step.at, version.state))
        self.version = version
        if past is not None:
            self.history.append(past, len(line))
