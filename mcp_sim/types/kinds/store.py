"""What keeps worlds between processes?"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from mcp_sim.types.kinds.kind import Kind


@dataclass(frozen=True, slots=True)
class Saved:
    """How a world stands, as bytes that `keeping` reads; the revision counts up from 1."""

    revision: int
    state: bytes


class Shelf(Protocol):
    """An open store. Who takes a world has the store alone, across processes, until it is put back or left."""

    def take(self, world: str) -> Saved | None:
        """The newest saved version of a world, None where there is none; waits while another process has it."""
        ...

    def lines(self, world: str, most: int) -> Sequence[bytes]:
        """The newest lines of the world's ledger, oldest first."""
        ...

    def put(self, world: str, saved: Saved, lines: Sequence[bytes]) -> None:
        """Keep a world as it stands now, and the lines that its ledger has more; both or, if it fails, none."""
        ...

    def leave(self) -> None:
        """Give a world back as it was."""
        ...


class Store(Kind):
    """Keeps worlds between processes."""

    def opened(self, identity: str) -> AbstractContextManager[Shelf]:
        """The store for one scenario, seed and version. Raises UsageError where it keeps worlds of another."""
        raise NotImplementedError
