"""How does a vendor word a result, judged by recorded ones? A text with slots, into which other records fit as well."""

from __future__ import annotations

from mcp_sim.backends.records.recorded import fails, samples
from mcp_sim.backends.records.recorded_lists import listing
from mcp_sim.backends.records.sentences import Say
from mcp_sim.backends.records.showing import shown
from mcp_sim.backends.records.slots import rendered
from mcp_sim.backends.records.spotting import Spotter, told_elsewhere
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.plans import Plan


def learnt(tool: Tool, plan: Plan, domain: Domain) -> Say | None:
    """How the tool words its results, as its examples show; None where there is none."""
    found = [sample for sample in samples(domain.examples, tool) if not fails(sample.text)]
    entity = domain.entities[plan.entity or ""]
    if not found:
        return None
    reader = Spotter(plan, entity, told_elsewhere(domain, entity))
    if plan.verb in {"list", "search"}:
        return listing(found, reader, entity, domain)
    pieces = reader.pieces(max(found, key=lambda sample: len(sample.text)))
    show = shown(entity, {}, domain.entities)
    return lambda facts: rendered(pieces, facts, facts.record or {}, facts.key, show, facts.view)
