"""Read the plans under `sim:`, and check that the tools have the arguments they name.

Entities in plans are renamed for the namespaces of several servers."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from mcp_sim.spec.parts.content import template_of
from mcp_sim.spec.parts.plans import SimPart
from mcp_sim.spec.places import Place
from mcp_sim.types import Record
from mcp_sim.types.argument_descriptions import find_wrapper
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, properties
from mcp_sim.types.kinds import backends
from mcp_sim.types.plans import Filter, Idempotency, Plan
from mcp_sim.types.programs import PROGRAM

_ARGUMENT_KEYS = ("key", "each", "holder", "query", "choice")
"""Keys that name an argument. Null means no argument; for other keys it is the same as leaving them out."""
ABOUT_ANSWERS = ("ask", "notify", "blocks", "errors", "checks", "latency", "media")
"""Keys under `sim:` that are not fields of a plan, but about the answer."""

_PAGE_KEYS = ("limit", "offset", "page", "cursor", "sort", "order")
_PARTS = ("paging", "envelope")


def plan_fields(sim_part: SimPart) -> dict[str, Any]:
    """Return the fields of a plan that the spec fixes, and of its paging and its envelope the parts."""
    given: dict[str, Any] = {name: getattr(sim_part, name) for name in sim_part.model_fields_set - {*ABOUT_ANSWERS}}
    fixed: dict[str, Any] = {
        name: value for name, value in given.items() if value is not None or name in (*_ARGUMENT_KEYS, "idempotency")
    }
    fixed |= {name: fixed[name].model_dump(exclude_unset=True) for name in _PARTS if name in fixed}
    if sim_part.filters is not None:
        fixed["filters"] = {
            argument: Filter(**filter_part.model_dump()) for argument, filter_part in sim_part.filters.items()
        }
    if sim_part.idempotency is not None:
        expires = sim_part.idempotency.expires
        seconds = None if expires is None else expires.total_seconds()
        fixed["idempotency"] = Idempotency(sim_part.idempotency.key, seconds)
    if sim_part.result is not None:
        fixed["result"] = tuple(map(template_of, sim_part.result))
    if sim_part.choices is not None:
        fixed["choices"] = {value: plan_fields(choice) for value, choice in sim_part.choices.items()}
    return fixed


def check_sim(place: Place, sim: Mapping[str, SimPart], tools: Mapping[str, Place], programmed: Container[str]) -> None:
    """Note what is wrong with the entries under `sim:` of a document.

    `tools` are the tools of the spec by name, `programmed` those that a program answers.
    """
    for name, sim_part in sim.items():
        at = place.at(name)
        if name not in tools:
            at.error(f"unknown tool {name!r}{did_you_mean(name, tools)}")
            continue
        if name in programmed and sim_part.model_fields_set - {*ABOUT_ANSWERS}:
            at.error("the program answers this tool; declare its effect there, with the options of @tool")
        _check_backend(at, sim_part)
        _check_arguments(at, sim_part, tools[name].value)
        # Warn about comparisons in a plan for one record, which is found by equal values only.
        for argument, rule in (sim_part.filters or {}).items() if sim_part.verb in {"get", "update", "delete"} else ():
            if rule.op != "equals":
                at.at("filters", argument, "op").warning(
                    f"{sim_part.verb} finds its record by equal values only; {rule.op!r} has no effect"
                )
        for value, choice in (sim_part.choices or {}).items():
            _check_backend(at.at("choices", value), choice)
            _check_arguments(at.at("choices", value), choice, tools[name].value)


def _check_backend(at: Place, sim_part: SimPart) -> None:
    known = [name for name in backends.names() if name != PROGRAM]
    if sim_part.backend is not None and sim_part.backend not in known:
        programs = [f"`program: {name}`" for name in _replaced_backends().get(sim_part.backend, ())]
        nearest = did_you_mean(sim_part.backend, known)
        instead = (
            f"; it was replaced by the catalogue: {' or '.join(programs)} in the tool spec" if programs else nearest
        )
        at.at("backend").error(f"unknown backend{instead}")


@cache
def _replaced_backends() -> Mapping[str, Sequence[str]]:
    """Return the programs of the catalogue that replace former backends."""
    return json.loads(Path(__file__).with_name("replaced_backends.json").read_text(encoding="utf-8"))


def _check_arguments(at: Place, sim_part: SimPart, tool: Record) -> None:
    """Note the named arguments that the tool does not have."""
    schema = expanded(tool["inputSchema"])
    known = as_object(schema.get("properties"))
    for wrapper in (find_wrapper(schema) or "").split("."):
        schema = properties(schema).get(wrapper, {})
        known |= properties(schema)
    arguments: list[tuple[tuple[str, ...], str | None]] = [((key,), getattr(sim_part, key)) for key in _ARGUMENT_KEYS]
    arguments += [(("sets", argument), argument) for argument in sim_part.sets or ()]
    arguments += [(("filters", argument), argument) for argument in sim_part.filters or ()]
    arguments += [(("idempotency",), None if sim_part.idempotency is None else sim_part.idempotency.key)]
    arguments += [(("paging", key), getattr(sim_part.paging, key, None)) for key in _PAGE_KEYS]
    for path, argument in arguments:
        if argument is not None and known.keys().isdisjoint((argument, argument.partition(".")[0])):
            at.at(*path).error(f"{tool['name']} has no argument {argument!r}{did_you_mean(argument, known)}")


def check_how(at: Place, declared: Mapping[str, Any], plan: Plan, tool: str) -> None:
    """Note the keys of `how` that are not fields which the plan writes. `declared`: what the spec fixes of the plan."""
    fields = dict.fromkeys([*plan.sets.values(), *plan.fixed])
    for name in declared.get("how", {}):
        if name in fields:
            continue
        if name in plan.sets:
            message = f"`{name}` is an argument; `how` takes fields: {', '.join(fields)}"
        elif "sets" in declared or not plan.sets:
            message = f"{tool} writes no field {name!r}{did_you_mean(name, fields)}"
        else:
            message = (
                f"{tool} writes no field {name!r}; map an argument to it: `sets: {{{next(iter(plan.sets))}: {name}}}`"
            )
        at.at("how", name).error(message)
    for value, choice in declared.get("choices", {}).items():
        if value in plan.choices:
            check_how(at.at("choices", value), choice, plan.choices[value], tool)


def rename_entities_in_plan(plan: Plan, called: Callable[[str], str]) -> Plan:
    """Return the plan with every entity name replaced by `called(name)`."""

    choices = {value: rename_entities_in_plan(choice, called) for value, choice in plan.choices.items()}
    return replace(plan, entity=None if plan.entity is None else called(plan.entity), choices=choices)


def renamed(entity: Entity, called: Callable[[str], str]) -> Entity:
    """Return the entity with its name, and the entities it links to, replaced by `called(name)`."""
    fields = {name: _field(field, called) for name, field in entity.fields.items()}
    inside = entity.inside and replace(entity.inside, entity=called(entity.inside.entity))
    return replace(entity, name=called(entity.name), fields=fields, inside=inside)


def _field(field: Field, called: Callable[[str], str]) -> Field:
    return field if field.link is None else replace(field, link=called(field.link))
