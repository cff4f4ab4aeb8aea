"""Collections in a view, filters, and similarity."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.vectors.matching import COLLECTION, DOCUMENT
from mcp_sim.types import Change, Json, Record, View
from mcp_sim.types.conditions import equal
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import singular

KEY = "key"
"""Field that identifies a text within the world: its collection and its id."""


@dataclass(slots=True)
class Store:
    """The collections in a view, and the changes by a call."""

    view: View
    prefix: str = ""
    changes: list[Change] = field(default_factory=list[Change])

    def collections(self) -> list[Record]:
        return [record for _, record in self.view.rows(self.prefix + COLLECTION)]

    def collection(self, name: str) -> Record | None:
        return self.view.get(self.prefix + COLLECTION, name)

    def known(self, name: str) -> Record:
        """Return a collection. Raises `Refused` if it does not exist."""
        found = self.collection(name)
        if found is None:
            raise Refused("not_found", f"Collection {name} does not exist", key=name, entity=COLLECTION)
        return found

    def texts(self, name: str) -> list[Record]:
        return [record for _, record in self.view.find(self.prefix + DOCUMENT, COLLECTION, name)]

    def text(self, name: str, id_: str) -> Record | None:
        return self.view.get(self.prefix + DOCUMENT, key_of(name, id_))

    def put_collection(self, name: str, record: Record | None) -> None:
        self._put(self.prefix + COLLECTION, name, record)

    def put_text(self, name: str, id_: str, record: Record | None) -> None:
        key = key_of(name, id_)
        whole = None if record is None else {**record, KEY: key, COLLECTION: name, "id": id_}
        self._put(self.prefix + DOCUMENT, key, whole)

    def _put(self, entity: str, key: str, record: Record | None) -> None:
        expected = self.view.version(entity, key)
        op = "remove" if record is None else "put"
        self.changes.append(Change(op, entity, key, record, expected=expected))


def key_of(collection: str, id_: str) -> str:
    """Return the key of a text, unique for collection and id."""
    return f"{collection.replace('|', '||')} | {id_}"


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
