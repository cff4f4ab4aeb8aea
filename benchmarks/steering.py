"""Measure how long a world waits while an operator steers and reads other worlds through the control plane.

    python benchmarks/steering.py [WORLDS] [RECORDS]

A client calls a tool in a world of its own, again and again, before and while an operator does one of these, over 16
connections in a process of its own:

- steers WORLDS (1,000) worlds: for each, a fault is added, the clock advanced, a record changed; the world is forked,
  taken back to a snapshot, graded, reset and closed;
- reads a world with RECORDS (100,000) records of one entity: pages, single records, an earlier step, a comparison with
  a world of another seed, and a grade whose expectation counts records.

Time in which other programs had the processor is not counted. The exit status is 1 if a call waited for more than 250
ms.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from attacks import MOST_MILLISECONDS, QUIET_CALLS
from raw_client import ERAS
from raw_http import Connection, Listening, queued_seconds, start_server
from table import ratio

AT_ONCE = 16
SIZES = 1000, 100_000
TOKEN = "the-token-of-the-benchmark"
LINE = "{:28} {:>9} {:>9} {:>8} {:>10} {:>10}"
FAULT = {"fault": {"error": {"status": 503}, "tools": "list_*", "when": {"nth": 2}}}
EDIT = {"changes": [{"do": "edit", "entity": "deal", "key": "deal_0001", "values": {"stage": "lost"}}]}

Operate = Callable[["Operator", int], Awaitable[None]]


class Operator:
    """A client of the control plane that counts its requests."""

    def __init__(self, port: int) -> None:
        limits = httpx2.Limits(max_connections=AT_ONCE)
        headers = {"authorization": f"Bearer {TOKEN}"}
        self._client = httpx2.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", headers=headers, limits=limits, timeout=120, trust_env=False
        )
        self.requests = 0

    async def do(self, method: str, path: str, body: Any = None) -> Any:
        response = await self._client.request(method, path, json=body)
        response.raise_for_status()
        self.requests += 1
        return response.json() if response.content else None


async def steer(operator: Operator, worlds: int) -> None:
    """Steer many worlds, sixteen at a time."""
    names = iter(range(worlds))

    async def take() -> None:
        for number in names:
            await steer_one(operator, f"w{number}")

    await asyncio.gather(*(take() for _ in range(AT_ONCE)))


async def steer_one(operator: Operator, name: str) -> None:
    await operator.do("POST", "/worlds", {"name": name})
    world = f"/worlds/{name}"
    for path, body in (
        ("faults", FAULT),
        ("clock", {"by": "5m"}),
        ("snapshots", {"name": "before"}),
        ("records", EDIT),
        ("fork", {"name": f"{name}-twin"}),
        ("restore", {"snapshot": "before"}),
    ):
        await operator.do("POST", f"{world}/{path}", body)
    comparison = await operator.do("GET", f"{world}/compare?other={name}-twin")
    assert [difference["key"] for difference in comparison["differences"]] == ["deal_0001"]
    await operator.do("GET", f"{world}/grade")
    await operator.do("POST", f"{world}/reset")
    assert (await operator.do("GET", world))["steps"] == 4
    for one in (name, f"{name}-twin"):
        await operator.do("DELETE", f"/worlds/{one}")


async def read(operator: Operator, records: int) -> None:
    """Read a large world in every way, and sixteen pages at a time."""
    await operator.do("POST", "/worlds", {"name": "large"})
    await operator.do("POST", "/worlds", {"name": "other", "seed": 99})
    await operator.do("POST", "/worlds/large/records", EDIT)
    pages = [f"/worlds/large/records?entity=contact&limit=1000&offset={at}" for at in range(0, records, records // 20)]
    earlier = [f"/worlds/large/records?entity=deal&step=1&key=deal_000{n}" for n in range(1, 9)]
    large = ["/worlds/large/compare?other=other&limit=1000", "/worlds/large/grade", "/worlds/large", "/worlds"]
    for paths in (pages, earlier, large):
        await asyncio.gather(*(operator.do("GET", path) for path in paths))


WORKS: dict[str, Operate] = {"steer": steer, "read": read}


class Probe:
    """A client that calls a tool of its own world, and notes how long it waits."""

    def __init__(self, server: Listening) -> None:
        self._connection = Connection(server.port, "/w/quiet/mcp", ERAS[1])
        call = {"name": "get_company", "arguments": {"company_id": "cmp_001"}}
        self._request = self._connection.encode_request("tools/call", call)
        self._processes = server.pid, os.getpid()
        self.waits = list[float]()

    async def call(self, times: int) -> None:
        for _ in range(times):
            began = self._seconds()
            await self._connection.exchange(self._request)
            self.waits.append(self._seconds() - began)
            await asyncio.sleep(0.002)

    async def open(self) -> None:
        await self._connection.open()

    def _seconds(self) -> float:
        return time.perf_counter() - sum(map(queued_seconds, self._processes))


async def measure(server: Listening, work: str, size: int, port: int) -> float:
    """Measure one work of the operator, print its line, and return the longest wait in seconds."""
    probe = Probe(server)
    await probe.open()
    await probe.call(QUIET_CALLS)
    quiet, probe.waits = max(probe.waits[QUIET_CALLS // 10 :]), list[float]()
    command = sys.executable, __file__, "--work", work, str(size), str(port)
    began = time.perf_counter()
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    watch = asyncio.create_task(probe.call(sys.maxsize))
    printed, _ = await process.communicate()
    watch.cancel()
    with suppress(asyncio.CancelledError):
        await watch
    assert process.returncode == 0, "the operator failed"
    longest, took = max(probe.waits), time.perf_counter() - began
    waits = f"{longest * 1000:,.0f}", f"{quiet * 1000:,.0f}", ratio(longest, quiet)
    print(LINE.format(f"{work} {size:,}", *waits, printed.decode().strip(), f"{took:,.1f}"), flush=True)
    return longest


def main(sizes: Sequence[int]) -> int:
    worlds, records = sizes
    print(LINE.format("the operator", "ms waited", "ms before", "ratio", "requests", "s in all"))
    longest = [served(100, "steer", worlds), served(records, "read", records)]
    return int(max(longest) * 1000 > MOST_MILLISECONDS)


@contextmanager
def scenario(records: int) -> Generator[Path]:
    """Yield a scenario with so many contacts."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "large.json")
        expect = [{"state": {"entity": "contact", "where": {"stage": {"in": ["lead", "customer"]}}, "count": records}}]
        counts = {"company": 10, "deal": 10, "contact": records}
        document = {"mcp_sim": 1, "name": "large", "tools": "crm", "world": {"records": counts}, "expect": expect}
        path.write_text(json.dumps(document), encoding="utf-8")
        yield path


def served(records: int, work: str, size: int) -> float:
    """Return the longest wait while one work is done on a new server."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    os.environ["MCP_SIM_CONTROL_TOKEN"] = TOKEN
    command = [sys.executable, "-m", "mcp_sim", "serve", "--http", "127.0.0.1:0", "--log-level", "error"]
    control = ["--control", f"127.0.0.1:{port}", "--clock", "virtual"]
    with scenario(records) as path, start_server([*command, *control, str(path)], ends_at_once=True) as server:
        return asyncio.run(measure(server, work, size, port))


async def operate(work: str, size: int, port: int) -> None:
    """Do one work in this process, and print the number of its requests."""
    operator = Operator(port)
    await WORKS[work](operator, size)
    print(operator.requests)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        asyncio.run(operate(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    else:
        given = [int(text) for text in sys.argv[1:]]
        sys.exit(main([*given, *SIZES[len(given) :]]))
