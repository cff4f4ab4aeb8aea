"""Aggregate records: counts by state, sums, means and shares of their numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.generate.timeline import is_over, status_of
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import constants, is_rows, items, main_type, properties
from mcp_sim.types.lexicon.english import last_word, plural, singular, snake, vocabulary, words
from mcp_sim.types.time_formats import seconds_of

_FILLING = vocabulary("total count number num of the all overall current sum in on with have has")
_GROUPING = _FILLING | vocabulary("by per distribution breakdown")
_SUMS = vocabulary("total sum")
_MEANS = vocabulary("average avg mean")
_LEAST, _MOST = vocabulary("min minimum lowest smallest cheapest"), vocabulary("max maximum highest largest biggest")
_SHARES = vocabulary("rate percentage percent ratio share pct")
_MONEY = vocabulary("revenue value sales spent spending worth income turnover cost amount price")
_PRICED = ("total", "total_amount", "amount", "total_price", "grand_total", "price", "value", "cost", "balance")
_AMOUNT = "amount"
"""The field of what is spent, earned or paid. Records that have it are summarised by its sums."""

_OPEN = vocabulary("pending open remaining active incomplete todo unfinished outstanding unread undone")
_DONE = vocabulary("completed complete done finished closed resolved read")
_KINDS = ("status", "state", "stage", "priority", "severity", "category", "type", "kind", "level")


@dataclass(frozen=True, slots=True)
class Seen:
    """The records to aggregate, by entity, and the time of the call."""

    rows: Mapping[str, Sequence[Record]]
    now: datetime


Measure: TypeAlias = Callable[[Seen], Json]


def measure(name: str, entity: Entity | None, entities: Mapping[str, Entity], schema: Record) -> Measure | None:
    """Return the measure that a name asks for, or None if the name matches nothing that records have.

    `entity` is the entity that is measured if the name mentions none.
    """
    asked = [singular(word) for word in words(name)]
    named = next((one for one in _longest_first(entities) if _within(words(one), asked)), None)
    subject = entities[named] if named is not None else entity
    if subject is None:
        return None
    rest = [word for word in _without(asked, words(named or "")) if word not in _FILLING]
    return _counted(subject) if not rest else _measured(rest, subject, schema)


def amount(name: str, entity: Entity, schema: Record) -> Measure | None:
    """Return the measure of a number of the records, or None unless the name says which number and how to reduce it."""
    asked = [singular(word) for word in words(name)]
    left = [word for word in asked if word not in _FILLING | _MEANS | _LEAST | _MOST and word not in words(entity.name)]
    is_reduced = not _SUMS.isdisjoint(asked) or {*asked} & (_MEANS | _LEAST | _MOST)
    return _measured([*_ways(asked), *left], entity, schema) if is_reduced and left and _number(left, entity) else None


def _ways(asked: Sequence[str]) -> list[str]:
    return [word for word in asked if word in _MEANS | _LEAST | _MOST]


def _longest_first(entities: Mapping[str, Entity]) -> list[str]:
    return sorted(entities, key=lambda name: -len(name))


def _within(parts: Sequence[str], asked: Sequence[str]) -> bool:
    return any([*asked[at : at + len(parts)]] == [*parts] for at in range(len(asked)))


def _without(asked: Sequence[str], parts: Sequence[str]) -> list[str]:
    return [word for word in asked if word not in parts]


def _counted(entity: Entity) -> Measure:
    return lambda seen: len(seen.rows[entity.name])


def _measured(rest: Sequence[str], entity: Entity, schema: Record) -> Measure:
    left = [word for word in rest if word not in _MEANS | _LEAST | _MOST | _SHARES]
    if _SHARES & {*rest}:
        return _share(_in_state(left, entity), entity, of_one=schema.get("maximum") == 1)
    field = _number(left, entity)
    if field is None:
        state = _in_state(left, entity)
        return lambda seen: sum(state(row, seen.now) for row in seen.rows[entity.name])
    reduce = _mean if _MEANS & {*rest} else min if _LEAST & {*rest} else max if _MOST & {*rest} else sum
    whole = main_type(schema) == "integer"
    return lambda seen: _reduced([*_numbers(seen.rows[entity.name], field)], reduce, whole=whole)


def _number(left: Sequence[str], entity: Entity) -> str | None:
    """Return the numeric field that is meant: the one with that name, else what a record costs."""
    numbers = {
        snake(name): name for name, one in entity.fields.items() if main_type(one.schema) in {"integer", "number"}
    }
    near = next((name for short, name in numbers.items() if left and {*left} <= {*map(singular, words(short))}), None)
    priced = next((numbers[name] for name in _PRICED if name in numbers), None)
    return near or (priced if {*left} & _MONEY or not left else None)


def _numbers(rows: Sequence[Record], field: str) -> list[float]:
    return [value for row in rows if isinstance(value := row.get(field), int | float) and not isinstance(value, bool)]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _reduced(values: Sequence[float], reduce: Callable[[Sequence[float]], float], *, whole: bool) -> Json:
    made: Any = reduce(values) if values else 0
    return round(made) if whole or isinstance(made, int) else round(made, 2)


def _share(state: Callable[[Record, datetime], bool], entity: Entity, *, of_one: bool) -> Measure:
    def share(seen: Seen) -> Json:
        rows = seen.rows[entity.name]
        found = sum(state(row, seen.now) for row in rows) / len(rows) if rows else 0.0
        return round(found, 4) if of_one else round(100 * found, 2)

    return share


def _in_state(left: Sequence[str], entity: Entity) -> Callable[[Record, datetime], bool]:
    """Return a test whether a record is in the state that words name, by a state field, a flag or its date."""
    wanted, kinds = "_".join(left), kinds_of(entity)
    flags = [name for name, one in entity.fields.items() if main_type(one.schema) == "boolean"]
    flag = next((name for name in flags if {*left} <= {*words(name)}), None)
    over = next((name for name in flags if last_word(name) in _DONE), None)
    dues = {f.name: seconds_of(f.schema) for f in entity.fields.values() if time_meaning(f.name, f.schema) == "future"}

    def holds(record: Record, now: datetime) -> bool:
        if flag is not None:
            return record.get(flag) is True
        if over is not None and wanted in _OPEN | _DONE | {"completion"}:
            return (record.get(over) is True) is (wanted not in _OPEN)
        if wanted == "overdue":
            until = now.timestamp()
            return not is_over(record) and any(seconds(record.get(name)) < until for name, seconds in dues.items())
        if wanted in {"completion", "success"}:
            return (status_of(record) or "") in _DONE
        return any(snake(str(record.get(name))) == wanted for name in kinds)

    return holds


def kinds_of(entity: Entity) -> list[str]:
    """Return the fields that divide records into kinds: state, category, type."""
    return [
        name
        for name, one in entity.fields.items()
        if one.derived is None and (snake(name).rsplit("_", 1)[-1] in _KINDS or len(constants(one.schema)) > 1)
    ]


def grouping(name: str, entity: Entity | None, entities: Mapping[str, Entity]) -> tuple[Entity, str] | None:
    """Return the field to count by, as named by `by_status`, `orders_by_status`, `status_counts` or `categories`."""
    asked = [singular(word) for word in words(name)]
    named = next((one for one in _longest_first(entities) if _within(words(one), asked)), "")
    subject = entities.get(named, entity)
    if subject is None:
        return None
    left = [word for word in asked if word not in _GROUPING]
    tried = ("_".join(left[start:]) for start in (0, len(words(named))))
    field = next((field for one in tried for field in subject.fields if snake(field) == one), None)
    return None if field is None else (subject, field)


def tally_by(entity: Entity, field: str) -> Callable[[Seen], dict[str, int]]:
    """Return a measure that counts the records per value of a field."""
    chosen = [str(one) for one in constants(entity.fields[field].schema) if one is not None]

    def tally(seen: Seen) -> dict[str, int]:
        counts = Counter(str(value) for row in seen.rows[entity.name] if (value := row.get(field)) is not None)
        return {**{one: counts[one] for one in chosen}, **counts}

    return tally


def _split_by(entity: Entity, field: str) -> Callable[[Seen], dict[str, Json]]:
    """Return a measure that sums the amounts per value of a field."""

    def split(seen: Seen) -> dict[str, Json]:
        amounts: dict[str, list[float]] = defaultdict(list)
        for row in seen.rows[entity.name]:
            amounts[str(row.get(field))] += _numbers([row], _AMOUNT)
        return {value: _reduced(numbers, sum, whole=False) for value, numbers in amounts.items()}

    return split


def plain_summary(entity: Entity | None, entities: Mapping[str, Entity]) -> Measure:
    """Return the summary to show without a schema: counts per kind, or sums of amounts."""
    if entity is not None and _AMOUNT in entity.fields:
        split = {f"by_{snake(name)}": _split_by(entity, name) for name in kinds_of(entity)}
        whole = _measured(["amount"], entity, entity.fields[_AMOUNT].schema)
        return lambda seen: {
            "total": whole(seen),
            "count": len(seen.rows[entity.name]),
            **{name: amounts(seen) for name, amounts in split.items()},
        }
    if entity is not None:
        kinds = {f"by_{snake(name)}": tally_by(entity, name) for name in kinds_of(entity)}
        return lambda seen: {
            "total": len(seen.rows[entity.name]),
            **{name: tally(seen) for name, tally in kinds.items()},
        }
    found: dict[str, Measure] = {}
    for name, one in entities.items():
        found[f"total_{plural(name)}"] = _counted(one)
        found |= {f"{plural(name)}_by_{snake(kind)}": tally_by(one, kind) for kind in kinds_of(one)[:1]}
    return lambda seen: {name: fill_part(seen) for name, fill_part in found.items()}


def place_measure(schema: Record, name: str, entity: Entity | None, entities: Mapping[str, Entity]) -> Measure | None:
    """Return the measure for a place of a result by its name, or None if the name matches nothing."""
    kind, parts = main_type(schema), properties(schema)
    if kind in {"integer", "number"}:
        return measure(name, entity, entities, schema)
    grouped = grouping(name, entity, entities)
    if parts:
        return _object(parts, name, entity, entities, grouped)
    if grouped is not None and kind == "object":
        return tally_by(*grouped)
    if grouped is not None and is_rows(schema):
        return _listed(properties(items(schema)), *grouped)
    return None


def _object(
    parts: Mapping[str, Record],
    name: str,
    entity: Entity | None,
    entities: Mapping[str, Entity],
    grouped: tuple[Entity, str] | None,
) -> Measure:
    about = entities.get("_".join(singular(word) for word in words(name)), grouped[0] if grouped else entity)
    inner = {
        part: fill for part, one in parts.items() if (fill := place_measure(one, part, about, entities)) is not None
    }
    return lambda seen: {part: fill(seen) for part, fill in inner.items()}


def _listed(parts: Mapping[str, Record], entity: Entity, field: str) -> Measure:
    """Return a measure that renders a row per value: `[{status, count}]`."""
    text = next((part for part, one in parts.items() if main_type(one) == "string"), field)
    count = next((part for part, one in parts.items() if main_type(one) in {"integer", "number"}), "count")
    tally = tally_by(entity, field)
    return lambda seen: [{text: value, count: number} for value, number in tally(seen).items()]
