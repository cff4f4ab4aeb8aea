"""`mcp-sim serve --http` in a process of its own, and clients that see every byte of its answers."""

from __future__ import annotations

import json
import os
import re
import signal
import ssl
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from threading import Thread
from typing import IO, Any, cast

import httpx2
from support.places import ROOT, SUPPORT

ERAS = ("2025-11-25", "2026-07-28")
META = "io.modelcontextprotocol/"
URL = re.compile(r"http://127\.0\.0\.1:\d+")
CLIENT = {"name": "raw", "version": "1"}


class Served:
    """A server that listens at `url`; `told` is what it says on stderr."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.told = list[str]()
        self._stderr = cast("IO[bytes]", process.stderr)
        self.url = next((found[0] for line in self._lines() if (found := URL.search(line))), "")
        assert self.url, "\n".join(self.told)
        self._reader = Thread(target=self._read)
        self._reader.start()

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def end(self, number: int = signal.SIGTERM) -> int:
        """The exit code after a signal."""
        self.process.send_signal(number)
        code = self.process.wait(30)
        self._reader.join()
        return code

    def _lines(self) -> Generator[str]:
        for line in self._stderr:
            self.told.append(line.decode().rstrip("\n"))
            yield self.told[-1]

    def _read(self) -> None:
        for _ in self._lines():
            pass


@contextmanager
def listening(*arguments: str, env: Mapping[str, str] | None = None) -> Generator[Served]:
    """A server for so long."""
    command = [sys.executable, str(SUPPORT / "unruly.py"), "serve", *arguments, "--http", "127.0.0.1:0"]
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
    """A client of one URL in one era. `heard` is everything that it was ever sent."""

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
        """The answer to a request, as it is."""
        self._id += 1
        body = {"jsonrpc": "2.0", "id": self._id, "method": method, "params": self._enveloped(params or {})}
        return await self.send(json.dumps(body).encode(), {**self.headers(method, params or {}), **(headers or {})})

    async def send(self, body: bytes, headers: Mapping[str, str]) -> httpx2.Response:
        response = await self._client.post(self.url, content=body, headers=dict(headers))
        self._heard += [part for header in response.headers.raw for part in header]
        self._heard.append(response.content)
        return response

    def headers(self, method: str, params: Mapping[str, Any]) -> dict[str, str]:
        """What a request of this era has to bear."""
        headers = {"accept": "application/json, text/event-stream", "content-type": "application/json", **self.session}
        if self.is_modern:
            headers |= {"mcp-protocol-version": self.era, "mcp-method": method}
            if "name" in params:
                headers["mcp-name"] = params["name"]
        return headers

    async def shake_hands(self, headers: Mapping[str, str] | None = None) -> httpx2.Response:
        """Open a session, where the era has any."""
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
        """The JSON-RPC answer to a call."""
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
"""Seconds for an answer, where a machine is shared by many."""

CERTIFICATES = ssl.create_default_context()
"""Nobody is asked for any; a client that is not given them loads them anew, for longer than its calls take."""


@asynccontextmanager
async def caller(
    url: str, era: str, heard: list[bytes] | None = None, headers: Mapping[str, str] | None = None
) -> AsyncGenerator[Caller]:
    """A client that has shaken hands where its era does; `headers` go with every request."""
    limits = httpx2.Limits(max_connections=None)
    async with httpx2.AsyncClient(
        verify=CERTIFICATES, timeout=PATIENCE, headers=dict(headers or {}), trust_env=False, limits=limits
    ) as client:
        one = Caller(url, era, client, heard)
        if not one.is_modern:
            await one.shake_hands()
        yield one
