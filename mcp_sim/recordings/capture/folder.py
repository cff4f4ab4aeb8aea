"""The files of a recording: `tools.json`, and a session per client, written line by line."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Protocol

from mcp_sim import __version__
from mcp_sim.spec.lint import instructions_in, instructions_in_tools
from mcp_sim.spec.sessions import FORMAT, TOOLS
from mcp_sim.spec.yaml12 import dotted
from mcp_sim.types import Json, Record, as_object
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_values import texts_in

MOST_NAMES = 10_000  # a name is tried with each number in turn
LONGEST_NAME = 60  # a file name has at most 255 bytes, with its number and suffix

LONGEST_HEADER = 1_000_000  # bytes of the first line of a session that are read for the name of its server


class Cleaner(Protocol):
    """Replaces what is not to be written: secrets, or personal data."""

    def redact(self, value: Json, place: str) -> Json: ...

    def redact_schemas(self, value: Json, place: str) -> Json: ...


class Warnings:
    """Where recorded tools, answers and questions of a server instruct the agent. Each kind counts once for a tool."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._known = set[tuple[str, str]]()

    def look(self, line: Record, place: str) -> None:
        """Look through what the server has sent in a recorded line."""
        if line["type"] == "tools":
            for path, sentence in instructions_in_tools(line["tools"]):
                self._add("", f"{place}: {dotted(('tools', *path))}", sentence)
            return
        sent = {name: line[name] for name in ("instructions", "result", "error") if name in line}
        for path, text in texts_in(sent):
            for sentence in instructions_in(text):
                self._add(str(line.get("tool")), f"{place}: {dotted(path)}", sentence)

    def _add(self, tool: str, place: str, sentence: str) -> None:
        if (tool, sentence) not in self._known:
            self._known.add((tool, sentence))
            self.lines.append(f"{place}: {sentence}")


class SessionFile:
    """A session that is being written. Each line is on disk before the next one begins."""

    def __init__(self, path: Path, cleaners: Sequence[Cleaner], warnings: Warnings) -> None:
        self.path = path
        self._cleaners = cleaners
        self._warnings = warnings
        self._size = 0
        self._lines = 0

    def write(self, line: Record) -> None:
        """Append a cleaned line. Raises `OSError`; what was written of the line is then removed."""
        written = line
        for cleaner in self._cleaners:
            written = self._cleaned(written, cleaner)
        self._lines += 1
        self._warnings.look(written, f"{self.path}:{self._lines}")
        data = _text(written).encode("utf-8", "backslashreplace") + b"\n"
        target = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            at = 0
            while at < len(data):
                at += os.write(target, data[at:])
            self._size += len(data)
        except OSError:
            with suppress(OSError):
                os.ftruncate(target, self._size)
            raise
        finally:
            os.close(target)

    def _cleaned(self, line: Record, cleaner: Cleaner) -> Record:
        place = str(line.get("tool") or line.get("uri") or line.get("method") or line["type"])
        if line["type"] == "tools":
            return {**line, "tools": cleaner.redact_schemas(line["tools"], "tools")}
        return {**cleaner.redact({**line, "type": None}, place), "type": line["type"]}


class Folder:
    """The folder of a recorded server. All that is written passes the `cleaners` in order."""

    def __init__(self, place: Path, cleaners: Sequence[Cleaner] = (), session: str | None = None) -> None:
        self.place = place
        self.sessions = list[Path]()
        self._cleaners = cleaners
        self.session = session
        self._is_ours = False
        self.warnings = Warnings()
        self._earlier: set[str] | None = None
        """The names of the servers of earlier sessions, once they are read."""

    def within(self, name: str) -> Folder:
        """Return the folder of one of several servers; this one if the name is empty."""
        if not name:
            return self
        inner = Folder(self.place / _file_name(name), self._cleaners, self.session)
        inner.sessions, inner.warnings = self.sessions, self.warnings
        return inner

    def new_session(self, started: str, name: str | None = None) -> SessionFile:
        """Create the file of a session under a free name. Raises `OSError`."""
        self.place.mkdir(parents=True, exist_ok=True)
        name = self.session or _file_name(name or "") or started.replace(":", "").replace("-", "").partition(".")[0]
        for number in count(1):
            path = self.place / f"{name}{'' if number == 1 else f'-{number}'}.jsonl"
            try:
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
            except FileExistsError:
                if number == MOST_NAMES:
                    raise
                continue
            self.sessions.append(path)
            return SessionFile(path, self._cleaners, self.warnings)
        raise AssertionError

    def refuse_another_server(self, info: Json) -> None:
        """Raise `UsageError` if the earlier sessions are of servers with other names than this one, if it has one."""
        name = as_object(info).get("name")
        if name is None:
            return
        if self._earlier is None:
            earlier = (path for path in self.place.glob("*.jsonl") if path not in self.sessions)
            self._earlier = {server for path in earlier if (server := _server_of(path)) is not None}
        if self._earlier and name not in self._earlier:
            known = ", ".join(sorted(self._earlier))
            raise UsageError(
                f"{self.place} has sessions of the server {known}, and this one is {name}: record it into another "
                "folder (-o DIR)"
            )

    def header(self, path: Path, about: Record) -> Record:
        return {
            "type": "session",
            "format": FORMAT,
            "session": path.stem,
            "recorder": f"mcp-sim {__version__}",
            **about,
        }

    def has_tools(self, tools: list[Json]) -> bool:
        """Whether `tools.json` has these tools. It is written if it is not there, or was written by this recording."""
        listed = tools
        for cleaner in self._cleaners:
            listed = cleaner.redact_schemas(listed, "tools")
        path = self.place / TOOLS
        self.warnings.look({"type": "tools", "tools": listed}, str(path))
        with suppress(OSError, ValueError):
            if json.loads(path.read_text(encoding="utf-8")) == {"tools": listed}:
                return True
        if path.exists() and not self._is_ours:
            return False
        self.place.mkdir(parents=True, exist_ok=True)
        _write_whole(path, _text({"tools": listed}, indent=1))
        self._is_ours = True
        return True

    def rewrite(self, change: Callable[[Record], Record]) -> None:
        """Change the lines of the sessions that were written. Raises `OSError`."""
        for path in self.sessions:
            lines = [json.loads(line) for line in path.read_bytes().splitlines()]
            changed = [change(line) for line in lines]
            if changed != lines:
                _write_whole(path, "\n".join(map(_text, changed)))


def _write_whole(path: Path, text: str) -> None:
    """Write a file of lines in one step. Raises `OSError`."""
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as stream:
        stream.write(text.encode("utf-8", "backslashreplace") + b"\n")
    fresh = Path(stream.name)
    fresh.chmod(0o644)
    fresh.replace(path)


def _server_of(path: Path) -> str | None:
    """Return the name of the server in the header of a session, or None."""
    with suppress(OSError, ValueError), path.open("rb") as stream:
        name = as_object(as_object(json.loads(stream.readline(LONGEST_HEADER))).get("server_info")).get("name")
        return name if isinstance(name, str) else None
    return None


def _file_name(name: str) -> str:
    """Return a name, such as that of a world in the trace of a stranger, as one of a file in this folder."""
    return re.sub(r"[^\w.-]", "_", name).lstrip(".")[:LONGEST_NAME]


def _text(value: Json, indent: int | None = None) -> str:
    """Return a value as JSON. Characters that are not valid text are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text
