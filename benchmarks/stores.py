"""Measure what a store costs, and kill servers with SIGKILL under load to see whether it keeps all calls.

    python benchmarks/stores.py cost [--quick]
    python benchmarks/stores.py kills [--trials 100] [--calls 300] [--seed 1]

`cost`: milliseconds per create, from the first calls to the last, with one process and two, as multiples of a plain
SQLite insert and commit in the same run: one line as long as a ledger entry, with the same journal and durability.

`kills`: a trial starts one or two `mcp-sim serve` processes over stdio with one store, sends calls without waiting for
answers, and kills each process at a random time, some of them while they start. Two processes share a trace or have one
each. The store and the traces go on through all trials. Counted are answered calls that the store lacks (lost), stored
calls that were not sent or are there twice (invented), traced lines that are not stored after a kill, and traces and
worlds that differ from the store after a restart. The exit code is 1 if there are any. Calls may crash
if nothing of them is stored but the crash; stderr shows their errors, and the progress.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import IO, Any, cast

from common.measuring import print_table, ratio

from mcp_sim import Simulator, World, __version__
from mcp_sim.cli.files import open_stored_trace
from mcp_sim.cli.terminal import Progress
from mcp_sim.simulator.persistence import StoreKeeper, identity
from mcp_sim.types.kinds import stores

CALLS = 1_500
ENDS = 100
WARMING = 20
LINE = b"x" * 900


async def measure_cost(*, quick: bool) -> None:
    calls = 30 if quick else CALLS
    ends = calls // 15 if quick else ENDS
    with TemporaryDirectory() as folder:
        reference = plain_inserts(Path(folder) / "plain.db", calls)
        rows = [_row("plain insert and commit", reference, ends, _median(reference))]
        for name, count in (("create, no store", 0), ("create, one process", 1), ("create, two in turns", 2)):
            seconds = await creates(Path(folder) / f"{count}.db", calls, count)
            rows.append(_row(name, seconds, ends, _median(reference)))
    head = [
        "milliseconds per call, median",
        f"first {ends}",
        f"last {ends}",
        "last / first",
        "longest",
        "of a plain insert",
    ]
    print_table(f"Calls with a store ({calls:,} creates in calm_crm)", head, rows)


def plain_inserts(path: Path, calls: int) -> list[float]:
    """Return the seconds of each insert and commit."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE entries (at INTEGER PRIMARY KEY, line BLOB NOT NULL)")
    seconds = list[float]()
    for at in range(calls):
        began = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO entries VALUES (?, ?)", (at, LINE))
        connection.execute("COMMIT")
        seconds.append(time.perf_counter() - began)
    connection.close()
    return seconds


async def creates(path: Path, calls: int, processes: int) -> list[float]:
    """Return the seconds of each create in a world without a store, or with one that some processes use in turns."""
    async with AsyncExitStack() as stack:
        worlds = [await stack.enter_async_context(opened(path, processes)) for _ in range(max(1, processes))]
        for n in range(WARMING * len(worlds)):
            await worlds[n % len(worlds)].call("create_deal", {"title": "Warm", "contact_id": "con_00001"})
        seconds = list[float]()
        for n in range(calls):
            deal: dict[str, Any] = {"title": f"Order {n}", "amount": n, "contact_id": "con_00001"}
            began = time.perf_counter()
            await worlds[n % len(worlds)].call("create_deal", deal)
            seconds.append(time.perf_counter() - began)
        return seconds


@asynccontextmanager
async def opened(path: Path, processes: int) -> AsyncGenerator[World]:
    """Yield a world as one process has it: with a connection to the store of its own."""
    async with Simulator(Simulator.load("calm_crm").scenario) as simulator:
        if not processes:
            yield simulator.world()
            return
        store = stores["sqlite"].model_validate({"path": path})
        with store.open(identity(simulator.scenario, None, "benchmark")) as connection:
            yield StoreKeeper(simulator, connection, "w").world(None, "virtual")


def _row(name: str, seconds: list[float], ends: int, reference: float) -> list[str]:
    first, last = _median(seconds[:ends]), _median(seconds[-ends:])
    milliseconds = [f"{1000 * value:.2f}" for value in (first, last)]
    return [name, *milliseconds, ratio(last, first), f"{1000 * max(seconds):.1f}", ratio(_median(seconds), reference)]


