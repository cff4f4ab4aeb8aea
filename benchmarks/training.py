"""Measure what trainers need: many seeds, many worlds, long runs, parallel rollouts, connections that drop.

    python benchmarks/training.py [seeds] [memory] [steps] [ledgers] [served] [dropped] [--quick]

    seeds     processor time of a world whose seed was used before, with 64 seeds in turn
    memory    memory of 10,000 worlds after twenty calls each, and of as many environments
    steps     memory of one process over 200,000 steps, in episodes of twenty calls
    ledgers   1,000 worlds with 100 calls each, in threads, against the same calls alone
    served    500 clients that begin new worlds together: the first call against later ones
    dropped   512 rollouts over HTTP that lose connections and repeat their calls: how many writes are made twice

`ledgers` and `dropped` fail if a ledger differs, or if a write is made twice or never.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from measuring import print_table
from wire import ERAS, Connection, start_server

from mcp_sim.training import Answer, Environment, ToolCall
from mcp_sim.training.actions import arguments_of
from mcp_sim.training.environment import shared_simulator
from mcp_sim.types.json_values import canonical

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


def resident() -> float:
    """Return the memory of this process in megabytes (Linux; 0 elsewhere)."""
    gc.collect()
    status = Path("/proc/self/statm")
    return int(status.read_text(encoding="ascii").split()[1]) * 4096 / 1e6 if status.exists() else 0.0


def begun(seed: int = 7, stream: str = "") -> Environment:
    environment = Environment(SCENARIO, max_calls=None)
    environment.reset(seed=seed, stream=stream)
    return environment


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
        before, kept = resident(), [make(stream=str(number)) for number in range(count)]
        all_kept.append(kept)  # else the next ones take the memory that these leave
        for world in kept:
            for call in CALLS * 4:
                if isinstance(world, Environment):
                    world.step(call)
                else:
                    world.call_sync(call.name, ARGUMENTS[call.name])
        size = f"{resident() - before:.0f} MB, {(resident() - before) / count * 1e3:.0f} kB each"
        rows.append((f"{count:,} {name} after 20 calls", size))
    return rows


def steps(quick: int) -> list[Row]:
    environment, sizes, count = begun(), list[float](), 200_000 // quick
    began = time.process_time()
    for tenth in range(10):
        for number in range(count // 10 // 20):
            environment.reset(seed=number % 16, stream=f"{tenth}/{number}")
            for call in CALLS * 4:
                environment.step(call)
            environment.step(Answer("Done."))
        sizes.append(resident())
    speed = count / (time.process_time() - began)
    grown = f"{sizes[1]:.0f} MB after a fifth, {sizes[-1]:.0f} MB in the end"
    return [(f"{count:,} steps", f"{grown}; {speed:,.0f} a CPU second")]


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
    differing = sum(one != other for one, other in zip(together, alone, strict=True))
    if differing:
        sys.exit(f"{differing} of {count} ledgers differ from those of the same calls alone")
    return [
        (f"{count:,} worlds with {calls} calls in {THREADS} threads", "all ledgers are those of the same calls alone")
    ]


def serving(scenario: str) -> list[str]:
    options = ["--http", "127.0.0.1:0", "--log-level", "error", "--clock", "virtual"]
    return [sys.executable, "-m", "mcp_sim", "serve", scenario, *options]


def served(quick: int) -> list[Row]:
    count, calls = 500 // quick, 12
    with start_server(serving("calm_crm")) as server:
        asyncio.run(_clients(server.port, "warm", 10, 3))
        taken = asyncio.run(_clients(server.port, "new", count, calls))
    first = statistics.median(row[0] for row in taken)
    later = statistics.median(seconds for row in taken for seconds in row[1:])
    return [
        (
            f"{count} new worlds together, first call",
            f"{first / later:.1f}x the median of later ones ({later * 1e3:.0f} ms)",
        )
    ]


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
    lost, wrong = sum(drops for drops, _ in results), sum(found != writes for _, found in results)
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
    "seeds": seeds, "memory": memory, "steps": steps, "ledgers": ledgers, "served": served, "dropped": dropped,
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what trainers need.")
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="a fiftieth of everything, to see that it runs")
    args = parser.parse_args()
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    for part in args.parts or PARTS:
        print_table(part, ("what", "measured"), PARTS[part](50 if args.quick else 1))


if __name__ == "__main__":
    main()
