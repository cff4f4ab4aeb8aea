"""Turn the messages between a client and its server into the lines of a session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from operator import attrgetter
from typing import Any, Literal, cast

from mcp_sim.recordings.capture.folder import Folder, SessionFile
from mcp_sim.recordings.capture.parsing import Lines, Parsed
from mcp_sim.recordings.relays.backlog import now
from mcp_sim.types import Json, Record, as_list, as_object, canonical
from mcp_sim.types.call_results import flaw_of_answer

Side = Literal["client", "server"]

MOST_OPEN = 1000
"""The most requests without an answer that are kept; older ones count as unanswered. A client that gives up on requests
never says so."""

META = "io.modelcontextprotocol/"  # the prefix of the keys that messages without a handshake have in `_meta`

QUIET = frozenset({"ping", "logging/setLevel", "subscriptions/listen", "resources/subscribe", "resources/unsubscribe"})
"""Requests whose answers have no content."""


@dataclass(slots=True)
class Open:
    """A request whose answer has not come yet."""

    side: Side
    scope: str
    method: str
    params: Record
    at: float
    number: int
    token: str | None
    is_whole: bool
    progress: int = 0
    overlaps: int = 0
    is_cancelled: bool = False
    is_late: bool = False


@dataclass(slots=True)
class Conversation:
    """The messages of one client and its server. Lines are written when requests are answered.

    `about` is what the header has besides the server's own description.
    """

    folder: Folder
    about: Record
    _file: SessionFile | None = None
    _open: dict[str, list[Open]] = field(default_factory=dict[str, list[Open]])
    _numbers: int = 0
    _calls: int = 0
    _described: Record = field(default_factory=dict[str, Json])
    _pages: list[Json] = field(default_factory=list[Json])
    _has_first_page: bool = False
    _notifications: Counter[str] = field(default_factory=Counter[str])
    _invalid: Counter[str] = field(default_factory=Counter[str])
    is_ended: bool = False

    def note(self, side: Side, parsed: Parsed, at: float, scope: str = "") -> None:
        """Take a message, or a batch of them. `scope` names the HTTP exchange that it belongs to."""
        messages = as_list(parsed.value) or [parsed.value]
        for message in messages:
            if not isinstance(message, dict):
                self._invalid[side] += 1
                continue
            body = cast("Record", message)
            if isinstance(body.get("method"), str):
                self._noted(side, body, parsed, at, scope)
            elif "id" in body and ("result" in body or "error" in body):
                self._answered(side, body, parsed, at, scope)
            else:
                self._invalid[side] += 1

    def end(self, at: float, facts: Record | None = None) -> None:
        """Write the requests without an answer, and what was counted."""
        if self.is_ended:
            return
        for pending in sorted(chain.from_iterable(self._open.values()), key=attrgetter("number")):
            self._unanswered(pending)
        self._open.clear()
        if self._file is not None:
            counts = {"notifications": dict(self._notifications), "invalid": dict(self._invalid)}
            self._write(
                {
                    "type": "end",
                    "at": iso(at),
                    **{name: count for name, count in counts.items() if count},
                    **(facts or {}),
                }
            )
        self.is_ended = True

    def give_up(self, scope: str) -> None:
        """Mark the requests of an HTTP exchange that the server took too long to answer."""
        for pending in chain.from_iterable(self._open.values()):
            if pending.scope == scope:
                pending.is_late = True

    def close(self, scope: str, status: int = 0) -> None:
        """Write the requests of an HTTP exchange that has ended without their answers, and its status."""
        for key, several in list(self._open.items()):
            for pending in [request for request in several if request.scope == scope and request.side == "client"]:
                several.remove(pending)
                self._unanswered(pending, status)
            if not several:
                del self._open[key]

    # requests ---------------------------------------------------------------------------------------------------------

    def _noted(self, side: Side, message: Record, parsed: Parsed, at: float, scope: str) -> None:
        """Take a request or a notification."""
        method, params = cast("str", message["method"]), as_object(message.get("params"))
        if "id" not in message:
            self._notified(method, params)
            return
        meta = as_object(params.get("_meta"))
        for key, name in (("protocolVersion", "protocol"), ("clientInfo", "client_info")):
            if f"{META}{key}" in meta:
                self._described.setdefault(name, meta[f"{META}{key}"])
        token = canonical(meta["progressToken"]) if "progressToken" in meta else None
        self._numbers += 1
        request = Open(side, scope, method, params, at, self._numbers, token, parsed.is_whole)
        for other in chain.from_iterable(self._open.values()):
            if other.method == method == "tools/call":
                other.overlaps += 1
                request.overlaps += 1
        self._open.setdefault(canonical(message["id"]), []).append(request)
        if sum(map(len, self._open.values())) > MOST_OPEN:
            key, several = min(self._open.items(), key=lambda item: item[1][0].number)
            self._unanswered(several.pop(0))
            if not several:
                del self._open[key]

    def _notified(self, method: str, params: Record) -> None:
        self._notifications[method] += 1
        if method == "notifications/progress" and "progressToken" in params:
            token = canonical(params["progressToken"])
            for pending in chain.from_iterable(self._open.values()):
                if pending.token == token:
                    pending.progress += 1
        if method == "notifications/cancelled":
            for pending in self._open.get(canonical(params.get("requestId")), ()):
                pending.is_cancelled = True

    # answers ----------------------------------------------------------------------------------------------------------

    def _answered(self, side: Side, message: Record, parsed: Parsed, at: float, scope: str) -> None:
        asked = self._taken(canonical(message["id"]), "server" if side == "client" else "client", scope)
        if asked is None:
            self._invalid[side] += 1
            return
        answer = {name: message[name] for name in ("result", "error") if name in message}
        result = as_object(answer.get("result"))
        match asked.method:
            case "initialize" | "server/discover" if "result" in answer:
                described = {
                    "protocol": result.get("protocolVersion") or self._described.get("protocol"),
                    "server_info": result.get("serverInfo") or as_object(result.get("_meta")).get(f"{META}serverInfo"),
                    "capabilities": result.get("capabilities"),
                    "instructions": result.get("instructions"),
                    "client_info": asked.params.get("clientInfo") or self._described.get("client_info"),
                }
                self._described |= {name: value for name, value in described.items() if value is not None}
                self.folder.refuse_another_server(self._described.get("server_info"))
                self._opened()
            case "tools/list" if parsed.is_whole:
                self._list_tools(asked, result)
            case "initialize" | "server/discover" | "tools/list":
                pass
            case method if method not in QUIET:
                self._describe_from(result)
                self._write_answer(asked, answer, parsed, at)
            case _:
                pass

    def _taken(self, key: str, side: Side, scope: str) -> Open | None:
        """Take the request that an answer belongs to: that of the same exchange, else the oldest of the same id."""
        several = [request for request in self._open.get(key, ()) if request.side == side]
        if not several:
            return None
        pending = next((candidate for candidate in several if candidate.scope == scope), several[0])
        self._open[key].remove(pending)
        if not self._open[key]:
            del self._open[key]
        return pending

    def _describe_from(self, result: Record) -> None:
        info = as_object(result.get("_meta")).get(f"{META}serverInfo")
        if info is not None and "server_info" not in self._described:
            self._described["server_info"] = info
            self.folder.refuse_another_server(info)

    def _list_tools(self, asked: Open, result: Record) -> None:
        """Collect the pages of the list of tools; the whole list is written."""
        if not isinstance(result.get("tools"), list):
            return
        self._describe_from(result)
        if not asked.params.get("cursor"):
            self._pages, self._has_first_page = [], True
        self._pages += as_list(result["tools"])
        if self._has_first_page and not result.get("nextCursor") and not self.folder.has_tools(self._pages):
            self._write({"type": "tools", "tools": self._pages})

    def _write_answer(self, asked: Open, answer: Record, parsed: Parsed, at: float) -> None:
        timing = {"at": iso(asked.at), "ms": round((at - asked.at) * 1000, 3)}
        counts = {"progress": asked.progress, "overlaps": asked.overlaps, "cancelled": asked.is_cancelled}
        timing |= {name: number for name, number in counts.items() if number}
        if not (parsed.is_whole and asked.is_whole):
            timing |= {"truncated": True, "bytes": parsed.size}
        line = {"type": _type(asked, answer, timing), **_question(asked), **_stripped(answer), **timing}
        if line["type"] == "call":
            self._calls += 1
            line = {"type": "call", "seq": self._calls, **line}
        self._write(line)

    def _unanswered(self, asked: Open, status: int = 0) -> None:
        if asked.method in QUIET or asked.method in {"initialize", "server/discover", "tools/list"}:
            return
        known = {"status": status, "timed_out": asked.is_late, "cancelled": asked.is_cancelled}
        facts = {name: value for name, value in known.items() if value}
        self._write({"type": "unanswered", "method": asked.method, **_question(asked), "at": iso(asked.at), **facts})

    # the file ---------------------------------------------------------------------------------------------------------

    def _write(self, line: Record) -> None:
        self._opened().write(line)

    def _opened(self) -> SessionFile:
        """Return the file, which begins with what is known of the server by now."""
        if self._file is None:
            started = self.about["started"]
            file = self.folder.new_session(started)
            file.write(self.folder.header(file.path, {**self.about, **self._described}))
            self._file = file
        return self._file


def iso(at: float) -> str:
    """Return a time in seconds since 1970 as text, with milliseconds."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _type(asked: Open, answer: Record, timing: Record) -> str:
    """Return the type of the line of an answered request."""
    if asked.side == "server":
        return "question"
    if asked.method == "tools/call":
        if timing.get("truncated"):
            return "truncated"
        if not isinstance(asked.params.get("name"), str) or flaw_of_answer(answer) is not None:
            return "invalid"
        return "asks" if as_object(answer.get("result")).get("resultType") == "input_required" else "call"
    return {"resources/read": "resource", "prompts/get": "prompt"}.get(asked.method, "request")


