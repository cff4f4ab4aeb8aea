"""A trace file of a world that is kept in a store: a copy of the stored ledger."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from stat import S_ISREG

from mcp_sim.types.errors import Unwritable
from mcp_sim.types.json_values import encode
from mcp_sim.types.kinds import OpenStore

logger = logging.getLogger(__name__)

BEGINNING = b'{"format":'


class StoredTrace:
    """Copies the ledger of one world from its store to a trace file.

    Entries are copied after they were stored, so that the file never has a call that the store does not have. The
    caller of `follow` has acquired the store: processes with the same store may share a file.
    """

    def __init__(self, path: Path, header: bytes, world: str) -> None:
        """Open the file, or create it. Raises `Unwritable`."""
        self._path, self._header = path, header + b"\n"
        self._world, self._start = world, b'\n{"world":%b,' % encode(world)
        self._end, self._at = 0, 0
        """Up to where the file is known, in bytes, and the newest entry of the world before that."""
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise Unwritable.trace(self._path, error) from None
        if not S_ISREG(os.fstat(self._file).st_mode):
            self.close()
            raise Unwritable.trace(self._path, "with a store the trace must be a file")

    def follow(self, store: OpenStore) -> None:
        """Write the entries that the file lacks. Raises `Unwritable`, `StoreFailure`; then none of them is written."""
        try:
            size = os.fstat(self._file).st_size
            if size != self._end:
                self._read(store, size)
        except OSError as error:
            raise Unwritable.trace(self._path, error) from None
        entries = store.entries(self._world, self._at)
        text = b"".join(entry.line + b"\n" for entry in entries if entry.line)
        self._append(text if self._end else self._header + text)
        if entries:
            self._at = entries[-1].at

    def close(self) -> None:
        os.close(self._file)

    def _append(self, text: bytes) -> None:
        """Write at the end, all or nothing."""
        rest = text
        try:
            os.lseek(self._file, self._end, os.SEEK_SET)
            while rest:
                rest = rest[os.write(self._file, rest) :]
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._file, self._end)
            raise Unwritable.trace(self._path, error) from None
        self._end += len(text)

    def _read(self, store: OpenStore, size: int) -> None:
        """Find the newest entry of the world in what the file has gained. Removes a torn last line."""
        if size < self._end:
            self._end, self._at = 0, 0
        whole = 0
        if size:
            with mmap(self._file, size, access=ACCESS_READ) as text:
                # Raise `Unwritable` if this is another kind of file; the beginning of a header is a torn one.
                if text[: len(BEGINNING)] != BEGINNING and not self._header.startswith(text[: len(self._header)]):
                    raise Unwritable.trace(self._path, "it is not a trace; use another file")
                whole, self._at = self._newest(store, text, text.rfind(b"\n") + 1)
        if whole < size:
            os.ftruncate(self._file, whole)
        self._end = whole

    def _newest(self, store: OpenStore, text: mmap, end: int) -> tuple[int, int]:
        """Return where the file's copy of the ledger ends, and the number of its newest entry.

        Lines of the world that are not in its store go if they are the last of the file: the store may have lost them
        in a power cut. Raises `Unwritable` if the file has another ledger.
        """
        behind = end
        known = max(self._end - 1, 0)
        while (number := text.rfind(self._start, known, behind)) >= 0:
            line_end = text.find(b"\n", number + 1)
            at = store.find(self._world, text[number + 1 : line_end])
            if at:
                if behind == end:
                    return end, at
                lost = text[line_end + 1 : end].count(b"\n")
                if at == 1 or text[line_end:end].count(self._start) != lost:
                    break
                logger.warning("%s: removed %d entries that the store does not have", self._path, lost)
                return line_end + 1, at
            behind = number + 1
        if behind == end:
            return end, self._at
        raise Unwritable.trace(
            self._path,
            f"it has calls of the world {self._world} that the store does not have; "
            "remove the file, and it is written again from the store, or use another one",
        )
