"""The world model that reads from a real server and writes into the world."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager

from mcp_sim.models.real_server.options import RealServerOptions
from mcp_sim.models.real_server.shadowing import Shadowing
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Predictor, world_models
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_parts import READS


@world_models.register("shadow")
class Shadow(RealServerOptions):
    """Read from a real server, write into the world, and show both: the real server is never written to.

    A tool is passed on only if it certainly reads: by its annotation, a declared verb, or a plan as good as certain.
    All others act on the world's records. Answers of the real server are shown with written fields replaced, deleted
    records left out, and created ones added to the lists and searches that they match. Each world has its own writes;
    resets, forks and faults work on them.
    """

    def warnings(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        plans = {tool.id: domain.plans[tool.id] for tool in tools if not domain.only_reads(tool)}
        kept = [name for name, plan in plans.items() if any(variant.verb in READS for variant in plan.variants)]
        read = [domain.plans[tool.id] for tool in tools if domain.only_reads(tool)]
        return [*_kept(kept), *_not_laid_over(plans.values(), read)]

    @asynccontextmanager
    async def bind(self, domain: Domain) -> AsyncGenerator[Predictor]:
        async with self.opened() as server:
            yield Shadowing(domain, server)


def _kept(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield (
            f"{', '.join(names)}: not certain to read only, so the world answers, not the real server; "
            "`sim: {TOOL: {verb: ...}}` in the tool spec makes it certain"
        )


def _not_laid_over(writing: Iterable[Plan], reading: Iterable[Plan]) -> Iterator[str]:
    """Yield a warning for each store but records: which tools write to it, and which ones do not show that."""
    readers = _by_store(reading)
    for store, names in _by_store(writing).items():
        answers = f"the answers of {', '.join(readers[store])} are" if store in readers else "all answers are"
        yield (
            f"{', '.join(names)} ({store}): writes to other stores than records stay in the world; "
            f"{answers} those of the real server alone"
        )


def _by_store(plans: Iterable[Plan]) -> Mapping[str, Sequence[str]]:
    """Return the tools of plans by their stores, without those on records, and those without a store."""
    groups = dict[str, list[str]]()
    for plan in plans:
        if plan.backend not in ("records", "schema_only"):
            groups.setdefault(plan.backend, []).append(plan.tool)
    return groups
