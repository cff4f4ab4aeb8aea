"""Learn a tool spec from recorded sessions, and keep what answers better than the inferred plans."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from mcp_sim.recordings.learning.borrowing import with_borrowed_results
from mcp_sim.recordings.learning.cases import induce_results, is_memorised
from mcp_sim.recordings.learning.drafts import Draft, load_draft
from mcp_sim.recordings.learning.effects import corrections
from mcp_sim.recordings.learning.entities import induce_entities
from mcp_sim.recordings.learning.failures import induce_failures, shared_failures
from mcp_sim.recordings.learning.hypotheses import hypotheses
from mcp_sim.recordings.learning.samples import Replayed, Sample, collect
from mcp_sim.recordings.learning.selection import Judgement, judged, score, scores_by_tool
from mcp_sim.recordings.report import Report
from mcp_sim.spec.sessions import Session
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import canonical

_TOLERANCE = 1e-6
_GOOD = 0.75
"""From this score on, inferred answers are replaced only by what held-back calls have borne out."""
_ROUNDS = 3
"""How often other plans are tried."""
_MOST_TRIALS = 5
"""How often a round replays the sessions."""


@dataclass(frozen=True, slots=True)
class Learnt:
    """A spec that was learnt, and what the self-check said."""

    plain: Draft
    draft: Draft
    judgement: Judgement
    sessions: Sequence[Session]
    why: str = ""
    """Why nothing was kept; '' if something was."""

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
            "kept": sum(one["learnt"] != [] for one in tools.values()),
            "why": self.why,
            "entities": [*self.draft.entities],
            "tools": tools,
        }

    def _tool(self, name: str, before: float | None, after: float | None) -> Record:
        declared, plain = self.draft.sim.get(name, {}), self.plain.sim.get(name, {})
        kept: list[Json] = [_described(key, declared[key]) for key in declared if declared[key] != plain.get(key)]
        return {"learnt": kept, "inferred_score": before, "score": after, "why": self.judgement.dropped.get(name, "")}


def _described(key: str, part: Json) -> str:
    if key == "result":
        number = len(as_list(part)) or 1
        return "result" if number == 1 else f"{number} results"
    return f"errors ({', '.join(as_object(part))})" if key == "errors" else key


async def learn(plain: Draft, sessions: Sequence[Session], notify: Callable[[str], None]) -> Learnt:
    """Learn what sessions show beyond a draft. What held-back sessions do not bear out is left out."""
    judgement = await judged(plain, partial(_with_unrecorded, plain), sessions, notify)
    if judgement.learnt.score < judgement.plain.score - _TOLERANCE:
        scores = f"{judgement.learnt.score:.3f}, inferred {judgement.plain.score:.3f}"
        return Learnt(plain, plain, judgement, sessions, f"held-back sessions: {scores}")
    notify("learning from all sessions")
    draft = (await searched(plain, sessions)).draft
    for tool in judgement.dropped:
        draft = draft.with_tool(tool, plain.sim.get(tool, {}))
    before, after = Report(await score(plain, sessions)), Report(await score(draft, sessions))
    for tool, why in _unproven(before, after, judgement):
        judgement.dropped[tool] = why
        draft = draft.with_tool(tool, plain.sim.get(tool, {}))
    if judgement.unrecorded_gain > 0:
        draft = _borrowing(draft, plain, sessions)
    if Report(await score(draft, sessions)).score < before.score - _TOLERANCE:
        return Learnt(plain, plain, judgement, sessions, f"all sessions: worse than inferred ({before.score:.3f})")
    return Learnt(plain, draft, judgement, sessions)


def _unproven(before: Report, after: Report, judgement: Judgement) -> Iterator[tuple[str, str]]:
    """Yield the tools whose learnt answers are worse even to what was learnt from, and those that need a proof.

    What inference answers well is left alone, unless held-back calls show that the learnt answers are better.
    """
    for key, scores in after.tools.items():
        inferred, found = before.tools[key].score or 0.0, scores.score or 0.0
        if key[1] in judgement.dropped:
            continue
        if found < inferred - _TOLERANCE:
            yield key[1], f"the same sessions: {found:.3f}, inferred {inferred:.3f}"
        elif key not in judgement.learnt.tools and inferred >= _GOOD:
            yield key[1], f"no call is left to judge by, and the inferred answers are good: {inferred:.3f}"


async def searched(plain: Draft, sessions: Sequence[Session]) -> Trial:
    """Return the draft with the plans and forms that answer the sessions best. What a draft declares stays."""
    draft, replayed = await _with_all_forms(plain, plain, sessions)
    search = _Search(plain, sessions, Trial(draft, {}, Report(await score(draft, sessions))))
    for number in range(_ROUNDS):
        guesses = {tool: parts[number] for tool, parts in hypotheses(replayed.samples, replayed.domain).items()
                   if number < len(parts) and search.score_of(tool) < _GOOD}  # fmt: skip
        parts = {**corrections(replayed.samples, replayed.domain), **guesses}
        if await search.tries(parts) and number + 1 < _ROUNDS:
            replayed = await collect(search.best.draft, sessions)
    return search.best


async def _with_unrecorded(plain: Draft, sessions: Sequence[Session]) -> Draft:
    """Return a draft with all that sessions show, and with results for tools that were not recorded."""
    return _borrowing((await searched(plain, sessions)).draft, plain, sessions)


def _borrowing(draft: Draft, plain: Draft, sessions: Sequence[Session]) -> Draft:
    """Return the draft with results for tools that were not recorded."""
    recorded = [*dict.fromkeys(call.tool for session in sessions for call in session.calls), *plain.sim]
    return with_borrowed_results(draft, recorded, load_draft(draft, sessions[0].state).domain)


@dataclass(frozen=True, slots=True)
class Trial:
    """A draft with other plans."""

    draft: Draft
    parts: Mapping[str, Record]
    """Tool -> what is declared about its plan."""
    report: Report


class _Search:
    """Looks for the plans with which a draft answers the sessions best."""

    def __init__(self, plain: Draft, sessions: Sequence[Session], best: Trial) -> None:
        self._plain, self._sessions, self.best = plain, sessions, best
        self._refused = set[str]()
        self._left = 0

    def score_of(self, tool: str) -> float:
        return scores_by_tool(self.best.report).get(tool) or 0.0

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
        is_better = trial.report.score > self.best.report.score + _TOLERANCE
        before, after = scores_by_tool(self.best.report), scores_by_tool(trial.report)
        worse = {tool for tool in parts if (after.get(tool) or 0) < (before.get(tool) or 0) - _TOLERANCE}
        if is_better and (not worse or len(parts) == 1):
            self.best = trial
        elif 0 < len(worse) < len(parts):
            await self._improve({tool: part for tool, part in parts.items() if tool not in worse})
        elif len(parts) > 1:
            names = [*parts]
            for half in (names[: len(names) // 2], names[len(names) // 2 :]):
                await self._improve({tool: parts[tool] for tool in half})

    async def _trial(self, parts: Mapping[str, Record]) -> Trial:
        known = {**self.best.parts, **{tool: self._added(tool, part) for tool, part in parts.items()}}
        draft = replace(self._plain, entities=self.best.draft.entities)
        for tool, part in known.items():
            draft = draft.with_tool(tool, {**part, **self._plain.sim.get(tool, {})})
        found, _ = await _with_templates(draft, self._plain, self._sessions)
        return Trial(found, known, Report(await score(found, self._sessions)))

    def _added(self, tool: str, part: Record) -> Record:
        """Return a plan: a new one, or what is kept of a tool with something else."""
        return part if "verb" in part else {**self.best.parts.get(tool, {}), **part}


async def _with_all_forms(draft: Draft, plain: Draft, sessions: Sequence[Session]) -> tuple[Draft, Replayed]:
    """Return a draft with fields of records and templates, and the sessions as they were replayed with these fields."""
    first = await collect(draft, sessions)
    draft = replace(draft, entities={**induce_entities(first.samples, sessions, first.domains), **plain.entities})
    return await _with_templates(draft, plain, sessions)


async def _with_templates(draft: Draft, plain: Draft, sessions: Sequence[Session]) -> tuple[Draft, Replayed]:
    replayed = await collect(draft, sessions)
    return _with_forms(draft, replayed.samples, plain), replayed


def _with_forms(draft: Draft, samples: Sequence[Sample], plain: Draft) -> Draft:
    """Return a draft with result and error templates."""
    tools = {str(tool["name"]): tool for tool in draft.tools}
    failures = induce_failures(samples, tools)
    sim = {tool: {**_declared(tool, samples, failures), **draft.sim.get(tool, {})} for tool in tools}
    errors = {**shared_failures(samples, tools), **plain.errors}
    rest = {**_unknown_tool(samples, tools), **plain.rest}
    return replace(draft, sim={tool: part for tool, part in sim.items() if part}, errors=errors, rest=rest)


def _unknown_tool(samples: Sequence[Sample], tools: Container[str]) -> Record:
    """Return how the real server answers a call of an unknown tool, if a recording shows it."""
    forms = ["rpc" if "error" in sample.answer else "is_error" for sample in samples if sample.tool not in tools]
    return {"unknown_tool": forms[0]} if forms else {}


def _declared(tool: str, samples: Sequence[Sample], failures: dict[str, Record]) -> Record:
    own = [sample for sample in samples if sample.tool == tool and not sample.recorded.failed]
    served = [sample for sample in own if sample.served]
    results = induce_results(served or own)
    if any(is_memorised(one, served=bool(served)) for one in results):
        results = []
    errors: Record = {"errors": failures[tool]} if tool in failures else {}
    if not results:
        return errors
    return {"result": results[0] if len(results) == 1 and "when" not in results[0] else results, **errors}
