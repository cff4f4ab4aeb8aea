"""`serve --workers`: several processes on one port, each with the worlds whose names belong to it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Self

import anyio
import httpx2
import pytest
from support.http_deals import DEAL, created, deals, document, eras
from support.libraries import ACT, library, small
from support.over_http import CLIENT, ERAS, META, Caller, Served, caller, listening
from support.warm import PYTHON, pid_of

from mcp_sim.cli import main
from mcp_sim.server.workers import worker_of
from mcp_sim.world.sinks.jsonl import SharedTrace

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")

WORKERS = 3
PATIENCE = 60
NAMES = [f"w{n}" for n in range(12)]
SLOW = {"perturbations": [{"latency": "2s", "tools": "create_deal", "when": {"nth": 1}}]}


@pytest.fixture(scope="module")
def several() -> Generator[Served]:
    with listening("calm_crm", "--workers", str(WORKERS), "--log-level", "warning") as served:
        yield served


def of_worker(number: int, prefix: str = "n") -> Generator[str]:
    """Yield names of worlds that a worker has."""
    yield from (name for n in range(1000) if worker_of(name := f"{prefix}{n}", WORKERS) == number)


def processes(served: Served) -> list[int]:
    """Return the processes of the workers, by number."""
    pid = pid_of(served.process)
    return [*map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split())]


# requests as bytes ----------------------------------------------------------------------------------------------------


class Wire:
    """A connection that is kept alive, for requests without a session."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._stream = self.socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.close()
        self.socket.close()

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def receive(self) -> tuple[int, dict[str, str], bytes]:
        """Return the status, the headers and the body of a response."""
        status = int(self._stream.readline().split()[1])
        headers = dict[str, str]()
        while line := self._stream.readline().strip():
            name, _, value = line.decode().partition(": ")
            headers[name.lower()] = value
        return status, headers, self._stream.read(int(headers["content-length"]))

    def created(self, request: bytes) -> str:
        """Send a call and return the id of the deal that it created."""
        self.send(request)
        return created(json.loads(self.receive()[2]))

    def is_closed(self) -> bool:
        return self._stream.read(1) == b""


def create(path: str = "/mcp", *lines: str, world: str | None = None, padding: int = 0, chunked: bool = False) -> bytes:
    """Return a request that creates a deal, with more bytes of white space."""
    about = {"protocolVersion": ERAS[1], "clientCapabilities": {}, "clientInfo": CLIENT}
    meta = {META + name: value for name, value in about.items()} | ({} if world is None else {"mcp-sim/world": world})
    params = {"name": "create_deal", "arguments": DEAL, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode() + b" " * padding
    length = "transfer-encoding: chunked" if chunked else f"content-length: {len(body)}"
    head = [
        f"POST {path} HTTP/1.1",
        "host: localhost",
        "accept: application/json, text/event-stream",
        "content-type: application/json",
        f"mcp-protocol-version: {ERAS[1]}",
        "mcp-method: tools/call",
        "mcp-name: create_deal",
        length,
        *lines,
    ]
    if chunked:
        middle = len(body) // 2
        parts = [body[:middle], body[middle:], b""]
        body = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)
    return "\r\n".join([*head, "", ""]).encode() + body


# worlds ---------------------------------------------------------------------------------------------------------------


@eras
async def test_the_ledgers_are_those_of_one_worker(tmp_path: Path, era: str) -> None:
    ledgers = list[dict[str, list[Any]]]()
    for workers in ("1", str(WORKERS)):
        trace = tmp_path / f"{workers}.jsonl"
        options = ("--clock", "virtual", "--trace", str(trace), "--log-level", "error", "--workers", workers)
        with listening("flaky_crm", *options) as served:
            async with anyio.create_task_group() as tasks:
                for name in NAMES:
                    tasks.start_soon(several_calls, f"{served.url}/w/{name}/mcp", era)
        header, *lines = trace.read_bytes().splitlines()
        assert json.loads(header)["scenario"]
        entries = [json.loads(line) for line in lines]
        ledgers.append({name: [one["step"] for one in entries if one["world"] == name] for name in NAMES})
    assert all(len(steps) >= 24 for steps in ledgers[0].values())
    assert ledgers[0] == ledgers[1]


