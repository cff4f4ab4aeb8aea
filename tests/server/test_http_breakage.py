"""Over HTTP: faults on the way, clients that leave, requests that do not arrive whole, and servers that end."""

from __future__ import annotations

import json
import signal
import socket
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from support.http_deals import DEAL, created, deals, document, eras
from support.over_http import CLIENT, ERAS, META, Served, caller, listening


@eras
async def test_an_answer_can_be_an_http_status(tmp_path: Path, era: str) -> None:
    path = document(tmp_path, perturbations=[{"undelivered": "http", "tools": "create_deal"}])
    with listening(path) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as one:
            response = await one.post("tools/call", {"name": "create_deal", "arguments": DEAL})
            assert (response.status_code, response.headers["retry-after"]) == (429, "30")
            assert response.text == "slow down"
            assert await deals(one) == 21


@eras
@pytest.mark.parametrize("how", ["closed", "partial"])
async def test_an_answer_can_break_with_its_connection(tmp_path: Path, era: str, how: str) -> None:
    path = document(tmp_path, perturbations=[{"undelivered": how, "tools": "create_deal"}])
    with listening(path) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as one:
            for _ in range(3):
                with pytest.raises(httpx2.RemoteProtocolError):
                    await one.call("create_deal", DEAL)
            assert await deals(one) == 23
        assert served.end() == 143


def test_a_connection_stays_open_after_an_answer_that_took_long(tmp_path: Path) -> None:
    tools = [{"name": "announce", "inputSchema": {"type": "object"}}]
    notify = [{"changed": "tools", "after": "200ms"}]
    spec = {"mcp_sim": 1, "name": "news", "tools": tools, "sim": {"announce": {"notify": notify}}}
    (tmp_path / "news.json").write_text(json.dumps(spec))
    hello: dict[str, Any] = {"protocolVersion": ERAS[0], "capabilities": {}, "clientInfo": CLIENT}
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    with listening(str(tmp_path / "news.json")) as served:
        client = HTTPConnection("127.0.0.1", served.port, timeout=60)
        client.connect()
        called: dict[str, Any] = {"name": "announce", "arguments": {}}
        for params in (hello, called, called, called):
            method = "initialize" if params is hello else "tools/call"
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            client.request("POST", "/w/a/mcp", body, headers)
            response = client.getresponse()
            assert response.status == 200
            assert b'"result"' in response.read()
            headers["mcp-session-id"] = headers.get("mcp-session-id") or response.headers["mcp-session-id"]
        client.close()


@eras
async def test_an_answer_that_never_comes_delays_no_other_client(tmp_path: Path, era: str) -> None:
    path = document(tmp_path, perturbations=[{"undelivered": "no_answer", "tools": "create_deal"}])
    with listening(path) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as one, anyio.create_task_group() as tasks:
            tasks.start_soon(one.call, "create_deal", DEAL)
            while await deals(one) < 21:
                await anyio.lowlevel.checkpoint()
            async with caller(f"{served.url}/w/b/mcp", era) as two:
                assert await deals(two) == 20
            tasks.cancel_scope.cancel()
        assert served.end() == 143
        assert not any("Traceback" in line for line in served.log)


@eras
async def test_a_server_that_ends_does_not_wait_for_an_answer_that_never_comes(tmp_path: Path, era: str) -> None:
    path = document(tmp_path, perturbations=[{"undelivered": "no_answer", "tools": "create_deal"}])
    with listening(path) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as one, caller(f"{served.url}/w/a/mcp", era) as other:
            refused = list[Exception]()

            async def call() -> None:
                try:
                    await one.call("create_deal", DEAL)
                except httpx2.RemoteProtocolError as error:
                    refused.append(error)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                while await deals(other) < 21:
                    await anyio.lowlevel.checkpoint()
                assert await anyio.to_thread.run_sync(served.end) == 143
            assert len(refused) == 1


@eras
async def test_running_calls_are_finished_before_the_server_ends(tmp_path: Path, era: str) -> None:
    slow = {"latency": "700ms", "tools": "create_deal"}
    with listening(document(tmp_path, perturbations=[slow])) as served:
        answers = list[Any]()
        async with caller(f"{served.url}/w/a/mcp", era) as one, caller(f"{served.url}/w/a/mcp", era) as other:

            async def call() -> None:
                answers.append(await one.call("create_deal", DEAL))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                while await deals(other) < 21:
                    await anyio.lowlevel.checkpoint()
                assert await anyio.to_thread.run_sync(served.end, signal.SIGINT) == 130
        assert created(answers[0]) == "deal_0021"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", served.port)).close()


