"""What is the world of these tool specs made of? Entities and plans of all servers, and records that fit them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcp_sim.generate.counts import orphans
from mcp_sim.infer import Inferred, infer
from mcp_sim.infer.docstrings import described
from mcp_sim.simulator.matches import matched
from mcp_sim.spec.entity_names import relocated, renamed
from mcp_sim.spec.messages import shown
from mcp_sim.spec.parts.scenario import WorldPart
from mcp_sim.spec.places import Place
from mcp_sim.spec.tool_specs import Spec
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.argument_unwrapping import unwrapped, within_of
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.kinds import Survey
from mcp_sim.types.plans import Plan
from mcp_sim.types.scenario import GivenRecords


@dataclass(frozen=True, slots=True)
class Drawn:
    """The domain of a scenario, and the records that its state was given with."""

    domain: Domain
    records: Mapping[str, GivenRecords]


def domain_of(specs: Mapping[str, Spec], world: WorldPart) -> Drawn:
    """Tools, entities and plans of all servers. Entities of one name are shared, unless they are kept apart."""
    tools = {name: tool for spec in specs.values() for name, tool in spec.tools.items()}
    if world.namespaces:
        found = {server or spec.server.name: _inferred([spec], world.state) for server, spec in specs.items()}
        parts = [_prefixed(part, server) for server, part in found.items()]
        entities = {name: entity for part in parts for name, entity in part.entities.items()}
        plans = {name: plan for part in parts for name, plan in part.plans.items()}
        records = {name: rows for part in parts for name, rows in part.records.items()}
        whole = Inferred(entities, plans, records, frozenset[str]().union(*(part.unmentioned for part in parts)))
    else:
        whole = _inferred(list(specs.values()), world.state)
    examples = tuple(example for spec in specs.values() for example in spec.examples)
    about, given = (world.description, world.now, examples), frozenset(whole.records)
    domain = Domain(tools, whole.entities, whole.plans, *about, open=world.open, given=given)
    return Drawn(domain, _given(whole, is_whole=world.state is not None))


def _given(found: Inferred, *, is_whole: bool) -> dict[str, GivenRecords]:
    """The records of a state; where one is given, it is the whole, and what it does not mention is empty."""
    named = found.entities.keys() - found.unmentioned if is_whole else found.records.keys()
    rows = {name: tuple(found.records.get(name, ())) for name in found.entities if name in named}
    return {name: _whole(rows[name], found.entities[name]) for name in rows}


def _whole(rows: tuple[Record, ...], entity: Entity) -> GivenRecords:
    """Rows that are complete as they are; only one of a kind of which nothing is told is made up."""
    return GivenRecords(1) if entity.singleton and not rows else GivenRecords(len(rows), rows, whole=True)


def _inferred(specs: Sequence[Spec], state: Json) -> Inferred:
    """What the tools of these servers do, to which entities. Notes names of entities that do not exist.

    What a backend claims is left out of the inference of records, which still learns its entities.
    """
    overrides = {name: override for spec in specs for name, override in spec.overrides.items()}
    served = {name: tool for spec in specs for name, tool in spec.tools.items()}
    within = {name: within_of(tool, overrides.get(name, {})) for name, tool in served.items()}
    tools = {name: described(unwrapped(tool, within[name])) for name, tool in served.items()}
    examples = [example for spec in specs for example in spec.examples if not example.is_blocks]
    claimed = matched(Survey(tools, state, examples), overrides)
    entities = {**{entity.name: entity for entity in claimed.entities}, **_declared(specs)}
    taken = {plan.tool: plan for plan in claimed.plans}
    rest = {name: tool for name, tool in tools.items() if name not in taken}
    found = infer(rest, entities, overrides, examples, claimed.state)
    for spec in specs:
        for place, name in spec.links:
            if name not in found.entities:
                place.error(f"unknown entity {name!r}{did_you_mean(name, found.entities)}")
    known = {**found.entities, **_claimed(claimed.entities, _declared(specs))}
    plans = {name: _at_home(taken[name], known) if name in taken else found.plans[name] for name in tools}
    said = {name for name, override in overrides.items() if "login" in override}
    plans = {**_with_logins(plans, tools, known), **{name: plans[name] for name in said}}
    plans = {name: replace(plan, within=within[name]) if within[name] else plan for name, plan in plans.items()}
    return Inferred(known, plans, {**found.records, **claimed.records}, found.unmentioned)


def _at_home(plan: Plan, entities: Mapping[str, Entity]) -> Plan:
    """A claimed plan with its entity as it is called here: what is a `message` to it may be a `vessel_message`."""
    if plan.entity is None or plan.entity in entities:
        return plan
    return replace(plan, entity=next((name for name in entities if name.endswith(f"_{plan.entity}")), plan.entity))


def _with_logins(
    plans: Mapping[str, Plan], tools: Mapping[str, Tool], entities: Mapping[str, Entity]
) -> Mapping[str, Plan]:
    if not any(plan.backend == "auth" for plan in plans.values()):
        return plans
    from mcp_sim.backends.auth.guarding import with_logins  # noqa: PLC0415 (for those who have a login)

    return with_logins(plans, tools, entities)


def _claimed(entities: Sequence[Entity], declared: Mapping[str, Entity]) -> dict[str, Entity]:
    """The entities as backends have them, with the fields that specs declare besides."""
    said = {name: entity.fields for name, entity in declared.items()}
    return {one.name: replace(one, fields={**one.fields, **said.get(one.name, {})}) for one in entities}


def _declared(specs: Sequence[Spec]) -> dict[str, Entity]:
    """The entities that specs declare; what two declare of one entity is laid together, the first one's word first."""
    declared: dict[str, Entity] = {}
    for spec in specs:
        for name, entity in spec.entities.items():
            known = declared.get(name)
            declared[name] = entity if known is None else replace(known, fields={**entity.fields, **known.fields})
    return declared


