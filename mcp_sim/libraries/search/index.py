"""The search of a world: a full-text index over the records of a table, which follows the views of calls."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from threading import Lock

from mcp_sim.libraries.search.pages import Rows, read_given_pages, sentences_of
from mcp_sim.libraries.store import Store, moved_keys
from mcp_sim.types import Json, Key, Record, View, Written
from mcp_sim.types.json_values import as_text

_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 64
"""How many different words of a query count: the rest of a whole page as a query would only cost time."""
_LONGEST_QUERY = 10_000
"""How many characters of a query count."""
_CHUNK = 64
"""How many matches are read at a time. Most queries show ten."""
_MOST_TEXT = 100_000
"""How many characters of a field are indexed: the indexes of one scenario must not outgrow its records."""
_STOP_WORDS = frozenset({
    "a", "an", "and", "are", "at", "by", "did", "do", "does", "for", "from", "had", "has", "have", "how", "in", "is",
    "it", "its", "many", "much", "of", "on", "or", "that", "the", "there", "this", "to", "was", "were", "what",
    "when", "where", "which", "who", "with",
})  # fmt: skip
"""Words that decide nothing beside others."""


def words_of(query: str) -> list[str]:
    """Return the words of a query that count, in lower case, each once."""
    every = list(dict.fromkeys(match[0].casefold() for match in _WORD.finditer(query[:_LONGEST_QUERY])))
    return ([word for word in every if word not in _STOP_WORDS] or every)[:_MOST_WORDS]


class Index:
    """SQLite's FTS5 over some fields of an entity. `weights` maps each field to what a match in it counts."""

    def __init__(self, entity: str, weights: Mapping[str, float]) -> None:
        self._entity, self._fields = entity, tuple(weights)
        self.lock = Lock()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        columns = ", ".join(f"c{number}" for number in range(len(weights)))
        self._connection.execute(
            f"CREATE VIRTUAL TABLE rows USING fts5({columns}, tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        self._rank = f"bm25(rows, {', '.join(str(float(weight)) for weight in weights.values())})"
        self._keys: dict[int, Key] = {}
        self._numbers: dict[Key, int] = {}
        self._origin: Mapping[Key, Record] = {}
        self._applied: Mapping[Key, Written] = {}

    def find(self, view: View, words: Sequence[str], least: float, most: int) -> Iterator[Record]:
        """Yield the records with some of the words, best first; the caller holds `lock` while it reads them.

        `least` is the share of the words that each must have. Where it is above 0, records with more of the words come
        first: in a table of few records, the usual ranking (BM25) takes every word for a frequent one. `most`: how many
        records are needed; -1 if that is not known.
        """
        self._follow(view)
        if least > 0:
            matching = "SELECT rowid FROM rows WHERE rows MATCH ?"
            matches = (row for word in words for row in self._connection.execute(matching, (_quoted(word),)))
            counts = Counter(self._keys[number] for (number,) in matches)
            ranked = (key for key in self._ranked(words) if counts[key] >= least * len(words))
            keys = iter(sorted(ranked, key=lambda key: -counts[key]))
        else:
            keys = self._ranked(words, most)
        return (record for key in keys if (record := view.get(self._entity, key)) is not None)

    def _ranked(self, words: Sequence[str], most: int = -1) -> Iterator[Key]:
        """Yield the keys of the rows with any of the words, best first; equal ones in the order of the table."""
        statement = f"SELECT rowid FROM rows WHERE rows MATCH ? ORDER BY {self._rank}, rowid LIMIT ?"  # noqa: S608 (own names)
        cursor = self._connection.execute(statement, (" OR ".join(map(_quoted, words)), most))
        while chunk := cursor.fetchmany(_CHUNK):
            yield from (self._keys[number] for (number,) in chunk)

    def _follow(self, view: View) -> None:
        """Move the rows to a view: what differs between the writes of the last view and those of this one."""
        origin, wanted = view.initial_records(self._entity), view.written(self._entity)
        if self._origin is not origin:
            self._connection.execute("DELETE FROM rows")
            self._keys, self._numbers, self._origin, self._applied = {}, {}, origin, {}
            self._insert(origin, {})
        if wanted is self._applied:
            return
        moved = moved_keys(self._applied, wanted)
        # In the order of creation, which decides between equal matches
        self._insert(sorted(moved, key=lambda key: wanted[key].born if key in wanted else -1), wanted)
        self._applied = wanted

    def _insert(self, keys: Iterable[Key], wanted: Mapping[Key, Written]) -> None:
        """Replace the rows of some keys by their newest state: written, else initial."""
        execute = self._connection.execute
        marks = ", ".join("?" * (len(self._fields) + 1))
        execute("BEGIN")
        for key in keys:
            if key in self._numbers:
                execute("DELETE FROM rows WHERE rowid = ?", (self._numbers[key],))
            written = wanted.get(key)
            record = self._origin.get(key) if written is None else written.record
            if record is not None:
                number = self._numbers.setdefault(key, len(self._numbers) + 1)
                self._keys[number] = key
                values = (record.get(name) for name in self._fields)
                texts = ("" if value is None else as_text(value)[:_MOST_TEXT] for value in values)
                columns = ", ".join(f"c{at}" for at in range(len(self._fields)))
                execute(f"INSERT INTO rows (rowid, {columns}) VALUES ({marks})", (number, *texts))  # noqa: S608 (own names)
        execute("COMMIT")


class Indexes:
    """The indexes of a table, one for each start of worlds: worlds with other seeds may begin with other records."""

    _MOST = 8
    """How many starts are indexed at once: an index is about as large as the texts in it."""

    def __init__(self, entity: str, weights: Mapping[str, float]) -> None:
        self._entity, self._weights = entity, weights
        self._lock = Lock()
        self._by_start: dict[int, tuple[Mapping[Key, Record], Index]] = {}

    def of(self, view: View) -> Index:
        """Return the index of worlds that began as this one."""
        start = view.initial_records(self._entity)
        with self._lock:
            kept = self._by_start.pop(id(start), None)
            if kept is None or kept[0] is not start:
                kept = start, Index(self._entity, self._weights)
            self._by_start[id(start)] = kept
            if len(self._by_start) > self._MOST:
                del self._by_start[next(iter(self._by_start))]
            return kept[1]


def _quoted(word: str) -> str:
    return f'"{word}"'


PAGE = "page"
"""The table of pages."""
_PAGE_FIELDS: Mapping[str, float] = {"title": 4.0, "text": 1.0}
"""A page whose title has the words of a query is about it; the text may only mention them."""

_FURTHEST = 1 << 31
"""No world has as many pages, and larger numbers overflow where results are counted."""

_GIVEN = "pages of the given state"


class Search:
    """Finds records by words. Each pair of table and fields has one index, which follows the writes of the world."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(
        self,
        query: str,
        table: str = PAGE,
        fields: Mapping[str, float] = _PAGE_FIELDS,
        *,
        first: int = 0,
        count: int = 10,
        least: float = 0.0,
        accepts: Callable[[Record], bool] | None = None,
    ) -> list[Record]:
        """Return the records that have words of a query in some fields, best first. They must not be changed.

        `fields` maps each field to its weight. `least` is the share of the query's words that a record must have; where
        it is given, records with more of them come first. `accepts` decides which records count. The first `first` ones
        are skipped, and at most `count` are returned.
        """
        entity = self._store.prefix + table
        key = ("search", entity, *fields.items())
        if key not in self._store.kept:
            self._store.kept[key] = Indexes(entity, fields)
        indexes: Indexes = self._store.kept[key]
        view, words = self._store.view, words_of(query)
        if not words:
            return []
        index = indexes.of(view)
        first = min(max(0, int(first)), _FURTHEST)
        last = first + min(max(0, int(count)), _FURTHEST)
        with index.lock:
            matches = index.find(view, words, least, last if accepts is None else -1)
            return [*islice(filter(accepts, matches), first, last)]

    def load(self, given: Json) -> None:
        """Add the rows and pages of a given state, unless they exist. Raises `PageError` with the place."""
        for table, rows in Rows.of(given).tables.items():
            for key, row in rows.items():
                if self._store.get(table, key) is None:
                    self._store.put(table, key, row)
        kept: tuple[Json, list[Record]] = self._store.kept.get(_GIVEN, (None, []))
        if kept[0] != given:
            kept = self._store.kept[_GIVEN] = given, read_given_pages(given)
        for page in kept[1]:
            if self._store.get(PAGE, page["url"]) is None:
                self._store.put(PAGE, page["url"], page)


def snippet(page: Record, query: str, length: int = 160) -> str:
    """Return what a search shows of a page: sentences with most words of a query, in at most `length` characters."""
    wanted = set(words_of(query))
    sentences = sentences_of(page["text"] if page["preview"] is None else page["preview"])
    scores = [len(wanted & set(words_of(sentence))) for sentence in sentences]
    ranked = sorted(range(len(sentences)), key=lambda at: -scores[at])
    chosen, room = list[int](), length
    for at in ranked:
        if chosen and len(sentences[at]) > room:
            break
        chosen.append(at)
        room -= len(sentences[at]) + 1
    text = re.sub(r"\s+", " ", " ".join(sentences[at].lstrip("# ") for at in sorted(chosen))).strip()
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"
