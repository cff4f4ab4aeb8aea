"""Stores of libraries over a state, without a program."""

from __future__ import annotations

from datetime import UTC, datetime

from mcp_sim.libraries import Store
from mcp_sim.types import Change, Key, Record, View
from mcp_sim.types.draws import Draws
from mcp_sim.world.state import State

NOW = datetime(2030, 1, 2, 9, tzinfo=UTC)


class Written:
    """A state that changes with each write."""

    def __init__(self) -> None:
        self.view: View = State.of({})

    def get(self, entity: str, key: Key) -> Record | None:
        return self.view.get(entity, key)

    def put(self, entity: str, key: Key, record: Record) -> None:
        self.view = self.view.after([Change("put", entity, key, record)])

    def remove(self, entity: str, key: Key) -> None:
        self.view = self.view.after([Change("remove", entity, key)])


def new_store() -> Store:
    """Return a store over an empty state."""
    return Store(Written(), NOW, Draws(7, "", "library", 0), {})
