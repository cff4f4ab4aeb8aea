"""`mcp-sim serve --http` as a process: whose world a request is, faults on the way, limits, and how it ends."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from over_http import ERAS, HERE, META, Caller, Served, caller, listening
from telltale import TOKEN, assert_nothing_is_told, telltale_scenario, telltale_tokens

from mcp_sim import Simulator
from mcp_sim.server.call_log import LogLines

DEAL: dict[str, Any] = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
WORLDS = 200
eras = pytest.mark.parametrize("era", ERAS)


@pytest.fixture(scope="module")
def calm() -> Generator[Served]:
    with listening("calm_crm") as served:
        yield served


def document(folder: Path, **parts: Any) -> str:
    path = folder / "odd.yaml"
    path.write_text(json.dumps({"mcp_sim": 1, "name": "odd", "tools": "crm", "seed": 7, **parts}), encoding="utf-8")
    return str(path)


def created(answer: dict[str, Any]) -> str:
    """The id of the deal that a call made."""
    return answer["result"]["structuredContent"]["id"]


async def deals(one: Caller, **given: Any) -> int:
    """How many deals there are in the world that a client's calls go to."""
    answer = await one.call("list_deals", {"limit": 1}, **given)
    return answer["result"]["structuredContent"]["total"]


# whose world ----------------------------------------------------------------------------------------------------------


@eras
async def test_each_path_is_a_world_of_its_own(calm: Served, era: str) -> None:
    async with caller(f"{calm.url}/w/path-{era}/mcp", era) as one, caller(f"{calm.url}/w/other-{era}/mcp", era) as two:
        assert created(await one.call("create_deal", DEAL)) == "deal_0081"
        assert created(await one.call("create_deal", DEAL)) == "deal_0082"
        assert created(await two.call("create_deal", DEAL)) == "deal_0081"


async def test_both_eras_meet_in_one_world(calm: Served) -> None:
    async with caller(f"{calm.url}/w/met/mcp", ERAS[0]) as old, caller(f"{calm.url}/w/met/mcp", ERAS[1]) as new:
        await old.call("create_deal", DEAL)
        assert await deals(new) == 81


@eras
@pytest.mark.parametrize("key", ["meta", "query", "header"])
async def test_an_explicit_key_must_agree_with_the_path(calm: Served, era: str, key: str) -> None:
    for name, is_refused in (("mine", False), ("yours", True)):
        url = f"{calm.url}/w/mine/mcp{f'?world={name}' if key == 'query' else ''}"
        async with caller(url, era) as one:
            meta = {"mcp-sim/world": name} if key == "meta" else None
            headers = {"mcp_sim_world": name} if key == "header" else {}
            answer = await one.call("list_deals", {}, meta, **headers)
            assert (answer.get("error", {}).get("code") == -32602) is is_refused
            listed = await one.post(
                "tools/list", {"_meta": meta} if meta else {}, {"mcp-sim-world": name} if key == "header" else {}
            )
            assert ("error" in listed.json()) is is_refused


@eras
async def test_without_a_path_the_keys_count_in_their_order(calm: Served, era: str) -> None:
    async with caller(f"{calm.url}/mcp?world=q-{era}", era, headers={"authorization": f"Bearer b-{era}"}) as one:
        for n in range(3):
            await one.call("create_deal", DEAL, {"mcp-sim/world": f"m-{era}"}, mcp_sim_world=f"h-{era}")
            if n < 2:
                await one.call("create_deal", DEAL, mcp_sim_world=f"h-{era}")
    async with caller(f"{calm.url}/mcp", era, headers={"authorization": f"Bearer b-{era}"}) as one:
        await one.call("create_deal", DEAL, mcp_sim_world=f"h-{era}")
    for name, number in (("m", 83), ("q", 82), ("h", 81)):
        async with caller(f"{calm.url}/w/{name}-{era}/mcp", era) as one:
            assert await deals(one) == number


async def test_without_any_key_an_older_client_has_the_world_of_its_session(calm: Served) -> None:
    headers = {"authorization": "Bearer the same"}
    async with caller(f"{calm.url}/mcp", ERAS[0], headers=headers) as one, caller(f"{calm.url}/mcp", ERAS[0]) as two:
        await one.call("create_deal", DEAL)
        assert (await deals(one), await deals(two)) == (81, 80)


