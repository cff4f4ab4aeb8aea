"""Keys of records that may be generated when a call names them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from mcp_sim.plans.records.containers import containers_of
from mcp_sim.types import Json, Key, View
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.lexicon.english import last_word, vocabulary, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.views import find_key

Accept: TypeAlias = Callable[[View, Key], bool]
"""Whether a record of this key may be generated."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_IMPLIED = terms("nouns.implied")
"""Nouns of what exists as soon as a record is put into it or marked with it."""

_IDS = frozenset({"id", "uuid", "guid"})
_OWN = vocabulary("default inbox main me mine primary self")
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
    if entity.open and (last_word(entity.name) in _IMPLIED or _is_outside_state(entity.name, domain)):
        return whole
    if (entity.open or is_contained) and (is_plain or not (is_contained or _is_issued(entity.name, domain))):
        return whole
    is_open = domain.open or is_contained
    others = partial(may_exist, entity=replace(entity, open=False)) if is_open else _none_may_exist
    if entity.name not in domain.unspecified:
        return others
    return lambda view, key: whole(view, key) if key in _OWN else others(view, key)


def _is_outside_state(entity: str, domain: Domain) -> bool:
    """Whether a state is given that has no record of an entity: it says nothing about those."""
    return entity not in domain.specified and entity not in domain.unspecified


def _is_issued(entity: str, domain: Domain) -> bool:
    """Return whether results list the records of an entity, with their ids."""
    plans = [plan for tool_plan in domain.plans.values() for plan in tool_plan.variants]
    return any(plan.entity == entity and plan.verb in {"list", "search"} for plan in plans)


def _none_may_exist(_view: View, _key: Key) -> bool:
    return False


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
    """Whether a key has the form of the existing ones, or of the entity's example."""
    last = view.last_key(entity.name)
    like = last if last is not None else entity.key_like
    return like is None or _form(like) == _form(key)


def _form(key: Key) -> str:
    """Return what keys of the same form have in common: everything but the digits."""
    if isinstance(key, int):
        return "number" if key > 0 else "odd"
    return "uuid" if _UUID.fullmatch(key) else re.sub(r"\d+", "0", key)
