"""The writes of one call of a program: what has changed so far, the state after it, and savepoints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, cast

from mcp_sim.programs.results import plain
from mcp_sim.programs.rows import Row
from mcp_sim.types import Change, Json, Key, Record, Turn, View
from mcp_sim.types.frozen import frozen

At: TypeAlias = tuple[str, Key]
"""The entity and the key of a record."""


@dataclass(slots=True)
class _Net:
    """The newest write to a record: the record, None if it is gone, and the item of a batch that wrote it."""

    record: Record | None
    part: int | None


@frozen
class Savepoint:
    """The writes up to some point of a call."""

    net: dict[At, _Net]
    view: View


class Writes:
    """Collects the changed rows of a call.

    Rows whose fields were set are compared with what was written before when something else is read, or at the end.
    Those whose nested values were handed out may change at any time: they are compared again where nested values count.
    """

    __slots__ = ("_changed", "_handed_out", "_net", "_turn", "_unapplied", "_view", "part")

    def __init__(self, turn: Turn) -> None:
        self._turn, self._view = turn, turn.view
        self._changed = dict[At, Row]()
        self._handed_out = dict[At, Row]()
        self._net = dict[At, _Net]()
        self._unapplied: list[Change] = []
        self.part: int | None = None
        """The item of a batch that is in progress."""

    @property
    def view(self) -> View:
        """The state after the writes so far, but for changes within nested values."""
        if self._changed:
            self._collect(self._changed)
            self._changed.clear()
        if self._unapplied:
            self._view, self._unapplied = self._view.after(self._unapplied), []
        return self._view

    @property
    def whole_view(self) -> View:
        """The state after all writes so far."""
        self.collect()
        return self.view

    def note(self, entity: str, row: Row) -> None:
        """Remember a row that may have changed."""
        self._changed[entity, row.key] = row

    def note_handed_out(self, entity: str, row: Row) -> None:
        """Remember a row that may change within its nested values."""
        self._handed_out[entity, row.key] = row

    def put(self, entity: str, key: Key, record: Record) -> None:
        """Write a record."""
        self._net[entity, key] = _Net(record, self.part)
        self._unapplied.append(Change("put", entity, key, record))

    def remove(self, entity: str, key: Key) -> None:
        """Remove a record, and forget what its row has changed."""
        self._changed.pop((entity, key), None)
        self._handed_out.pop((entity, key), None)
        self._net[entity, key] = _Net(None, self.part)
        self._unapplied.append(Change("remove", entity, key))

    def get(self, entity: str, key: Key) -> Record | None:
        """Return a record as it was last written."""
        net = self._net.get((entity, key)) if self._net else None
        return self._turn.view.get(entity, key) if net is None else net.record

    def collect(self) -> None:
        """Write all rows that have changed."""
        self._collect({**self._handed_out, **self._changed})
        self._changed.clear()

    def _collect(self, rows: Mapping[At, Row]) -> None:
        for at, row in rows.items():
            before = self.get(*at)
            if row != before or (at in self._changed and not same(row, before)):
                self.put(*at, plain(row))

    def savepoint(self) -> Savepoint:
        """Return the writes up to here."""
        view = self.whole_view
        return Savepoint(dict(self._net), view)

    def undo(self, savepoint: Savepoint) -> Iterable[At]:
        """Return to a savepoint. Keys that were issued since stay reserved. Returns what has to be read again."""
        self.collect()
        undone = [at for at, net in self._net.items() if savepoint.net.get(at) is not net]
        self._net, self._view, self._unapplied = dict(savepoint.net), savepoint.view, []
        for at in undone:
            if at not in self._net and self._turn.view.get(*at) is None:
                self._net[at] = _Net(None, None)
                self._unapplied.append(Change("reserve", *at))
        return undone

    def changes(self, natural: frozenset[str]) -> list[Change]:
        """Return all changes of the call. Keys of `natural` entities are not reserved: callers choose them."""
        self.collect()
        changes = (self._change(at, net, is_natural=at[0] in natural) for at, net in self._net.items())
        return [change for change in changes if change is not None]

    def _change(self, at: At, net: _Net, *, is_natural: bool) -> Change | None:
        before = self._turn.view.get(*at)
        if net.record is None and before is None:
            return None if is_natural else Change("reserve", *at)
        if same(net.record, before):
            return None
        version = self._turn.view.version(*at)
        return Change("remove" if net.record is None else "put", *at, net.record, net.part, version)


def same(value: Record | None, other: Record | None) -> bool:
    """Whether two records are equal as JSON: 1 is neither True nor 1.0, as it is for Python."""
    return value == other and (value is other or value is None or _types(value) == _types(other))


def _types(value: Json) -> list[type]:
    """Return the types of the single values in order, for records that are equal."""
    match value:
        case dict():
            return [kind for _, inner in sorted(cast("Record", value).items()) for kind in _types(inner)]
        case list():
            return [kind for item in cast("list[Json]", value) for kind in _types(item)]
        case _:
            return [type(value)]
