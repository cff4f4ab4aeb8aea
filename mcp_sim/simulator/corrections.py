"""Lines of a tool spec that would correct a guessed plan."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.plans.infer.keys import key_argument, noun_of_key
from mcp_sim.plans.infer.names import ParsedName, parse_names
from mcp_sim.spec.yaml12 import flow, scalar
from mcp_sim.types import Record
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.plans import Plan


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
