"""The format of recorded sessions: read and write them.

A folder of a server has a tools/list result in `tools.json`, and a file `NAME.jsonl` for each session. The first line
of a session is its header, each other line a call:

    {"type": "session", "server": "notes", "session": "first", "initial_state": {"notes": {}}}
    {"type": "call", "seq": 1, "tool": "add_note", "arguments": {"text": "Milk"}, "result": {"content": [...]}}

`initial_state` may be `{"$ref": "FILE"}`, a JSON file beside the session. Recordings may be those of a stranger: files
that they name are regular, and not outside the folder that was named. A header may have `tools` of its own. A call
has a `result` (a CallToolResult) or an `error` (of JSON-RPC). Other keys are kept, and lines of other types skipped, so
that recordings can hold more than a reader of this version knows. A line `{"type": "tools", "tools": [...]}` replaces
the tools beside the session. A last line without its end is left out: its recorder was killed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from mcp_sim.spec.messages import shown
from mcp_sim.spec.sources import is_readable
from mcp_sim.spec.trust import is_below, is_inside, is_special, read_regular
from mcp_sim.spec.yaml12 import LARGEST
from mcp_sim.types import Json, Record
from mcp_sim.types.call_results import flaw_of_answer
from mcp_sim.types.errors import DocumentError, Problem, UsageError, did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import decode_strict

FORMAT = 1
"""The version of the format. A header of a later one (`"format": 2`) is refused."""

TOOLS = "tools.json"

PLACEHOLDER = re.compile(r"<redacted:[\w-]+-\d+>")
"""What a recording has instead of a secret: the same for the same secret."""

_WITH_TOOLS = frozenset({"session", "tools"})
"""The types of lines that may have tools."""

MOST_PROBLEMS = 100
"""How many invalid lines of a file are reported; the rest is not read. A file of another format has as many problems as
lines."""

_PLACED = re.compile(r"(.*) at line (\d+) column (\d+)")
"""A message of the JSON parser."""

Answer = dict[str, Any]
"""`result` with a CallToolResult, or `error` with a JSON-RPC error."""


@frozen
class RecordedCall:
    """A call, and the answer that the real server gave."""

    tool: str
    arguments: Record
    answer: Answer
    seq: int
    """Its number in the session, from 1."""
    line: Record
    """Everything that was recorded of the call."""

    @property
    def at(self) -> datetime | None:
        """When it was made; None if that was not recorded."""
        return _moment(self.line.get("at"))


@frozen
class RecordedRequest:
    """A request other than a call, such as `resources/read`, and the answer that the real server gave."""

    method: str
    params: Record
    answer: Answer
    after: int
    """The number of calls that were answered before it."""


@frozen
class Session:
    """A recorded session with a server."""

    server: str
    name: str
    file: Path
    tools: Sequence[Record]
    """The tools as the server lists them."""
    state: Record
    """The state at the start; empty if the recording lacks it."""
    calls: Sequence[RecordedCall]
    header: Record
    requests: Sequence[RecordedRequest] = ()

    @property
    def started(self) -> datetime | None:
        """When it began; None if that was not recorded."""
        return _moment(self.header.get("started")) or next((call.at for call in self.calls), None)


def _moment(value: Json) -> datetime | None:
    """Return the time that a text has in ISO 8601, in UTC unless it has a zone, or None."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is None or moment.tzinfo is not None else moment.replace(tzinfo=UTC)


# reading --------------------------------------------------------------------------------------------------------------


def single_server(sessions: Iterable[Session]) -> str:
    """Return the server of the sessions. Raises `UsageError` if they are of several."""
    servers = sorted({session.server for session in sessions})
    if len(servers) > 1:
        raise UsageError(f"the recordings are of several servers: {', '.join(servers)}; choose with --servers NAME")
    return servers[0]


def read_sessions(
    place: Path, servers: Sequence[str] = ("*",), sessions: Sequence[str] = ("*",), limit: int | None = None
) -> list[Session]:
    """Return the sessions of a file, of the folder of a server, or of a folder of such folders.

    `servers` and `sessions` are globs for their names. `limit` is the largest number of sessions of each server.
    Raises `UsageError` if there is no such session, and `DocumentError` with every invalid line.
    """
    files = [place] if is_readable(place) else sorted(place.glob("*.jsonl")) or sorted(place.glob("*/*.jsonl"))
    if not files and not place.exists():
        raise UsageError(f"{place}: no such file or folder")
    reader = _Reader(place)
    read = [session for file in files if _matches(file.stem, sessions) for session in reader.session(file)]
    if reader.problems:
        raise DocumentError([*reader.problems])
    counts = dict[str, int]()
    chosen = list[Session]()
    for session in read:
        if _matches(session.server, servers) and counts.get(session.server, 0) < (limit or len(read)):
            counts[session.server] = counts.get(session.server, 0) + 1
            chosen.append(session)
    if not chosen:
        raise UsageError(_none_chosen(place, files, read, servers, sessions))
    return chosen


