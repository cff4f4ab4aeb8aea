"""Lines of a tool spec that would correct a guessed plan."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.infer.keys import key_argument, noun_of_key
from mcp_sim.infer.server_names import parse_names
from mcp_sim.types import Record
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.plans import Plan

_ONE = frozenset({"get", "update", "delete"})


def corrections(domain: Domain) -> Mapping[str, Record]:
    """Return for every guessed plan what to write under `sim:`, to be corrected by a person."""
    named = parse_names(tool.name for tool in domain.tools.values())
    guesses = (plan for plan in domain.plans.values() if plan.guessed)
    return {
        domain.tools[plan.tool].name: _suggest(plan, domain, named[domain.tools[plan.tool].name].noun)
        for plan in guesses
    }


def alternatives(domain: Domain) -> Mapping[str, Record]:
    """Return the update that a tool makes if the guess that it touches no records is wrong."""
    guesses = (plan for plan in domain.plans.values() if plan.guessed and plan.verb == "none")
    found = {domain.tools[plan.tool].name: _update_of_named(plan, domain) for plan in guesses}
    return {name: part for name, part in found.items() if part}


def _update_of_named(plan: Plan, domain: Domain) -> Record:
    schema = expanded(domain.tools[plan.tool].input_schema)
    key = next((name for name in properties(schema) if noun_of_key(name) in domain.entities), None)
    return {} if key is None else {"verb": "update", "entity": noun_of_key(key), "key": key}


def _suggest(plan: Plan, domain: Domain, noun: tuple[str, ...]) -> Record:
    if plan.verb == "none":
        return {"verb": "none"}
    entity = plan.entity or "_".join(noun) or next(iter(domain.entities), "record")
    verb = plan.verb if plan.verb != "unknown" else "get"
    key, _ = key_argument("get", entity, "id", expanded(domain.tools[plan.tool].input_schema))
    key = plan.key or key
    return {"verb": verb, "entity": entity, **({"key": key} if key is not None and verb in _ONE else {})}
