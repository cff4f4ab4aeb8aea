"""Generate records that a call asks for: of open entities, of open worlds, and where nothing specifies the records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from mcp_sim.generate.missing_records import generated_put
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.plans.records.accepted_keys import Accept, acceptance, containers_of, may_exist
from mcp_sim.plans.records.arguments import Link, argument, links_of
from mcp_sim.plans.records.demanded_records import Demand
from mcp_sim.plans.records.effects import new_once
from mcp_sim.types import Change, Json, Record, Transition, Turn
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, at, constants
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.plans import Plan

_READS = frozenset({"get", "list", "search"})


def open_answer(answer: Answer, plan: Plan, domain: Domain) -> Answer:
    """Return the answer of a tool that generates what a call asks for and what is missing, as far as that may be."""
    entity = domain.entities.get(plan.entity or "")
    if entity is None or plan.backend != "records":
        return answer
    if entity.open:
        answer = _marked(answer, f"the records of {entity.name} are generated as they are asked for")
    is_named = plan.key is not None and plan.each is None and entity.key not in plan.sets.values()
    is_choice = is_named and len(constants(at(expanded(domain.tools[plan.tool].input_schema), plan.key or ""))) > 1
    is_choice = is_choice and entity.name not in domain.specified
    if plan.verb in {"update", "delete"} and is_named and (is_choice or entity.open):
        answer = _with_updated_record(answer, plan, replace(entity, open=True), domain)
    if plan.verb not in _READS:
        return _with_linked_records(answer, plan, entity, domain)
    is_free = entity.open or entity.name in domain.unspecified
    if plan.verb == "get" and plan.key is not None:
        return _with_named_record(answer, plan, entity, domain) if domain.open or is_free else answer
    if not is_free or plan.each is not None:
        return answer
    demand = Demand(plan, domain, entity)

    def invented(turn: Turn, invent: Invent) -> Transition:
        absorbed = demand.missing(turn, invent)
        return _pinned(answer, turn, invent, absorbed) if absorbed else answer(turn, invent)

    return invented


def _marked(answer: Answer, reason: str) -> Answer:
    """Return an answer that marks its transitions as guessed."""
    return lambda turn, invent: answer(turn, invent).marked(reason)


def _with_named_record(answer: Answer, plan: Plan, entity: Entity, domain: Domain) -> Answer:
    """Return an answer that generates the record of an unknown key, and those beside it in a new container."""
    fetch, accepts = argument(plan.key or ""), acceptance(entity, plan.key or "", domain)
    demand, whole = Demand(plan, domain, entity), entity if domain.open else replace(entity, open=True)

    def invented(turn: Turn, invent: Invent) -> Transition:
        key = fetch(turn.call.arguments)
        if key is ABSENT:
            return _pinned(answer, turn, invent, demand.missing(turn, invent) or ())
        if not isinstance(key, str | int) or not accepts(turn.view, key) or demand.is_to_come(turn, key):
            return answer(turn, invent)
        put = generated_put(turn, whole, key, invent, _given_fields(entity, turn.call.arguments))
        return _pinned(answer, turn, invent, demand.population(turn, invent, put))

    return invented


def _with_updated_record(answer: Answer, plan: Plan, entity: Entity, domain: Domain) -> Answer:
    """Return an answer that changes the record of an unknown key, as if it had been there: `set_quota(user, size)`."""
    fetch, accepts = argument(plan.key or ""), acceptance(entity, plan.key or "", domain)
    equal = {rule.field: argument(path) for path, rule in plan.filters.items() if rule.op == "equals"}

    def invented(turn: Turn, invent: Invent) -> Transition:
        key = fetch(turn.call.arguments)
        if not isinstance(key, str | int) or not accepts(turn.view, key):
            return answer(turn, invent)
        addressed: dict[str, Json] = {field: fetch(turn.call.arguments) for field, fetch in equal.items()}
        known = {field: value for field, value in addressed.items() if value is not ABSENT}
        put = generated_put(turn, entity, key, invent, known)
        transition = answer(turn.after([put]), invent)
        mine = [replace(change, expected=0) if change.key == key else change for change in transition.changes]
        if transition.observation.ok and all(change.key != key for change in mine):  # the call sets nothing
            return replace(transition, absorbed=(put, *transition.absorbed)).marked(_generated([put]))
        return replace(transition, changes=tuple(mine)).marked(_generated([put]))

    return invented


def _with_linked_records(answer: Answer, plan: Plan, entity: Entity, domain: Domain) -> Answer:
    """Return an answer that generates the records that a written record refers to.

    What a link names that was only guessed is accepted, and exists afterwards: no record may refer to nothing.
    """
    links = [
        (argument(link.path), link.target, accepts, containers_of(domain).get(link.target.name, frozenset()))
        for link in links_of(plan, entity, domain)
        if (accepts := _link_acceptance(link, domain)) is not None
    ]

    def invented(turn: Turn, invent: Invent) -> Transition:
        absorbed = list[Change]()
        for fetch, target, accepts, containers in links:
            value: Json = fetch(turn.call.arguments)
            for key in dict.fromkeys(key for key in as_list(value) or [value] if isinstance(key, str | int)):
                if accepts(turn.view, key):
                    known = {name: held for name, held in turn.call.arguments.items() if name in containers}
                    absorbed.append(generated_put(turn, replace(target, open=True), key, invent, known))
        return _pinned(answer, turn, invent, new_once(absorbed)) if absorbed else answer(turn, invent)

    return invented if links else answer


def _link_acceptance(link: Link, domain: Domain) -> Accept | None:
    """Return which keys of a link's records may be generated; None if the records are known."""
    if link.is_guessed and link.target.name not in domain.given:
        return partial(may_exist, entity=replace(link.target, open=True))
    is_free = link.target.open or link.target.name in domain.unspecified
    return acceptance(link.target, link.path, domain) if is_free else None


def _given_fields(entity: Entity, arguments: Record) -> Record:
    """Return the fields that arguments of the same name give, such as the date of a flight beside its number."""
    fields = {name: entity.fields[name] for name in arguments if name in entity.fields and name != entity.key}
    plain = {name for name, field in fields.items() if field.link is None}
    return {name: arguments[name] for name in plain if validity_test(fields[name].schema)(arguments[name])}


def _pinned(answer: Answer, turn: Turn, invent: Invent, absorbed: Sequence[Change]) -> Transition:
    transition = answer(turn.after(absorbed), invent)
    if not transition.observation.ok:
        return answer(turn, invent)
    return replace(transition, absorbed=(*absorbed, *transition.absorbed)).marked(_generated(absorbed))


def _generated(records: Sequence[Change]) -> str:
    names = dict.fromkeys(change.entity for change in records)
    return f"records of {', '.join(names)} are generated, since the call asks for them"
