"""Judge what was learnt on sessions that it was not learnt from, piece by piece, and leave out what does not help."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mcp_sim.recordings.learning.drafts import Draft, written
from mcp_sim.recordings.learning.lessons import OF_A_TOOL, WHOLE, Lesson, Piece, taught
from mcp_sim.recordings.responders import Simulations
from mcp_sim.recordings.score import CallScore, Report, Scores, score_sessions
from mcp_sim.spec.sessions import Session
from mcp_sim.types.frozen import frozen

MOST_FOLDS = 4  # each fold learns from the other sessions: more folds take longer, and learn from hardly more sessions
TOLERANCE = 1e-6  # for sums of the same numbers in another order

_ANSWERS_WORSE = "answers held-back sessions worse"
_LOWERS = "lowers the behaviour of a held-back session"


@frozen
class Fold:
    """Sessions to learn from, and those to judge by. Of a single session, the second half is judged by the first."""

    seen: Sequence[Session]
    held: Sequence[Session]
    after: int = 0
    """Only calls after this one are judged."""


def folds_of(sessions: Sequence[Session]) -> list[Fold]:
    """Return folds for cross-validation: at most four, each session held back once."""
    if len(sessions) < 2:
        halves = ((session, len(session.calls) // 2) for session in sessions)
        return [Fold([replace(session, calls=session.calls[:half])], [session], half) for session, half in halves]
    number = min(MOST_FOLDS, len(sessions))
    parts = [sessions[at::number] for at in range(number)]
    return [Fold([session for other in parts if other is not held for session in other], held) for held in parts]


async def score_fold(draft: Draft, fold: Fold) -> list[CallScore]:
    """Return the scores of the calls by which a fold is judged."""
    return [call for call in await score(draft, fold.held) if call.seq > fold.after]


async def score(draft: Draft, sessions: Sequence[Session]) -> list[CallScore]:
    with written(draft) as file:
        async with Simulations(file) as responders:
            return await score_sessions(responders, sessions)


@dataclass(slots=True)
class Judgement:
    """What the folds say."""

    plain: Report
    """The answers without what was learnt."""
    learnt: Report
    left_out: dict[Piece, str] = field(default_factory=dict[Piece, str])
    """What is left out, and why."""

    def reason(self, tool: str) -> str:
        """Return why something that was learnt about a tool is left out; '' if nothing is."""
        return "; ".join(f"{kind}: {why}" for (name, kind), why in self.left_out.items() if name == tool)


async def judged(plain: Draft, sessions: Sequence[Session], notify: Callable[[str], None]) -> Judgement:
    """Learn from the sessions of each fold, judge by the others, and leave out what answers worse."""
    folds = folds_of(sessions)
    before = Report([call for fold in folds for call in await score_fold(plain, fold)])
    lessons = list[Lesson]()
    for number, fold in enumerate(folds, 1):
        notify(f"learning for the self-check, part {number} of {len(folds)}")
        lessons.append(await taught(plain, fold.seen))
    notify("judging on held-back sessions")
    trials = _Trials(folds, lessons)
    judgement = Judgement(before, await trials.report({}))
    if judgement.learnt.score < before.score - TOLERANCE:
        scores, learnt = scores_by_tool(before), scores_by_tool(judgement.learnt)
        worse = [tool for tool in learnt if (learnt[tool] or 0.0) < (scores[tool] or 0.0) - TOLERANCE]
        judgement.left_out = {(tool, kind): _ANSWERS_WORSE for tool in worse for kind in OF_A_TOOL}
        judgement.learnt = await trials.report(judgement.left_out)
    await _keep_behaviour(judgement, trials)
    return judgement


async def _keep_behaviour(judgement: Judgement, trials: _Trials) -> None:
    """Leave out what lowers the behaviour of any tool in any held-back session.

    Sessions of other users differ more than those at hand: what lowers a tool in one of these lowers others in those.
    What is learnt of the tool is left out first. Where that does not help, what all tools share lowers it: then that
    is left out, and what is learnt of the tools is judged again.
    """
    before = judgement.left_out
    if await _without_lower_tools(judgement, trials):
        return
    judgement.left_out = {**before, **dict.fromkeys((("", kind) for kind in WHOLE), _LOWERS)}
    judgement.learnt = await trials.report(judgement.left_out)
    await _without_lower_tools(judgement, trials)


async def _without_lower_tools(judgement: Judgement, trials: _Trials) -> bool:
    """Leave out what is learnt of tools that behave worse. Return whether none does any more."""
    while worse := [
        key[1]
        for before, after in _by_session(judgement.plain, judgement.learnt)
        for key, scores in before.tools.items()
        if _behaviour(after.tools[key]) < _behaviour(scores) - TOLERANCE
    ]:
        fresh = _fresh(judgement, [(tool, kind) for tool in worse for kind in OF_A_TOOL])
        if not fresh:
            return False
        judgement.left_out = {**judgement.left_out, **dict.fromkeys(fresh, _LOWERS)}
        judgement.learnt = await trials.report(judgement.left_out)
    return True


def _fresh(judgement: Judgement, pieces: Sequence[Piece]) -> list[Piece]:
    return [piece for piece in pieces if piece not in judgement.left_out]


def lower_sessions(before: Report, after: Report) -> Iterator[str]:
    """Yield the sessions that behave worse."""
    for plain, learnt in _by_session(before, after):
        if _behaviour(learnt.overall) < _behaviour(plain.overall) - TOLERANCE:
            yield plain.calls[0].session


def _by_session(before: Report, after: Report) -> Iterator[tuple[Report, Report]]:
    for session in dict.fromkeys(call.session for call in before.calls):
        plain, learnt = (Report(call for call in report.calls if call.session == session) for report in (before, after))
        yield plain, learnt


def _behaviour(scores: Scores) -> float:
    return scores.behaviour or 0.0


class _Trials:
    """Drafts of the lessons of folds without some pieces, and what held-back calls say about them."""

    def __init__(self, folds: Sequence[Fold], lessons: Sequence[Lesson]) -> None:
        self._folds, self._lessons = folds, lessons

    async def report(self, left_out: Mapping[Piece, str]) -> Report:
        drafts = [await lesson.draft(left_out) for lesson in self._lessons]
        pairs = zip(drafts, self._folds, strict=True)
        return Report([call for draft, fold in pairs for call in await score_fold(draft, fold)])


def scores_by_tool(report: Report) -> Mapping[str, float | None]:
    return {tool: scores.score for (_, tool), scores in report.tools.items()}
