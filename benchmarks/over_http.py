"""What does mcp-sim over HTTP cost? Against the bare SDK server with one constant result, by connections, in both eras.

    python benchmarks/over_http.py [--quick]

Each connection is kept alive and sends its next call when the last is answered. Both servers have the same tools and
return the same 2 KB; mcp-sim has a world of 1,000 records for each connection, three perturbations that match the tool,
and a trace on disk. At last: many worlds at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from overhead import ARGUMENTS, NEVER, TOOL, TOOLS, constant_result
from raw_client import ERAS, META, cpu_seconds
from table import micro, print_table, ratio

HERE = Path(__file__).parent
CONNECTIONS = (1, 16, 64)
BARE, OURS = "bare SDK server", "mcp-sim"
URL = re.compile(rb"http://127\.0\.0\.1:(\d+)")

SCENARIO = f"""\
mcp_sim: 1
name: http
tools: crm
world:
  records:
    company: 100
    contact: {{count: 500, rows: [{{id: con_00001, job_title: "{"Prefers to be called before noon. " * 50}"}}]}}
    deal: 250
    activity: 150
perturbations:
  - error: {{status: 503}}
    when: {{nth: {NEVER}}}
  - latency: 1s
    when: {{every: {NEVER}}}
  - rate_limit: {{limit: {NEVER}, window: 1s}}
