"""Calls that are passed on to real servers over HTTP: the older transport, and answers outside the protocol."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, ClassVar

import pytest
from support.over_http import started

from mcp_sim import Simulator
from mcp_sim.types.errors import Crash, DocumentError

PLAIN: dict[str, str] = {}
EVENTS = {"content-type": "text/event-stream"}
REFUSED = {"jsonrpc": "2.0", "id": None, "error": {"code": -32001, "message": "Refused"}}


class Handshaking(BaseHTTPRequestHandler):
    """A server of the era with a handshake. A call of `fail` gets what `failure` says, any other one a text."""

    protocol_version = "HTTP/1.1"
    failure: tuple[int, dict[str, str], Any] = (200, {}, "")
    sessions: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        match message["method"]:
            case "initialize":
                self.sessions.append(f"session-{len(self.sessions)}")
                info: dict[str, Any] = {"serverInfo": {"name": "odd", "version": "1"}, "capabilities": {"tools": {}}}
                self._answer(message, {"protocolVersion": "2025-11-25", **info})
            case "tools/list":
                named = [{"name": name, "inputSchema": {"type": "object"}} for name in ("fail", "do")]
                self._answer(message, {"tools": named})
            case "tools/call" if message["params"]["name"] == "fail":
                self._send(*self.failure)
            case "tools/call":
                self._answer(message, {"content": [{"type": "text", "text": self._session()}]})
            case "server/discover":
                self._refuse(message)
            case _:
                self._send(202, {}, "")

    def _refuse(self, message: dict[str, Any]) -> None:
        self._send(400, {}, "")

    def _session(self) -> str:
        return self.headers["mcp-session-id"]

    def do_GET(self) -> None:
        self._send(405, {}, "")

    def do_DELETE(self) -> None:
        self._send(200, {}, "")

    def _answer(self, message: dict[str, Any], result: dict[str, Any]) -> None:
        self._send(
            200, {"mcp-session-id": self.sessions[-1]}, {"jsonrpc": "2.0", "id": message["id"], "result": result}
        )

    def _send(self, status: int, headers: dict[str, str], body: Any) -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        kind = {} if isinstance(body, str) else {"content-type": "application/json"}
        self.send_response(status)
        for name, value in {**kind, **headers, "content-length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (as it is called)
        return


class Streaming(Handshaking):
    """The same over HTTP+SSE: its answers are on the newest stream."""

    outgoing: ClassVar[SimpleQueue[Any]]

    def do_GET(self) -> None:
        outgoing = type(self).outgoing = SimpleQueue()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(b"event: endpoint\ndata: /messages\n\n")
        while True:
            self.wfile.write(f"event: message\ndata: {json.dumps(outgoing.get())}\n\n".encode())

    def _answer(self, message: dict[str, Any], result: dict[str, Any]) -> None:
        self.outgoing.put({"jsonrpc": "2.0", "id": message["id"], "result": result})
        self._send(202, {}, "")

    def _refuse(self, message: dict[str, Any]) -> None:
        self.outgoing.put({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "Unknown"}})
        self._send(202, {}, "")

    def _session(self) -> str:
        return self.sessions[-1]


@contextmanager
def handshaking(
    failure: tuple[int, dict[str, str], Any], server_type: type[Handshaking] = Handshaking
) -> Generator[str]:
    """Yield the URL of a server that has this failure."""
    server_type.failure = failure
    server_type.sessions.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), server_type) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/mcp"
        server.shutdown()


def live(folder: Path, url: str, **options: Any) -> Simulator:
    document = {"mcp_sim": 1, "tools": "live", "world_model": {"upstream": {"url": url, "timeout": "20s", **options}}}
    (folder / "live.yaml").write_text(json.dumps(document), encoding="utf-8")
    return Simulator.load(folder / "live.yaml", trust=True)


@pytest.mark.parametrize("options", [{}, {"transport": "sse"}])
async def test_a_server_over_the_older_http_is_reached_at_its_url(tmp_path: Path, options: Any) -> None:
    with started(["notebook_server.py", "sse"]) as server:
        async with live(tmp_path, f"{server.url}/sse", **options).open() as world:
            assert (await world.call("create_note", {"title": "Milk"})).ok
            listed = await world.call("list_notes", {})
    assert "Milk" in str(listed.body)


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ((404, PLAIN, REFUSED), "HTTP 404 Not Found: it has ended the session"),
        ((401, {"www-authenticate": "Bearer"}, REFUSED), "HTTP 401 Unauthorized: it needs an HTTP header"),
        ((503, PLAIN, ""), "answers with an HTTP error"),
        ((307, {"location": "http://127.0.0.1:9/mcp"}, ""), "Redirect to http://127.0.0.1:9/mcp not followed"),
        ((200, {"content-type": "text/html"}, "<p>Hello"), "Unexpected content type: text/html"),
        ((200, {"content-type": "application/json"}, "{"), "Failed to parse JSON response"),
        ((200, EVENTS, "data: {\n\n"), "Failed to parse SSE message"),
        ((200, EVENTS, ": nothing\n\n"), "SSE stream ended without a response"),
        ((202, PLAIN, ""), "202 Accepted"),
    ],
)
async def test_an_answer_outside_the_protocol_is_a_crash_and_the_next_call_connects_again(
    tmp_path: Path, failure: Any, reason: str
) -> None:
    with handshaking(failure) as url:
        async with live(tmp_path, url).open() as world:
            with pytest.raises(Crash, match=reason):
                await world.call("fail", {})
            again = await world.call("do", {})
    assert "session-2" in str(again.body)


@pytest.mark.parametrize(("status", "reason"), [(401, "it needs an HTTP header"), (500, "HTTP 500")])
async def test_a_message_that_is_refused_over_the_older_http_is_a_crash(
    tmp_path: Path, status: int, reason: str
) -> None:
    with handshaking((status, PLAIN, ""), Streaming) as url:
        async with live(tmp_path, url, transport="sse").open() as world:
            with pytest.raises(Crash, match=reason):
                await world.call("fail", {})
            again = await world.call("do", {})
    assert "session-2" in str(again.body)


async def test_an_error_of_the_server_itself_is_its_answer(tmp_path: Path) -> None:
    own = {"code": -32602, "message": "Bad id", "data": {"id": 7}}
    with handshaking((400, {}, {"jsonrpc": "2.0", "id": 3, "error": own})) as url:
        async with live(tmp_path, url).open() as world:
            answer = await world.call("fail", {})
    assert "Bad id" in str(answer.body)


def test_a_path_without_a_server_is_reported(tmp_path: Path) -> None:
    with started(["notebook_server.py", "sse"]) as server, pytest.raises(DocumentError, match="no MCP server at this"):
        live(tmp_path, f"{server.url}/mcp")
