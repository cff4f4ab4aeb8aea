"""Measure many worlds, as trainers need them: time, memory, long runs, parallel rollouts, dropped connections.

    python benchmarks/worlds.py [forks] [seeds] [first] [memory] [steps] [ledgers] [served] [dropped] [--quick]

    forks     a fork of a world with 100,000 records, beside a copy of a dict of them, and another world of its seed
    seeds     processor time of a world whose seed was used before, with 64 seeds in turn
    first     the first call in each of 500 new worlds, against later ones, in process
    memory    memory of 10,000 worlds after twenty calls each, with a fork of each, and of as many environments
    steps     memory of one process over 1,000,000 steps, in episodes of twenty calls, after each tenth
    ledgers   1,000 worlds with 100 calls each, in threads, against the same calls alone
    served    500 and 2,000 clients that begin new worlds together: the first call, with and without a fault
    dropped   512 rollouts over HTTP that lose connections and repeat their calls: how many writes are made twice

`ledgers`, `served` and `dropped` fail if a ledger differs, a request is refused, or a write is made twice or never.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from hashlib import sha256
from random import Random
from typing import Any

from common.measuring import micro, parser_of, print_table, ratio, resident_bytes
from common.wire import ERAS, Connection, start_server

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.training import Answer, Environment, ToolCall
from mcp_sim.training.actions import arguments_of
from mcp_sim.training.environment import shared_simulator
from mcp_sim.types.json_values import canonical
from mcp_sim.types.scenario import GivenRecords
from mcp_sim.world.world import World

Row = tuple[str, str]
DEAL = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
CALLS = [
    ToolCall("create_deal", DEAL),
    ToolCall("list_deals", {"contact_id": "con_00001"}),
    ToolCall("get_deal", {"deal_id": "deal_0001"}),
    ToolCall("update_deal", {"deal_id": "deal_0001", "stage": "proposal"}),
    ToolCall("search_contacts", {"query": "ada"}),
]
ARGUMENTS = {call.name: arguments_of(call) for call in CALLS}
SCENARIO = "flaky_crm"
THREADS = 8
IDEMPOTENCY = "mcp-sim/idempotency"


def begun(seed: int = 7, stream: str = "") -> Environment:
    environment = Environment(SCENARIO, max_calls=None)
    environment.reset(seed=seed, stream=stream)
    return environment


def forks(quick: int) -> list[Row]:
    calm = load("calm_crm")
    contacts = replace(calm, records={**calm.records, "contact": GivenRecords(100_000 // quick)})
    simulator = Simulator(contacts, ledger_keep=10)
    asyncio.run(simulator.start())
    world = simulator.world()
    world.call_sync("update_contact", {"contact_id": "con_00001", "job_title": "Buyer"})
    table = dict(world.view.rows("contact"))
    fork, other, copy = median(world.fork), median(simulator.world), median(lambda: dict(table))
    return [
        (f"a fork of a world of {len(table):,} contacts", f"{micro(fork)} us, {ratio(fork, copy)} of a copied dict"),
        ("another world of the same seed", f"{micro(other)} us"),
    ]


def median(action: Callable[[], object], times: int = 50) -> float:
    """Return the median seconds of an action."""
    spans = list[float]()
    for _ in range(times):
        began = time.perf_counter()
        action()
        spans.append(time.perf_counter() - began)
    return statistics.median(spans)


def first(quick: int) -> list[Row]:
    simulator = Simulator.load("calm_crm")
    asyncio.run(simulator.start())
    worlds = [simulator.world(f"w{number}") for number in range(500 // quick)]
    new, *_, later = (statistics.median(map(get_seconds, worlds)) for _ in range(3))
    return [(f"a get in each of {len(worlds)} new worlds", f"{micro(new)} us, {ratio(new, later)} of a later one")]


def get_seconds(world: World) -> float:
    """Return the processor seconds of one get."""
    began = time.thread_time()
    world.call_sync("get_contact", {"contact_id": "con_00001"})
    return time.thread_time() - began


def seeds(quick: int) -> list[Row]:
    environment, rows = begun(), list[Row]()
    for name in ("first round", "second round"):
        began = time.process_time()
        for seed in range(64):
            environment.reset(seed=1000 + seed)
            environment.step(CALLS[2])
        rows.append(
            (f"a world of 64 seeds in turn, {name}", f"{(time.process_time() - began) / 64 * 1e3:.2f} ms of CPU")
        )
    return rows


def memory(quick: int) -> list[Row]:
    count, rows, all_kept = 10_000 // quick, list[Row](), list[Any]()
    simulator = shared_simulator(SCENARIO)
    begun().step(CALLS[1])
    for name, make in (("worlds", simulator.world), ("environments", begun)):
        before, kept = resident_bytes(), [make(stream=str(number)) for number in range(count)]
        all_kept.append(kept)  # else the next ones take the memory that these leave
        for world in kept:
            for call in CALLS * 4:
                if isinstance(world, Environment):
                    world.step(call)
                else:
                    world.call_sync(call.name, ARGUMENTS[call.name])
        rows.append((f"{count:,} {name} after 20 calls", size_of(before, count)))
    before = resident_bytes()
    all_kept.append([world.fork() for world in all_kept[0]])
    return [*rows, (f"{count:,} forks of these worlds", size_of(before, count))]


def size_of(before: int, count: int) -> str:
    """Render by how much the memory has grown since it had the size `before`, in all and for each of `count`."""
    grown = resident_bytes() - before
    return f"{grown / 1e6:.0f} MB, {grown / count / 1e3:.1f} kB each"


def steps(quick: int) -> list[Row]:
    environment, sizes, count = begun(), list[float](), 1_000_000 // quick
    began = time.process_time()
    for tenth in range(10):
        for number in range(count // 10 // 20):
            environment.reset(seed=number % 16, stream=f"{tenth}/{number}")
            for call in CALLS * 4:
                environment.step(call)
            environment.step(Answer("Done."))
        sizes.append(resident_bytes() / 1e6)
    speed = count / (time.process_time() - began)
    tenths = [(f"memory after {tenth} tenths", f"{size:.0f} MB") for tenth, size in enumerate(sizes, 1)]
    return [(f"{count:,} steps", f"{speed:,.0f} a CPU second"), *tenths]


def episode(number: int, calls: int) -> str:
    """Return the hash of the ledger of one episode, whose turns are of several calls."""
    draws, environment = Random(number), begun(number % 16, str(number))
    for _ in range(calls // 5):
        environment.step(draws.sample(CALLS, 5))
    return sha256(canonical(environment.world.ledger.steps).encode()).hexdigest()


def ledgers(quick: int) -> list[Row]:
    count, calls = 1000 // quick, 100
    with ThreadPoolExecutor(THREADS) as pool:
        together = list(pool.map(partial(episode, calls=calls), range(count)))
    alone = [episode(number, calls) for number in range(count)]
    differing = sum(ledger != other for ledger, other in zip(together, alone, strict=True))
    if differing:
        sys.exit(f"{differing} of {count} ledgers differ from those of the same calls alone")
    return [
        (f"{count:,} worlds with {calls} calls in {THREADS} threads", "all ledgers are those of the same calls alone")
    ]


def serving(scenario: str) -> list[str]:
    options = ["--http", "127.0.0.1:0", "--log-level", "error", "--clock", "virtual"]
    return [sys.executable, "-m", "mcp_sim", "serve", scenario, *options]


def served(quick: int) -> list[Row]:
    rows = list[Row]()
    for scenario, fault, count, calls in (
        ("calm_crm", "", 500, 12),
        ("flaky_crm", " with a fault", 500, 12),  # its first deal is created, and the answer is lost
        ("flaky_crm", " with a fault", 2000, 5),
    ):
        with start_server(serving(scenario)) as server:
            asyncio.run(_clients(server.port, "warm", 10, 3))
            taken = asyncio.run(_clients(server.port, "new", count // quick, calls))
        first = statistics.median(row[0] for row in taken)
        later = statistics.median(seconds for row in taken for seconds in row[1:])
        times = f"{first / later:.1f}x the median of later ones ({later * 1e3:.0f} ms)"
        rows.append((f"{len(taken):,} new worlds together, first call{fault}", times))
    return rows


async def _clients(port: int, name: str, count: int, calls: int) -> list[list[float]]:
    return await asyncio.gather(*(_client(port, f"/w/{name}{number}/mcp", calls) for number in range(count)))


async def _client(port: int, path: str, calls: int) -> list[float]:
    connection, taken = Connection(port, path, ERAS[1]), list[float]()
    await connection.open()
    for number in range(calls):
        call = CALLS[number % len(CALLS)]
        began = time.perf_counter()
        await connection.exchange(connection.encode_call(call.name, ARGUMENTS[call.name]))
        taken.append(time.perf_counter() - began)
    await connection.close()
    return taken


def dropped(quick: int) -> list[Row]:
    count, writes = 512 // quick, 4
    with start_server(serving("calm_crm")) as server:
        results = asyncio.run(_rollouts(server.port, count, writes))
    lost, wrong = sum(drops for drops, _ in results), sum(deals != writes for _, deals in results)
    if wrong:
        sys.exit(f"{wrong} of {count} rollouts have not exactly {writes} deals")
    return [(f"{count} rollouts, {lost} dropped connections", f"each has exactly its {writes} deals")]


async def _rollouts(port: int, count: int, writes: int) -> list[tuple[int, int]]:
    limit = asyncio.Semaphore(128)

    async def limited(number: int) -> tuple[int, int]:
        async with limit:
            return await _rollout(port, number, writes)

    return await asyncio.gather(*map(limited, range(count)))


async def _rollout(port: int, number: int, writes: int) -> tuple[int, int]:
    """Make writes, and repeat each until its answer arrives. Return the dropped connections and the deals."""
    draws, path, drops = Random(number), f"/w/rollout{number}/mcp", 0
    for write in range(writes):
        params = {"name": "create_deal", "arguments": DEAL, "_meta": {IDEMPOTENCY: f"{number}/{write}"}}
        while True:
            connection = Connection(port, path, ERAS[1])
            await connection.open()
            request = connection.encode_request("tools/call", params)
            if draws.random() < 0.5:
                # The request is sent as a whole or in part, and its answer is never read.
                await connection.send_and_drain(
                    request[: draws.choice((len(request), len(request), len(request) // 2))]
                )
                await asyncio.sleep(draws.random() / 100)
                connection.abort()
                drops += 1
                continue
            await connection.exchange(request)
            await connection.close()
            break
    connection = Connection(port, path, ERAS[1])
    await connection.open()
    body = await connection.exchange(connection.encode_call("list_deals", {"contact_id": "con_00001", "limit": 50}))
    await connection.close()
    deals = json.loads(json.loads(body)["result"]["content"][0]["text"])["deals"]
    return drops, sum(deal["title"] == DEAL["title"] for deal in deals)


PARTS: Mapping[str, Callable[[int], list[Row]]] = {
    "forks": forks, "seeds": seeds, "first": first, "memory": memory,
    "steps": steps, "ledgers": ledgers, "served": served, "dropped": dropped,
}  # fmt: skip


if __name__ == "__main__":
    options = parser_of(__doc__, PARTS).parse_args()
    for part in options.parts:
        print_table(part, ("what", "measured"), PARTS[part](50 if options.quick else 1))
