"""The world of an HTTP request, and many worlds at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import httpx2
import pytest
from support.http_deals import DEAL, created, deals, document, eras
from support.over_http import ERAS, Caller, Served, caller, listening

from mcp_sim import Simulator

WORLDS = 40

CALLS_AT_ONCE = 100
"""Calls that are sent at the same time. With more, a busy machine needs longer than a connection may be silent."""


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
        received = [line for line in served.log if line.startswith("WARNING")]
        assert len(received) == 2
        assert "'default'" in received[0]
        assert f"{served.url}/w/NAME/mcp" in received[1]


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


@eras
async def test_worlds_at_once_live_as_if_each_were_alone(tmp_path: Path, era: str) -> None:
    trace = tmp_path / "trace.jsonl"
    with listening("flaky_crm", "--clock", "virtual", "--trace", str(trace), "--log-level", "warning") as served:
        async with anyio.create_task_group() as tasks:
            limit = anyio.CapacityLimiter(CALLS_AT_ONCE)
            for n in range(WORLDS):
                tasks.start_soon(busy, f"{served.url}/w/world-{n}/mcp", era, n, limit)
    entries = [json.loads(line) for line in trace.read_bytes().splitlines()[1:]]
    async with Simulator.load("flaky_crm") as simulator:
        for n in range(WORLDS):
            steps = [entry["step"] for entry in entries if entry["world"] == f"world-{n}"]
            assert len(steps) == 13
            world = simulator.world(clock="virtual")
            for step in steps[1:]:
                await world.call(step["tool"], step["arguments"])
            assert world.ledger.steps == steps
            titles = [step["arguments"]["title"] for step in steps[1:] if step["tool"] == "create_deal"]
            assert sorted(titles) == [f"{n}-{at}" for at in range(6)]


async def busy(url: str, era: str, n: int, limit: anyio.CapacityLimiter) -> None:
    """Make twelve calls in parallel, in one world."""

    async def call(tool: str, arguments: Mapping[str, str | int]) -> None:
        async with limit:
            await one.call(tool, arguments)

    async with AsyncExitStack() as stack:
        async with limit:
            one = await stack.enter_async_context(caller(url, era))
        async with anyio.create_task_group() as tasks:
            for at in range(6):
                tasks.start_soon(call, "create_deal", {**DEAL, "title": f"{n}-{at}"})
                tasks.start_soon(call, "update_contact", {"contact_id": f"con_{at + 1:05d}", "stage": "customer"})
