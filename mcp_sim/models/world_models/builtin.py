"""The world model that needs no language model: every tool follows its plan."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import cast

from anyio import CapacityLimiter, to_thread

from mcp_sim.types import Attempt, Json, Transition, Turn
from mcp_sim.types.argument_descriptions import unwrap_call, unwrap_tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.flagged_results import FlaggedResult, flagged_result
from mcp_sim.types.kinds import Answer, Invent, Predictor, WorldModel, backends, world_models
from mcp_sim.types.programs import PROGRAM

MOST_THREADS = 2
"""Calls that run in threads at the same time. Each of them slows down the others, and the event loop. They share one
interpreter lock."""

LARGE_STATE = 4 * 1024 * 1024
"""Bytes that a world has written, beyond which all of its calls run in threads. A search may read all of it, which
keeps other worlds waiting."""

LARGE_TEXT = 16_384
"""Characters of an argument beyond which the call runs in a thread. Searching and comparing a longer one keeps other
worlds waiting."""

LARGE_COUNT = 500
"""Items or fields of an argument beyond which the call runs in a thread. A batch writes each item, which keeps other
worlds waiting."""


@world_models.register("builtin")
class Builtin(WorldModel):
    """Infer from the tool specs what each tool does to which records, and answer from the world's state. No options."""

    @asynccontextmanager
    async def bind(self, domain: Domain) -> AsyncGenerator[Predictor]:
        yield _Answers(domain)


class _Answers:
    """The answers of all tools, each compiled at the tool's first call."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._compiled: dict[str, Answer] = {}
        self._lengthy = set[str]()
        """Tools whose calls may take long, whatever their size."""
        self._threads = CapacityLimiter(MOST_THREADS)

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        answer = self._answer(turn.tool.id)
        if turn.tool.id in self._lengthy:
            from mcp_sim.programs.watchdog import in_thread  # noqa: PLC0415 (tools are listed without it)

            return await in_thread(turn.tool.id, partial(answer, turn, self._invent), self._threads)
        if self._may_take_long(turn):
            return await to_thread.run_sync(answer, turn, self._invent, limiter=self._threads)
        return answer(turn, self._invent)

    def predict_at_once(self, turn: Turn) -> Transition | None:
        answer = self._answer(turn.tool.id)
        return None if self._may_take_long(turn) else answer(turn, self._invent)

    def _answer(self, tool: str) -> Answer:
        if tool in self._compiled:
            return self._compiled[tool]
        from mcp_sim.plans.records.backend import marking  # noqa: PLC0415 (tools are listed without it)
        from mcp_sim.plans.records.open_world import open_answer  # noqa: PLC0415 (no tool is listed sooner for it)
        from mcp_sim.plans.records.shown_records import absorbing  # noqa: PLC0415 (tools are listed without it)
        from mcp_sim.plans.records.side_effects import with_side_effects  # noqa: PLC0415 (tools are listed without it)

        plan = self._domain.plans[tool]
        backend = backends[plan.backend]()
        if backend.may_take_long(plan, self._domain):
            self._lengthy.add(tool)
        compiled = backend.compile_answer(self._bare.tools[tool], plan, self._bare)
        answer = absorbing(open_answer(compiled, plan, self._bare), plan, self._bare)
        answer = with_side_effects(answer, plan, self._bare)
        caller = self._domain.callers.get(tool)
        if caller is not None:
            from mcp_sim.plans.callers import with_caller  # noqa: PLC0415 (few scenarios have tokens)

            answer = with_caller(answer, caller, self._domain.tools[tool], self._domain)
        answer = marking(answer, plan, self._bare)
        wrapper = self._domain.wrappers.get(tool)
        bare = answer if wrapper is None else partial(_unwrapped, answer, wrapper)
        form = None if self._bare.tools[tool] is self._domain.tools[tool] else flagged_result(self._domain.tools[tool])
        self._compiled[tool] = bare if form is None else partial(_flagged, bare, form)
        return self._compiled[tool]

    def _may_take_long(self, turn: Turn) -> bool:
        if turn.tool.id in self._lengthy or turn.view.size > LARGE_STATE:
            return True
        return turn.size > LARGE_COUNT and _is_large(turn.call.arguments)

    @cached_property
    def _invent(self) -> Invent:
        from mcp_sim.generate.invention import inventor  # noqa: PLC0415 (no tool is listed sooner for it)

        return inventor(self._domain)

    @cached_property
    def _bare(self) -> Domain:
        """The domain as if its tools took wrapped arguments (`params: {...}`) one by one, and returned no flags."""
        tools, wrappers = self._domain.tools, self._domain.wrappers
        unwrapped = {id_: unwrap_tool(tools[id_], wrapper) for id_, wrapper in wrappers.items()}
        programmed = {id_ for id_, plan in self._domain.plans.items() if plan.backend == PROGRAM}
        planned = {id_: tool for id_, tool in {**tools, **unwrapped}.items() if id_ not in programmed}
        flagged = {id_: form.tool for id_, tool in planned.items() if (form := flagged_result(tool))}
        bare = {**tools, **unwrapped, **flagged}
        callers = self._domain.callers
        called = {id_: tool for id_, caller in callers.items() if (tool := caller.planned(bare[id_]))}
        if not wrappers and not flagged and not called:
            return self._domain
        return replace(self._domain, tools={**bare, **called}, wrappers={})


def _unwrapped(answer: Answer, wrapper: str, turn: Turn, invent: Invent) -> Transition:
    return answer(replace(turn, call=unwrap_call(turn.call, wrapper)), invent)


def _flagged(answer: Answer, form: FlaggedResult, turn: Turn, invent: Invent) -> Transition:
    return form.flagged(answer(turn, invent), turn.tool)


def _is_large(value: Json, levels: int = 3) -> bool:
    """Return whether a value has a long text or many parts in its upper levels."""
    if isinstance(value, str):
        return len(value) > LARGE_TEXT
    if not isinstance(value, dict | list):
        return False
    parts = cast("Collection[Json]", value)
    if len(parts) > LARGE_COUNT:
        return True
    inner = cast("dict[str, Json]", value).values() if isinstance(value, dict) else parts
    return levels > 0 and any(_is_large(item, levels - 1) for item in inner)
