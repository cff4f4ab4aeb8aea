"""Search for the plans with which a spec answers sessions best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.recordings.learning.drafts import Draft
from mcp_sim.recordings.learning.effects import corrections
from mcp_sim.recordings.learning.hypotheses import hypotheses
from mcp_sim.recordings.learning.lessons import Lesson, learnt_entities, with_templates
from mcp_sim.recordings.learning.samples import collect
from mcp_sim.recordings.learning.selection import TOLERANCE, score, scores_by_tool
from mcp_sim.recordings.report import Report
from mcp_sim.recordings.score import CallScore
from mcp_sim.spec.sessions import Session
from mcp_sim.types import Record
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import canonical

_GOOD = 0.75
"""From this score on, the plan of a tool is not doubted for its own answers."""
_ROUNDS = 3
"""How often other plans are tried."""
_MOST_TRIALS = 5
"""How often a round replays the sessions."""


async def taught(plain: Draft, sessions: Sequence[Session]) -> Lesson:
    """Return what sessions teach, with the plans that answer them best."""
    entities = await learnt_entities(plain, sessions)
    draft, replayed = await with_templates(plain, sessions, entities, {})
    search = _Search(plain, sessions, entities, _Trial(draft, {}, Report(await score(draft, sessions))))
    for number in range(_ROUNDS):
        guesses = {tool: parts[number] for tool, parts in hypotheses(replayed.samples, replayed.domain).items()
                   if number < len(parts) and search.doubts(tool, parts[number])}  # fmt: skip
        parts = {**corrections(replayed.samples, replayed.domain), **guesses}
        if await search.tries(parts) and number + 1 < _ROUNDS:
            replayed = await collect(search.best.draft, sessions)
    return Lesson(plain, sessions, entities, search.best.plans)


@frozen
class _Trial:
    """A draft with other plans."""

    draft: Draft
    plans: Mapping[str, Record]
    """Tool -> what is declared about its plan."""
    report: Report


class _Search:
    """Looks for the plans with which a draft answers the sessions best."""

    def __init__(self, plain: Draft, sessions: Sequence[Session], entities: Mapping[str, Record], best: _Trial) -> None:
        self._plain, self._sessions, self._entities, self.best = plain, sessions, entities, best
        self._refused = set[str]()
        self._left = 0

    def doubts(self, tool: str, part: Record) -> bool:
        """Whether another plan for a tool is worth a trial: what it deletes shows in the answers of others."""
        return part["verb"] == "delete" or (scores_by_tool(self.best.report).get(tool) or 0.0) < _GOOD

    async def tries(self, parts: Mapping[str, Record]) -> bool:
        """Try other plans. Return whether some of them are better and kept."""
        before = self.best
        fresh = {tool: part for tool, part in parts.items() if canonical([tool, part]) not in self._refused}
        self._left = _MOST_TRIALS
        await self._improve(fresh)
        self._refused |= {canonical([tool, part]) for tool, part in fresh.items()}
        return self.best is not before

    async def _improve(self, parts: Mapping[str, Record]) -> None:
        """Keep plans if they answer better together; otherwise try them without the bad ones, or in halves."""
        if not parts or self._left == 0:
            return
        self._left -= 1
        try:
            trial = await self._trial(parts)
        except DocumentError:  # no spec can say that of these tools
            return
        is_better = trial.report.score > self.best.report.score + TOLERANCE
        is_better = is_better and not _contradicts(self.best.report.calls, trial.report.calls)
        before, after = scores_by_tool(self.best.report), scores_by_tool(trial.report)
        worse = {tool for tool in parts if (after.get(tool) or 0) < (before.get(tool) or 0) - TOLERANCE}
        if is_better and (not worse or len(parts) == 1):
            self.best = trial
        elif 0 < len(worse) < len(parts):
            await self._improve({tool: part for tool, part in parts.items() if tool not in worse})
        elif len(parts) > 1:
            names = [*parts]
            for half in (names[: len(names) // 2], names[len(names) // 2 :]):
                await self._improve({tool: parts[tool] for tool in half})

    async def _trial(self, parts: Mapping[str, Record]) -> _Trial:
        known = {**self.best.plans, **{tool: self._added(tool, part) for tool, part in parts.items()}}
        found, _ = await with_templates(self._plain, self._sessions, self._entities, known)
        return _Trial(found, known, Report(await score(found, self._sessions)))

    def _added(self, tool: str, part: Record) -> Record:
        """Return a plan: a new one, or what is kept of a tool with something else."""
        return part if "verb" in part else {**self.best.plans.get(tool, {}), **part}


def _contradicts(before: Sequence[CallScore], after: Sequence[CallScore]) -> bool:
    """Whether a call fails, or succeeds, other than it was recorded and than it did before."""
    return any(_is_right(one) and not _is_right(other) for one, other in zip(before, after, strict=True))


def _is_right(call: CallScore) -> bool:
    return all(mark.value == 1 for mark in call.marks.get("outcome", ()))