"""


@dataclass(frozen=True, slots=True)
class Load:
    """So many connections, each in the world of its path, with so many calls in all."""

    era: str
    paths: Sequence[str]
    calls: int


@dataclass(frozen=True, slots=True)
class Figures:
    """What a load took: calls per second, seconds of a call (median, 99th percentile), processor seconds of a call."""

    rate: float
    median: float
    slow: float
    cpu: float


class Connection:
    """One connection that is kept alive, in one era."""

    def __init__(self, port: int, path: str, era: str) -> None:
        self._port, self._path, self._era = port, path, era
        self._session = b""

    async def open(self) -> None:
        """Connect, and shake hands where the era wants it."""
        self._from, self._to = await asyncio.open_connection("127.0.0.1", self._port)
        if self._era == ERAS[0]:
            client = {"protocolVersion": self._era, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
            await self.answered(self.framed("initialize", client))
            await self.answered(self.framed("notifications/initialized", None))

    async def close(self) -> None:
        self._to.close()
        await self._to.wait_closed()

    def framed(self, method: str, params: dict[str, Any] | None) -> bytes:
        """The bytes of a request, or of a notification (params None)."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message |= {"id": 1, "params": self._enveloped(params)}
        body = json.dumps(message).encode()
        head = [
            f"POST {self._path} HTTP/1.1",
            f"host: 127.0.0.1:{self._port}",
            "accept: application/json, text/event-stream",
            "content-type: application/json",
            f"content-length: {len(body)}",
        ]
        if self._era != ERAS[0] or self._session:
            head.append(f"mcp-protocol-version: {self._era}")
        if self._era != ERAS[0]:
            head += [f"mcp-method: {method}", *([f"mcp-name: {params['name']}"] if params and "name" in params else [])]
        if self._session:
            head.append(f"mcp-session-id: {self._session.decode()}")
        return "\r\n".join([*head, "", ""]).encode() + body

    def _enveloped(self, params: dict[str, Any]) -> dict[str, Any]:
        if self._era == ERAS[0]:
            return params
        about = {"protocolVersion": self._era, "clientCapabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
        return {**params, "_meta": {META + name: value for name, value in about.items()}}

    async def answered(self, request: bytes) -> bytes:
        """Send a request; the body of its answer."""
        self._to.write(request)
        head = (await self._from.readuntil(b"\r\n\r\n")).lower()
        session = re.search(rb"mcp-session-id: (\S+)", head)
        if session:
            self._session = session[1]
        length = re.search(rb"content-length: (\d+)", head)
        body = await self._from.readexactly(int(length[1])) if length else b""
        if not head.startswith((b"http/1.1 200", b"http/1.1 202")):
            raise RuntimeError(f"{head.decode()}{body.decode()}")
        return body


def main(*, quick: bool) -> None:
    calls, worlds = (50, 5) if quick else (4_000, 200)
    with TemporaryDirectory() as folder:
        scenario, result = Path(folder, "http.yaml"), Path(folder, "result.json")
        scenario.write_text(SCENARIO, encoding="utf-8")
        result.write_text(json.dumps(asyncio.run(constant_result(scenario))), encoding="utf-8")
        print(f"one result: {result.stat().st_size} bytes; {calls} calls each")
        bare = [sys.executable, str(HERE / "bare_http.py"), str(TOOLS), str(result)]
        trace = str(Path(folder, "trace.jsonl"))
        ours = [sys.executable, "-m", "mcp_sim", "serve", str(scenario), "--http", "127.0.0.1:0", "--trace", trace]
        for era in ERAS:
            compare(era, {BARE: bare, OURS: [*ours, "--log-level", "warning"]}, calls)
        many_worlds([*ours, "--log-level", "warning"], worlds, calls)


def compare(era: str, commands: dict[str, list[str]], calls: int) -> None:
    """Both servers in turns, at each number of connections."""
    rows = list[list[str]]()
    with started(commands[BARE]) as bare, started(commands[OURS]) as ours:
        for connections in CONNECTIONS:
            worlds = [f"/w/{era}-{connections}-{n}/mcp" for n in range(connections)]
            reference = asyncio.run(measured(bare, Load(era, ["/mcp"] * connections, calls)))
            figures = asyncio.run(measured(ours, Load(era, worlds, calls)))
            rows += [
                row(f"{BARE}, {connections}", reference, reference),
                row(f"{OURS}, {connections}", figures, reference),
            ]
    head = ["connections", "calls/s", "ratio", "ms p50", "ratio", "ms p99", "ratio", "us CPU per call", "ratio"]
    print_table(f"Calls over HTTP, protocol {era}", head, rows)


def row(name: str, of: Figures, reference: Figures) -> list[str]:
    cells = [name, f"{of.rate:,.0f}", ratio(of.rate, reference.rate)]
    cells += [f"{of.median * 1000:.2f}", ratio(of.median, reference.median)]
    cells += [f"{of.slow * 1000:.2f}", ratio(of.slow, reference.slow)]
    return [*cells, micro(of.cpu), ratio(of.cpu, reference.cpu)]


def many_worlds(command: list[str], worlds: int, calls: int) -> None:
    """As many worlds as connections."""
    rows = list[list[str]]()
    for era in ERAS:
        with started(command) as server:
            paths = [f"/w/{n}/mcp" for n in range(worlds)]
            of = asyncio.run(measured(server, Load(era, paths, calls * 2)))
            rows.append([era, f"{of.rate:,.0f}", f"{of.median * 1000:.1f}", f"{of.slow * 1000:.1f}", micro(of.cpu)])
    print_table(f"{worlds} worlds at once", ["", "calls/s", "ms p50", "ms p99", "us CPU per call"], rows)


@dataclass(frozen=True, slots=True)
class Listening:
    """A server process, and where it listens."""

    pid: int
    port: int


@contextmanager
def started(command: list[str]) -> Generator[Listening]:
    """A server, until the end of the block."""
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        found = next(found for line in process.stderr if (found := URL.search(line)))
        try:
            yield Listening(process.pid, int(found[1]))
        finally:
            process.terminate()
            process.stderr.read()


async def measured(server: Listening, load: Load) -> Figures:
    """Send the load, after a few calls to warm up."""
    connections = [Connection(server.port, path, load.era) for path in load.paths]
    for connection in connections:
        await connection.open()
    await asyncio.gather(*(repeated(connection, 10) for connection in connections))
    before, began = cpu_seconds(server.pid), time.perf_counter()
    each = max(1, load.calls // len(connections))
    spans = [span for spent in await asyncio.gather(*(repeated(c, each) for c in connections)) for span in spent]
    took, cpu = time.perf_counter() - began, cpu_seconds(server.pid) - before
    for connection in connections:
        await connection.close()
    spans.sort()
    return Figures(len(spans) / took, spans[len(spans) // 2], spans[len(spans) * 99 // 100], cpu / len(spans))


async def repeated(connection: Connection, times: int) -> list[float]:
    """Seconds of each of so many calls, one after the other."""
    request = connection.framed("tools/call", {"name": TOOL, "arguments": ARGUMENTS})
    spans = list[float]()
    for _ in range(times):
        began = time.perf_counter()
        body = await connection.answered(request)
        spans.append(time.perf_counter() - began)
        if b'"result"' not in body:
            raise RuntimeError(body.decode())
    return spans


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small counts: does it run at all?")
    main(quick=parser.parse_args().quick)
