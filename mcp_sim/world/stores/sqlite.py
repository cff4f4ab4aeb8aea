"""A store of worlds in an SQLite file.

The file has a write-ahead log and `synchronous = NORMAL`. What was saved outlives a killed process. A power cut, or a
crash of the operating system, may take back the newest saves, but leaves every save whole.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import sleep
from typing import TypeVar
from zlib import crc32

from pydantic import Field

from mcp_sim.types.errors import StoreBusy, StoreFailure
from mcp_sim.types.kinds import Snapshot, Store, StoredEntry, pauses, stores

FORMAT = 4  # a file of another version is refused with a message instead of misread
TABLES = (
    "CREATE TABLE about (identity TEXT NOT NULL)",
    "CREATE TABLE entries (world TEXT NOT NULL, at INTEGER NOT NULL, line BLOB NOT NULL, delta BLOB NOT NULL, "
    "checksum INTEGER NOT NULL, PRIMARY KEY (world, at))",
    "CREATE TABLE snapshots (world TEXT PRIMARY KEY, at INTEGER NOT NULL, body BLOB NOT NULL, "
    "checksum INTEGER NOT NULL)",
    f"PRAGMA user_version = {FORMAT}",
)
LAST = 2**63 - 1  # the largest integer of SQLite
BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
UNWRITABLE = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}

T = TypeVar("T")


@stores.register("sqlite")
class Sqlite(Store):
    """Keep worlds in an SQLite file: every entry of their ledgers, and a snapshot of each. Processes take turns."""

    path: Path = Field(description="The file; created if missing.", examples=["worlds.db"])
    patience: float = Field(default=60.0, ge=0, description="How long to wait for another process, in seconds.")

    @contextmanager
    def open(self, identity: str) -> Generator[OpenSqlite]:
        """Open the file. Raises `StoreFailure` if it cannot be opened, or is not a store of this scenario."""
        with suppress(OSError):
            if self.path.stat().st_nlink > 1:
                raise StoreFailure(
                    f"the store {self.path} has another name (a hard link), under which SQLite damages it"
                )
        with _reported(self.path):
            connection = sqlite3.connect(self.path, timeout=0, isolation_level=None, check_same_thread=False)
        try:
            _patiently(lambda: _prepare(connection, self.path, identity), self.patience)
            yield OpenSqlite(connection, self.path, self.patience)
        finally:
            connection.close()


class OpenSqlite:
    """An open SQLite file. `acquire` begins a transaction, which `save` or `release` ends."""

    def __init__(self, connection: sqlite3.Connection, path: Path, patience: float) -> None:
        self._connection, self._path, self.patience = connection, path, patience

    def acquire(self) -> None:
        if self._connection.in_transaction:
            raise StoreBusy(f"the store {self._path} is in use by another world of this process")
        with _reported(self._path):
            self._connection.execute("BEGIN IMMEDIATE")

    def newest(self, world: str) -> int:
        with _reported(self._path):
            asked = "SELECT coalesce(max(at), 0) FROM entries WHERE world = ?"
            newest: object = self._connection.execute(asked, (world,)).fetchone()[0]
        if not isinstance(newest, int):
            raise _damaged(self._path, f"the place of an entry is {newest!r:.40}")
        return newest

    def entries(self, world: str, after: int, until: int | None = None) -> Sequence[StoredEntry]:
        asked = "SELECT at, line, delta, checksum FROM entries WHERE world = ? AND at > ? AND at <= ? ORDER BY at"
        with _reported(self._path):
            rows = self._connection.execute(asked, (world, after, LAST if until is None else until)).fetchall()
        entries = list[StoredEntry]()
        for place, (at, line, delta, checksum) in enumerate(rows, after + 1):
            is_whole = at == place and _checksum(line, delta) == checksum
            entries.append(StoredEntry(place, line, delta) if is_whole else StoredEntry(place, b""))
        return entries

    def find(self, world: str, line: bytes) -> int:
        with _reported(self._path):
            asked = "SELECT at FROM entries WHERE world = ? AND line = ? ORDER BY at DESC LIMIT 1"
            row = self._connection.execute(asked, (world, line)).fetchone()
        return row[0] if row else 0

    def snapshot(self, world: str) -> Snapshot | None:
        with _reported(self._path):
            asked = "SELECT at, body, checksum FROM snapshots WHERE world = ?"
            row = self._connection.execute(asked, (world,)).fetchone()
        if row is None:
            return None
        at, body, checksum = row
        # Without it, the entries are read from the first one on.
        is_whole = isinstance(at, int) and _checksum(body) == checksum and at <= self.newest(world)
        return Snapshot(at, body) if is_whole else None

    def save(self, world: str, entries: Sequence[StoredEntry], snapshot: Snapshot | None = None) -> None:
        rows = [(world, entry.at, entry.line, entry.delta, _checksum(entry.line, entry.delta)) for entry in entries]
        with _reported(self._path):
            self._connection.executemany("INSERT INTO entries VALUES (?, ?, ?, ?, ?)", rows)
            if snapshot is not None:
                row = (world, snapshot.at, snapshot.body, _checksum(snapshot.body))
                self._connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", row)
            self._connection.execute("COMMIT")

    def damaged(self, reason: str) -> StoreFailure:
        return _damaged(self._path, reason)

    def release(self) -> None:
        with suppress(sqlite3.Error):
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def _prepare(connection: sqlite3.Connection, path: Path, identity: str) -> None:
    """Create the tables in an empty file. Raises `StoreFailure` unless the file is a store of this scenario."""
    with _reported(path):
        tables = _tables(connection)
        if tables and "about" not in tables:
            raise StoreFailure(f"{path} is not a store of worlds; use another file")
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if tables and version != FORMAT:
            older = f"is {version}" if version else f"is older than {FORMAT}"
            raise StoreFailure(
                f"{path} cannot be read: its format {older}, not {FORMAT}; use another file, or remove it"
            )
        if connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            raise StoreFailure(f"the store {path} needs a folder in which SQLite can keep a write-ahead log")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            if not _tables(connection):
                for statement in TABLES:
                    connection.execute(statement)
                connection.execute("INSERT INTO about VALUES (?)", (identity,))
            row = connection.execute("SELECT identity FROM about").fetchone()
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    if row is None:
        raise _damaged(path, "it names no scenario")
    if row[0] != identity:
        raise StoreFailure(f"{path} has worlds of {row[0]}, not of {identity}; use another file, or remove it")


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _patiently(attempt: Callable[[], T], patience: float) -> T:
    """Repeat an attempt while the store is busy. Raises `StoreBusy` when `patience`, in seconds, is used up."""
    for pause in pauses(patience):
        with suppress(StoreBusy):
            return attempt()
        sleep(pause)
    return attempt()


def _checksum(*parts: object) -> int:
    """Return the checksum of values as they were stored; -1 if one of them is not bytes any more."""
    total = 0
    for piece in parts:
        if not isinstance(piece, bytes):
            return -1
        total = crc32(piece, total)
    return total


@contextmanager
def _reported(path: Path) -> Generator[None]:
    """Raise errors of SQLite as `StoreFailure`, in words for the user."""
    try:
        yield
    except UnicodeDecodeError as error:  # a damaged text
        raise _damaged(path, str(error)) from error
    except sqlite3.Error as error:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code in BUSY:
            raise StoreBusy(f"the store {path} is busy: another process has it") from error
        if code in UNWRITABLE:
            needs = "it needs free space, in a folder that may be written to"
            raise StoreFailure(f"the store {path} cannot be read or written: {error}; {needs}") from error
        if code == sqlite3.SQLITE_NOTADB:
            raise StoreFailure(f"{path} is not a store of worlds, or is damaged: {error}; use another file") from error
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, reason: str) -> StoreFailure:
    remedy = f"put back a copy, or remove it with {path.name}-wal and {path.name}-shm to begin again"
    return StoreFailure(f"the store {path} is damaged: {reason}; {remedy}")
