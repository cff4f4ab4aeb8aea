"""`mcp-sim connect`: a client that speaks over pipes, in a world of a server that listens on HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, cast

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from support.over_http import listening
from support.places import ROOT
from support.telltale import TOKEN, assert_nothing_leaks, telltale_scenario, telltale_tokens
from support.warm import PYTHON, pid_of

DEAL: dict[str, Any] = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
eras = pytest.mark.parametrize("mode", ["auto", "legacy"])


def document(folder: Path, **parts: Any) -> str:
    path = folder / "odd.yaml"
    path.write_text(json.dumps({"mcp_sim": 1, "name": "odd", "tools": "crm", "seed": 7, **parts}), encoding="utf-8")
    return str(path)


@asynccontextmanager
async def bridged(url: str, mode: str, **environment: str) -> AsyncGenerator[Client]:
    """Yield a client of `mcp-sim connect URL`."""
    command = StdioServerParameters(
        command=PYTHON,
        args=["-m", "mcp_sim", "connect", url],
        env={"PYTHONPATH": str(ROOT), **environment},
    )
    async with Client(stdio_client(command), mode=mode) as client:
        yield client


def connected(url: str, stdin: bytes, *, lines: int = 0, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run `mcp-sim connect URL` on these bytes. Its stdin is closed once it has printed so many lines, or ended."""
    command = [PYTHON, "-m", "mcp_sim", "connect", url]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(BrokenPipeError):
                process.stdin.write(stdin)
                process.stdin.flush()
            first = b"".join(process.stdout.readline() for _ in range(lines))
            rest, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
    return subprocess.CompletedProcess(command, process.returncode, first + rest, stderr)


async def made(client: Client) -> str:
    """Create a deal and return its id."""
    result = await client.call_tool("create_deal", DEAL)
    return cast("dict[str, str]", result.structured_content)["id"]


@eras
async def test_several_entries_of_a_client_share_one_world(tmp_path: Path, mode: str) -> None:
    path = document(tmp_path, tools={"sales": "crm", "support": "crm"}, world={"records": {"deal": 3, "contact": 5}})
    with listening(path) as served:
        async with (
            bridged(f"{served.url}/w/a/sales/mcp", mode) as sales,
            bridged(f"{served.url}/w/a/support/mcp", mode) as support,
        ):
            assert len((await sales.list_tools()).tools) == 14
            new = await made(sales)
            found = await support.call_tool("get_deal", {"deal_id": new})
            assert cast("dict[str, str]", found.structured_content)["title"] == "Spring order"
            refused = await support.call_tool("get_deal", {"deal_id": "deal_9999"})
            assert refused.is_error


@eras
async def test_calls_at_once_get_their_own_answers(mode: str) -> None:
    with listening("calm_crm") as served:
        async with bridged(f"{served.url}/w/a/mcp", mode) as client:
            found = dict[str, str]()

            async def call(contact: str) -> None:
                result = await client.call_tool("get_contact", {"contact_id": contact})
                found[contact] = cast("dict[str, str]", result.structured_content)["id"]

            async with anyio.create_task_group() as tasks:
                for n in range(1, 21):
                    tasks.start_soon(call, f"con_{n:05d}")
            assert len(found) == 20
            assert all(asked == got for asked, got in found.items())


@eras
async def test_a_call_can_be_cancelled_through_the_bridge(tmp_path: Path, mode: str) -> None:
    with listening(document(tmp_path, perturbations=[{"latency": "1h", "tools": "create_deal"}])) as served:
        async with bridged(f"{served.url}/w/a/mcp", mode) as client:
            with anyio.move_on_after(0.5):
                await client.call_tool("create_deal", DEAL)
            assert not (await client.call_tool("list_deals", {})).is_error
        assert served.end() == 143


@eras
@pytest.mark.parametrize(
    ("how", "message"), [("closed", "Connection closed"), ("http", "HTTP 429"), ("partial", "closed")]
)
async def test_a_broken_answer_is_an_error_and_the_bridge_continues(
    tmp_path: Path, mode: str, how: str, message: str
) -> None:
    with listening(document(tmp_path, perturbations=[{"undelivered": how, "tools": "create_deal"}])) as served:
        async with bridged(f"{served.url}/w/a/mcp", mode) as client:
            for _ in range(2):
                with pytest.raises(MCPError, match=message):
                    await client.call_tool("create_deal", DEAL)
            listed = await client.call_tool("list_deals", {})
            assert cast("dict[str, int]", listed.structured_content)["total"] == 22


