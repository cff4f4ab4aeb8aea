"""What sessions teach, in pieces that can be left out one by one."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from mcp_sim.recordings.learning.borrowing import with_borrowed_results
from mcp_sim.recordings.learning.cases import induce_results, is_memorised
from mcp_sim.recordings.learning.checks import induce_checks
from mcp_sim.recordings.learning.drafts import Draft, load_draft
from mcp_sim.recordings.learning.entities import induce_entities
from mcp_sim.recordings.learning.failures import induce_failures, shared_failures
from mcp_sim.recordings.learning.forgetting import data_of, without_data
from mcp_sim.recordings.learning.samples import Replayed, Sample, collect
from mcp_sim.spec.sessions import Session
from mcp_sim.types import Record

Piece: TypeAlias = "tuple[str, str]"
"""A tool, and one of PARTS; or '' and one of WHOLE."""

PLAN, RESULT, ERRORS, CHECKS, ENTITIES, BORROWED = "plan", "result", "errors", "checks", "entities", "borrowed"
PARTS = (PLAN, RESULT, ERRORS, CHECKS)
"""What is learnt of a tool."""
WHOLE = (ENTITIES, ERRORS, BORROWED)
"""What is learnt of a server as a whole."""


@dataclass(slots=True)
class Lesson:
    """What sessions teach beyond a plain draft. What that declares stays."""

    plain: Draft
    sessions: Sequence[Session]
    entities: Mapping[str, Record]
    plans: Mapping[str, Record]
    """Tool -> what is declared about its plan."""
    _known: dict[tuple[frozenset[str], bool], Draft] = field(default_factory=dict[tuple[frozenset[str], bool], Draft])
    """Drafts with templates, by the tools whose plans they have, and whether they have entities."""

    async def draft(self, left_out: Container[Piece] = ()) -> Draft:
        """Return the draft without some pieces, with results for tools that were not recorded."""
        plans = frozenset(tool for tool in self.plans if (tool, PLAN) not in left_out)
        kind = plans, ("", ENTITIES) not in left_out
        if kind not in self._known:
            self._known[kind], _ = await self._with_templates(plans, has_entities=kind[1])
        draft = self._known[kind]
        if ("", BORROWED) not in left_out:
            draft = _borrowing(draft, self.plain, self.sessions)
        return _without(draft, self.plain, left_out)

    async def _with_templates(self, tools: Container[str], *, has_entities: bool) -> tuple[Draft, Replayed]:
        plans = {tool: part for tool, part in self.plans.items() if tool in tools}
        return await with_templates(self.plain, self.sessions, self.entities if has_entities else {}, plans)


def _without(draft: Draft, plain: Draft, left_out: Container[Piece]) -> Draft:
    sim = dict[str, Record]()
    for tool, part in draft.sim.items():
        known = plain.sim.get(tool, {})
        kept = {name: one for name, one in part.items() if name in known or (tool, name) not in left_out}
        sim |= {tool: kept} if kept else {}
    return replace(draft, sim=sim, errors=plain.errors if ("", ERRORS) in left_out else draft.errors)


def _borrowing(draft: Draft, plain: Draft, sessions: Sequence[Session]) -> Draft:
    """Return the draft with results for tools that were not recorded."""
    recorded = [*dict.fromkeys(call.tool for session in sessions for call in session.calls), *plain.sim]
    return with_borrowed_results(draft, recorded, load_draft(draft, sessions[0].state).domain)


async def learnt_entities(plain: Draft, sessions: Sequence[Session]) -> dict[str, Record]:
    """Return the entities that sessions show, as a spec declares them."""
    first = await collect(plain, sessions)
    return induce_entities(first.samples, sessions, first.domains)


async def with_templates(
    plain: Draft, sessions: Sequence[Session], entities: Mapping[str, Record], plans: Mapping[str, Record]
) -> tuple[Draft, Replayed]:
    """Return a draft with entities, plans, and the templates that sessions show; and how these were replayed."""
    draft = replace(plain, entities={**entities, **plain.entities})
    for tool, part in plans.items():
        draft = draft.with_tool(tool, {**part, **plain.sim.get(tool, {})})
    replayed = await collect(draft, sessions)
    return _with_forms(draft, replayed.samples, data_of(sessions), plain), replayed


def _with_forms(draft: Draft, samples: Sequence[Sample], data: Container[str], plain: Draft) -> Draft:
    """Return a draft with result and error templates. `data`: what must not become part of a result."""
    tools = {str(tool["name"]): tool for tool in draft.tools}
    failures, checks = induce_failures(samples, tools), induce_checks(samples, tools)
    learnt = {tool: {**_declared(tool, samples, data, failures), **_checked(checks.get(tool))} for tool in tools}
    sim = {tool: {**learnt[tool], **draft.sim.get(tool, {})} for tool in tools}
    errors = {**shared_failures(samples, tools), **plain.errors}
    rest = {**_unknown_tool(samples, tools), **plain.rest}
    return replace(draft, sim={tool: part for tool, part in sim.items() if part}, errors=errors, rest=rest)


def _checked(checks: Record | None) -> Record:
    return {} if checks is None else {"checks": checks}


def _unknown_tool(samples: Sequence[Sample], tools: Container[str]) -> Record:
    """Return how the real server answers a call of an unknown tool, if a recording shows it."""
    forms = ["rpc" if "error" in sample.answer else "is_error" for sample in samples if sample.tool not in tools]
    return {"unknown_tool": forms[0]} if forms else {}


def _declared(tool: str, samples: Sequence[Sample], data: Container[str], failures: dict[str, Record]) -> Record:
    own = [sample for sample in samples if sample.tool == tool and not sample.recorded.failed]
    served = [sample for sample in own if sample.served]
    results = [
        {**one, "json": without_data(one["json"], data)} if "json" in one else one
        for one in induce_results(served or own)
    ]
    if any(is_memorised(one, served=bool(served)) for one in results):
        results = []
    errors: Record = {"errors": failures[tool]} if tool in failures else {}
    if not results:
        return errors
    return {"result": results[0] if len(results) == 1 and "when" not in results[0] else results, **errors}
