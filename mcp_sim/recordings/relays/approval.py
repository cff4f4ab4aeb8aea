"""Hold calls back from a real server until the user has approved them.

Calls of tools that the server annotates with `readOnlyHint` pass. Its imports are few, since a client waits for it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from threading import Lock
from typing import Protocol

from mcp_sim.recordings.relays.backlog import warn
from mcp_sim.types import Json, Record, as_list, as_object
from mcp_sim.types.errors import UsageError
from mcp_sim.types.readable import readable

LONGEST = 4 * 1024 * 1024  # bytes of a message that can be judged; a longer one is refused

MOST_BYTES = 16 * 1024 * 1024
"""Bytes up to which calls are added to a file. Further ones are refused without a line."""

_PROTOCOL = "io.modelcontextprotocol/protocolVersion"
"""The key in `_meta` of the requests of the era whose results have a `resultType`."""


class Judge(Protocol):
    """What decides about a call. `refusal` is what the client reads."""

    refusal: str

    def approves(self, tool: str, arguments: Json) -> bool: ...


class Approval:
    """Judges the messages of a client. Safe to use from several threads."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._reads = set[str]()
        self._lock = Lock()

    def learn(self, message: Json) -> None:
        """Take a message of the server: a list of tools says which of them only read."""
        for answer in as_list(message) or [message]:
            for tool in map(as_object, as_list(as_object(as_object(answer).get("result")).get("tools"))):
                is_read = as_object(tool.get("annotations")).get("readOnlyHint") is True
                (self._reads.add if is_read else self._reads.discard)(str(tool.get("name")))

    def answer(self, data: bytes) -> bytes | None:
        """Return the answer to a message that is held back, b"" for a notification; None if the message may pass.

        A batch passes or is held back as a whole; each of its calls is judged.
        """
        if not data.strip():
            return None
        message = _parsed(data)
        if message is None:
            return _encoded(_error(None, "This message cannot be judged, and did not reach the server."))
        requests = [as_object(request) for request in as_list(message) or [message]]
        with self._lock:
            held = [request for request in requests if not self._may_pass(request)]
        if not held:
            return None
        answers: list[Json] = [self._refusal(request) for request in requests if request.get("id") is not None]
        return _encoded(answers if isinstance(message, list) else answers[0]) if answers else b""

    def _may_pass(self, request: Record) -> bool:
        if request.get("method") != "tools/call":
            return True
        params = as_object(request.get("params"))
        tool: Json = params.get("name")
        arguments: Json = params.get("arguments") or {}
        return isinstance(tool, str) and (tool in self._reads or self._judge.approves(tool, arguments))

    def _refusal(self, request: Record) -> Record:
        if request.get("method") != "tools/call":
            return _error(request["id"], "A call of the same batch is not approved.")
        has_type = _PROTOCOL in as_object(as_object(request.get("params")).get("_meta"))
        result: Record = {"content": [{"type": "text", "text": self._judge.refusal}], "isError": True}
        kind: Record = {"resultType": "complete"} if has_type else {}
        return {"jsonrpc": "2.0", "id": request["id"], "result": {**result, **kind}}


@dataclass
class ApprovedCalls:
    """A file of JSON lines with `approved`, `tool` (a glob) and `arguments`; without arguments, any are meant.

    A call that the file does not list is added to it, not approved. The file may be edited meanwhile.
    """

    path: Path
    refusal: str = "The user has not approved this call. It did not reach the server."

    def __post_init__(self) -> None:
        self._entries = list[Record]()
        self._read_at = (0, 0)
        self._separator = b""
        self._read()

    def approves(self, tool: str, arguments: Json) -> bool:
        try:
            self._read()
        except (OSError, ValueError, UsageError) as error:
            warn(f"nothing is approved: {error}")
            return False
        matching = [entry for entry in self._entries if _is_meant(entry, tool, arguments)]
        if not matching and self._read_at[1] < MOST_BYTES:
            line = json.dumps({"approved": False, "tool": tool, "arguments": arguments}).encode()
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            with open(os.open(self.path, flags, 0o600), "ab") as file:  # noqa: PTH123 (arguments are for the user alone)
                file.write(self._separator + line + b"\n")
        return any(entry["approved"] for entry in matching)

    def _read(self) -> None:
        """Read the file if it has changed. Raises `UsageError` for a line in another form."""
        if not self.path.exists():
            self._entries, self._read_at, self._separator = [], (0, 0), b""
            return
        status = self.path.stat()
        if (read_at := (status.st_mtime_ns, status.st_size)) != self._read_at:
            text = self.path.read_text(encoding="utf-8")
            self._separator = b"" if text[-1:] in ("", "\n") else b"\n"  # some editors write no last end of line
            lines = text.splitlines()
            self._entries = [_entry(line, f"{self.path}:{at}") for at, line in enumerate(lines, 1) if line.strip()]
            self._read_at = read_at


