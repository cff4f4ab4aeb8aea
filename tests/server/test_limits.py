"""Limits of `mcp-sim serve --http` for clients that hold resources, and its reports of failures."""

from __future__ import annotations

import json
import logging
import os
import re
import select
import socket
import sys
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from support.over_http import ERAS, META, Caller, Served, caller, listening

from mcp_sim import Simulator
from mcp_sim.server.access import Access, access
from mcp_sim.server.call_log import LogLines
from mcp_sim.server.connections import MOST_UNREAD
from mcp_sim.server.http import HttpServer, Limits
from mcp_sim.server.worlds import Worlds

DEAL: dict[str, Any] = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
MEGABYTE = 1_000_000
eras = pytest.mark.parametrize("era", ERAS)
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc, and at how Linux tells of a reset")


async def total(one: Caller) -> int:
    """Return the number of deals that a client sees."""
    answer = await one.call("list_deals", {"limit": 1})
    return answer["result"]["structuredContent"]["total"]


# sessions -------------------------------------------------------------------------------------------------------------


async def test_abandoned_sessions_are_bounded_and_make_room_again() -> None:
    with listening("calm_crm", "--max-sessions", "5", "--session-idle", "1s") as served:
        statuses = list[int]()

        async def abandon(n: int) -> None:
            async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
                one = Caller(f"{served.url}/w/{n}/mcp", ERAS[0], client)
                answer = await one.post("initialize", {"protocolVersion": ERAS[0], "capabilities": {}})
                statuses.append(answer.status_code)
                if answer.status_code != 200:
                    assert answer.json()["error"]["message"] == "Too many open sessions"

        async with anyio.create_task_group() as tasks:
            for n in range(60):
                tasks.start_soon(abandon, n)
            async with caller(f"{served.url}/w/modern/mcp", ERAS[1]) as modern:
                assert await total(modern) == 80
        assert set(statuses) == {200, 503}
        statuses.clear()
        while 200 not in statuses:
            await abandon(0)


# answers that are not read --------------------------------------------------------------------------------------------


def long_winded(folder: Path) -> str:
    """Return a scenario in which a contact has 6 MB: as text and as value."""
    row = {"id": "con_00001", "job_title": "x" * 3 * MEGABYTE}
    records = {"contact": {"count": 5, "rows": [row]}, "deal": 80}
    return document(folder, world={"records": records})


def document(folder: Path, **parts: Any) -> str:
    path = folder / "odd.json"
    path.write_text(json.dumps({"mcp_sim": 1, "name": "odd", "tools": "crm", **parts}), encoding="utf-8")
    return str(path)


def asking(tool: str, arguments: dict[str, Any]) -> bytes:
    """Return the bytes of a request of the modern era, in the world `slow`."""
    envelope: dict[str, Any] = {META + "protocolVersion": ERAS[1], META + "clientCapabilities": {}}
    params: dict[str, Any] = {"name": tool, "arguments": arguments, "_meta": envelope}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    head = f"mcp-protocol-version: {ERAS[1]}\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\n"
    kinds = f"accept: */*\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
    return f"POST /w/slow/mcp HTTP/1.1\r\nhost: localhost\r\n{head}{kinds}".encode() + body


GET_CONTACT = asking("get_contact", {"contact_id": "con_00001"})


@contextmanager
def unreading(served: Served) -> Generator[socket.socket]:
    """Yield a connection with a tiny receive buffer."""
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(30)
        connection.connect(("127.0.0.1", served.port))
        yield connection


def is_cut(connection: socket.socket, milliseconds: int) -> bool:
    """Is the connection reset, within so long? Nothing of it is read."""
    poll = select.poll()
    poll.register(connection, select.POLLERR)
    return bool(poll.poll(milliseconds))


@linux
@pytest.mark.parametrize("requests", [1, 3])
async def test_a_client_that_does_not_read_is_cut_off_and_no_other_is_harmed(tmp_path: Path, requests: int) -> None:
    with listening(long_winded(tmp_path), "--unread", "200ms", "--log-level", "warning") as served:
        async with caller(f"{served.url}/w/slow/mcp", ERAS[1]) as same, caller(f"{served.url}/w/b/mcp", ERAS[0]) as b:
            with unreading(served) as connection:
                connection.sendall(GET_CONTACT * requests)
                assert (await total(same), await total(b)) == (80, 80)
                assert is_cut(connection, 30_000)
            assert (await total(same), await total(b)) == (80, 80)
        assert served.end() == 143


@linux
async def test_unread_answers_together_hold_little_memory(tmp_path: Path) -> None:
    with (
        listening(long_winded(tmp_path), "--ledger-keep", "1", "--log-level", "warning") as served,
        ExitStack() as open_,
    ):
        connections = [open_.enter_context(unreading(served)) for _ in range(140)]
        for connection in connections:
            connection.sendall(GET_CONTACT)
        assert is_cut(connections[0], 60_000)
        async with caller(f"{served.url}/w/slow/mcp", ERAS[1]) as one:
            assert await total(one) == 80
        assert not is_cut(connections[-1], 0)
        most = MOST_UNREAD // (6 * MEGABYTE) + 1  # all of them together are 840 MB
        for _ in range(1_000):
            if sum(not is_cut(one, 0) for one in connections) <= most:
                break
            assert not is_cut(connections[-1], 50)
        assert 1 <= sum(not is_cut(one, 0) for one in connections) <= most


# what worlds hold -----------------------------------------------------------------------------------------------------


