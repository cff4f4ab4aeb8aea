"""The search of a world."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import islice

from mcp_sim.libraries.search.index import Indexes, words_of
from mcp_sim.libraries.search.pages import Rows, read_given_pages, sentences_of
from mcp_sim.libraries.store import Store
from mcp_sim.types import Json, Record

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
        for page in self._given_pages(given):
            if self._store.get(PAGE, page["url"]) is None:
                self._store.put(PAGE, page["url"], page)

    def _given_pages(self, given: Json) -> list[Record]:
        """Return the pages of a state, which are made once for all worlds."""
        kept: tuple[Json, list[Record]] = self._store.kept.get(_GIVEN, (None, []))
        if kept[0] != given:
            kept = self._store.kept[_GIVEN] = given, read_given_pages(given)
        return kept[1]


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
