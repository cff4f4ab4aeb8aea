"""A trace file: one JSON object a line, each on its way to disk before the call is answered."""

from __future__ import annotations

from pathlib import Path

from mcp_sim.errors import UsageError


class Jsonl:
    """Writes a trace to a file, which is made anew. Raises UsageError where it cannot be written."""

    def __init__(self, path: Path, header: bytes) -> None:
        try:
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise UsageError(f"cannot write the trace to {path}: {error.strerror}") from error
        self.write(header)

    def write(self, line: bytes) -> None:
        self._file.write(line + b"\n")

    def close(self) -> None:
        self._file.close()
