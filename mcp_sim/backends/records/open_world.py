"""Generate records of open entities and open worlds when a call asks for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

from mcp_sim.backends.records.arguments import ABSENT, Fetch, argument
from mcp_sim.backends.records.filters import matching_rows
from mcp_sim.backends.records.wanted_values import Interval, Wanted, wanted_values
from mcp_sim.generate.keys import KeyMaker, key_maker, next_key
from mcp_sim.generate.missing_records import generate_record, limited_value, text_fields, titles_about
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.types import Change, Json, Key, Record, Tool, Transition, Turn, View
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import fitting_type
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.plans import RECORDLESS, Plan
from mcp_sim.types.time_formats import parse_time
from mcp_sim.types.views import find_key

FEWEST = 2
"""The fewest records that are generated for a list. The most is one less than twice as many."""

FEWEST_FOUND = 3
"""The same for a search by text."""

LONGEST_SERIES = 7
"""The most records that are generated for a period: one a day."""

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_IDS = frozenset({"id", "uuid", "guid"})

Accept: TypeAlias = Callable[[View, Key], bool]
"""Whether a record of this key may be generated."""


def open_answer(answer: Answer, plan: Plan, domain: Domain) -> Answer:
    """Return the answer of a tool in an open world: records that a call asks for and that are missing are generated."""
    entity = domain.entities.get(plan.entity or "")
    if entity is None or plan.backend != "records" or not (domain.open or entity.open):
        return answer
    if entity.open:
        answer = _marked_guessed(answer)
    if plan.verb == "get" and plan.key is not None:
        return _with_named_record(answer, argument(plan.key), entity, _acceptance(entity, plan.key, domain))
    is_read = plan.verb in {"get", "list", "search"} and plan.each is None
    return _with_matching_records(answer, _Demand(plan, domain, entity)) if entity.open and is_read else answer


def _marked_guessed(answer: Answer) -> Answer:
    """Return an answer that marks its transitions as guessed."""
    return lambda turn, invent: replace(answer(turn, invent), guessed=True)


# records by key -------------------------------------------------------------------------------------------------------


def _acceptance(entity: Entity, name: str, domain: Domain) -> Accept:
    """Compile which keys may exist. `name` is the argument or the field with the key.

    Ids that other results show are issued by this world: no others exist, unless the whole world is open.
    """
    if entity.open and _IDS.isdisjoint(words(name)[-1:]):
        return partial(may_exist, entity=entity)
    plans = [plan for one in domain.plans.values() for plan in one.variants]
    lists = any(plan.entity == entity.name and plan.verb in {"list", "search"} for plan in plans)
    if entity.open and not lists and not any(_shows_link(plan, domain, entity.name) for plan in plans):
        return partial(may_exist, entity=entity)
    closed = replace(entity, open=False)
    return partial(may_exist, entity=closed) if domain.open else _none_may_exist


def _none_may_exist(_view: View, _key: Key) -> bool:
    return False


def _shows_link(plan: Plan, domain: Domain, entity: str) -> bool:
    """Return whether a tool shows ids of an entity in other records, without being given them."""
    fields = domain.entities[plan.entity].fields.values() if plan.entity in domain.entities else ()
    links = {field.name for field in fields if field.link == entity and plan.entity != entity}
    return bool(links.difference(rule.field for rule in plan.filters.values())) and plan.verb not in RECORDLESS


def _with_named_record(answer: Answer, fetch: Fetch, entity: Entity, accepts: Accept) -> Answer:
    """Return an answer that generates the record of an unknown key."""

    def invented(turn: Turn, invent: Invent) -> Transition:
        key = fetch(turn.call.arguments)
        if not isinstance(key, str | int) or not accepts(turn.view, key):
            return answer(turn, invent)
        return _pinned(answer, turn, invent, [_put(turn, entity, key, invent)])

    return invented


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


def _put(turn: Turn, entity: Entity, key: Key, invent: Invent, known: Record | None = None) -> Change:
    return Change("put", entity.name, key, generate_record(turn, entity, key, invent, known), expected=0)


def _pinned(answer: Answer, turn: Turn, invent: Invent, absorbed: Sequence[Change]) -> Transition:
    transition = answer(turn.after(absorbed), invent)
    if not transition.observation.ok:
        return answer(turn, invent)
    return replace(transition, absorbed=(*absorbed, *transition.absorbed))


# records by filters and text ------------------------------------------------------------------------------------------


def _with_matching_records(answer: Answer, demand: _Demand) -> Answer:
    """Return an answer that generates records that match the call, if there are none."""

    def invented(turn: Turn, invent: Invent) -> Transition:
        absorbed = demand.missing(turn, invent)
        return _pinned(answer, turn, invent, absorbed) if absorbed else answer(turn, invent)

    return invented


class _Demand:
    """What the calls of one tool ask of an open entity."""

    def __init__(self, plan: Plan, domain: Domain, entity: Entity) -> None:
        tool: Tool = domain.tools[plan.tool]
        self._plan, self._domain, self._entity = plan, domain, entity
        self._keys: KeyMaker = key_maker(entity)
        self._limit = argument(plan.paging.limit or "")
        self._wanted = wanted_values(tool, plan, entity)
        self._matching = matching_rows(tool, plan, entity, domain.entities)
        self._written = _written_fields(domain, entity.name)
        self._texts = text_fields(entity)
        plans = (one for one in domain.plans.values() if one.entity == entity.name)
        self._is_declared = any(domain.tools[one.tool].output_schema is not None for one in plans)

    def missing(self, turn: Turn, invent: Invent) -> list[Change]:
        """Return the records to generate so that the call has a result; none if there are some, or none can match."""
        arguments = turn.call.arguments
        wanted = self._wanted(arguments)
        if len(wanted) == 1 and len(self._matching(turn.view, arguments)):
            return []
        absorbed = list[Change]()
        for one in wanted:
            if not self._is_free(turn.view, one):
                continue
            found = self._generated(turn.after(absorbed), one, invent, self._texts[:1])
            found = found or (self._generated(turn.after(absorbed), one, invent, self._texts) if one.words else [])
            absorbed += found
        return absorbed

    def _is_free(self, view: View, wanted: Wanted) -> bool:
        """Return whether nothing decides that there are no such records: tools, given values, existing records."""
        if not self._written.isdisjoint((*wanted.values, *wanted.limits)) or not self._allows(wanted.values):
            return False
        (name, value), *others = wanted.values.items() or [("", None)]
        rows = view.find(self._entity.name, name, value) if name and not wanted.words and not wanted.limits else ()
        return not any(all(record.get(other) == part for other, part in others) for _, record in rows)

    def _allows(self, values: Record) -> bool:
        fields = self._entity.fields
        return all(
            name in fields
            and fields[name].derived is None
            and value != ""
            and self._is_valid(value, fields[name].schema)
            for name, value in values.items()
        )

    def _is_valid(self, value: Json, schema: Record) -> bool:
        """Return whether a field may have a value. Schemas that no result declares describe usual values only."""
        return validity_test(schema)(value) if self._is_declared else fitting_type(value, schema)

    def _generated(self, turn: Turn, wanted: Wanted, invent: Invent, texts: Sequence[str]) -> list[Change]:
        """Generate the records, and keep those that the call finds."""
        parents = _Parents(turn, self._domain, invent).of(self._entity, wanted.values)
        if parents is None:
            return []
        changes, arguments = list(parents), turn.call.arguments
        count = self._count(turn, wanted)
        about = titles_about(wanted.words, self._entity, count, turn.draws) if wanted.words else []
        for at in range(count):
            here = turn.after(changes)
            known = {**wanted.values, **self._limited(turn, wanted, at / max(1, count - 1))}
            known |= dict.fromkeys(texts, about[at]) if about else {}
            draws = turn.draws.about(f"{turn.draws.scope}/{wanted.values}/{at}")
            key = known.get(self._entity.key) or next_key(self._entity, self._keys, here.view, draws)
            if not isinstance(key, str | int) or here.view.version(self._entity.name, key):
                break
            made = _put(here, self._entity, key, invent, known)
            changes += [made] if self._is_possible(made.record or {}) else []
        found = {key for key, _ in self._matching(turn.after(changes).view, arguments)}
        kept = [change for change in changes[len(parents) :] if change.key in found]
        return [*parents, *kept] if kept else []

    def _is_possible(self, record: Record) -> bool:
        """Return whether a record was created before it was changed."""
        times = {
            time_meaning(one.name, one.schema): parse_time(record.get(one.name)) for one in self._entity.fields.values()
        }
        created, updated = times.get("created"), times.get("updated")
        return created is None or updated is None or created <= updated

    def _count(self, turn: Turn, wanted: Wanted) -> int:
        if self._plan.verb == "get" or self._entity.key in wanted.values:
            return 1
        fewest = FEWEST_FOUND if wanted.words else FEWEST
        count = fewest + int(turn.draws.unit("how many") * fewest)
        days = [span.days for name, limits in wanted.limits.items() if len(limits) > 1
                and (span := self._interval(turn, name, limits)) is not None]  # fmt: skip
        count = min(days[0], LONGEST_SERIES) if days else count
        limit = self._limit(turn.call.arguments)
        return min(count, limit) if isinstance(limit, int) and limit > 0 else count

    def _limited(self, turn: Turn, wanted: Wanted, share: float) -> Record:
        """Return values within the limits of fields, those of times at a share of their period."""
        found: Record = {}
        for name, limits in wanted.limits.items():
            known, span = self._entity.fields.get(name), self._interval(turn, name, limits)
            if known is not None:
                found[name] = limited_value(turn, self._entity, known, limits, None if span is None else span.at(share))
        return {name: value for name, value in found.items() if value is not ABSENT}

    def _interval(self, turn: Turn, name: str, limits: Record) -> Interval | None:
        known = self._entity.fields.get(name)
        return None if known is None else Interval.of(name, known.schema, limits, turn.now)


def _written_fields(domain: Domain, entity: str) -> Collection[str]:
    """Return the fields of an entity that tools write. That no record has a value may be the effect of a write."""
    plans = [plan for one in domain.plans.values() for plan in one.variants]
    writing = [plan for plan in plans if plan.entity == entity and plan.verb == "update"]
    return frozenset(name for plan in writing for name in (*plan.sets.values(), *plan.fixed))


@dataclass(frozen=True, slots=True)
class _Parents:
    """The records that the links of a new record refer to."""

    turn: Turn
    domain: Domain
    invent: Invent

    def of(self, entity: Entity, values: Record) -> list[Change] | None:
        """Return the linked records to generate, or None if one does not exist and must not be generated."""
        found: list[Change] = []
        for name, value in values.items():
            link = entity.fields[name].link if name in entity.fields else None
            target = self.domain.entities.get(link or "")
            if target is None or find_key(self.turn.view, target.name, value) is not None:
                continue
            accepts = _acceptance(target, name, self.domain)
            if not target.open or not isinstance(value, str | int) or not accepts(self.turn.view, value):
                return None
            found.append(_put(self.turn, target, value, self.invent))
        return found
