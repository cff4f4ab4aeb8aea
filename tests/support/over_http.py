"""`mcp-sim serve --http` in a subprocess, and clients that see every byte of its answers."""

from __future__ import annotations

import json
import os
import re
import signal
import ssl
import subprocess
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from threading import Thread
from typing import IO, Any, cast

import httpx2
from support.places import ROOT, SUPPORT
from support.warm import PYTHON

ERAS = ("2025-11-25", "2026-07-28")
META = "io.modelcontextprotocol/"
URL = re.compile(r"http://127\.0\.0\.1:\d+")
CLIENT = {"name": "raw", "version": "1"}


class Served:
    """A server that listens at `url`; `log` holds the lines of its stderr."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.log = list[str]()
        self._stderr = cast("IO[bytes]", process.stderr)
        self.url = next((match[0] for line in self._lines() if (match := URL.search(line))), "")
        assert self.url, "\n".join(self.log)
        self._reader = Thread(target=self._read)
        self._reader.start()

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        code = self.process.wait(30)
        self._reader.join()
        return code

    def _lines(self) -> Generator[str]:
        for line in self._stderr:
            self.log.append(line.decode().rstrip("\n"))
            yield self.log[-1]

    def _read(self) -> None:
        for _ in self._lines():
            pass


@contextmanager
def listening(*arguments: str, env: Mapping[str, str] | None = None) -> Generator[Served]:
    """Yield a running server of mcp-sim."""
    with started(["unruly.py", "serve", *arguments, "--http", "127.0.0.1:0"], env) as served:
        yield served


@contextmanager
def started(words: Sequence[str], env: Mapping[str, str] | None = None) -> Generator[Served]:
    """Yield a running server: a program of `tests/support` that writes its URL to stderr."""
    command = [PYTHON, str(SUPPORT / words[0]), *words[1:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **(env or {})}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process:
        try:
            served = Served(process)
            yield served
            if process.poll() is None:
                served.end()
        finally:
            if process.poll() is None:
                process.kill()


class Caller:
    """A client of one URL in one era. `heard` collects every byte that it receives."""

    def __init__(self, url: str, era: str, client: httpx2.AsyncClient, heard: list[bytes] | None = None) -> None:
        self.url, self.era = url, era
        self.session: dict[str, str] = {}
        self._client = client
        self._heard = heard if heard is not None else list[bytes]()
        self._id = 0

    @property
    def is_modern(self) -> bool:
        return self.era == ERAS[1]

    async def post(
        self, method: str, params: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        """Send a request and return the HTTP response."""
        self._id += 1
        body = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": self._enveloped(params or {})}
        return await self.send(json.dumps(body).encode(), {**self.headers(method, params or {}), **(headers or {})})

    async def send(self, body: bytes, headers: Mapping[str, str]) -> httpx2.Response:
        response = await self._client.post(self.url, content=body, headers=dict(headers))
        self._heard += [piece for header in response.headers.raw for piece in header]
        self._heard.append(response.content)
        return response

    def headers(self, method: str, params: Mapping[str, Any]) -> dict[str, str]:
        """Return the headers that a request of this era needs."""
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json", **self.session}
        if self.is_modern:
            headers |= {"mcp-protocol-version": self.era, "mcp-method": method}
            if "name" in params:
                headers["mcp-name"] = params["name"]
        return headers

    async def shake_hands(self, headers: Mapping[str, str] | None = None) -> httpx2.Response:
        """Open a session."""
        hello = {"protocolVersion": self.era, "capabilities": {}, "clientInfo": CLIENT}
        response = await self.post("initialize", hello, headers)
        self.session = {"mcp-session-id": response.headers["mcp-session-id"], "mcp-protocol-version": self.era}
        done = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'
        await self.send(done, {**self.headers("", {}), **(headers or {})})
        return response

    async def leave(self) -> httpx2.Response:
        """End the session."""
        return await self._client.delete(self.url, headers=self.session)

    async def call(
        self, tool: str, arguments: Mapping[str, Any], meta: Mapping[str, Any] | None = None, **headers: str
    ) -> dict[str, Any]:
        """Call a tool and return the JSON-RPC answer."""
        params: dict[str, Any] = {"name": tool, "arguments": arguments, **({"_meta": meta} if meta else {})}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return (await self.post("tools/call", params, named)).json()

    def _enveloped(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self.is_modern:
            return params
        about = {"protocolVersion": self.era, "clientCapabilities": {}, "clientInfo": CLIENT}
        meta = {**{META + name: value for name, value in about.items()}, **params.get("_meta", {})}
        return {**params, "_meta": meta}


PATIENCE = 300
"""Seconds to wait for an answer, enough on a busy machine."""

CERTIFICATES = ssl.create_default_context()
"""Unused, but passed to clients, which otherwise load certificates for longer than their calls take."""


@asynccontextmanager
async def caller(
    url: str, era: str, heard: list[bytes] | None = None, headers: Mapping[str, str] | None = None
) -> AsyncGenerator[Caller]:
    """Yield a client, after the handshake of its era; `headers` are part of every request."""
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(
        verify=CERTIFICATES, timeout=PATIENCE, headers=dict(headers or {}), trust_env=False, limits=limits
    ) as client:
        mcp_client = Caller(url, era, client, heard)
        if not mcp_client.is_modern:
            await mcp_client.shake_hands()
        yield mcp_client
