"""The journal of a hunt: a file of the trials that were made, so that an interrupted hunt goes on where it ended."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import Any, Self, cast

from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.world.sinks.jsonl import lock

PROGRAMS = "programs"
"""The key of a header under which the agent's programs are, as `program_hashes` returns them."""


def program_hashes(command: Sequence[str]) -> Record:
    """Return the hashes of the files that a command runs: its first word, and the first file among its arguments.

    What follows is left out: it may be a file that the agent writes, such as a log.
    """
    files = (word for word in command[1:] if Path(word).is_file())
    words = [word for word in (*command[:1], *islice(files, 1)) if Path(word).is_file()]
    try:
        return {word: hashlib.sha256(Path(word).read_bytes()).hexdigest() for word in words}
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}") from None


class Journal:
    """A JSONL file: a header that identifies the hunt, then a line for each trial."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        """Open a journal, and read what it has. A torn last line is dropped. No other hunt opens it until it is closed.

        A journal without trials is begun anew, and so is one of the same hunt whose agent was edited since (PROGRAMS).
        Raises `UsageError` if the file is something else, or the journal of another hunt.
        """
        self._path, self._file = path, _opened(path)
        try:
            self._known = self._begun(header)
        except BaseException:
            self._file.close()
            raise
        self.length = len(self._known)
        """The number of trials that it had when it was opened."""

    def _begun(self, header: Mapping[str, Any]) -> dict[str, Record]:
        """Return the trials of the file, which has the header and whole lines afterwards."""
        path = self._path
        text = _read(path)
        if text and not text.startswith('{"hunt"'):
            raise UsageError(
                f"{path}: is not the journal of a hunt; choose another file (hunt --journal, curriculum -o)"
            )
        whole = text[: text.rfind("\n") + 1]
        lines = list[dict[str, Any]]()
        for number, line in enumerate(whole.splitlines()):
            try:
                value: Any = json.loads(line)
            except ValueError:
                value = None
            if not isinstance(value, dict) or (number and not {"key", "trial"} <= value.keys()):
                raise UsageError(
                    f"{path}: line {number + 1} is not one of a hunt's journal; delete it, or name another file"
                )
            lines.append(cast("dict[str, Any]", value))
        if lines and lines[0] != header:
            if len(lines) > 1 and lines[0] != {**header, PROGRAMS: lines[0].get(PROGRAMS)}:
                raise UsageError(
                    f"{path}: this is not the journal of this hunt: the scenario, the agent or an option differs, or "
                    "mcp-sim; delete it, or choose another file (hunt --journal, curriculum -o)"
                )
            lines, whole = [], ""
        self._file.truncate(len(whole.encode()))
        if not lines:
            self._write(header)
        return {line["key"]: line["trial"] for line in lines[1:]}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def trial(self, key: str) -> Record | None:
        """Return a trial that was made; None if it was not."""
        return self._known.get(key)

    def add(self, key: str, trial: Record) -> None:
        self._known[key] = trial
        self._write({"key": key, "trial": trial})

    def _write(self, line: Mapping[str, Any]) -> None:
        try:
            self._file.write(f"{json.dumps(line, ensure_ascii=True)}\n".encode())
        except OSError as error:
            raise UsageError(f"cannot write {self._path}: {error.strerror}") from None


def _opened(path: Path) -> FileIO:
    """Open a file to append to, for this process alone. Raises `UsageError` if that is impossible."""
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: is not a file; choose another one (hunt --journal, curriculum -o)")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = FileIO(path, "a")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    try:
        lock(file.fileno())
    except BlockingIOError:
        file.close()
        reason = "another hunt writes this journal; wait for it, or choose another file (hunt --journal, curriculum -o)"
        raise UsageError(f"{path}: {reason}") from None
    return file


def _read(path: Path) -> str:
    """Return the text of a file. Raises `UsageError` if it is not text."""
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None
