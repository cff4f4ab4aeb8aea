"""The world model that needs no language model: every tool follows its plan."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from functools import cached_property

from mcp_sim.types import Attempt, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Invent, Predictor, WorldModel, backends, world_models


@world_models.register("builtin")
class Builtin(WorldModel):
    """Infer from the tool specs what each tool does to which records, and answer from the world's state. No options."""

    def bind(self, domain: Domain) -> AbstractAsyncContextManager[Predictor]:
        return _bound(domain)


@asynccontextmanager
async def _bound(domain: Domain) -> AsyncGenerator[Predictor]:
    yield _Answers(domain)


class _Answers:
    """The answers of all tools, each compiled at the tool's first call."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._compiled: dict[str, Answer] = {}

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        answer = self._compiled.get(turn.tool.id)
        if answer is None:
            answer = self._compiled[turn.tool.id] = self._compile(turn.tool.id)
        return answer(turn, self._invent)

    @cached_property
    def _invent(self) -> Invent:
        from mcp_sim.generate.values import inventor  # noqa: PLC0415 (no tool is listed sooner for it)

        return inventor(self._domain)

    def _compile(self, tool: str) -> Answer:
        from mcp_sim.backends.records.open_world import open_answer  # noqa: PLC0415 (no tool is listed sooner for it)

        plan = self._domain.plans[tool]
        compiled = backends[plan.backend]().compile_answer(self._domain.tools[tool], plan, self._domain)
        answer = open_answer(compiled, plan, self._domain)
        if not plan.guessed:
            return answer
        return lambda turn, invent: replace(answer(turn, invent), guessed=True)
