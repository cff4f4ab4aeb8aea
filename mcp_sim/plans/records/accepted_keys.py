"""Keys of records that may be generated when a call names them, and containers, which every call names.

A container is what all calls about an entity name, such as the owner and the repository of an issue. If nothing
specifies the records of such an entity, its containers are open. The records of a container are generated when a call
first names it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.types import Json, Key, View
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import constants, main_type, required
from mcp_sim.types.lexicon.english import last_word, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key

Accept: TypeAlias = Callable[[View, Key], bool]
"""Whether a record of this key may be generated."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_IMPLIED = terms("nouns.implied")
"""Nouns of what exists as soon as a record is put into it or marked with it."""

_IDS = frozenset({"id", "uuid", "guid"})
_OWN = terms("arguments.own_key")
"""Keys that stand for a record of the caller's own, whatever its id."""


def acceptance(entity: Entity, name: str, domain: Domain) -> Accept:
    """Compile which keys may exist. `name` is the argument or the field with the key.

    Ids that results list are issued by this world: no others exist, unless the whole world or the container that
    holds the record is open, or no tool creates such records and they exist as soon as they are used: collections. Nor
    is an id issued by a world whose given state has no such records.
    Where nothing specifies the records, there is one that callers may call `primary`.
    """
    is_plain, is_contained = _IDS.isdisjoint(words(name)[-1:]), entity.name in containers_of(domain)
    whole = partial(may_exist, entity=replace(entity, open=True))
    is_outside_state = entity.name not in domain.specified and entity.name not in domain.unspecified
    if entity.open and (last_word(entity.name) in _IMPLIED or is_outside_state):
        return whole
    reads = (plan for plan in domain.variants if plan.verb in {"list", "search"})
    is_issued = any(plan.entity == entity.name for plan in reads)
    if (entity.open or is_contained) and (is_plain or not (is_contained or is_issued)):
        return whole
    is_open = domain.open or is_contained
    others: Accept = partial(may_exist, entity=replace(entity, open=False)) if is_open else lambda _view, _key: False
    if entity.name not in domain.unspecified:
        return others
    return lambda view, key: whole(view, key) if key in _OWN else others(view, key)


def may_exist(view: View, key: Json, *, entity: Entity) -> bool:
    """Return whether a record of this key may be generated.

    It may not if it was deleted, if its key has another form than the existing keys, or if it needs a linked record
    that does not exist.
    """
    if isinstance(key, bool) or not isinstance(key, str | int) or entity.singleton:
        return False
    if find_key(view, entity.name, key) is not None or view.version(entity.name, key) > 0:
        return False
    link = entity.fields[entity.key].link if entity.key in entity.fields else None
    if link is not None and find_key(view, link, key) is None:
        return False
    return bool(str(key).strip()) if entity.open else has_usual_form(view, entity, key)


def has_usual_form(view: View, entity: Entity, key: Key) -> bool:
    """Whether a key has the form of the existing ones, or of the entity's example, and its field can hold it."""
    last = view.last_key(entity.name)
    like = last if last is not None else entity.key_like
    return may_be_key(entity, key) and (like is None or _form(like) == _form(key))


def may_be_key(entity: Entity, value: Json) -> bool:
    """Whether the field of the key can hold a value. Others may be second names: `14.5` of the cue `1/14.5`."""
    return entity.key not in entity.fields or validity_test(entity.fields[entity.key].schema)(value)


def _form(key: Key) -> str:
    """Return what keys of the same form have in common: everything but the digits."""
    if isinstance(key, int):
        return "number" if key > 0 else "odd"
    return "uuid" if _UUID.fullmatch(key) else re.sub(r"\d+", "0", key)


def containers_of(domain: Domain) -> Mapping[str, frozenset[str]]:
    """Return the fields with the containers of each entity that has some."""
    if containers_of not in domain.kept:
        plans = defaultdict[str, list[Plan]](list)
        for plan in domain.variants:
            if plan.entity in domain.unspecified and plan.backend == "records" and plan.verb != "search":
                plans[plan.entity or ""].append(plan)
        containers = {name: _shared(domain.entities[name], mine, domain) for name, mine in plans.items()}
        domain.kept[containers_of] = {name: fields for name, fields in containers.items() if fields}
    return domain.kept[containers_of]


def _shared(entity: Entity, plans: Sequence[Plan], domain: Domain) -> frozenset[str]:
    """Return the fields that all of several tools require."""
    if len(plans) == 1 or entity.singleton or entity.inside is not None or all(plan.verb != "list" for plan in plans):
        return frozenset()
    first, *others = (frozenset(container_arguments(plan, entity, domain).values()) for plan in plans)
    return first.intersection(*others)


def container_arguments(plan: Plan, entity: Entity, domain: Domain) -> dict[str, str]:
    """Return the required arguments of a tool that may name a container, each with the field that holds it."""
    filtered = {path: rule.field for path, rule in plan.filters.items() if rule.op == "equals"}
    fields = {**plan.sets, **filtered}
    asked = required(expanded(domain.tools[plan.tool].input_schema)) - {plan.key}
    named = {name: entity.fields.get(fields.get(name, name)) for name in asked}
    return {name: field.name for name, field in named.items() if field is not None and _may_contain(field, entity)}


def _may_contain(field: Field, entity: Entity) -> bool:
    is_plain = field.link is None and field.name != entity.key
    is_name = main_type(field.schema) in {"string", "integer"} and not constants(field.schema)
    return is_plain and is_name and time_meaning(field.name, field.schema) is None
