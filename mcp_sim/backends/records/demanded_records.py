"""Records of open entities that a list, a search or a get by filters asks for and that do not exist yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from mcp_sim.backends.records.accepted_keys import acceptance
from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.filters import matching_rows, sets_any_field
from mcp_sim.backends.records.wanted_values import Interval, Wanted, wanted_values
from mcp_sim.generate.keys import key_maker, next_key
from mcp_sim.generate.missing_records import generate_record, limited_value, text_fields, titles_about
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.types import Change, Json, Key, Record, Turn, View
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import fitting_type
from mcp_sim.types.kinds import Invent
from mcp_sim.types.plans import Plan
from mcp_sim.types.time_formats import parse_time
from mcp_sim.types.views import find_key

_Link: TypeAlias = tuple[str, Json, Change | None]
"""A field, its value, and the record to generate that it refers to."""

FEWEST = 2
"""The fewest records that are generated for a list. The most is one less than twice as many."""

FEWEST_FOUND = 3
"""The same for a search by text."""

LONGEST_SERIES = 7
"""The most records that are generated for a period: one a day."""


class Demand:
    """What the calls of one tool ask of an open entity."""

    def __init__(self, plan: Plan, domain: Domain, entity: Entity) -> None:
        tool = domain.tools[plan.tool]
        self._plan, self._domain, self._entity = plan, domain, entity
        self._keys, self._texts = key_maker(entity), text_fields(entity)
        self._limit = argument(plan.paging.limit or "")
        self._wanted = wanted_values(tool, plan, entity)
        self._matching = matching_rows(
            tool, plan, entity, domain.entities, any_field=sets_any_field(domain, entity.name)
        )
        self._written = _written_fields(domain, entity.name)
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
            here = turn.after(absorbed)
            linked = _Linked(here, self._domain, invent).resolved(self._entity, one)
            if linked is None or not self._is_free(here.view, linked[0]):
                continue
            found = self._generated(here, *linked, invent, self._texts[:1])
            found = found or (self._generated(here, *linked, invent, self._texts) if one.words else [])
            absorbed += found
        return absorbed

    def _is_free(self, view: View, wanted: Wanted) -> bool:
        """Return whether nothing decides that there are no such records: tools, given values, existing records."""
        fields, values = self._entity.fields, wanted.values
        if not self._written.isdisjoint((*values, *wanted.limits)):
            return False
        if not all(name in fields and self._is_valid(value, fields[name].schema) for name, value in values.items()):
            return False
        (name, value), *others = values.items() or [("", None)]
        rows = view.find(self._entity.name, name, value) if name and not wanted.words and not wanted.limits else ()
        return not any(all(record.get(other) == part for other, part in others) for _, record in rows)

    def _is_valid(self, value: Json, schema: Record) -> bool:
        """Return whether a field may have a value. Schemas that no result declares describe usual values only."""
        return value != "" and (validity_test(schema)(value) if self._is_declared else fitting_type(value, schema))

    def _generated(
        self, turn: Turn, wanted: Wanted, parents: Sequence[Change], invent: Invent, texts: Sequence[str]
    ) -> list[Change]:
        """Generate the records, and keep those that the call finds."""
        changes, count = list(parents), self._count(turn, wanted)
        about = titles_about(wanted.words, self._entity, count, turn.draws) if wanted.words else []
        for at in range(count):
            known = {**wanted.values, **self._limited(turn, wanted, at / max(1, count - 1))}
            known = {**dict.fromkeys(texts, about[at]), **known} if about else known
            made = self._made(turn.after(changes), known, f"{wanted.values}/{at}", invent)
            changes += [] if made is None else [made]
        found = {key for key, _ in self._matching(turn.after(changes).view, turn.call.arguments)}
        kept = [change for change in changes[len(parents) :] if change.key in found]
        return [*parents, *kept] if kept else []

    def _made(self, turn: Turn, known: Record, part: str, invent: Invent) -> Change | None:
        """Generate one record; None if there can be none."""
        draws = turn.draws.about(f"{turn.draws.scope}/{part}")
        key = known.get(self._entity.key) or next_key(self._entity, self._keys, turn.view, draws)
        if not isinstance(key, str | int) or turn.view.version(self._entity.name, key):
            return None
        record = generate_record(turn, self._entity, key, invent, known)
        return Change("put", self._entity.name, key, record, expected=0) if self._is_possible(record) else None

    def _is_possible(self, record: Record) -> bool:
        """Return whether a record was created before it was changed."""
        fields = self._entity.fields.values()
        times = {time_meaning(one.name, one.schema): parse_time(record.get(one.name)) for one in fields}
        created, updated = times.get("created"), times.get("updated")
        return created is None or updated is None or created <= updated

    def _count(self, turn: Turn, wanted: Wanted) -> int:
        if self._plan.verb == "get" or self._entity.key in wanted.values:
            return 1
        fewest = FEWEST_FOUND if wanted.words else FEWEST
        count = fewest + int(turn.draws.unit("how many") * fewest)
        spans = (self._interval(turn, name, limits) for name, limits in wanted.limits.items() if len(limits) > 1)
        days = [span.days for span in spans if span is not None]
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


def _written_fields(domain: Domain, entity: str) -> frozenset[str]:
    """Return the fields of an entity that tools write. That no record has a value may be the effect of a write."""
    plans = [plan for one in domain.plans.values() for plan in one.variants]
    writing = [plan for plan in plans if plan.entity == entity and plan.verb == "update"]
    return frozenset(name for plan in writing for name in (*plan.sets.values(), *plan.fixed))


@dataclass(frozen=True, slots=True)
class _Linked:
    """The records that the links of a new record refer to."""

    turn: Turn
    domain: Domain
    invent: Invent

    def resolved(self, entity: Entity, wanted: Wanted) -> tuple[Wanted, list[Change]] | None:
        """Return what is wanted, with links in the place of values of linked records, and the records to generate.

        None if a linked record does not exist and must not be generated.
        """
        values: Record = {}
        changes: list[Change] = []
        for name, value in wanted.values.items():
            derived = entity.fields[name].derived if name in entity.fields else None
            found = self._named(entity, name, value) if derived is None else self._with_value(entity, derived, value)
            if found is None:
                return None
            field, key, change = found
            values[field] = key
            changes += [] if change is None else [change]
        return replace(wanted, values=values), changes

    def _named(self, entity: Entity, name: str, value: Json) -> _Link | None:
        """Return a field with its value and the record that it names, if that is to be generated."""
        target = self._target(entity, name)
        if target is None or find_key(self.turn.view, target.name, value) is not None:
            return name, value, None
        may_be_new = target.open and isinstance(value, str | int)
        if not may_be_new or not acceptance(target, name, self.domain)(self.turn.view, value):
            return None
        return name, value, self._put(target, value, {})

    def _with_value(self, entity: Entity, derived: str, value: Json) -> _Link | None:
        """Return the link for a value that is shown of a linked record: to the first that has it, or to a new one."""
        link, _, field = derived.partition(".")
        target = self._target(entity, link)
        if target is None or field not in target.fields:
            return None
        found = next((key for key, _ in self.turn.view.find(target.name, field, value)), None)
        if found is not None or not target.open:
            return None if found is None else (link, found, None)
        draws = self.turn.draws.about(f"{self.turn.draws.scope}/{target.name}")
        key = next_key(target, key_maker(target), self.turn.view, draws)
        return link, key, self._put(target, key, {field: value})

    def _target(self, entity: Entity, name: str) -> Entity | None:
        field = entity.fields.get(name)
        return None if field is None or field.link is None else self.domain.entities.get(field.link)

    def _put(self, target: Entity, key: Key, known: Record) -> Change:
        record = generate_record(self.turn, target, key, self.invent, known)
        return Change("put", target.name, key, record, expected=0)
