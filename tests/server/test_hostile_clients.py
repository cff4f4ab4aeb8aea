"""Odd requests and many connections over HTTP, tokens with odd ends, and files that two servers share."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.over_http import listening

from mcp_sim import Simulator
from mcp_sim.server.access import access
from mcp_sim.server.control.tokens import control_token
from mcp_sim.simulator.compile import load
from mcp_sim.types.errors import StoreFailure, Unwritable, UsageError
from mcp_sim.world.sinks.jsonl import Jsonl
from mcp_sim.world.stores.sqlite import Sqlite

Json = Any
pytestmark = pytest.mark.time_limit(60)
META: Json = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def request(port: int, headers: str, *, cut: int = 0) -> bytes:
    """Return the response to a call with some more headers; its first bytes are sent alone."""
    body = json.dumps(
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "list_deals", "arguments": {}, "_meta": META},
        }
    )
    kinds = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
    kinds += "Mcp-Method: tools/call\r\nMcp-Name: list_deals\r\nMCP-Protocol-Version: 2026-07-28\r\n"
    head = f"POST /w/a/mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{kinds}{headers}Content-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        text = (head + body).encode()
        connection.sendall(text[:cut])
        connection.sendall(text[cut:])
        return connection.recv(1 << 16)


def test_a_request_for_another_protocol_is_answered_in_this_one() -> None:
    upgrade = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAA\r\n"
    with listening("calm_crm") as served:
        for headers in (upgrade, upgrade.lower(), "Connection: upgrade\r\nUpgrade: websocket\r\n"):
            assert b'"result"' in request(served.port, headers), headers


def test_idle_connections_leave_room_for_others() -> None:
    limited = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (120, 120)); from mcp_sim.cli import main; "
    )
    command = [sys.executable, "-c", limited + "main(['serve', 'calm_crm', '--http', '127.0.0.1:0'])"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        port = next(
            int(line.rpartition("127.0.0.1:")[2].split("/")[0]) for line in server.stderr if "127.0.0.1:" in line
        )
        held = list[socket.socket]()
        try:
            for _ in range(110):
                connection = socket.create_connection(("127.0.0.1", port), timeout=20)
                connection.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
                held.append(connection)
            held[-1].settimeout(20)
            assert b"200 OK" in held[-1].recv(4096)
            assert b'"result"' in request(port, "")
        finally:
            for connection in held:
                connection.close()
            server.kill()
            assert "idle connections: the oldest are closed" in server.stderr.read()


def test_two_servers_do_not_write_one_trace(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    first = Jsonl(path, b'{"format":2}')
    first.write(b'{"n":1}')
    with pytest.raises(Unwritable, match="another process writes to it"):
        Jsonl(path, b'{"format":2}')
    first.write(b'{"n":2}')
    first.close()
    assert path.read_bytes() == b'{"format":2}\n{"n":1}\n{"n":2}\n'
    Jsonl(path, b'{"format":2}').close()
    assert path.read_bytes() == b'{"format":2}\n'


def test_a_store_is_not_opened_by_two_names(tmp_path: Path) -> None:
    with Sqlite(path=tmp_path / "a.db").open("x"):
        (tmp_path / "b.db").hardlink_to(tmp_path / "a.db")
        with pytest.raises(StoreFailure, match="hard link"), Sqlite(path=tmp_path / "b.db").open("x"):
            pass


def test_tokens_are_read_without_what_editors_leave_around_them(tmp_path: Path) -> None:
    file, token = tmp_path / "token", "0123456789abcdef0123456789abcdef"
    file.write_bytes(b"\xef\xbb\xbf" + f"  {token} \r\n".encode())
    file.chmod(0o600)
    for rules in (
        access("127.0.0.1", (), file, {}),
        access("127.0.0.1", (), None, {"MCP_SIM_TOKEN": f"\ufeff{token}\n"}),
    ):
        assert rules.principal(f"Bearer {token}".encode()) is not None
    with control_token(file, {}) as known:
        assert known.admits(f"Bearer {token}".encode())
    with control_token(None, {"MCP_SIM_CONTROL_TOKEN": f"{token}\r\n"}) as known:
        assert known.admits(f"Bearer {token}".encode())
    with pytest.raises(UsageError, match="is set, but blank"):
        access("127.0.0.1", (), None, {"MCP_SIM_TOKEN": " \n"})
    file.chmod(0o644)
    with pytest.raises(UsageError, match="every user can read"):
        access("127.0.0.1", (), file, {})


async def test_the_counters_of_calls_count_as_memory() -> None:
    async with Simulator(load("calm_crm"), ledger_keep=1).open() as world:
        before = world.size
        for n in range(200):
            await world.call("list_deals", {"contact_id": f"con_{n}"})
        assert world.size - before > 200 * 300
