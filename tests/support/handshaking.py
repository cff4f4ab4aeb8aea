"""A server of the era with a handshake that fails as a test wants it, over both kinds of HTTP."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from threading import Thread
from typing import Any, ClassVar


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
