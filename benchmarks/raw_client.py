"""A client over raw pipes, whose own work does not distort the measurement as that of the SDK's client would."""

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
    return {**params, "_meta": {META + name: value for name, value in about.items()}}


def cpu_seconds(pid: int) -> float:
    """Return processor seconds of a process so far, to the nanosecond (Linux; 0 elsewhere)."""
    tasks = Path(f"/proc/{pid}/task")
    if not tasks.exists():
        return 0.0
    return sum(int(Path(task, "schedstat").read_text(encoding="ascii").split()[0]) for task in tasks.iterdir()) / 1e9