@eras
async def test_the_token_comes_from_the_environment(tmp_path: Path, mode: str) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("anne tiptop\n", encoding="utf-8")
    tokens.chmod(0o600)
    with listening("calm_crm", "--token-file", str(tokens)) as served:
        async with bridged(f"{served.url}/w/a/mcp", mode, MCP_SIM_TOKEN="tiptop") as client:
            assert len((await client.list_tools()).tools) == 14
        ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
        done = connected(f"{served.url}/w/a/mcp", ping, lines=1, MCP_SIM_TOKEN="wrong")
        assert json.loads(done.stdout)["error"]["message"] == "Unauthorized"
        assert json.loads(done.stdout)["id"] == 1


async def test_a_session_ends_with_its_client() -> None:
    with listening("calm_crm", "--max-sessions", "1") as served:
        for _ in range(2):
            async with bridged(f"{served.url}/w/a/mcp", "legacy") as client:
                assert len((await client.list_tools()).tools) == 14


@pytest.mark.parametrize(
    "url",
    [
        "nonsense",
        "ftp://127.0.0.1/mcp",
        "http://",
        "http://[::1/mcp",
        "http://127.0.0.1:port/mcp",
        "http://127.0.0.1:99999/mcp",
        "http://ä☃.invalid/mcp",
        f"http://{'a' * 300}/mcp",
    ],
)
def test_what_is_no_url_is_refused(url: str) -> None:
    done = connected(url, b"")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"is not a URL" in done.stderr


def test_an_address_without_a_world_is_refused_with_the_right_form() -> None:
    done = connected("http://127.0.0.1:8000/", b"")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"names no world: write http://127.0.0.1:8000/w/WORLD/mcp" in done.stderr


def test_without_a_server_the_bridge_reports_it_and_ends() -> None:
    with listening("calm_crm") as served:
        url = f"{served.url}/w/a/mcp"
        served.end()
    done = connected(url, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n', lines=1)
    assert (done.returncode, done.stdout) == (4, b"")
    assert f"no server answers at {url}" in done.stderr.decode()


def test_a_server_that_goes_takes_the_bridge_with_it() -> None:
    with listening("calm_crm") as served, bridge(f"{served.url}/w/a/mcp") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(hello(1))
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        os.kill(pid_of(served.process), signal.SIGKILL)
        served.process.wait(30)
        process.stdin.write(hello(2))
        process.stdin.flush()
        assert process.wait(30) == 4


async def test_every_odd_request_is_answered_and_the_bridge_continues() -> None:
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    odd: list[tuple[str, dict[str, Any]]] = [
        ("tools/call", {"_meta": 5}),
        ("tools/call", {"_meta": ["x"]}),
        ("tools/call", {"_meta": meta, "name": "list_deals", "arguments": [1]}),
        ("tools/call", {"_meta": meta, "name": "\u2603\r\n", "arguments": {}}),
        ("\u2603", {"_meta": meta}),
        ("a\r\nb: c", {"_meta": meta}),
    ]
    requests = b"".join(
        json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}).encode() + b"\n"
        for n, (method, params) in enumerate(odd)
    )
    with listening("calm_crm") as served:
        done = connected(f"{served.url}/w/a/mcp", requests, lines=len(odd))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(len(odd)))
    assert all(answer["error"]["code"] != -32000 for answer in answers)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_token_may_be_any_text_of_one_line(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("anne tür\n", encoding="utf-8")
    tokens.chmod(0o600)
    with listening("calm_crm", "--token-file", str(tokens)) as served:
        done = connected(f"{served.url}/w/a/mcp", hello(1), lines=1, MCP_SIM_TOKEN="tür")
        assert "result" in json.loads(done.stdout)
        refused = connected(f"{served.url}/w/a/mcp", hello(1), MCP_SIM_TOKEN="tür\nx: y")
    assert (refused.returncode, refused.stdout) == (2, b"")
    assert b"MCP_SIM_TOKEN" in refused.stderr
    assert b"Traceback" not in refused.stderr


def bridge(url: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [PYTHON, "-m", "mcp_sim", "connect", url]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)


def hello(number: int) -> bytes:
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "initialize", "params": params}).encode() + b"\n"


async def test_nothing_that_a_client_of_the_bridge_can_read_reveals_the_simulator(tmp_path: Path) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_deal", DEAL),
        ("create_deal", DEAL),
        ("list_companies", {}),
        ("get_company", {}),
        ("nothing", {}),
    ]
    lines = hello(0) + b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    for number, (tool, arguments) in enumerate(calls, 1):
        params = {"name": tool, "arguments": arguments}
        lines += json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n"
    lines += b'{"jsonrpc":"2.0","id":8,"method":"tools/list"}\n{"jsonrpc":"2.0","id":9,"method":"x/y"}\n{\n'
    with listening(telltale_scenario(tmp_path), "--token-file", telltale_tokens(tmp_path)) as served:
        done = connected(f"{served.url}/w/a/mcp", lines, lines=9, MCP_SIM_TOKEN=TOKEN)
        refused = connected(f"{served.url}/w/a/mcp", hello(1), lines=1, MCP_SIM_TOKEN="telltale-wrong")
        nowhere = connected(f"{served.url}/elsewhere", hello(1), lines=1, MCP_SIM_TOKEN=TOKEN)
    assert len(done.stdout.splitlines()) == 9
    everything = b"\n".join(part for one in (done, refused, nowhere) for part in (one.stdout, one.stderr))
    assert_nothing_leaks(everything, tmp_path, crashes=1)
    assert done.returncode == refused.returncode == nowhere.returncode == 0