async def several_calls(url: str, era: str) -> None:
    async with caller(url, era) as one:
        for _ in range(8):
            await one.call("create_deal", DEAL)
            await one.call("list_deals", {"limit": 3})
            await one.call("get_contact", {"contact_id": "con_00001"})


def test_a_name_always_belongs_to_the_same_worker() -> None:
    assert [worker_of(name, 4) for name in ("anne", "bob", "default")] == [2, 0, 3]
    shares = Counter(worker_of(f"run-{n}", 4) for n in range(1000))
    assert min(shares.values()) > 200


def test_a_connection_that_names_another_world_gets_the_answer_of_that_world(several: Served) -> None:
    first = [next(of_worker(number, "switch")) for number in range(WORKERS)]
    with Wire(several.port) as wire:
        for count in range(81, 87):
            for name in first:
                requests = {
                    81: create(f"/w/{name}/mcp"),
                    82: create(f"/mcp?world={name}"),
                    83: create("/mcp", f"mcp-sim-world: {name}"),
                    84: create(world=name),
                    85: create(f"/w/{name}/mcp", padding=200_000),
                    86: create(world=name, padding=5_000, chunked=True),
                }
                assert wire.created(requests[count]) == f"deal_{count:04d}"


def test_many_connections_reach_their_worlds(several: Served) -> None:
    for count in (81, 82):
        for n in range(200):
            with Wire(several.port) as wire:
                assert wire.created(create(f"/w/many{n}/mcp")) == f"deal_{count:04d}"


def test_requests_that_are_sent_ahead_are_answered_in_their_order(several: Served) -> None:
    names = [next(of_worker(number, "ahead")) for number in range(WORKERS)]
    with Wire(several.port) as wire:
        wire.send(b"".join(create(f"/w/{name}/mcp") for name in names * 2))
        made = [created(json.loads(wire.receive()[2])) for _ in range(6)]
    assert made == ["deal_0081"] * 3 + ["deal_0082"] * 3


def test_after_a_request_sent_ahead_in_part_an_answer_announces_the_end(several: Served) -> None:
    """A client sends what was not answered again, on a new connection."""
    names = [next(of_worker(number, "cut")) for number in range(WORKERS)]
    requests = [create(f"/w/{name}/mcp") for name in names * 2]
    made, connections = list[str](), 0
    while len(made) < len(requests):
        connections += 1
        with Wire(several.port) as wire:
            wire.send(b"".join(requests[len(made) :])[:-40])
            is_open = True
            while is_open and len(made) < len(requests) - 1:
                _, headers, body = wire.receive()
                made.append(created(json.loads(body)))
                is_open = headers.get("connection") != "close"
            if len(made) == len(requests) - 1 and is_open:
                wire.send(requests[-1][-40:])
                made.append(created(json.loads(wire.receive()[2])))
            else:
                assert wire.is_closed()
    assert made == ["deal_0081"] * 3 + ["deal_0082"] * 3
    assert connections <= len(requests)


async def test_a_session_is_found_on_every_connection(several: Served) -> None:
    for _ in range(6):
        async with caller(f"{several.url}/mcp", ERAS[0]) as one:
            await one.call("create_deal", DEAL)
            for _ in range(4):
                async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
                    same = Caller(one.url, ERAS[0], client)
                    same.session = one.session
                    assert await deals(same) == 81
            assert (await one.leave()).status_code == 200
            assert (await one.post("tools/list")).status_code == 404


async def test_a_session_has_one_world(several: Served) -> None:
    async with caller(f"{several.url}/mcp", ERAS[0]) as one:
        for name in NAMES:
            answer = await one.call("create_deal", DEAL, {"mcp-sim/world": name})
            assert answer["error"]["code"] == -32602
    async with caller(f"{several.url}/mcp?world=bound", ERAS[0]) as one:
        await one.call("create_deal", DEAL)
        assert await deals(one, meta={"mcp-sim/world": "bound"}) == 81
        one.url = f"{several.url}/mcp"
        assert (await one.post("tools/list")).status_code == 404


@eras
async def test_worlds_of_tokens_and_without_a_name(several: Served, era: str) -> None:
    for token in ("red", "blue", "green"):
        headers = {"authorization": f"Bearer {token}"}
        for n in range(2):
            async with caller(f"{several.url}/mcp", era, headers=headers) as one:
                await one.call("create_deal", DEAL)
                number = await deals(one)
                assert number == (82 if era == ERAS[1] and n else 81)
    async with httpx2.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        assert (await client.get(f"{several.url}/health")).json() == {"status": "ok"}
        refused = await client.post(f"{several.url}/w/a/mcp", headers={"host": "evil.example"})
        assert refused.status_code == 421


