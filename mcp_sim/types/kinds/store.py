"""Base classes of what keeps worlds and their ledgers: stores, and sinks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from mcp_sim.types.kinds.kind import Kind


class Sink(Protocol):
    """Receives the entries of a ledger as they are committed, as lines of a trace."""

    def write(self, line: bytes) -> None:
        """Write one JSON object; `line` has no newline. It is on disk when this returns.

        Raises `Unwritable`. An entry that one sink refuses is not committed: the call crashes.
        """
        ...

    def close(self) -> None:
        """Called once, when the simulator closes."""
        ...


@dataclass(frozen=True, slots=True)
class SavedWorld:
    """A world as a store keeps it: bytes that `simulator.persistence` reads, and their revision, from 1."""

    revision: int
    state: bytes


class OpenStore(Protocol):
    """An open store. After `acquire` the caller has it alone, across processes, until `save` or `release`."""

    def acquire(self, world: str) -> SavedWorld | None:
        """Return the newest saved version of a world, or None. Waits while another process has the store.

        Raises `UsageError` if it cannot be read.
        """
        ...

    def lines(self, world: str, most: int) -> Sequence[bytes]:
        """Return up to `most` of the newest lines of the world's ledger, oldest first."""
        ...

    def save(self, world: str, saved: SavedWorld, lines: Sequence[bytes]) -> None:
        """Save a world and append lines to its ledger, both or neither, and release the store."""
        ...

    def release(self) -> None:
        """Release the store without saving; does nothing after `save`."""
        ...


class Store(Kind):
    """Keeps worlds between processes."""

    def open(self, identity: str) -> AbstractContextManager[OpenStore]:
        """Open the store for one scenario, seed and version, which `identity` names.

        Raises `UsageError` if it keeps worlds of another one, or cannot be opened.
        """
        raise NotImplementedError
