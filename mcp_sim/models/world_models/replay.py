"""The world model that answers from recorded sessions."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, PrivateAttr

from mcp_sim.models.recorded.cassette import Cassette, Progress
from mcp_sim.models.recorded.likeness import Likeness, renamed
from mcp_sim.models.taken_answers import TakenAnswers
from mcp_sim.spec.sessions import read_sessions
from mcp_sim.spec.trust import is_beside, is_inside
from mcp_sim.types import Attempt, Memories, Record, Tool, Transition, Turn, encode
from mcp_sim.types.call_results import observation_of_answer
from mcp_sim.types.calls import Request
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import DocumentError, Unmatched, UsageError
from mcp_sim.types.kinds import Predictor, WorldModel, world_models

PROGRESS = "progress"  # the name under which the memory of a world has how far it has used the recordings


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Globs = Annotated[tuple[str, ...], BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...])]


@world_models.register("replay")
class Replay(WorldModel):
    """Answer from recorded sessions, by tool and arguments.

    The n-th call of a kind gets the n-th recorded answer, from the session that fits the run best. After the last one,
    a tool that certainly reads gets the last answer once more. Arguments match exactly, or but for times and
    ids that the caller generates; the answer then shows the caller's. What matches nothing is a crash that says what
    came closest, unless `unmatched: next` leaves it to the next world model.
    """

    written: ClassVar[str] = "RECORDINGS"
    makes_records: ClassVar[bool] = True
    is_elsewhere: ClassVar[bool] = True
    answers_requests: ClassVar[bool] = True

    recordings: str = Field(
        min_length=1,
        description="A session, or a folder of sessions, relative to the document.",
        examples=["recordings/notes"],
    )
    server: Globs = Field(default=("*",), description="Globs of names of recorded servers.")
    sessions: Globs = Field(default=("*",), description="Globs of names of sessions.", examples=[["first", "login-*"]])
    ignore: Globs = Field(
        default=(),
        description="Globs of paths in arguments that are not compared.",
        examples=[["request_id", "meta.*"]],
    )

    _document: Path | None = PrivateAttr(default=None)
    _read: list[Cassette] = PrivateAttr(default_factory=list[Cassette])

    @classmethod
    def options_in(cls, text: str) -> Record | None:
        return {"recordings": text} if text else None

    @property
    def judges_arguments(self) -> bool:
        return True

    def offers(self) -> frozenset[str]:
        if self._is_outside:
            return frozenset()  # see `problems`
        try:
            return self._cassette().offers()
        except (DocumentError, UsageError):
            return frozenset()

    def beside(self, document: Path) -> Self:
        model = self.model_copy()
        model._document, model._read = document, []  # noqa: SLF001 (its own attributes, on a copy)
        return model

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        if self._is_outside:
            return ()  # it is read once the user trusts the document
        try:
            self._cassette()
        except DocumentError as error:
            return [str(problem) for problem in error.problems]
        except UsageError as error:
            return [str(error)]
        return ()

    def needs_trust(self, environment: Mapping[str, str]) -> Iterator[str]:
        if self._is_outside:
            yield f"reads recordings in {self.recordings}, outside its folder and the working directory"

    @asynccontextmanager
    async def bind(self, domain: Domain) -> AsyncGenerator[Predictor]:
        yield _Replaying(domain, self._cassette())

    @property
    def _is_outside(self) -> bool:
        document = self._document
        return document is not None and not (is_inside(self._place, document) or is_beside(self._place, document))

    @property
    def _place(self) -> Path:
        place = Path(self.recordings).expanduser()
        return place if self._document is None else self._document.parent / place

    def _cassette(self) -> Cassette:
        """Return the sessions, which are read once. Raises `UsageError` or `DocumentError`."""
        if not self._read:
            sessions = read_sessions(self._place, self.server, self.sessions)
            self._read.append(Cassette(sessions, Likeness(self.ignore)))
        return self._read[0]


class _Replaying:
    """Answers from recordings. Faults that look twice at one call see the same answer."""

    def __init__(self, domain: Domain, cassette: Cassette) -> None:
        self._domain, self._cassette = domain, cassette
        self._answers = TakenAnswers(domain, "replay")

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        if (earlier := self._answers.earlier(turn)) is not None:
            return earlier
        memory = turn.memories.of("replay")
        tool, arguments = turn.tool.name, turn.call.arguments
        progress: Progress = memory.get(PROGRESS, Progress())
        call = self._cassette.find(tool, arguments, progress, repeats=self._domain.only_reads(turn.tool))
        if call is None:
            raise Unmatched(f"no recorded call matches; {self._cassette.nearest(tool, arguments)}")
        memory.set(PROGRESS, call.progress)
        observation = observation_of_answer(renamed(call.call.answer, call.names))
        transition = self._answers.taken(turn, observation)
        wrote = observation.ok and not self._domain.only_reads(turn.tool)
        place = f"{call.session.file.name}, call {call.call.seq}"
        measured = {"recorded": place, "match": call.how}
        return self._answers.keep(turn, replace(transition, wrote_outside=wrote, measured=measured))

    async def request(self, request: Request, memories: Memories) -> Record:
        progress: Progress = memories.of("replay").get(PROGRESS, Progress())
        answer = self._cassette.request(request.method, request.params, progress)
        if answer is None:
            what = f"{request.method} {encode(request.params).decode()}"
            raise Unmatched(f"no recorded answer to {what}; {self._cassette.nearest_request(request.method)}")
        return answer
