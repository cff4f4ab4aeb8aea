"""Event streams of sessions, batches, odd ids, and the older HTTP+SSE."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.sse import sse_client
from support.http_deals import DEAL, document, eras
from support.over_http import ERAS, Caller, Served, caller, listening

EVENTS = {"accept": "text/event-stream"}
TOUCH = {"name": "touch", "inputSchema": {"type": "object"}}


@pytest.fixture(scope="module")
def served() -> Generator[Served]:
    with listening("calm_crm", "--sse") as served:
        yield served


@asynccontextmanager
async def stream(client: httpx2.AsyncClient, url: str, headers: dict[str, str]) -> AsyncGenerator[httpx2.Response]:
    async with client.stream("GET", url, headers={**headers, **EVENTS}) as response:
        yield response


async def session(one: Caller, version: str = ERAS[0]) -> dict[str, str]:
    """Open a session of a version and return its headers."""
    client = {"name": "raw", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    kinds = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    opened = await one.send(json.dumps(body).encode(), kinds)
    headers = {**kinds, "mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": version}
    await one.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}', headers)
    return headers


async def test_a_session_has_several_streams_and_the_newest_gets_the_messages(tmp_path: Path) -> None:
    path = tmp_path / "changing.json"
    changing = {"mcp_sim": 1, "name": "desk", "tools": [TOUCH], "sim": {"touch": {"notify": [{"changed": "tools"}]}}}
    path.write_text(json.dumps(changing), encoding="utf-8")
    with listening(str(path)) as served:
        url = f"{served.url}/w/a/mcp"
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
            one = Caller(url, ERAS[0], client)
            headers = await session(one)
            call = b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"touch","arguments":{}}}'
            async with stream(client, url, headers) as first:
                assert first.status_code == 200
                async with stream(client, url, headers) as second:
                    assert second.status_code == 200
                    await one.send(call, headers)
                    assert "list_changed" in await _event(second)
                heard = list[str]()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(_listen, first, heard)
                    with anyio.fail_after(30):
                        while not heard:  # until the server has noticed that the newer stream is gone
                            await one.send(call, headers)
                    tasks.cancel_scope.cancel()
                assert "list_changed" in heard[0]
            async with stream(client, url, {**headers, "last-event-id": "7"}) as resumed:
                assert resumed.status_code == 405
                assert resumed.headers["allow"] == "POST, DELETE"


async def _listen(response: httpx2.Response, heard: list[str]) -> None:
    async for line in response.aiter_lines():
        if line.startswith("data:"):
            heard.append(line)  # noqa: PERF401 (the test looks at it meanwhile)


async def _event(response: httpx2.Response) -> str:
    return await anext(line async for line in response.aiter_lines() if line.startswith("data:"))


@eras
@pytest.mark.parametrize("number", ["1.5", "null", "true", "[1]", "{}"])
async def test_an_odd_id_is_an_invalid_request(served: Served, era: str, number: str) -> None:
    async with caller(f"{served.url}/w/a/mcp", era) as one:
        body = f'{{"jsonrpc":"2.0","id":{number},"method":"tools/list","params":{{}}}}'.encode()
        answer = await one.send(body, one.headers("tools/list", {}))
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32600


@eras
@pytest.mark.parametrize(
    "message",
    [
        {"method": "ping"},
        {"jsonrpc": "1.0", "method": "ping"},
        {"jsonrpc": "2.0", "method": "ping", "params": []},
        {"jsonrpc": "2.0", "method": 5},
        {"jsonrpc": "2.0"},
    ],
)
async def test_what_is_not_a_message_is_an_invalid_request_with_its_id(
    served: Served, era: str, message: dict[str, Any]
) -> None:
    async with caller(f"{served.url}/w/a/mcp", era) as client:
        answer = await client.send(json.dumps({"id": 7, **message}).encode(), client.headers("ping", {}))
    assert answer.status_code == 400
    assert answer.json()["id"] == 7
    assert answer.json()["error"] == {"code": -32600, "message": "Not a JSON-RPC 2.0 message"}


@eras
@pytest.mark.parametrize("body", [b"null", b"7", b'"ping"'])
async def test_a_plain_value_is_an_invalid_request(served: Served, era: str, body: bytes) -> None:
    async with caller(f"{served.url}/w/a/mcp", era) as client:
        answer = await client.send(body, client.headers("ping", {}))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32600)


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


async def test_a_batch_is_answered_in_the_protocol_that_has_them(served: Served) -> None:
    batch = [
        request(1, "tools/call", name="create_deal", arguments=DEAL),
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
        request(2, "tools/call", name="get_deal", arguments={"deal_id": "deal_0081"}),
        request(3, "no/such/method"),
    ]
    async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
        one = Caller(f"{served.url}/w/batch/mcp", ERAS[0], client)
        older, newer = await session(one, "2025-03-26"), await session(one)
        answers = (await one.send(json.dumps(batch).encode(), older)).json()
        assert [answer["id"] for answer in answers] == [1, 2, 3]
        assert "deal_0081" in str(answers[1]["result"])
        assert answers[2]["error"]["code"] == -32601
        assert (await one.send(json.dumps(batch[1:2]).encode(), older)).status_code == 202
        for odd in ([], batch * 50, [request(1, "initialize")]):
            assert (await one.send(json.dumps(odd).encode(), older)).json()["error"]["code"] == -32600
        assert (await one.send(json.dumps(batch).encode(), newer)).status_code == 400


@pytest.mark.parametrize(
    ("fault", "status"), [({"error": {"style": "http"}}, 503), ({"disconnect": {}}, None), ({"latency": "1ms"}, 200)]
)
async def test_a_broken_answer_breaks_the_batch(tmp_path: Path, fault: Any, status: int | None) -> None:
    path = document(tmp_path, perturbations=[{**fault, "tools": "create_deal"}])
    with listening(path) as served:
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
            one = Caller(f"{served.url}/w/batch/mcp", ERAS[0], client)
            headers = await session(one, "2025-03-26")
            batch = json.dumps([request(n, "tools/call", name="create_deal", arguments=DEAL) for n in (1, 2)]).encode()
            if status is None:
                with pytest.raises(httpx2.TransportError):
                    await one.send(batch, headers)
            else:
                assert (await one.send(batch, headers)).status_code == status


@pytest.mark.parametrize("workers", ["1", "2"])
async def test_clients_of_the_older_http_are_served_behind_a_flag(workers: str) -> None:
    with listening("calm_crm", "--sse", "--workers", workers) as served:
        async with (
            Client(sse_client(f"{served.url}/w/a/sse"), mode="legacy") as client,
            Client(sse_client(f"{served.url}/sse"), mode="legacy") as other,
        ):
            assert len((await client.list_tools()).tools) == 14
            assert not (await client.call_tool("create_deal", DEAL)).is_error
            for world, count in ((client, 1), (other, 0)):
                found = await world.call_tool("get_deal", {"deal_id": "deal_0081"})
                assert found.is_error is (count == 0)
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as raw:
            lost = await raw.post(f"{served.url}/w/a/messages?session_id=none", json=request(1, "ping"))
            assert lost.status_code == 404


async def test_without_the_flag_there_is_no_older_http() -> None:
    with listening("calm_crm") as served:
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as raw:
            assert (await raw.get(f"{served.url}/w/a/sse", headers=EVENTS)).status_code == 404


async def test_a_broken_answer_breaks_the_stream_of_the_older_http(tmp_path: Path) -> None:
    path = document(tmp_path, perturbations=[{"disconnect": {}, "tools": "create_deal"}])
    with listening(path, "--sse") as served:
        async with (
            httpx2.AsyncClient(trust_env=False, timeout=30) as client,
            stream(client, f"{served.url}/w/a/sse", {}) as opened,
        ):
            lines = opened.aiter_lines()
            assert await anext(lines) == "event: endpoint"
            place = f"{served.url}{(await anext(lines)).removeprefix('data: ')}"
            client_info = {"name": "raw", "version": "1"}
            handshake = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": client_info}
            for message in (
                request(1, "initialize", **handshake),
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                request(2, "tools/call", name="create_deal", arguments=DEAL),
            ):
                assert (await client.post(place, json=message)).status_code == 202
            with pytest.raises(httpx2.TransportError):
                [line async for line in lines]