@eras
async def test_a_client_that_leaves_in_mid_call_leaves_the_world_as_the_call_did(tmp_path: Path, era: str) -> None:
    slow = {"latency": "1h", "tools": "create_deal"}
    with listening(document(tmp_path, perturbations=[slow])) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as other:
            for number in (21, 22, 23):
                async with caller(f"{served.url}/w/a/mcp", era) as one, anyio.create_task_group() as tasks:
                    tasks.start_soon(one.call, "create_deal", DEAL)
                    while await deals(other) < number:
                        await anyio.lowlevel.checkpoint()
                    tasks.cancel_scope.cancel()
            assert await deals(other) == 23
        assert served.end() == 143


async def test_half_open_connections_and_endless_requests_do_no_harm(calm: Served) -> None:
    beginnings = [
        b"",
        b"POST /w/a/mcp HT",
        b"POST /w/a/mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
        b"POST /w/a/mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n",
    ]
    opened = [socket.create_connection(("127.0.0.1", calm.port)) for _ in range(300)]
    for n, connection in enumerate(opened):
        connection.sendall(beginnings[n % len(beginnings)])
    async with caller(f"{calm.url}/w/unharmed/mcp", ERAS[1]) as one:
        assert await deals(one) == 80
    for connection in opened:
        connection.close()


@pytest.mark.parametrize("head", [b"content-length: 999999999\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n"])
def test_a_body_that_is_too_long_is_refused(calm: Served, head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", calm.port), timeout=60) as connection:
        connection.sendall(b"POST /w/a/mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" + head)
        piece = b"x" * 65536
        try:
            for _ in range(2000):
                connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece) if b"chunked" in head else piece)
        except OSError:
            pass  # the server has had enough, and said so
        try:
            answer = connection.recv(65536)
        except ConnectionResetError:
            answer = b""
    assert answer == b"" or answer.startswith(b"HTTP/1.1 413")


def test_a_head_that_never_ends_is_cut(calm: Served) -> None:
    with socket.create_connection(("127.0.0.1", calm.port), timeout=60) as connection:
        connection.sendall(b"POST /mcp HTTP/1.1\r\nx: ")
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            connection.sendall(b"x" * 64 * 1024 * 1024)


HTTP_2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
"""How a client of HTTP/2 begins."""
MANY: list[tuple[Any, bytes]] = [
    ({f"k{n}": n for n in range(20_000)}, b"413"),
    ([0] * 200_000, b"413"),
    ([{}] * 200_001, b"413"),
    ([[[[[[]]]]]] * 50_000, b"413"),
    ({f"k{n}": n for n in range(10_000)}, b"200"),
    ([0] * 100_000, b"200"),
    (["1,2\n" * 100_000], b"200"),
    (['[{"a": "\\' * 100_000], b"200"),
]


@pytest.mark.parametrize(("value", "status"), MANY)
def test_a_request_with_too_many_values_is_refused(calm: Served, value: Any, status: bytes) -> None:
    params = {"name": "create_deal", "arguments": {**DEAL, "more": value}, "_meta": ENVELOPE}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    with socket.create_connection(("127.0.0.1", calm.port), timeout=60) as connection:
        connection.sendall(post(b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body))
        assert read(connection).split()[1] == status


def test_headers_that_are_too_long_are_refused_although_they_arrive_at_once(calm: Served) -> None:
    with socket.create_connection(("127.0.0.1", calm.port), timeout=60) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: %b\r\n\r\n" % (b"x" * 65 * 1024))
        assert read_until_cut(connection).startswith(b"HTTP/1.1 431 ")
    with socket.create_connection(("127.0.0.1", calm.port), timeout=60) as connection:
        kept = b"connection: close\r\nx: %b\r\n\r\n" % (b"x" * 60 * 1024)
        connection.sendall(b"GET /health HTTP/1.1\r\nhost: localhost\r\n" + kept)
        assert read_until_cut(connection).startswith(b"HTTP/1.1 200 ")


def read_until_cut(connection: socket.socket) -> bytes:
    """Return what the server sends before it closes or resets the connection."""
    received = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            received += piece
    return received


