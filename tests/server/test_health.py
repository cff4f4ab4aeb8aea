"""`/health`: whether a server serves."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.over_http import listening
from support.places import ROOT
from support.warm import PYTHON

from mcp_sim import Simulator
from mcp_sim.server.access import access
from mcp_sim.server.http import HttpServer, Limits
from mcp_sim.server.worlds import Worlds


async def test_a_serving_server_is_healthy_and_shows_nothing_else(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("a-token-that-is-long\n", encoding="utf-8")
    tokens.chmod(0o600)
    with listening("flaky_crm", "--token-file", str(tokens)) as served:
        async with httpx2.AsyncClient(base_url=served.url, headers={"host": "any.example"}) as client:
            healthy = await client.get("/health")
            assert (healthy.status_code, healthy.content) == (200, b'{"status":"ok"}')
            assert set(healthy.headers) == {"content-type", "cache-control", "content-length"}
            head = await client.head("/health")
            assert (head.status_code, head.content) == (200, b"")
            posted = await client.post("/health", json={})
            assert (posted.status_code, posted.headers["allow"]) == (405, "GET, HEAD")
            assert (await client.post("/mcp", json={})).status_code == 421
        assert not any("health" in line for line in served.log)


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes are POSIX")
@pytest.mark.time_limit(100)
def test_a_client_that_is_early_waits_until_the_documents_are_read(tmp_path: Path) -> None:
    document = tmp_path / "scenario.yaml"
    os.mkfifo(document)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [PYTHON, "-m", "mcp_sim", "serve", str(document), "--http", str(port), "--log-level", "error"]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}) as served:
        try:
            with document.open("w", encoding="utf-8") as stream:  # opens once the server reads it
                early = HTTPConnection("127.0.0.1", port, timeout=60)
                early.request("GET", "/health")
                stream.write('{"mcp_sim": 1, "tools": "crm"}')
            assert early.getresponse().read() == b'{"status":"ok"}'
            early.close()
        finally:
            served.terminate()


async def test_a_server_that_ends_is_not_healthy() -> None:
    async with Simulator.load("calm_crm") as simulator:
        worlds = Worlds(simulator.world, 10, [])
        rules = access("127.0.0.1", [], None, {})
        server = HttpServer(simulator.scenario, worlds, rules, Limits(), lambda: None)
        async with server.open():
            assert await health(server) == (200, {"status": "ok"})
            server.leave()
            assert await health(server) == (503, {"status": "ending"})


async def health(server: HttpServer) -> tuple[int, Any]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    await server({"type": "http", "method": "GET", "path": "/health", "headers": []}, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])
