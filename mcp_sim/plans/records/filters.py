"""Filter records by the arguments of a call."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import nan
from typing import TypeAlias, overload

from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.plans.records.arguments import Fetch, argument
from mcp_sim.types import COMPARISONS, Bound, Json, Key, Record, Tool, View
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, at, constants, items, main_type
from mcp_sim.types.json_values import NOWHERE, in_list, value_at
from mcp_sim.types.lexicon.english import is_id, snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Filter, Plan
from mcp_sim.types.time_formats import parse_time, seconds_of, time_format
from mcp_sim.types.views import find_named
from mcp_sim.world.tables import lowered

Row: TypeAlias = tuple[Key, Record]
Test: TypeAlias = Callable[[Record], bool]
TextOf: TypeAlias = Callable[[Record], str]
"""Returns what a text query searches of a record, in lower case."""

_DAY = 24 * 60 * 60.0
_MOST_READ = 500
"""The most rows whose texts are read one by one, instead of in the index of texts. The index costs a pass over all rows
of the table when it is built."""

LONGEST_QUERY = 10_000
"""Characters of the text of a search; the rest of a longer one is ignored."""

_CLAUSE = re.compile(
    r"(?<![\w.-])(-?)([A-Za-z_][\w.-]*)(?::(>=|<=|>|<)?|(>=|<=|!=|>|<|==?))(\"[^\"]*\"|'[^']*'|[^\s\"']+)"
)
_WORD = re.compile(r"[^\s\"'(),;]+")
_SIGNS = {">": "gt", ">=": "gte", "<": "lt", "<=": "lte"}

PART_OF_TIME = re.compile(r"\d{4}(-\d\d)?")
ANY = terms("arguments.unfiltered")
"""Choices of an argument that filter nothing."""


def equal(left: Json, right: Json) -> bool:
    """Return whether two values are equal. A boolean is not a number."""
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def test_maker(rule: Filter) -> Callable[[Json], Test]:
    """Return a function that makes the test of a filter for the given value."""
    field = rule.field
    if rule.op == "in":
        return lambda wanted: _any_of(field, in_list(wanted))
    if rule.until:
        return lambda wanted: _lasting(field, rule.until, wanted)
    if rule.op == "contains":
        return lambda wanted: _containing(field, wanted)
    if rule.op == "equals":
        return lambda wanted: _holds_value(field, wanted)
    if rule.op == "not":
        return lambda wanted: lambda record: not equal(record.get(field), wanted)
    compare = COMPARISONS[rule.op]  # numbers and times are compared by bounds

    def compared(wanted: Json) -> Test:
        return lambda record: (
            isinstance(value := record.get(field), str) and isinstance(wanted, str) and compare(value, wanted)
        )

    return compared


def _any_of(field: str, wanted: list[Json]) -> Test:
    return lambda record: any(equal(field_value(record, field), value) for value in wanted)


def _containing(field: str, wanted: Json) -> Test:
    """Return a test that a list contains all wanted values, or a text the wanted text, ignoring case."""
    parts = in_list(wanted)
    lowered = [str(inner).lower() for inner in parts]

    def test(record: Record) -> bool:
        value = field_value(record, field)
        if isinstance(value, list):
            return all(inner in value for inner in parts)
        return isinstance(value, str) and all(word in value.lower() for word in lowered)

    return test


def _lasting(start: str, end: str, wanted: Json) -> Test:
    """Return a test that a period contains a day. One without an end lasts. A month or a year is that of the start."""
    day = parse_time(wanted) if isinstance(wanted, str) else None
    if day is None:
        return _containing(start, wanted)

    def test(record: Record) -> bool:
        begun, ended = parse_time(record.get(start)), parse_time(record.get(end))
        return begun is not None and begun.date() <= day.date() and (ended is None or day.date() <= ended.date())

    return test


def time_prefix_test(entity: Entity, field: str, wanted: Json) -> Test | None:
    """Return the test of a time that is given as a year or month, or None for other values."""
    schema = entity.schema_of(field)
    if not isinstance(wanted, str) or not PART_OF_TIME.fullmatch(wanted) or time_meaning(field, schema) is None:
        return None
    return lambda record: str(record.get(field) or "").startswith(wanted)


def bound_of(rule: Filter, entity: Entity, wanted: Json) -> Bound | None:
    """Return the bound that an argument sets for numbers or times, or None if it sets none."""
    schema = entity.schema_of(rule.field)
    op = rule.op
    if op not in COMPARISONS:
        return None
    if time_meaning(rule.field, schema) is not None:
        seconds = seconds_of(schema)
        bound, form = seconds(wanted), time_format(wanted)
        if form is not None and form.is_date and op in {"lte", "gt"}:  # an upper bound includes its day
            return Bound(rule.field, "lt" if op == "lte" else "gte", bound + _DAY, seconds)
        return Bound(rule.field, op, bound, seconds)
    if isinstance(wanted, int | float):
        return Bound(rule.field, op, wanted, _number)
    return None


def _number(value: Json) -> float:
    return value if isinstance(value, int | float) else nan


def _text_test(words: Sequence[str], unwanted: Sequence[str], text_of: TextOf) -> Test:
    """Return a test that all of the words occur in the text of a record, and none of the unwanted ones."""

    def test(record: Record) -> bool:
        whole = text_of(record)
        return all(word in whole for word in words) and not any(word in whole for word in unwanted)

    return test


def sets_any_field(domain: Domain, entity: str) -> bool:
    """Return whether tools write fields of an entity that no schema declares."""
    return any(plan.entity == entity and "*" in plan.sets.values() for plan in domain.variants)


class AllRows(Sequence[Row]):
    """All records of an entity in the order of creation, read lazily."""

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


def matching_rows(
    tool: Tool, plan: Plan, entity: Entity, *, any_field: bool = False
) -> Callable[[View, Mapping[str, Json]], Sequence[Row]]:
    """Return a function that selects the rows passing all given filters. The first equality uses the index.

    `any_field`: records may have fields that no schema declares. A text query searches them as well.
    """
    rules = [(filter_argument(tool, name, entity, rule), rule) for name, rule in plan.filters.items()]
    indexed = [(fetch, rule.field) for fetch, rule in rules if rule.op == "equals"]
    links = _links_by_name(plan, entity)
    indexed.sort(key=lambda entry: _spread(entity, entry[1]))
    tested = [(fetch, rule, test_maker(rule)) for fetch, rule in rules if (fetch, rule.field) not in indexed]
    fixed: Record = dict(plan.fixed) if plan.verb in {"list", "search"} else {}
    always = [(field, value) for field, value in fixed.items() if value is not False and not isinstance(value, list)]
    fixed_sets = [_fixed_test(field, value) for field, value in fixed.items() if (field, value) not in always]
    name, query, parse_terms = entity.name, query_argument(plan), term_parser(entity)
    searched = text_fields(entity) if plan.query is not None else ()

    def text_of(record: Record) -> str:
        others = [name for name in record if name not in entity.fields] if any_field else ()
        return lowered(record, (*searched, *others))

    def asked_for(view: View, fetch: Fetch, field: str, arguments: Mapping[str, Json]) -> Json:
        """Return the value of a filter; the key, if it is the name of a record that the field refers to."""
        value = fetch(arguments)
        key = find_named(view, links[field], value) if field in links else None
        return value if key is None else key

    def matching(view: View, arguments: Mapping[str, Json]) -> Sequence[Row]:
        given = [
            (field, value) for fetch, field in indexed if is_given(value := asked_for(view, fetch, field, arguments))
        ]
        spans = {field: test for field, value in given if (test := time_prefix_test(entity, field, value)) is not None}
        equalities = [*(pair for pair in given if pair[0] not in spans), *always]
        others = [(asked_for(view, fetch, rule.field, arguments), rule, maker) for fetch, rule, maker in tested]
        asked = [(value, rule, maker) for value, rule, maker in others if is_given(value)]
        bounded = [(bound_of(rule, entity, value), value, maker) for value, rule, maker in asked]
        bounds = [bound for bound, _, _ in bounded if bound is not None]
        tests = [maker(value) for bound, value, maker in bounded if bound is None]
        parsed = parse_terms(query(arguments))
        tests += [*spans.values(), *parsed.tests, *fixed_sets]
        indexed_words = () if any_field else parsed.words
        if parsed.unwanted or len(indexed_words) < len(parsed.words):
            tests.append(_text_test(parsed.words if any_field else (), parsed.unwanted, text_of))
        rows, more = _candidates(view, name, equalities, bounds, _Words(indexed_words, searched, text_of))
        for test in (*tests, *more):
            rows = [row for row in rows if test(row[1])]
        return rows

    return matching


def _links_by_name(plan: Plan, entity: Entity) -> dict[str, str]:
    """Return the links that arguments other than ids filter by, with their entities: a `ward` may be its name."""
    fields = [entity.fields.get(rule.field) for path, rule in plan.filters.items() if not is_id(snake(path))]
    return {field.name: field.link for field in fields if field is not None and field.link is not None}


def text_fields(entity: Entity) -> tuple[str, ...]:
    """Return the fields that a text query searches: texts and lists of texts, not times, links and generated keys."""
    return tuple(
        name for name, field in entity.fields.items() if (name != entity.key or entity.natural) and _is_text(field)
    )


def _is_text(field: Field) -> bool:
    schema = field.schema
    inner = items(schema) if main_type(schema) == "array" else schema
    is_free = field.link is None and not constants(inner)
    is_code = str(inner.get("format", "")).startswith(("date", "time", "uuid"))
    return is_free and not is_code and main_type(inner) in {"string", ""}


@dataclass(slots=True)
class _Words:
    """Words that a text query searches in some fields."""

    words: Sequence[str]
    fields: Sequence[str]
    text_of: TextOf


def _candidates(
    view: View, name: str, equalities: Sequence[tuple[str, Json]], bounds: Sequence[Bound], words: _Words
) -> tuple[Sequence[Row], list[Test]]:
    """Return the rows that the best index finds, and the tests that they still have to pass."""
    held = [bound.holds for bound in bounds]
    if equalities or not (words.words or bounds):
        rows = _equal_rows(view, name, equalities)
        if not words.words:
            return rows, held
        if len(rows) <= _MOST_READ:
            return rows, [*held, _text_test(words.words, (), words.text_of)]
        held += [_holds_value(field, value) for field, value in equalities]
    if words.words:
        return view.search(name, words.fields, words.words), held
    return view.compare(name, bounds), []


def _holds_value(field: str, value: Json) -> Test:
    return lambda record: equal(field_value(record, field), value)


def fixed_tests(plan: Plan) -> list[Test]:
    """Return the tests that a list applies to every call."""
    return [_fixed_test(field, value) for field, value in plan.fixed.items()]


def _fixed_test(field: str, value: Json) -> Test:
    """Return a test that a field has a value or one of several. A flag that must be false may be absent."""
    if value is False:
        return lambda record: record.get(field) is not True
    return _any_of(field, as_list(value)) if isinstance(value, list) else _holds_value(field, value)


def filter_argument(tool: Tool, name: str, entity: Entity, rule: Filter) -> Fetch:
    """Return a getter for a filter argument. It returns ABSENT if the argument filters nothing.

    An argument filters nothing if it is `all` (unless that is a value of the field), or if it includes what is
    otherwise hidden. If it is missing, the default of its schema filters. A text that is a number finds numbers.
    """
    schema, field = at(tool.input_schema, name), entity.fields.get(rule.field)
    usual, read = schema.get("default"), argument(name)
    if rule.only is not None:
        return lambda arguments: rule.only if _or(read(arguments), usual) is True else ABSENT
    if rule.unless is not None:
        return lambda arguments: ABSENT if _or(read(arguments), usual) is True else rule.unless
    is_choice = rule.op == "equals" and isinstance(usual, str) and usual
    default: Json = rule.default if rule.default is not None else usual if is_choice else None
    is_word = rule.op == "equals" and main_type(schema) in {"string", ""} and rule.field != entity.key
    is_number = field is not None and main_type(field.schema) == "integer"
    held = constants(field.schema) if field is not None else []

    def fetch(arguments: Mapping[str, Json]) -> Json:
        value = read(arguments)
        value = default if value is ABSENT and default is not None else value
        if not is_word or not isinstance(value, str):
            return value
        if value.lower() in ANY and (is_number or value not in held):
            return ABSENT
        return int(value) if is_number and value.isascii() and value.isdecimal() else value

    return fetch


def _spread(entity: Entity, field: str) -> int:
    """Estimate how many records share a value of a field: 0 for few, 1 for some, 2 for many."""
    known = entity.fields.get(field)
    if field == entity.key or known is None:
        return 0
    return 1 if known.link is not None else 2


def _equal_rows(view: View, entity: str, equalities: Sequence[tuple[str, Json]]) -> Sequence[Row]:
    if not equalities:
        return AllRows(view, entity)
    (field, value), *others = equalities
    rows = view.find(entity, field, value)
    for field, value in others:
        rows = [row for row in rows if equal(field_value(row[1], field), value)]
    return rows


def field_value(record: Record, field: str) -> Json:
    """Return the value of a field, or at a path into it."""
    if "." not in field or field in record:
        return record.get(field)
    value = value_at(record, field)
    return None if value is NOWHERE else value


def _or(value: Json, usual: Json) -> Json:
    return value if is_given(value) else usual


def is_given(value: Json) -> bool:
    """Return whether a call has an argument, and not as null."""
    return value is not ABSENT and value is not None


# searched texts -------------------------------------------------------------------------------------------------------


@frozen
class Terms:
    """What a text searches for. `unwanted` words must not occur."""

    words: Sequence[str] = ()
    unwanted: Sequence[str] = ()
    tests: Sequence[Test] = field(default_factory=tuple[Test, ...])


NOTHING = Terms()


def query_argument(plan: Plan) -> Fetch:
    """Return a getter for the text that a call searches for, cut off if it is too long."""
    fetch = argument(plan.query or "")

    def query(arguments: Mapping[str, Json]) -> Json:
        text = fetch(arguments)
        return text[:LONGEST_QUERY] if isinstance(text, str) else text

    return query


def term_parser(entity: Entity) -> Callable[[Json], Terms]:
    """Compile a parser of searches over an entity. Clauses about unknown fields count as words."""
    fields = {snake(name): name for name in entity.fields}

    def parse(text: Json) -> Terms:
        if not isinstance(text, str):
            return NOTHING
        if ":" not in text and not re.search(r"[<>=]|(^|\s)-\w", text):
            return Terms(_WORD.findall(text.lower()))
        tests: list[Test] = []

        def taken(match: re.Match[str]) -> str:
            name = fields.get(snake(match[2]))
            if name is None:
                return match[0]
            sign = match[3] or match[4] or ":"
            tests.append(_clause_test(entity, name, sign, match[5].strip("\"'"), wanted=not match[1]))
            return " "

        left = _CLAUSE.sub(taken, text).lower()
        unwanted = re.findall(r"(?:^|\s)-(\w[^\s\"'(),;]*)", left)
        left = re.sub(r"(?:^|\s)-\w[^\s\"'(),;]*", " ", left)
        return Terms(_WORD.findall(left), unwanted, tuple(tests))

    return parse


def _clause_test(entity: Entity, name: str, sign: str, value: str, *, wanted: bool) -> Test:
    schema = entity.fields[name].schema
    if sign in _SIGNS:
        compare = COMPARISONS[_SIGNS[sign]]
        if time_meaning(name, schema) is not None:
            seconds = seconds_of(schema)
            bound = seconds(value)
            return lambda record: compare(seconds(record.get(name)), bound) is wanted
        number = _as_number(value)
        return lambda record: compare(_as_number(record.get(name)), number) is wanted
    lowered = value.lower()
    whole = main_type(schema) in {"integer", "number", "boolean"} or "enum" in schema
    equal = wanted != (sign == "!=")
    return lambda record: _holds_text(record.get(name), lowered, whole=whole) is equal


def _as_number(value: Json) -> float:
    try:
        return float(value) if isinstance(value, str | int | float) else nan
    except ValueError:
        return nan


def _holds_text(held: Json, wanted: str, *, whole: bool) -> bool:
    """Return whether a field has the value: entirely (`whole`), as part of its text, or as an item of a list."""
    if isinstance(held, list):
        return any(_holds_text(item, wanted, whole=True) for item in as_list(held))
    if held is None:
        return wanted in {"null", "none"}
    text = str(held).lower()
    return text == wanted if whole else wanted in text
