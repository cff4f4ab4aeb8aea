"""Delete records and keep references consistent: clear them, delete what cannot be without, or forbid the deletion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from mcp_sim.plans.records.arguments import argument
from mcp_sim.plans.records.effects import Effect, Write, clears, effect_without_record, state_check
from mcp_sim.plans.records.filters import Row, filter_argument, is_given, matching_rows
from mcp_sim.plans.records.record_lookup import finder
from mcp_sim.plans.refusal import conflict, invalid, not_found
from mcp_sim.types import Change, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import is_nullable, main_type
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import plural, singular, words
from mcp_sim.types.plans import Plan

Dependants: TypeAlias = "Mapping[str, Sequence[Referrer]]"
"""The fields that link to the records of entities, by entity."""

Place: TypeAlias = tuple[str, Key]
"""The entity and the key of a record."""

Select: TypeAlias = "Callable[[Turn], Sequence[Row] | Observation]"
"""Returns the records that a call deletes, at least one, or the failure if no record fits."""

_CHANGING = frozenset({"update", "delete"})
_ALONG = re.compile(
    r"\b(?:and|with|including|plus) (?:(?:all|any) (?:of )?(?:its|their|the|associated|related)|its|their)\b"
    r"((?:(?!\b(?:but|except|not|unless|without)\b)[^.;:\n])*)",
    re.IGNORECASE,
)
"""What goes with a deleted record, by the description: `Delete a book and all its reviews, quotes and tags`."""


def removal(tool: Tool, plan: Plan, domain: Domain) -> Write:
    """Compile a tool that deletes a record, or all records of those that it names."""
    entity = domain.entities[plan.entity or ""]
    by_parents = clears(tool, plan, entity)
    select = _selection_by_parents(tool, plan, entity) if by_parents else _selection(tool, plan, entity, domain)
    check_state, name = state_check(tool, plan), entity.name
    others = dependants(domain, name, tool.description)
    missing = effect_without_record(tool, plan, domain)

    def remove(turn: Turn, _invent: Invent) -> Effect | Observation:
        rows = select(turn)
        if isinstance(rows, Observation):
            return missing(turn, rows)
        refused = next(filter(None, (check_state(key, record) for key, record in rows)), None)
        if refused is not None:
            return refused
        removed = _Removal(turn.view, others, [(name, key) for key, _ in rows])
        for key, _ in rows:
            reason = removed.let_go((name, key))
            if reason:
                return conflict(tool, name, key, f"cannot be deleted: {reason}")
        return Effect(*rows[0], removed.changes)

    return remove


def _selection(tool: Tool, plan: Plan, entity: Entity, domain: Domain) -> Select:
    """Compile the selection of the one record that a call names.

    `remove_user(team_id)` names none of several users. Where nothing specifies them, none is selected.
    """
    find, matching = finder(tool, plan, entity), matching_rows(tool, plan, entity)
    known = {path: entity.fields.get(rule.field) for path, rule in plan.filters.items()}
    naming = [
        argument(path)
        for path, field in known.items()
        if field is None or (field.link is None and main_type(field.schema) != "boolean")
    ]
    is_vague = plan.key is None and not entity.singleton and entity.name in domain.unspecified

    def select(turn: Turn) -> Sequence[Row] | Observation:
        arguments = turn.call.arguments
        names_none = is_vague and all(fetch(arguments) is ABSENT for fetch in naming)
        if names_none and len(matching(turn.view, arguments)) > 1:
            return not_found(tool, entity.name, None, None)
        key = find(turn)
        return key if isinstance(key, Observation) else [(key, turn.view.get(entity.name, key) or {})]

    return select


def _selection_by_parents(tool: Tool, plan: Plan, entity: Entity) -> Select:
    """Compile the selection of all records that belong to those that a call names, or of all if it can name none."""
    matching = matching_rows(tool, plan, entity)
    fields = {path: entity.fields.get(rule.field) for path, rule in plan.filters.items()}
    links = [path for path, field in fields.items() if field is not None and field.link is not None]
    parents = {path: filter_argument(tool, path, entity, rule) for path, rule in plan.filters.items()}

    def select(turn: Turn) -> Sequence[Row] | Observation:
        arguments = turn.call.arguments
        named = [(path, value) for path, fetch in parents.items() if is_given(value := fetch(arguments))]
        if not named and links:  # `all` filters nothing, and must not delete the records of every parent
            return invalid(tool, links[0], None, f"{links[0]} is required")
        path, value = named[-1] if named else (None, None)
        return matching(turn.view, arguments) or not_found(tool, entity.name, value, path)

    return select


@frozen
class Referrer:
    """A field of an entity that links to another entity, or to its own."""

    entity: str
    field: Field
    goes_along: bool = False
    """Whether records that cannot exist without the link are deleted with the one that they link to."""
    forbids: bool = True
    """Whether records that do not go along forbid the deletion. Otherwise they keep the link."""
    is_optional: bool = False
    """Whether tools create such records without the link, which was only guessed."""

    @property
    def holds(self) -> bool:
        """Whether the record cannot exist without the link."""
        is_needed = self.field.required and not self.is_optional
        return is_needed and not is_nullable(self.field.schema) and not self.is_list

    @property
    def is_list(self) -> bool:
        return main_type(self.field.schema) == "array"

    def rows(self, view: View, key: Key) -> Sequence[tuple[Key, Record]]:
        """Return the records that link to the one with this key."""
        return view.find(self.entity, f"{self.field.name}.*" if self.is_list else self.field.name, key)

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


def dependants(domain: Domain, entity: str, description: str = "") -> Dependants:
    """Return the links to an entity, and to those whose records go with it.

    These are records that no tool updates or deletes, such as the comments of an issue, the entries of a list of keys,
    those that the description of a deletion mentions, and where none is declared, those that are named after it such as
    a `task_note`, with all that cannot be without them. Where nothing gives,
    counts or declares the records of an entity, all that cannot be without them go along: what is only generated
    forbids nothing. Nor does a link that is guessed, where a spec declares the entity and a scenario says nothing of
    its records.
    """
    changed = {plan.entity for plan in domain.variants if plan.verb in _CHANGING}
    changed -= {other.name for other in domain.entities.values() if other.natural and _is_link(other.fields, other.key)}
    creates = [plan for plan in domain.variants if plan.verb == "create"]
    along = {*map(singular, words(" ".join(_ALONG.findall(description)).lower()))}
    mentioned = {name for name in domain.entities if name != entity and along.issuperset(words(name)[-1:])}
    mentioned |= {name for name in domain.entities.keys() - domain.declared if name.startswith(f"{entity}_")}
    referrers, pending = dict[str, Sequence[Referrer]](), [entity]
    while pending:
        name = pending.pop()
        holding = frozenset[str]() if name in domain.unspecified or name in mentioned else changed - mentioned
        referrers[name] = [
            replace(
                referrer,
                goes_along=referrer.entity not in holding,
                forbids=not referrer.field.link_is_guessed or name in domain.given or name not in domain.declared,
                is_optional=referrer.field.link_is_guessed and _leave_out(creates, referrer),
            )
            for referrer in referring(domain, name)
        ]
        pending += [link.entity for link in referrers[name] if link.goes_along and link.entity not in referrers]
    return referrers


def _is_link(fields: Mapping[str, Field], name: str) -> bool:
    return name in fields and fields[name].link is not None


def _leave_out(creates: Sequence[Plan], referrer: Referrer) -> bool:
    """Whether some tool creates records of an entity without this field: a project that belongs to no task."""
    written = {"*", referrer.field.name}  # `*` is any field: an argument with the whole record
    return any(plan.entity == referrer.entity and written.isdisjoint(plan.sets.values()) for plan in creates)


class _Removal:
    """Records that one call removes, with the links to them and what cannot be without them."""

    def __init__(self, view: View, others: Dependants, removed: Iterable[Place]) -> None:
        self._view, self._others = view, others
        self._gone = {at: self._removed(at) for at in removed}
        self._touched = dict[Place, Record]()

    def _removed(self, at: Place) -> Change:
        return Change("remove", *at, expected=self._view.version(*at))

    def let_go(self, removed: Place) -> str:
        """Add what one of the records takes along. Return why that is forbidden, or an empty text."""
        pending = [removed]
        while pending:
            name, key = pending.pop()
            for referrer in self._others[name]:
                rows = {
                    (referrer.entity, other): row
                    for other, row in referrer.rows(self._view, key)
                    if (referrer.entity, other) not in self._gone
                }
                if not referrer.holds:
                    self._touched |= {at: referrer.without(self._touched.get(at, row), key) for at, row in rows.items()}
                elif referrer.goes_along:
                    self._gone |= {at: self._removed(at) for at in rows}
                    pending += rows
                elif rows and referrer.forbids:
                    nouns = referrer.entity if len(rows) == 1 else plural(referrer.entity)
                    noun = nouns.rpartition(".")[2].replace("_", " ")
                    return f"{len(rows)} {noun} {'refers' if len(rows) == 1 else 'refer'} to it"
        return ""

    @property
    def changes(self) -> tuple[Change, ...]:
        kept = {at: record for at, record in self._touched.items() if at not in self._gone}
        return (*self._gone.values(), *_puts(self._view, kept))


def renamed(view: View, referrers: Sequence[Referrer], key: Key, new_key: Key) -> tuple[Change, ...]:
    """Return the changes that point all links to a new key."""
    touched: dict[Place, Record] = {}
    for referrer in referrers:
        for other, record in referrer.rows(view, key):
            before = touched.get((referrer.entity, other), record)
            touched[referrer.entity, other] = referrer.following(before, key, new_key)
    return _puts(view, touched)


def _puts(view: View, records: dict[Place, Record]) -> tuple[Change, ...]:
    return tuple(
        Change("put", entity, key, record, expected=view.version(entity, key))
        for (entity, key), record in records.items()
    )
