"""Infer what the tools of a server do, once for equal tools and states.

Guessed plans come with the lines of a tool spec that would correct them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Any, Generic, TypeVar, cast

from mcp_sim.plans.infer import Inferred, infer
from mcp_sim.plans.infer.keys import key_argument, noun_of_key
from mcp_sim.plans.infer.names import ParsedName, parse_names
from mcp_sim.simulator.program_plans import Programmed
from mcp_sim.spec.yaml12 import flow, scalar
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Domain, Entity, Example
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.plans import Plan

_MOST_COMPARED, _LONGEST_COMPARED = 2_000, 200_000
"""A state with more values than this, or with longer texts, is not compared with others. The states of all servers are
compared in pairs at each start."""

_KEPT = 128
"""Results that a process keeps: more than there are shipped scenarios, which `check` reads one after another."""


T = TypeVar("T")


@frozen
class ServerEvidence:
    """What is known of one server before inference."""

    tools: Mapping[str, Tool]
    """Its tools, by id."""
    state: Json = None
    """The given state, or None."""
    examples: Sequence[Example] = ()
    """Recorded calls."""
    overrides: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """What specs declare under `sim:`, by tool id."""


def infer_planned(evidence: ServerEvidence, declared: Mapping[str, Entity], programmed: Programmed) -> Inferred:
    """Return what is inferred of the tools that no program answers. Equal tools and states are inferred once."""
    if not _is_small(evidence.state):
        return _anew(evidence, declared, programmed)
    tools = [(tool.id, tool.definition, tool.prose) for tool in evidence.tools.values()]
    answered = (sorted(programmed.tools), programmed.takes_state)
    text = repr((tools, answered, evidence.state, evidence.overrides, evidence.examples, declared))
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
def _once(known: ByText[tuple[ServerEvidence, Mapping[str, Entity], Programmed]]) -> Inferred:
    return _anew(*known.value)


def _anew(evidence: ServerEvidence, declared: Mapping[str, Entity], programmed: Programmed) -> Inferred:
    planned = {name: tool for name, tool in evidence.tools.items() if name not in programmed.tools}
    state = None if programmed.takes_state else evidence.state
    return infer(planned, declared, evidence.overrides, evidence.examples, state)


@frozen
class ByText(Generic[T]):
    """A value that equals another one if both have the same text."""

    text: str
    value: T = field(compare=False)


def corrections(domain: Domain) -> Mapping[str, str]:
    """Return for the id of every tool with a guessed plan the line to write under `sim:`, for a person to correct."""
    parsed_names = parse_names(tool.name for tool in domain.tools.values())
    names = {id_: domain.tools[id_].name for id_, plan in domain.plans.items() if plan.guessed}
    return {
        id_: f"{scalar(name)}: {flow(_suggest(domain.plans[id_], domain, parsed_names[name]))}"
        for id_, name in names.items()
    }


def alternatives(domain: Domain) -> Mapping[str, str]:
    """Return for guesses that a tool touches no records the update that it makes otherwise."""
    guesses = (plan for plan in domain.plans.values() if plan.guessed and plan.verb == "none")
    keys = ((plan.tool, _key_of_record(plan, domain)) for plan in guesses)
    return {id_: flow({"verb": "update", "entity": noun_of_key(key), "key": key}) for id_, key in keys if key}


def _key_of_record(plan: Plan, domain: Domain) -> str | None:
    """Return the argument of a tool that is named after the key of some entity."""
    arguments = properties(expanded(domain.tools[plan.tool].input_schema))
    return next((name for name in arguments if noun_of_key(name) in domain.entities), None)


def _suggest(plan: Plan, domain: Domain, parsed: ParsedName) -> Record:
    if plan.verb == "none":
        return {"verb": "none"}
    entity = plan.entity or "_".join(parsed.noun) or next(iter(domain.entities), "record")
    verb = next((verb for verb in (plan.verb, parsed.verb) if verb != "unknown"), "get")
    key = plan.key or key_argument("get", entity, "id", expanded(domain.tools[plan.tool].input_schema))[0]
    return {"verb": verb, "entity": entity, **({"key": key} if key and verb in {"get", "update", "delete"} else {})}
