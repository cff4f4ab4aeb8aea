"""Tables: the initial records of worlds, searched by value, bounds or words.

A table is frozen, and indexed when an index is first needed. All worlds of a scenario and seed share it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from mcp_sim.types import Bound, Json, Key, Record
from mcp_sim.types.json_values import canonical, encode, values_at

Hit = tuple[Key, Record]
Rows = list[Hit]

FEW_HITS = 1000
"""The most rows whose texts are read one by one. More are searched in the index of texts, which costs the same for each
search but must be built."""

MEMORY_PER_BYTE = 4
"""Bytes of memory for one byte of a record's JSON: 3 in the worlds of a CRM and a shop, and one for indexes."""

UNREAD_BYTES = 2000
"""Bytes of memory of tables that are not built yet."""

BLOCK = 64
"""How many texts are searched at once. One search of the joined text replaces this many; where it succeeds, each is
searched again."""

_SHARE = 8
"""More than this part of the rows are many: then all are looked at in their order, which is faster than sorting."""


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


def _lowered(value: Json) -> str:
    return value.lower() if type(value) is str else "" if value is None else str(value).lower()


def lowered(record: Record, fields: Sequence[str]) -> str:
    """Return the values of these fields as text in lower case, one per line."""
    return "\n".join([str(value) for field in fields if (value := record.get(field)) is not None]).lower()


def _is_number(value: float) -> bool:
    """Whether it is not not-a-number. It may be an integer beyond all floats."""
    return value == value  # noqa: PLR0124 (`isnan` fails for such an integer)


class NumberColumn:
    """The measures of one field, in which those within bounds are found. Not-a-number is within none."""

    __slots__ = ("_order", "_sorted", "values")

    def __init__(self, values: list[float]) -> None:
        self.values = values
        # Sorting with not-a-number has no defined order.
        order = sorted([at for at, value in enumerate(values) if _is_number(value)], key=values.__getitem__)
        self._order = array("L", order)
        self._sorted = [values[at] for at in order]

    def span(self, bounds: Iterable[Bound]) -> range:
        """Return which of the sorted measures are within all of these bounds."""
        start, stop = 0, len(self._sorted)
        for bound in bounds:
            if not _is_number(bound.value):
                return range(0)
            match bound.op:
                case "gt":
                    start = max(start, bisect_right(self._sorted, bound.value))
                case "gte":
                    start = max(start, bisect_left(self._sorted, bound.value))
                case "lt":
                    stop = min(stop, bisect_left(self._sorted, bound.value))
                case _:
                    stop = min(stop, bisect_right(self._sorted, bound.value))
        return range(start, stop)

    def places(self, span: range) -> list[int]:
        """Return the places of a span of the sorted measures, in the order of creation."""
        return sorted(self._order[span.start : span.stop])

    def within(self, among: Iterable[int], bound: Bound) -> list[int]:
        """Return those of the places whose measure is within the bound.

        Each comparison has a loop of its own, since calls cost more.
        """
        value, measured = bound.value, self.values
        match bound.op:
            case "gt":
                return [at for at in among if measured[at] > value]
            case "gte":
                return [at for at in among if measured[at] >= value]
            case "lt":
                return [at for at in among if measured[at] < value]
            case _:
                return [at for at in among if measured[at] <= value]


class TextColumn:
    """The texts of one field in lower case, in which a part of a text is found."""

    __slots__ = ("_blocks", "_letters", "_places", "_texts")

    def __init__(self, given: list[str]) -> None:
        known = dict.fromkeys(given)
        self._texts, self._places = given, list[list[int]]()
        """The places of each text; empty if each has the place of its own number."""
        # Fields such as a status have a few texts, which are searched once each instead of once a row.
        if len(known) <= len(given) // 2:
            places: dict[str, list[int]] = {text: [] for text in known}
            for at, text in enumerate(given):
                places[text].append(at)
            self._texts, self._places = list(places), list(places.values())
        starts = range(0, len(self._texts), BLOCK)
        self._blocks = ["\n".join(self._texts[start : start + BLOCK]) for start in starts]
        # Most words that match nothing have a letter that no text has: they are not searched at all.
        self._letters = frozenset[str]().union(*self._blocks)

    def find(self, word: str) -> Iterable[int]:
        """Return the places of the texts in which a word occurs. A word has no line breaks."""
        if not self._letters.issuperset(word):
            return ()
        starts = [at * BLOCK for at, block in enumerate(self._blocks) if word in block]
        texts = self._texts
        rows = [at for start in starts for at, text in enumerate(texts[start : start + BLOCK], start) if word in text]
        return chain.from_iterable([self._places[at] for at in rows]) if self._places else rows