def _matches(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def _none_chosen(
    place: Path, files: Sequence[Path], read: Sequence[Session], servers: Sequence[str], sessions: Sequence[str]
) -> str:
    """Return why no session was chosen."""
    if not files:
        return f"{place}: no recorded sessions; expected files NAME.jsonl beside a {TOOLS}, here or in folders"
    if not read:
        globs = ", ".join(sessions)
        return f"{place}: no session matches {globs}{did_you_mean(globs, [file.stem for file in files])}"
    globs = ", ".join(servers)
    return f"{place}: no server matches {globs}{did_you_mean(globs, {session.server for session in read})}"


class _Reader:
    """Reads sessions, and files that several of them share once. Problems are collected.

    Files must be regular, except the one that the user has named. Those that sessions name must be below its folder,
    theirs, or the working directory.
    """

    def __init__(self, named: Path) -> None:
        self.problems: dict[Problem, None] = {}
        self._named = named
        self._shared: dict[Path, Json] = {}

    def session(self, file: Path) -> Iterator[Session]:
        """Yield the session of a file, or nothing if it is invalid."""
        before = len(self.problems)
        reason = "" if file == self._named else self._refused(file, file, "no such file")
        if reason:
            self._problem(file, 0, "", reason)
            return
        lines = list(self._lines(file))
        if not lines:
            if len(self.problems) == before:
                self._problem(
                    file, 1, "", "expected a header with the server's name and initial state, got an empty file"
                )
            return
        (at, header), *rest = lines
        tools, state = self._tools(file, [header, *(line for _, line in rest)]), self._state(file, at, header)
        self._check_header(file, at, header)
        calls = [(at, line) for at, line in rest if line.get("type", "call") == "call"]
        read = list[RecordedCall | None]()
        for seq, (at, line) in enumerate(calls, 1):
            if len(self.problems) - before < MOST_PROBLEMS:
                read.append(self._call(file, at, seq, line))
        if len(self.problems) == before:
            server, name = str(header.get("server") or file.parent.name), str(header.get("session") or file.stem)
            recorded_calls = [call for call in read if call is not None]
            yield Session(
                server, name, file, tools, state, recorded_calls, header, [*_requests(line for _, line in rest)]
            )

    def _lines(self, file: Path) -> Iterator[tuple[int, Record]]:
        """Yield the objects in the lines of a file, with their numbers."""
        before, texts = len(self.problems), self._text(file).split("\n")
        if len(texts) > 1 and not _is_json(texts[-1]):
            texts.pop()
        for at, text in enumerate(texts, 1):
            if len(self.problems) - before >= MOST_PROBLEMS:
                return
            if text.strip():
                line = self._parsed(file, at, text)
                if isinstance(line, dict):
                    yield at, cast("Record", line)
                elif line is not None:
                    self._problem(file, at, "", f"expected a JSON object, got {shown(line)}")
                elif at == 1:
                    return

    def _check_header(self, file: Path, at: int, header: Record) -> None:
        version = header.get("format", FORMAT)
        if "tool" in header or header.get("type", "session") != "session":
            self._problem(file, at, "", "expected the header of a session, got another line; it must come first")
        elif not isinstance(version, int) or version > FORMAT:
            self._problem(file, at, "format", f"expected at most {FORMAT}, got {shown(version)}; use a newer mcp-sim")
        for name in ("server", "session"):
            if not isinstance(header.get(name) or "", str):
                self._problem(file, at, name, f"expected a name, got {shown(header[name])}")

    def _tools(self, file: Path, lines: Sequence[Record]) -> list[Record]:
        """Return the tools in the header, or in a line of their own, else those in the file beside the session."""
        header = next(
            (line for line in lines if "tools" in line and str(line.get("type", "session")) in _WITH_TOOLS), None
        )
        if header is not None:
            return self._tool_list(file, 1, header["tools"])
        beside = file.with_name(TOOLS)
        listed = self._json(beside, file, "no such file; sessions whose header has no `tools` need it")
        tools: Json = cast("Record", listed).get("tools") if isinstance(listed, dict) else listed
        return [] if listed is None else self._tool_list(beside, 0, tools)

    def _tool_list(self, file: Path, at: int, tools: Json) -> list[Record]:
        if not isinstance(tools, list):
            self._problem(file, at, "tools", f"expected a list of tools, got {shown(tools)}")
            return []
        listed = cast("list[Json]", tools)
        for n, tool in enumerate(listed):
            if not isinstance(tool, dict) or not isinstance(cast("Record", tool).get("name"), str):
                self._problem(file, at, f"tools[{n}]", f"expected a tool with a name, got {shown(tool)}")
        return listed

    def _state(self, file: Path, at: int, header: Record) -> Record:
        state: Json = header.get("initial_state") or {}
        if isinstance(state, dict) and set(cast("Record", state)) == {"$ref"}:
            beside = file.parent / str(cast("Record", state)["$ref"])
            state = self._json(beside, file, f"no such file; the header of {file.name} names it")
        if isinstance(state, dict):
            return cast("Record", state)
        if state is not None:
            self._problem(file, at, "initial_state", f"expected an object, got {shown(state)}")
        return {}

    def _call(self, file: Path, at: int, seq: int, line: Record) -> RecordedCall | None:
        """Return the call of a line; None if it is invalid."""
        answer = {name: line[name] for name in ("result", "error") if line.get(name) is not None}
        given: Json = line.get("arguments") or {}
        checks: list[tuple[bool, str, str]] = [
            (isinstance(line.get("tool"), str), "tool", f"expected the name of a tool, got {shown(line.get('tool'))}"),
            (isinstance(given, dict), "arguments", f"expected an object, got {shown(given)}"),
        ]
        wrong = [(path, message) for is_right, path, message in checks if not is_right]
        flaw = flaw_of_answer(answer)
        if flaw is not None:
            path, expected, actual = flaw
            wrong.append((path, f"expected {expected}" + (f", got {shown(actual)}" if path else "")))
        for path, message in wrong:
            self._problem(file, at, path, message)
        return None if wrong else RecordedCall(line["tool"], given, answer, seq, line)

    def _json(self, file: Path, session: Path, missing: str) -> Json:
        """Return the value of a JSON file that sessions share; None if it cannot be read."""
        if file not in self._shared:
            reason = self._refused(file, session, missing)
            if reason:
                self._problem(file, 0, "", reason)
            self._shared[file] = None if reason else self._parsed(file, 0, self._text(file))
        return self._shared[file]

    def _refused(self, file: Path, session: Path, missing: str) -> str:
        """Return why a file that a session names is not read; '' if it is."""
        try:
            if not is_below(file, self._named) and not is_inside(file, session):
                return (
                    f"is outside the folder of {session.name}, {self._named}, and the working directory; copy it there"
                )
            return "is not a regular file" if is_special(file) else ""
        except (OSError, RuntimeError, ValueError):  # a name that no file can have, or a loop of links
            return missing

    def _text(self, file: Path) -> str:
        try:
            if file == self._named:
                with file.open("rb") as stream:
                    data = stream.read(LARGEST + 1)
            else:
                data = read_regular(file, LARGEST + 1)
            if len(data) <= LARGEST:
                return data.decode("utf-8-sig")
            self._problem(file, 0, "", f"is larger than {LARGEST >> 20} MiB")
        except OSError as error:
            self._problem(file, 0, "", f"cannot be read: {error.strerror}")
        except UnicodeDecodeError as error:
            self._problem(file, 0, "", f"is not UTF-8 text (byte {error.start})")
        return ""

    def _parsed(self, file: Path, at: int, text: str) -> Json:
        try:
            return decode_strict(text)
        except ValueError as error:
            match = _PLACED.fullmatch(str(error))
        if match is None:
            self._problem(file, at, "", "is not JSON: it has numbers that are too large")
        elif match[1] == "recursion limit exceeded":
            self._problem(file, at or int(match[2]), "", "is nested too deeply")
        else:
            self._problem(file, at or int(match[2]), "", f"is not JSON: {match[1]} at character {match[3]}")
        return None

    def _problem(self, file: Path, line: int, path: str, message: str) -> None:
        self.problems[Problem(str(file), line, path, message)] = None


def _requests(lines: Iterable[Record]) -> Iterator[RecordedRequest]:
    """Yield the answered requests among the lines of a session. Other lines are skipped."""
    calls = 0
    for line in lines:
        kind = line.get("type", "call")
        calls += kind == "call"
        answer = {name: line[name] for name in ("result", "error") if isinstance(line.get(name), dict)}
        method, params = REQUESTS[kind](line) if isinstance(kind, str) and kind in REQUESTS else (None, None)
        if isinstance(method, str) and isinstance(params, dict) and len(answer) == 1:
            yield RecordedRequest(method, cast("Record", params), answer, calls)


REQUESTS: Mapping[Json, Callable[[Record], tuple[Json, Json]]] = {
    "resource": lambda line: ("resources/read", {"uri": line.get("uri")}),
    "prompt": lambda line: ("prompts/get", {"name": line.get("name"), "arguments": line.get("arguments", {})}),
    "request": lambda line: (line.get("method"), line.get("params", {})),
}
"""Types of lines -> the method and the parameters of a request."""


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


# writing --------------------------------------------------------------------------------------------------------------


def session_lines(header: Mapping[str, Json], calls: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    """Yield the lines of a session: its header, and its calls with their numbers."""
    numbered = ({"type": "call", "seq": at, **call} for at, call in enumerate(calls, 1))
    for line in ({"type": "session", **header}, *numbered):
        yield json.dumps(line, ensure_ascii=False)
