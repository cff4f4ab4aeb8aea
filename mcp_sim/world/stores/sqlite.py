"""A store of worlds in an SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import Field

from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import SavedWorld, Store, stores

PATIENCE = 60.0
"""How long to wait for another process that has the file, in seconds."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS about (identity TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS worlds (name TEXT PRIMARY KEY, revision INTEGER NOT NULL, state BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS entries (
    world TEXT NOT NULL, at INTEGER NOT NULL, line BLOB NOT NULL, PRIMARY KEY (world, at)
) WITHOUT ROWID;
"""


@stores.register("sqlite")
class Sqlite(Store):
    """Keep worlds in an SQLite file: the state of each, and every line of its ledger. Processes take turns."""

    path: Path = Field(description="The file; created if there is none.", examples=["worlds.db"])

    @contextmanager
    def open(self, identity: str) -> Generator[OpenSqlite]:
        """Open the file. Raises `UsageError` if it cannot be opened, or is not a store of this scenario."""
        try:
            connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise UsageError(f"cannot open the store {self.path}: {error}") from error
        try:
            _check_identity(connection, self.path, identity)
            yield OpenSqlite(connection, self.path)
        finally:
            connection.close()


class OpenSqlite:
    """An open SQLite file. `acquire` begins a transaction, which `save` or `release` ends."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection, self._path = connection, path

    def acquire(self, world: str) -> SavedWorld | None:
        """Begin a transaction and return the saved world, if any. Raises `UsageError` if the file cannot be read."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            found = self._connection.execute("SELECT revision, state FROM worlds WHERE name = ?", (world,)).fetchone()
        except sqlite3.OperationalError as error:
            raise UsageError(f"cannot read the store {self._path}: {error}") from error
        return SavedWorld(*found) if found else None

    def lines(self, world: str, most: int) -> Sequence[bytes]:
        newest = "SELECT line FROM entries WHERE world = ? ORDER BY at DESC LIMIT ?"
        return [line for (line,) in self._connection.execute(newest, (world, most))][::-1]

    def save(self, world: str, saved: SavedWorld, lines: Sequence[bytes]) -> None:
        execute = self._connection.execute
        last = execute("SELECT coalesce(max(at), 0) FROM entries WHERE world = ?", (world,)).fetchone()[0]
        rows = [(world, last + at, line) for at, line in enumerate(lines, 1)]
        self._connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
        execute("INSERT OR REPLACE INTO worlds VALUES (?, ?, ?)", (world, saved.revision, saved.state))
        execute("COMMIT")

    def release(self) -> None:
        with suppress(sqlite3.OperationalError):
            self._connection.execute("ROLLBACK")


def _check_identity(connection: sqlite3.Connection, path: Path, identity: str) -> None:
    """Create the tables if there are none. Raises `UsageError` unless the file is a store of this scenario."""
    try:
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        for statement in SCHEMA.split(";\n"):
            connection.execute(statement)
        found = connection.execute("SELECT identity FROM about").fetchone()
        if found is None:
            connection.execute("INSERT INTO about VALUES (?)", (identity,))
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise UsageError(f"{path} is not a store of worlds: {error}") from error
    if found is not None and found[0] != identity:
        raise UsageError(f"{path} has worlds of {found[0]}, not of {identity}; use another file, or remove it")
