"""Persistence: answer each call on the stored world, and store what it changed before it is answered.

A call is stored as a whole or not at all: if the store refuses it, the world is as before the call, which crashes.
Several processes may use one world in turns; each takes over what the others have stored.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from time import sleep
from typing import TypeVar

import anyio

from mcp_sim.simulator.saved_worlds import Unreadable, delta, replay, restore, snapshot_of
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.simulator.tagged_json import TaggedJsonError
from mcp_sim.types import Call, Due, Observation, Record, Step
from mcp_sim.types.calls import Request
from mcp_sim.types.clock import Mode
from mcp_sim.types.errors import Crash, McpSimError, StoreBusy, StoreFailure, Unwritable
from mcp_sim.types.kinds import OpenStore, Snapshot, StoredEntry, pauses
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.commits import Faults, Unsaved
from mcp_sim.world.idempotency import KEPT
from mcp_sim.world.sinks.stored_trace import StoredTrace
from mcp_sim.world.trace import fork_line
from mcp_sim.world.world import Mark, World

logger = logging.getLogger(__name__)

T = TypeVar("T")

SHORT = 64 * 1024
"""How many bytes the entries behind a snapshot may exceed it by. Then the next process that opens the world makes a new
one; no call waits for it."""

SHORT_WAIT = 1.0
"""How long the end of a process waits for another one, in seconds. Clients end a stdio server two seconds after they
close its stdin."""


class StoreKeeper:
    """Keeps one world in an open store, with its ledger, and copies the ledger to a trace.

    The steps of a call: acquire the store; take over entries of other processes; write what the trace lacks; answer in
    memory; save the new entries, which releases the store; acquire it again to write them to the trace; return the
    answer. If a step up to saving fails, the world is as it was, and the call crashes. If only the last write of the
    trace fails, the call is answered, since it is stored. The next call then writes the trace first, or crashes.
    """

    def __init__(self, simulator: Simulator, store: OpenStore, name: str, trace: StoredTrace | None = None) -> None:
        self._simulator, self._store, self._name, self._trace = simulator, store, name, trace
        self._lock = anyio.Lock()
        self._at: int = 0
        self._lines = list[bytes]()
        self._agenda: tuple[Due, ...] = ()

    def world(self, seed: int | None, clock: Mode | None) -> World:
        """Return the stored world, or a new one. Raises `StoreFailure`, or `Unwritable` for the trace."""
        patience = self._store.patience
        with self._held_now(patience):
            is_new = not self._store.newest(self._name)
            world = self._simulator.world(self._name, seed=seed, clock=clock, keeper=self, is_new=is_new)
            world.unsaved = Unsaved()
            is_whole, unread = True, 0
            try:
                unread = self._take_over(world)
            except StoreFailure as error:
                logger.error("%s: it goes on after step %d", error, self._recovered(world))  # noqa: TRY400 (says it all)
                is_whole = False
            # A snapshot is made here rather than in a call, which would have to wait for it.
            self._save(world, world.unsaved, compacted=unread > SHORT or not is_whole)
        with self._held_now(patience):
            self._follow()
        return world

    def write(self, line: bytes, step: Step | None = None) -> None:
        """Add a line of the ledger; it is stored with the call."""
        self._lines.append(line)

    def close(self) -> None:
        """Write what the trace lacks."""
        with suppress(StoreFailure, Unwritable), self._held_now(min(SHORT_WAIT, self._store.patience)):
            self._follow()

    async def answer(self, world: World, call: Call) -> Observation:
        """Answer a call on the stored state of the world, and store what it changes.

        Raises `Crash` if the store cannot be read or written.
        """

        async def answered() -> Observation:
            # Once more within the lock: another process may have answered the key meanwhile.
            known = world.keyed_calls.known(call)
            return known or await self._saved(world, lambda: self._simulator.answer(world, call))

        async with self._lock:
            try:
                observation = await self._on_stored(world, answered)
            except (StoreFailure, Unwritable, TaggedJsonError) as error:
                logger.error("%s: %s", call.tool, error)  # noqa: TRY400 (the message says it all)
                raise Crash(call.tool, str(error)) from error
            world.keyed_calls.learn(call, observation)
            await self._finish()
            return observation

    def answer_at_once(self, world: World, call: Call) -> Observation | None:
        """Leave all calls to `answer`, since other processes take turns."""
        return None

    async def ask(self, world: World, call: Call) -> Observation:
        """Return what a call would be answered now, without faults and without a step. Nothing is stored."""
        return await self._simulator.ask(world, call)

    def ask_at_once(self, world: World, call: Call) -> Observation | None:
        """Return the same, if there is nothing to wait for."""
        return self._simulator.ask_at_once(world, call)

    async def request(self, world: World, server: str, request: Request) -> Record | None:
        """Return what a real server or a recording answers to a request other than a call. Nothing is stored."""
        return await self._simulator.request(world, server, request)

    async def steer(self, world: World, act: Callable[[], T]) -> T:
        """Run what someone does to the world on its stored state, and store what it changes.

        Raises `StoreFailure` or `Unwritable` if the store or the trace cannot be read or written.
        """
        return await self._kept(world, lambda: self._simulator.steer(world, act))

    async def act(self, world: World, call: Call, actor: str) -> Observation:
        """Make a call as someone other than the agent, and store what it changes. Raises as `steer`, and `Crash`."""
        return await self._kept(world, lambda: self._simulator.act(world, call, actor))

    async def _kept(self, world: World, run: Callable[[], Awaitable[T]]) -> T:
        """Run something on the stored state of the world, and store what it changes."""
        async with self._lock:
            done = await self._on_stored(world, lambda: self._saved(world, run))
            await self._finish()
            return done

    def refit(self, faults: Faults, steered: Record) -> Faults:
        """Return the perturbations after an event that added, enabled or disabled one."""
        return self._simulator.refit(faults, steered)

    async def _on_stored(self, world: World, run: Callable[[], Awaitable[T]]) -> T:
        """Run something while the store is held, on what others have stored."""
        async with self._held():
            self._take_over(world)
            self._follow()
            return await run()

    async def _saved(self, world: World, run: Callable[[], Awaitable[T]]) -> T:
        """Run something and save what it changes, as a whole or not at all."""
        mark, before, unsaved = world.mark(), len(self._lines), world.unsaved
        assert unsaved is not None
        try:
            done = await run()
        except BaseException:
            with suppress(StoreFailure):  # a crash, or the end of the process, is reported as it is
                self._save_or_rewind(world, unsaved, mark, before)
            raise
        self._save_or_rewind(world, unsaved, mark, before)
        return done

    def _save_or_rewind(self, world: World, unsaved: Unsaved, mark: Mark, before: int) -> None:
        try:
            self._save(world, unsaved)
        except BaseException:
            world.rewind(mark)
            del self._lines[before:]
            raise

    def _save(self, world: World, unsaved: Unsaved, *, compacted: bool = False) -> None:
        """Store the new lines of the ledger, if any, with what else has changed, and pass them on."""
        lines = self._lines
        entries = [StoredEntry(at, line) for at, line in enumerate(lines[:-1], self._at + 1)]
        newest = self._at + len(lines)
        if lines:
            entries.append(StoredEntry(newest, lines[-1], delta(world, unsaved, self._agenda)))
        if not entries and not compacted:
            return
        self._store.save(self._name, entries, Snapshot(newest, snapshot_of(world)) if compacted else None)
        self._at, self._lines, self._agenda = newest, [], world.version.state.agenda
        unsaved.clear()
        for entry in entries:
            for sink in self._simulator.sinks:
                try:
                    sink.write(entry.line)
                except Unwritable as error:
                    logger.warning("%s", error)

    def _take_over(self, world: World) -> int:
        """Let the world take over what others have stored. Returns how many bytes were read beyond a snapshot."""
        newest = self._store.newest(self._name)
        if newest == self._at:
            return 0
        # A replay may fail half way, on a damaged entry. The world must not stay between two entries.
        mark = world.mark()
        try:
            entries, known = self._unread(world, newest)
            replay(world, entries)
        except StoreFailure:
            world.rewind(mark)
            raise
        except (Unreadable, McpSimError, LookupError, ValueError, TypeError, AttributeError) as error:
            world.rewind(mark)
            raise self._store.damaged(f"the world {self._name} cannot be read ({error})") from error
        self._at, self._lines, self._agenda = newest, [], world.version.state.agenda
        return max(0, sum(len(entry.line) for entry in entries) - known)

    def _recovered(self, world: World) -> int:
        """Let a world become what its store has up to the first damaged entry, and return the number of its last step.

        The ledger returns to that step. What follows the damaged entry stays in the store, and is not used.
        """
        newest, mark = self._store.newest(self._name), world.mark()
        entries, _ = self._unread(world, newest)
        try:
            replay(world, entries)
        except Unreadable as damage:
            world.rewind(mark)
            entries, _ = self._unread(world, newest)
            replay(world, entries[: damage.whole])
        if not world.version.n:
            world.open()
        self._lines.append(fork_line(self._name, self._name, world.version.n, world.origin.stream))
        self._at, self._agenda = newest, world.version.state.agenda
        return world.version.n

    def _unread(self, world: World, newest: int) -> tuple[list[StoredEntry], int]:
        """Return the entries that the world lacks, and the size of the snapshot that it was restored from."""
        at, size = 0 if self._lines or newest < self._at else self._at, 0
        snapshot = self._store.snapshot(self._name) if at == 0 else None
        if snapshot is not None:
            at, size = snapshot.at, len(snapshot.body)
            # The entries before a snapshot are read only for the ledger and the idempotency keys in memory.
            oldest = max(0, at - max(world.ledger.keep, KEPT))
            restore(world, snapshot.body, [entry.line for entry in self._store.entries(self._name, oldest, at)])
        return list(self._store.entries(self._name, at)), size

    def _follow(self) -> None:
        if self._trace is not None:
            self._trace.follow(self._store)

    async def _finish(self) -> None:
        """Write the trace. A call that is stored is answered in any case."""
        if self._trace is None:
            return
        try:
            async with self._held():
                self._follow()
        except (StoreFailure, Unwritable) as error:
            logger.warning("%s; the trace gets the call before the next one", error)

    @asynccontextmanager
    async def _held(self) -> AsyncGenerator[None]:
        """Hold the store, in turn with other processes. Raises `StoreBusy` if that takes too long."""
        for pause in pauses(self._store.patience):
            if self._acquired():
                break
            await anyio.sleep(pause)
        else:
            self._store.acquire()
        try:
            yield
        finally:
            self._store.release()

    @contextmanager
    def _held_now(self, patience: float) -> Generator[None]:
        """Hold the store, as `_held`; the thread waits."""
        for pause in pauses(patience):
            if self._acquired():
                break
            sleep(pause)
        else:
            self._store.acquire()
        try:
            yield
        finally:
            self._store.release()

    def _acquired(self) -> bool:
        with suppress(StoreBusy):
            self._store.acquire()
            return True
        return False


def identity(scenario: Scenario, seed: int | None, version: str) -> str:
    """Return the text that all worlds of one store share: scenario, hash, seed, intensity, version."""
    number = scenario.seed if seed is None else seed
    about = f"sha256 {scenario.sha256[:16]}, seed {number}, intensity {scenario.intensity!r}, mcp-sim {version}"
    return f"{scenario.name} ({about})"
