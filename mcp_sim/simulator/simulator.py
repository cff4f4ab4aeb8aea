"""The simulator: a scenario, compiled; the worlds that are opened on it; and what happens at one call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from rpds import HashTrieMap

from mcp_sim.faults.compile import compile_rules
from mcp_sim.faults.intensity import in_force, with_intensity
from mcp_sim.generate.counts import counted
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.pipeline import Passage, Pipeline
from mcp_sim.simulator.world_step import WorldStep
from mcp_sim.types import Call, Observation, RpcError, Tool, ToolResult, Transition, Turn
from mcp_sim.types.clock import Clock, Mode, RealClock, VirtualClock, stopwatch
from mcp_sim.types.errors import BadArguments, Crash, UsageError
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.kinds import NEVER_MATCHED, Backend, Predictor, Sink, Tables, backends, world_models
from mcp_sim.types.plans import Plan
from mcp_sim.types.scenario import Scenario, WorldModelEntry, in_reach
from mcp_sim.types.surface import SILENT
from mcp_sim.world import Origin, Version, World
from mcp_sim.world.catalogue import added_answer, with_news
from mcp_sim.world.consistency import inspection
from mcp_sim.world.state import State

BASES_KEPT = 16
"""Initial states are kept for so many seeds."""

UNKNOWN_TOOL = -32602


class Keeping(Sink, Protocol):
    """What stands between a world and its simulator, so that the world outlives its process."""

    async def answer(self, world: World, call: Call) -> Observation:
        """Answer a call, by way of the simulator."""
        ...


class Simulator:
    """A scenario ready to be run. Its worlds share the compiled tools and, for one seed, the base records."""

    def __init__(self, scenario: Scenario, sinks: Sequence[Sink] = (), ledger_keep: int = 1000) -> None:
        self.scenario = scenario
        self._sinks = tuple(sinks)
        self._ledger_keep = ledger_keep
        entries = in_force(scenario)
        self._timed = tuple(entry for entry in entries if entry.enabled and entry.perturbation.is_timed())
        self._rules = compile_rules(entries, scenario.domain)
        self._makers = dict[str, Callable[[], Pipeline]]()
        self._pipelines = dict[str, Pipeline]()
        self._bound = AsyncExitStack()
        self._bases: OrderedDict[int, State] = OrderedDict()

    @classmethod
    def load(cls, reference: str | Path, *, world_model: str | None = None, intensity: float | None = None) -> Self:
        """From a file or a shipped name. Raises DocumentError with all problems at once."""
        return cls(with_intensity(load(reference, world_model=world_model), intensity))

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def start(self) -> None:
        """Bind the world models. What a tool's calls pass through is compiled at the first of them."""
        if self._makers:
            return
        predictors = [await self._bind(entry) for entry in self.scenario.world_models]
        builtin = world_models["builtin"]()
        needs_builtin = any(entry.world_model.fallback for entry in self.scenario.world_models)
        fallback = await self._bound.enter_async_context(builtin.bind(self.scenario.domain)) if needs_builtin else None
        for tool in self.scenario.domain.tools.values():
            at = next(n for n, entry in enumerate(self.scenario.world_models) if in_reach(entry.tools, tool))
            entry = self.scenario.world_models[at]
            self._makers[tool.id] = partial(self._pipeline, tool, predictors[at], entry, fallback)

    async def aclose(self) -> None:
        """Let go of the world models. Worlds cannot be called any more."""
        self._makers.clear()
        self._pipelines.clear()
        await self._bound.aclose()

    @asynccontextmanager
    async def open(
        self, name: str = "default", *, seed: int | None = None, stream: str = "", clock: Mode | None = None
    ) -> AsyncGenerator[World]:
        """A new world. The clock is virtual unless the scenario or the caller says otherwise."""
        alone = not self._makers
        await self.start()
        try:
            yield self.world(name, seed=seed, stream=stream, clock=clock)
        finally:
            if alone:
                await self.aclose()

    def world(
        self,
        name: str = "default",
        *,
        seed: int | None = None,
        stream: str = "",
        clock: Mode | None = None,
        keeper: Keeping | None = None,
        is_new: bool = True,
    ) -> World:
        """A new world of a simulator that was started; `open` does both.

        A `keeper` answers its calls in the simulator's place, and may bring a world back that is not new.
        """
        if not self._makers:
            raise UsageError("the simulator is not started: use `async with Simulator(...)`, or `open`")
        origin = Origin(
            self.scenario, self._seed(seed), stream, self._first(self._seed(seed)), self._timed, self._rules.lasting
        )
        answer = self.answer if keeper is None else keeper.answer
        sinks = self._sinks if keeper is None else (*self._sinks, keeper)
        world = World(name, origin, self._clock(clock), answer, sinks, self._ledger_keep)
        if is_new:
            world.open()
        return world

    async def answer(self, world: World, call: Call) -> Observation:
        """One call: open the turn, pass through the pipeline, commit, record. Raises Crash."""
        async with world.lock:
            began = stopwatch()
            try:
                world.tick()
                turn = world.turn(call, self._tool(call.tool))
                passage = await self._pass(world, turn)
                world.commit(turn, passage, _measured(call, began))
            except BadArguments:
                raise
            except Exception as error:
                crash = error if isinstance(error, Crash) else Crash(call.tool, f"{type(error).__name__}: {error}")
                world.crash(call, crash, _measured(call, began))
                raise crash from error
            return passage.transition.observation

    async def _pass(self, world: World, turn: Turn) -> Passage:
        passage = await self._answered(world, turn)
        if not self._rules.lasting:
            return passage
        news = with_news(passage.transition, self._rules.lasting, turn, world.beginning())
        return replace(passage, transition=news)

    async def _answered(self, world: World, turn: Turn) -> Passage:
        pipeline = self._pipelines.get(turn.tool.id) or self._compiled(turn.tool.id)
        if pipeline is not None:
            return await pipeline.run(turn)
        if not self._makers:
            raise Crash(turn.tool.id, "the simulator is closed")
        added = added_answer(self._rules.lasting, turn) if world.lists(turn.tool.id) else None
        if added is not None:
            return Passage(None, Transition(added[0]), (added[1],), is_stub=False)
        transition = Transition(self._unknown_tool(turn.tool))
        return Passage(transition, transition, (), is_stub=False)

    def _compiled(self, tool_id: str) -> Pipeline | None:
        """What the calls of a tool pass through; None for a tool that is not the scenario's own."""
        make = self._makers.get(tool_id)
        if make is None:
            return None
        self._pipelines[tool_id] = make()
        return self._pipelines[tool_id]

    def _tool(self, tool_id: str) -> Tool:
        """The tool, or one that stands for a name that nobody knows."""
        known = self.scenario.domain.tools.get(tool_id)
        if known is not None:
            return known
        server, _, name = tool_id.partition("/")
        if len(self.scenario.servers) == 1 or server not in self.scenario.servers:
            server, name = "", tool_id
        return Tool(tool_id, server, {"name": name, "inputSchema": {"type": "object"}})

    def _unknown_tool(self, tool: Tool) -> Observation:
        """The server's own answer to a tool it does not have."""
        servers = self.scenario.servers
        spec = servers.get(tool.server) or next(iter(servers.values()))
        if spec.unknown_tool == "rpc":
            return Observation(RpcError(UNKNOWN_TOOL, f"Unknown tool: {tool.name}"))
        return Observation(ToolResult(f"Unknown tool: {tool.name}", form="text", is_error=True))

    def _pipeline(
        self, tool: Tool, predictor: Predictor, entry: WorldModelEntry, fallback: Predictor | None
    ) -> Pipeline:
        domain = self.scenario.domain
        plan = domain.plans.get(tool.id) or Plan(tool.id, "unknown", confidence=0.0)
        step = WorldStep(
            arguments=Validator(tool.input_schema),
            output=None if tool.output_schema is None else Validator(tool.output_schema),
            inspect=inspection(plan, domain),
            stubs=tuple(stub for stub in self.scenario.stubs if in_reach((stub.tool,), tool)),
            predictor=predictor,
            max_attempts=entry.world_model.max_attempts,
            fallback=fallback if entry.world_model.fallback else None,
            manner=self.scenario.manners.get(tool.id, SILENT),
        )
        return Pipeline(self._rules.by_tool[tool.id], step)

    async def _bind(self, entry: WorldModelEntry) -> Predictor:
        domain = self.scenario.domain
        told = replace(domain, concealed=self._rules.concealed) if self._rules.concealed else domain
        return await self._bound.enter_async_context(entry.world_model.bind(told))

    def base(self, seed: int | None = None) -> State:
        """The state that worlds of this seed begin with. It is generated once, at the first look, which takes time."""
        seed = self._seed(seed)
        if seed not in self._bases:
            self._bases[seed] = State.later(lambda: self._generated(seed))
            while len(self._bases) > BASES_KEPT:
                self._bases.popitem(last=False)
        return self._bases[seed]

    def counts(self, seed: int | None = None) -> Mapping[str, int]:
        """How many records worlds of this seed begin with, by entity. None is made for that where it is told."""
        used = {plan.backend for plan in self.scenario.domain.plans.values()} - NEVER_MATCHED
        if any(backends[name].completed is not Backend.completed for name in used):
            return self.base(seed).counts()
        return counted(self.scenario.domain.entities, self.scenario.records)

    def _generated(self, seed: int) -> Tables:
        """The records, with what the backends of these tools need beside them."""
        from mcp_sim.generate.generation import generate  # noqa: PLC0415 (no tool is listed sooner for it)

        tables: Tables = generate(self.scenario.domain, self.scenario.records, seed)
        plans = list(self.scenario.domain.plans.values())
        used = {plan.backend for plan in plans}
        for name in sorted(used, key=lambda name: (backends[name].order, name)):
            tables = backends[name]().completed(tables, [plan for plan in plans if plan.backend == name], seed)
        return tables

    def _first(self, seed: int) -> Version:
        """The version that worlds of this seed begin with."""
        facts = tuple(entry.expectation.facts() for entry in self.scenario.expectations)
        return Version(self.base(seed), (0,) * self._rules.counters, facts, HashTrieMap(), HashTrieMap())

    def _seed(self, seed: int | None) -> int:
        return self.scenario.seed if seed is None else seed

    def _clock(self, mode: Mode | None) -> Clock:
        chosen = mode or self.scenario.clock.mode or "virtual"
        if chosen == "virtual":
            return VirtualClock(self.scenario.now)
        return RealClock(self.scenario.now, self.scenario.clock.speed)


def _measured(call: Call, began: float) -> dict[str, Any]:
    """What a ledger says of a call beside its step."""
    seconds = round(stopwatch() - began, 6)
    return {"seconds": seconds} if call.key is None else {"seconds": seconds, "key": call.key}
