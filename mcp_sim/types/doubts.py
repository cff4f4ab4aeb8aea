"""What guesses leave in doubt: fields of records that reads mark as guessed until a sure write sets them.

A world remembers it by entity and key. A doubt about every record ends for one record after the other: for those that
are created, deleted or set later, by a sure call or by another actor. It never ends for a list of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from mcp_sim.types.calls import Memories, Memory
from mcp_sim.types.views import Change, Key, View

ANY_FIELD = "*"
"""Among the fields in doubt: a call may have changed any field."""

EVERY_RECORD = "*"
"""Instead of a key: a call may have changed any record of an entity."""

EXISTENCE = "?"
"""Instead of a field: the record may not exist, since the call that made it may have been refused."""

NEW_RECORDS = "+"
"""Instead of a field, of `EVERY_RECORD`: a call may have made records. Those that were there are not in doubt."""


def doubts_name(entity: str) -> str:
    """Return the name under which a world remembers how many records of an entity are in doubt; unset without any."""
    return f"doubts/{entity}"


class Doubts:
    """The doubts about the records of an entity in a world's memory."""

    __slots__ = ("_memory", "_name")

    def __init__(self, memory: Memory, entity: str) -> None:
        self._memory, self._name = memory, doubts_name(entity)

    def counts(self) -> dict[str, int]:
        """Return how many records are in doubt, by field."""
        return dict(self._memory.get(self._name, ()))

    def about(self, key: Key) -> frozenset[str]:
        """Return the fields of a record that are in doubt for what is known of it alone."""
        return frozenset(self._memory.get(f"{self._name}/{key!r}", ()))

    def everywhere(self, key: Key) -> frozenset[str]:
        """Return the fields of a record that are in doubt since those of all records are."""
        since = dict[str, int](self._memory.get(f"{self._name}/since", ()))
        sure = dict[str, int](self._memory.get(f"{self._name}/{key!r}/sure", ())) if since else {}
        last = sure.get(ANY_FIELD, -1)
        return frozenset(field for field, index in since.items() if max(last, sure.get(field, -1)) <= index)

    def put(self, key: Key, fields: AbstractSet[str]) -> None:
        """Replace the doubts about a record."""
        counts = self.counts()
        for names, step in ((self.about(key), -1), (fields, 1)):
            for name in names:
                counts[name] = counts.get(name, 0) + step
        self._memory.set(f"{self._name}/{key!r}", tuple(sorted(fields)))
        self._memory.set(self._name, tuple(sorted((name, count) for name, count in counts.items() if count)))

    def add(self, key: Key, fields: AbstractSet[str], index: int) -> None:
        """Note that the call of this index may have changed fields of a record, or of `EVERY_RECORD`."""
        self.put(key, self.about(key) | fields)
        if key == EVERY_RECORD:
            self._note(f"{self._name}/since", fields, index)

    def settle(self, key: Key, fields: Iterable[str], index: int) -> None:
        """Note that fields of a record are known since the call of this index; `ANY_FIELD`: all of them."""
        known = {*fields}
        self.put(key, frozenset[str]() if ANY_FIELD in known else self.about(key) - known)
        if self._memory.get(f"{self._name}/since"):
            self._note(f"{self._name}/{key!r}/sure", known, index)

    def _note(self, name: str, fields: AbstractSet[str], index: int) -> None:
        indexes = {**dict(self._memory.get(name, ())), **dict.fromkeys(fields, index)}
        self._memory.set(name, tuple(sorted(indexes.items())))


def settle_changes(memories: Memories, before: View, changes: Iterable[Change], index: int) -> None:
    """Note that fields which another actor changes are known, and all fields of records that it adds or removes."""
    memory = memories.of("")
    for change in changes:
        if memory.get(doubts_name(change.entity)):
            former, record = before.get(change.entity, change.key), change.record
            fields = {ANY_FIELD}
            if former is not None and record is not None:
                fields = {name for name in {*former, *record} if former.get(name) != record.get(name)}
            Doubts(memory, change.entity).settle(change.key, fields, index)