def _question(asked: Open) -> Record:
    """Return what was asked: the parts that identify a request, without its envelope."""
    params = {name: param for name, param in asked.params.items() if name != "_meta"}
    match asked.method:
        case "tools/call":
            given = {"tool": params.get("name"), "arguments": as_object(params.get("arguments"))}
            return given | ({"answers": params["inputResponses"]} if "inputResponses" in params else {})
        case "resources/read":
            return {"uri": params.get("uri")}
        case "prompts/get":
            return {"name": params.get("name"), "arguments": as_object(params.get("arguments"))}
        case _:
            return {"method": asked.method, "params": params}


def _stripped(answer: Record) -> Record:
    """Return an answer without the stamps of its protocol era, which say nothing about the call."""
    if not isinstance(answer.get("result"), dict):
        return answer
    result = cast("Record", answer["result"])
    meta = {name: value for name, value in as_object(result.get("_meta")).items() if name != f"{META}serverInfo"}
    kept = {
        name: value for name, value in result.items() if name != "_meta" and (name, value) != ("resultType", "complete")
    }
    return {**answer, "result": {**kept, **({"_meta": meta} if meta else {})}}


class StdioRecorder:
    """Reads a backlog of the bytes of both sides."""

    def __init__(self, folder: Folder, command: Sequence[str]) -> None:
        about = {"started": iso(now()), "transport": "stdio", "command": [*command]}
        self._conversation = Conversation(folder, about)
        self._lines = {"client": Lines(), "server": Lines()}
        self._exit: int | None = None

    def take(self, kind: str, _channel: int, data: Any, at: float) -> None:
        """Take bytes of a side, or the exit code of the server."""
        if kind == "exit":
            self._exit = data
            return
        for message in self._lines[kind].feed(data):
            self._conversation.note(kind, message, at)  # pyright: ignore[reportArgumentType] (a side)

    def finish(self, at: float) -> None:
        """End the session."""
        for side, lines in self._lines.items():
            for message in lines.rest():
                self._conversation.note(side, message, at)  # pyright: ignore[reportArgumentType] (a side)
        self._conversation.end(at, {} if self._exit is None else {"exit": self._exit})