# limits ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"no HTTP\r\n\r\n", 400),
        (b"POST /w/a/mcp HTTP/1.1\r\nx: " + b"x" * 70_000 + b"\r\n\r\n", 431),
        (create("/w/a/mcp", padding=5_000_000), 413),
        (create("/w/a/mcp", "host: localhost"), 400),
        (b"GET /w/../mcp HTTP/1.1\r\nhost: localhost\r\n\r\n", 404),
    ],
    ids=["no-http", "head", "body", "twice", "path"],
)
def test_what_one_worker_refuses_several_refuse(several: Served, sent: bytes, status: int) -> None:
    for _ in range(6):
        with Wire(several.port) as wire:
            wire.send(sent)
            assert wire.receive()[0] == status


async def test_limits_hold_in_each_worker() -> None:
    with listening("calm_crm", "--workers", str(WORKERS), "--max-worlds", "1", "--worlds", "declared",
                   "--world", "a", "--world", "b", "--world", "c", "--world", "d") as served:  # fmt: skip
        statuses = Counter[tuple[int, int]]()
        for name in ("a", "b", "c", "d", "unknown"):
            with Wire(served.port) as wire:
                wire.send(create(f"/w/{name}/mcp"))
                statuses[worker_of(name, WORKERS) if name != "unknown" else -1, wire.receive()[0]] += 1
    assert statuses[-1, 404] == 1
    owners = Counter(worker_of(name, WORKERS) for name in "abcd")
    assert {number: statuses[number, 200] for number in owners} == dict.fromkeys(owners, 1)
    assert {number: statuses[number, 503] for number in owners} == {n: count - 1 for n, count in owners.items()}


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (("--workers", "0"), "--workers must be between 1 and 64, not 0"),
        (("--workers", "2", "--control", "127.0.0.1:0"), "--control works with one worker only"),
        (("--workers", "2", "--report", "report.json"), "mcp-sim grade"),
        (("--workers", "2", "--trace", os.devnull), "with several workers the trace must be a file"),
    ],
)
def test_options_that_need_one_process_are_refused(
    capsys: pytest.CaptureFixture[str], options: tuple[str, ...], hint: str
) -> None:
    assert main(["serve", "calm_crm", "--http", "127.0.0.1:0", *options]) == 2
    assert hint in capsys.readouterr().err


def test_workers_need_http(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "calm_crm", "--workers", "2"]) == 2
    assert "--workers works over HTTP only" in capsys.readouterr().err


# ends -----------------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def under_load(served: Served, names: list[str], counts: dict[str, int]) -> AsyncGenerator[None]:
    """Create deals in each of these worlds, one after the other. A failure fails the test."""

    async def go_on(name: str) -> None:
        async with caller(f"{served.url}/w/{name}/mcp", ERAS[1]) as one:
            while True:
                counts[name] += 1
                assert created(await one.call("create_deal", DEAL)) == f"deal_{80 + counts[name]:04d}"

    async with anyio.create_task_group() as tasks:
        for name in names:
            counts[name] = 0
            tasks.start_soon(go_on, name)
        yield
        tasks.cancel_scope.cancel()


