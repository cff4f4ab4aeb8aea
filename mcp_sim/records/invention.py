"""Which record does an open world make up where an id is asked for that nobody mentioned yet?"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from itertools import islice

from mcp_sim.domain import Domain, Entity, Field, Plan
from mcp_sim.draws import Draws
from mcp_sim.extensions import Answer, Invent
from mcp_sim.records.chance import Chance
from mcp_sim.records.queries import ABSENT, argument
from mcp_sim.records.timeline import Moment
from mcp_sim.records.times import sense
from mcp_sim.records.values import value_maker
from mcp_sim.schemas import is_nullable, main_type
from mcp_sim.types import Change, Json, Key, Record, Transition, Turn, View

MOST_CANDIDATES = 32
"""A link leads to one of so many records."""

AGE = timedelta(days=30)
"""So long before the world's start a record was made that nobody mentioned."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def opened(answer: Answer, plan: Plan, domain: Domain) -> Answer:
    """What answers a tool in an open world: a record is made up where one is asked for, and pinned."""
    entity = domain.entities.get(plan.entity or "")
    if not domain.open or entity is None or plan.verb != "get" or plan.key is None or plan.behaviour != "records":
        return answer
    fetch = argument(plan.key)

    def invented(turn: Turn, invent: Invent) -> Transition:
        key = fetch(turn.call.arguments)
        if key is ABSENT or not may_exist(turn.view, entity, key):
            return answer(turn, invent)
        pin = Change("put", entity.name, key, made_up(turn, entity, key, invent), expected=0)
        transition = answer(turn.after([pin]), invent)
        return replace(transition, pins=(pin, *transition.pins))

    return invented


def may_exist(view: View, entity: Entity, key: Json) -> bool:
    """May there be a record of this id that nobody mentioned yet? Not where it was deleted, nor if it looks odd."""
    if isinstance(key, bool) or not isinstance(key, str | int) or entity.singleton:
        return False
    if view.get(entity.name, key) is not None or view.version(entity.name, key) > 0:
        return False
    last = view.last_key(entity.name)
    like = last if last is not None else entity.key_like
    return like is None or _form(like) == _form(key)


def made_up(turn: Turn, entity: Entity, key: Key, invent: Invent, known: Record | None = None) -> Record:
    """The record of an id: what is `known` of it; times before now, links to what there is, and else what is invented.

    What can do without a value has none.
    """
    record: Record = {**(known or {}), entity.key: key}
    for field in entity.fields.values():
        if field.name not in record and field.derived is None:
            value = _value(turn, entity, field, invent, record)
            if value is not ABSENT:
                record[field.name] = value
    return {name: record[name] for name in dict.fromkeys((*entity.fields, *record)) if name in record}


def candidates(view: View, entity: str) -> list[Key]:
    """The records that a link may lead to, the first few."""
    return [key for key, _ in islice(view.rows(entity), MOST_CANDIDATES)]


def chosen(keys: list[Key], draws: Draws, purpose: str) -> Key:
    """One of these keys, by the world's chance."""
    return keys[int(draws.unit(f"link/{purpose}") * len(keys))]


def _value(turn: Turn, entity: Entity, field: Field, invent: Invent, record: Record) -> Json:
    if field.link is not None:
        keys = candidates(turn.view, field.link)
        if not keys:
            return None if is_nullable(field.schema) else ABSENT
        key = chosen(keys, turn.draws, f"{entity.name}.{field.name}")
        return [key] if main_type(field.schema) == "array" else key
    if is_nullable(field.schema) and not field.required:
        return None
    if sense(field.name, field.schema) is not None:
        chance = Chance(turn.draws.key + f"{entity.name}/{record[entity.key]}".encode("utf-8", "surrogatepass"))
        made = value_maker(entity.name, field.name, field.schema)
        return made(chance, record, Moment(turn.start - AGE, turn.start))
    return invent(turn, entity.name, field.name, field.schema, record) if field.required else ABSENT


def _form(key: Key) -> str:
    """What ids of one sort have in common: everything but their digits."""
    if isinstance(key, int):
        return "number" if key > 0 else "odd"
    return "uuid" if _UUID.fullmatch(key) else re.sub(r"\d+", "0", key)
