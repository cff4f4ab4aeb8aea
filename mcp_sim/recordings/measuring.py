"""Measure how faithfully a spec answers recorded sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from mcp_sim.recordings.known import data_of
from mcp_sim.recordings.responders import Responders, Simulations
from mcp_sim.recordings.score import CallScore, Report, score_session
from mcp_sim.spec.sessions import Session
from mcp_sim.types.frozen import frozen
from mcp_sim.types.scenario import Scenario

PARTS_PER_PROCESS = 4  # sessions differ in length: with one part each, all would wait for the slowest

Progress = Callable[[int, str], None]
"""Gets the number of sessions that are done, and the name of one in progress."""


async def measure(
    source: str | Path | Scenario | Responders,
    sessions: Sequence[Session],
    *,
    trust: bool | Iterable[Path] = False,
    cold: bool = True,
    processes: int = 1,
    progress: Progress | None = None,
) -> Report:
    """Replay sessions, and report how faithful the answers of a spec, a scenario or other responders are.

    The worlds of a spec or scenario begin with the state of their session; a compiled `Scenario` keeps its own.
    `cold`: also measure what mcp-sim infers from the recorded list of tools alone. `processes` share the work if the
    source is a document. Raises `DocumentError` if it cannot be used.
    """
    shown = _Shown(progress)
    trusted = trust if isinstance(trust, bool) else tuple(trust)
    if isinstance(source, str | Path):
        scores = await _score_documents(source, trusted, sessions, processes, shown)
    elif isinstance(source, Scenario):
        async with Simulations(source) as responders:
            scores = await score_sessions(responders, sessions, shown.begun, data_of(sessions))
    else:
        scores = await score_sessions(source, sessions, shown.begun, data_of(sessions))
    if not cold:
        return Report(scores)
    return Report(scores, cold=Report(await _score_documents(None, trusted, sessions, processes, shown)))


async def score_sessions(
    responders: Responders,
    sessions: Iterable[Session],
    begun: Callable[[Session], None] | None = None,
    data: frozenset[str] = frozenset(),
) -> list[CallScore]:
    """Replay sessions, each against a responder of its own, and return the scores of all calls.

    `begun` is called when a session begins. `data`: that of all recorded worlds, see `data_of`.
    """
    scores = list[CallScore]()
    for session in sessions:
        if begun is not None:
            begun(session)
        async with responders(session) as responder:
            scores += await score_session(session, responder, data)
    return scores


class _Shown:
    """Counts the sessions that are done."""

    def __init__(self, show: Progress | None) -> None:
        self._show = show
        self._done = 0

    def begun(self, session: Session) -> None:
        self.add(0, session)
        self._done += 1

    def add(self, done: int, latest: Session) -> None:
        self._done += done
        if self._show is not None:
            self._show(self._done, f"{latest.server} {latest.name}")


# documents, in several processes --------------------------------------------------------------------------------------


@frozen
class _Part:
    """Sessions that one process replays."""

    source: str | Path | None
    """None: the recorded list of tools alone."""
    trust: bool | tuple[Path, ...]
    sessions: Sequence[Session]
    data: frozenset[str]
    """That of all recorded worlds, also of those of other processes."""

    async def scores(self, begun: Callable[[Session], None] | None = None) -> list[CallScore]:
        async with Simulations(self.source, self.trust) as responders:
            return await score_sessions(responders, self.sessions, begun, self.data)


async def _score_documents(
    source: str | Path | None,
    trust: bool | tuple[Path, ...],
    sessions: Sequence[Session],
    processes: int,
    shown: _Shown,
) -> list[CallScore]:
    data = data_of(sessions)
    if processes == 1:
        return await _Part(source, trust, sessions, data).scores(shown.begun)
    # Neighbours, which often share a state, stay together.
    size = -(-len(sessions) // (processes * PARTS_PER_PROCESS))
    parts = [_Part(source, trust, sessions[at : at + size], data) for at in range(0, len(sessions), size)]
    pool = ProcessPoolExecutor(processes, get_context("spawn"))
    try:
        running = [asyncio.get_running_loop().run_in_executor(pool, _score_part, chunk) for chunk in parts]
        score_documents = await asyncio.gather(
            *(_counted(task, chunk, shown) for task, chunk in zip(running, parts, strict=True))
        )
    finally:
        pool.shutdown(cancel_futures=True)
    return [score for scores in score_documents for score in scores]


async def _counted(scores: Awaitable[list[CallScore]], chunk: _Part, shown: _Shown) -> list[CallScore]:
    call_scores = await scores
    shown.add(len(chunk.sessions), chunk.sessions[-1])
    return call_scores


def _score_part(chunk: _Part) -> list[CallScore]:
    """Score the sessions of a part, in a process of its own."""
    return asyncio.run(chunk.scores())
