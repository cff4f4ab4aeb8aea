"""Views of a state that another process holds: what a confined program reads.

Each question goes to that process, which answers it from the state (`workers.Views`). Records that came along with an
answer are not asked for again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mcp_sim.programs.results import plain
from mcp_sim.types import Bound, Change, Json, Key, Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import decode
from mcp_sim.types.views import View, Written

Hit: TypeAlias = tuple[Key, Record | None, int]
"""A record with its key and its version."""

_OPERATIONS = ("put", "remove", "reserve")

Ask: TypeAlias = Callable[[list[Any]], Any]
"""Sends `[view, changes, question, ...]` and returns the answer. With changes, the view is the one after them."""


@dataclass(slots=True)
class Connection:
    """What all views of one call share."""

    ask: Ask
    views: int = 1
    """How many views the other process knows. The first one is the state before the call."""
    initial: dict[str, Mapping[Key, Record]] = field(default_factory=dict[str, Mapping[Key, Record]])
    """The records that worlds begin with, as they were last sent. They outlive the call."""


@frozen
class _Written:
    record: Record | None
    born: int
    removed: Record | None = None


@dataclass(slots=True)
class _Summary:
    """What `next_key` needs to know of a table."""

    count: int
    last_key: Key | None


class DistantView(View):
    """One version of a state. `after` asks nothing: the changes go along with the next question."""

    __slots__ = ("_changes", "_connection", "_hits", "_number", "_summaries")

    def __init__(self, connection: Connection, number: int = 0, changes: Sequence[Change] = ()) -> None:
        self._connection, self._number, self._changes = connection, number, [*changes]
        self._hits = dict[tuple[str, Key], tuple[Record | None, int]]()
        self._summaries = dict[str, _Summary]()

    def know(self, hits: Mapping[str, Sequence[Hit]], summaries: Mapping[str, tuple[int, Key | None]]) -> None:
        """Take over records, and counts and last keys of tables, that are not asked for again."""
        for entity, hit in hits.items():
            self._keep(entity, hit)
        self._summaries = {entity: _Summary(*summary) for entity, summary in summaries.items()}

    @property
    def size(self) -> int:
        return self._ask("size")

    def get(self, entity: str, key: Key) -> Record | None:
        return self._hit(entity, key)[0]

    def version(self, entity: str, key: Key) -> int:
        return self._hit(entity, key)[1]

    def rows(self, entity: str) -> Iterator[tuple[Key, Record]]:
        number, rows = self._ask("rows", entity)
        while rows:
            yield from self._keep(entity, rows)
            rows = self._ask("more", number)

    def find(self, entity: str, field: str, value: Json) -> Sequence[tuple[Key, Record]]:
        return self._keep(entity, self._ask("find", entity, field, value))

    def compare(self, entity: str, bounds: Sequence[Bound]) -> Sequence[tuple[Key, Record]]:
        return [hit for hit in self.rows(entity) if all(bound.holds(hit[1]) for bound in bounds)]

    def search(self, entity: str, fields: Sequence[str], words: Sequence[str]) -> Sequence[tuple[Key, Record]]:
        return self._keep(entity, self._ask("search", entity, [*fields], [*words]))

    def count(self, entity: str) -> int:
        return self._summary(entity).count

    def last_key(self, entity: str) -> Key | None:
        return self._summary(entity).last_key

    def sample_key(self, entity: str, share: float) -> Key | None:
        return self._ask("sample_key", entity, share)

    def entities(self) -> Sequence[str]:
        return self._ask("entities")

    def initial_records(self, entity: str) -> Mapping[Key, Record]:
        initial_records = self._ask("initial_records", entity)
        if initial_records is not None:  # else they are those that were sent last
            self._connection.initial[entity] = dict(initial_records)
        return self._connection.initial[entity]

    def written(self, entity: str) -> Mapping[Key, Written]:
        return {key: _Written(record, born) for key, record, born in self._ask("written", entity)}

    def latest_write(self, entity: str, key: Key) -> Written | None:
        return self.written(entity).get(key)

    def changed(self, entity: str) -> AbstractSet[Key]:
        return frozenset(self._ask("changed", entity))

    def after(self, changes: Iterable[Change]) -> DistantView:
        return DistantView(self._connection, self._number, [*self._changes, *changes])

    def _ask(self, question: str, *arguments: Json) -> Any:
        changes = [change_message(change) for change in self._changes]
        answer = self._connection.ask([self._number, changes, question, *arguments])
        if changes:
            self._number, self._changes = self._connection.views, []
            self._connection.views += 1
        return answer

    def _hit(self, entity: str, key: Key) -> tuple[Record | None, int]:
        hit = self._hits.get((entity, key))
        if hit is None:
            hit = self._hits[entity, key] = tuple(self._ask("get", entity, key))
        return hit

    def _summary(self, entity: str) -> _Summary:
        if entity not in self._summaries:
            count, last_key, hits = self._ask("summary", entity)
            self._summaries[entity] = _Summary(count, last_key)
            self._keep(entity, hits)
        return self._summaries[entity]

    def _keep(self, entity: str, rows: Iterable[Sequence[Any]]) -> Sequence[tuple[Key, Record]]:
        """Remember records, and return them without their versions."""
        kept = list[tuple[Key, Record]]()
        for key, record, version in rows:
            self._hits[entity, key] = record, version
            kept.append((key, record))
        return kept


def decoded(data: bytes) -> Any:
    """Return the value of a message. Raises `ValueError` for what is not JSON, or deeper than 200 levels."""
    try:
        return decode(data)
    except ValueError:
        if b"\\ud" not in data:  # lone surrogates
            raise
    try:
        return plain(json.loads(data))
    except (RecursionError, TypeError) as error:
        raise ValueError(str(error)) from None


def change_message(change: Change) -> list[Any]:
    """Return a change as a message."""
    return [change.op, change.entity, change.key, change.record, change.part, change.expected]


def change_of(message: Any) -> Change:
    """Return the change of a message. Raises `ValueError` if it is not valid."""
    op, entity, key, record, place, expected = message
    is_named = isinstance(entity, str) and isinstance(key, str | int) and not isinstance(key, bool)
    is_numbered = all(number is None or type(number) is int for number in (place, expected))
    is_whole = op in _OPERATIONS and isinstance(record, dict if op == "put" else type(None))
    if not (is_named and is_numbered and is_whole):
        raise ValueError("a change is malformed")
    return Change(*message)
