"""Which tools are about whoever calls, whom the given state names: `whoami`, `get_my_loans`, `join_club(club_id)`?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_sim.infer.details import WHO
from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.looks import Look
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, items, main_type, properties, required
from mcp_sim.types.lexicon.words import last_word, snake, vocabulary, words
from mcp_sim.types.plans import CALLER, Envelope, Filter, Plan

_NAMED = ("current_user", "current_user_id", "logged_in_user", "current_username", "active_user", "logged_in_as")
_ABOUT_ONESELF = vocabulary("whoami me myself profile")
_OWN = re.compile(
    r"\b(?:my|your|(?:current|logged[- ]in|active) (?:user|customer|student|member|account))\b", re.IGNORECASE
)
_JOINS = vocabulary("join enroll enrol subscribe attend follow")
_LEAVES = vocabulary("leave quit drop unenroll unsubscribe unfollow withdraw")
_SWITCHES = vocabulary("switch change set")
_MANY = frozenset({"list", "search"})


@dataclass(frozen=True, slots=True)
class Caller:
    """Where the state says who calls, and the table of those who may."""

    place: str
    users: Entity


def caller_told(entities: Mapping[str, Entity], held: Mapping[str, Sequence[Record]]) -> Caller | None:
    """Who calls, where a field of an only record holds the key of somebody in a table."""
    for one in entities.values():
        state = held[one.name][0] if one.singleton and held.get(one.name) else Record()
        for name in [field for field in state if snake(field) in _NAMED]:
            users = next((table for table in entities.values() if _holds(table, held, state[name])), None)
            if users is not None:
                return Caller(f"{one.name}.{name}", users)
    return None


def _holds(table: Entity, held: Mapping[str, Sequence[Record]], key: Json) -> bool:
    return not table.singleton and any(row.get(table.key) == key for row in held.get(table.name, ()))


def about_callers(draft: Draft) -> dict[str, Plan]:
    """The plans of such tools."""
    caller = caller_told(draft.entities, draft.held)
    if caller is None:
        return {}
    found: dict[str, Plan] = {}
    for look, known in draft.of_all():
        plan = next(_plans(look, known, caller, draft), None) if known.choice is None else None
        found |= {look.tool.id: plan} if plan is not None else {}
    return found


def _plans(look: Look, plan: Plan, caller: Caller, draft: Draft) -> Iterator[Plan]:
    name, own = {*words(look.tool.name)}, _is_own(look)
    is_alone = look.reading.verb in {"get", "unknown"} and not required(look.input)
    spoken = "_".join(look.reading.noun) in {caller.users.name, snake(caller.place.rpartition(".")[2])}
    if is_alone and (
        (name & _ABOUT_ONESELF and not name & {"id"}) or "whoami" in snake(look.tool.name) or (own and spoken)
    ):
        yield _of_caller(look, caller)
    if own and plan.backend == "records" and plan.verb in _MANY:
        yield from _listed(plan, caller, draft.entities[plan.entity or ""], draft.held)
    if name & (_JOINS | _LEAVES):
        yield from _joined(look, caller, draft, leaves=bool(name & _LEAVES))
    if look.reading.word in _SWITCHES and last_word(caller.users.name) in name:
        yield from _switched(look, caller)


def _is_own(look: Look) -> bool:
    return "my" in words(look.tool.name) or _OWN.search(look.tool.description) is not None


def _of_caller(look: Look, caller: Caller) -> Plan:
    envelope = look.envelope if look.envelope.record is not None else Envelope(record="")
    why = f"{caller.place} tells who calls"
    return Plan(
        look.tool.id, "get", caller.users.name, key=CALLER, caller=caller.place, envelope=envelope, confidence=0.8,
        reasons=(why,),
    )  # fmt: skip


def _listed(plan: Plan, caller: Caller, entity: Entity, held: Mapping[str, Sequence[Record]]) -> Iterator[Plan]:
    """Records that the caller has, or that list the caller."""
    asked = {rule.field for rule in plan.filters.values()}
    for field in sorted(entity.fields.values(), key=lambda one: _distance(one, caller)):
        if field.name not in asked and _tells_of(field, entity, caller, held):
            how = "contains" if main_type(field.schema) == "array" else "equals"
            yield replace(plan, filters={**plan.filters, CALLER: Filter(field.name, how)}, caller=caller.place)


def _distance(field: Field, caller: Caller) -> int:
    """Whose something is, before who is listed in it, before others who have to do with it."""
    if snake(field.name) in {*WHO, caller.users.name, f"{caller.users.name}_id"}:
        return 0
    return 1 if main_type(field.schema) == "array" else 2


def _tells_of(field: Field, entity: Entity, caller: Caller, held: Mapping[str, Sequence[Record]]) -> bool:
    """Does a field hold nothing but keys of those who may call, and of some?"""
    if field.name == entity.key or field.hidden:
        return False
    keys = {row.get(caller.users.key) for row in held.get(caller.users.name, ())}
    values = [one for row in held.get(entity.name, ()) for one in _each(row.get(field.name))]
    plain = all(isinstance(one, str | int) and one in keys for one in values)
    return plain and (bool(values) or field.link == caller.users.name or snake(field.name) in WHO)


def _each(value: Json) -> list[Json]:
    return as_list(value) if isinstance(value, list) else [] if value is None else [value]


def _joined(look: Look, caller: Caller, draft: Draft, *, leaves: bool) -> Iterator[Plan]:
    """What the caller is put into, or taken out of: the list of a record that the call names."""
    for entity in draft.entities.values():
        key, score = key_argument("update", entity.name, entity.key, look.input)
        if entity.singleton or entity.inside or score < 2 or key is None or not required(look.input) <= {key}:
            continue
        for field in entity.fields.values():
            is_list = main_type(field.schema) == "array" and main_type(items(field.schema)) != "object"
            if is_list and _tells_of(field, entity, caller, draft.held):
                yield Plan(
                    look.tool.id, "update", entity.name, key=key, sets={CALLER: field.name},
                    how={field.name: "remove" if leaves else "join"}, caller=caller.place,
                    envelope=look.envelope if look.envelope.record is not None else Envelope(record=""),
                    confidence=0.75, reasons=(f"{field.name} lists those who may call",),
                )  # fmt: skip


def _switched(look: Look, caller: Caller) -> Iterator[Plan]:
    """Who calls from now on."""
    asked = [name for name, part in properties(look.input).items() if main_type(part) in {"string", "integer"}]
    only, _, field = caller.place.rpartition(".")
    if len(asked) == 1 == len(required(look.input)):
        yield Plan(
            look.tool.id, "update", only, sets={asked[0]: field}, envelope=Envelope(record=""), confidence=0.75,
            reasons=(f"sets {field} of {only}",),
        )  # fmt: skip


def with_callers(entities: Mapping[str, Entity], held: Mapping[str, Sequence[Record]]) -> dict[str, Entity]:
    """The entities; who calls is somebody of whom a table tells."""
    caller = caller_told(entities, held)
    if caller is None:
        return dict(entities)
    only, _, name = caller.place.rpartition(".")
    field = replace(entities[only].fields[name], link=caller.users.name)
    return {**entities, only: replace(entities[only], fields={**entities[only].fields, name: field})}
