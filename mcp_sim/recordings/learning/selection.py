"""Judge a learnt spec on sessions that it was not learnt from, tool by tool, and drop what does not answer better."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from mcp_sim.recordings.learning.drafts import Draft, written
from mcp_sim.recordings.measure import score_sessions
from mcp_sim.recordings.report import Report
from mcp_sim.recordings.responders import Simulations
from mcp_sim.recordings.score import CallScore
from mcp_sim.spec.sessions import Session

MOST_FOLDS = 4
_TOLERANCE = 1e-6
_LOSS = 0.05
"""How much a tool must lose to be dropped: with few held-back calls, less is chance."""

Learn: TypeAlias = Callable[[Sequence[Session]], Awaitable[Draft]]
"""Learns a draft from sessions."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Sessions to learn from, and those to judge by. Of a single session, the second half is judged by the first."""

    seen: Sequence[Session]
    held: Sequence[Session]
    after: int = 0
    """Only calls after this one are judged."""


def folds_of(sessions: Sequence[Session]) -> list[Fold]:
    """Return folds for cross-validation: at most four, each session held back once."""
    if len(sessions) < 2:
        return [_halves(session) for session in sessions]
    number = min(MOST_FOLDS, len(sessions))
    parts = [sessions[at::number] for at in range(number)]
    return [Fold([one for other in parts if other is not part for one in other], part) for part in parts]


def _halves(session: Session) -> Fold:
    half = len(session.calls) // 2
    return Fold([replace(session, calls=session.calls[:half])], [session], half)


async def score_fold(draft: Draft, fold: Fold) -> list[CallScore]:
    """Return the scores of the calls by which a fold is judged."""
    return [one for one in await score(draft, fold.held) if one.seq > fold.after]


async def score(draft: Draft, sessions: Sequence[Session]) -> list[CallScore]:
    """Return the scores of the calls of sessions in a draft."""
    with written(draft) as file:
        async with Simulations(file) as responders:
            return await score_sessions(responders, sessions)


@dataclass(slots=True)
class Judgement:
    """What the folds say about each tool."""

    plain: Report
    """The answers without what was learnt."""
    learnt: Report
    dropped: dict[str, str] = field(default_factory=dict[str, str])
    """Tool -> why what was learnt about it is left out."""
    unrecorded_gain: float = 0.0
    """What tools gain in the sessions that were held back, if no other session has a call of them."""

    def lost(self) -> Iterator[tuple[str, float]]:
        """Yield the tools that answer worse with what was learnt, and how much."""
        for key, scores in self.learnt.tools.items():
            before, after = self.plain.tools[key].score, scores.score
            if before is not None and after is not None and after < before - _LOSS:
                yield key[1], before - after


async def judged(plain: Draft, learn: Learn, sessions: Sequence[Session], notify: Callable[[str], None]) -> Judgement:
    """Learn from the sessions of each fold, judge by the others, and drop the tools that answer worse.

    Dropping one tool may change the answers of others, so that the worst is dropped first and all are judged again.
    """
    folds = folds_of(sessions)
    scored = [await score_fold(plain, fold) for fold in folds]
    before = Report([one for scores in scored for one in scores])
    drafts = list[Draft]()
    for number, fold in enumerate(folds, 1):
        notify(f"learning for the self-check, part {number} of {len(folds)}")
        drafts.append(await learn(fold.seen))
    notify("judging on held-back sessions")
    learnt = [await score_fold(draft, fold) for draft, fold in zip(drafts, folds, strict=True)]
    found = Judgement(before, Report([one for scores in learnt for one in scores]))
    found.unrecorded_gain = _unrecorded(learnt, folds) - _unrecorded(scored, folds)
    while worse := [(tool, loss) for tool, loss in found.lost() if tool not in found.dropped]:
        notify(f"trying without {worst(worse)}")
        tool = worst(worse)
        without = [draft.without(tool) for draft in drafts]
        report = await _report(without, folds)
        found.dropped[tool] = _reason(found, tool)
        if report.score >= found.learnt.score - _TOLERANCE:
            drafts, found.learnt = without, report
        else:
            del found.dropped[tool]
            return found
    return found


def _unrecorded(scored: Sequence[Sequence[CallScore]], folds: Sequence[Fold]) -> float:
    """Return the score of the held-back calls of tools without a call to learn from."""
    seen = [{call.tool for session in fold.seen for call in session.calls} for fold in folds]
    pairs = zip(scored, seen, strict=True)
    return Report([one for scores, tools in pairs for one in scores if one.tool not in tools]).score


def worst(lost: Sequence[tuple[str, float]]) -> str:
    """Return the tool that loses most."""
    return max(lost, key=lambda one: one[1])[0]


def _reason(found: Judgement, tool: str) -> str:
    (server, _), *_ = found.learnt.tools
    before, after = (report.tools[server, tool].score or 0 for report in (found.plain, found.learnt))
    return f"held-back sessions: {after:.3f}, inferred {before:.3f}"


async def _report(drafts: Sequence[Draft], folds: Sequence[Fold]) -> Report:
    return Report([one for draft, fold in zip(drafts, folds, strict=True) for one in await score_fold(draft, fold)])


def scores_by_tool(report: Report) -> Mapping[str, float | None]:
    """Return the score of each tool."""
    return {tool: scores.score for (_, tool), scores in report.tools.items()}
