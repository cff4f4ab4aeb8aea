"""Aggregate records: counts by state, sums, means and shares of their numbers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from mcp_sim.generate.time_fields import moment_of, sense
from mcp_sim.generate.timeline import is_over, status_of
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import constants, is_rows, items, main_type, properties
from mcp_sim.types.lexicon.words import last_word, plural, singular, snake, vocabulary, words

_FILLING = vocabulary("total count number num of the all overall current sum in on with have has")
_SUMS = vocabulary("total sum")
_MEANS = vocabulary("average avg mean")
_LEAST, _MOST = vocabulary("min minimum lowest smallest cheapest"), vocabulary("max maximum highest largest biggest")
_SHARES = vocabulary("rate percentage percent ratio share pct")
_MONEY = vocabulary("revenue value sales spent spending worth income turnover cost amount price")
_PRICED = ("total", "total_amount", "amount", "total_price", "grand_total", "price", "value", "cost", "balance")
_AMOUNT = "amount"
"""The field of what is spent, earned or paid; such records are summed up by what they come to."""

_OPEN = vocabulary("pending open remaining active incomplete todo unfinished outstanding unread undone")
_DONE = vocabulary("completed complete done finished closed resolved read")
_KINDS = ("status", "state", "stage", "priority", "severity", "category", "type", "kind", "level")


@dataclass(frozen=True, slots=True)
class Seen:
    """The records that are looked at, by entity, and the time at which they are."""

    rows: Mapping[str, Sequence[Record]]
    now: datetime


Measure: TypeAlias = Callable[[Seen], Json]


def measure(name: str, entity: Entity | None, entities: Mapping[str, Entity], schema: Record) -> Measure | None:
    """The number that a name asks for; None where it names nothing that records tell. `entity` is whose it is."""
    asked = [singular(word) for word in words(name)]
    named = next((one for one in _longest_first(entities) if _within(words(one), asked)), None)
    subject = entities[named] if named is not None else entity
    if subject is None:
        return None
    rest = [word for word in _without(asked, words(named or "")) if word not in _FILLING]
    return _counted(subject) if not rest else _measured(rest, subject, schema)


def amount(name: str, entity: Entity, schema: Record) -> Measure | None:
    """What a number of the records comes to, where a name says which and how; None where it says no such thing."""
    asked = [singular(word) for word in words(name)]
    left = [word for word in asked if word not in _FILLING | _MEANS | _LEAST | _MOST and word not in words(entity.name)]
    says_how = not _SUMS.isdisjoint(asked) or {*asked} & (_MEANS | _LEAST | _MOST)
    return _measured([*_ways(asked), *left], entity, schema) if says_how and left and _number(left, entity) else None


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
    """The number of a record that is meant: the one so named, else what a record costs."""
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
    """Is a record in the state that words name: by a field that says so, by a flag, or by its date?"""
    wanted, kinds = "_".join(left), kinds_of(entity)
    flags = [name for name, one in entity.fields.items() if main_type(one.schema) == "boolean"]
    meant = next((name for name in flags if {*left} <= {*words(name)}), None)
    over = next((name for name in flags if last_word(name) in _DONE), None)
    dues = [name for name, one in entity.fields.items() if sense(name, one.schema) == "future"]

    def holds(record: Record, now: datetime) -> bool:
        if meant is not None:
            return record.get(meant) is True
        if over is not None and wanted in _OPEN | _DONE | {"completion"}:
            return (record.get(over) is True) is (wanted not in _OPEN)
        if wanted == "overdue":
            return not is_over(record) and any(_is_past(record.get(name), now) for name in dues)
        if wanted in {"completion", "success"}:
            return (status_of(record) or "") in _DONE
        return any(snake(str(record.get(name))) == wanted for name in kinds)

    return holds


def _is_past(value: Json, now: datetime) -> bool:
    moment = moment_of(value)
    return moment is not None and moment < now


def kinds_of(entity: Entity) -> list[str]:
    """The fields by which records are told apart in kinds: their state, what they are about, what they are."""
    return [
        name
        for name, one in entity.fields.items()
        if one.derived is None and (snake(name).rsplit("_", 1)[-1] in _KINDS or len(constants(one.schema)) > 1)
    ]


def grouping(name: str, entity: Entity | None, entities: Mapping[str, Entity]) -> tuple[Entity, str] | None:
    """`by_status`, `orders_by_status`, `status_counts`, `categories`: the field whose values are counted."""
    asked = [singular(word) for word in words(name)]
    named = next((one for one in _longest_first(entities) if _within(words(one), asked)), None)
    subject = entities[named] if named is not None else entity
    left = [word for word in asked if word not in _FILLING | vocabulary("by per distribution breakdown")]
    for start in (0, len(words(named or ""))):
        field = "_".join(left[start:])
        for known in subject.fields if subject is not None else ():
            if subject is not None and snake(known) == field:
                return subject, known
    return None


def tally_by(entity: Entity, field: str) -> Callable[[Seen], dict[str, int]]:
    """How many records there are of each value."""
    chosen = [str(one) for one in constants(entity.fields[field].schema) if one is not None]

    def tally(seen: Seen) -> dict[str, int]:
        counts = Counter(str(value) for row in seen.rows[entity.name] if (value := row.get(field)) is not None)
        return {**{one: counts[one] for one in chosen}, **counts}

    return tally


def _split_by(entity: Entity, field: str) -> Callable[[Seen], dict[str, Json]]:
    """What the records of each value come to."""

    def split(seen: Seen) -> dict[str, Json]:
        amounts: dict[str, list[float]] = defaultdict(list)
        for row in seen.rows[entity.name]:
            amounts[str(row.get(field))] += _numbers([row], _AMOUNT)
        return {value: _reduced(numbers, sum, whole=False) for value, numbers in amounts.items()}

    return split


def plain_summary(entity: Entity | None, entities: Mapping[str, Entity]) -> Measure:
    """What is told where nothing says what to tell: how many there are of each kind, or what they come to."""
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
    return lambda seen: {name: tell(seen) for name, tell in found.items()}


def place_measure(schema: Record, name: str, entity: Entity | None, entities: Mapping[str, Entity]) -> Measure | None:
    """What stands at a place of a result of which the name says what it tells; None where it does not."""
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
    """`[{status, count}]`: a row for each value."""
    told = next((part for part, one in parts.items() if main_type(one) == "string"), field)
    count = next((part for part, one in parts.items() if main_type(one) in {"integer", "number"}), "count")
    tally = tally_by(entity, field)
    return lambda seen: [{told: value, count: number} for value, number in tally(seen).items()]
