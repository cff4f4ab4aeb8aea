"""Backend for documents whose parts are addressed by index: paragraphs, slides, cells, list items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.backends.document.given import DEFAULT_NAME, DOCUMENT, document_of, entity, read_given_documents
from mcp_sim.backends.document.matching import match_tools, plan_for
from mcp_sim.backends.matching.tool_profiles import profiles_of_tools
from mcp_sim.types import Key, Record, Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, Tables, backends
from mcp_sim.types.plans import Plan


@backends.register("document")
class Document(Backend):
    """Parts are added, inserted at an index, read, changed, moved and deleted; later parts shift.

    A document is identified by file name or id; if no tool names one, there is exactly one. Indexes start at 0, unless
    a schema says 1. Evidence: tools that add a part and others that take its index.
    """

    order = 90

    def match(self, evidence: ServerEvidence) -> Match | None:
        found = match_tools(evidence.once(profiles_of_tools))
        if not found:
            return None
        rows, state = read_given_documents(evidence.state)
        return Match([plan_for(one) for one in found], [entity()], {DOCUMENT: rows}, state)

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Give unknown documents an empty list of parts. Create the only document if no tool names one."""
        rows: dict[Key, Record] = {
            key: {**row, "parts": row.get("parts") or []} for key, row in tables.get(DOCUMENT, {}).items()
        }
        if not any("document" in plan.arguments for plan in plans):
            rows = {DEFAULT_NAME: rows.get(DEFAULT_NAME, document_of(DEFAULT_NAME, []))}
        initial: dict[str, Mapping[Key, Record]] = dict(tables)
        initial[DOCUMENT] = rows
        return initial

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.document.answer import answer

        return answer(tool, plan, domain)
