"""Which records belong to which: whose ids does a record list, and which tools say to whom a record belongs?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.looks import Look
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, items, main_type, properties
from mcp_sim.types.lexicon.words import singular_phrase, snake, vocabulary, words
from mcp_sim.types.plans import Also, Owner, Plan

_ONE = frozenset({"get", "update", "delete"})
_REFERRING = vocabulary("reference ref key code number no uuid guid")
_PLAIN = vocabulary("update edit modify patch change set adjust revise amend assign move transfer reassign")
"""Verbs by which a record may be given to somebody else."""


def with_lists(declared: Mapping[str, Entity], held: Mapping[str, Sequence[Record]]) -> dict[str, Entity]:
    """The entities; a list or a field that is named for another entity, and holds its keys, links to it."""
    keys = {name: {row.get(declared[name].key) for row in rows} for name, rows in held.items() if name in declared}
    return {name: _linked(entity, held.get(name, ()), keys) for name, entity in declared.items()}


def _linked(entity: Entity, rows: Sequence[Record], keys: Mapping[str, Collection[Json]]) -> Entity:
    found = {
        name: replace(field, link=target)
        for name, field in entity.fields.items()
        if (target := _listed(field, rows, keys) or _referred(entity, field, rows, keys)) is not None
    }
    return replace(entity, fields={**entity.fields, **found}) if found and not entity.singleton else entity


def _listed(field: Field, rows: Sequence[Record], keys: Mapping[str, Collection[Json]]) -> str | None:
    parts = words(field.name.removesuffix("_ids").removesuffix("Ids"))
    target = singular_phrase(parts) if parts else ""
    if field.link is not None or main_type(field.schema) != "array" or target not in keys:
        return None
    told = [row[field.name] for row in rows if row.get(field.name) is not None]
    values = [value for listed in told for value in as_list(listed)]
    there = keys[target]
    leads = all(isinstance(listed, list) for listed in told) and all(
        isinstance(value, str | int) and value in there for value in values
    )
    return target if leads and main_type(items(field.schema)) != "object" else None


def _referred(entity: Entity, field: Field, rows: Sequence[Record], keys: Mapping[str, Collection[Json]]) -> str | None:
    """`customer_reference`, or `customer`, where there are customers with such numbers."""
    parts = words(field.name)
    stem = parts[:-1] if len(parts) > 1 and parts[-1] in _REFERRING else parts
    target = next((name for name in keys if name != entity.name and words(name) == stem[-len(words(name)) :]), None)
    if field.link is not None or target is None or field.name == entity.key or not _is_one(field):
        return None
    values = [row[field.name] for row in rows if row.get(field.name) is not None]
    leads = all(isinstance(value, str | int) and value in keys[target] for value in values)
    return target if values and leads and all(map(_is_number_of, values)) else None


def _is_number_of(value: Json) -> bool:
    """Is it a number that records have, and not a word which anybody may choose?"""
    return not isinstance(value, bool) and any(letter.isdigit() for letter in str(value))


def belonging(looks: Sequence[Look], declared: Mapping[str, Entity]) -> list[Look]:
    """The looks; what says to whom a new record belongs, and is no field of it, is no field of it now either."""
    return [replace(look, settled=look.settled | _owners_named(look, declared)) for look in looks]


def _owners_named(look: Look, declared: Mapping[str, Entity]) -> frozenset[str]:
    mine = declared.get(look.entity)
    if look.verb != "create" or mine is None or not mine.fields:
        return frozenset()
    named = (_argument(look, owner) for owner, _ in _lists_of(look.entity, declared))
    return frozenset(name for name in named if name is not None and name not in mine.fields)


def with_owners(draft: Draft) -> dict[str, Plan]:
    """The plans that say to whom a record belongs: a new one is listed there, any other must be his."""
    given = [one for name, one in draft.entities.items() if name in draft.held]
    found: dict[str, Plan] = {}
    for look, plan in draft.of_all():
        mine = draft.entity_of(plan)
        if mine is None or mine.name not in draft.held or mine.singleton or plan.backend != "records" or plan.each:
            continue
        if plan.verb == "create":
            also = tuple(_listings(look, plan, mine, draft.entities))
            found |= {look.tool.id: replace(plan, also=(*plan.also, *also))} if also and not plan.also else {}
        elif plan.verb in _ONE and plan.key is not None:
            found |= _checked(look, plan, mine, given)
    return found


def _listings(look: Look, plan: Plan, mine: Entity, entities: Mapping[str, Entity]) -> Iterator[Also]:
    for owner, field in _lists_of(mine.name, entities):
        links = (name for name in plan.sets.values() if name in mine.fields and mine.fields[name].link == owner.name)
        named = next(links, None) or _argument(look, owner)
        if named is not None and owner.name != mine.name:
            yield Also(owner.name, field, key=named, how="append", value=mine.key)


def _checked(look: Look, plan: Plan, mine: Entity, others: Sequence[Entity]) -> dict[str, Plan]:
    owners = [one for other in others if (one := _owner(look, plan, mine, other)) is not None]
    if not owners:
        return {}
    said = {one.argument for one in owners}
    sets = {path: field for path, field in plan.sets.items() if path not in said}
    return {look.tool.id: replace(plan, owners=tuple(owners), sets=sets)}


def _owner(look: Look, plan: Plan, mine: Entity, other: Entity) -> Owner | None:
    """Whom an argument names to whom the record must belong."""
    named = _argument(look, other) if other.name != mine.name and not other.singleton else None
    if named is None or named == plan.key:
        return None
    link = next((name for name, field in mine.fields.items() if field.link == other.name and _is_one(field)), None)
    if link is not None:
        moves = named in plan.sets and look.reading.word in _PLAIN and not _says_whose(look, named)
        return None if moves else Owner(named, other.name, link=link)
    lists = [name for name, field in other.fields.items() if field.link == mine.name and not _is_one(field)]
    return Owner(named, other.name, listed=lists[0]) if lists and named not in plan.sets else None


def _says_whose(look: Look, argument: str) -> bool:
    about = str(properties(look.input)[argument].get("description", "")).lower()
    return " own" in about or "belongs" in about


def _is_one(field: Field) -> bool:
    return main_type(field.schema) != "array"


def _lists_of(entity: str, entities: Mapping[str, Entity]) -> Iterator[tuple[Entity, str]]:
    for owner in entities.values():
        if not owner.singleton and owner.inside is None:
            yield from ((owner, name) for name, field in owner.fields.items()
                        if field.link == entity and not _is_one(field))  # fmt: skip


def _argument(look: Look, owner: Entity) -> str | None:
    """The argument that names an owner: by its own name, and not by a bare `id`."""
    name, score = key_argument("update", owner.name, owner.key, look.input)
    return name if score >= 2 and snake(name or "") not in {"id", "key", "name", "uuid"} else None