async def test_without_any_key_a_modern_client_has_the_world_of_its_token(calm: Served) -> None:
    made = list[str]()
    for token in ("red", "blue", "red"):
        async with caller(f"{calm.url}/mcp", ERAS[1], headers={"authorization": f"Bearer {token}"}) as one:
            made.append(created(await one.call("create_deal", DEAL)))
    assert made == ["deal_0081", "deal_0081", "deal_0082"]


async def test_modern_clients_that_name_nothing_share_a_world_and_the_server_says_so_once() -> None:
    with listening("calm_crm", "--log-level", "warning") as served:
        for number in (81, 82):
            async with caller(f"{served.url}/mcp", ERAS[1]) as one:
                await one.call("create_deal", DEAL)
                assert await deals(one) == number
        async with caller(f"{served.url}/w/named/mcp", ERAS[1]) as one:
            assert await deals(one) == 80
        served.end()
        told = [line for line in served.told if line.startswith("WARNING")]
        assert len(told) == 2
        assert "'default'" in told[0]
        assert f"{served.url}/w/NAME/mcp" in told[1]


@eras
@pytest.mark.parametrize("name", ["a b", "ä", "x" * 65, "a/b", ""])
async def test_what_is_no_name_is_no_world(calm: Served, era: str, name: str) -> None:
    async with caller(f"{calm.url}/mcp", era) as one:
        answer = await one.call("list_deals", {}, {"mcp-sim/world": name})
        assert answer["error"]["code"] == -32602
    async with httpx2.AsyncClient(trust_env=False) as client:
        path = httpx2.URL(f"{calm.url}/w/{name}/mcp").raw_path.decode()
        assert (await client.post(f"{calm.url}{path}", json={})).status_code == 404


@eras
async def test_only_declared_worlds_where_worlds_are_declared(era: str) -> None:
    declared = ("--worlds", "declared", "--world", "red", "--world", "blue")
    with listening("calm_crm", *declared) as served:
        async with caller(f"{served.url}/w/red/mcp", era) as one:
            assert await deals(one) == 80
        async with caller(f"{served.url}/mcp", era) as one:
            assert (await one.call("list_deals", {}, {"mcp-sim/world": "green"}))["error"]["code"] == -32602
            assert await deals(one, meta={"mcp-sim/world": "blue"}) == 80
            assert (await one.call("list_deals", {}))["error"]["code"] == -32602
        async with httpx2.AsyncClient(trust_env=False) as client:
            one = Caller(f"{served.url}/w/green/mcp", era, client)
            assert (await one.post("initialize", {})).status_code == 404


@eras
async def test_there_are_no_more_worlds_than_agreed(era: str) -> None:
    with listening("calm_crm", "--max-worlds", "2") as served:
        for name in ("a", "b"):
            async with caller(f"{served.url}/w/{name}/mcp", era) as one:
                await one.call("create_deal", DEAL)
        async with httpx2.AsyncClient(trust_env=False) as client:
            assert (await Caller(f"{served.url}/w/c/mcp", era, client).post("ping")).status_code == 503
        async with caller(f"{served.url}/mcp", era) as one:
            assert (await one.call("list_deals", {}, {"mcp-sim/world": "c"}))["error"]["code"] == -32603
            assert await deals(one, meta={"mcp-sim/world": "a"}) == 81


async def test_a_world_that_only_a_session_named_ends_with_it() -> None:
    with listening("calm_crm", "--max-worlds", "1") as served:
        for _ in range(3):
            async with caller(f"{served.url}/mcp", ERAS[0]) as one:
                assert await deals(one) == 80
                assert (await one.leave()).status_code == 200


@eras
async def test_every_server_of_a_scenario_is_served_over_one_world(tmp_path: Path, era: str) -> None:
    path = document(tmp_path, tools={"sales": "crm", "support": "crm"}, world={"records": {"deal": 3, "contact": 5}})
    with listening(path) as served:
        async with (
            caller(f"{served.url}/w/a/sales/mcp", era) as sales,
            caller(f"{served.url}/w/a/support/mcp", era) as support,
            caller(f"{served.url}/sales/mcp?world=a", era) as unnamed,
        ):
            made = created(await sales.call("create_deal", DEAL))
            found = await support.call("get_deal", {"deal_id": made})
            assert found["result"]["structuredContent"]["title"] == "Spring order"
            assert (await deals(support), await deals(unnamed)) == (4, 4)
        async with httpx2.AsyncClient(trust_env=False) as client:
            for wrong in ("/mcp", "/w/a/mcp", "/w/a/stock/mcp", "/w/a/sales", "/"):
                assert (await client.post(served.url + wrong, json={})).status_code == 404


