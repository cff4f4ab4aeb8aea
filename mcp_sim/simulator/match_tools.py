"""Match tools to backends, merge what specs declare about them, and infer what the other tools do."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

from mcp_sim.plans.infer import Inferred, infer
from mcp_sim.simulator.program_plans import Programmed
from mcp_sim.spec.tool_specs import Spec
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import BACKENDS_WITHOUT_MATCH, Match, ServerEvidence, backends
from mcp_sim.types.plans import Plan

_MOST_COMPARED, _LONGEST_COMPARED = 2_000, 200_000
"""A state with more values than this, or with longer texts, is not compared with others. The states of all servers are
compared in pairs at each start."""

_KEPT = 128
"""Results that a process keeps: more than there are shipped scenarios, which `check` reads one after another."""


T = TypeVar("T")


def match_tools(evidence: ServerEvidence, without: Collection[str] = ()) -> Match:
    """Return the best match of each tool, without guesses, and what the matched backends hold of the given state.

    Each backend sees the part of the state that earlier backends left. A tool's `sim:` block overrules any match.
    Backends in `without` are not asked.
    """
    plans: dict[str, Plan] = {}
    accepted: list[Match] = []
    state, overrides = evidence.state, evidence.overrides
    for kind in (backend for backend in matching_backends() if backend not in without):
        match = backends[kind]().match(replace(evidence, state=state)) or Match()
        won = {plan.tool: plan for plan in match.plans if _wins(plan, plans, overrides)}
        if won:
            plans |= won
            accepted.append(match)
            state = match.state
    overridden = [plan.with_declared(overrides.get(plan.tool, {})) for plan in plans.values()]
    entities = [entity for match in accepted for entity in match.entities]
    return Match(overridden, entities, dict(_matched_records(accepted)), state)


def match_unprogrammed(evidence: ServerEvidence, planned: Mapping[str, Tool], programmed: Programmed) -> Match:
    """Return what backends match of the tools that no program answers.

    The other tools show what the server is, too: all of them are matched. Where a program keeps in tables what a
    backend would, the other tools work on these tables, and not on the backend.
    """
    if not (programmed.tools and programmed.leaves_some(evidence.tools)):
        return match_tools(replace(evidence, tools=planned))
    match = match_tools(evidence)
    declared = {
        declared_part.get("backend")
        for override in evidence.overrides.values()
        for _, declared_part in _declared_parts(override)
    }
    replaced = {plan.backend for plan in match.plans if plan.tool in programmed.tools} - declared
    if replaced:
        match = match_tools(evidence, replaced)
    if not programmed.tables.isdisjoint(entity.name for entity in match.entities):
        return match_tools(replace(evidence, tools=planned), replaced)
    return replace(match, plans=[plan for plan in match.plans if plan.tool in planned])


def matching_backends() -> list[str]:
    """Return the backends that match tools, in the order in which they are asked."""
    return sorted(set(backends.names()) - BACKENDS_WITHOUT_MATCH, key=lambda name: (backends[name].order, name))


def _wins(plan: Plan, plans: Mapping[str, Plan], overrides: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether a plan replaces the ones matched so far: it is declared, or no guess and surer than they are."""
    declared = [entry for _, entry in _declared_parts(overrides.get(plan.tool, {}))]
    wanted = {entry["backend"] for entry in declared if "backend" in entry}
    if wanted:
        return plan.backend in wanted
    if any({"verb", "entity"} & entry.keys() for entry in declared):
        return False
    other = plans.get(plan.tool)
    return not plan.guessed and (other is None or plan.confidence > other.confidence)


def _declared_parts(sim: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield what a spec declares of a tool and of each of its choices, with the path under `sim:`."""
    yield (), sim
    yield from ((("choices", value), choice) for value, choice in sim.get("choices", {}).items())


def _matched_records(accepted: Sequence[Match]) -> Iterator[tuple[str, list[Record]]]:
    for match in accepted:
        yield from ((name, [*rows]) for name, rows in match.records.items())


def check_operations(specs: Sequence[Spec], plans: Mapping[str, Plan]) -> None:
    """Note operations that a backend does not have, and tools whose operation in a declared backend is unknown."""
    for spec in specs:
        for tool, sim in spec.overrides.items():
            for path, entry in _declared_parts(sim):
                problem = _operation_problem(entry, _matched_part(plans.get(tool), path))
                if problem is not None and spec.root is not None:
                    key, message = problem
                    spec.root.at("sim", spec.tools[tool].name, *path, key).error(message)


def _matched_part(plan: Plan | None, path: tuple[str, ...]) -> Plan | None:
    return plan.choices.get(path[-1]) if plan is not None and path else plan


def _operation_problem(entry: Mapping[str, Any], plan: Plan | None) -> tuple[str, str] | None:
    """Return the key and the message of a problem with the declared backend and operation of a tool."""
    kind = entry.get("backend", "records" if plan is None else plan.backend)
    if kind in BACKENDS_WITHOUT_MATCH or kind not in backends.names():
        return None
    known, operation = backends[kind]().operation_names, entry.get("operation")
    if operation is not None:
        problem = f"unknown operation {operation!r} of {kind}{did_you_mean(operation, known)}"
        return ("operation", problem) if known and operation not in known else None
    if plan is not None and plan.backend == kind and (plan.operation or plan.choices):
        return None
    return (
        "backend",
        f"could not find which operation of {kind} this tool is; set `operation:`{did_you_mean('', known)}",
    )


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


@frozen
class ByText(Generic[T]):
    """A value that equals another one if both have the same text."""

    text: str
    value: T = field(compare=False)
