"""Worlds under load: a flooded world does not keep others waiting, and long calls do not either."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack
from functools import partial
from itertools import pairwise
from typing import Any

import anyio
import pytest
from support.matched_tools import result
from support.over_http import listening

from mcp_sim import Simulator
from mcp_sim.server.connections import PIECE, ROUND, Rations
from mcp_sim.server.listening import bind, serving
from mcp_sim.server.turns import MOST_AT_WORK, MOST_NEWCOMERS_AT_WORK, NEWCOMERS, Turn, Turns


@pytest.mark.parametrize("rounds", [0, 1])
async def test_a_world_that_asks_once_comes_before_the_rest_of_a_flood(rounds: int) -> None:
    """A request takes some rounds of the loop; most end in the round in which they begin."""
    turns, order = Turns(), list[str]()

    async def work(world: str) -> None:
        turn = await turns.next(world)
        order.append(world)
        for _ in range(rounds):
            await asyncio.sleep(0)
        turn.end()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for _ in range(20 * MOST_AT_WORK):
                tasks.start_soon(work, "flooded")
            await asyncio.sleep(0)
            tasks.start_soon(work, "quiet")
    assert order.index("quiet") < 4 * MOST_AT_WORK
    assert len(order) == 20 * MOST_AT_WORK + 1


async def test_a_request_comes_before_those_of_a_flood_in_many_worlds() -> None:
    turns, order = Turns(), list[str]()

    async def work(world: str, *, is_patient: bool) -> None:
        turn = await turns.next(world, is_patient=is_patient)
        order.append(world)
        turn.end()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for number in range(20 * MOST_AT_WORK):
                tasks.start_soon(partial(work, f"flooded {number}", is_patient=True))
            await asyncio.sleep(0)
            tasks.start_soon(partial(work, "quiet", is_patient=False))
    assert order.index("quiet") < 4 * MOST_AT_WORK
    assert len(order) == 20 * MOST_AT_WORK + 1


async def test_at_most_one_long_request_begins_in_a_round() -> None:
    turns, rounds = Turns(), [0]

    async def work() -> None:
        await turns.await_round()
        rounds[-1] += 1

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for _ in range(40):
                tasks.start_soon(work)
            while sum(rounds) < 40:
                rounds.append(0)
                await asyncio.sleep(0)
    assert max(rounds) == 1


async def test_a_known_world_comes_before_most_of_many_new_ones_and_they_are_served_meanwhile() -> None:
    turns, order = Turns(), list[str]()

    async def work(flow: str, times: int) -> None:
        for _ in range(times):
            turn = await turns.next(flow)
            order.append(flow)
            await asyncio.sleep(0)
            turn.end()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for _ in range(40 * MOST_AT_WORK):
                tasks.start_soon(work, NEWCOMERS, 1)
            await asyncio.sleep(0)
            tasks.start_soon(work, "known", 3)
    known = [at for at, flow in enumerate(order) if flow == "known"]
    assert len(known) == 3
    assert all(later - before < 4 * MOST_AT_WORK for before, later in pairwise([0, *known]))
    assert order[known[0] : known[-1]].count(NEWCOMERS) >= 2


async def test_large_requests_are_parsed_a_little_in_each_round_of_the_loop() -> None:
    rations, parsed, size = Rations(), list[int](), ROUND // 4

    def parse(number: int) -> int:
        parsed.append(number)
        if parsed.count(number) < 3:
            rations.add(partial(parse, number))
        return size

    for number in range(6):
        rations.add(partial(parse, number))
    counts = list[int]()
    while not counts or counts[-1] < 18:
        await asyncio.sleep(0)
        counts.append(len(parsed))
        assert len(counts) < 60
    assert all(later - before <= 4 for before, later in pairwise([0, *counts]))
    assert parsed == [*range(6)] * 3


async def test_of_large_requests_that_arrive_together_only_some_are_begun_in_a_round_of_the_loop() -> None:
    begun, ended = [0], anyio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        begun[-1] += 1
        if sum(begun) == 64:
            ended.set()

    request = b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n%b" % (2 * PIECE, bytes(2 * PIECE))
    listener = bind("127.0.0.1", 0)
    with anyio.fail_after(60), ExitStack() as stack:
        for _ in range(64):
            client = stack.enter_context(socket.create_connection(listener.getsockname()))
            client.sendall(request)
        async with serving(app, listener, lambda: None, 0, 60):
            while not ended.is_set():
                begun.append(0)
                await asyncio.sleep(0)
    assert max(begun) <= ROUND // PIECE


async def test_newcomers_leave_most_turns_to_worlds_that_exist() -> None:
    turns, begun = Turns(), list[Turn]()

    async def come() -> None:
        begun.append(await turns.next(NEWCOMERS))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for _ in range(2 * MOST_AT_WORK):
                tasks.start_soon(come)
            await asyncio.sleep(0)
            await turns.next("known")
            assert len(begun) == MOST_NEWCOMERS_AT_WORK
            for turn in begun:  # each lets the next one begin
                turn.end()
                await asyncio.sleep(0)
                await asyncio.sleep(0)
    assert len(begun) == 2 * MOST_AT_WORK


async def test_requests_that_wait_for_something_do_not_hold_up_others() -> None:
    turns = Turns()
    with anyio.fail_after(60):
        for number in range(2 * MOST_AT_WORK):
            await turns.next(f"waits {number}")


async def test_a_request_that_is_cancelled_while_it_waits_frees_its_turn() -> None:
    turns = Turns()
    held = [await turns.next("a") for _ in range(MOST_AT_WORK)]
    with anyio.move_on_after(0):
        await turns.next("b")
    for turn in held:
        turn.end()
    with anyio.fail_after(60):
        for _ in range(MOST_AT_WORK):
            await turns.next("c")


async def test_a_long_statement_lets_another_world_go_on() -> None:
    join = "SELECT count(*) FROM sales a, sales b, sales c, sales d, sales e, sales f, sales g, sales h WHERE a.id = -1"
    async with Simulator.load("calm_sqlite") as sim:
        attacked, quiet, order = sim.world("attacked"), sim.world("quiet"), list[str]()

        async def attack() -> None:
            answer = result(await attacked.call("read_query", {"query": f"{join} OR h.id < 0"}))
            assert "steps" in str(answer.value)
            order.append("attack")

        await quiet.call("append_insight", {"insight": "first"})
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(attack)
            await asyncio.sleep(0)
            await quiet.call("append_insight", {"insight": "second"})
            order.append("quiet")
        assert order == ["quiet", "attack"]


def test_requests_that_are_sent_ahead_are_all_answered_in_order() -> None:
    ping = b"GET /health HTTP/1.1\r\nhost: localhost\r\nx: %b\r\n\r\n" % (b"x" * 500)
    lost = b"GET /w/a/lost HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with listening("calm_crm") as served, socket.create_connection(("127.0.0.1", served.port), timeout=60) as one:
        one.sendall((ping + lost) * 60 + b"nonsense\r\n\r\n")
        received = b""
        while piece := one.recv(65536):
            received += piece
    statuses = [part[:3] for part in received.split(b"HTTP/1.1 ")[1:]]
    assert statuses[:120] == [b"200", b"404"] * 60
    assert statuses[120:] in ([], [b"400"])
