"""A client that is nothing but a pipe: it measures the server, where the SDK's client would measure itself."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

ERAS = ("2025-11-25", "2026-07-28")
META = "io.modelcontextprotocol/"


class Peer:
    """A server process, spoken to line by line, in the era of a handshake or in the one without sessions."""

    def __init__(self, command: Sequence[str], era: str = ERAS[0]) -> None:
        self.started = time.perf_counter()
        self._era = era
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        self._id = 0

    def __enter__(self) -> Self:
        if self._era == ERAS[0]:
            client = {"protocolVersion": self._era, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
            self.request("initialize", client)
            self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._to.close()
        self._process.wait(timeout=30)
        self._from.close()

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request; raises if the answer is an error."""
        answer = json.loads(self.answered(self.framed(method, params)))
        if "result" not in answer:
            raise RuntimeError(f"{method}: {answer.get('error')}")
        return cast("dict[str, Any]", answer["result"])

    def framed(self, method: str, params: dict[str, Any]) -> bytes:
        """The line of a request, ready to be sent."""
        self._id += 1
        if self._era != ERAS[0]:
            info = {"name": "raw", "version": "1"}
            about = {"protocolVersion": self._era, "clientCapabilities": {}, "clientInfo": info}
            params = {**params, "_meta": {META + name: value for name, value in about.items()}}
        return json.dumps({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params}).encode() + b"\n"

    def answered(self, line: bytes) -> bytes:
        """Send a line, wait for the next one."""
        self._to.write(line)
        self._to.flush()
        answer = self._from.readline()
        if not answer:
            raise RuntimeError(f"the server ended with {self._process.wait(timeout=30)}")
        return answer

    def cpu_seconds(self) -> float:
        """Processor time of the server process so far (Linux; 0 elsewhere)."""
        return cpu_seconds(self._process.pid)

    def _send(self, message: dict[str, Any]) -> None:
        self._to.write(json.dumps(message).encode() + b"\n")
        self._to.flush()


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far (Linux; 0 elsewhere)."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        return 0.0
    fields = stat.read_text(encoding="ascii").rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
