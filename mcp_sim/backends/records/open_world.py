"""Generate records of open entities and open worlds when a call asks for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_sim.backends.records.accepted_keys import Accept, acceptance
from mcp_sim.backends.records.arguments import Fetch, argument
from mcp_sim.backends.records.demanded_records import Demand
from mcp_sim.generate.missing_records import generate_record
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.types import Change, Record, Transition, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.plans import Plan


def open_answer(answer: Answer, plan: Plan, domain: Domain) -> Answer:
    """Return the answer of a tool in an open world: records that a call asks for and that are missing are generated."""
    entity = domain.entities.get(plan.entity or "")
    if entity is None or plan.backend != "records" or not (domain.open or entity.open):
        return answer
    if entity.open:
        answer = _marked_guessed(answer)
    if plan.verb == "get" and plan.key is not None:
        return _with_named_record(answer, argument(plan.key), entity, acceptance(entity, plan.key, domain))
    is_read = plan.verb in {"get", "list", "search"} and plan.each is None
    return _with_matching_records(answer, Demand(plan, domain, entity)) if entity.open and is_read else answer


def _marked_guessed(answer: Answer) -> Answer:
    """Return an answer that marks its transitions as guessed."""
    return lambda turn, invent: replace(answer(turn, invent), guessed=True)


def _with_named_record(answer: Answer, fetch: Fetch, entity: Entity, accepts: Accept) -> Answer:
    """Return an answer that generates the record of an unknown key."""

    def invented(turn: Turn, invent: Invent) -> Transition:
        key = fetch(turn.call.arguments)
        if not isinstance(key, str | int) or not accepts(turn.view, key):
            return answer(turn, invent)
        record = generate_record(turn, entity, key, invent, _given_fields(entity, turn.call.arguments))
        return _pinned(answer, turn, invent, [Change("put", entity.name, key, record, expected=0)])

    return invented


def _given_fields(entity: Entity, arguments: Record) -> Record:
    """Return the fields that arguments of the same name give, such as the date of a flight beside its number."""
    fields = {name: entity.fields[name] for name in arguments if name in entity.fields and name != entity.key}
    plain = {name for name, field in fields.items() if field.link is None and field.derived is None}
    return {name: arguments[name] for name in plain if validity_test(fields[name].schema)(arguments[name])}


def _with_matching_records(answer: Answer, demand: Demand) -> Answer:
    """Return an answer that generates records that match the call, if there are none."""

    def invented(turn: Turn, invent: Invent) -> Transition:
        absorbed = demand.missing(turn, invent)
        return _pinned(answer, turn, invent, absorbed) if absorbed else answer(turn, invent)

    return invented


def _pinned(answer: Answer, turn: Turn, invent: Invent, absorbed: Sequence[Change]) -> Transition:
    transition = answer(turn.after(absorbed), invent)
    if not transition.observation.ok:
        return answer(turn, invent)
    return replace(transition, absorbed=(*absorbed, *transition.absorbed))