@linux
async def test_a_killed_worker_takes_only_its_own_worlds_along(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    with listening("calm_crm", "--workers", str(WORKERS), "--trace", str(trace), "--log-level", "error") as served:
        lost, later = list(of_worker(1))[:2]
        others = [name for number in (0, 2) for name in list(of_worker(number))[:3]]
        counts = dict[str, int]()
        with Wire(served.port) as wire:
            assert wire.created(create(f"/w/{lost}/mcp")) == "deal_0081"
        async with under_load(served, others, counts):
            victim = processes(served)[1]
            with Wire(served.port) as wire:
                assert wire.created(create(f"/w/{lost}/mcp")) == "deal_0082"
                os.kill(victim, signal.SIGKILL)
                assert wire.is_closed()
            async with caller(f"{served.url}/w/{later}/mcp", ERAS[1]) as one:
                assert created(await one.call("create_deal", DEAL)) == "deal_0081"
                one.url = f"{served.url}/w/{lost}/mcp"
                refused = await one.post("tools/list")
                assert (refused.status_code, refused.json()["error"]["code"]) == (503, -32603)
            before = dict(counts)
            with anyio.fail_after(PATIENCE):
                while any(counts[name] < before[name] + 5 for name in others):
                    await anyio.lowlevel.checkpoint()
        assert len(processes(served)) == WORKERS
        assert served.end() == 143
        assert any(f"worker 1 (process {victim}) was ended by SIGKILL" in line for line in served.log)
    entries = [json.loads(line) for line in trace.read_bytes().splitlines()[1:]]
    worlds = Counter(entry["world"] for entry in entries if entry["step"]["entry"] == "call")
    assert worlds[lost] == 2
    assert all(worlds[name] >= counts[name] - 1 for name in others)


@linux
def test_a_stopped_worker_is_replaced() -> None:
    with listening("calm_crm", "--workers", str(WORKERS), "--log-level", "error") as served:
        lost, later = list(of_worker(1))[:2]
        with Wire(served.port) as wire:
            assert wire.created(create(f"/w/{lost}/mcp")) == "deal_0081"
            victim = processes(served)[1]
            os.kill(victim, signal.SIGSTOP)
            assert wire.is_closed()
        with Wire(served.port) as wire:
            assert wire.created(create(f"/w/{later}/mcp")) == "deal_0081"
        assert victim not in processes(served)
        assert served.end() == 143
        assert any(f"worker 1 (process {victim}) was ended by SIGKILL" in line for line in served.log)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_running_calls_are_answered_before_the_end(tmp_path: Path, number: int, code: int) -> None:
    path = document(tmp_path, **SLOW, world={"records": {"deal": 3, "contact": 5}})
    with listening(path, "--workers", str(WORKERS)) as served:
        wires = [Wire(served.port) for _ in range(6)]
        for n, wire in enumerate(wires):
            wire.send(create(f"/w/end{n}/mcp"))
        while sum("create_deal" in line and line.startswith("end") for line in [*served.log]) < len(wires):
            os.sched_yield()
        assert served.end(number) == code
        assert [created(json.loads(wire.receive()[2])) for wire in wires] == ["deal_0004"] * len(wires)
        for wire in wires:
            wire.__exit__()


@linux
def test_a_second_signal_ends_all_at_once(tmp_path: Path) -> None:
    path = document(tmp_path, perturbations=[{"latency": "1h", "tools": "create_deal"}], world={"records": {}})
    with listening(path, "--workers", str(WORKERS), "--grace", "1h") as served, Wire(served.port) as wire:
        wire.send(create("/w/a/mcp"))
        while not any(line.startswith("a #2") for line in [*served.log]):
            os.sched_yield()
        served.process.send_signal(signal.SIGTERM)
        with suppress(OSError):
            while True:  # until the port is closed
                socket.create_connection(("127.0.0.1", served.port)).close()
        assert served.end(signal.SIGINT) == 143


@linux
def test_no_worker_outlives_its_parent() -> None:
    with listening("calm_crm", "--workers", str(WORKERS)) as served:
        with Wire(served.port) as wire:
            assert wire.created(create("/w/a/mcp")) == "deal_0081"
        assert len(processes(served)) == WORKERS
        assert served.end(signal.SIGKILL) == -9  # returns at the end of stderr, which the workers hold


def test_a_scenario_that_cannot_be_served_is_reported_once(tmp_path: Path) -> None:
    path = library(tmp_path, small("return 1"), ACT)
    command = [PYTHON, "-m", "mcp_sim", "serve", str(path), "--http", "127.0.0.1:0"]
    reports = list[str]()
    for workers in ("1", "3"):
        ended = subprocess.run([*command, "--workers", workers], stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
        assert ended.returncode == 1
        reports.append(ended.stderr.decode())
    assert "mcp-sim trust" in reports[0]
    assert reports[1] == reports[0]


# the trace ------------------------------------------------------------------------------------------------------------


def test_a_line_that_a_killed_worker_began_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    trace = SharedTrace(path, b'{"format":1}')
    trace.write(b'{"n":1}')
    with path.open("ab") as other:
        other.write(b'{"n":2}\n{"n":3')
    trace.write(b'{"n":4}')
    trace.close()
    assert path.read_bytes() == b'{"format":1}\n{"n":1}\n{"n":2}\n{"n":4}\n'