def _median(seconds: list[float]) -> float:
    return statistics.median(seconds)


WORLD = "w"
SETUPS = (("a.jsonl",), ("a.jsonl", "a.jsonl"), ("a.jsonl", "b.jsonl"))
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
LONGEST_START = 60.0
TRIALS_BETWEEN_LINES = 10


@dataclass
class Findings:
    """What was sent and answered so far, by title, and what was wrong."""

    sent: set[str] = field(default_factory=set[str])
    answered: set[str] = field(default_factory=set[str])
    kills: int = 0
    before_answers: int = 0
    lost: set[str] = field(default_factory=set[str])
    invented: set[str] = field(default_factory=set[str])
    only_traced: int = 0
    differing: int = 0
    repaired: int = 0
    """Traces that lacked entries or had a torn line after a kill."""
    crashes: list[str] = field(default_factory=list[str])
    """The errors of the crashes in the store: calls that were answered with an error and changed nothing."""

    @property
    def problems(self) -> int:
        return len(self.lost) + len(self.invented) + self.only_traced + self.differing


class Server:
    """A server process, which gets all its calls at once."""

    def __init__(self, folder: Path, trace: str, titles: list[str]) -> None:
        words = ["serve", "calm_crm", "--store", "worlds.db", "--world", WORLD, "--trace", trace]
        command = [sys.executable, "-m", "mcp_sim", *words, "--log-level", "error"]
        path = os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))
        pipe, log = subprocess.PIPE, (folder / "log").open("ab")
        environment = {**os.environ, "PYTHONPATH": path}
        self._process = subprocess.Popen(command, cwd=folder, env=environment, stdin=pipe, stdout=pipe, stderr=log)
        log.close()
        self.answered, self.has_answered = set[str](), Event()
        self._threads = [Thread(target=self._send, args=(titles,)), Thread(target=self._receive, args=(titles,))]
        for thread in self._threads:
            thread.start()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join()

    def _send(self, titles: list[str]) -> None:
        requests = (_request(number, title) for number, title in enumerate(titles))
        try:
            with cast("IO[bytes]", self._process.stdin) as stdin:
                stdin.write(b"".join(requests))
                stdin.flush()
                self._process.wait()
        except BrokenPipeError:
            return

    def _receive(self, titles: list[str]) -> None:
        for line in cast("IO[bytes]", self._process.stdout):
            if line.endswith(b"\n"):
                answer: dict[str, Any] = json.loads(line)
                number: int = answer["id"]
                if "result" in answer and not answer["result"].get("isError"):
                    self.answered.add(titles[number])
                    self.has_answered.set()
        self.has_answered.set()


def _request(number: int, title: str) -> bytes:
    arguments = {"title": title, "amount": number, "contact_id": "con_00001"}
    params = {"name": "create_deal", "arguments": arguments, "_meta": META}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n"


def run_trial(folder: Path, number: int, calls: int, draws: random.Random, findings: Findings) -> None:
    """Start servers, kill them, and check what they left."""
    setup = SETUPS[number % len(SETUPS)]
    servers = list[Server]()
    for place, trace in enumerate(setup):
        titles = [f"{number}-{place}-{n}" for n in range(calls)]
        findings.sent.update(titles)
        servers.append(Server(folder, trace, titles))
    if draws.random() < 0.15:
        time.sleep(draws.uniform(0, 1.5))
    else:
        for server in servers:
            server.has_answered.wait(LONGEST_START)
    for server in draws.sample(servers, len(servers)):
        time.sleep(draws.uniform(0, 0.8))
        server.kill()
        findings.kills += 1
        findings.before_answers += not server.answered
        findings.answered |= server.answered
    _check(folder, findings)


