"""Measure how faithfully a spec answers recorded sessions: replay them, score each answer, and add the scores up."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path

from mcp_sim.recordings.columns import COLUMNS, Comparison, Mark, Shown
from mcp_sim.recordings.known import ForeignData, ReplayIds, ShownFacts, data_of
from mcp_sim.recordings.observed import normal, observe
from mcp_sim.recordings.responders import Responder, Responders, Simulations
from mcp_sim.spec.sessions import Answer, RecordedCall, Session
from mcp_sim.types import Json, Record, canonical, frozen, leaves
from mcp_sim.types.errors import BadArguments, Crash
from mcp_sim.types.scenario import Scenario


@frozen
class CallScore:
    """The score of one call."""

    server: str
    session: str
    seq: int
    tool: str
    arguments: Record
    """As they were sent: with the ids of the simulation."""
    recorded: Answer
    answered: Answer | None
    """None if the responder crashed."""
    crash: str
    """Why it crashed; '' if it did not."""
    marks: Mapping[str, Sequence[Mark]]
    """By column; a column that does not apply is missing."""

    @property
    def is_perfect(self) -> bool:
        return not self.reasons

    @property
    def reasons(self) -> dict[str, list[str]]:
        """Return why columns are below 1, by column."""
        low = {name: [mark.reason for mark in marks if mark.value < 1] for name, marks in self.marks.items()}
        return {name: reasons for name, reasons in low.items() if reasons}

    def to_json(self) -> Record:
        """Return the call as one line of a file of details."""
        means = {name: sum(mark.value for mark in marks) / len(marks) for name, marks in self.marks.items()}
        known = {"server": self.server, "session": self.session, "seq": self.seq, "tool": self.tool}
        answered: Json = {"crash": self.crash} if self.answered is None else self.answered
        return {
            **known,
            "arguments": self.arguments,
            "recorded": self.recorded,
            "answered": answered,
            "columns": {name: round(mean, 4) for name, mean in means.items()},
            "reasons": self.reasons,
        }


async def score_session(session: Session, responder: Responder, data: frozenset[str] = frozenset()) -> list[CallScore]:
    """Make the calls of a session again, and return the score of each answer.

    Arguments are sent with the responder's ids for those that the recording shows. `data`: that of all recorded
    worlds, see `data_of`; what of it the session does not know must not be shown.
    """
    replay = _Replay(session, data)
    scores = [replay.score(call, *await _ask(responder, call, replay.arguments(call))) for call in session.calls]
    constant = {*_constant_tools(scores)}
    return [_without_behaviour(score) if score.tool in constant else score for score in scores]


_BEHAVIOUR = frozenset(column.name for column in COLUMNS if column.half == "behaviour")


def _constant_tools(scores: Sequence[CallScore]) -> Iterator[str]:
    """Yield the tools with one answer to all successful calls, where the recorded ones differ.

    Recorded answers that differ only in what their arguments give are equal. A refusal of all calls is wrong call by
    call, whether or not its text names the arguments.
    """
    by_tool = defaultdict[str, list[CallScore]](list)
    for score in scores:
        if not observe(score.recorded).failed:
            by_tool[score.tool].append(score)
    for tool, calls in by_tool.items():
        recorded, bare = {canonical(call.recorded) for call in calls}, {_without_arguments(call) for call in calls}
        served = {canonical(call.answered): call.answered for call in calls if call.answered is not None}
        if (
            min(len(recorded), len(bare)) > 1
            and len(served) == 1
            and not any(observe(answer).failed for answer in served.values())
            and len({canonical(call.arguments) for call in calls}) > 1
        ):
            yield tool


def _without_arguments(call: CallScore) -> str:
    given = {normal(leaf) for _, leaf in leaves(call.arguments)} - {None}
    text = canonical(call.recorded)
    for name in sorted(filter(None, given), key=len, reverse=True):
        text = text.replace(name, "<given>")
    return text


def _without_behaviour(score: CallScore) -> CallScore:
    reason = "all calls of the tool get the same answer"
    marks = {
        name: [replace(mark, value=0.0, reason=reason) for mark in marks] if name in _BEHAVIOUR else marks
        for name, marks in score.marks.items()
    }
    return replace(score, marks=marks)


async def _ask(responder: Responder, call: RecordedCall, arguments: Record) -> tuple[Answer | None, str]:
    """Return the answer of a responder; None and the reason if mcp-sim crashed."""
    try:
        return await responder.call(call.tool, arguments), ""
    except (BadArguments, Crash) as error:
        return None, str(error)


class _Replay:
    """What a session has shown so far, in the recording and in the simulation."""

    def __init__(self, session: Session, data: frozenset[str]) -> None:
        self._session = session
        self._foreign = ForeignData(data, session)
        self._facts = ShownFacts()
        self._ids = ReplayIds(session.state)
        self._shown = dict[str, Shown]()
        """What each call showed when it was last made."""

    def arguments(self, call: RecordedCall) -> Record:
        """Return the arguments of a call with the ids of the simulation."""
        return self._ids.arguments(call)

    def score(self, call: RecordedCall, answered: Answer | None, crash: str) -> CallScore:
        """Return the score of an answer, and remember what it shows."""
        arguments = self.arguments(call)
        recorded, served = observe(call.answer), None if answered is None else observe(answered)
        self._ids.pair(call, recorded, served)
        known = self._ids.known
        ours = Counter[str]() if served is None else known.served_facts(served.value, self._ids.alignment)
        shown = Shown(known.facts(recorded.value), ours)
        label = f"{call.tool} {canonical(call.arguments)}"
        about = call.seq, call.arguments, recorded, served
        repeated = self._facts.repeated(recorded.value, None if served is None else served.value, self._ids.alignment)
        leaked = self._foreign.shown_by(served.value) if self._foreign and served is not None else None
        known = self._ids.alignment, self._ids.known, shown, self._shown.get(label)
        comparison = Comparison(*about, *known, repeated, leaked)
        marks = {column.name: tuple(column.marks(comparison)) for column in COLUMNS}
        self._shown[label] = shown
        self._ids.learn(recorded, call.seq)
        kept = {name: mark for name, mark in marks.items() if mark}
        where = self._session.server, self._session.name, call.seq, call.tool
        return CallScore(*where, arguments, call.answer, answered, crash, kept)


# reports --------------------------------------------------------------------------------------------------------------


@frozen
class Scores:
    """The score of a group of calls in each column that applies, from 0 to 1."""

    calls: int
    columns: Mapping[str, float]
    marks: Mapping[str, int]
    """How many marks each column has."""
    form: float | None
    """The mean of the columns that measure how answers look; None if none applies."""
    behaviour: float | None
    """The mean of the columns that measure what the server does; None if none applies."""
    score: float | None
    """The lower of form and behaviour. Of several servers, the mean of their scores."""

    def to_json(self) -> Record:
        rounded = {name: round(value, 4) for name, value in self.columns.items()}
        halves = {"score": self.score, "form": self.form, "behaviour": self.behaviour}
        numbers = {name: None if value is None else round(value, 4) for name, value in halves.items()}
        return {"calls": self.calls, **numbers, "columns": rounded, "marks": {**self.marks}}


class Report:
    """How faithful the answers to recorded sessions were."""

    def __init__(self, calls: Iterable[CallScore], cold: Report | None = None) -> None:
        self.calls: Sequence[CallScore] = tuple(calls)
        self.cold = cold
        """The report on what is inferred from the list of tools alone."""

    @cached_property
    def tools(self) -> Mapping[tuple[str, str], Scores]:
        groups = defaultdict[tuple[str, str], list[CallScore]](list)
        for call in self.calls:
            groups[(call.server, call.tool)].append(call)
        return {key: scores_of(groups[key]) for key in sorted(groups)}

    @cached_property
    def servers(self) -> Mapping[str, Scores]:
        """The scores by server. A call counts for as much as any other."""
        groups = defaultdict[str, list[CallScore]](list)
        for call in self.calls:
            groups[call.server].append(call)
        return {name: scores_of(groups[name]) for name in sorted(groups)}

    @cached_property
    def overall(self) -> Scores:
        """The mean scores of the servers."""
        servers = [*self.servers.values()]
        columns = {column.name: [server.columns[column.name] for server in servers if column.name in server.columns]
                   for column in COLUMNS}  # fmt: skip
        marks = {
            name: sum(server.marks.get(name, 0) for server in servers) for name, column in columns.items() if column
        }
        means = {name: mean for name, column in columns.items() if (mean := _mean(column)) is not None}
        halves = ([server.form for server in servers], [server.behaviour for server in servers])
        scores = (*halves, [server.score for server in servers])
        means_of_servers = (_mean([value for value in values if value is not None]) for values in scores)
        return Scores(len(self.calls), means, marks, *means_of_servers)

    @property
    def score(self) -> float:
        """The overall score; 0 if nothing could be scored."""
        return self.overall.score or 0.0

    @property
    def sessions(self) -> int:
        return len({(call.server, call.session) for call in self.calls})

    @property
    def crashes(self) -> Sequence[CallScore]:
        """The calls that mcp-sim could not answer."""
        return [call for call in self.calls if call.answered is None]

    def to_json(self) -> Record:
        """Return the report as JSON, without the calls."""
        servers = {name: {**scores.to_json(), "tools": Record()} for name, scores in self.servers.items()}
        for (server, tool), scores in self.tools.items():
            servers[server]["tools"][tool] = scores.to_json()
        cold = {} if self.cold is None else {"cold": self.cold.to_json()}
        counts = {"sessions": self.sessions, "crashes": len(self.crashes)}
        return {**self.overall.to_json(), **counts, "servers": servers, **cold}


def scores_of(calls: Sequence[CallScore]) -> Scores:
    """Return the scores of a group of calls: in each column the mean over the groups of its marks."""
    columns, numbers = dict[str, float](), dict[str, int]()
    for column in COLUMNS:
        groups = defaultdict[str, list[float]](list)
        for call in calls:
            for mark in call.marks.get(column.name, ()):
                groups[mark.group].append(mark.value)
        mean = _mean([sum(values) / len(values) for values in groups.values()])
        if mean is not None:
            columns[column.name], numbers[column.name] = mean, sum(map(len, groups.values()))
    form, behaviour = (
        _mean([columns[column.name] for column in COLUMNS if column.half == half and column.name in columns])
        for half in ("form", "behaviour")
    )
    lower = min((value for value in (form, behaviour) if value is not None), default=None)
    return Scores(len(calls), columns, numbers, form, behaviour, lower)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


# sessions -------------------------------------------------------------------------------------------------------------


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
