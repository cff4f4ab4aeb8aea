"""Match the tools of a server to backends, and infer what the others do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import cast

from mcp_sim.plans.infer import Inferred, infer
from mcp_sim.simulator.by_text import ByText
from mcp_sim.simulator.match_tools import match_unprogrammed, matching_backends
from mcp_sim.simulator.program_plans import Programmed
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity
from mcp_sim.types.kinds import Match, ServerEvidence
from mcp_sim.types.plans import Plan
from mcp_sim.types.tools import Tool

_MOST_COMPARED, _LONGEST_COMPARED = 2_000, 200_000
"""A state with more values than this, or with longer texts, is not compared with others. The states of all servers are
compared in pairs at each start."""

_KEPT = 128
"""Results that a process keeps: more than there are shipped scenarios, which `check` reads one after another."""


def match_and_infer(
    evidence: ServerEvidence, declared: Mapping[str, Entity], programmed: Programmed
) -> tuple[Match, Inferred]:
    """Return what backends match, and what is inferred of the other tools. Equal tools and states are inferred once."""
    if not _is_small(evidence.state):
        return _anew(evidence, declared, programmed)
    tools = [(tool.id, tool.definition, tool.prose) for tool in evidence.tools.values()]
    answered = (sorted(programmed.tools), sorted(programmed.tables), programmed.takes_state)
    text = repr((tools, answered, evidence.state, evidence.overrides, evidence.examples, declared, matching_backends()))
    return _once(ByText(text, (evidence, declared, programmed)))


def infer_functions(tools: Mapping[str, Tool], declared: Mapping[str, Entity]) -> Mapping[str, Plan]:
    """Return what is inferred of tools that a program answers. Equal tools are inferred once."""
    text = repr(([(tool.id, tool.definition, tool.prose) for tool in tools.values()], declared))
    return _functions(ByText(text, (tools, declared)))


@lru_cache(maxsize=_KEPT)
def _functions(known: ByText[tuple[Mapping[str, Tool], Mapping[str, Entity]]]) -> Mapping[str, Plan]:
    tools, declared = known.value
    return infer(tools, declared, {}, ()).plans


def _is_small(state: Json) -> bool:
    """Whether a state has few enough values, and short enough texts, to be compared with others."""
    left, length = list[Json]([state]), 0
    for _ in range(_MOST_COMPARED):
        if not left:
            return length <= _LONGEST_COMPARED
        value = left.pop()
        length += len(value) if isinstance(value, str) else 0
        if isinstance(value, dict | list):
            left += value.values() if isinstance(value, dict) else cast("list[Json]", value)
    return False


@lru_cache(maxsize=_KEPT)
def _once(known: ByText[tuple[ServerEvidence, Mapping[str, Entity], Programmed]]) -> tuple[Match, Inferred]:
    return _anew(*known.value)


def _anew(evidence: ServerEvidence, declared: Mapping[str, Entity], programmed: Programmed) -> tuple[Match, Inferred]:
    planned = {name: tool for name, tool in evidence.tools.items() if name not in programmed.tools}
    matches = match_unprogrammed(evidence, planned, programmed)
    matched = {plan.tool for plan in matches.plans}
    entities = {**{entity.name: entity for entity in matches.entities}, **declared}
    rest = {name: tool for name, tool in planned.items() if name not in matched}
    state = None if programmed.takes_state else matches.state
    return matches, infer(rest, entities, evidence.overrides, evidence.examples, state)