@eras
async def test_a_world_that_grows_beyond_its_share_is_refused_and_the_others_go_on(era: str) -> None:
    with listening("calm_crm", "--max-megabytes", "20", "--log-level", "warning") as served:
        async with caller(f"{served.url}/w/large/mcp", era) as large, caller(f"{served.url}/w/small/mcp", era) as small:
            assert await total(small) == 80
            company = {"name": "Wielhuis", "website": "https://wielhuis.example/" + "x" * 3 * MEGABYTE}
            refused = None
            for _ in range(20):
                answer = await large.post("tools/call", {"name": "create_company", "arguments": company})
                if answer.status_code != 200:
                    refused = answer
                    break
            assert refused is not None
            assert refused.status_code == 503
            assert refused.json()["error"]["message"] == "There is no room for more in this world"
            assert await total(small) == 80
            async with caller(f"{served.url}/w/new/mcp", era) as new:
                assert await total(new) == 80


async def test_a_world_weighs_what_it_has_written_and_not_what_it_wrote_over() -> None:
    async with Simulator.load("calm_crm").open() as world:

        async def size(tool: str, **arguments: Any) -> int:
            await world.call(tool, arguments)
            return world.view.size

        first = await size("update_contact", contact_id="con_00001", job_title="Buyer")
        assert 0 < first < 1000
        assert await size("update_contact", contact_id="con_00001", job_title="Baker") == first
        assert await size("create_contact", name="Ada", email="ada@vos.example") > first
        assert await size("delete_contact", contact_id="con_00201") == first
        assert world.fork().size >= world.view.size


# the end --------------------------------------------------------------------------------------------------------------


@eras
async def test_a_call_that_outlasts_the_grace_period_is_answered_without_its_delay(tmp_path: Path, era: str) -> None:
    path = document(tmp_path, perturbations=[{"latency": "1h", "tools": "create_deal"}])
    with listening(path, "--grace", "200ms") as served:
        received = list[httpx2.Response]()
        async with caller(f"{served.url}/w/a/mcp", era) as one, caller(f"{served.url}/w/a/mcp", era) as other:

            async def call() -> None:
                received.append(await one.post("tools/call", {"name": "create_deal", "arguments": DEAL}))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                while await total(other) < 21:
                    await anyio.lowlevel.checkpoint()
                assert await anyio.to_thread.run_sync(served.end) == 143
        assert (received[0].status_code, deal_of(received[0])) == (200, "Spring order")
        assert not any("ERROR" in line or "Traceback" in line for line in served.log)


def deal_of(answer: httpx2.Response) -> str:
    return answer.json()["result"]["structuredContent"]["title"]


@eras
async def test_a_call_that_has_not_begun_when_the_grace_period_ends_is_refused_and_changes_nothing(era: str) -> None:
    async with in_process(Limits(grace=0.01)) as (server, worlds, client):
        one, received = Caller("http://127.0.0.1/w/a/mcp", era, client), list[httpx2.Response]()
        if not one.is_modern:
            await one.shake_hands()
        await total(one)
        world = worlds.get("a")

        async def call() -> None:
            received.append(await one.post("tools/call", {"name": "create_deal", "arguments": DEAL}))

        with anyio.fail_after(60):
            async with world.lock, anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                while not world.lock.statistics().tasks_waiting:
                    await anyio.lowlevel.checkpoint()
                server.leave()
        assert (received[0].status_code, received[0].json()["error"]["message"]) == (503, "The server is shutting down")
        assert world.view.count("deal") == 80


# failures of the server -----------------------------------------------------------------------------------------------


class Broken(Access):
    """Rules that are broken themselves."""

    def is_host(self, host: bytes | None) -> bool:
        raise ValueError("the secret of\nthe vault")


async def test_a_bug_is_one_line_for_the_operator_and_nothing_for_the_client() -> None:
    reading, writing = os.pipe()
    lines = LogLines(writing)
    logging.getLogger("mcp_sim").addHandler(lines)
    try:
        answer = await answered_by(Broken(frozenset(), {}))
    finally:
        logging.getLogger("mcp_sim").removeHandler(lines)
        os.close(writing)
    assert answer.status_code == 500
    assert answer.json() == {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "Internal error"}}
    with os.fdopen(reading, encoding="utf-8") as pipe:
        (line,) = pipe.read().splitlines()
    assert line.startswith("ERROR mcp_sim.server.http: a request failed: POST /w/a/mcp: ValueError: the secret of")
    assert re.search(r"test_limits\.py:\d+\)$", line)


@asynccontextmanager
async def in_process(
    limits: Limits, rules: Access | None = None
) -> AsyncGenerator[tuple[HttpServer, Worlds, httpx2.AsyncClient]]:
    """Yield a server, its worlds and a client, all in this process."""
    async with Simulator.load("calm_crm") as simulator:
        worlds = Worlds(partial(simulator.world, clock="virtual"), 10)
        rules = access("127.0.0.1", [], None, {}) if rules is None else rules
        server = HttpServer(simulator.scenario, worlds, rules, limits, lambda: None)
        async with server.open() as app, httpx2.AsyncClient(transport=httpx2.ASGITransport(app)) as client:  # pyright: ignore[reportArgumentType] (an ASGI application, whose messages are plain mappings)
            yield server, worlds, client


async def answered_by(rules: Access) -> httpx2.Response:
    """What a server with these rules answers to a request."""
    async with in_process(Limits(), rules) as (_, _, client):
        return await client.post("http://127.0.0.1/w/a/mcp", content=b"{}")


async def test_without_failures_nothing_is_logged() -> None:
    assert (await answered_by(access("127.0.0.1", [], None, {}))).status_code == 400
