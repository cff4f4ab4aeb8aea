"""`mcp-sim serve --http` as a process: what leaks, who may speak, sessions, and how it starts."""

from __future__ import annotations

import logging
import os
import re
import socket
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from support.http_deals import DEAL, deals, document, eras
from support.over_http import ERAS, Caller, Served, caller, listening
from support.places import ROOT, SUPPORT
from support.telltale import TOKEN, assert_nothing_leaks, telltale_scenario, telltale_tokens
from support.warm import PYTHON

from mcp_sim.server.call_log import LogLines


async def test_nothing_that_an_agent_can_read_reveals_the_simulator(tmp_path: Path) -> None:
    heard, bearer = list[bytes](), {"authorization": f"Bearer {TOKEN}"}
    with listening(telltale_scenario(tmp_path), "--token-file", telltale_tokens(tmp_path)) as served:
        for era in ERAS:
            async with caller(f"{served.url}/w/w/mcp", era, heard, bearer) as one:
                await everything(one)
        async with httpx2.AsyncClient(trust_env=False) as client:
            for era in ERAS:
                stranger = Caller(f"{served.url}/w/w/mcp", era, client, heard)
                assert (await stranger.post("tools/list")).status_code == 401
                lost = Caller(f"{served.url}/nowhere", era, client, heard)
                await lost.post("tools/list", {}, bearer)
    assert_nothing_leaks(b"\n".join(heard), tmp_path, crashes=2)


