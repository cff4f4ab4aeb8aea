"""What may a model be told of the world, so that it cannot pass on what the agent may not see?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from mcp_sim.models.language_model.leaks import without
from mcp_sim.types import Change, Json, Record, View
from mcp_sim.types.domain import Concealed, Domain

_GONE: Any = object()
"""Stands for what is not told."""


@dataclass(frozen=True, slots=True)
class Sight:
    """The world as a model is told of it: without what is concealed from the agent, and texts with what is `withheld`.

    What is not told is true nevertheless, and shown where the world says so.
    """

    domain: Domain
    withheld: tuple[str, ...] = ()

    def record(self, entity: str, record: Record | None) -> Record | None:
        """What may be told of a record; None where there is nothing."""
        if record is None:
            return None
        for concealed in self._about(entity):
            if concealed.fits(record):
                if not concealed.fields:
                    return None
                record = _without(record, concealed)
        return without(record, self.withheld)

    def is_counted(self, entity: str) -> bool:
        """May it be told how many records there are? Not where some are as if they did not exist."""
        return all(concealed.fields for concealed in self._about(entity))

    def written(self, changes: Iterable[Change]) -> list[Record]:
        """What may be told of writes, as a ledger keeps them."""
        return [change.to_json() | told for change in changes if (told := self._write(change)) is not None]

    def value(self, view: View, entity: str | None, value: Json) -> Json:
        """What may be told of an answer of a tool that works on an entity; `view` has the records that it shows."""
        told = self._told(view, entity, value) if self.domain.concealed else value
        return None if told is _GONE else without(told, self.withheld)

    def _about(self, entity: str) -> Iterator[Concealed]:
        return (concealed for concealed in self.domain.concealed if concealed.entity == entity)

    def _write(self, change: Change) -> Record | None:
        if change.record is None:
            return {}
        record = self.record(change.entity, change.record)
        return None if record is None else {"record": record}

    def _told(self, view: View, entity: str | None, value: Json) -> Json:
        match value:
            case dict():
                shown = self._shown(view, entity, cast("Record", value))
                if shown is _GONE:
                    return _GONE
                parts = ((name, self._told(view, entity, part)) for name, part in shown.items())
                return {name: part for name, part in parts if part is not _GONE}
            case list():
                rows = (self._told(view, entity, row) for row in cast("list[Json]", value))
                return [row for row in rows if row is not _GONE]
            case _:
                return value

    def _shown(self, view: View, entity: str | None, value: Record) -> Record:
        """An object without what is concealed of the record that it shows, if it shows one."""
        for concealed in self.domain.concealed:
            key: Json = value.get(self.domain.entities[concealed.entity].key)
            if not isinstance(key, str | int):
                value = _without(value, concealed) if concealed.entity == entity else value
                continue
            stored = view.get(concealed.entity, key)
            if stored is None or not concealed.fits(stored):
                continue
            if not concealed.fields:
                return _GONE
            value = _without(value, concealed)
        return value


def _without(record: Record, concealed: Concealed) -> Record:
    return {name: value for name, value in record.items() if name not in concealed.fields}
