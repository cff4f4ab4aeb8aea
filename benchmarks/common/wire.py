"""Clients over raw pipes and sockets, servers as processes, and the bare SDK server that they are compared with.

    python benchmarks/common/wire.py stdio|http TOOLS.json RESULTS.json

The clients' own work distorts a measurement less than that of the SDK's client would. As a script this is the
reference: the MCP SDK's own server, which answers with one constant result per tool. Over HTTP it is as fast as users
get it without code of their own: JSON instead of event streams, uvloop, httptools. What the SDK and uvicorn do by
default stays: the middleware for telemetry, and a line of log per request.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Any, Self, cast

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent, Tool

ERAS = ("2025-11-25", "2026-07-28")
META = "io.modelcontextprotocol/"
CLIENT = {"name": "raw", "version": "1"}


class Peer:
    """A server process over stdio, in the era with a handshake or in the sessionless one."""

    def __init__(self, command: Sequence[str], era: str = ERAS[0]) -> None:
        self.started = time.perf_counter()
        self._era = era
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        self._process = subprocess.Popen(  # the first start compiles the modules, as an installation does
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        self._id = 0

    def __enter__(self) -> Self:
        if self._era == ERAS[0]:
            self.request("initialize", {"protocolVersion": self._era, "capabilities": {}, "clientInfo": CLIENT})
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._to.close()
        self._process.wait(timeout=30)
        self._from.close()

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a request. Raises if the answer is an error."""
        answer = json.loads(self.exchange(self.encode_request(method, params)))
        if "result" not in answer:
            raise RuntimeError(f"{method}: {answer.get('error')}")
        return cast("dict[str, Any]", answer["result"])

    def encode_request(self, method: str, params: dict[str, Any]) -> bytes:
        """Return the line of a request, ready to be sent."""
        self._id += 1
        request = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": with_envelope(params, self._era)}
        return json.dumps(request).encode() + b"\n"

    def exchange(self, line: bytes) -> bytes:
        """Send a line and return the next one."""
        self._to.write(line)
        self._to.flush()
        answer = self._from.readline()
        if not answer:
            raise RuntimeError(f"the server ended with {self._process.wait(timeout=30)}")
        return answer

    def cpu_seconds(self) -> float:
        """Return processor seconds of the server process so far (Linux; 0 elsewhere)."""
        return cpu_seconds(self._process.pid)

    def _send(self, message: dict[str, Any]) -> None:
        self._to.write(json.dumps(message).encode() + b"\n")
        self._to.flush()


def with_envelope(params: dict[str, Any], era: str) -> dict[str, Any]:
    """Return the params of a request for its era; sessionless requests name their client."""
    if era == ERAS[0]:
        return params
    about = {"protocolVersion": era, "clientCapabilities": {}, "clientInfo": CLIENT}
    return {**params, "_meta": {**params.get("_meta", {}), **{META + name: value for name, value in about.items()}}}


def cpu_seconds(pid: int) -> float:
    """Return processor seconds of a process so far, to the nanosecond (Linux; 0 elsewhere)."""
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.exists():
        return 0.0
    return sum(int(Path(task, "schedstat").read_text(encoding="ascii").split()[0]) for task in tasks.iterdir()) / 1e9


URL = re.compile(rb"http://127\.0\.0\.1:(\d+)")


