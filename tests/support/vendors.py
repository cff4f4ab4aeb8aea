"""The shipped documents: their declarations, which test modules list at import, and what they compile to."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from mcp_sim.simulator.compile import load
from mcp_sim.spec import yaml12
from mcp_sim.spec.sources import shipped
from mcp_sim.types.scenario import Scenario


def _document(path: Path) -> dict[str, Any]:
    return yaml12.load(path.read_bytes(), path.name).value


def _spec_names(scenario: dict[str, Any]) -> list[str]:
    tools: str | dict[str, str] = scenario["tools"]
    return [tools] if isinstance(tools, str) else list(tools.values())


_SPECS = {name: _document(path) for name, path in sorted(shipped("tool_specs").items())}
_SCENARIOS = {name: _document(path) for name, path in sorted(shipped("scenarios").items())}

PROGRAM_SPECS = [name for name, spec in _SPECS.items() if "program" in spec]
"""Specs that a program answers."""

PLANNED_SPECS = [name for name in _SPECS if name not in PROGRAM_SPECS]
"""Specs whose tools follow inferred plans."""

PLANNED_SCENARIOS = [name for name, scenario in _SCENARIOS.items() if not {*_spec_names(scenario)} & {*PROGRAM_SPECS}]
GRADED_SCENARIOS = [name for name, scenario in _SCENARIOS.items() if "expect" in scenario]
EXPECTED_KINDS = {kind for name in GRADED_SCENARIOS for entry in _SCENARIOS[name]["expect"] for kind in entry}
"""Kinds of expectations in shipped scenarios, and the names of their common options."""
FAULTED_SCENARIOS = [name for name, scenario in _SCENARIOS.items() if "perturbations" in scenario]


@cache
def compiled(name: str) -> Scenario:
    """Return a shipped scenario or tool spec, compiled once in a process: nothing changes it."""
    return load(name)
