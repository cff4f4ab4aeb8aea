"""What sessions teach, in pieces that can be left out one by one."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from mcp_sim.recordings.known import data_of
from mcp_sim.recordings.learning.cases import induce_results, is_memorised, unexplained_text
from mcp_sim.recordings.learning.drafts import Draft
from mcp_sim.recordings.learning.entities import induce_entities
from mcp_sim.recordings.learning.failures import induce_failures, shared_failures
from mcp_sim.recordings.learning.forgetting import without_data
from mcp_sim.recordings.learning.page_sizes import page_sizes
from mcp_sim.recordings.learning.samples import Sample, collect
from mcp_sim.recordings.learning.slots import Unexplained
from mcp_sim.spec.sessions import Session
from mcp_sim.types import Record

Piece: TypeAlias = "tuple[str, str]"
"""A tool, and RESULT or ERRORS; or '' and one of WHOLE."""

RESULT, ERRORS, ENTITIES = "result", "errors", "entities"
WHOLE = (ENTITIES, ERRORS)
"""What is learnt of a server as a whole."""


@dataclass(slots=True)
class Lesson:
    """What sessions teach beyond a plain draft. What that declares stays."""

    plain: Draft
    sessions: Sequence[Session]
    entities: Mapping[str, Record]
    page_sizes: Mapping[str, Record]
    """Tool -> its `paging`."""
    unexplained: dict[str, str] = field(default_factory=dict[str, str])
    """Tool -> why its answers have no template."""
    _drafts: dict[bool, Draft] = field(default_factory=dict[bool, Draft])
    """Drafts with templates, with and without entities."""

    async def draft(self, left_out: Container[Piece] = ()) -> Draft:
        """Return the draft without some pieces."""
        has_entities = ("", ENTITIES) not in left_out
        if has_entities not in self._drafts:
            self._drafts[has_entities] = await self._with_templates(self.entities if has_entities else {})
        return _without(self._drafts[has_entities], self.plain, left_out)

    async def _with_templates(self, entities: Mapping[str, Record]) -> Draft:
        """Return a draft with entities, page sizes, and the templates that sessions show."""
        draft = replace(self.plain, entities={**entities, **self.plain.entities})
        for tool, paging in self.page_sizes.items():
            draft = draft.with_tool(tool, {**paging, **self.plain.sim.get(tool, {})})
        replayed = await collect(draft, self.sessions)
        forms = _Forms(replayed.samples, data_of(self.sessions), self.unexplained)
        return forms.added_to(draft, self.plain)


async def taught(plain: Draft, sessions: Sequence[Session]) -> Lesson:
    """Return what sessions teach."""
    replayed = await collect(plain, sessions)
    entities = induce_entities(replayed.samples, sessions, replayed.domains)
    return Lesson(plain, sessions, entities, page_sizes(replayed.samples))


def _without(draft: Draft, plain: Draft, left_out: Container[Piece]) -> Draft:
    sim = dict[str, Record]()
    for tool, learnt in draft.sim.items():
        declared = plain.sim.get(tool, {})
        kept = {key: value for key, value in learnt.items() if key in declared or (tool, key) not in left_out}
        sim |= {tool: kept} if kept else {}
    return replace(draft, sim=sim, errors=plain.errors if ("", ERRORS) in left_out else draft.errors)


class _Forms:
    """Induces result and error templates. `data`: what must not become part of a result."""

    def __init__(self, samples: Sequence[Sample], data: Container[str], unexplained: dict[str, str]) -> None:
        self._samples, self._data, self._unexplained = samples, data, unexplained

    def added_to(self, draft: Draft, plain: Draft) -> Draft:
        """Return a draft with templates. What `plain` declares stays."""
        tools = {str(tool["name"]): tool for tool in draft.tools}
        failures = induce_failures(self._samples, tools)
        sim = {tool: {**self._declared(tool, failures), **draft.sim.get(tool, {})} for tool in tools}
        errors = {**shared_failures(self._samples, tools), **plain.errors}
        rest = {**self._unknown_tool(tools), **plain.rest}
        return replace(draft, sim={tool: learnt for tool, learnt in sim.items() if learnt}, errors=errors, rest=rest)

    def _unknown_tool(self, tools: Container[str]) -> Record:
        """Return how the real server answers a call of an unknown tool, if a recording shows it."""
        answers = [sample.answer for sample in self._samples if sample.tool not in tools]
        return {"unknown_tool": "rpc" if "error" in answers[0] else "is_error"} if answers else {}

    def _declared(self, tool: str, failures: dict[str, Record]) -> Record:
        """Return the result and error templates of a tool, as a spec declares them under `sim:`."""
        errors: Record = {"errors": failures[tool]} if tool in failures else {}
        results = self._results(tool)
        if not results:
            return errors
        return {"result": results[0] if len(results) == 1 and "when" not in results[0] else results, **errors}

    def _results(self, tool: str) -> list[Record]:
        """Return the result templates of a tool; none if they do not explain its answers."""
        succeeded = [sample for sample in self._samples if sample.tool == tool and not sample.recorded.failed]
        served = [sample for sample in succeeded if sample.served]
        try:
            results = [
                {**result, "json": without_data(result["json"], self._data)} if "json" in result else result
                for result in induce_results(served or succeeded)
            ]
        except Unexplained as error:
            self._unexplained[tool] = str(error)
            return []
        if any(is_memorised(result, served=bool(served)) for result in results):
            self._unexplained[tool] = "its answers repeat recorded data"
            return []
        if (wrong := unexplained_text(results, served or succeeded)) is not None:
            self._unexplained[tool] = f"nothing shows how call {wrong.seq} of session {wrong.session} gets its text"
            return []
        return results
