"""Records that a list, a search or a get by filters asks for, that do not exist yet, and that nothing rules out.

A record that an earlier call created, changed or removed rules it out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import TypeAlias

from mcp_sim.generate.keys import key_maker, next_key
from mcp_sim.generate.missing_records import (
    MOST_CANDIDATES,
    extent,
    generate_record,
    generated_put,
    limited_value,
    text_fields,
    titles_about,
)
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.time_fields import time_formatter, time_meaning
from mcp_sim.plans.records.accepted_keys import acceptance, container_arguments, containers_of
from mcp_sim.plans.records.arguments import Fetch, argument
from mcp_sim.plans.records.filters import (
    Row,
    field_value,
    filter_argument,
    matching_rows,
    query_argument,
    sets_any_field,
    term_parser,
    time_prefix_test,
)
from mcp_sim.types import COMPARISONS, Change, Json, Key, PastCall, Record, Tool, Turn, View
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, fitting_type, main_type, property_of, required
from mcp_sim.types.json_values import nest_paths
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Filter, Plan
from mcp_sim.types.time_formats import parse_time, time_format
from mcp_sim.types.views import find_key

FEWEST = 2
"""The fewest records that are generated for a list. The most is one less than twice as many."""

FEWEST_FOUND = 3
"""The same for a search by text."""

FEWEST_IN_CONTAINER = 4
"""The same for a container that no call has named before."""

_AGE = timedelta(days=30)
"""How long before the start of the world the first records of a container date back."""

_PLAIN_KEYS = frozenset({"id", "ids", "key", "name", "number", "uuid"})
"""Names of arguments that name a record, but not its entity."""

_DAY = timedelta(days=1)
_SPAN = timedelta(days=30)
"""The length of a period when a call names one end only."""

_PAST = frozenset({"created", "updated", "past", "recent"})
"""Meanings of times that are never in the future."""

Matching: TypeAlias = Callable[[View, Mapping[str, Json]], Sequence[Row]]


class Demand:
    """What the calls of one tool ask of an entity that is open, or whose records nothing specifies."""

    def __init__(self, plan: Plan, domain: Domain, entity: Entity) -> None:
        tool = domain.tools[plan.tool]
        self._plan, self._domain, self._entity, self._whole = plan, domain, entity, replace(entity, open=True)
        self._keys, self._texts = key_maker(entity), text_fields(entity)
        self._limit = argument(plan.paging.limit or "")
        self._wanted = wanted_values(tool, plan, entity)
        self._asks_for_each = any(rule.op == "in" for rule in plan.filters.values())
        self._matching = matching_rows(tool, plan, entity, any_field=sets_any_field(domain, entity.name))
        self._within = containers_of(domain).get(entity.name, frozenset())
        self._containers = container_arguments(plan, entity, domain)
        self._parents = _parents(plan, entity, domain)
        plans = [variant for variant in domain.variants if variant.entity == entity.name]
        self._is_created = not entity.open and any(read.verb == "create" for read in plans)
        self._is_whole = plan.verb == "list" and not required(tool.input_schema)
        self._is_declared = any(domain.tools[read.tool].output_schema is not None for read in plans)

    def missing(self, turn: Turn, invent: Invent) -> list[Change]:
        """Return the records to generate so that the call has a result; none if there are some, or none can match."""
        arguments = turn.call.arguments
        is_one = not self._asks_for_each or len(self._wanted(arguments)) == 1
        if is_one and self._matching(turn.view, arguments):
            return []
        absorbed = self.population(turn, invent)
        is_found = is_one and absorbed and self._matching(turn.after(absorbed).view, arguments)
        if is_found or self._is_ruled_out(turn):
            return absorbed
        for wanted in self._wanted(arguments):
            absorbed += self._missing_records(turn.after(absorbed), wanted, invent)
        return absorbed

    def _missing_records(self, turn: Turn, wanted: Wanted, invent: Invent) -> list[Change]:
        """Return the records to generate with the values of one combination, and those that they link to."""
        fields = [self._entity.fields.get(name) for name in wanted.values]
        are_links = bool(fields) and all(field is not None and field.link is not None for field in fields)
        is_of_parent = are_links and not wanted.words and not wanted.limits  # such as the tasks of a project
        if self._is_created or (self._is_whole and not is_of_parent):
            return []  # an agent would take it for what it created or tried to create, or lacked in the whole list
        parents = _missing_parents(turn, self._entity, wanted, self._domain, invent)
        if parents is None or not self._is_free(turn.view, wanted):
            return []
        changes = self._generated(turn, wanted, parents, invent, self._texts[:1])
        return changes or (self._generated(turn, wanted, parents, invent, self._texts) if wanted.words else [])

    def population(self, turn: Turn, invent: Invent, *first: Change) -> list[Change]:
        """Return the `first` records of the container that the call names, and those beside them if it is new."""
        values, absorbed = self._container(turn), [*first]

        def inside(view: View, _arguments: object) -> Sequence[Row]:
            return self._inside(view, values)

        has_held = bool(values) and (inside(turn.view, {}) or _was_emptied(turn, self._entity.name, inside))
        if not values or has_held or self._is_ruled_out(turn):
            return absorbed
        count = FEWEST_IN_CONTAINER + int(turn.draws.unit("population") * FEWEST_IN_CONTAINER)
        times = [field for field in self._entity.fields.values() if time_meaning(field.name, field.schema) == "created"]
        created = {field.name: time_formatter(field.name, field.schema) for field in times}
        for at in range(count):
            moment = turn.start - _AGE * (1 - (at + 1) / (count + 1))
            known = {**values, **{name: write(moment) for name, write in created.items()}}
            change = self._made(turn.after(absorbed), known, f"{values}/{at}", invent)
            absorbed += [] if change is None else [change]
        return absorbed

    def is_to_come(self, turn: Turn, key: Key) -> bool:
        """Return whether tools create records and the container that the call names has only smaller numbers."""
        if not self._is_created or not isinstance(key, int):
            return False
        values = self._container(turn)
        held = [segment for segment, _ in self._inside(turn.view, values)] if values else []
        return bool(held) and all(isinstance(segment, int) and segment < key for segment in held)

    def _container(self, turn: Turn) -> Record:
        """Return the container that the call names, as values of fields; empty if it names none."""
        named = {field: turn.call.arguments.get(name) for name, field in self._containers.items()}
        values = {field: named.get(field) for field in self._within}
        return {} if None in values.values() else values

    def _inside(self, view: View, values: Record) -> list[Row]:
        """Return the records in a container."""
        (field, value), *others = values.items()
        rows = view.find(self._entity.name, field, value)
        return [row for row in rows if all(row[1].get(name) == item for name, item in others)]

    def _is_ruled_out(self, turn: Turn) -> bool:
        """Return whether earlier calls decide that nothing matches: they emptied the list, or created its parent."""
        arguments = turn.call.arguments
        has_one = self._plan.verb == "get" and self._entity.open  # a token of its own, as soon as a site exists
        is_new = any(_was_created(turn, name, fetch(arguments)) for fetch, name in self._parents)
        return (is_new and not has_one) or _was_emptied(turn, self._entity.name, self._matching)

    def _is_free(self, view: View, wanted: Wanted) -> bool:
        """Return whether nothing decides that there are no such records: the schemas of values, existing records.

        Schemas that no result declares describe usual values only.
        """
        for path, value in wanted.values.items():
            name, *rest = path.split(".")
            field = self._entity.fields.get(name)
            schema = None if field is None else reduce(property_of, rest, field.schema)
            if schema is None or value == "":
                return False
            if not (validity_test(schema)(value) if self._is_declared else fitting_type(value, schema)):
                return False
        (name, value), *others = wanted.values.items() or [("", None)]
        rows = view.find(self._entity.name, name, value) if name and not wanted.words and not wanted.limits else ()
        return not any(all(field_value(record, other) == first for other, first in others) for _, record in rows)

    def _generated(
        self, turn: Turn, wanted: Wanted, parents: Sequence[Change], invent: Invent, texts: Sequence[str]
    ) -> list[Change]:
        """Generate the records, and keep those that the call finds."""
        changes, count = list(parents), self._count(turn, wanted)
        about = titles_about(wanted.words, self._entity, count, turn.draws) if wanted.words else []
        for at in range(count):
            known = {**wanted.values, **self._limited(turn, wanted, at / max(1, count - 1))}
            known = {**dict.fromkeys(texts, about[at]), **known} if about else known
            generated = self._made(turn.after(changes), known, f"{wanted.values}/{at}", invent)
            changes += [] if generated is None else [generated]
        keys = {key for key, _ in self._matching(turn.after(changes).view, turn.call.arguments)}
        kept = [change for change in changes[len(parents) :] if change.key in keys]
        return [*parents, *kept] if kept else []

    def _made(self, turn: Turn, known: Record, scope: str, invent: Invent) -> Change | None:
        """Generate one record; None if there can be none."""
        draws = turn.draws.about(f"{turn.draws.scope}/{scope}")
        key = known.get(self._entity.key) or next_key(self._entity, self._keys, turn.view, draws)
        if not isinstance(key, str | int) or turn.view.version(self._entity.name, key):
            return None
        plain = {name: value for name, value in known.items() if "." not in name}
        record = generate_record(turn, self._whole, key, invent, plain)
        record |= nest_paths({name: value for name, value in known.items() if name not in plain}, record)
        fields = self._entity.fields.values()
        times = {time_meaning(field.name, field.schema): parse_time(record.get(field.name)) for field in fields}
        created, updated = times.get("created"), times.get("updated")
        is_possible = created is None or updated is None or created <= updated
        return Change("put", self._entity.name, key, record, expected=0) if is_possible else None

    def _count(self, turn: Turn, wanted: Wanted) -> int:
        if self._plan.verb == "get" or self._entity.key in wanted.values:
            return 1
        fewest = FEWEST_FOUND if wanted.words else FEWEST
        count = fewest + int(turn.draws.unit("how many") * fewest)
        limit = self._limit(turn.call.arguments)
        return min(count, limit) if isinstance(limit, int) and limit > 0 else count

    def _limited(self, turn: Turn, wanted: Wanted, share: float) -> Record:
        """Return values within the limits of fields, those of times at a share of their period."""
        limited: Record = {}
        for name, limits in wanted.limits.items():
            known = self._entity.fields.get(name)
            if known is not None:
                moment = _time_within(known, limits, share, turn.now)
                limited[name] = limited_value(turn, self._entity, known, limits, moment)
        return {name: value for name, value in limited.items() if value is not ABSENT}


def _parents(plan: Plan, entity: Entity, domain: Domain) -> list[tuple[Fetch, str]]:
    """Return the arguments that name records of other entities which the asked records belong to, and these."""
    fields = {path: entity.fields.get(rule.field) for path, rule in plan.filters.items() if rule.op == "equals"}
    links = {path: field.link for path, field in fields.items() if field is not None and field.link is not None}
    keys = {
        tool_plan.key: tool_plan.entity
        for tool_plan in domain.plans.values()
        if tool_plan.key is not None and tool_plan.entity != entity.name
    }
    named = {path: keys[path] for path in fields if path in keys and snake(path) not in _PLAIN_KEYS}
    return [(argument(path), name) for path, name in {**named, **links}.items() if name is not None]


def _missing_parents(turn: Turn, entity: Entity, wanted: Wanted, domain: Domain, invent: Invent) -> list[Change] | None:
    """Return the linked records to generate. None if one does not exist and must not be generated."""
    changes: list[Change] = []
    for name, value in wanted.values.items():
        field = entity.fields.get(name)
        target = None if field is None else domain.entities.get(field.link or "")
        if target is None or find_key(turn.view, target.name, value) is not None:
            continue
        if not isinstance(value, str | int) or not acceptance(target, name, domain)(turn.view, value):
            return None
        changes.append(generated_put(turn, target, value, invent))
    return changes


def _was_emptied(turn: Turn, entity: str, matching: Matching) -> bool:
    """Whether a record matched the call before it was changed or removed, or may have."""
    view, changed = turn.view, turn.view.changed(entity)
    if not changed:
        return False
    first = view.initial_records(entity)
    records = [first[key] for key in changed if key in first]
    puts = [(change.key, change.record) for _, change in _puts(turn, entity) if change.key in changed]
    if not changed <= {*first, *(key for key, _ in puts)}:
        return True  # the history no longer shows what it was
    records += [record for _, record in puts if record is not None]
    earlier = [Change("put", entity, f"earlier version {at}", record) for at, record in enumerate(records)]
    rows = matching(view.after(earlier), turn.call.arguments)
    return not {change.key for change in earlier}.isdisjoint(key for key, _ in rows)


def _was_created(turn: Turn, entity: str, key: Json) -> bool:
    """Whether a call created this record, rather than asked for it."""
    row = turn.view.latest_write(entity, key) if isinstance(key, str | int) else None
    if row is None or row.born < 0:
        return False
    past = next((past for past, change in _puts(turn, entity) if change.key == key), None)
    return past is None or all((change.entity, change.key) != (entity, key) for change in past.absorbed)


def _puts(turn: Turn, entity: str) -> Iterator[tuple[PastCall, Change]]:
    """Yield the records of an entity that earlier calls wrote or showed first, oldest first."""
    for past in turn.history:
        for change in past.changes:
            if change.entity == entity and change.op == "put":
                yield past, change


# what a call wants ----------------------------------------------------------------------------------------------------


@frozen
class Wanted:
    """What the records of an answer have in common.

    `values` are those of fields, `limits` the bounds of fields, by operator, and `words` what some text must contain.
    """

    values: Record = field(default_factory=dict[str, Json])
    limits: Mapping[str, Record] = field(default_factory=dict[str, Record])
    words: str = ""

    def each(self, lists: Mapping[str, Json]) -> Iterator[Wanted]:
        """Yield what is wanted for each combination of the values in `lists`."""
        if not lists:
            yield self
            return
        (name, values), *others = lists.items()
        for value in dict.fromkeys(item for item in as_list(values) if isinstance(item, str | int | float)):
            yield from replace(self, values={**self.values, name: value}).each(dict(others))


def wanted_values(tool: Tool, plan: Plan, entity: Entity) -> Callable[[Record], list[Wanted]]:
    """Compile what the records that a call asks for have in common: one entry for each of several requested values."""
    rules = [(filter_argument(tool, name, entity, rule), rule) for name, rule in plan.filters.items()]
    query, parse_terms = query_argument(plan), term_parser(entity)
    fixed = dict(plan.fixed) if plan.verb in {"list", "search"} else {}
    fixed = {name: as_list(value)[0] if isinstance(value, list) else value for name, value in fixed.items()}
    timed = [(name, time_meaning(name, known.schema)) for name, known in entity.fields.items()]
    start, end = (next((name for name, held in timed if held == meaning), None) for meaning in ("start", "end"))

    def wanted(arguments: Record) -> list[Wanted]:
        given = [
            (rule, value) for fetch, rule in rules if (value := fetch(arguments)) is not ABSENT and value is not None
        ]
        values, limits, lists = dict(fixed), dict[str, Record](), dict[str, Json]()
        for rule, value in given:
            if rule.op in COMPARISONS:
                limits[rule.field] = {**limits.get(rule.field, {}), rule.op: value}
            elif rule.op == "in" and isinstance(value, list):
                lists[rule.field] = value[:MOST_CANDIDATES]
            elif time_prefix_test(entity, rule.field, value) is not None:
                month = "" if len(value) > len("2030") else "-01"  # of a year or a month
                last = f"{value}-12" if month else value
                limits[rule.field] = {"gte": f"{value}{month}-01", "lte": f"{last}-28"}
            elif rule.op != "not":
                values[rule.field] = _holding(entity, rule, value)
        asked = query(arguments)
        words = " ".join(parse_terms(asked).words)
        is_plain = isinstance(asked, str) and words == " ".join(asked.lower().split())
        if start is not None and end in limits:
            limits[start] = {**limits.pop(end), **limits.get(start, {})}  # the end follows from the start
        return [*Wanted(values, limits, " ".join(str(asked).split()) if is_plain else words).each(lists)]

    return wanted


def _holding(entity: Entity, rule: Filter, value: Json) -> Json:
    """Return a value of a field that passes a filter for equality or for a part."""
    known = entity.fields.get(rule.field)
    if known is None:
        return value
    if main_type(known.schema) == "array":
        return as_list(value) or [value]
    day = time_format(value) if rule.op == "contains" else None
    if day is None or not day.is_date or time_meaning(rule.field, known.schema) is None:
        return value
    moment = parse_time(value)
    return value if moment is None else time_formatter(rule.field, known.schema)(moment.replace(hour=9))


def _parse_utc(value: Json) -> datetime | None:
    """Return the time that a value is; None if it is not a time, or not one of the calendar in UTC."""
    moment = parse_time(value)
    with suppress(OverflowError):
        return moment and moment.astimezone(UTC)
    return None


def _time_within(field: Field, limits: Record, share: float, now: datetime) -> datetime | None:
    """Return a time at about a share, in [0, 1], of what limits allow, up to now for events of the past.

    It is on the hour by day, if that is within the limits. None if the field holds no time or nothing is allowed.
    """
    meaning = time_meaning(field.name, field.schema)
    times = {op: time for op, value in limits.items() if (time := _parse_utc(value)) is not None}
    if meaning is None or len(times) < len(limits):
        return None
    with suppress(OverflowError):
        low, high = extent(times, _DAY)
        if meaning in _PAST:
            high = now if high is None else min(high, now)
        low = low or (high or now) - _SPAN
        high = high or low + _SPAN
        moment = low + (high - low) * share
        by_day = moment.replace(hour=9 + int(share * 8), minute=0, second=0, microsecond=0)
        return None if low > high else by_day if low <= by_day <= high else moment
    return None
