"""Does a record pass one filter: equal, among, containing, within bounds, with a text?"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from datetime import timedelta
from math import nan
from typing import TypeAlias, cast

from mcp_sim.backends.records.lookups import Lookup
from mcp_sim.generate.times import moment_of, sense
from mcp_sim.types import COMPARISONS, Bound, Json, Record, View
from mcp_sim.types.domain import Entity
from mcp_sim.types.plans import Filter
from mcp_sim.world.tables import lowered

Test: TypeAlias = Callable[[Record], bool]
_DAY = timedelta(days=1)
_PART_OF_TIME = re.compile(r"\d{4}(-\d\d)?")


def equal(left: Json, right: Json) -> bool:
    return left == right and isinstance(left, bool) == isinstance(right, bool)


def test_maker(rule: Filter, derived: Mapping[str, Lookup]) -> Callable[[Json, View], Test]:
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
    if rule.op == "equals":
        return lambda wanted, _view: lambda record: equal(record.get(field), wanted)
    if rule.op == "not":
        return lambda wanted, _view: lambda record: not equal(record.get(field), wanted)
    return lambda wanted, _view: _texts_compared(field, rule.op, wanted)


def _shown_as(shown: Lookup, wanted: Json, view: View) -> Test:
    """A derived field shows the wanted value; texts are the same in upper and lower case."""
    lowered = wanted.lower() if isinstance(wanted, str) else wanted

    def test(record: Record) -> bool:
        value = shown(view, record)
        return equal(value.lower() if isinstance(value, str) else value, lowered)

    return test


def _any_of(field: str, wanted: list[Json]) -> Test:
    return lambda record: any(equal(record.get(field), value) for value in wanted)


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


def within_time(entity: Entity, field: str, wanted: Json) -> Test | None:
    """The test of a time that is asked for by its year or its month; None for any other value."""
    schema = entity.fields[field].schema if field in entity.fields else {}
    if not isinstance(wanted, str) or not _PART_OF_TIME.fullmatch(wanted) or sense(field, schema) is None:
        return None
    return lambda record: str(record.get(field) or "").startswith(wanted)


def bound_set(rule: Filter, entity: Entity, derived: Container[str], wanted: Json) -> Bound | None:
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


def without(unwanted: Sequence[str], fields: Sequence[str]) -> Test:
    def test(record: Record) -> bool:
        whole = lowered(record, fields)
        return not any(word in whole for word in unwanted)

    return test


def text_test(words: Sequence[str], fields: Sequence[str]) -> Test:
    def test(record: Record) -> bool:
        whole = lowered(record, fields)
        return all(word in whole for word in words)

    return test
