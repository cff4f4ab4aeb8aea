"""Tools that work on documents whose parts go by their index: paragraphs, slides, cells, items of a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.backends.document.given import DOCUMENT, ONLY, document_of, entity, given_documents
from mcp_sim.backends.document.matching import plan_for, recognised
from mcp_sim.backends.matching.tool_profiles import whole_purposes
from mcp_sim.types import Key, Record, Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, Tables, backends
from mcp_sim.types.plans import Plan


@backends.register("document")
class Document(Backend):
    """Parts are added, put in at an index, read, changed, moved and deleted; those behind them shift.

    A document goes by its file name or id; where no tool names one, there is one. Indexes count from 0, unless a schema
    says from 1. Known by tools that add a part and others that take its index.
    """

    order = 90

    def match(self, evidence: ServerEvidence) -> Match | None:
        found = recognised(evidence.once(whole_purposes))
        if not found:
            return None
        rows, state = given_documents(evidence.state)
        return Match([plan_for(one) for one in found], [entity()], {DOCUMENT: rows}, state)

    def complete_tables(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """A document of which nothing is known is empty; where no tool names one, there is one."""
        rows: dict[Key, Record] = {
            key: {**row, "parts": row.get("parts") or []} for key, row in tables.get(DOCUMENT, {}).items()
        }
        if not any("document" in plan.arguments for plan in plans):
            rows = {ONLY: rows.get(ONLY, document_of(ONLY, []))}
        complete_tables: dict[str, Mapping[Key, Record]] = dict(tables)
        complete_tables[DOCUMENT] = rows
        return complete_tables

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.document.answer import answer

        return answer(tool, plan, domain)
