"""Which records does a list or a search show: filters, text, order and page, over a view of the state."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from itertools import islice
from math import nan
from typing import TypeAlias, cast, overload

from mcp_sim.domain import Entity, Field, Filter, Plan
from mcp_sim.json_text import canonical
from mcp_sim.paths import NOWHERE, value_at
from mcp_sim.records.lookups import Lookup, lookup
from mcp_sim.records.ordering import Row, ordering
from mcp_sim.records.refusals import invalid
from mcp_sim.records.terms import not_understood, terms
from mcp_sim.records.times import moment_of, sense
from mcp_sim.schemas import at, constants
from mcp_sim.state import lowered
from mcp_sim.types import COMPARISONS, Bound, Json, Observation, Record, Tool, Turn, View
from mcp_sim.words import vocabulary

Test: TypeAlias = Callable[[Record], bool]
Fetch: TypeAlias = Callable[[Mapping[str, Json]], Json]

ABSENT = object()
ANY = vocabulary("all any both everything")
"""Choices of an argument that narrow nothing."""

_DAY = timedelta(days=1)
_LONGEST_OFFSET = 18


@dataclass(frozen=True, slots=True)
class Page:
    """The rows of one page, how many there are on all pages, and where this page stands."""

    rows: Sequence[Row]
    total: int
    offset: int = 0
    limit: int | None = None
    cursor: str | None = None

    @property
    def has_more(self) -> bool:
        return self.offset + len(self.rows) < self.total


Select: TypeAlias = Callable[[Turn], "Page | Observation"]


def selection(tool: Tool, plan: Plan, entity: Entity, entities: Mapping[str, Entity]) -> Select:
    """The page that a call asks for, or the failure that says what is wrong with the question; compiled."""
    matching = _matching(tool, plan, entity, entities)
    order, paged = ordering(tool, plan, entity), _paged(tool, plan)
    sort, direction, query = argument(plan.sort or ""), argument(plan.order or ""), argument(plan.query or "")
    unread, understood = not_understood(entity), terms(entity)

    def select(turn: Turn) -> Page | Observation:
        arguments = turn.call.arguments
        found = matching(turn.view, arguments)
        clause = unread(query(arguments)) if not found else None
        if clause is not None:
            known = ", ".join(entity.fields)
            return invalid(tool, plan.query, query(arguments), f"Cannot search by {clause}; choose from {known}")
        words = " ".join(understood(query(arguments)).words)
        rows = order(found, sort(arguments), direction(arguments), words)
        return rows if isinstance(rows, Observation) else paged(rows, arguments)

    return select


def argument(path: str) -> Fetch:
    """Reads an argument by its dotted path; ABSENT where it is not given."""
    if "." not in path:
        return lambda arguments: arguments.get(path, ABSENT)
    parts = path.split(".")

    def fetch(arguments: Mapping[str, Json]) -> Json:
        value: Json = arguments
        for part in parts:
            if not isinstance(value, dict) or part not in value:
                return ABSENT
            value = cast("Record", value)[part]
        return value

    return fetch


class Everything(Sequence[Row]):
    """All records of an entity, in the order of creation, read no further than they are asked for."""

    __slots__ = ("_count", "_entity", "_view")

    def __init__(self, view: View, entity: str) -> None:
        self._view, self._entity, self._count = view, entity, view.count(entity)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        return self._view.rows(self._entity)

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | Sequence[Row]:
        if isinstance(at, slice) and at.step is None and (at.start or 0) >= 0 and (at.stop or 0) >= 0:
            start, stop, _ = at.indices(self._count)
            return list(islice(iter(self), start, stop))
        return list(self)[at]


# filters --------------------------------------------------------------------------------------------------------------


def _matching(
    tool: Tool, plan: Plan, entity: Entity, entities: Mapping[str, Entity]
) -> Callable[[View, Mapping[str, Json]], Sequence[Row]]:
    """The rows that pass every filter that a call gives; the first equality is looked up, not searched."""
    derived = {f.name: found for f in entity.fields.values() if (found := lookup(entity, f, entities)) is not None}
    rules = [(_narrowing(tool, name, entity.fields.get(rule.field)), rule) for name, rule in plan.filters.items()]
    indexed = [(fetch, rule.field) for fetch, rule in rules if rule.op == "equals" and rule.field not in derived]
    indexed.sort(key=lambda entry: _spread(entity, entry[1]))
    tested = [
        (fetch, rule, _test_maker(rule, derived))
        for fetch, rule in rules
        if rule.op != "equals" or rule.field in derived
    ]
    name, query, searched, understood = entity.name, argument(plan.query or ""), plan.searched, terms(entity)

    def matching(view: View, arguments: Mapping[str, Json]) -> Sequence[Row]:
        equalities = [(field, value) for fetch, field in indexed if _is_given(value := fetch(arguments))]
        asked = [(value, rule, maker) for fetch, rule, maker in tested if _is_given(value := fetch(arguments))]
        bounds = [bound for value, rule, _ in asked if (bound := _bound(rule, entity, derived, value))]
        tests = [maker(value, view) for value, rule, maker in asked if not _bound(rule, entity, derived, value)]
        asked_for = understood(query(arguments))
        words, tests = asked_for.words, [*tests, *asked_for.tests]
        if asked_for.unwanted:
            tests.append(_without(asked_for.unwanted, searched))
        if equalities or not (words or bounds):
            rows = _found(view, name, equalities)
            tests += [bound.holds for bound in bounds] + ([_text_test(words, searched)] if words else [])
        elif words:
            rows = view.search(name, searched, words)
            tests += [bound.holds for bound in bounds]
        else:
            rows = view.compare(name, bounds)
        for test in tests:
            rows = [row for row in rows if test(row[1])]
        return rows

    return matching


def _narrowing(tool: Tool, name: str, field: Field | None) -> Fetch:
    """Reads an argument; ABSENT too where it says `all`, which is one of its choices and no value of the field."""
    fetch, schema = argument(name), at(tool.input_schema, name)
    held = constants(field.schema) if field is not None else []
    wide = [one for one in constants(schema) if isinstance(one, str) and one.lower() in ANY and one not in held]
    if not wide:
        return fetch
    return lambda arguments: ABSENT if (value := fetch(arguments)) in wide else value


def _spread(entity: Entity, field: str) -> int:
    """How many records share a value of this field, roughly: 0 a few, 1 some, 2 many."""
    known = entity.fields.get(field)
    if field == entity.key or known is None:
        return 0
    return 1 if known.link is not None else 2


def _found(view: View, entity: str, equalities: Sequence[tuple[str, Json]]) -> Sequence[Row]:
    if not equalities:
        return Everything(view, entity)
    (field, value), *others = equalities
    rows = view.find(entity, field, value)
    for field, value in others:
        rows = [row for row in rows if _equal(_standing(row[1], field), value)]
    return rows


def _standing(record: Record, field: str) -> Json:
    """What stands in a field, or at a path into it."""
    if "." not in field or field in record:
        return record.get(field)
    value = value_at(record, field)
    return None if value is NOWHERE else value


def _is_given(value: Json) -> bool:
    return value is not ABSENT and value is not None


def _equal(left: Json, right: Json) -> bool:
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def _test_maker(rule: Filter, derived: Mapping[str, Lookup]) -> Callable[[Json, View], Test]:
    """The test of one filter, for the value that a call gives and the state that it looks at."""
    field = rule.field
    if field in derived:
        return lambda wanted, view: _shown_as(derived[field], wanted, view)
    if rule.op == "in":
        return lambda wanted, _view: _any_of(
            field, cast("list[Json]", wanted) if isinstance(wanted, list) else [wanted]
        )
    if rule.op == "contains":
        return lambda wanted, _view: _containing(field, wanted)
    if rule.op == "not":
        return lambda wanted, _view: lambda record: not _equal(record.get(field), wanted)
    return lambda wanted, _view: _texts_compared(field, rule.op, wanted)


def _shown_as(shown: Lookup, wanted: Json, view: View) -> Test:
    """A derived field shows the wanted value; texts are the same in upper and lower case."""
    lowered = wanted.lower() if isinstance(wanted, str) else wanted

    def test(record: Record) -> bool:
        value = shown(view, record)
        return _equal(value.lower() if isinstance(value, str) else value, lowered)

    return test


def _any_of(field: str, wanted: list[Json]) -> Test:
    return lambda record: any(_equal(record.get(field), value) for value in wanted)


def _containing(field: str, wanted: Json) -> Test:
    """In a list: each of the wanted values; in a text: the wanted text, upper and lower case being the same."""
    parts = cast("list[Json]", wanted) if isinstance(wanted, list) else [wanted]
    lowered = [str(part).lower() for part in parts]

    def test(record: Record) -> bool:
        value = record.get(field)
        if isinstance(value, list):
            return all(part in value for part in parts)
        return isinstance(value, str) and all(part in value.lower() for part in lowered)

    return test


def _texts_compared(field: str, op: str, wanted: Json) -> Test:
    """Texts compare as texts; a number is no text."""
    compare = COMPARISONS[op]

    def test(record: Record) -> bool:
        value = record.get(field)
        return isinstance(value, str) and isinstance(wanted, str) and compare(value, wanted)

    return test


def _bound(rule: Filter, entity: Entity, derived: Container[str], wanted: Json) -> Bound | None:
    """The bound that an argument sets: to numbers, or to moments; None where it sets none."""
    schema = entity.fields[rule.field].schema if rule.field in entity.fields else {}
    op = rule.op
    if rule.field in derived or op not in COMPARISONS:
        return None
    if sense(rule.field, schema) is not None:
        return _bound_of_time(rule.field, op, wanted)
    if isinstance(wanted, int | float):
        return Bound(rule.field, op, wanted, _number)
    return None


def _bound_of_time(field: str, op: str, wanted: Json) -> Bound:
    """Up to a day includes the day; after a day begins with the next one."""
    moment = moment_of(wanted)
    if moment is None:
        return Bound(field, op, nan, _seconds)
    if isinstance(wanted, str) and len(wanted) == 10 and op in {"lte", "gt"}:
        return Bound(field, "lt" if op == "lte" else "gte", (moment + _DAY).timestamp(), _seconds)
    return Bound(field, op, moment.timestamp(), _seconds)


def _number(value: Json) -> float:
    return value if isinstance(value, int | float) else nan


def _seconds(value: Json) -> float:
    moment = moment_of(value)
    return nan if moment is None else moment.timestamp()


def _without(unwanted: Sequence[str], fields: Sequence[str]) -> Test:
    def test(record: Record) -> bool:
        whole = lowered(record, fields)
        return not any(word in whole for word in unwanted)

    return test


def _text_test(words: Sequence[str], fields: Sequence[str]) -> Test:
    def test(record: Record) -> bool:
        whole = lowered(record, fields)
        return all(word in whole for word in words)

    return test


# pages ----------------------------------------------------------------------------------------------------------------


def _paged(tool: Tool, plan: Plan) -> Callable[[Sequence[Row], Mapping[str, Json]], Page | Observation]:
    """The page that the arguments choose; everything, where a tool has no way to choose."""
    paging = plan.paging
    if not paging.is_asked:
        return lambda rows, _arguments: Page(rows, len(rows))
    limits, offsets = argument(paging.limit or ""), argument(paging.offset or "")
    pages, cursors = argument(paging.page or ""), argument(paging.cursor or "")
    chooses = frozenset({paging.limit, paging.offset, paging.page, paging.cursor})

    def paged(rows: Sequence[Row], arguments: Mapping[str, Json]) -> Page | Observation:
        wrong = next((name for name in chooses if name and _is_negative(arguments.get(name))), None)
        if wrong is not None:
            told = arguments[wrong]
            return invalid(tool, wrong, told, f"{wrong} must not be negative, but is {told}")
        limit = _whole(limits(arguments), paging.size)
        limit = limit if paging.most is None else min(limit, paging.most)
        offset = _whole(offsets(arguments), 0)
        offset += max(0, _whole(pages(arguments), paging.first_page) - paging.first_page) * limit
        cursor = cursors(arguments)
        if isinstance(cursor, str) and cursor:
            start = _read_cursor(cursor, _question(arguments, chooses))
            if start is None:
                return invalid(tool, paging.cursor, cursor, f"Invalid {paging.cursor}: {cursor!r}")
            offset += start
        chosen = rows[offset : offset + limit]
        more = offset + len(chosen) < len(rows) and bool(chosen)
        following = _cursor(offset + len(chosen), _question(arguments, chooses)) if more and paging.cursor else None
        return Page(chosen, len(rows), offset, limit, following)

    return paged


def _is_negative(value: Json) -> bool:
    return isinstance(value, int | float) and value < 0


def _whole(value: Json, otherwise: int) -> int:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise


def _cursor(offset: int, question: str) -> str:
    """Opaque: where the next page begins, bound to the question that it continues."""
    return base64.urlsafe_b64encode(f"{offset}.{question}".encode()).decode().rstrip("=")


def _read_cursor(cursor: str, question: str) -> int | None:
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return None
    offset, _, asked = text.partition(".")
    return int(offset) if offset.isdigit() and len(offset) <= _LONGEST_OFFSET and asked == question else None


def _question(arguments: Mapping[str, Json], chooses: frozenset[str | None]) -> str:
    """A digest of what was asked for, except the page: a cursor continues one question, not another."""
    kept = {name: value for name, value in arguments.items() if name not in chooses}
    return sha256(canonical(kept).encode("utf-8", "surrogatepass")).hexdigest()[:8]
