"""What receives the entries of a ledger?"""

from __future__ import annotations

from typing import Protocol


class Sink(Protocol):
    """Receives ledger entries as they are committed, as lines of a trace."""

    def write(self, line: bytes) -> None:
        """One JSON object, without the newline. On disk when it returns; raises Unwritable where it cannot be.

        An entry that one sink refuses is not committed: the call crashes.
        """
        ...

    def close(self) -> None: ...
