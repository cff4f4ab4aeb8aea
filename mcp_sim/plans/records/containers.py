"""Containers: what every call about an entity names, such as the owner and the repository of an issue.

If nothing specifies the records of such an entity, its containers are open. The records of a container are generated
when a call first names it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import constants, main_type, required
from mcp_sim.types.plans import Plan


def containers_of(domain: Domain) -> Mapping[str, frozenset[str]]:
    """Return the fields with the containers of each entity that has some."""
    if containers_of not in domain.kept:
        domain.kept[containers_of] = _find_containers(domain)
    return domain.kept[containers_of]


def _find_containers(domain: Domain) -> dict[str, frozenset[str]]:
    plans = defaultdict[str, list[Plan]](list)
    for plan in (variant for whole in domain.plans.values() for variant in whole.variants):
        if plan.entity in domain.unspecified and plan.backend == "records" and plan.verb != "search":
            plans[plan.entity or ""].append(plan)
    containers = {name: _shared(domain.entities[name], mine, domain) for name, mine in plans.items()}
    return {name: fields for name, fields in containers.items() if fields}


def _shared(entity: Entity, plans: Sequence[Plan], domain: Domain) -> frozenset[str]:
    """Return the fields that all of several tools require."""
    if len(plans) == 1 or entity.singleton or entity.inside is not None or all(plan.verb != "list" for plan in plans):
        return frozenset()
    first, *others = (frozenset(container_arguments(plan, entity, domain).values()) for plan in plans)
    return first.intersection(*others)


def container_arguments(plan: Plan, entity: Entity, domain: Domain) -> dict[str, str]:
    """Return the required arguments of a tool that may name a container, each with the field that holds it."""
    filtered = {path: rule.field for path, rule in plan.filters.items() if rule.op == "equals"}
    fields = {**plan.sets, **filtered}
    asked = required(expanded(domain.tools[plan.tool].input_schema)) - {plan.key}
    named = {name: entity.fields.get(fields.get(name, name)) for name in asked}
    return {name: field.name for name, field in named.items() if field is not None and _may_contain(field, entity)}


def _may_contain(field: Field, entity: Entity) -> bool:
    is_plain = field.link is None and field.name != entity.key
    is_name = main_type(field.schema) in {"string", "integer"} and not constants(field.schema)
    return is_plain and is_name and time_meaning(field.name, field.schema) is None
