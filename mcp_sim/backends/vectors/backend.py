"""Backend for tools that store texts in collections and search them by similarity."""

from __future__ import annotations

from mcp_sim.backends.matching.tool_profiles import profiles_by_server
from mcp_sim.backends.vectors.matching import COLLECTION, DOCUMENT, plans_of
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan


@backends.register("vectors")
class Vectors(Backend):
    """Texts with ids and metadata in collections, in parallel lists.

    A question finds the texts that share its words, nearest first. A store is empty at first, unless records are given.
    """

    order = 150

    def match(self, evidence: ServerEvidence) -> Match | None:
        plans = [plan for listed in evidence.once(profiles_by_server) for plan in plans_of(listed)]
        empty: dict[str, list[Record]] = {COLLECTION: [], DOCUMENT: []}
        return Match(plans, _entities(), empty, evidence.state) if plans else None

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.vectors.answer import answer

        return answer(tool, plan, domain)


def _entities() -> list[Entity]:
    text: Record = {"type": "string"}
    described = {"name": Field("name", text, required=True), "metadata": Field("metadata", {})}
    held = {name: Field(name, text, required=True) for name in ("key", COLLECTION, "id", "text")}
    return [
        Entity(COLLECTION, "name", None, described, natural=True),
        Entity(DOCUMENT, "key", None, held | {"metadata": Field("metadata", {})}, natural=True),
    ]
