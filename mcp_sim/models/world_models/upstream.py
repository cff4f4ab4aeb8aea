"""The world model that passes calls on to a real server."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

from mcp_sim.models.real_server.connection import RealServer
from mcp_sim.models.real_server.options import RealServerOptions
from mcp_sim.models.taken_answers import TakenAnswers
from mcp_sim.types import Attempt, Memories, Record, Transition, Turn
from mcp_sim.types.call_results import observation_of_answer
from mcp_sim.types.clients import Request
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Predictor, world_models


@world_models.register("upstream")
class Upstream(RealServerOptions):
    """Pass calls on to a real server, started by a command or reached by a URL.

    Its answers are served unchanged, under the faults of the scenario. What they show becomes known, so that faults,
    conditions and expectations can use it. All worlds share one connection, opened at the first call, and the state of
    the server: a reset or a fork does not change it. A server that does not answer is a crash. Faults that act on the
    world's records are refused, since the server keeps its own: see `shadow`.
    """

    @property
    def is_elsewhere(self) -> bool:
        return True

    @asynccontextmanager
    async def bind(self, domain: Domain) -> AsyncGenerator[Predictor]:
        server = self.server(os.environ)
        try:
            yield _Passing(domain, server)
        finally:
            await server.aclose()


class _Passing:
    """Passes calls on. Faults that look twice at one call see the same answer; those that repeat it call again."""

    def __init__(self, domain: Domain, server: RealServer) -> None:
        self._domain, self._server = domain, server
        self._answers = TakenAnswers(domain, "upstream")

    async def request(self, request: Request, memories: Memories) -> Record:
        return await self._server.request(request)

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        earlier: tuple[Turn, Transition] | None = turn.memories.shared.get("upstream")
        if earlier is not None and earlier[0].call is turn.call and earlier[0].draws == turn.draws:
            return earlier[1]
        answer = await self._server.call(turn.tool.name, turn.call.arguments, turn.call.client)
        transition = self._answers.taken(turn, observation_of_answer(answer))
        wrote = transition.observation.ok and not self._domain.only_reads(turn.tool)
        transition = replace(transition, wrote_outside=wrote)
        turn.memories.shared["upstream"] = turn, transition
        return transition
