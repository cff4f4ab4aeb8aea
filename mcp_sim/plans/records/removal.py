"""Delete records and keep references consistent: clear them, delete what cannot be without, or forbid the deletion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from mcp_sim.plans.records.effects import Effect, Write, clears, effect_without_record
from mcp_sim.plans.records.field_changes import state_check
from mcp_sim.plans.records.filters import matching_rows
from mcp_sim.plans.records.record_lookup import finder
from mcp_sim.plans.refusal import conflict
from mcp_sim.types import Change, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.domain import Domain, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, is_nullable, main_type
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import plural
from mcp_sim.types.plans import Plan

Dependants: TypeAlias = "Mapping[str, Sequence[Referrer]]"
"""The fields that link to the records of entities, by entity."""

_CHANGING = frozenset({"update", "delete"})


def removal(tool: Tool, plan: Plan, domain: Domain) -> Write:
    """Compile a tool that deletes a record."""
    entity = domain.entities[plan.entity or ""]
    find, check_state, name = finder(tool, plan, entity), state_check(tool, plan), entity.name
    others = dependants(domain, name)
    missing = effect_without_record(plan, domain)
    matching = matching_rows(tool, plan, entity) if clears(tool, plan, entity) else None

    def remove_first(turn: Turn) -> Effect | Observation:
        key = find(turn)
        if isinstance(key, Observation):
            return missing(turn, key)
        record = turn.view.get(name, key) or {}
        refused = check_state(key, record)
        if refused is not None:
            return refused
        removed = Change("remove", name, key, expected=turn.view.version(name, key))
        changes = let_go(turn.view, others, removed)
        if isinstance(changes, str):
            return conflict(tool, name, key, f"cannot be deleted: {changes}")
        return Effect(key, record, changes)

    def remove(turn: Turn, _invent: Invent) -> Effect | Observation:
        effect = remove_first(turn)
        while matching is not None and isinstance(effect, Effect):
            after = turn.after(effect.changes)
            if not matching(after.view, turn.call.arguments):
                break
            following = remove_first(after)
            if isinstance(following, Observation):
                return following
            effect = replace(effect, changes=(*effect.changes, *following.changes))
        return effect

    return remove


@frozen
class Referrer:
    """A field of an entity that links to another entity, or to its own."""

    entity: str
    field: Field
    goes_along: bool = False
    """Whether records that cannot exist without the link are deleted with the one that they link to."""
    forbids: bool = True
    """Whether records that do not go along forbid the deletion. Otherwise they keep the link."""

    @property
    def holds(self) -> bool:
        """Whether the record cannot exist without the link."""
        return self.field.required and not is_nullable(self.field.schema) and not self.is_list

    @property
    def is_list(self) -> bool:
        return main_type(self.field.schema) == "array"

    def rows(self, view: View, key: Key) -> Sequence[tuple[Key, Record]]:
        """Return the records that link to the one with this key."""
        if self.is_list:
            name = self.field.name
            return [row for row in view.rows(self.entity) if key in as_list(row[1].get(name))]
        return view.find(self.entity, self.field.name, key)

    def without(self, record: Record, key: Key) -> Record:
        """Return the record without the link."""
        name = self.field.name
        if self.is_list:
            return {**record, name: [item for item in record[name] if item != key]}
        if is_nullable(self.field.schema):
            return {**record, name: None}
        return {field: value for field, value in record.items() if field != name}

    def following(self, record: Record, key: Key, new_key: Key) -> Record:
        """Return the record with the link changed to a new key."""
        name = self.field.name
        value = [new_key if item == key else item for item in record[name]] if self.is_list else new_key
        return {**record, name: value}


def referring(domain: Domain, entity: str) -> list[Referrer]:
    """Return all fields that link to an entity's records."""
    return [
        Referrer(other.name, field)
        for other in domain.entities.values()
        for field in other.fields.values()
        if field.link == entity
    ]


def dependants(domain: Domain, entity: str) -> Dependants:
    """Return the links to an entity, and to those whose records go with it.

    These are records that no tool updates or deletes, such as the comments of an issue. Where nothing gives, counts or
    declares the records of an entity, all that cannot be without them go along: what is only generated forbids nothing.
    Nor does a link that is guessed, where a spec declares the entity and a scenario says nothing of its records.
    """
    changed = {plan.entity for whole in domain.plans.values() for plan in whole.variants if plan.verb in _CHANGING}
    referrers, pending = dict[str, Sequence[Referrer]](), [entity]
    while pending:
        name = pending.pop()
        holding = frozenset[str]() if name in domain.unspecified else changed
        referrers[name] = [
            replace(
                referrer,
                goes_along=referrer.entity not in holding,
                forbids=not referrer.field.link_is_guessed or name in domain.given or name not in domain.declared,
            )
            for referrer in referring(domain, name)
        ]
        pending += [link.entity for link in referrers[name] if link.goes_along and link.entity not in referrers]
    return referrers


def let_go(view: View, others: Dependants, removed: Change) -> tuple[Change, ...] | str:
    """Return the changes that remove a record, the links to it and what cannot be without, or why that is forbidden."""
    gone, touched = {(removed.entity, removed.key): removed}, dict[tuple[str, Key], Record]()
    pending = [*gone]
    while pending:
        name, key = pending.pop()
        for referrer in others[name]:
            rows = {
                (referrer.entity, other): row
                for other, row in referrer.rows(view, key)
                if (referrer.entity, other) not in gone
            }
            if not referrer.holds:
                touched |= {place: referrer.without(touched.get(place, row), key) for place, row in rows.items()}
            elif referrer.goes_along:
                gone |= {at: Change("remove", *at, expected=view.version(*at)) for at in rows}
                pending += rows
            elif rows and referrer.forbids:
                noun = (
                    (referrer.entity if len(rows) == 1 else plural(referrer.entity))
                    .rpartition(".")[2]
                    .replace("_", " ")
                )
                return f"{len(rows)} {noun} {'refers' if len(rows) == 1 else 'refer'} to it"
    return (*gone.values(), *_puts(view, {place: row for place, row in touched.items() if place not in gone}))


def renamed(view: View, referrers: Sequence[Referrer], key: Key, new_key: Key) -> tuple[Change, ...]:
    """Return the changes that point all links to a new key."""
    return _rewritten(view, referrers, key, lambda referrer, record: referrer.following(record, key, new_key))


def _rewritten(
    view: View, referrers: Sequence[Referrer], key: Key, rewrite: Callable[[Referrer, Record], Record]
) -> tuple[Change, ...]:
    touched: dict[tuple[str, Key], Record] = {}
    for referrer in referrers:
        for other, record in referrer.rows(view, key):
            touched[referrer.entity, other] = rewrite(referrer, touched.get((referrer.entity, other), record))
    return _puts(view, touched)


def _puts(view: View, records: dict[tuple[str, Key], Record]) -> tuple[Change, ...]:
    return tuple(
        Change("put", entity, key, record, expected=view.version(entity, key))
        for (entity, key), record in records.items()
    )
