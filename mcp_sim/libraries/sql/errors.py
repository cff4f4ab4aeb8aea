"""What can go wrong with a statement."""

from __future__ import annotations

from typing import Literal

from mcp_sim.libraries.store import LibraryError


class SqlError(LibraryError):
    """A statement that fails. Its text is the message of the database.

    `kind` is `constraint` for rows that a constraint forbids, `syntax` for what cannot be parsed, `forbidden` for what
    this database does not do or a limit, and `invalid` for the rest.
    """

    def __init__(self, message: str, kind: Literal["constraint", "syntax", "forbidden", "invalid"] = "invalid") -> None:
        super().__init__(message)
        self.kind = kind