@pytest.mark.parametrize(
    "request_",
    [b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", HTTP_2, b"GET /\xff HTTP/1.1\r\n\r\n"],
)
def test_a_malformed_request_is_refused_like_any_other(calm: Served, request_: bytes) -> None:
    with socket.create_connection(("127.0.0.1", calm.port), timeout=60) as connection:
        connection.sendall(request_)
        head, _, body = read_until_cut(connection).partition(b"\r\n\r\n")
    assert head.splitlines()[0] == b"HTTP/1.1 400 Bad Request"
    assert json.loads(body) == {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Bad Request"}}


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (b"/w/a/mcp", b"host: localhost\r\n", b"400"),
        (b"/w/a/mcp", b"origin: http://localhost\r\norigin: http://evil.example\r\n", b"400"),
        (b"/w/./mcp", b"", b"404"),
        (b"/w/%2e%2e/mcp", b"", b"404"),
        (b"/w/a%0a/mcp", b"", b"404"),
        (b"/w//mcp", b"", b"404"),
    ],
)
def test_ambiguous_headers_and_odd_names_of_worlds_are_refused(
    calm: Served, path: bytes, headers: bytes, status: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", calm.port), timeout=60) as connection:
        connection.sendall(b"GET %b HTTP/1.1\r\nhost: localhost\r\n%bconnection: close\r\n\r\n" % (path, headers))
        assert read_until_cut(connection).split()[1] == status


ENVELOPE: dict[str, Any] = {META + "protocolVersion": ERAS[1], META + "clientCapabilities": {}}
CREATE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "create_deal", "arguments": DEAL, "_meta": ENVELOPE},
    }
).encode()


def post(rest: bytes) -> bytes:
    """Return a request of the modern era, from its own headers on."""
    call = b"mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: create_deal\r\n"
    kinds = b"accept: */*\r\ncontent-type: application/json\r\n"
    return b"POST /w/raw/mcp HTTP/1.1\r\nhost: localhost\r\n" + kinds + call + rest


def read(connection: socket.socket) -> bytes:
    """Return all bytes until the server closes the connection."""
    received = b""
    while piece := connection.recv(65536):
        received += piece
    return received


async def test_bodies_that_do_not_end_hold_little_memory_together() -> None:
    with listening("calm_crm") as served:
        opened = [socket.create_connection(("127.0.0.1", served.port), timeout=60) for _ in range(20)]
        for connection in opened:
            connection.sendall(post(b"content-length: 4194304\r\n\r\n" + b"[" * 4_190_000))
        assert b"408 Request Timeout" in read(opened[0])
        async with caller(f"{served.url}/w/unharmed/mcp", ERAS[1]) as one:
            assert await deals(one) == 80
        for connection in opened:
            connection.close()


async def test_a_request_that_did_not_arrive_whole_is_no_request() -> None:
    with listening("calm_crm") as served:
        for length in (len(CREATE), len(CREATE) + 1):
            with socket.create_connection(("127.0.0.1", served.port), timeout=60) as connection:
                connection.sendall(post(b"connection: close\r\ncontent-length: %d\r\n\r\n" % length + CREATE[:9]))
                connection.sendall(CREATE[9:])
                connection.shutdown(socket.SHUT_WR)
                assert (b"deal_0081" in read(connection)) is (length == len(CREATE))
        async with caller(f"{served.url}/w/raw/mcp", ERAS[1]) as one:
            assert await deals(one) == 81


def test_a_server_that_ends_does_not_wait_for_the_rest_of_requests() -> None:
    with listening("calm_crm") as served:
        beginnings = (b"", b"x: y", b"content-length: 9\r\n\r\n", b"content-length: 9\r\n\r\n{")
        opened = [socket.create_connection(("127.0.0.1", served.port), timeout=60) for _ in beginnings]
        for connection, rest in zip(opened, beginnings, strict=True):
            connection.sendall(post(rest))
        assert status_of_ping(served) == 200
        assert served.end() == 143
        for connection in opened:
            assert read(connection) == b""
            connection.close()


def status_of_ping(served: Served) -> int:
    """The status of one more request, which the server has looked at after all that came before."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": ENVELOPE}}
    headers = {"mcp-protocol-version": ERAS[1], "mcp-method": "tools/list", "accept": "*/*"}
    return httpx2.post(f"{served.url}/w/a/mcp", json=body, headers=headers, trust_env=False).status_code


def test_two_headers_that_name_different_worlds_are_refused(calm: Served) -> None:
    with socket.create_connection(("127.0.0.1", calm.port), timeout=60) as connection:
        keys = b"mcp-sim-world: other\r\nmcp-sim-world: raw\r\nconnection: close\r\n"
        connection.sendall(post(keys + b"content-length: %d\r\n\r\n" % len(CREATE) + CREATE))
        assert b"-32602" in read(connection)
