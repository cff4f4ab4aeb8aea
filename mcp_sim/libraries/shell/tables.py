"""The tables of a shell, beside those of files and repositories."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.types import Record

_TEXT: Record = {"type": "string"}
_NUMBER: Record = {"type": "integer"}

TABLES: Mapping[str, Mapping[str, Record]] = {
    "shell_session": {"id": _TEXT, "cwd": _TEXT, "state": _TEXT, "blocked": _TEXT},
    "service": {
        "name": _TEXT, "command": _TEXT, "pid": _NUMBER, "port": _NUMBER, "user": _TEXT, "status": _TEXT,
        "responses": {"type": "object"},
    },
    "partition": {"mount": _TEXT, "device": _TEXT, "size": _NUMBER, "used": _NUMBER, "is_full": {"type": "boolean"}},
    "package": {"name": _TEXT, "version": _TEXT},
    "test_case": {
        "name": _TEXT, "root": _TEXT, "needs": {"type": "object"}, "error": _TEXT, "source": _TEXT, "fails": _TEXT,
        "line": _NUMBER, "runner": _TEXT,
    },
}  # fmt: skip
"""Table -> field -> its schema. The first field is the key."""
