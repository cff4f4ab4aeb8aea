"""Replay a recorded session against a responder, and score each answer."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.recordings.columns import COLUMNS, Comparison, Mark, Shown
from mcp_sim.recordings.known import ForeignData, ReplayIds, ShownFacts
from mcp_sim.recordings.observed import Observed, normal, observe
from mcp_sim.recordings.responders import Responder
from mcp_sim.spec.sessions import Answer, RecordedCall, Session
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import BadArguments, Crash
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import canonical, leaves


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
        shown = self._shown_by(recorded, served)
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

    def _shown_by(self, recorded: Observed, served: Observed | None) -> Shown:
        known = self._ids.known
        ours = Counter[str]() if served is None else known.served_facts(served.value, self._ids.alignment)
        return Shown(known.facts(recorded.value), ours)
