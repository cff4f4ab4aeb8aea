"""A trace file: one JSON object a line, each on disk before the call is answered."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from mcp_sim.types import Step
from mcp_sim.types.errors import Unwritable
from mcp_sim.world.owned_files import own_alone


class Jsonl:
    """Writes a trace to a file, which is replaced. Raises `Unwritable`.

    If a line does not fit on the disk, no part of it is left: what is in the file stays readable.
    """

    def __init__(self, path: Path, header: bytes) -> None:
        self._path = path
        self._end = 0
        try:
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise self._unwritable(error) from None
        try:
            own_alone(self._file.fileno())
            self.write(header)
        except OSError as error:
            self.close()
            raise self._unwritable(error) from None
        except Unwritable:
            self.close()
            raise

    def write(self, line: bytes, step: Step | None = None) -> None:
        """Write one line. Raises `Unwritable` if the file cannot be written."""
        rest = whole = line + b"\n"
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self._take_back()
            raise self._unwritable(error) from None
        self._end += len(whole)

    def close(self) -> None:
        self._file.close()

    def _take_back(self) -> None:
        """Remove the beginning of a line. In a pipe it stays."""
        with suppress(OSError):
            self._file.truncate(self._end)
            self._file.seek(self._end)

    def _unwritable(self, error: OSError) -> Unwritable:
        return Unwritable("the trace", str(self._path), error.strerror or str(error))
