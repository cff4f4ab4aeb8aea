"""`mcp-sim serve` in a subprocess, over raw pipes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from support.places import ROOT, SUPPORT
from support.warm import PYTHON

MODERN_META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Wire:
    """The raw pipes of a server process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.stdin = cast("IO[bytes]", process.stdin)
        self.stdout = cast("IO[bytes]", process.stdout)

    def send(self, data: bytes) -> None:
        self.stdin.write(data)
        self.stdin.flush()

    def request(self, number: int | str, method: str, params: Mapping[str, Any]) -> None:
        body = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        self.send(json.dumps(body).encode() + b"\n")

    def call(self, number: int, tool: str, arguments: Mapping[str, Any], **more: Any) -> None:
        self.request(number, "tools/call", {"name": tool, "arguments": arguments, **more})

    def answer(self) -> dict[str, Any]:
        line = self.stdout.readline()
        assert line, f"no answer; exit code {self.process.wait(60)}"
        return json.loads(line)

    def handshake(self) -> None:
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        self.request(0, "initialize", client)
        assert self.answer()["id"] == 0
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def wait_until_started(self) -> None:
        """Wait until the server has opened its files. A handshake is answered before that, and a ping is not."""
        self.request("started", "ping", {})
        assert self.answer()["id"] == "started"

    def leave(self) -> bytes:
        """Close stdin. Return the rest of the server's output."""
        self.stdin.close()
        rest = self.stdout.read()
        self.process.wait(60)
        return rest


@contextmanager
def serving(*arguments: str, handshake: bool = True) -> Generator[Wire]:
    command = [PYTHON, str(SUPPORT / "unruly.py"), "serve", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, stderr=pipe) as process:
        wire = Wire(process)
        try:
            if handshake:
                wire.handshake()
            yield wire
        finally:
            process.kill()


def stderr_of(wire: Wire) -> str:
    return cast("IO[bytes]", wire.process.stderr).read().decode()


def peak_memory(pid: int) -> int:
    """Return the most bytes that a process has held, on Linux."""
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def steps(trace: Path) -> list[dict[str, Any]]:
    """Return the steps of a trace, whose lines must be complete JSON."""
    content = trace.read_bytes()
    assert content.endswith(b"\n")
    return [entry["step"] for entry in map(json.loads, content.splitlines()) if "step" in entry]


def odd(folder: Path, *perturbations: dict[str, Any]) -> str:
    path = folder / "odd.yaml"
    document = {"mcp_sim": 1, "name": "odd", "tools": "crm", "perturbations": list(perturbations)}
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)
