"""What is the plan of a tool whose entity and arguments are known, and could it answer?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.arguments import Roles
from mcp_sim.infer.confidence import Evidence, judged
from mcp_sim.infer.deeds import LOOKING, touching_nothing
from mcp_sim.infer.details import from_state, renamed, searched
from mcp_sim.infer.envelopes import batch_envelope
from mcp_sim.infer.flags import flag_toggled
from mcp_sim.infer.given import Given
from mcp_sim.infer.keys import noun_of_key
from mcp_sim.infer.kindred import in_state
from mcp_sim.infer.looks import Look
from mcp_sim.infer.pages import bounded
from mcp_sim.infer.preconditions import led_to, made_to_be, required_state, swapped
from mcp_sim.infer.said import SAID, judged_as_said, settled, tells_deed
from mcp_sim.infer.single_deeds import Single
from mcp_sim.infer.whole_texts import whole_text
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import constants, main_type, properties
from mcp_sim.types.lexicon.words import plural, singular_phrase, snake
from mcp_sim.types.plans import RECORDLESS, Envelope, How, Plan

_ONE = frozenset({"get", "update", "delete"})
_MANY = frozenset({"list", "search"})
_LEAST = 0.35
"""A verb that only the description tells must be at least so sure."""

_WRITES = frozenset({"create", "update", "delete"})


def sharing_of(looks: Sequence[Look]) -> dict[str, int]:
    """How many kinds of tools speak of each entity, being referred to by others included: two make it likely."""
    verbs: dict[str, set[str]] = defaultdict(set)
    referred = {(snake(name), look.entity) for look in looks for name in properties(look.input)}
    for look in looks:
        if look.verb not in RECORDLESS:
            verbs[look.entity].add(look.verb)
    for entity, found in verbs.items():
        if any(name == f"{entity}_id" and other != entity for name, other in referred):
            found.add("referred to")
    return {entity: len(found) for entity, found in verbs.items()}


def plan_of(
    look: Look,
    roles: Roles,
    entities: Mapping[str, Entity],
    sharing: Mapping[str, int],
    declared: Mapping[str, Entity],
    given: Given,
) -> Plan:
    """The plan of a tool, as far as it is told by its look and its roles; what a spec says of it is as said there."""
    said = look.said
    if look.verb in RECORDLESS:
        return _recordless(look, entities)
    entity = entities[look.entity]
    if look.single is not None:
        only = _plan_of_one(look, look.single, entity)
        confidence, reasons = judged_as_said(only.confidence, only.reasons, said)
        return replace(only, **{**said, "confidence": confidence, "reasons": reasons})
    about = str(look.tool.definition.get("description", ""))
    rows = given.records.get(look.entity, ())
    moves = look.verb == "update" and look.element is None
    fixed = led_to(look.reading, entity, about, rows) if moves else {}
    fixed = in_state(look, entity, rows) if look.verb in _MANY else fixed
    fixed = made_to_be(look, entity, rows) if look.verb == "create" else fixed
    turned = flag_toggled(look.reading.word, entity, properties(look.shape), roles.sets.values()) if moves else None
    fixed = fixed if turned is None else {turned: True}
    text = whole_text(look, entity)
    plan = Plan(
        look.tool.id,
        look.verb,
        look.entity,
        key=roles.key,
        sets=roles.sets,
        how=_ways(look, roles, entity) if turned is None else {turned: "toggle"},
        fixed=fixed,
        requires=required_state(look.reading, entity, about, fixed, rows) if look.verb in {"update", "delete"} else {},
        holder=roles.holder,
        counter=given.counter(look.entity) if look.verb == "create" else None,
        from_state=from_state(roles, entity, given, declared) if look.verb == "create" else {},
        shows=text or renamed(look, entity),
        only=_changed_alone(look, entity),
        swap=swapped(properties(look.input), entity, entities) if _exchanges(look, roles) else None,
        filters=roles.filters,
        query=roles.query,
        searched=searched(look, roles, entity),
        sort=roles.sort,
        order=roles.order,
        paging=bounded(roles.paging, about, look.entity) if look.verb in _MANY else roles.paging,
        envelope=Envelope() if text else look.envelope,
    )
    if not tells_deed(said) and _is_outside(look, declared, given, sharing):
        return _outside(look)
    plan = replace(look.unfolded.refolded(plan), **settled(plan, said))
    if plan.each is not None and plan.verb in _WRITES and "envelope" not in said:
        batch = batch_envelope(plan.verb, look.entity, look.output)
        plan = replace(plan, envelope=replace(batch, text=look.envelope.text))
    evidence = Evidence(look.reading, plan, entity, look.input, look.output, look.tool.annotations, roles.unexplained)
    judgement = judged(evidence, sharing[look.entity], look.entity in declared)
    confidence, reasons = judged_as_said(*judgement, said)
    judged_plan = replace(plan, confidence=confidence, reasons=reasons)
    only_one = look.reading.one_of_a_kind and (sharing[look.entity] > 1 or "entity" in said)
    found = _workable(judged_plan, entity, only=only_one)
    is_poor = look.reading.told and found.confidence < _LEAST
    is_looked_at = look.reading.word in LOOKING and plan.key is None and plan.verb == "get"
    return _recordless(look, entities) if not tells_deed(said) and (is_poor or is_looked_at) else found


def _changed_alone(look: Look, entity: Entity) -> tuple[str, ...]:
    """What is told of a record in whose list something is put, where the list is not shown with the record."""
    field = entity.fields.get(look.element.field) if look.element is not None else None
    is_apart = field is not None and field.hidden and not properties(look.output)
    return (entity.key, field.name) if field is not None and is_apart else ()


def _ways(look: Look, roles: Roles, entity: Entity) -> dict[str, How]:
    """How values get into fields: into a list or out of it, or behind the text that is there."""
    if look.element is not None:
        return {look.element.field: look.element.how}
    texts = {name for name in roles.sets.values() if name in entity.fields and _is_text(entity.fields[name])}
    return dict.fromkeys(sorted(texts), "append") if look.verb == "update" and look.reading.word == "append" else {}


def _is_text(field: Field) -> bool:
    return main_type(field.schema) in {"string", "array"} and field.link is None and not constants(field.schema)


def _exchanges(look: Look, roles: Roles) -> bool:
    """Does an update take lists that no field of the record is for?"""
    lists = [name for name in roles.unexplained if main_type(properties(look.input).get(name, {})) == "array"]
    return look.verb == "update" and len(lists) >= 2


def _is_outside(look: Look, declared: Mapping[str, Entity], given: Given, sharing: Mapping[str, int]) -> bool:
    """Does a tool look at what neither the given state nor any other tool speaks of?"""
    looks = look.verb == "get" or (look.verb in _MANY and look.envelope.rows is None)
    return bool(given.entities) and looks and look.entity not in declared and sharing[look.entity] < 2


def _outside(look: Look) -> Plan:
    """A tool that tells what the given state does not hold: the same answer for the same question."""
    why = f"the state tells of no {look.entity.replace('_', ' ')}"
    return Plan(look.tool.id, "unknown", backend="schema_only", confidence=0.1, reasons=(why,))


def _is_bare(entity: Entity) -> bool:
    """Is nothing known of what there is one of?"""
    return entity.fields.keys() <= {"name", entity.key}


def _plan_of_one(look: Look, single: Single, entity: Entity) -> Plan:
    """The plan of a tool that works on what there is one of."""
    known = 0.8 if look.output.get("properties") or single.sets else 0.6 if _is_bare(entity) else 0.65
    plan = Plan(
        look.tool.id,
        single.verb,
        single.entity,
        sets=single.sets,
        how=single.how,
        fixed=single.fixed,
        shows=single.shows,
        only=single.only,
        envelope=replace(look.envelope, rows=None, total=None, cursor=None, more=None, key=None),
        confidence=known,
        reasons=(single.reason,),
    )
    choices = {value: replace(plan, fixed=fixed) for value, fixed in single.chosen.items()}
    return replace(plan, choice=single.choice, choices=choices)


def _recordless(look: Look, entities: Mapping[str, Entity]) -> Plan:
    """The plan of a tool that touches no records, or of which nobody knows which."""
    plan = Plan(look.tool.id, "unknown", backend="schema_only", confidence=0.1, reasons=("no entity named",))
    if tells_deed(look.said):
        return replace(plan, **{"verb": "none", "confidence": 1.0, "reasons": (SAID,), **look.said})
    plan = replace(plan, **look.said)
    reading = look.reading
    is_looked_at = reading.word in LOOKING and reading.verb == "get"
    if reading.verb != "unknown" and not reading.told and not is_looked_at and (reading.sure or look.entity):
        return plan
    spoken = _speaks_of(look, entities)
    confidence, reasons = touching_nothing(reading.word, reading.deed, look.tool, is_spoken_of=spoken)
    return replace(plan, verb="none", confidence=confidence, reasons=reasons)


def _speaks_of(look: Look, entities: Mapping[str, Entity]) -> bool:
    """Does a tool speak of what others work on, in its name or by an id that it takes?"""
    noun = look.reading.noun
    spoken = {singular_phrase(noun[start:end]) for start in range(len(noun)) for end in range(start + 1, len(noun) + 1)}
    return not entities.keys().isdisjoint(spoken | {noun_of_key(name) for name in properties(look.input)})


def _reaches(plan: Plan) -> bool:
    """Does a plan for parts of records tell in which record, or which part?"""
    return plan.key is not None if plan.verb in _ONE else plan.holder is not None or plan.verb in _MANY


def _workable(plan: Plan, entity: Entity, *, only: bool) -> Plan:
    """A plan that could not answer is no plan: one record that nothing names, a change that changes nothing.

    `only`: it is about the current record, or the next one.
    """
    is_meant = plan.verb == "get" and (only or plan.operation)
    is_named = plan.key is not None or entity.singleton or plan.filters or is_meant
    nameless = plan.verb in _ONE and not is_named
    idle = plan.verb == "update" and not plan.sets and not plan.fixed and not plan.swap
    if entity.inside is not None and plan.backend == "records" and not _reaches(plan):
        why = f"the {plural(entity.name)} stand inside others, and no argument names either"
        return Plan(plan.tool, "unknown", backend="schema_only", confidence=0.1, reasons=(why, *plan.reasons))
    if plan.backend != "records" or not (nameless or idle):
        return plan
    if idle and not nameless and entity.key_like is not None and plan.confidence >= 0.6:
        return replace(plan, confidence=0.6, reasons=("nothing that it could change", *plan.reasons))
    why = f"no argument names a {entity.name}" if nameless else "nothing that it could change"
    return Plan(plan.tool, "unknown", backend="schema_only", confidence=0.1, reasons=(why, *plan.reasons))
