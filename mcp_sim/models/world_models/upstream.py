"""The world model that passes calls on to a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from mcp_sim.models.real_server.connection import RealServer
from mcp_sim.models.real_server.options import RealServerOptions
from mcp_sim.models.taken_answers import TakenAnswers
from mcp_sim.types import Attempt, Json, Memories, Record, Transition, Turn, encode
from mcp_sim.types.call_results import observation_of_answer
from mcp_sim.types.calls import Request
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Crash
from mcp_sim.types.kinds import Predictor, world_models


class PreparingCall(BaseModel):
    """A call that prepares a real server."""

    model_config = ConfigDict(extra="forbid")

    call: str = Field(description="The tool.")
    arguments: Record = Field(default_factory=dict[str, Json])


@world_models.register("upstream")
class Upstream(RealServerOptions):
    """Pass calls on to a real server, started by a command or reached by a URL.

    Its answers are served unchanged, under the faults of the scenario. What they show becomes known, so that faults,
    conditions and expectations can use it. All worlds share one connection, opened at the first call, and the state of
    the server: a reset or a fork does not change it. Only `mcp-sim run` starts a process of its own for each run. A
    server that does not answer is a crash. Faults that act on the world's records are refused, since the server keeps
    its own: see `shadow`.
    """

    is_elsewhere: ClassVar[bool] = True

    prepare: tuple[PreparingCall, ...] = Field(
        default=(),
        description="Calls after each start of the command, without faults and without a step in the ledger.",
        examples=[[{"call": "create_note", "arguments": {"title": "Milk"}}]],
    )

    @model_validator(mode="after")
    def _prepares_its_own(self) -> Self:
        if self.prepare and self.url is not None:
            raise ValueError("prepare: is for a command: a server at a URL keeps what earlier calls did")
        return self

    @property
    def shares_state(self) -> bool:
        return self.url is None

    @asynccontextmanager
    async def bind(self, domain: Domain) -> AsyncGenerator[Predictor]:
        async with self.opened() as server:
            yield _Passing(domain, server, self.prepare)


class _Passing:
    """Passes calls on. Faults that look twice at one call see the same answer; those that repeat it call again."""

    def __init__(self, domain: Domain, server: RealServer, prepare: Sequence[PreparingCall]) -> None:
        self._domain, self._server, self._unprepared = domain, server, [*prepare]
        self._preparing = asyncio.Lock()
        self._answers = TakenAnswers(domain, "upstream")

    async def request(self, request: Request, memories: Memories) -> Record:
        await self._prepare()
        return await self._server.request(request)

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        if (earlier := self._answers.earlier(turn)) is not None:
            return earlier
        await self._prepare()
        answer = await self._server.call(turn.tool.name, turn.call.arguments, turn.call.client)
        transition = self._answers.taken(turn, observation_of_answer(answer))
        wrote = transition.observation.ok and not self._domain.only_reads(turn.tool)
        return self._answers.keep(turn, replace(transition, wrote_outside=wrote))

    async def _prepare(self) -> None:
        """Make the calls that prepare the server, once. Raises `Crash` if one of them fails."""
        async with self._preparing:
            while self._unprepared:
                prepared = self._unprepared[0]
                answer = await self._server.call(prepared.call, prepared.arguments)
                if not observation_of_answer(answer).ok:
                    raise Crash(prepared.call, f"the preparation of the real server failed: {encode(answer).decode()}")
                del self._unprepared[0]