@eras
async def test_an_idempotency_key_makes_two_requests_one_call(calm: Served, era: str) -> None:
    async with (
        caller(f"{calm.url}/w/keyed-{era}/mcp", era) as one,
        caller(f"{calm.url}/w/keyed2-{era}/mcp", era) as two,
    ):
        key = {"mcp-sim/idempotency": "k-1"}
        ids = list[str]()

        async def call() -> None:
            ids.append(created(await one.call("create_deal", DEAL, key)))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(call)
        assert ids == ["deal_0081"] * 5
        assert created(await one.call("create_deal", DEAL)) == "deal_0082"
        assert created(await two.call("create_deal", DEAL, key)) == "deal_0081"
        other = await one.call("create_deal", {**DEAL, "title": "Another"}, key)
        assert other["error"]["code"] == -32602
        wrong = await one.call("create_deal", DEAL, {"mcp-sim/idempotency": 7})
        assert wrong["error"]["code"] == -32602


# many at once ---------------------------------------------------------------------------------------------------------


@eras
async def test_worlds_at_once_live_as_if_each_were_alone(tmp_path: Path, era: str) -> None:
    trace = tmp_path / "trace.jsonl"
    with listening("flaky_crm", "--clock", "virtual", "--trace", str(trace), "--log-level", "warning") as served:
        async with anyio.create_task_group() as tasks:
            for n in range(WORLDS):
                tasks.start_soon(busy, f"{served.url}/w/world-{n}/mcp", era, n)
    entries = [json.loads(line) for line in trace.read_bytes().splitlines()[1:]]
    for n in range(WORLDS):
        steps = [entry["step"] for entry in entries if entry["world"] == f"world-{n}"]
        assert len(steps) == 13
        async with Simulator.load("flaky_crm").open(clock="virtual") as world:
            for step in steps[1:]:
                await world.call(step["tool"], step["arguments"])
            assert world.ledger.steps == steps
        titles = [step["arguments"]["title"] for step in steps[1:] if step["tool"] == "create_deal"]
        assert sorted(titles) == [f"{n}-{at}" for at in range(6)]


async def busy(url: str, era: str, n: int) -> None:
    """Twelve calls in parallel, in one world."""
    async with caller(url, era) as one, anyio.create_task_group() as tasks:
        for at in range(6):
            tasks.start_soon(one.call, "create_deal", {**DEAL, "title": f"{n}-{at}"})
            tasks.start_soon(one.call, "update_contact", {"contact_id": f"con_{at + 1:05d}", "stage": "customer"})


# nothing leaks --------------------------------------------------------------------------------------------------------


async def test_nothing_that_an_agent_can_read_tells_what_it_speaks_to(tmp_path: Path) -> None:
    heard, bearer = list[bytes](), {"authorization": f"Bearer {TOKEN}"}
    with listening(telltale_scenario(tmp_path), "--token-file", telltale_tokens(tmp_path)) as served:
        for era in ERAS:
            async with caller(f"{served.url}/w/w/mcp", era, heard, bearer) as one:
                await everything(one)
        async with httpx2.AsyncClient(trust_env=False) as client:
            for era in ERAS:
                stranger = Caller(f"{served.url}/w/w/mcp", era, client, heard)
                assert (await stranger.post("tools/list")).status_code == 401
                lost = Caller(f"{served.url}/nowhere", era, client, heard)
                await lost.post("tools/list", {}, bearer)
    assert_nothing_is_told(b"\n".join(heard), tmp_path, crashes=2)


async def everything(one: Caller) -> None:
    """One of each: lists, calls, faults, a crash, errors of every level."""
    for method in ("tools/list", "resources/list", "server/discover", "ping", "no/such/method"):
        await one.post(method)
    for _ in range(2):
        await one.call("create_deal", DEAL)
    for tool in ("list_companies", "get_contact", "no_such_tool"):
        await one.call(tool, {})
    await one.post("tools/call", {"name": "get_company", "arguments": {"company_id": "cmp_001"}})
    await one.call("list_deals", {}, {"mcp-sim/world": "another"})
    for body in (b"", b"{", b"[]", b'{"jsonrpc":"2.0","id":1}', b'{"jsonrpc":"2.0","id":[],"method":5}', b"\xff\xfe"):
        await one.send(body, one.headers("tools/list", {}))
    await one.send(b"{}", {**one.headers("tools/list", {}), "host": "evil.example"})
    await one.send(b"{}", {**one.headers("tools/list", {}), "content-type": "text/plain", "accept": "text/html"})
    await one.post("tools/list", {}, {"mcp-session-id": "unknown", "mcp-protocol-version": "1999-01-01"})


