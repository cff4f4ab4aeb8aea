"""The base class of world models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import ClassVar, Literal, Protocol, Self, runtime_checkable

from pydantic import Field

from mcp_sim.types import Attempt, Memories, Record, Tool, Transition, Turn
from mcp_sim.types.calls import Request
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds.importer import Imported, Unreached
from mcp_sim.types.kinds.kind import Kind


class Predictor(Protocol):
    """A world model bound to one scenario. Calls of one world come one at a time, those of several worlds at once."""

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        """Return what the call does.

        `rejected` are the earlier answers to this call that could not be served. Raises `Rejected` if the model's
        answer is not an observation; it may be asked again, and `Unmatched` without one: under `unmatched: next` the
        next world model answers. Any other exception means that asking again is useless: the
        call crashes.
        """
        ...


@runtime_checkable
class ImmediatePredictor(Predictor, Protocol):
    """A predictor that answers most calls without waiting, so that they take no coroutine."""

    def predict_at_once(self, turn: Turn) -> Transition | None:
        """Return what `predict` returns at the first attempt; None if that may take long. Any exception is a crash."""
        ...


@runtime_checkable
class RequestPredictor(Predictor, Protocol):
    """A predictor that also answers requests other than calls: those of resources, prompts and completions."""

    async def request(self, request: Request, memories: Memories) -> Record:
        """Return its `result` or `error`.

        Raises `Unmatched` if it has no answer, and `InputRequired` if the client is to answer questions first. Any
        other exception is a crash. `memories` are those of the world; what is staged in them is dropped.
        """
        ...


class WorldModel(Kind):
    """Predicts the transition of a turn. It is bound once for each scenario."""

    max_attempts: int = Field(default=1, description="How often one call is asked for before it is a crash.")
    fallback: Literal["builtin"] | None = Field(
        default=None, description="What answers after max_attempts, marked in the ledger; left out: a crash."
    )

    written: ClassVar[str] = ""
    """What follows `KIND:` on a command line, such as `MODEL@URL`; '' if only the kind is written there."""
    makes_records: ClassVar[bool] = False
    """Whether the model makes the records that nothing specifies, so that none are generated."""
    is_elsewhere: ClassVar[bool] = False
    """Whether answers come from a real server or from recordings, so that no write of the world shows in them."""
    is_local: ClassVar[bool] = True
    """Whether it answers by itself: no language model and no real server is asked. Only then is a call that a fault
    answered computed once more, for expectations."""
    answers_requests: ClassVar[bool] = False
    """Whether the model answers requests other than calls, and may ask the client of a request questions."""

    @classmethod
    def options_in(cls, text: str) -> Record | None:  # noqa: ARG003 (what the family's contract says)
        """Return the options that the text after `KIND:` on a command line gives; None if it has another form."""
        return None

    @property
    def judges_arguments(self) -> bool:
        """Whether the model answers calls whose arguments violate the inputSchema, as `Turn.problems` says."""
        return False

    @property
    def shares_state(self) -> bool:
        """Whether all worlds of a simulator have one state, which begins anew with each simulator."""
        return False

    def offers(self) -> frozenset[str]:
        """Return the capabilities that a server has through this model, besides those of its tool spec.

        They are named as in the protocol: `resources`, `prompts`, `completions`, `logging`.
        """
        return frozenset()

    def listed(self) -> Imported | Unreached | None:
        """Return the tools of the server that answers, which is asked; None if the model has no server of its own."""
        return None

    def beside(self, document: Path) -> Self:
        """Return the model with the paths that it names relative to the document that names it."""
        return self

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        """Return why these options cannot work with the tools in reach, as sentences.

        Each is an error when the scenario is loaded.
        """
        return ()

    def warnings(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        """Return what these options do not do with the tools in reach, as sentences: warnings of the document."""
        return ()

    def needs_trust(self, environment: Mapping[str, str]) -> Iterable[str]:
        """Yield what the model does only if the user trusts the document, such as to send a key to some host."""
        return ()

    def sends_to(self, environment: Mapping[str, str]) -> Iterable[str]:
        """Yield the hosts that get calls and the state of worlds, and that the document chose, not the user."""
        return ()

    def trusted(self) -> Self:
        """Return the model as it is where the user trusts the document, or names the model on a command line."""
        return self

    def bind(self, domain: Domain) -> AbstractAsyncContextManager[Predictor]:
        """Return the predictor for a scenario.

        It is entered when the first world opens, and left when the simulator closes.
        """
        raise NotImplementedError
