"""Make distances and travel times agree with start, destination and means of transport."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.geography import city_in, distance_km
from mcp_sim.generate.ranges import unit_of
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.shipped_data import load
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import snake, words

Adjustment: TypeAlias = Callable[[Record], None]

_ENDS = r"(?:_(?:city|airport|address|location|place|point|code|iata|name))?"
_FROM = re.compile(rf"(?:.*_)?(?:origin|from|start|source|departure|pickup){_ENDS}")
_TO = re.compile(rf"(?:.*_)?(?:destination|to|end|target|arrival|dropoff){_ENDS}")
_DISTANCE = re.compile(r"(?:.*_)?distance(?:_.*)?")
_DURATION = re.compile(r"(?:.*_)?(?:duration|travel_time|eta)(?:_.*)?")
_MODE = re.compile(r"(?:.*_)?(?:mode|transport|profile|vehicle)(?:_.*)?")
_NUMBERS = frozenset({"integer", "number"})
_WITHIN_KM = 9
"""The longest way within a city."""


def travel_adjustments(entity: Entity, fields: Mapping[str, Field]) -> Iterator[tuple[str, Adjustment]]:
    """Yield what computes the distances and durations of a way between two cities, by the name of the field."""
    texts = [field for field in fields.values() if main_type(field.schema) == "string"]
    start, end, mode = (_named(texts, names) for names in (_FROM, _TO, _MODE))
    if start is None or end is None:
        return
    by_noun = _mode_of(words(entity.name))
    lengths, times = _units(entity, fields, _DISTANCE, "length"), _units(entity, fields, _DURATION, "time")

    def way(record: Record) -> float:
        return _length(str(record.get(start.name)), str(record.get(end.name)))

    for name, size in lengths.items():
        yield name, _set(fields[snake(name)], way, lambda km, _record, size=size: km * 1000 / size)
    for name, size in times.items():
        yield name, _set(fields[snake(name)], way, lambda km, r, size=size: _hours(km, r, mode, by_noun) * 3600 / size)


def _named(fields: Iterable[Field], names: re.Pattern[str]) -> Field | None:
    return next((field for field in fields if names.fullmatch(snake(field.name))), None)


def _units(entity: Entity, fields: Mapping[str, Field], names: re.Pattern[str], measure: str) -> dict[str, float]:
    """Return the sizes of the units of number fields with such names, in metres or seconds."""
    found = [one for name, one in fields.items() if names.fullmatch(name) and main_type(one.schema) in _NUMBERS]
    sizes = {one.name: unit_of(entity.name, one.name, str(one.schema.get("description")), measure) for one in found}
    return {name: size for name, size in sizes.items() if size is not None}


def _length(start: str, end: str) -> float:
    """Return the length of a way in km, the same in both directions. Ways between two cities have different detours."""
    ends = sorted(place.strip().casefold() for place in (start, end))
    if ends[0] == ends[1]:
        return 0
    cities, share = (city_in(start), city_in(end)), Chance("/".join(ends).encode("utf-8", "surrogatepass")).unit()
    if cities[0] is not None and cities[1] is not None and cities[0] is not cities[1]:
        apart = distance_km(cities[0], cities[1])
    else:
        apart = _WITHIN_KM * share
    return round(0.3 + apart * (load("geography")["detour"] + share / 10), 1)


def _hours(km: float, record: Record, mode: Field | None, by_noun: Record | None) -> float:
    """Return how long a way takes: longer ways are faster."""
    if not km:
        return 0
    chosen = _mode_of(words(str(record.get(mode.name)))) if mode is not None and record.get(mode.name) else None
    speed: Any = chosen or by_noun or load("geography")["modes"][0]
    return speed["hours"] + km / (speed["slow"] + (speed["fast"] - speed["slow"]) * km / (km + speed["half"]))


def _mode_of(parts: Iterable[str]) -> Record | None:
    known = {*parts}
    return next((mode for mode in load("geography")["modes"] if not known.isdisjoint(mode["names"])), None)


def _set(field: Field, way: Callable[[Record], float], value: Callable[[float, Record], float]) -> Adjustment:
    whole, allows = main_type(field.schema) == "integer", validity_test(field.schema)

    def adjust(record: Record) -> None:
        made = value(way(record), record)
        made = max(1 if made else 0, round(made)) if whole else round(made, 1)
        if record.get(field.name) is not None and allows(made):
            record[field.name] = made

    return adjust
