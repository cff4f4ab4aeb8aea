"""The journal of a hunt: a file of the trials that were made, so that an interrupted hunt goes on where it ended."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, TextIO, cast

from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError


class Journal:
    """A JSONL file: a header that identifies the hunt, then a line for each trial."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        """Open a journal, and read what it has. A torn last line is dropped.

        Raises `UsageError` if the file is something else, or the journal of another hunt.
        """
        text = _read(path)
        if text and not text.startswith('{"hunt"'):
            raise UsageError(f"{path}: is not the journal of a hunt; name another file with --journal")
        whole = text[: text.rfind("\n") + 1]
        lines = _lines(whole, path)
        if lines and lines[0] != json.loads(json.dumps(header)):
            raise UsageError(
                f"{path}: this is not the journal of this hunt: the scenario, the agent or an option differs, or "
                "mcp-sim; delete it, or name another file with --journal"
            )
        self._known: dict[str, Record] = {line["key"]: line["trial"] for line in lines[1:]}
        self.length = len(self._known)
        """The number of trials that it had when it was opened."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: TextIO = path.open("a", encoding="utf-8")
            self._file.truncate(len(whole.encode()))
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None
        if not lines:
            self._write(header)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def trial(self, key: str) -> Record | None:
        """Return a trial that was made; None if it was not."""
        return self._known.get(key)

    def add(self, key: str, trial: Record) -> None:
        """Keep a trial."""
        self._known[key] = trial
        self._write({"key": key, "trial": trial})

    def _write(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line, ensure_ascii=True) + "\n")
        self._file.flush()


def _read(path: Path) -> str:
    """Return the text of a file, nothing if there is none. Raises `UsageError` if it is not text."""
    try:
        return path.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None


def _lines(text: str, path: Path) -> list[dict[str, Any]]:
    """Return the objects of a journal. Raises `UsageError` if it is something else."""
    found = list[dict[str, Any]]()
    for number, line in enumerate(text.splitlines()):
        try:
            value: Any = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict) or (number and not {"key", "trial"} <= value.keys()):
            raise UsageError(
                f"{path}: line {number + 1} is not one of a hunt's journal; delete it, or name another file"
            )
        found.append(cast("dict[str, Any]", value))
    return found