async def everything(one: Caller) -> None:
    """Make requests of every kind: lists, calls, faults, a crash, errors of every level."""
    for method in ("tools/list", "resources/list", "server/discover", "ping", "no/such/method"):
        await one.post(method)
    for _ in range(2):
        await one.call("create_deal", DEAL)
    for tool in ("list_companies", "get_contact", "no_such_tool"):
        await one.call(tool, {})
    await one.post("tools/call", {"name": "get_company", "arguments": {"company_id": "cmp_001"}})
    await one.call("list_deals", {}, {"mcp-sim/world": "another"})
    for body in (b"", b"{", b"[]", b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0","id":[],"method":5}', b"\xff\xfe"):
        await one.send(body, one.headers("tools/list", {}))
    await one.send(b"{}", {**one.headers("tools/list", {}), "host": "evil.example"})
    await one.send(b"{}", {**one.headers("tools/list", {}), "content-type": "text/plain", "accept": "text/html"})
    await one.post("tools/list", {}, {"mcp-session-id": "unknown", "mcp-protocol-version": "1999-01-01"})


@eras
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:80"}, 421),
        ({"host": "localhost:1234"}, 200),
        ({"host": "192.0.2.7:8000"}, 200),
        ({"host": "crm.internal:8000"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[nonsense"}, 403),
        ({"origin": "http://192.0.2.7"}, 403),
        ({"origin": "http://localhost:80@evil.example"}, 403),
        ({"origin": "http://localhost/evil.example"}, 403),
        ({"host": "localhost:80@evil.example"}, 421),
        ({"origin": "http://localhost:5173"}, 200),
        ({"origin": "https://crm.internal"}, 200),
    ],
)
async def test_hosts_and_origins_are_looked_at(era: str, headers: dict[str, str], status: int, named: Served) -> None:
    async with caller(f"{named.url}/w/hosts/mcp", era) as one:
        assert (await one.post("tools/list", {}, headers)).status_code == status


@pytest.fixture(scope="module")
def named() -> Generator[Served]:
    with listening("calm_crm", "--allow-host", "crm.internal") as served:
        yield served


@eras
async def test_with_tokens_only_their_bearers_are_served(tmp_path: Path, era: str) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("# who\nanne tiptop\nlonely\n", encoding="utf-8")
    tokens.chmod(0o600)
    with listening("calm_crm", "--token-file", str(tokens), env={"MCP_SIM_TOKEN": "from-outside"}) as served:
        for token in ("tiptop", "lonely", "from-outside"):
            async with caller(f"{served.url}/w/x/mcp", era, headers={"authorization": f"Bearer {token}"}) as one:
                assert (await one.post("tools/list")).status_code == 200
        async with httpx2.AsyncClient(trust_env=False) as client:
            for sent in ("Bearer wrong", "Basic tiptop", "tiptop", "Bearer"):
                one = Caller(f"{served.url}/w/x/mcp", era, client)
                refused = await one.post("initialize", {}, {"authorization": sent})
                assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        async with caller(f"{served.url}/mcp", ERAS[1], headers={"authorization": "Bearer tiptop"}) as one:
            await one.call("create_deal", DEAL)
        async with caller(f"{served.url}/w/anne/mcp", era, headers={"authorization": "Bearer lonely"}) as one:
            assert await deals(one) == 81


async def test_the_operator_sees_why_a_request_is_refused_and_the_client_does_not(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("tiptop\n", encoding="utf-8")
    tokens.chmod(0o600)
    options = ("--token-file", str(tokens), "--worlds", "declared", "--world", "a", "--max-sessions", "1")
    right = {"authorization": "Bearer tiptop"}
    heard = list[bytes]()
    cases: list[tuple[str, dict[str, str], str]] = [
        ("/w/a/mcp", {}, "refused POST /w/a/mcp: 401, no bearer token of --token-file or MCP_SIM_TOKEN"),
        ("/w/a/mcp", {"authorization": "Bearer x"}, "its bearer token is not one of --token-file or MCP_SIM_TOKEN"),
        ("/w/a/mcp", {"host": "evil.example"}, "421, 'evil.example' is not allowed as Host; --allow-host adds a name"),
        ("/w/a/mcp", {"origin": "http://evil.example"}, "403, 'http://evil.example' is not allowed as Origin;"),
        ("/mcpp", right, "refused POST /mcpp: 404, the paths of this server are /w/WORLD/mcp"),
        ("/w/b/mcp", right, "404, Unknown world: b; with --worlds declared, only those of --world exist"),
        ("/w/a/mcp", {**right, "mcp-session-id": "old"}, "404, the session is unknown, or has ended (--session-idle)"),
    ]
    with listening("calm_crm", *options) as served:
        async with httpx2.AsyncClient(trust_env=False) as client:
            for path, headers, _ in cases:
                await Caller(f"{served.url}{path}", ERAS[0], client, heard).post("ping", {}, headers)
        served.end()
        log = "\n".join(served.log)
    assert [reason for _, _, reason in cases if reason not in log] == []
    assert not any(word in b"\n".join(heard) for word in (b"--", b"MCP_SIM", b"evil"))
    assert "tiptop" not in log


async def test_sessions_are_bounded_and_what_is_beyond_is_refused() -> None:
    with listening("calm_crm", "--max-sessions", "3") as served:
        async with httpx2.AsyncClient(trust_env=False) as client:
            clients = [Caller(f"{served.url}/w/{n}/mcp", ERAS[0], client) for n in range(4)]
            for one in clients[:3]:
                await one.shake_hands()
            refused = await clients[3].post("initialize", {"protocolVersion": ERAS[0]})
            assert (refused.status_code, refused.json()["error"]["message"]) == (503, "Too many open sessions")
            assert await deals(clients[0]) == 80
            async with caller(f"{served.url}/w/modern/mcp", ERAS[1]) as modern:
                assert await deals(modern) == 80
            await clients[0].leave()
            await clients[3].shake_hands()
            assert await deals(clients[3]) == 80
            assert (await clients[0].post("ping")).status_code == 404


async def test_what_opens_no_session_takes_no_room() -> None:
    with listening("calm_crm", "--max-sessions", "1") as served:
        async with httpx2.AsyncClient(trust_env=False) as client:
            one = Caller(f"{served.url}/w/a/mcp", ERAS[0], client)
            for body in (b"{", b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', b"[]"):
                assert (await one.send(body, one.headers("", {}))).status_code == 400
            await one.shake_hands()
            assert await deals(one) == 80


async def test_an_idle_session_ends() -> None:
    with listening("calm_crm", "--max-sessions", "1", "--session-idle", "50ms") as served:
        for _ in range(2):
            async with httpx2.AsyncClient(trust_env=False) as client:
                one = Caller(f"{served.url}/w/a/mcp", ERAS[0], client)
                hello: dict[str, Any] = {"protocolVersion": ERAS[0], "capabilities": {}}
                while (opened := await one.post("initialize", hello)).status_code == 503:
                    await anyio.lowlevel.checkpoint()
                assert opened.status_code == 200


async def test_a_session_is_known_only_where_it_was_opened(calm: Served) -> None:
    async with caller(f"{calm.url}/w/here/mcp", ERAS[0]) as one:
        one.url = f"{calm.url}/w/there/mcp"
        assert (await one.post("tools/list")).status_code == 404
        one.url = f"{calm.url}/w/here/mcp"
        assert (await one.post("tools/list")).status_code == 200
        assert (await one.post("tools/list", {}, {"authorization": "Bearer another"})).status_code == 404


@eras
async def test_answers_are_json_where_nothing_else_is_due(calm: Served, era: str) -> None:
    async with caller(f"{calm.url}/w/json/mcp", era) as one:
        params = {"name": "list_deals", "arguments": {}, "_meta": {"progressToken": 1}}
        for response in (await one.post("tools/list"), await one.post("tools/call", params)):
            assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--http", "nonsense"), "PORT, or HOST:PORT, as in 8000"),
        (("--http", "127.0.0.1:99999"), "HOST:PORT"),
        (("--http", "no.such.host.invalid:0"), "cannot listen"),
        (("--http", "127.0.0.1:0", "--server", "crm"), "--server"),
        (("--http", "127.0.0.1:0", "--world", "a b"), "'a b'"),
        (("--http", "127.0.0.1:0", "--session-idle", "5"), "--session-idle"),
        (("--http", "127.0.0.1:0", "--unread", "0s"), "--unread"),
        (("--http", "127.0.0.1:0", "--grace", "never"), "--grace"),
        (("--http", "127.0.0.1:0", "--max-worlds", "0"), "--max-worlds"),
        (("--http", "127.0.0.1:0", "--max-sessions", "0"), "--max-sessions"),
        (("--http", "127.0.0.1:0", "--max-megabytes", "0"), "--max-megabytes"),
        (("--http", "127.0.0.1:0", "--store", "x.db"), "--store"),
        (("--http", "127.0.0.1:0", "--token-file", "/no/such/file"), "/no/such/file"),
        (("--world", "a"), "--store"),
        (("--store", "one.file", "--trace", "./one.file"), "--trace"),
        (("--server", "jira"), "jira"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_served(arguments: tuple[str, ...], message: str) -> None:
    done = started("calm_crm", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_port_that_is_taken_is_a_clear_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = started("calm_crm", "--http", f"127.0.0.1:{port}")
    assert done.returncode == 2
    received = done.stderr.decode()
    assert re.search(rf"cannot listen on 127\.0\.0\.1:{port}: Address already in use", received)
    assert "--http 127.0.0.1:0 for any free one" in received


def test_a_fault_that_the_virtual_clock_cannot_carry_is_refused(tmp_path: Path) -> None:
    path = document(tmp_path, perturbations=[{"undelivered": "no_answer", "id": "hang"}])
    done = started(path, "--http", "127.0.0.1:0", "--clock", "virtual")
    assert done.returncode == 2
    assert "hang (undelivered)" in done.stderr.decode()


async def test_the_log_says_whose_call_it_was_and_what_was_true() -> None:
    with listening("flaky_crm") as served:
        async with caller(f"{served.url}/w/anne/mcp", ERAS[1]) as one:
            await one.call("create_deal", DEAL)
        served.end()
        at = next(at for at, line in enumerate(served.log) if line.startswith("anne #2"))
        call, fault = served.log[at : at + 2]
        assert call.startswith('anne #2 create_deal {"title":"Spring order"')
        assert fault.startswith("anne    FAULT lost-deal (lost_ack, nth 1); the truth: wrote deal deal_")
        assert any("/w/WORLD/mcp" in line for line in served.log)


def test_logging_never_blocks() -> None:
    reading, writing = os.pipe()
    lines = LogLines(writing)
    for _ in range(10_000):
        lines.handle(logging.LogRecord("mcp_sim", logging.WARNING, "", 0, "a session is refused", None, None))
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.readline() == b"WARNING mcp_sim: a session is refused\n"


def test_what_clients_send_is_one_line_of_the_log() -> None:
    reading, writing = os.pipe()
    path = "/w/\x1b[31m\r\nINFO mcp_sim: all is well\u2028\x00"
    LogLines(writing).handle(logging.LogRecord("mcp_sim", logging.WARNING, "", 0, "refused %s", (path,), None))
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        (line,) = pipe.read().splitlines()
    assert line.isprintable()


def started(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [PYTHON, str(SUPPORT / "unruly.py"), "serve", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, input=b"", capture_output=True, timeout=60, check=False, env=environment)