def _check(folder: Path, findings: Findings) -> None:
    """Compare store and traces, as they were left and after a restart."""
    path = folder / "worlds.db"
    if not path.exists():
        return
    stored, traces = _stored(path), sorted(folder.glob("*.jsonl"))
    for trace in traces:
        whole = trace.read_bytes().split(b"\n")
        findings.only_traced += len(set(whole[1:-1]) - set(stored))
        findings.repaired += whole[-1] != b"" or whole[1:-1] != stored
    gained = {asyncio.run(reopened(path, trace)) for trace in traces or [folder / SETUPS[0][0]]}
    stored = _stored(path)
    findings.differing += sum(trace.read_bytes().splitlines()[1:] != stored for trace in traces)
    calls = _calls(stored, findings)
    findings.differing += gained != {len(calls)}
    titles = Counter(calls)
    findings.lost |= findings.answered - titles.keys()
    findings.invented |= titles.keys() - findings.sent | {title for title, count in titles.items() if count > 1}


def _stored(path: Path) -> list[bytes]:
    """Return the lines in a store; none if the process was killed before it had made its tables."""
    with closing(sqlite3.connect(path)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'entries'").fetchall():
            return []
        return [line for (line,) in connection.execute("SELECT line FROM entries ORDER BY at")]


def _calls(stored: list[bytes], findings: Findings) -> list[str]:
    """Return the titles of the stored calls; the steps must be numbered without gaps. Crashes have no number."""
    entries: list[dict[str, Any]] = [json.loads(line) for line in stored]
    findings.crashes = [entry["crash"]["error"] for entry in entries if "crash" in entry]
    steps = [entry["step"] for entry in entries if "crash" not in entry]
    findings.differing += [step["n"] for step in steps] != list(range(1, len(steps) + 1))
    return [step["arguments"]["title"] for step in steps if step["entry"] == "call"]


async def reopened(path: Path, trace: Path) -> int:
    """Open the stored world, as a server does when it starts. Returns how many deals it has gained."""
    async with Simulator(Simulator.load("calm_crm").scenario) as simulator:
        store = stores["sqlite"].model_validate({"path": path})
        with (
            store.open(identity(simulator.scenario, None, __version__)) as opened,
            closing(open_stored_trace(trace, simulator.scenario, path, WORLD)) as written,
        ):
            world = StoreKeeper(simulator, opened, WORLD, written).world(None, "virtual")
            return world.view.count("deal") - simulator.base().count("deal")


def show(done: int, trials: int, findings: Findings) -> None:
    """Show on stderr what was counted so far: on a terminal in one line, else in a line for every ten trials."""
    text = f"trials, {findings.problems:,} problems"
    if sys.stderr.isatty():
        Progress(sys.stderr, trials).show(done, text)
    elif done % TRIALS_BETWEEN_LINES == 0 or done == trials:
        print(f"{done} of {trials} {text}, {len(findings.answered):,} calls answered", file=sys.stderr, flush=True)


def kill_servers(trials: int, calls: int, seed: int) -> int:
    draws, findings = random.Random(seed), Findings()
    with TemporaryDirectory() as name:
        for number in range(trials):
            run_trial(Path(name), number, calls, draws, findings)
            show(number + 1, trials, findings)
        Progress(sys.stderr, trials).clear()
        log = (Path(name) / "log").read_text(encoding="utf-8")
    rows: list[tuple[str, int]] = [
        ("calls sent", len(findings.sent)),
        ("calls answered", len(findings.answered)),
        ("processes killed", findings.kills),
        ("of these before any answer", findings.before_answers),
        ("traces completed or repaired after a kill", findings.repaired),
        ("answered calls lost", len(findings.lost)),
        ("calls invented", len(findings.invented)),
        ("lines traced and not stored", findings.only_traced),
        ("traces or worlds unlike the store after a restart", findings.differing),
        ("calls that crashed", len(findings.crashes)),
    ]
    print_table(f"{trials} trials", ["counted", "number"], [[what, f"{number:,}"] for what, number in rows])
    for error, count in Counter(findings.crashes).items():
        print(f"{count} x {error}", file=sys.stderr)
    if log:
        print(log, file=sys.stderr)
    return 1 if findings.problems else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("cost", "kills"))
    parser.add_argument("--quick", action="store_true", help="cost: 30 calls")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--calls", type=int, default=300, help="kills: calls sent to each process")
    parser.add_argument("--seed", type=int, default=1, help="kills: of the random times")
    options = parser.parse_args()
    if options.what == "kills":
        sys.exit(kill_servers(options.trials, options.calls, options.seed))
    asyncio.run(measure_cost(quick=options.quick))
