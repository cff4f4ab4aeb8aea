"""Records that belong to other records: owners, parts, and children created together with a parent."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.links import is_single_valued
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import line_parts, main_type, properties, property_of
from mcp_sim.types.lexicon.english import singular_phrase, snake, vocabulary, words
from mcp_sim.types.plans import Also, Among, Children, Owner, Plan

_ONE = frozenset({"get", "update", "delete"})
_TRANSFER_VERBS = vocabulary("update edit modify patch change set adjust revise amend assign move transfer reassign")
"""Verbs that may give a record to another owner."""

_KIND_SUFFIXES = ("", "_method", "_account", "_card", "_option")
"""Endings of entity names that an id may omit: `payment_id` of a `payment_method`."""


def settle_owner_arguments(feature_list: Sequence[ToolFeatures], declared: Mapping[str, Entity]) -> list[ToolFeatures]:
    """Return the features. An argument that names the owner of a new record is not a new field of it."""
    return [
        replace(features, settled_arguments=features.settled_arguments | _owner_arguments(features, declared))
        for features in feature_list
    ]


def _owner_arguments(features: ToolFeatures, declared: Mapping[str, Entity]) -> frozenset[str]:
    mine = declared.get(features.entity)
    if features.verb != "create" or mine is None or not mine.fields:
        return frozenset()
    named = (_owner_argument(features, owner) for owner, _ in _lists_linking_to(features.entity, declared))
    return frozenset(name for name in named if name is not None and name not in mine.fields)


def plan_owners(draft: Draft) -> dict[str, Plan]:
    """Return new plans for tools with an owner argument.

    A new record is added to the owner's list. Any other must belong to the owner.
    """
    given = [one for name, one in draft.entities.items() if name in draft.held]
    found: dict[str, Plan] = {}
    for features, plan in draft.items():
        mine = draft.entity_of(plan)
        if mine is None or mine.name not in draft.held or mine.singleton or plan.backend != "records" or plan.each:
            continue
        if plan.verb == "create":
            also = tuple(_owner_lists(features, plan, mine, draft.entities))
            found |= {features.tool.id: replace(plan, also=(*plan.also, *also))} if also and not plan.also else {}
        elif plan.verb in _ONE and plan.key is not None:
            found |= _check_owners(features, plan, mine, given)
    return found


def _owner_lists(features: ToolFeatures, plan: Plan, mine: Entity, entities: Mapping[str, Entity]) -> Iterator[Also]:
    for owner, field in _lists_linking_to(mine.name, entities):
        links = (name for name in plan.sets.values() if name in mine.fields and mine.fields[name].link == owner.name)
        named = next(links, None) or _owner_argument(features, owner)
        if named is not None and owner.name != mine.name:
            yield Also(owner.name, field, key=named, how="append", value=mine.key)


def _check_owners(features: ToolFeatures, plan: Plan, mine: Entity, others: Sequence[Entity]) -> dict[str, Plan]:
    owners = [one for other in others if (one := _required_owner(features, plan, mine, other)) is not None]
    if not owners:
        return {}
    arguments = {one.argument for one in owners}
    sets = {path: field for path, field in plan.sets.items() if path not in arguments}
    return {features.tool.id: replace(plan, owners=tuple(owners), sets=sets)}


def _required_owner(features: ToolFeatures, plan: Plan, mine: Entity, other: Entity) -> Owner | None:
    """Return the owner that an argument names and that the record must belong to."""
    named = _owner_argument(features, other) if other.name != mine.name and not other.singleton else None
    if named is None or named == plan.key:
        return None
    link = next(
        (name for name, field in mine.fields.items() if field.link == other.name and is_single_valued(field)), None
    )
    if link is not None:
        moves = named in plan.sets and features.parsed.word in _TRANSFER_VERBS and not _describes_owner(features, named)
        return None if moves else Owner(named, other.name, link=link)
    lists = [name for name, field in other.fields.items() if field.link == mine.name and not is_single_valued(field)]
    return Owner(named, other.name, listed=lists[0]) if lists and named not in plan.sets else None


def _describes_owner(features: ToolFeatures, argument: str) -> bool:
    about = str(property_of(features.input, argument).get("description", "")).lower()
    return " own" in about or "belongs" in about


def _lists_linking_to(entity: str, entities: Mapping[str, Entity]) -> Iterator[tuple[Entity, str]]:
    for owner in entities.values():
        if not owner.singleton and owner.inside is None:
            yield from ((owner, name) for name, field in owner.fields.items()
                        if field.link == entity and not is_single_valued(field))  # fmt: skip


def _owner_argument(features: ToolFeatures, owner: Entity) -> str | None:
    """Return the argument that names an owner. A bare `id` does not count."""
    name, score = key_argument("update", owner.name, owner.key, features.input)
    return name if score >= 2 and snake(name or "") not in {"id", "key", "name", "uuid"} else None


def plan_membership_checks(draft: Draft) -> dict[str, Plan]:
    """Return new plans for writes with an id that another record must contain.

    For example, a payment method must be one of the customer who orders.
    """
    holders = draft.tables()
    found: dict[str, Plan] = {}
    for features, plan in draft.items():
        writes = plan.verb in {"create", "update"} and plan.backend == "records" and plan.each is None
        mine = draft.entity_of(plan) if writes else None
        if mine is not None and mine.name in draft.held and mine.inside is None:
            among = tuple(_memberships(features, plan, mine, holders, draft.held))
            found |= {features.tool.id: replace(plan, among=among)} if among else {}
    return found


def _memberships(
    features: ToolFeatures, plan: Plan, mine: Entity, holders: Sequence[Entity], tables: Collection[str]
) -> Iterator[Among]:
    for path, name in _id_arguments(features):
        stem = snake(name).removesuffix("_id")
        if stem in tables or path == plan.key:
            continue
        for one in holders:
            field = next((field for field in one.fields if _is_list_of(field, stem) and _holds_parts(one, field)), None)
            by = None if field is None else _holder_argument(features, plan, mine, one)
            if field is not None and by is not None:
                yield Among(path, one.name, by, field)
                break


def _id_arguments(features: ToolFeatures) -> Iterator[tuple[str, str]]:
    """Yield the id arguments by path, also those in the lines of a list."""
    for name, part in properties(features.input).items():
        if snake(name).endswith("_id") and main_type(part) in {"string", ""}:
            yield name, name
        for inner in line_parts(part):
            if snake(inner).endswith("_id"):
                yield f"{name}.*.{inner}", inner


def _is_list_of(field: str, stem: str) -> bool:
    return singular_phrase(words(field)) in {f"{stem}{kind}" for kind in _KIND_SUFFIXES}


def _holds_parts(entity: Entity, field: str) -> bool:
    schema = entity.fields[field].schema
    return main_type(schema) == "object" or bool(line_parts(schema))


def _holder_argument(features: ToolFeatures, plan: Plan, mine: Entity, holder: Entity) -> str | None:
    """Return what names the record that contains the ids: an argument, or a link of the written record."""
    if holder.name == mine.name:
        return plan.key if plan.verb == "update" else None
    name, score = key_argument("update", holder.name, holder.key, features.input)
    if score >= 2 and name is not None and snake(name) != "id":
        return name
    return next((field for field, one in mine.fields.items() if one.link == holder.name), None)


def plan_children(draft: Draft) -> dict[str, Plan]:
    """Return new plans for creates that also create child records: the tasks of a new plan.

    Other tools name each child by its own id.
    """
    named = {plan.entity for plan in draft.plans.values() if plan.verb in _ONE and plan.key is not None} - {*draft.held}
    apart = {name: one for name, one in draft.entities.items() if name in named and not one.inside}
    found: dict[str, Plan] = {}
    for features, plan in draft.items():
        if plan.verb == "create" and plan.backend == "records" and plan.each is None:
            shown = {
                field for one in draft.feature_list if one.entity == features.entity for field in properties(one.shape)
            }
            children = tuple(
                one for one in _find_children(features, plan, apart) if plan.sets.get(one.listed) not in shown
            )
            listed = {one.listed for one in children}
            sets = {path: name for path, name in plan.sets.items() if path not in listed}
            found |= {features.tool.id: replace(plan, sets=sets, children=children)} if children else {}
    return found


def remove_child_fields(entities: Mapping[str, Entity], plans: Mapping[str, Plan]) -> dict[str, Entity]:
    """Remove the fields that hold child records."""
    found = dict(entities)
    for plan in plans.values():
        listed = {one.listed for one in plan.children}
        if listed:
            one = found[plan.entity or ""]
            found[one.name] = replace(one, fields={n: part for n, part in one.fields.items() if n not in listed})
    return found


def _find_children(features: ToolFeatures, plan: Plan, apart: Mapping[str, Entity]) -> Iterator[Children]:
    for name, part in properties(features.input).items():
        one = apart.get(singular_phrase(words(name)))
        lines = line_parts(part)
        if one is None or one.name == plan.entity or not lines or {snake(line) for line in lines} & _ids_of(one):
            continue
        fields = {snake(field): field for field in one.fields}
        sets = {f"{name}.{line}": fields.get(snake(line), line) for line in lines}
        if any(snake(line) in fields for line in lines):
            yield Children(one.name, name, sets, _link_to(one, plan.entity or ""))


def _ids_of(entity: Entity) -> set[str]:
    """Return the names of arguments that name an existing record."""
    return {f"{entity.name}_id", "id", snake(entity.key)}


def _link_to(entity: Entity, parent: str) -> str | None:
    return next((name for name, field in entity.fields.items() if field.link == parent), None)
