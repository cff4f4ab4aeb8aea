"""Base classes of what keeps worlds and their ledgers: stores, and sinks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from mcp_sim.types.calls import Step
from mcp_sim.types.errors import StoreFailure
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds.kind import Kind


class Sink(Protocol):
    """Receives the entries of a ledger as they are committed, as lines of a trace."""

    def write(self, line: bytes, step: Step | None = None) -> None:
        """Write one JSON object; `line` has no newline. It is on disk when this returns.

        `step` is the step in the line, if it was made in this process; sinks that do not keep lines may use it.
        Raises `Unwritable`. An entry that one sink refuses is not committed: the call crashes.
        """
        ...

    def close(self) -> None:
        """Called once, when the simulator closes."""
        ...


@frozen
class StoredEntry:
    """An entry of a stored ledger."""

    at: int
    """Its number in the ledger of its world, from 1. Unlike the numbers of steps it counts crashes, too."""
    line: bytes
    delta: bytes = b""
    """What else had changed when it was stored, for `simulator.persistence`; empty for all but the last of a save."""


@frozen
class Snapshot:
    """A whole world as it was after the entry `at`, so that not all of its entries have to be read."""

    at: int
    body: bytes


class OpenStore(Protocol):
    """An open store. After `acquire` the caller has it alone, across processes, until `save` or `release`.

    Every method may raise `StoreFailure`. Then nothing was saved.
    """

    @property
    def patience(self) -> float:
        """How long to wait for another process, in seconds."""
        ...

    def acquire(self) -> None:
        """Take the store. Raises `StoreBusy` at once if another process, or another caller in this one, has it."""
        ...

    def newest(self, world: str) -> int:
        """Return the number of the newest entry of a world, 0 if the store does not have the world."""
        ...

    def entries(self, world: str, after: int, until: int | None = None) -> Sequence[StoredEntry]:
        """Return the entries with numbers above `after`, and not above `until`, oldest first, without gaps.

        One that is not as it was saved has an empty line.
        """
        ...

    def find(self, world: str, line: bytes) -> int:
        """Return the number of the newest entry with this line, or 0."""
        ...

    def snapshot(self, world: str) -> Snapshot | None:
        """Return the newest snapshot of a world; None if no snapshot is as it was saved."""
        ...

    def save(self, world: str, entries: Sequence[StoredEntry], snapshot: Snapshot | None = None) -> None:
        """Append entries to the ledger of a world, replace its snapshot, all or nothing, and release the store."""
        ...

    def damaged(self, reason: str) -> StoreFailure:
        """Return the error for a world that cannot be read."""
        ...

    def release(self) -> None:
        """Release the store without saving; does nothing after `save`."""
        ...


class Store(Kind):
    """Keeps worlds between processes."""

    def open(self, identity: str) -> AbstractContextManager[OpenStore]:
        """Open the store for one scenario, seed and version, which `identity` names.

        Raises `StoreFailure` if it keeps worlds of another one, or cannot be opened.
        """
        raise NotImplementedError


SHORTEST_PAUSE, LONGEST_PAUSE = 0.001, 0.01
"""In seconds. Another process keeps a store for the time of a commit; its end is not announced."""


def pauses(patience: float) -> Iterator[float]:
    """Yield how long to wait between attempts to take a store, in seconds, until `patience` is used up."""
    waited, pause = 0.0, SHORTEST_PAUSE
    while waited < patience:
        yield pause
        waited += pause
        pause = min(2 * pause, LONGEST_PAUSE)
