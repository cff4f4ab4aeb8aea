"""`mcp-sim record --url URL --http PORT`: a proxy over HTTP that changes nothing, and a session for each client."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import signal
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import IO, Any, cast

import httpx2
import pytest
from mcp import Client
from mcp.client.sse import sse_client
from support.handshaking import Streaming, handshaking
from support.http_tee import teed
from support.over_http import ERAS, URL, caller, listening, started
from support.places import ROOT
from support.warm import PYTHON

from mcp_sim.cli import main
from mcp_sim.spec.sessions import Session, read_sessions

JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream"}
PATIENCE = httpx2.Timeout(60)
REFUSALS: Mapping[str, tuple[int, dict[str, str]]] = {
    "authorize": (401, {**JSON, "www-authenticate": 'Bearer resource_metadata="http://127.0.0.1:9/meta"'}),
    "begin again": (404, {**JSON, "mcp-session-id": "s-1"}),
    "go there": (307, {**JSON, "location": "http://127.0.0.1:9/mcp/?key=1"}),
    "go on": (308, {**JSON, "location": "/mcp/"}),
}
"""The name of a tool -> status and headers of the answer."""


class Recording:
    """A recording proxy at `url`; `log` is its stderr once it has ended."""

    def __init__(self, folder: Path, target: str, *options: str) -> None:
        self.folder, self.log = folder, ""
        words = [PYTHON, "-m", "mcp_sim", "record", "-o", str(folder), "--url", target, "--http", "0", *options]
        self.process = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE)
        self._stderr = cast("IO[bytes]", self.process.stderr)
        first = self._stderr.readline().decode()
        found = URL.findall(first)
        assert found, first + self._stderr.read().decode()
        self.url = found[-1]

    def end(self, number: int = signal.SIGINT) -> int:
        """Send a signal. Return the exit code."""
        self.process.send_signal(number)
        self.log = self._stderr.read().decode()
        return self.process.wait(30)

    def sessions(self) -> list[Session]:
        return read_sessions(self.folder)


@contextmanager
def recording(folder: Path, target: str, *options: str) -> Generator[Recording]:
    one = Recording(folder, target, *options)
    try:
        yield one
        if one.process.poll() is None:
            one.end()
    finally:
        one.process.kill()
        one.process.wait()
        cast("IO[bytes]", one.process.stderr).close()


class Scripted(BaseHTTPRequestHandler):
    """Answers by the path: an echo, a compressed body, a stream in two parts, or half a body."""

    protocol_version = "HTTP/1.1"
    released = Event()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        message = json.loads(body)
        text = json.dumps({"heard": body.decode(), "headers": sorted(self.headers.items())})
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": {"content": [{"type": "text", "text": text}]}}
        match self.path.partition("?")[0]:
            case "/gzip":
                self._send(gzip.compress(json.dumps(answer).encode()), {**JSON, "content-encoding": "gzip"})
            case "/stream":
                note: dict[str, Any] = {"jsonrpc": "2.0", "method": "notifications/message", "params": {}}
                self._start({"content-type": "text/event-stream", "transfer-encoding": "chunked"})
                self._chunk(f"event: message\r\ndata: {json.dumps(note)}\r\n\r\n")
                assert self.released.wait(60)
                self._chunk(f": a comment\r\ndata: {json.dumps(answer)}\r\n\r\n")
                self.wfile.write(b"0\r\n\r\n")
            case "/events":
                token = message["params"]["_meta"]["progressToken"]
                step: dict[str, Any] = {"method": "notifications/progress", "params": {"progressToken": token}}
                data = json.dumps({"jsonrpc": "2.0", **step})
                self._send(f"event: message\nid: e-1\nretry: 10\ndata: {data}\n\n".encode(), EVENTS)
            case "/refused":
                status, headers = REFUSALS[message["params"]["name"]]
                self._send(b'{"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "no"}}', headers, status)
            case "/late":
                assert self.released.wait(60)
            case "/cut":
                text = f"{text[:1]}\ud83d"  # as `slice` of JavaScript leaves it
                answer["result"] = {"content": [{"type": "text", "text": text}]}
                self._send(json.dumps(answer).encode(), JSON)
            case "/half":
                self._start({**JSON, "content-length": "1000"})
                self.wfile.write(b'{"jsonrpc"')
                self.close_connection = True
            case _:
                self._send(json.dumps(answer).encode(), {**JSON, "x-odd": "kept", "set-cookie": "sid=c00kie-in-answer"})

    def do_GET(self) -> None:
        """Resume the stream of the call with id 1."""
        assert self.headers["last-event-id"] == "e-1"
        answer = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "late"}]}}
        self._send(f"id: e-2\ndata: {json.dumps(answer)}\n\n".encode(), EVENTS)

    def _send(self, body: bytes, headers: Mapping[str, str], status: int = 200) -> None:
        self._start({**headers, "content-length": str(len(body))}, status)
        self.wfile.write(body)

    def _start(self, headers: Mapping[str, str], status: int = 200) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, text: str) -> None:
        self.wfile.write(f"{len(text):x}\r\n{text}\r\n".encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (as it is called)
        return


@pytest.fixture
def scripted() -> Generator[str]:
    """Yields the URL of a scripted server."""
    Scripted.released.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Scripted) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        Scripted.released.set()
        server.shutdown()


def call(number: int = 1, **arguments: Any) -> dict[str, Any]:
    params = {"name": "do", "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def lines_of(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Return the lines of a type in all sessions of a folder."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.jsonl"))]
    return [line for text in texts for line in map(json.loads, text.splitlines()) if line["type"] == kind]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_both_sides_receive_the_bodies_and_headers_that_the_other_sent(tmp_path: Path, mode: str) -> None:
    with (
        listening("calm_crm") as served,
        teed(served.port) as far,
        recording(tmp_path, f"http://127.0.0.1:{far.port}/w/a/mcp") as proxy,
        teed(int(proxy.url.rpartition(":")[2])) as near,
    ):
        async with Client(f"http://127.0.0.1:{near.port}/w/a/mcp", mode=mode) as client:
            await client.list_tools()
            for at in range(1, 5):
                await client.call_tool("get_contact", {"contact_id": f"con_{at:05d}"})
        proxy.end()
        sent, received = near.exchanges(), far.exchanges()
        assert sent == received
        assert len(sent) > 5
    [session] = proxy.sessions()
    assert [one.arguments["contact_id"] for one in session.calls] == [f"con_{at:05d}" for at in range(1, 5)]
    assert len(session.tools) == 14
    assert session.header["protocol"] == ERAS[mode == "auto"]


async def test_clients_at_once_have_a_session_each(tmp_path: Path) -> None:
    with listening("calm_crm") as served, recording(tmp_path, f"{served.url}/mcp") as proxy:

        async def look(number: int) -> None:
            async with caller(f"{proxy.url}/w/w{number}/mcp", ERAS[number % 2]) as one:
                await one.post("server/discover" if one.is_modern else "ping")
                for at in range(1, 6):
                    await one.call("get_contact", {"contact_id": f"con_{number:04d}{at}"})

        await asyncio.gather(*(look(number) for number in range(6)))
        assert proxy.end(signal.SIGTERM) == 143
        assert proxy.log.count("recorded") == 6
    (tmp_path / "tools.json").write_text('{"tools": []}', encoding="utf-8")
    seen = [[call.arguments["contact_id"] for call in session.calls] for session in proxy.sessions()]
    assert sorted(seen) == [[f"con_{number:04d}{at}" for at in range(1, 6)] for number in range(6)]


def test_headers_and_bodies_pass_unchanged(tmp_path: Path, scripted: str) -> None:
    body = b'{"jsonrpc":"2.0",  "id":1, "method":"tools/call","params":{"name":"do"}}'
    headers = {**JSON, "authorization": "Bearer abc-123456", "x-mine": "a, b", "accept-encoding": "gzip"}
    with recording(tmp_path, f"{scripted}/mcp") as proxy:
        response = httpx2.post(f"{proxy.url}/mcp?x=%2Fy", content=body, headers=headers, timeout=PATIENCE)
    assert response.headers["x-odd"] == "kept"
    heard = json.loads(response.json()["result"]["content"][0]["text"])
    assert heard["heard"].encode() == body
    named = {name.lower(): value for name, value in heard["headers"]}
    assert {name: named[name] for name in headers} == headers
    assert named["host"] == scripted.removeprefix("http://")
    assert "via" not in named


def test_a_compressed_body_passes_unchanged_and_is_recorded(tmp_path: Path, scripted: str) -> None:
    with (
        recording(tmp_path, f"{scripted}/gzip") as proxy,
        httpx2.stream("POST", f"{proxy.url}/gzip", json=call(), timeout=PATIENCE) as response,
    ):
        raw = b"".join(response.iter_raw())
    assert json.loads(gzip.decompress(raw))["id"] == 1
    [line] = lines_of(tmp_path, "call")
    assert "heard" in line["result"]["content"][0]["text"]


def test_a_cut_emoji_passes_unchanged_and_is_recorded(tmp_path: Path, scripted: str) -> None:
    with recording(tmp_path, f"{scripted}/cut") as proxy:
        response = httpx2.post(
            f"{proxy.url}/cut", content=json.dumps(call(text="\ud83d")), headers=JSON, timeout=PATIENCE
        )
    assert b'{\\ud83d"' in response.content
    [line] = lines_of(tmp_path, "call")
    assert line["arguments"] == {"text": "\ufffd"}
    assert line["result"]["content"][0]["text"] == "{\ufffd"


def test_a_stream_is_passed_on_as_it_comes(tmp_path: Path, scripted: str) -> None:
    with (
        recording(tmp_path, f"{scripted}/stream") as proxy,
        httpx2.stream("POST", f"{proxy.url}/stream", json=call(), timeout=PATIENCE) as response,
    ):
        pieces = response.iter_raw()
        first = next(pieces)
        assert first.endswith(b"\r\n\r\n")
        Scripted.released.set()  # the server goes on only now
        assert b": a comment\r\ndata: " in b"".join(pieces)
    assert len(lines_of(tmp_path, "call")) == 1
    assert [line["notifications"] for line in lines_of(tmp_path, "end")] == [{"notifications/message": 1}]


def test_the_answer_of_a_stream_that_is_resumed_belongs_to_its_call(tmp_path: Path, scripted: str) -> None:
    session = {"mcp-session-id": "s-1"}
    message = call()
    message["params"]["_meta"] = {"progressToken": 7}
    with recording(tmp_path, f"{scripted}/events") as proxy:
        first = httpx2.post(f"{proxy.url}/events", json=message, headers=session, timeout=PATIENCE)
        assert first.text.startswith("event: message\nid: e-1\nretry: 10\ndata: {")
        resumed = {**session, "last-event-id": "e-1"}
        assert httpx2.get(f"{proxy.url}/events", headers=resumed, timeout=PATIENCE).text.startswith("id: e-2\ndata: ")
    [line] = lines_of(tmp_path, "call")
    assert line["result"]["content"] == [{"type": "text", "text": "late"}]
    assert line["progress"] == 1
    assert lines_of(tmp_path, "unanswered") == []


@pytest.mark.parametrize("session", [{}, {"mcp-session-id": "s-1"}])
def test_refusals_and_redirects_pass_unchanged_and_are_no_answers(
    tmp_path: Path, scripted: str, session: dict[str, str]
) -> None:
    with recording(tmp_path, f"{scripted}/refused") as proxy:
        for number, (name, (status, headers)) in enumerate(REFUSALS.items()):
            message = call(number)
            message["params"]["name"] = name
            response = httpx2.post(f"{proxy.url}/refused", json=message, headers=session, timeout=PATIENCE)
            assert response.status_code == status
            assert headers.items() <= dict(response.headers).items()
            assert response.json()["error"]["code"] == 1
        proxy.end()
    found = {line["tool"]: line.get("status") for line in lines_of(tmp_path, "unanswered")}
    assert found == {name: status for name, (status, _) in REFUSALS.items()}
    assert lines_of(tmp_path, "call") == []
    assert proxy.log.count("the server answers HTTP 401: it needs an HTTP header of the client that authorizes") == 1
    [warning] = [line for line in proxy.log.splitlines() if "the server redirects" in line]
    assert "redirects to http://127.0.0.1:9/mcp/, where nothing is recorded: give that URL to --url" in warning


async def test_clients_of_the_older_http_have_a_session_each_with_its_answers(tmp_path: Path) -> None:
    async def write(url: str, title: str) -> None:
        async with Client(sse_client(url), mode="legacy") as client:
            await client.list_tools()
            for number in range(5):
                await client.call_tool("create_note", {"title": f"{title} {number}"})

    with started(["notebook_server.py", "sse"]) as server, recording(tmp_path, f"{server.url}/sse") as proxy:
        await asyncio.gather(*(write(f"{proxy.url}/sse", title) for title in ("Milk", "Bread")))
    sessions = proxy.sessions()
    made = [[call.arguments["title"] for call in session.calls] for session in sessions]
    assert sorted(made) == [[f"{title} {number}" for number in range(5)] for title in ("Bread", "Milk")]
    assert all(call.arguments["title"] in str(call.answer) for session in sessions for call in session.calls)
    assert {(session.header["transport"], len(session.tools)) for session in sessions} == {("sse", 4)}
    assert lines_of(tmp_path, "unanswered") == []


async def test_a_message_that_is_refused_over_the_older_http_is_unanswered_with_its_status(tmp_path: Path) -> None:
    with (
        handshaking((429, {}, ""), Streaming) as target,
        recording(tmp_path, target) as proxy,
        httpx2.stream("GET", f"{proxy.url}/mcp", timeout=PATIENCE) as stream,
    ):
        lines = stream.iter_lines()
        assert [next(lines), next(lines)] == ["event: endpoint", "data: /messages"]
        message = call()
        message["params"]["name"] = "fail"
        refused = httpx2.post(f"{proxy.url}/messages", json=message, timeout=PATIENCE)
        assert refused.status_code == 429
    assert [(line["tool"], line["status"]) for line in lines_of(tmp_path, "unanswered")] == [("fail", 429)]


@pytest.mark.parametrize("secret", [[], ["--redact-pattern", "quietly"]])
def test_warnings_show_no_secrets(tmp_path: Path, secret: list[str]) -> None:
    failure = (307, {"location": "http://127.0.0.1:9/quietly"}, "")
    with handshaking(failure) as target, recording(tmp_path, target, *secret) as proxy:
        message = call()
        message["params"]["name"] = "fail"
        httpx2.post(f"{proxy.url}/mcp", json=message, timeout=PATIENCE)
        proxy.end()
    assert "the server redirects to http://127.0.0.1:9" in proxy.log
    assert ("quietly" in proxy.log) is (not secret)


def test_a_body_that_breaks_off_breaks_off_for_the_client_too(tmp_path: Path, scripted: str) -> None:
    with recording(tmp_path, f"{scripted}/half") as proxy:
        with pytest.raises(httpx2.RemoteProtocolError):
            httpx2.post(f"{proxy.url}/half", json=call(), timeout=PATIENCE)
        assert httpx2.post(f"{proxy.url}/mcp", json=call(2), timeout=PATIENCE).json()["id"] == 2
    assert [line["tool"] for line in lines_of(tmp_path, "unanswered")] == ["do"]
    assert len(lines_of(tmp_path, "call")) == 1


def test_a_server_that_does_not_answer_is_reported_to_the_client(tmp_path: Path) -> None:
    with recording(tmp_path, "http://127.0.0.1:9/mcp") as proxy:
        for _ in range(2):
            response = httpx2.post(f"{proxy.url}/mcp", json=call(), timeout=PATIENCE)
            assert response.status_code == 502
            assert "The recorded server does not answer" in response.json()["error"]["message"]


def test_a_request_that_a_server_leaves_without_an_answer_is_given_up_in_time(tmp_path: Path, scripted: str) -> None:
    with recording(tmp_path, f"{scripted}/late", "--timeout", "200ms") as proxy:
        response = httpx2.post(f"{proxy.url}/late", json=call(), timeout=PATIENCE)
        assert response.status_code == 502
        assert "does not answer: it sent nothing for 0.2 s" in response.json()["error"]["message"]
        with pytest.raises(httpx2.RemoteProtocolError):
            httpx2.post(f"{proxy.url}/stream", json=call(2), timeout=PATIENCE)
    assert [(line["tool"], line["timed_out"]) for line in lines_of(tmp_path, "unanswered")] == [("do", True)] * 2
    assert "a request was given up" in proxy.log


@pytest.mark.parametrize("text", ["5", "0s"])
def test_a_limit_that_is_no_duration_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["record", "-o", "x", "--url", "http://127.0.0.1:9/mcp", "--http", "0", "--timeout", text]
    assert main(words) == 2
    assert "--timeout" in capsys.readouterr().err


@pytest.mark.parametrize("header", ["host", "origin"])
def test_a_page_of_another_host_is_refused(tmp_path: Path, scripted: str, header: str) -> None:
    foreign = {"host": "evil.example", "origin": "http://evil.example"}[header]
    with recording(tmp_path, f"{scripted}/mcp") as proxy:
        response = httpx2.post(f"{proxy.url}/mcp", json=call(), headers={header: foreign}, timeout=PATIENCE)
        assert response.status_code in (403, 421)
    assert list(tmp_path.iterdir()) == []


def test_secrets_in_headers_urls_and_answers_reach_no_file(tmp_path: Path, scripted: str) -> None:
    planted = ["b34rer-token-1", "c00kie-value", "k3y-in-header", "qu3ry-secret", "c00kie-in-answer", "pa55-in-url"]
    headers = {
        "authorization": f"Bearer {planted[0]}",
        "cookie": f"theme=dark; sid={planted[1]}",
        "x-api-key": planted[2],
    }
    target = scripted.replace("http://", f"http://user:{planted[5]}@")
    with recording(tmp_path, f"{target}/mcp?api_key={planted[3]}") as proxy:
        for number in range(2):
            url = f"{proxy.url}/mcp?api_key={planted[3]}"
            body = call(number, note=f"{planted[0]} {planted[4]} {planted[5]}")
            text = httpx2.post(url, json=body, headers=headers, timeout=PATIENCE).text
            assert planted[1] in text
        proxy.end()
    for path in tmp_path.iterdir():
        assert [secret for secret in planted if secret.encode() in path.read_bytes()] == []
    assert [secret for secret in planted if secret in proxy.log] == []
    first, second = lines_of(tmp_path, "call")
    assert first["arguments"]["note"].startswith("<redacted:authorization-")
    assert second["arguments"] == first["arguments"]
