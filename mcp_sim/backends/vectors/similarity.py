"""Filters of texts, and their similarity to a question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.conditions import equal
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import singular

# filters ----------------------------------------------------------------------------------------------------------


def filter_records(records: Iterable[Record], where: Json, holding: Json) -> list[Record]:
    """Return the texts whose metadata and words match the filters."""
    return [
        one
        for one in records
        if _holds(as_object(where), lambda name, one=one: as_object(one.get("metadata")).get(name))
        and _holds({"": holding} if holding else {}, lambda _name, one=one: one.get("text"))
    ]


def _holds(conditions: Record, value_of: Callable[[str], Json]) -> bool:
    return all(_is(name, wanted, value_of) for name, wanted in conditions.items())


def _is(name: str, wanted: Json, value_of: Callable[[str], Json]) -> bool:
    if name == "$and":
        return all(_holds(as_object(one), value_of) for one in as_list(wanted))
    if name == "$or":
        return any(_holds(as_object(one), value_of) for one in as_list(wanted))
    found = value_of(name)
    tests = as_object(wanted) or {"$eq": wanted}
    return all(_compares(sign, found, bound, value_of) for sign, bound in tests.items())


def _compares(sign: str, found: Json, bound: Json, value_of: Callable[[str], Json]) -> bool:
    if sign in {"$and", "$or"}:
        inner = [{"": one} for one in as_list(bound)]
        return (all if sign == "$and" else any)(_holds(one, value_of) for one in inner)
    if sign not in _SIGNS:
        raise Refused("invalid", f"Unknown operator {sign}; use {', '.join(_SIGNS)}")
    try:
        return _SIGNS[sign](found, bound)
    except TypeError:
        return False


_SIGNS: Mapping[str, Callable[[Json, Json], bool]] = {
    "$eq": equal, "$ne": lambda a, b: not equal(a, b),
    "$gt": lambda a, b: a > b, "$gte": lambda a, b: a >= b, "$lt": lambda a, b: a < b, "$lte": lambda a, b: a <= b,
    "$in": lambda a, b: a in as_list(b), "$nin": lambda a, b: a not in as_list(b),
    "$contains": lambda a, b: str(b) in str(a), "$not_contains": lambda a, b: str(b) not in str(a),
}  # fmt: skip


# similarity -------------------------------------------------------------------------------------------------------


def rank(records: Iterable[Record], query: str) -> list[tuple[Record, float]]:
    """Return the texts with their distance from a question, nearest first, by shared words."""
    wanted = _counts(query)
    found = [(one, round(2 - 2 * _likeness(wanted, _counts(one.get("text") or "")), 6)) for one in records]
    return sorted(found, key=lambda one: one[1])


def _counts(text: str) -> Counter[str]:
    return Counter(singular(word) for word in re.findall(r"\w+", str(text).lower()))


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    shared = sum(count * other[word] for word, count in one.items())
    size = math.sqrt(sum(n * n for n in one.values())) * math.sqrt(sum(n * n for n in other.values()))
    return shared / size if size else 0.0
