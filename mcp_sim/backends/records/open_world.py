"""Generate records of an open world when a call asks for an unknown id."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import cast

from mcp_sim.backends.records.arguments import ABSENT, Fetch, argument
from mcp_sim.generate.keys import key_maker, next_key
from mcp_sim.generate.missing_records import MOST_CANDIDATES, generate_record
from mcp_sim.types import Change, Json, Key, Record, Transition, Turn, View
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import as_list, required
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.plans import Filter, Plan
from mcp_sim.types.views import find_key

FEWEST = 2
"""The fewest records that are generated for a list. The most is one less than twice as many."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def open_answer(answer: Answer, plan: Plan, domain: Domain) -> Answer:
    """Return the answer of a tool in an open world: records that a call names and that are missing are generated."""
    entity = domain.entities.get(plan.entity or "")
    if entity is None or plan.backend != "records" or not (domain.open or entity.open):
        return answer
    if entity.open:
        answer = _marked_guessed(answer)
    if plan.verb == "get" and plan.key is not None:
        return _with_named_record(answer, argument(plan.key), entity)
    return _with_matching_records(answer, plan, domain, entity) if entity.open and plan.filters else answer


def _marked_guessed(answer: Answer) -> Answer:
    """Return an answer that marks its transitions as guessed."""
    return lambda turn, invent: replace(answer(turn, invent), guessed=True)


def _with_named_record(answer: Answer, fetch: Fetch, entity: Entity) -> Answer:
    """Return an answer that generates the record of an unknown key."""

    def invented(turn: Turn, invent: Invent) -> Transition:
        key = fetch(turn.call.arguments)
        if key is ABSENT or not may_exist(turn.view, entity, key):
            return answer(turn, invent)
        return _pinned(answer, turn, invent, [_put(turn, entity, key, invent)])

    return invented


def _with_matching_records(answer: Answer, plan: Plan, domain: Domain, entity: Entity) -> Answer:
    """Return an answer that generates records that match the filters: one for a get, a few for a list."""
    asked = [(argument(name), rule) for name, rule in plan.filters.items()]
    needed = required(domain.tools[plan.tool].input_schema) & plan.filters.keys()
    keys, fewest = key_maker(entity), 1 if plan.verb == "get" else FEWEST

    def invented(turn: Turn, invent: Invent) -> Transition:
        arguments = turn.call.arguments
        given = [(rule, value) for fetch, rule in asked if (value := fetch(arguments)) not in (ABSENT, None)]
        if not given or not needed <= arguments.keys() or not all(_is_specific(rule, value) for rule, value in given):
            return answer(turn, invent)
        absorbed = list[Change]()
        for known in _each({rule.field: value for rule, value in given}):
            if _links_exist(turn.view, entity, known) and not _exists(turn.view, entity, known):
                many = fewest if fewest == 1 else fewest + int(turn.draws.unit("how many") * fewest)
                for _ in range(many):
                    here = turn.after(absorbed)
                    key = next_key(entity, keys, here.view, turn.draws)
                    absorbed.append(_put(here, entity, key, invent, known))
        return _pinned(answer, turn, invent, absorbed) if absorbed else answer(turn, invent)

    return invented


def _is_specific(rule: Filter, value: Json) -> bool:
    """Return whether a filter gives the value of a field, or its possible values."""
    if rule.op == "in":
        return isinstance(value, list) and 0 < len(cast("list[Json]", value)) <= MOST_CANDIDATES
    return rule.op == "equals" and isinstance(value, str | int | float) and value != ""


def _each(given: Record) -> Iterator[Record]:
    """Yield the given fields for each value of a list."""
    listed = next((name for name, value in given.items() if isinstance(value, list)), None)
    if listed is None:
        yield given
        return
    for value in dict.fromkeys(one for one in as_list(given[listed]) if isinstance(one, str | int | float)):
        yield from _each({**given, listed: value})


def _links_exist(view: View, entity: Entity, known: Record) -> bool:
    """Return whether the links among the given fields refer to records."""
    links = {name: entity.fields[name].link for name in known if name in entity.fields}
    return all(link is None or find_key(view, link, known[name]) is not None for name, link in links.items())


def _exists(view: View, entity: Entity, known: Record) -> bool:
    """Return whether a record has all these values."""
    (field, first), *others = known.items()
    rows = view.find(entity.name, field, first)
    return any(all(record.get(name) == value for name, value in others) for _, record in rows)


def _put(turn: Turn, entity: Entity, key: Key, invent: Invent, known: Record | None = None) -> Change:
    return Change("put", entity.name, key, generate_record(turn, entity, key, invent, known), expected=0)


def _pinned(answer: Answer, turn: Turn, invent: Invent, absorbed: list[Change]) -> Transition:
    transition = answer(turn.after(absorbed), invent)
    if not transition.observation.ok:
        return answer(turn, invent)
    return replace(transition, absorbed=(*absorbed, *transition.absorbed))


def may_exist(view: View, entity: Entity, key: Json) -> bool:
    """Return whether a record of this key may be generated.

    It may not if it was deleted, if its key has another form than the existing keys, or if it needs a linked record
    that does not exist.
    """
    if isinstance(key, bool) or not isinstance(key, str | int) or entity.singleton:
        return False
    if view.get(entity.name, key) is not None or view.version(entity.name, key) > 0:
        return False
    if not _links_exist(view, entity, {entity.key: key}):
        return False
    if entity.open:
        return not isinstance(key, str) or bool(key.strip())
    last = view.last_key(entity.name)
    like = last if last is not None else entity.key_like
    return like is None or _form(like) == _form(key)


def _form(key: Key) -> str:
    """Return what keys of the same form have in common: everything but the digits."""
    if isinstance(key, int):
        return "number" if key > 0 else "odd"
    return "uuid" if _UUID.fullmatch(key) else re.sub(r"\d+", "0", key)
