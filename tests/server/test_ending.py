"""The end of a server by a signal, also while a program of the user computes in C."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.warm import COLD

Json = Any
pytestmark = [pytest.mark.time_limit(120), pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]
COMPUTES = 're.match(r"(a*)*b", "a" * 60)'
LOOPS = "sum(1 for _ in iter(int, 1))"


@pytest.mark.parametrize(
    ("number", "busy"), [(signal.SIGTERM, COMPUTES), (signal.SIGTERM, LOOPS), (signal.SIGINT, LOOPS)]
)
def test_a_signal_ends_a_busy_server(tmp_path: Path, number: signal.Signals, busy: str) -> None:
    program = f"import re\nfrom mcp_sim.programs import tool\n@tool\ndef spin(world):\n    return bool({busy})\n"
    (tmp_path / "spin.py").write_text(program)
    tools = [{"name": "spin", "inputSchema": {"type": "object"}}]
    (tmp_path / "spin.json").write_text(json.dumps({"mcp_sim": 1, "name": "s", "tools": tools, "program": "spin.py"}))
    command = [COLD, "-m", "mcp_sim", "serve", "spin.json", "--trust", str(tmp_path)]
    with subprocess.Popen(command, cwd=tmp_path, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        about: Json = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
        send(server, {"id": 1, "method": "initialize", "params": about})
        server.stdout.readline()
        send(server, {"method": "notifications/initialized"})
        send(server, {"id": 2, "method": "tools/list"})
        server.stdout.readline()
        send(server, {"id": 3, "method": "tools/call", "params": {"name": "spin", "arguments": {}}})
        wait_until_busy(server.pid)
        server.send_signal(number)
        server.wait(40)  # three seconds, if the machine has nothing else to do
        assert server.returncode in {128 + number, -number, -signal.SIGPROF}


def send(server: subprocess.Popen[bytes], message: Json) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    server.stdin.flush()


def wait_until_busy(pid: int) -> None:
    """Wait until a process has computed for another half of a second."""
    if not Path(f"/proc/{pid}/stat").exists():
        pytest.skip("needs /proc")
    first = None
    for _ in range(3000):
        used = sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
        first = used if first is None else first
        if used > first + 40:
            return
        time.sleep(0.01)
    raise AssertionError("it does nothing")


def test_a_process_that_has_ended_its_server_may_compute_in_c() -> None:
    program = """
import anyio, time
from mcp_sim.server.standard_streams import leave_at_signals

async def serve():
    with leave_at_signals(print):
        pass

anyio.run(serve)
seconds = time.process_time() + 3.5
many = 300_000_000
while time.process_time() < seconds:
    sum(range(many))  # one call in C, longer than a stuck server may compute
"""
    assert subprocess.run([COLD, "-c", program], check=False, timeout=100).returncode == 0