# who may speak --------------------------------------------------------------------------------------------------------


@eras
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "evil.example:80"}, 421),
        ({"host": "localhost:1234"}, 200),
        ({"host": "192.0.2.7:8000"}, 200),
        ({"host": "crm.internal:8000"}, 200),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://[nonsense"}, 403),
        ({"origin": "http://192.0.2.7"}, 403),
        ({"origin": "http://localhost:5173"}, 200),
        ({"origin": "https://crm.internal"}, 200),
    ],
)
async def test_hosts_and_origins_are_looked_at(era: str, headers: dict[str, str], status: int, named: Served) -> None:
    async with caller(f"{named.url}/w/hosts/mcp", era) as one:
        assert (await one.post("tools/list", {}, headers)).status_code == status


@pytest.fixture(scope="module")
def named() -> Generator[Served]:
    with listening("calm_crm", "--allow-host", "crm.internal") as served:
        yield served


@eras
async def test_with_tokens_only_their_bearers_are_served(tmp_path: Path, era: str) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("# who\nanne tiptop\nlonely\n", encoding="utf-8")
    with listening("calm_crm", "--token-file", str(tokens), env={"MCP_SIM_TOKEN": "from-outside"}) as served:
        for token in ("tiptop", "lonely", "from-outside"):
            async with caller(f"{served.url}/w/x/mcp", era, headers={"authorization": f"Bearer {token}"}) as one:
                assert (await one.post("tools/list")).status_code == 200
        async with httpx2.AsyncClient(trust_env=False) as client:
            for sent in ("Bearer wrong", "Basic tiptop", "tiptop", "Bearer"):
                one = Caller(f"{served.url}/w/x/mcp", era, client)
                refused = await one.post("initialize", {}, {"authorization": sent})
                assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
        async with caller(f"{served.url}/mcp", ERAS[1], headers={"authorization": "Bearer tiptop"}) as one:
            await one.call("create_deal", DEAL)
        async with caller(f"{served.url}/w/anne/mcp", era, headers={"authorization": "Bearer lonely"}) as one:
            assert await deals(one) == 81


# sessions -------------------------------------------------------------------------------------------------------------


async def test_sessions_are_bounded_and_what_is_beyond_is_refused() -> None:
    with listening("calm_crm", "--max-sessions", "3") as served:
        async with httpx2.AsyncClient(trust_env=False) as client:
            clients = [Caller(f"{served.url}/w/{n}/mcp", ERAS[0], client) for n in range(4)]
            for one in clients[:3]:
                await one.shake_hands()
            refused = await clients[3].post("initialize", {"protocolVersion": ERAS[0]})
            assert (refused.status_code, refused.json()["error"]["message"]) == (503, "Too many open sessions")
            assert await deals(clients[0]) == 80
            async with caller(f"{served.url}/w/modern/mcp", ERAS[1]) as modern:
                assert await deals(modern) == 80
            await clients[0].leave()
            await clients[3].shake_hands()
            assert await deals(clients[3]) == 80
            assert (await clients[0].post("ping")).status_code == 404


