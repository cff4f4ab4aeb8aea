"""The simulator: a compiled scenario, the worlds opened on it, and the course of one call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, Self, TypeVar

from rpds import HashTrieMap

from mcp_sim.faults.compile import with_intensity
from mcp_sim.generate.record_counts import counted
from mcp_sim.grading.grade import grade_world
from mcp_sim.simulator.bindings import Bindings, program_hook
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.fault_sets import FaultSet, FaultSets
from mcp_sim.simulator.moving import move
from mcp_sim.simulator.pipeline import Pipeline
from mcp_sim.types import Call, Memories, Observation, Record, RpcError, Step, Tool, ToolResult, Transition, Turn
from mcp_sim.types.calls import Request
from mcp_sim.types.clock import Clock, Mode, RealClock, VirtualClock, stopwatch
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import BadArguments, Crash, DocumentError, InputRequired, UsageError
from mcp_sim.types.kinds import Sink, Tables
from mcp_sim.types.scenario import Scenario
from mcp_sim.world import steering
from mcp_sim.world.catalogue import LISTED, added_answer, announce_list_changes
from mcp_sim.world.commits import AnsweredCall, Faults, Origin, Version
from mcp_sim.world.engine import Engine
from mcp_sim.world.state import State
from mcp_sim.world.world import World

T = TypeVar("T")

BASES_BYTES = 256 * 1024 * 1024
"""About how much memory the initial states of seeds may take that are kept. A world of a seed whose state is not kept
generates its records again, which takes 20 ms for 440 records."""

UNKNOWN_TOOL = -32602  # invalid params: what MCP specifies for unknown tools


class Keeper(Sink, Engine, Protocol):
    """A layer between a world and its simulator that saves the world, so that it outlives its process.

    As the only sink of the world it passes entries on to the sinks of the simulator, once they are saved.
    """


class Simulator:
    """A scenario that is ready to run.

    Its worlds share the compiled tools and, per seed, the base records. `sinks` receive the ledgers of all worlds.
    `ledger_keep` is the number of ledger entries that each world keeps in memory.
    """

    def __init__(self, scenario: Scenario, sinks: Sequence[Sink] = (), ledger_keep: int = 1000) -> None:
        self.scenario = scenario
        self.sinks = tuple(sinks)
        self._ledger_keep = ledger_keep
        self._fault_sets = FaultSets(scenario)
        self._compared = frozenset(
            fault for entry in scenario.expectations for fault in entry.expectation.compares_with()
        )
        self._bindings: Bindings | None = None
        self._exit_stack = AsyncExitStack()
        self._bases: OrderedDict[int, State] = OrderedDict()
        self._keeping = Lock()  # worlds of several threads begin at once
        self._successor: Simulator | None = None

    @classmethod
    def load(
        cls,
        reference: str | Path,
        *,
        world_model: str | None = None,
        intensity: float | None = None,
        trust: bool = False,
    ) -> Self:
        """Load a scenario from a file or by a shipped name.

        `world_model` (`builtin`, `openai:MODEL@URL`) replaces the scenario's own. `intensity` (0 to 1) scales its
        faults. `trust`: trust the document and what it names, so that it may run code, send keys and name files
        anywhere. Raises `UsageError` if there is nothing to read, `DocumentError` with all problems if it cannot be
        used.
        """
        return cls(with_intensity(load(reference, world_model=world_model, trust=trust), intensity))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Bind the world models. The pipeline of a tool is compiled at its first call.

        Raises `DocumentError` if the documents do what needs the user's trust, and do not have it.
        """
        if self._bindings is not None:
            return
        if self.scenario.untrusted:
            raise DocumentError([*self.scenario.untrusted])
        declared = self._fault_sets.declared
        declared.bindings = await Bindings.open(self.scenario, declared.compiled.concealed, self._exit_stack)
        self._bindings = declared.bindings

    async def adopt(self, scenario: Scenario) -> None:
        """Answer new worlds, and others from their next call on, by a scenario in which programs answer more tools.

        A world moves unless it has written records that the programs have no table for: then it moves when it is reset.
        Raises `DocumentError` if the first records of a program cannot be made.
        """
        successor = Simulator(scenario, self.sinks, self._ledger_keep)
        await self._exit_stack.enter_async_context(successor)
        successor.counts(None)  # the first records of a program may fail
        self._successor = successor

    def receive(self, world: World) -> bool:
        """Answer a world of another simulator from now on, with its faults. False if it cannot be (see `move`)."""
        faults = world.version.faults
        declared = fault_set = self._fault_sets.of(faults.scenario.intensity, silenced=not faults.scenario.has_faults)
        for steered in faults.steering:
            fault_set = self._fault_sets.refit(fault_set, steered)
        return move(world, self, self._first_version(world.origin.seed, declared), fault_set)

    def _has_left(self, world: World) -> bool:
        """Whether the successor answers a world from now on."""
        return self._successor is not None and world.engine is self and self._successor.receive(world)

    async def aclose(self) -> None:
        """Close the world models. Calls to worlds fail afterwards."""
        self._bindings = None
        await self._exit_stack.aclose()

    @asynccontextmanager
    async def open(
        self, name: str = "default", *, seed: int | None = None, stream: str = "", clock: Mode | None = None
    ) -> AsyncGenerator[World]:
        """Open a new world, and start the simulator if it is not started.

        `seed` defaults to the scenario's. `stream` names an independent series of draws. The clock is virtual unless
        the scenario or `clock` says otherwise. Raises `DocumentError` if the first records of a program cannot be made.
        """
        alone = self._bindings is None
        await self.start()
        try:
            # A program makes the first records. It may fail, and should so before the first call.
            if self._has_initial:
                self.base(seed).counts()
            yield self.world(name, seed=seed, stream=stream, clock=clock)
        finally:
            if alone:
                await self.aclose()

    def world(  # noqa: PLR0913 (each is what makes this world differ from others)
        self,
        name: str = "default",
        *,
        seed: int | None = None,
        stream: str = "",
        clock: Mode | None = None,
        keeper: Keeper | None = None,
        is_new: bool = True,
        sinks: Sequence[Sink] = (),
        now: datetime | None = None,
        intensity: float | None = None,
        faults: bool | Sequence[Record] = True,
    ) -> World:
        """Return a new world of a simulator that is started; `open` does both.

        A `keeper` answers the world's calls instead of the simulator. With `is_new=False` it restores the world, so
        that no opening step is written. `sinks` get the ledger of this world, besides those of the simulator, unless it
        has a keeper. `now`: the start of its time, default the scenario's.

        `intensity` (0 to 1) scales the faults of this world, instead of the scenario's own intensity. `faults=False`
        silences them; a list adds faults, written as in a document, before the first call. Raises `UsageError` if the
        simulator is not started or the intensity is out of range, `DocumentError` if a fault cannot be used.
        """
        if self._bindings is None:
            raise UsageError("the simulator is not started: use `async with Simulator(...)`, or `open`")
        if self._successor is not None and keeper is None:
            return self._successor.world(
                name,
                seed=seed,
                stream=stream,
                clock=clock,
                is_new=is_new,
                sinks=sinks,
                now=now,
                intensity=intensity,
                faults=faults,
            )
        fault_set = self._fault_sets.of(intensity, silenced=faults is False)
        origin = Origin(self._seed(seed), stream, self._first_version(self._seed(seed), fault_set))
        to = (*self.sinks, *sinks) if keeper is None else (keeper,)
        world = World(name, origin, self._clock(clock, now), keeper or self, grade_world, to, self._ledger_keep)
        if is_new:
            world.open()
        for fault in () if isinstance(faults, bool) else faults:
            steering.inject(world, fault, steering.OPERATOR)
        return world

    def repeated(self, name: str, steps: Sequence[Step]) -> World:
        """Return a world as the steps of a ledger leave it, from a reset on. The simulator need not be started.

        No call is made: the world gets the changes of the steps. Its own ledger goes to no sink.
        """
        opening = steps[0].opening
        first = self._first_version(opening["seed"], self._fault_sets.declared)
        origin = Origin(opening["seed"], opening["stream"], first)
        world = World(name, origin, VirtualClock(steps[0].at), self, grade_world)
        for step in steps:
            world.repeat(step)
        return world

    async def answer(self, world: World, call: Call) -> Observation:
        """Answer one call: open the turn, run the pipeline, commit, record.

        Raises `BadArguments` for arguments that are not JSON, `InputRequired` if the client is to answer questions
        first, and `Crash` for any failure of mcp-sim itself. None leaves a change of the call; the time that passed and
        the events that came due stay.
        """
        if self._successor is not None:
            async with world.lock:
                has_left = self._has_left(world)
            if has_left:
                return await world.engine.answer(world, call)
        # A call that waits for nothing takes no lock: nothing else runs between its beginning and its commit.
        lock, is_held = world.lock, world.lock.locked()
        if is_held:
            await lock.acquire()
        try:
            began = stopwatch()
            try:
                world.tick()
                turn = world.turn(call, self._tool(call.tool))
                answered = self._run(world, turn)
                if not isinstance(answered, AnsweredCall):
                    if not is_held:  # nothing was awaited so far
                        lock.acquire_nowait()
                        is_held = True
                    answered = await answered
                world.commit(turn, answered, _measured(call, began))
            except BadArguments:
                raise
            # The client repeats the call with its answers. Only that repetition takes time.
            except InputRequired:
                world.untick()
                raise
            except Exception as error:
                raise _recorded_crash(world, call, error, began) from error
            return answered.transition.observation
        finally:
            if is_held:
                lock.release()

    def answer_at_once(self, world: World, call: Call) -> Observation | None:
        """Answer one call whose result is neither delayed nor broken, if there is nothing to wait for.

        Otherwise it returns None, and only what came due by then has happened; `answer` makes the call. Raises `Crash`
        like `answer`: a call that fails is not tried again, since it may have taken long.
        """
        if not world.lock.locked() and self._has_left(world):
            return world.engine.answer_at_once(world, call)
        faults, memories = world.version.faults, world.version.memories
        assert isinstance(faults, FaultSet)
        if world.lock.locked() or faults.lasting or ("", LISTED) in memories:
            return None
        pipeline = faults.pipelines.get(call.tool) or self._compiled(faults, call.tool)
        if pipeline is None:
            return None
        began = stopwatch()
        try:
            world.tick()
            turn = world.turn(call, self._tool(call.tool))
            answered = pipeline.run_at_once(turn, pipeline.decide(turn))
            if answered is None or not _is_deliverable_at_once(answered.transition.observation):
                world.untick()
                return None
            world.commit(turn, answered, _measured(call, began))
        except BadArguments:
            world.untick()
            return None
        except Exception as error:
            raise _recorded_crash(world, call, error, began) from error
        return answered.transition.observation

    async def ask(self, world: World, call: Call) -> Observation:
        """Return what a call would be answered now, without faults and without a step. Raises `Crash`."""
        async with world.lock:
            return (await self._undisturbed(world, world.turn(call, self._tool(call.tool)))).observation

    async def act(self, world: World, call: Call, actor: str) -> Observation:
        """Make a call as someone other than the agent: without faults, and as an event. Raises `Crash`."""
        async with world.lock:
            steering.settle(world)
            # Draws of their own: the agent's next call like it must not draw the same ids.
            draws = Draws(world.origin.seed, world.origin.stream, f"{actor}/{world.version.n}", 0)
            turn = replace(world.turn(call, self._tool(call.tool)), draws=draws)
            transition = await self._undisturbed(world, turn)
            steering.call_by(world, transition.changes, actor, transition.absorbed, turn.memories)
            return transition.observation

    async def _undisturbed(self, world: World, turn: Turn) -> Transition:
        """Return what a call does without faults."""
        pipeline = self._without_faults(turn.tool.id)
        if pipeline is None:
            return (await self._unknown_call(world, turn)).transition
        try:
            return (await pipeline.run(turn, ((), ()))).transition
        except (BadArguments, InputRequired, Crash):
            raise
        except Exception as error:
            raise Crash(turn.tool.id, f"{type(error).__name__}: {error}") from error

    def ask_at_once(self, world: World, call: Call) -> Observation | None:
        """Return the same, if there is nothing to wait for: None where a model or a server would be asked."""
        pipeline = None if self._bindings is None else self._without_faults(call.tool)
        if pipeline is None:
            return None
        answered = pipeline.run_at_once(world.turn(call, self._tool(call.tool)), ((), ()))
        return None if answered is None else answered.transition.observation

    def _without_faults(self, tool_id: str) -> Pipeline | None:
        """Return the pipeline of a tool without faults; None for a tool that the scenario does not have."""
        if self._bindings is None:
            raise Crash(tool_id, "the simulator is closed")
        tool = self.scenario.domain.tools.get(tool_id)
        return None if tool is None else Pipeline((), self._bindings.step(tool))

    async def request(self, world: World, server: str, request: Request) -> Record | None:
        """Return what a real server or a recording answers to a request other than a call, or None.

        Raises `Crash`, or `InputRequired` if the client is to answer questions first.
        """
        if self._bindings is None:
            raise Crash(request.method, "the simulator is closed")
        return await self._bindings.request(server, request, Memories(world.version.memories))

    async def steer(self, world: World, act: Callable[[], T]) -> T:
        """Run what someone does to a world, between its calls."""
        async with world.lock:
            return act()

    def refit(self, faults: Faults, steered: Record) -> Faults:
        """Return the perturbations after an event that added, enabled or disabled one."""
        return self._fault_sets.refit(faults, steered)

    def _run(self, world: World, turn: Turn) -> AnsweredCall | Awaitable[AnsweredCall]:
        """Return the outcome of a call, or what waits for it."""
        faults = world.version.faults
        assert isinstance(faults, FaultSet)
        pipeline = faults.pipelines.get(turn.tool.id)
        if pipeline is None or faults.lasting or ("", LISTED) in world.version.memories:
            return self._run_with_list(world, turn)
        decided = pipeline.decide(turn)
        return pipeline.run_at_once(turn, decided) or pipeline.run(turn, decided)

    async def _run_with_list(self, world: World, turn: Turn) -> AnsweredCall:
        """Return the outcome of a call to a tool that may be unknown, where the list of tools may change."""
        faults = world.version.faults
        assert isinstance(faults, FaultSet)
        pipeline = faults.pipelines.get(turn.tool.id) or await self._compile(faults, turn.tool.id)
        if pipeline is None:
            answered = await self._unknown_call(world, turn)
        else:
            decided = pipeline.decide(turn)
            answered = pipeline.run_at_once(turn, decided) or await pipeline.run(turn, decided)
        if not faults.lasting and ("", LISTED) not in world.version.memories:
            return answered
        transition = announce_list_changes(answered.transition, faults.lasting, turn, world.beginning())
        return replace(answered, transition=transition)

    async def _unknown_call(self, world: World, turn: Turn) -> AnsweredCall:
        """Answer a call of a tool that the scenario does not have."""
        lasting = world.version.faults.lasting
        added = added_answer(lasting, turn) if world.lists(turn.tool.id) else None
        if added is not None:
            return AnsweredCall(None, Transition(added[0]), (added[1],), is_stub=False)
        unknown = program_hook(self.scenario, "unknown_tool", turn.tool.server)
        transition = Transition(self._unknown_tool(turn.tool)) if unknown is None else await unknown(turn)
        return AnsweredCall(transition, transition, (), is_stub=False)

    async def _compile(self, faults: FaultSet, tool_id: str) -> Pipeline | None:
        """Compile the pipeline of a tool; None for a tool that the scenario does not have."""
        if self._bindings is None:
            raise Crash(tool_id, "the simulator is closed")
        if faults.bindings is None and not self._conceals_the_same(faults):
            faults.bindings = await self._bindings.concealing(faults.compiled.concealed, self._exit_stack)
        return self._compiled(faults, tool_id)

    def _compiled(self, faults: FaultSet, tool_id: str) -> Pipeline | None:
        """Compile the pipeline of a tool; None if the scenario does not have it, or if world models are to be bound."""
        tool = self.scenario.domain.tools.get(tool_id)
        if tool is None or self._bindings is None:
            return None
        if faults.bindings is None:
            if not self._conceals_the_same(faults):
                return None
            faults.bindings = self._bindings
        step = faults.bindings.step(tool)
        faults.pipelines[tool_id] = Pipeline(faults.compiled.of(tool_id), step, self._compared)
        return faults.pipelines[tool_id]

    def _conceals_the_same(self, faults: FaultSet) -> bool:
        """Whether the world models may be shared. Predictors leave concealed fields out of prompts."""
        return faults.compiled.concealed == self._fault_sets.declared.compiled.concealed

    def _tool(self, tool_id: str) -> Tool:
        """Return the tool, or a placeholder for an unknown name."""
        known = self.scenario.domain.tools.get(tool_id)
        if known is not None:
            return known
        server, _, name = tool_id.partition("/")
        # Names of tools may have a slash. It separates a server only where there are several.
        if len(self.scenario.servers) == 1 or server not in self.scenario.servers:
            server, name = "", tool_id
        return Tool(tool_id, server, {"name": name, "inputSchema": {"type": "object"}})

    def _unknown_tool(self, tool: Tool) -> Observation:
        """Return the server's own answer to a call of an unknown tool."""
        servers = self.scenario.servers
        spec = servers.get(tool.server) or next(iter(servers.values()))
        if spec.unknown_tool == "rpc":
            return Observation(RpcError(UNKNOWN_TOOL, f"Unknown tool: {tool.name}"))
        return Observation(ToolResult(f"Unknown tool: {tool.name}", form="text", is_error=True))

    def base(self, seed: int | None = None) -> State:
        """Return the state that worlds of this seed begin with. It is generated once, when it is first read."""
        seed = self._seed(seed)
        with self._keeping:
            kept = self._bases.pop(seed, None)
            if kept is None:
                kept = State.later(lambda: self._generated(seed))
                held = sum(base.base.size for base in self._bases.values())
                while held > BASES_BYTES:
                    held -= self._bases.popitem(last=False)[1].base.size
            self._bases[seed] = kept
        return kept

    def counts(self, seed: int | None = None) -> Mapping[str, int]:
        """Return the number of records that worlds of this seed begin with, by entity.

        No records are generated for it, unless a program writes some of its own.
        """
        if self._has_initial:
            return self.base(seed).counts()
        return counted(self.scenario.domain.entities, self.scenario.records)

    @property
    def _has_initial(self) -> bool:
        """Whether the function of a program writes first records."""
        return any("initial" in program.hooks for program in self.scenario.domain.programs)

    def _generated(self, seed: int) -> Tables:
        """Generate the records, with those that programs add.

        Raises `DocumentError` if programs would run that the user does not trust.
        """
        from mcp_sim.generate.records import generate  # noqa: PLC0415 (listing tools must not wait for it)

        tables: Tables = generate(self.scenario.domain, self.scenario.records, seed)
        if not self.scenario.domain.programs:
            return tables
        if self.scenario.untrusted:
            raise DocumentError([*self.scenario.untrusted])
        from mcp_sim.programs.initial_records import with_initial_records  # noqa: PLC0415 (only programs need it)

        return with_initial_records(tables, self.scenario.domain, seed)

    def _first_version(self, seed: int, faults: FaultSet) -> Version:
        """Return the version that worlds of this seed and with these faults begin with."""
        facts = tuple(entry.expectation.facts() for entry in self.scenario.expectations)
        return Version(self.base(seed), (0,) * faults.counters, facts, faults, HashTrieMap(), HashTrieMap())

    def _seed(self, seed: int | None) -> int:
        return self.scenario.seed if seed is None else seed

    def _clock(self, mode: Mode | None, now: datetime | None) -> Clock:
        chosen, start = mode or self.scenario.clock.mode or "virtual", now or self.scenario.now
        if chosen == "virtual":
            return VirtualClock(start)
        return RealClock(start, self.scenario.clock.speed)


def _recorded_crash(world: World, call: Call, error: Exception, began: float) -> Crash:
    """Record the failure of a call; return it as a crash."""
    crash = error if isinstance(error, Crash) else Crash(call.tool, f"{type(error).__name__}: {error}")
    world.crash(call, crash, _measured(call, began))
    return crash


def _is_deliverable_at_once(observation: Observation) -> bool:
    return isinstance(observation.body, ToolResult) and not observation.delay and not observation.notifications


def _measured(call: Call, began: float) -> dict[str, Any]:
    """Return the measured part of a ledger entry: real seconds, and the idempotency key if the call has one."""
    seconds = round(stopwatch() - began, 6)
    return {"seconds": seconds} if call.key is None else {"seconds": seconds, "key": call.key}
