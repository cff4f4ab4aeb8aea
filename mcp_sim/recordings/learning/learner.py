"""Learn a tool spec from recorded sessions, and keep what answers better than the inferred plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from math import exp, log
from statistics import median, pstdev

from anyio import to_thread

from mcp_sim.recordings.learning.drafts import Draft, written
from mcp_sim.recordings.learning.lessons import OF_A_TOOL, Piece, taught
from mcp_sim.recordings.learning.selection import TOLERANCE, Judgement, judged, lower_sessions, score, scores_by_tool
from mcp_sim.recordings.ranking import Rank, Ranking, is_clearly_less, reason, validity_report
from mcp_sim.recordings.score import Report, Scores
from mcp_sim.spec.sessions import Session
from mcp_sim.types import Json, Record, as_list, as_object, frozen

_GOOD = 0.5
"""From this score on, inferred answers are replaced only where held-back calls confirm the learnt ones. What inference
gets right by chance scores less: its texts are never those of the real server."""


@frozen
class Learnt:
    """A spec that was learnt, and what the self-check said."""

    plain: Draft
    draft: Draft
    judgement: Judgement
    sessions: Sequence[Session]
    why: str = ""
    """Why nothing was kept; '' if something was."""
    unexplained: Mapping[str, str] = field(default_factory=dict[str, str])
    """Tool -> why its answers have no template."""
    ranks: Sequence[tuple[Rank, Rank]] = ()
    """How agents rank on what was learnt and on what is inferred, by task."""

    @property
    def is_empty(self) -> bool:
        return self.draft == self.plain

    def to_json(self) -> Record:
        """Return the report: what was learnt and dropped, by tool."""
        before, after = scores_by_tool(self.judgement.plain), scores_by_tool(self.judgement.learnt)
        names = [str(tool["name"]) for tool in self.draft.tools]
        tools = {name: self._tool(name, before.get(name), after.get(name)) for name in names}
        scores = {"inferred": self.judgement.plain.score, "learnt": self.judgement.learnt.score}
        is_held = len(self.sessions) > 1  # else the second half of the only session
        return {
            "server": self.draft.server,
            "sessions": [session.name for session in self.sessions],
            "held_back": is_held,
            "score": scores,
            "kept": sum(tool["learnt"] != [] for tool in tools.values()),
            "why": self.why,
            "entities": [*self.draft.entities],
            "validity": validity_report(self.ranks),
            "tools": tools,
        }

    def _tool(self, name: str, before: float | None, after: float | None) -> Record:
        declared, plain = self.draft.sim.get(name, {}), self.plain.sim.get(name, {})
        kept: list[Json] = [_described(key, declared[key]) for key in declared if declared[key] != plain.get(key)]
        return {
            "learnt": kept,
            "inferred_score": before,
            "score": after,
            "why": self.judgement.reason(name) or self.unexplained.get(name, ""),
        }


def _described(key: str, value: Json) -> str:
    if key == "result":
        number = len(as_list(value)) or 1
        return "result" if number == 1 else f"{number} results"
    return f"errors ({', '.join(as_object(value))})" if key == "errors" else key


async def learn(
    plain: Draft, sessions: Sequence[Session], notify: Callable[[str], None], ranking: Ranking | None = None
) -> Learnt:
    """Learn what sessions show beyond a draft. What held-back sessions do not bear out is left out.

    With `ranking`, nothing is learnt on which agents rank clearly worse than on the draft.
    """
    learnt = await _learnt(plain, sessions, notify)
    if ranking is None:
        return learnt
    notify("letting agents try what is learnt")
    before, after = [await _ranks(draft, ranking) for draft in (plain, learnt.draft)]
    ranked = replace(learnt, ranks=[*zip(after, before, strict=True)])
    if is_clearly_less(after, before):
        return replace(ranked, draft=plain, why=reason(after, before))
    return ranked


async def _ranks(draft: Draft, ranking: Ranking) -> Sequence[Rank]:
    with written(draft) as file:
        return await to_thread.run_sync(ranking, file)


async def _learnt(plain: Draft, sessions: Sequence[Session], notify: Callable[[str], None]) -> Learnt:
    judgement = await judged(plain, sessions, notify)
    worse = next(lower_sessions(judgement.plain, judgement.learnt), None)
    if worse is not None:
        return Learnt(plain, plain, judgement, sessions, f"session {worse}, held back, behaves worse than inferred")
    if judgement.learnt.score < judgement.plain.score - TOLERANCE:
        scores = f"{judgement.learnt.score:.3f}, inferred {judgement.plain.score:.3f}"
        return Learnt(plain, plain, judgement, sessions, f"held-back sessions: {scores}")
    notify("learning from all sessions")
    lesson = await taught(plain, sessions)
    before = Report(await score(plain, sessions))
    draft = await lesson.draft(judgement.left_out)
    judgement.left_out |= dict(_unproven(before, Report(await score(draft, sessions)), judgement))
    draft = await lesson.draft(judgement.left_out)
    if Report(await score(draft, sessions)).score < before.score - TOLERANCE:
        return Learnt(plain, plain, judgement, sessions, f"all sessions: worse than inferred ({before.score:.3f})")
    timed = _with_latencies(draft, plain, sessions)
    return Learnt(plain, timed, judgement, sessions, unexplained=lesson.unexplained)


def _with_latencies(draft: Draft, plain: Draft, sessions: Sequence[Session]) -> Draft:
    """Return the draft with the times that tools take. What is declared stays."""
    for tool, times in _times(sessions).items():
        latency = _latency(times) if _agree(times) else {}  # sessions that disagree show nothing
        if latency:
            draft = draft.with_tool(tool, {**draft.sim.get(tool, {}), "latency": latency, **plain.sim.get(tool, {})})
    return draft


def _is_gain(plain: Scores | None, learnt: Scores | None) -> bool:
    """Whether the calls of a tool are answered better. None: it was not called."""
    if plain is None or learnt is None:
        return False
    pairs = ((plain.form, learnt.form), (plain.behaviour, learnt.behaviour))
    return any((after or 0.0) > (before or 0.0) + TOLERANCE for before, after in pairs)


def _unproven(before: Report, after: Report, judgement: Judgement) -> Iterator[tuple[Piece, str]]:
    """Yield what is left out since it answers worse even what it was learnt from, and what needs a proof.

    What inference answers well is left alone, unless held-back calls show that the learnt answers are better.
    """
    for key, scores in after.tools.items():
        inferred, learnt = before.tools[key].score or 0.0, scores.score or 0.0
        held = judgement.plain.tools.get(key), judgement.learnt.tools.get(key)
        why = ""
        if learnt < inferred - TOLERANCE:
            why = f"the same sessions: {learnt:.3f}, inferred {inferred:.3f}"
        elif inferred >= _GOOD and not _is_gain(*held):
            why = f"held-back sessions show no gain, and the inferred answers are good: {inferred:.3f}"
        if why:
            yield from (((key[1], kind), why) for kind in OF_A_TOOL)


_FEWEST = 3  # how many calls of a tool must have recorded times
_SHORTEST = 1.0
"""In milliseconds. Shorter times are noise of the recording."""
_SIGMAS = (0.05, 3.0)
"""Below, a spread is not worth a declaration; above, a few calls waited for something that is not the tool."""
_UNLIKE = log(3)  # how far the logarithm of the median of a session may be from that of all others


def _times(sessions: Sequence[Session]) -> Mapping[str, Sequence[Sequence[float]]]:
    """Return the logarithms of the milliseconds that the calls of each tool took, by session.

    Calls that overlapped others waited for them, too.
    """
    by_tool = defaultdict[str, list[list[float]]](list)
    for session in sessions:
        times_by_tool = defaultdict[str, list[float]](list)
        for call in session.calls:
            taken = call.line.get("ms")
            if isinstance(taken, int | float) and not isinstance(taken, bool) and not call.line.get("overlaps"):
                times_by_tool[call.tool].append(log(max(_SHORTEST, taken)))
        for tool, times in times_by_tool.items():
            by_tool[tool].append(times)
    return by_tool


def _agree(times: Sequence[Sequence[float]]) -> bool:
    """Whether each session, held back, takes about as long as the others show. A single one is halved."""
    parts = times if len(times) > 1 else [times[0][::2], times[0][1::2]]
    rest = [[time for other in parts if other is not held_back for time in other] for held_back in parts]
    return all(
        not held_back or not others or abs(median(held_back) - median(others)) <= _UNLIKE
        for held_back, others in zip(parts, rest, strict=True)
    )


def _latency(times: Sequence[Sequence[float]]) -> Record:
    every = [number for time in times for number in time]
    usual = round(exp(median(every)))
    if len(every) < _FEWEST or usual <= _SHORTEST:
        return {}
    low, high = _SIGMAS
    return {"median": f"{usual}ms", "sigma": round(min(high, max(low, pstdev(every))), 2)}