# servers of other kinds -----------------------------------------------------------------------------------------------


class Foreign(BaseHTTPRequestHandler):
    """Answers each request in a way that some server has."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answers[self.path](self, body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (as it is called)
        return

    def endless(self, first: bytes, rest: bytes | None = None) -> None:
        """Send an answer without an end; with `rest`, one of a single event."""
        self.send_response(200)
        self.send_header("content-type", "application/json" if rest is None else "text/event-stream")
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(first)
            while True:
                self.wfile.write(rest or first)

    def hang(self) -> None:
        """Send no answer while the client is connected."""
        with suppress(OSError):
            self.rfile.read(1)

    def reply(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def answer(number: Any, **result: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result})


answers: dict[str, Callable[[Foreign, dict[str, Any]], None]] = {
    "/events": lambda to, asked: to.reply(
        200,
        "text/event-stream; charset=utf-8",
        f': hello\n\nid: 1\ndata:\n\nevent: message\ndata: {{"jsonrpc":"2.0","method":"notifications/message",'
        f'"params":{{"level":"info","data":"é"}}}}\n\ndata: {answer(asked["id"], n=1)}\n\n'.encode(),
    ),
    "/broken-events": lambda to, asked: to.reply(200, "text/event-stream", b": nothing\n\n"),
    "/html": lambda to, asked: to.reply(502, "text/html", b"<html>Bad Gateway</html>"),
    "/odd-tools": lambda to, asked: to.reply(
        200, "application/json", answer(asked["id"], tools=[5, {"name": 7}], protocolVersion="☃").encode()
    ),
    "/accepted": lambda to, asked: to.reply(202, "application/json", b""),
    "/endless": lambda to, asked: to.endless(b"x" * 1_000_000),
    "/endless-event": lambda to, asked: to.endless(b"data: " + b"x" * 1_000_000, b"x" * 1_000_000),
    "/deaf": lambda to, asked: (
        to.reply(200, "application/json", answer(asked["id"], n=1).encode()) if "id" in asked else to.hang()
    ),
    "/error": lambda to, asked: to.reply(
        400, "application/json", b'{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"no"}}'
    ),
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/events", [{"method": "notifications/message"}, {"id": "x", "result": {"n": 1}}]),
        ("/broken-events", [{"id": "x", "error": {"code": -32000, "message": "HTTP 200 OK"}}]),
        ("/html", [{"id": "x", "error": {"code": -32000, "message": "HTTP 502 Bad Gateway"}}]),
        ("/odd-tools", [{"id": "x", "result": {"tools": [5, {"name": 7}], "protocolVersion": "☃"}}]),
        ("/accepted", [{"id": "x", "error": {"code": -32000, "message": "HTTP 202 Accepted"}}]),
        ("/error", [{"id": "x", "error": {"code": -32602, "message": "no"}}]),
    ],
)
def test_every_way_to_answer_comes_through(path: str, expected: list[dict[str, Any]]) -> None:
    done = bridged_to(path, b'{"jsonrpc":"2.0","id":"x","method":"tools/list"}\n', len(expected))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [{key: line[key] for key in wanted} for line, wanted in zip(lines, expected, strict=True)] == expected
    assert done.returncode == 0


@pytest.mark.parametrize("path", ["/endless", "/endless-event"])
def test_an_answer_that_does_not_end_is_an_error(path: str) -> None:
    done = bridged_to(path, b'{"jsonrpc":"2.0","id":"x","method":"tools/list"}\n', 1)
    (line,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert (line["id"], line["error"]["code"], done.returncode) == ("x", -32000, 0)


def test_a_server_that_never_accepts_a_notification_delays_nothing() -> None:
    received = b'{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}\n'
    done = bridged_to("/deaf", received + b'{"jsonrpc":"2.0","id":"x","method":"tools/list"}\n', 1)
    assert json.loads(done.stdout)["result"] == {"n": 1}


def bridged_to(path: str, stdin: bytes, lines: int) -> subprocess.CompletedProcess[bytes]:
    """Run the bridge to a foreign server, until it has printed so many lines."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Foreign) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            return connected(f"http://127.0.0.1:{server.server_port}{path}", stdin, lines=lines)
        finally:
            server.shutdown()
            thread.join()