class AskedUser:
    """A person at the terminal, who is asked about each call. Raises `UsageError` if there is no terminal."""

    refusal = "The user has refused this call. It did not reach the server."

    def __init__(self) -> None:
        try:
            self._terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        except OSError:
            raise UsageError(
                "record: --approve ask needs a terminal; --approve FILE lists the calls, and you approve them there"
            ) from None
        self._tools = set[str]()
        """Tools whose calls are all approved."""

    def approves(self, tool: str, arguments: Json) -> bool:
        if tool in self._tools:
            return True
        call = readable(json.dumps({"tool": tool, "arguments": arguments}, ensure_ascii=False))
        question = f"mcp-sim: {call}\n  send it to the server? [y]es, [n]o, [a]ll calls of this tool: "
        os.write(self._terminal, question.encode("utf-8", "replace"))
        reply = os.read(self._terminal, 1024).strip().lower()
        if reply in (b"a", b"all"):
            self._tools.add(tool)
        return reply in (b"y", b"yes", b"a", b"all")


class Turnstile:
    """Splits what passes between a client and a server on stdio into lines, and keeps those that may not pass."""

    def __init__(self, approval: Approval, to_client: Callable[[bytes], None]) -> None:
        self._approval, self._to_client = approval, to_client
        self._rest = {"client": b"", "server": b""}

    def passing(self, side: str, data: bytes) -> Iterator[bytes]:
        """Yield the lines that pass on. Without data the side has ended: what is left of it is a line."""
        *lines, self._rest[side] = (self._rest[side] + data + (b"" if data else b"\n")).split(b"\n")
        for line in (line + b"\n" for line in lines if line or data):
            if side == "server":
                with suppress(ValueError, RecursionError):
                    self._approval.learn(json.loads(line) if b'"tools"' in line else None)
                yield line
            elif (answer := self._approval.answer(line)) is None:
                yield line
            elif answer:
                self._to_client(answer + b"\n")


def approval(how: str) -> Approval:
    """Return what `--approve` names: `ask`, or a file. Raises `UsageError`."""
    return Approval(AskedUser() if how == "ask" else ApprovedCalls(Path(how)))


def _entry(line: str, place: str) -> Record:
    with suppress(ValueError, RecursionError):
        entry = as_object(json.loads(line))
        if isinstance(entry.get("approved"), bool) and isinstance(entry.get("tool"), str):
            return entry
    raise UsageError(f'{place}: expected {{"approved": true or false, "tool": NAME, "arguments": {{...}}}}')


def _is_meant(entry: Record, tool: str, arguments: Json) -> bool:
    if "arguments" not in entry:
        return fnmatchcase(tool, str(entry["tool"]))
    return tool == entry["tool"] and _text(arguments) == _text(entry["arguments"])  # 1 and true are different values


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True)


def _parsed(data: bytes) -> Json:
    """Return a message, or None if it is too long, invalid, or has a key twice: the server might read the other."""
    with suppress(ValueError, RecursionError):
        return json.loads(data, object_pairs_hook=_once) if len(data) <= LONGEST else None
    return None


def _once(pairs: list[tuple[str, Json]]) -> Record:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError
    return value


def _error(request: Json, text: str) -> Record:
    return {"jsonrpc": "2.0", "id": request, "error": {"code": -32600, "message": text}}


def _encoded(value: Json) -> bytes:
    return json.dumps(value).encode()
