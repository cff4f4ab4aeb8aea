"""What is a world model, and what does it predict?"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol

from pydantic import Field

from mcp_sim.types import Attempt, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds.kind import Kind


class Predictor(Protocol):
    """A world model bound to one scenario."""

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        """What the call does. `rejected` are this call's earlier answers that could not be served.

        Raises Rejected where the model's answer is no observation at all (it may be asked again), any other exception
        where there is no use in asking again: that is a crash.
        """
        ...


class WorldModel(Kind):
    """Predicts the transition of a turn. `bind` is called once a scenario; what it enters lives as long as the run."""

    max_attempts: int = Field(default=1, description="How often one call is asked for before it is a crash.")
    fallback: Literal["builtin"] | None = Field(
        default=None, description="What answers after max_attempts, marked in the ledger; left out: a crash."
    )

    def bind(self, domain: Domain) -> AbstractAsyncContextManager[Predictor]:
        """The predictor for a scenario, entered when its first world opens, left when the simulator closes."""
        raise NotImplementedError
