"""Records that no argument names: those of the caller, the latest, the next or a random one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from mcp_sim.infer.arguments import Roles
from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.envelopes import find_envelope
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.given_state import Given
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.server_names import last_segment
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, items, main_type, properties, required
from mcp_sim.types.lexicon.english import last_word, snake, vocabulary, words
from mcp_sim.types.plans import CALLER, Envelope, Filter, Plan

_CALLER_FIELDS = (
    "current_user",
    "current_user_id",
    "logged_in_user",
    "current_username",
    "active_user",
    "logged_in_as",
)
_ABOUT_ONESELF = vocabulary("whoami me myself profile")
_OWN = re.compile(
    r"\b(?:my|your|(?:current|logged[- ]in|active) (?:user|customer|student|member|account))\b", re.IGNORECASE
)
_JOINS = vocabulary("join enroll enrol subscribe attend follow")
_LEAVES = vocabulary("leave quit drop unenroll unsubscribe unfollow withdraw")
_SWITCHES = vocabulary("switch change set")
_MANY = frozenset({"list", "search"})
_IMPLIED = {
    "latest": "newest", "newest": "newest", "last": "newest", "recent": "newest", "oldest": "oldest",
    "earliest": "oldest", "first": "oldest", "next": "next", "random": "random",
}  # fmt: skip
_SAMPLE_SIZE = 200
ACTOR_FIELDS = vocabulary(
    "username user_name user author owner creator created_by sender reporter requester user_id login by"
)


@dataclass(frozen=True, slots=True)
class Caller:
    """The place in the state that names the caller, and the table of possible callers."""

    place: str
    users: Entity


def find_caller(entities: Mapping[str, Entity], held: Mapping[str, Sequence[Record]]) -> Caller | None:
    """Find a field of a singleton that holds the key of a record in a table."""
    for one in entities.values():
        state = held[one.name][0] if one.singleton and held.get(one.name) else Record()
        for name in [field for field in state if snake(field) in _CALLER_FIELDS]:
            users = next((table for table in entities.values() if _has_record(table, held, state[name])), None)
            if users is not None:
                return Caller(f"{one.name}.{name}", users)
    return None


def _has_record(table: Entity, held: Mapping[str, Sequence[Record]], key: Json) -> bool:
    return not table.singleton and any(row.get(table.key) == key for row in held.get(table.name, ()))


def plan_callers(draft: Draft) -> dict[str, Plan]:
    """Return new plans for tools about the caller: `whoami`, `get_my_loans`, `join_club(club_id)`."""
    caller = find_caller(draft.entities, draft.held)
    if caller is None:
        return {}
    found: dict[str, Plan] = {}
    for features, known in draft.items():
        plan = next(_plans_for_caller(features, known, caller, draft), None) if known.choice is None else None
        found |= {features.tool.id: plan} if plan is not None else {}
    return found


def _plans_for_caller(features: ToolFeatures, plan: Plan, caller: Caller, draft: Draft) -> Iterator[Plan]:
    name, own = {*words(features.tool.name)}, _is_own(features)
    is_alone = features.parsed.verb in {"get", "unknown"} and not required(features.input)
    names_caller = "_".join(features.parsed.noun) in {caller.users.name, snake(caller.place.rpartition(".")[2])}
    if is_alone and (
        (name & _ABOUT_ONESELF and not name & {"id"}) or "whoami" in snake(features.tool.name) or (own and names_caller)
    ):
        yield _show_caller(features, caller)
    if own and plan.backend == "records" and plan.verb in _MANY:
        yield from _filter_by_caller(plan, caller, draft.entities[plan.entity or ""], draft.held)
    if name & (_JOINS | _LEAVES):
        yield from _join_list(features, caller, draft, leaves=bool(name & _LEAVES))
    if features.parsed.word in _SWITCHES and last_word(caller.users.name) in name:
        yield from _switch_caller(features, caller)


def _is_own(features: ToolFeatures) -> bool:
    return "my" in words(features.tool.name) or _OWN.search(features.tool.description) is not None


def _show_caller(features: ToolFeatures, caller: Caller) -> Plan:
    envelope = features.envelope if features.envelope.record is not None else Envelope(record="")
    why = f"{caller.place} names the caller"
    return Plan(
        features.tool.id, "get", caller.users.name, key=CALLER, caller=caller.place, envelope=envelope, confidence=0.8,
        reasons=(why,),
    )  # fmt: skip


def _filter_by_caller(
    plan: Plan, caller: Caller, entity: Entity, held: Mapping[str, Sequence[Record]]
) -> Iterator[Plan]:
    """Yield plans for records that the caller owns, or that list the caller."""
    asked = {rule.field for rule in plan.filters.values()}
    for field in sorted(entity.fields.values(), key=lambda one: _distance(one, caller)):
        if field.name not in asked and _holds_callers(field, entity, caller, held):
            how = "contains" if main_type(field.schema) == "array" else "equals"
            yield replace(plan, filters={**plan.filters, CALLER: Filter(field.name, how)}, caller=caller.place)


def _distance(field: Field, caller: Caller) -> int:
    """Rank the fields: owners first, then lists, then other links."""
    if snake(field.name) in {*ACTOR_FIELDS, caller.users.name, f"{caller.users.name}_id"}:
        return 0
    return 1 if main_type(field.schema) == "array" else 2


def _holds_callers(field: Field, entity: Entity, caller: Caller, held: Mapping[str, Sequence[Record]]) -> bool:
    """Whether a field holds only keys of possible callers."""
    if field.name == entity.key or field.hidden:
        return False
    keys = {row.get(caller.users.key) for row in held.get(caller.users.name, ())}
    values = [one for row in held.get(entity.name, ()) for one in _as_values(row.get(field.name))]
    plain = all(isinstance(one, str | int) and one in keys for one in values)
    return plain and (bool(values) or field.link == caller.users.name or snake(field.name) in ACTOR_FIELDS)


def _as_values(value: Json) -> list[Json]:
    return as_list(value) if isinstance(value, list) else [] if value is None else [value]


def _join_list(features: ToolFeatures, caller: Caller, draft: Draft, *, leaves: bool) -> Iterator[Plan]:
    """Yield plans that add the caller to a list of the named record, or remove it."""
    for entity in draft.entities.values():
        key, score = key_argument("update", entity.name, entity.key, features.input)
        if entity.singleton or entity.inside or score < 2 or key is None or not required(features.input) <= {key}:
            continue
        for field in entity.fields.values():
            is_list = main_type(field.schema) == "array" and main_type(items(field.schema)) != "object"
            if is_list and _holds_callers(field, entity, caller, draft.held):
                yield Plan(
                    features.tool.id, "update", entity.name, key=key, sets={CALLER: field.name},
                    how={field.name: "remove" if leaves else "join"}, caller=caller.place,
                    envelope=features.envelope if features.envelope.record is not None else Envelope(record=""),
                    confidence=0.75, reasons=(f"{field.name} lists possible callers",),
                )  # fmt: skip


def _switch_caller(features: ToolFeatures, caller: Caller) -> Iterator[Plan]:
    """Yield plans that change the caller."""
    asked = [name for name, part in properties(features.input).items() if main_type(part) in {"string", "integer"}]
    only, _, field = caller.place.rpartition(".")
    if len(asked) == 1 == len(required(features.input)):
        yield Plan(
            features.tool.id, "update", only, sets={asked[0]: field}, envelope=Envelope(record=""), confidence=0.75,
            reasons=(f"sets {field} of {only}",),
        )  # fmt: skip


def link_caller(entities: Mapping[str, Entity], held: Mapping[str, Sequence[Record]]) -> dict[str, Entity]:
    """Link the field that names the caller to the table of callers."""
    caller = find_caller(entities, held)
    if caller is None:
        return dict(entities)
    only, _, name = caller.place.rpartition(".")
    field = replace(entities[only].fields[name], link=caller.users.name)
    return {**entities, only: replace(entities[only], fields={**entities[only].fields, name: field})}


def plan_implied_records(draft: Draft) -> dict[str, Plan]:
    """Return new plans for `get_latest_order`, `get_next_task`, `get_random_quote`."""
    known = {features.entity for features in draft.feature_list if features.verb in {"create", "list", "search"}}
    found: dict[str, Plan] = {}
    for features, plan in draft.items():
        entity, position = draft.entities.get(features.entity), _implied_record(features)
        if position is None or entity is None or entity.singleton or entity.inside:
            continue
        if (
            entity.name in known
            and features.verb == "get"
            and plan.key is None
            and required(features.input) <= {*plan.filters}
        ):
            found[features.tool.id] = _plan_implied(plan, features, entity, position)
    return found


def _implied_record(features: ToolFeatures) -> str | None:
    """Return the position that the name has before its noun."""
    name, noun = words(last_segment(features.tool.name)), features.parsed.noun
    at = name.index(noun[0]) if noun and noun[0] in name else 0
    return _IMPLIED.get(name[at - 1]) if at > 1 else None


def _plan_implied(plan: Plan, features: ToolFeatures, entity: Entity, position: str) -> Plan:
    if plan.verb == "get":
        return replace(plan, operation=position)
    return Plan(
        plan.tool,
        "get",
        entity.name,
        operation=position,
        envelope=find_envelope("get", entity.name, features.output, text=features.envelope.text),
        confidence=0.7,
        reasons=(f"shows the {position} {entity.name.replace('_', ' ')}",),
    )


def fields_from_state(roles: Roles, entity: Entity, given: Given, declared: Mapping[str, Entity]) -> dict[str, str]:
    """Return the fields that name the actor of a create, with the place in the state that names the caller.

    The place has a usual name, or its value occurs in given records.
    """
    written = {*roles.sets.values(), entity.key}
    named = [name for name in entity.fields if snake(name) in ACTOR_FIELDS and name not in written]
    singles = [one for one in declared.values() if one.singleton] if named else []
    scope = {*words(given.scopes.get(entity.name, ""))}
    near = [one for one in singles if {*words(given.scopes.get(one.name, one.name))} & scope]
    who = {snake(name): f"{one.name}.{name}" for one in near or singles for name in one.fields}
    usual = ("current_user", "username", "user", "user_id", "current_user_id", "me")
    found = next((who[name] for name in usual if name in who), None)
    places = {name: who.get(snake(name), found) for name in named}
    matching = {
        name: _matching_singleton(name, given.records.get(entity.name, ()), near or singles, given) for name in named
    }
    places |= {name: place for name, place in matching.items() if place is not None}
    return {name: place for name, place in places.items() if place is not None}


def _matching_singleton(field: str, rows: Sequence[Record], singles: Sequence[Entity], given: Given) -> str | None:
    """Find the place in a singleton whose value some records have: the address of the owner."""
    held = {value for row in islice(rows, _SAMPLE_SIZE) if isinstance(value := row.get(field), str) and len(value) > 2}
    for one in singles:
        for record in given.records.get(one.name, ()):
            found = next((name for name, value in record.items() if isinstance(value, str) and value in held), None)
            if found is not None:
                return f"{one.name}.{found}"
    return None