@dataclass(frozen=True, slots=True)
class Listening:
    """A server process and its address."""

    pid: int
    port: int

    def cpu_seconds(self) -> float:
        """Return processor seconds of the process and its workers so far (Linux; 0 elsewhere)."""
        return cpu_seconds(self.pid) + sum(map(cpu_seconds, self.workers()))

    def workers(self) -> list[int]:
        """Return the processes that the process has started (Linux; none elsewhere)."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return [int(pid) for pid in children.read_text(encoding="ascii").split()] if children.exists() else []


def queued_seconds(pid: int) -> dict[str, float]:
    """Return how long each thread of a process has waited for a processor (Linux; empty elsewhere)."""
    waited = dict[str, float]()
    for status in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # the thread has ended
            waited[status.parent.name] = int(status.read_text(encoding="ascii").split()[1]) / 1e9
    return waited


@contextmanager
def start_server(command: list[str], *, ends_at_once: bool = False) -> Generator[Listening]:
    """Yield a running server, whose log is dropped. It is killed in the end if it `ends_at_once`."""
    with TemporaryFile() as log, subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log) as process:
        while (match := URL.search(_read(log))) is None:
            if process.poll() is not None:
                raise RuntimeError(_read(log).decode())
            time.sleep(0.02)
        try:
            yield Listening(process.pid, int(match[1]))
        finally:
            process.kill() if ends_at_once else process.terminate()


def _read(log: IO[bytes]) -> bytes:
    """Return what was written to a file, without moving the end where others write."""
    return os.pread(log.fileno(), 1_000_000, 0)


class Refused(Exception):
    """Raised for a response that is not a success. `status` is its HTTP status."""

    def __init__(self, head: bytes, body: bytes) -> None:
        self.status = int(head.split()[1])
        super().__init__(f"{head.decode()}{body.decode()}")


class Connection:
    """A connection that is kept alive, in one era."""

    def __init__(self, port: int, path: str, era: str) -> None:
        self._port, self._path, self._era = port, path, era
        self._session = b""

    async def open(self) -> None:
        """Connect, and make the handshake of the era. Raises `Refused`."""
        self._from, self._to = await asyncio.open_connection("127.0.0.1", self._port)
        if self._era == ERAS[0]:
            hello = {"protocolVersion": self._era, "capabilities": {}, "clientInfo": CLIENT}
            await self.exchange(self.encode_request("initialize", hello))
            await self.exchange(self.encode_request("notifications/initialized", None))

    def listen(self) -> None:
        """Open the event stream of the session, and never read it."""
        head = [f"GET {self._path} HTTP/1.1", f"host: 127.0.0.1:{self._port}", "accept: text/event-stream"]
        session = [f"mcp-protocol-version: {self._era}", f"mcp-session-id: {self._session.decode()}"]
        self._to.write("\r\n".join([*head, *session, "", ""]).encode())

    async def end_session(self) -> None:
        """End the session, on a connection of its own."""
        head = [f"DELETE {self._path} HTTP/1.1", f"host: 127.0.0.1:{self._port}"]
        session = [f"mcp-protocol-version: {self._era}", f"mcp-session-id: {self._session.decode()}"]
        self._from, self._to = await asyncio.open_connection("127.0.0.1", self._port)
        await self.exchange("\r\n".join([*head, *session, "", ""]).encode())
        self.abort()

    def head(self, more: bytes) -> bytes:
        """Return the head of a request with more headers, such as the length of its body."""
        head = [f"POST {self._path} HTTP/1.1", f"host: 127.0.0.1:{self._port}", f"mcp-protocol-version: {self._era}"]
        kinds = ["accept: application/json, text/event-stream", "content-type: application/json"]
        return "\r\n".join([*head, *kinds, ""]).encode() + more + b"\r\n\r\n"

    async def send_and_drain(self, data: bytes) -> None:
        """Send bytes, and wait while too many are on their way. Raises `ConnectionError` if the server has closed."""
        self._to.write(data)
        await self._to.drain()
        if self._from.at_eof():
            raise ConnectionResetError

    def send(self, data: bytes) -> None:
        """Send bytes without waiting for an answer."""
        self._to.write(data)

    def abort(self) -> None:
        """Close the connection without sending or reading the rest."""
        self._to.transport.abort()

    async def close(self) -> None:
        self._to.close()
        await self._to.wait_closed()

    def encode_request(self, method: str, params: dict[str, Any] | None) -> bytes:
        """Return the bytes of a request, or of a notification (params None)."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message |= {"id": 1, "params": with_envelope(params, self._era)}
        body = json.dumps(message).encode()
        head = [
            f"POST {self._path} HTTP/1.1",
            f"host: 127.0.0.1:{self._port}",
            "accept: application/json, text/event-stream",
            "content-type: application/json",
            f"content-length: {len(body)}",
        ]
        if self._era != ERAS[0] or self._session:
            head.append(f"mcp-protocol-version: {self._era}")
        if self._era != ERAS[0]:
            head += [f"mcp-method: {method}", *([f"mcp-name: {params['name']}"] if params and "name" in params else [])]
        if self._session:
            head.append(f"mcp-session-id: {self._session.decode()}")
        return "\r\n".join([*head, "", ""]).encode() + body

    def encode_call(self, tool: str, arguments: dict[str, Any]) -> bytes:
        """Return the bytes of a call of a tool."""
        return self.encode_request("tools/call", {"name": tool, "arguments": arguments})

    def check_result(self, body: bytes) -> None:
        """Raise `RuntimeError` if the response to a call is a failure."""
        if b'"result"' not in body or b'"isError":true' in body:
            raise RuntimeError(body.decode())

    async def exchange(self, request: bytes) -> bytes:
        """Send a request and return the body of the response. Raises `Refused`."""
        self._to.write(request)
        head = (await self._from.readuntil(b"\r\n\r\n")).lower()
        session = re.search(rb"mcp-session-id: (\S+)", head)
        if session:
            self._session = session[1]
        length = re.search(rb"content-length: (\d+)", head)
        if b"transfer-encoding: chunked" in head:
            body = await self._read_chunks()
        else:
            body = await self._from.readexactly(int(length[1])) if length else b""
        if not head.startswith((b"http/1.1 200", b"http/1.1 202")):
            raise Refused(head, body)
        return body

    async def _read_chunks(self) -> bytes:
        body = b""
        while size := int(await self._from.readuntil(b"\r\n"), 16):
            body += await self._from.readexactly(size)
            await self._from.readexactly(2)
        await self._from.readexactly(2)
        return body


def bare_server(definitions: list[dict[str, Any]], results: Mapping[str, dict[str, Any]]) -> Server[Any]:
    """Return a server whose tools return their `results`."""
    tools = [Tool.model_validate(definition) for definition in definitions]
    inputs = {tool.name: tool.input_schema for tool in tools}
    texts = {tool: json.dumps(result, separators=(",", ":"), ensure_ascii=False) for tool, result in results.items()}

    async def list_tools(ctx: ServerRequestContext[Any, Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def call_tool(ctx: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        text = TextContent(type="text", text=texts[params.name])
        return CallToolResult(content=[text], structured_content=results[params.name])

    return Server(
        "bare", version="1", on_list_tools=list_tools, on_call_tool=call_tool, get_tool_input_schema=inputs.get
    )


async def serve_stdio(server: Server[Any]) -> None:
    """Serve until stdin closes."""
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def serve_http(server: Server[Any]) -> None:
    """Serve over HTTP until the process is terminated."""
    import uvicorn  # noqa: PLC0415 (over stdio it would count as start-up of the reference)

    app = server.streamable_http_app(json_response=True)
    uvicorn.Server(uvicorn.Config(app, port=0, loop="uvloop", http="httptools", timeout_keep_alive=75)).run()


if __name__ == "__main__":
    listed, answers = (json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[2:4])
    bare = bare_server(listed["tools"], answers)
    serve_http(bare) if sys.argv[1] == "http" else anyio.run(serve_stdio, bare)