async def test_what_opens_no_session_takes_no_room() -> None:
    with listening("calm_crm", "--max-sessions", "1") as served:
        async with httpx2.AsyncClient(trust_env=False) as client:
            one = Caller(f"{served.url}/w/a/mcp", ERAS[0], client)
            for body in (b"{", b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', b"[]"):
                assert (await one.send(body, one.headers("", {}))).status_code == 400
            await one.shake_hands()
            assert await deals(one) == 80


async def test_an_idle_session_ends() -> None:
    with listening("calm_crm", "--max-sessions", "1", "--session-idle", "50ms") as served:
        for _ in range(2):
            async with httpx2.AsyncClient(trust_env=False) as client:
                one = Caller(f"{served.url}/w/a/mcp", ERAS[0], client)
                while (
                    await one.post("initialize", {"protocolVersion": ERAS[0], "capabilities": {}})
                ).status_code == 503:
                    await anyio.lowlevel.checkpoint()


async def test_a_session_is_known_only_where_it_was_opened(calm: Served) -> None:
    async with caller(f"{calm.url}/w/here/mcp", ERAS[0]) as one:
        one.url = f"{calm.url}/w/there/mcp"
        assert (await one.post("tools/list")).status_code == 404
        one.url = f"{calm.url}/w/here/mcp"
        assert (await one.post("tools/list")).status_code == 200
        assert (await one.post("tools/list", {}, {"authorization": "Bearer another"})).status_code == 404


@eras
async def test_answers_are_json_where_nothing_else_is_due(calm: Served, era: str) -> None:
    async with caller(f"{calm.url}/w/json/mcp", era) as one:
        params = {"name": "list_deals", "arguments": {}, "_meta": {"progressToken": 1}}
        for response in (await one.post("tools/list"), await one.post("tools/call", params)):
            assert response.headers["content-type"] == "application/json"


# faults on the way ----------------------------------------------------------------------------------------------------


@eras
async def test_an_answer_can_be_an_http_status(tmp_path: Path, era: str) -> None:
    path = document(tmp_path, perturbations=[{"undelivered": "http", "tools": "create_deal"}])
    with listening(path) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as one:
            response = await one.post("tools/call", {"name": "create_deal", "arguments": DEAL})
            assert (response.status_code, response.headers["retry-after"]) == (429, "30")
            assert response.text == "slow down"
            assert await deals(one) == 21


@eras
@pytest.mark.parametrize("how", ["closed", "partial"])
async def test_an_answer_can_break_with_its_connection(tmp_path: Path, era: str, how: str) -> None:
    path = document(tmp_path, perturbations=[{"undelivered": how, "tools": "create_deal"}])
    with listening(path) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as one:
            for _ in range(3):
                with pytest.raises(httpx2.RemoteProtocolError):
                    await one.call("create_deal", DEAL)
            assert await deals(one) == 23
        assert served.end() == 143


@eras
async def test_an_answer_that_never_comes_holds_nobody_else_up(tmp_path: Path, era: str) -> None:
    path = document(tmp_path, perturbations=[{"undelivered": "no_answer", "tools": "create_deal"}])
    with listening(path) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as one, anyio.create_task_group() as tasks:
            tasks.start_soon(one.call, "create_deal", DEAL)
            while await deals(one) < 21:
                await anyio.lowlevel.checkpoint()
            async with caller(f"{served.url}/w/b/mcp", era) as two:
                assert await deals(two) == 20
            tasks.cancel_scope.cancel()
        assert served.end() == 143
        assert not any("Traceback" in line for line in served.told)


@eras
async def test_a_server_that_ends_does_not_wait_for_an_answer_that_never_comes(tmp_path: Path, era: str) -> None:
    path = document(tmp_path, perturbations=[{"undelivered": "no_answer", "tools": "create_deal"}])
    with listening(path) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as one, caller(f"{served.url}/w/a/mcp", era) as other:
            refused = list[Exception]()

            async def call() -> None:
                try:
                    await one.call("create_deal", DEAL)
                except httpx2.RemoteProtocolError as error:
                    refused.append(error)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                while await deals(other) < 21:
                    await anyio.lowlevel.checkpoint()
                assert await anyio.to_thread.run_sync(served.end) == 143
            assert len(refused) == 1


# clients that leave, and servers that end -----------------------------------------------------------------------------


@eras
async def test_running_calls_are_finished_before_the_server_ends(tmp_path: Path, era: str) -> None:
    slow = {"latency": "700ms", "tools": "create_deal"}
    with listening(document(tmp_path, perturbations=[slow])) as served:
        answers = list[Any]()
        async with caller(f"{served.url}/w/a/mcp", era) as one, caller(f"{served.url}/w/a/mcp", era) as other:

            async def call() -> None:
                answers.append(await one.call("create_deal", DEAL))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call)
                while await deals(other) < 21:
                    await anyio.lowlevel.checkpoint()
                assert await anyio.to_thread.run_sync(served.end, signal.SIGINT) == 130
        assert created(answers[0]) == "deal_0021"
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", served.port)).close()


