"""Tables: the initial records of worlds, searched by value, bounds or words.

A table is frozen, and indexed when an index is first needed. All worlds of a scenario and seed share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mcp_sim.types import Bound, Json, Key, Record
from mcp_sim.types.json_values import canonical, values_at

Rows = list[tuple[Key, Record]]


def comparable(value: Json) -> Any:
    """Return a hashable value that is equal exactly if the JSON values are equal (1 = 1.0, but True is not 1)."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, dict | list):
        return ("json", canonical(value))
    return value


def comparables(record: Record, field: str) -> Sequence[Any]:
    """Return the comparable value of a field, or the values at a path into it (`address.city`, `items.*.sku`)."""
    if "." not in field or field in record:
        return (comparable(record.get(field)),)
    return [comparable(value) for value in values_at(record, field.split("."))]


def lowered(record: Record, fields: Sequence[str]) -> str:
    """Return the values of these fields as text in lower case, one per line."""
    return "\n".join([str(value) for field in fields if (value := record.get(field)) is not None]).lower()


def _places(among: Sequence[int], measured: Sequence[float], bound: Bound) -> list[int]:
    """Return the places whose number is within the bound.

    Each comparison has a loop of its own, since calls cost more.
    """
    value = bound.value
    match bound.op:
        case "gt":
            return [at for at in among if measured[at] > value]
        case "gte":
            return [at for at in among if measured[at] >= value]
        case "lt":
            return [at for at in among if measured[at] < value]
        case _:
            return [at for at in among if measured[at] <= value]


class Table:
    """The initial records of one entity: frozen, in the order of creation, indexed by field on first use."""

    __slots__ = ("_indexes", "_keys", "_measures", "_positions", "_rows", "_texts", "last_key", "records")

    def __init__(self, records: Mapping[Key, Record]) -> None:
        self.records = dict(records)
        self.last_key = next(reversed(self.records), None)
        self._indexes: dict[str, dict[Any, Rows]] = {}
        self._positions: dict[Key, int] | None = None
        self._keys: Sequence[Key] | None = None
        self._texts: dict[tuple[str, ...], list[str]] = {}
        self._measures: dict[tuple[str, Callable[[Json], float]], list[float]] = {}
        self._rows: Rows | None = None

    def find_equal(self, field: str, value: Json) -> Sequence[tuple[Key, Record]]:
        """Return the rows with this value in this field."""
        index = self._indexes.get(field)
        if index is None:
            index = dict[Any, Rows]()
            for row in self.records.items():
                for found in dict.fromkeys(comparables(row[1], field)):
                    index.setdefault(found, []).append(row)
            self._indexes[field] = index
        return index.get(comparable(value), ())

    def rows(self) -> Rows:
        """Return all rows."""
        if self._rows is None:
            self._rows = list(self.records.items())
        return self._rows

    def find_within(self, bounds: Sequence[Bound]) -> Rows:
        """Return the rows within all of these bounds."""
        rows = self.rows()
        left: Sequence[int] = range(len(rows))
        for bound in bounds:
            left = _places(left, self._measured(bound.field, bound.measure), bound)
        return [rows[at] for at in left]

    def _measured(self, field: str, measure: Callable[[Json], float]) -> list[float]:
        found = self._measures.get((field, measure))
        if found is None:
            found = [measure(record.get(field)) for record in self.records.values()]
            self._measures[field, measure] = found
        return found

    def find_words(self, fields: Sequence[str], words: Sequence[str]) -> Sequence[tuple[Key, Record]]:
        """Return the rows in whose fields all of these words occur."""
        names = tuple(fields)
        texts = self._texts.get(names)
        if texts is None:
            texts = self._texts[names] = [lowered(record, names) for record in self.records.values()]
        rows = zip(self.rows(), texts, strict=True)
        if len(words) == 1:
            word = words[0]
            return [row for row, text in rows if word in text]
        return [row for row, text in rows if all(word in text for word in words)]

    def keys(self) -> Sequence[Key]:
        """Return all keys in the order of creation."""
        if self._keys is None:
            self._keys = [*self.records]
        return self._keys

    def position(self, key: Key) -> int:
        """Return the place of a key in the order of creation."""
        if self._positions is None:
            self._positions = {key: at for at, key in enumerate(self.records)}
        return self._positions[key]


EMPTY_TABLE = Table({})


class Tables(Mapping[str, Table]):
    """The initial records of worlds, built when they are first read."""

    __slots__ = ("_build", "_tables")

    def __init__(self, build: Callable[[], Mapping[str, Mapping[Key, Record]]]) -> None:
        self._build: Callable[[], Mapping[str, Mapping[Key, Record]]] | None = build
        self._tables: dict[str, Table] = {}

    def __getitem__(self, entity: str) -> Table:
        return self.built()[entity]

    def __iter__(self) -> Iterator[str]:
        return iter(self.built())

    def __len__(self) -> int:
        return len(self.built())

    def built(self) -> Mapping[str, Table]:
        """Return all tables."""
        if self._build is not None:
            self._tables = {entity: Table(rows) for entity, rows in self._build().items()}
            self._build = None
        return self._tables