def _prefixed(part: Inferred, server: str) -> Inferred:
    """The entities of one server under names of their own."""

    def called(name: str) -> str:
        return f"{server}.{name}"

    entities = {called(name): renamed(entity, called) for name, entity in part.entities.items()}
    plans = {name: relocated(plan, called) for name, plan in part.plans.items()}
    records = {called(name): rows for name, rows in part.records.items()}
    return Inferred(entities, plans, records, frozenset(map(called, part.unmentioned)))


def check_records(place: Place, records: Mapping[str, GivenRecords], domain: Domain) -> None:
    """Note unknown entities, keys that stand twice, and values that no tool could show."""
    for name, part in records.items():
        entity = domain.entities.get(name)
        if entity is None:
            place.at(name).error(f"unknown entity{did_you_mean(name, domain.entities)}")
            continue
        validators = {field.name: Validator(field.schema) for field in entity.fields.values() if part.rows}
        seen = set[Any]()
        for index, row in enumerate(part.rows):
            _check_row(place.at(name, "rows", index), row, entity, validators, seen)


def check_links(place: Place, records: Mapping[str, GivenRecords], domain: Domain) -> None:
    """Warn of records that are asked for and cannot be made up, as what they link to is not there."""
    for name, needed in orphans(domain.entities, records).items():
        if name in records:
            place.at(name).warning(f"no {name} is made up: each must link to a {needed}, and there is none")


def _check_row(place: Place, row: Record, entity: Entity, validators: Mapping[str, Validator], seen: set[Any]) -> None:
    key = row.get(entity.key)
    if key is not None and not (isinstance(key, str | int) and not isinstance(key, bool)):
        place.at(entity.key).error(f"a key must be a string or a whole number, not {shown(key)}")
    elif key is not None and key in seen:
        place.at(entity.key).error(f"a second {entity.name} {key!r}")
    elif key is not None:
        seen.add(key)
    for name, value in row.items():
        if name not in validators and name != entity.key:
            place.at(name).warning(
                f"no tool speaks of a field {name!r} of {entity.name}{did_you_mean(name, validators)}"
            )
        for problem in validators[name].problems(value) if name in validators else ():
            place.at(name).error(problem)