@eras
async def test_a_client_that_leaves_in_mid_call_leaves_the_world_as_the_call_did(tmp_path: Path, era: str) -> None:
    slow = {"latency": "1h", "tools": "create_deal"}
    with listening(document(tmp_path, perturbations=[slow])) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as other:
            for number in (21, 22, 23):
                async with caller(f"{served.url}/w/a/mcp", era) as one, anyio.create_task_group() as tasks:
                    tasks.start_soon(one.call, "create_deal", DEAL)
                    while await deals(other) < number:
                        await anyio.lowlevel.checkpoint()
                    tasks.cancel_scope.cancel()
            assert await deals(other) == 23
        assert served.end() == 143


async def test_half_open_connections_and_endless_requests_harm_nobody(calm: Served) -> None:
    beginnings = [
        b"",
        b"POST /w/a/mcp HT",
        b"POST /w/a/mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{",
        b"POST /w/a/mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n",
    ]
    opened = [socket.create_connection(("127.0.0.1", calm.port)) for _ in range(300)]
    for n, connection in enumerate(opened):
        connection.sendall(beginnings[n % len(beginnings)])
    async with caller(f"{calm.url}/w/unharmed/mcp", ERAS[1]) as one:
        assert await deals(one) == 80
    for connection in opened:
        connection.close()


@pytest.mark.parametrize("head", [b"content-length: 999999999\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n"])
def test_a_body_that_is_too_long_is_refused(calm: Served, head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", calm.port), timeout=30) as connection:
        connection.sendall(b"POST /w/a/mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" + head)
        piece = b"x" * 65536
        try:
            for _ in range(2000):
                connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece) if b"chunked" in head else piece)
        except OSError:
            pass  # the server has had enough, and said so
        try:
            answer = connection.recv(65536)
        except ConnectionResetError:
            answer = b""
    assert answer == b"" or answer.startswith(b"HTTP/1.1 413")


def test_a_head_that_never_ends_is_cut(calm: Served) -> None:
    with socket.create_connection(("127.0.0.1", calm.port), timeout=30) as connection:
        connection.sendall(b"POST /mcp HTTP/1.1\r\nx: ")
        is_cut = False
        while not is_cut:
            try:
                connection.sendall(b"x" * 65536)
            except OSError:
                is_cut = True


ENVELOPE: dict[str, Any] = {META + "protocolVersion": ERAS[1], META + "clientCapabilities": {}}
CREATE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "create_deal", "arguments": DEAL, "_meta": ENVELOPE},
    }
).encode()


def post(rest: bytes) -> bytes:
    """A request in the modern era, from its own headers on."""
    call = b"mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: create_deal\r\n"
    kinds = b"accept: */*\r\ncontent-type: application/json\r\n"
    return b"POST /w/raw/mcp HTTP/1.1\r\nhost: localhost\r\n" + kinds + call + rest