class Table:
    """The initial records of one entity: frozen, in the order of creation, indexed by field on first use."""

    __slots__ = ("_indexes", "_keys", "_measures", "_positions", "_rows", "_texts", "last_key", "records")

    def __init__(self, records: Mapping[Key, Record]) -> None:
        self.records = dict(records)
        self.last_key = next(reversed(self.records), None)
        self._indexes: dict[str, dict[Any, Rows]] = {}
        self._positions: dict[Key, int] | None = None
        self._keys: Sequence[Key] | None = None
        self._texts: dict[str, TextColumn] = {}
        self._measures: dict[tuple[str, Callable[[Json], float]], NumberColumn] = {}
        self._rows: Rows | None = None

    def find_equal(self, field: str, value: Json) -> Sequence[tuple[Key, Record]]:
        """Return the rows with this value in this field."""
        index = self._indexes.get(field)
        if index is None:
            index = self._indexes[field] = self._indexed(field)
        return index.get(comparable(value), ())

    def _indexed(self, field: str) -> dict[Any, Rows]:
        index = dict[Any, Rows]()
        for row in self.rows():
            value = row[1].get(field)
            if type(value) is str:  # nearly always, and ten times as fast
                values: Sequence[Any] = (value,)
            else:
                values = comparables(row[1], field)
            for key in values if len(values) < 2 else dict.fromkeys(values):
                if key in index:
                    index[key].append(row)
                else:
                    index[key] = [row]
        return index

    def rows(self) -> Rows:
        """Return all rows."""
        if self._rows is None:
            self._rows = list(self.records.items())
        return self._rows

    def find_within(self, bounds: Sequence[Bound]) -> Rows:
        """Return the rows within all of these bounds. `bounds` is not empty.

        If few rows are within the bounds of a field, only those are looked at.
        """
        rows = self.rows()
        columns = {(bound.field, bound.measure): self._measured(bound.field, bound.measure) for bound in bounds}
        spans = {
            key: column.span(bound for bound in bounds if (bound.field, bound.measure) == key)
            for key, column in columns.items()
        }
        # A bisection for 2 % of 100,000 records takes 0.04 ms, where a scan takes 6 ms.
        narrowest = min(spans, key=lambda key: len(spans[key]))
        left: Iterable[int] = range(len(rows))
        if len(spans[narrowest]) <= len(rows) // _SHARE:
            left = columns[narrowest].places(spans[narrowest])
            bounds = [bound for bound in bounds if (bound.field, bound.measure) != narrowest]
        for bound in bounds:
            left = columns[bound.field, bound.measure].within(left, bound)
        return [rows[at] for at in left]

    def _measured(self, field: str, measure: Callable[[Json], float]) -> NumberColumn:
        column = self._measures.get((field, measure))
        if column is None:
            column = NumberColumn([measure(record.get(field)) for record in self.records.values()])
            self._measures[field, measure] = column
        return column

    def find_words(self, fields: Sequence[str], words: Sequence[str]) -> Sequence[Hit]:
        """Return the rows in whose fields all of these words occur."""
        rows = self.rows()
        # The longest word first: it leaves the fewest rows to look at.
        first, *others = sorted(words, key=len, reverse=True) or [""]
        places = self._places_of(first, fields)
        for word in others:
            if len(places) > FEW_HITS:
                places &= self._places_of(word, fields)
            else:
                places = {at for at in places if word in lowered(rows[at][1], fields)}
        if len(places) > len(rows) // _SHARE:
            return [row for at, row in enumerate(rows) if at in places]
        return [rows[at] for at in sorted(places)]

    def _places_of(self, word: str, fields: Sequence[str]) -> set[int]:
        """Return the places of the rows in whose fields a word occurs."""
        places = set[int]()
        for field in fields if word else ():
            if field not in self._texts:
                values = [record.get(field) for record in self.records.values()]
                self._texts[field] = TextColumn([_lowered(value) for value in values])
            places.update(self._texts[field].find(word))
        return places if word else {*range(len(self.records))}

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

    __slots__ = ("_build", "_size", "known")

    def __init__(self, build: Callable[[], Mapping[str, Mapping[Key, Record]]]) -> None:
        self._build: Callable[[], Mapping[str, Mapping[Key, Record]]] | None = build
        self.known: dict[str, Table] = {}
        """The tables that are built, for reads that save a call."""
        self._size = 0

    def __getitem__(self, entity: str) -> Table:
        return self.built()[entity]

    def __iter__(self) -> Iterator[str]:
        return iter(self.built())

    def __len__(self) -> int:
        return len(self.built())

    def built(self) -> Mapping[str, Table]:
        """Return all tables."""
        build = self._build  # another thread may build them meanwhile: the same ones, twice
        if build is not None:
            self.known = {entity: Table(rows) for entity, rows in build().items()}
            self._build = None
        return self.known

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        if self._size == 0 and self._build is None:
            records = (record for table in self.known.values() for record in table.records.values())
            self._size = MEMORY_PER_BYTE * sum(len(encode(record)) for record in records)
        return self._size + UNREAD_BYTES
