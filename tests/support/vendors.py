"""The shipped documents whose tools follow inferred plans. Programs answer the others."""

from __future__ import annotations

from mcp_sim.simulator.compile import load
from mcp_sim.spec.sources import shipped

PLANNED_SPECS = [name for name in sorted(shipped("tool_specs")) if not load(name).domain.programs]
PLANNED_SCENARIOS = [name for name in sorted(shipped("scenarios")) if not load(name).domain.programs]