def read(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    said = b""
    while piece := connection.recv(65536):
        said += piece
    return said


async def test_bodies_that_do_not_end_hold_little_memory_together() -> None:
    with listening("calm_crm") as served:
        opened = [socket.create_connection(("127.0.0.1", served.port), timeout=15) for _ in range(20)]
        for connection in opened:
            connection.sendall(post(b"content-length: 4194304\r\n\r\n" + b"[" * 4_190_000))
        assert b"408 Request Timeout" in read(opened[0])
        async with caller(f"{served.url}/w/unharmed/mcp", ERAS[1]) as one:
            assert await deals(one) == 80
        for connection in opened:
            connection.close()


async def test_a_request_that_did_not_arrive_whole_is_no_request() -> None:
    with listening("calm_crm") as served:
        for length in (len(CREATE), len(CREATE) + 1):
            with socket.create_connection(("127.0.0.1", served.port), timeout=30) as connection:
                connection.sendall(post(b"connection: close\r\ncontent-length: %d\r\n\r\n" % length + CREATE[:9]))
                connection.sendall(CREATE[9:])
                connection.shutdown(socket.SHUT_WR)
                assert (b"deal_0081" in read(connection)) is (length == len(CREATE))
        async with caller(f"{served.url}/w/raw/mcp", ERAS[1]) as one:
            assert await deals(one) == 81


def test_a_server_that_ends_does_not_wait_for_the_rest_of_requests() -> None:
    with listening("calm_crm") as served:
        beginnings = (b"", b"x: y", b"content-length: 9\r\n\r\n", b"content-length: 9\r\n\r\n{")
        opened = [socket.create_connection(("127.0.0.1", served.port), timeout=30) for _ in beginnings]
        for connection, rest in zip(opened, beginnings, strict=True):
            connection.sendall(post(rest))
        assert status_of_ping(served) == 200
        assert served.end() == 143
        for connection in opened:
            assert read(connection) == b""
            connection.close()


def status_of_ping(served: Served) -> int:
    """The status of one more request, which the server has looked at after all that came before."""
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": ENVELOPE}}
    headers = {"mcp-protocol-version": ERAS[1], "mcp-method": "tools/list", "accept": "*/*"}
    return httpx2.post(f"{served.url}/w/a/mcp", json=body, headers=headers, trust_env=False).status_code


def test_two_headers_that_name_different_worlds_are_refused(calm: Served) -> None:
    with socket.create_connection(("127.0.0.1", calm.port), timeout=30) as connection:
        keys = b"mcp-sim-world: other\r\nmcp-sim-world: raw\r\nconnection: close\r\n"
        connection.sendall(post(keys + b"content-length: %d\r\n\r\n" % len(CREATE) + CREATE))
        assert b"-32602" in read(connection)


# starting -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--http", "nonsense"), "HOST:PORT"),
        (("--http", "127.0.0.1:99999"), "HOST:PORT"),
        (("--http", "no.such.host.invalid:0"), "cannot listen"),
        (("--http", "127.0.0.1:0", "--server", "crm"), "--server"),
        (("--http", "127.0.0.1:0", "--world", "a b"), "'a b'"),
        (("--http", "127.0.0.1:0", "--session-idle", "5"), "--session-idle"),
        (("--http", "127.0.0.1:0", "--unread", "0s"), "--unread"),
        (("--http", "127.0.0.1:0", "--grace", "never"), "--grace"),
        (("--http", "127.0.0.1:0", "--max-worlds", "0"), "--max-worlds"),
        (("--http", "127.0.0.1:0", "--max-sessions", "0"), "--max-sessions"),
        (("--http", "127.0.0.1:0", "--max-megabytes", "0"), "--max-megabytes"),
        (("--http", "127.0.0.1:0", "--store", "x.db"), "--store"),
        (("--http", "127.0.0.1:0", "--token-file", "/no/such/file"), "/no/such/file"),
        (("--world", "a"), "--store"),
        (("--store", "one.file", "--trace", "./one.file"), "--trace"),
        (("--server", "jira"), "jira"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_served(arguments: tuple[str, ...], message: str) -> None:
    done = started("calm_crm", *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_a_port_that_is_taken_is_a_clear_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = started("calm_crm", "--http", f"127.0.0.1:{port}")
    assert done.returncode == 2
    assert re.search(rf"cannot listen on 127\.0\.0\.1:{port}: Address already in use", done.stderr.decode())


def test_a_fault_that_the_virtual_clock_cannot_carry_is_refused(tmp_path: Path) -> None:
    path = document(tmp_path, perturbations=[{"undelivered": "no_answer", "id": "hang"}])
    done = started(path, "--http", "127.0.0.1:0", "--clock", "virtual")
    assert done.returncode == 2
    assert "hang (undelivered)" in done.stderr.decode()


async def test_the_log_says_whose_call_it_was_and_what_was_true() -> None:
    with listening("flaky_crm") as served:
        async with caller(f"{served.url}/w/anne/mcp", ERAS[1]) as one:
            await one.call("create_deal", DEAL)
        served.end()
        assert served.told[-2].startswith('anne #1 create_deal {"title":"Spring order"')
        assert served.told[-1].startswith("anne    FAULT lost-deal (lost_ack, nth 1); the truth: wrote deal deal_")
        assert any("/w/WORLD/mcp" in line for line in served.told)


def test_what_is_logged_waits_for_nobody() -> None:
    reading, writing = os.pipe()
    lines = LogLines(writing)
    for _ in range(10_000):
        lines.handle(logging.LogRecord("mcp_sim", logging.WARNING, "", 0, "a session is refused", None, None))
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.readline() == b"WARNING mcp_sim: a session is refused\n"


def started(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, str(HERE / "unruly.py"), "serve", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
    return subprocess.run(command, input=b"", capture_output=True, timeout=60, check=False, env=environment)
