"""The endpoints of a resources server: sessions, retries, verdicts, refusals."""

from __future__ import annotations

import json
import signal
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from httpx2 import ASGITransport, AsyncClient, Client
from support.over_http import started

from mcp_sim.cli.serve_gym import LONGEST_BODY
from mcp_sim.training.adapters.gym_server import GymServer
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError

CREATE = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}


@pytest.fixture
async def client() -> AsyncIterator[AsyncClient]:
    app = GymServer("flaky_crm").app()
    async with AsyncClient(transport=ASGITransport(app), base_url="http://gym") as client:
        yield client


def answered(row: Record, text: str) -> Record:
    output = [{"type": "message", "content": [{"type": "output_text", "text": text}]}]
    return {**row, "response": {"output": output}}


async def test_an_episode_goes_from_a_row_to_its_reward(client: AsyncClient) -> None:
    rows = [json.loads(line) for line in (await client.get("/rows?seeds=2")).text.splitlines()]
    assert [row["mcp_sim"]["seed"] for row in rows] == [0, 1]
    assert {tool["name"] for tool in rows[0]["responses_create_params"]["tools"]} >= {"create_deal", "list_deals"}
    assert (await client.post("/seed_session", json=rows[1])).status_code == 200
    assert "504" in (await client.post("/create_deal", json=CREATE)).text
    assert "Error: the arguments of create_deal" in (await client.post("/create_deal", content="{oops")).text
    verified = (await client.post("/verify", json=answered(rows[1], "Done."))).json()
    assert verified["mcp_sim"] == {"seed": 1}
    assert (verified["outcome"], verified["calls"]) == ("failed", 2)
    assert 0 < verified["reward"] < 1
    assert (await client.post("/verify", json=answered(rows[1], "Done."))).json()["reward"] == verified["reward"]
    assert (await client.post("/list_deals", json={})).status_code == 409
    await client.post("/close_session", json={})
    lost = (await client.post("/verify", json=rows[1])).json()
    assert (lost["reward"], lost["mask_sample"], lost["failure_kind"]) == (0.0, True, "mcp_sim:lost_session")


async def test_a_session_that_is_begun_again_is_the_same_episode(client: AsyncClient) -> None:
    begun = {"resources_session_id": "s1", "task_data": {"mcp_sim": {"seed": 3, "faults": False}}}
    for _ in range(2):
        assert (await client.post("/seed_session", json=begun)).json() == {"resources_session_id": "s1"}
        assert "Spring order" in (await client.post("/create_deal", json=CREATE)).text
    deals = json.loads((await client.post("/list_deals", json={"contact_id": "con_00001"})).text)["deals"]
    assert [deal["title"] for deal in deals].count("Spring order") == 2


REFUSED: list[tuple[str, Record, int]] = [
    ("/seed_session", {"mcp_sim": {"seed": "first"}}, 400),
    ("/seed_session", {"mcp_sim": {"colour": 1}}, 400),
    ("/seed_session", {"mcp_sim": {"intensity": 7}}, 400),
    ("/seed_session", {"mcp_sim": {"faults": [{"no_such_fault": {}}]}}, 400),
    ("/seed_session", {"resources_session_id": "x" * 300}, 400),
    ("/list_deals", {}, 404),
    ("/seed_session", {"resources_session_id": "名"}, 400),
    ("/verify", {"title": "Spring order"}, 404),
]


@pytest.mark.parametrize(("path", "body", "status"), REFUSED)
async def test_what_cannot_be_begun_or_called_is_refused(
    client: AsyncClient, path: str, body: Record, status: int
) -> None:
    assert (await client.post(path, json=body)).status_code == status


ODD: list[tuple[bytes, int]] = [
    (b'{"response": {"output": [{"type": "message", "content": [{"text": "cut \\ud83d"}]}]}}', 200),
    (b'{"response": "\\ud83d"}', 200),
    (b'{"response": NaN}', 400),
    (b'{"response": 1e999}', 400),
    (b'{"a":' * 10_000, 400),
    (b"\xff", 400),
    (b"[]", 400),
    (b"", 404),
]


@pytest.mark.parametrize(("body", "status"), ODD)
async def test_an_odd_row_is_verified_or_refused(client: AsyncClient, body: bytes, status: int) -> None:
    await client.post("/seed_session", json={})
    assert (await client.post("/verify", content=body)).status_code == status


def test_foreign_pages_and_long_bodies_are_refused_and_a_signal_ends_the_server() -> None:
    words = ["unruly.py", "serve", "flaky_crm", "--gym", "0"]
    with started(words) as served, socket.create_connection(("127.0.0.1", served.port)) as half:
        half.sendall(b"POST /verify HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n{")
        with Client(base_url=served.url) as client:
            assert client.post("/seed_session", headers={"host": "evil.example"}).status_code == 421
            assert client.post("/seed_session", headers={"origin": "http://evil.example"}).status_code == 403
            assert client.post("/verify", content=b" " * (LONGEST_BODY + 1)).status_code == 413
            assert client.post("/seed_session").status_code == 200
        assert served.end() == 128 + signal.SIGTERM


def test_a_tool_that_is_named_as_an_endpoint_is_refused(tmp_path: Path) -> None:
    tools = [{"name": "verify", "description": "Verify a name.", "inputSchema": {"type": "object"}}]
    (tmp_path / "names.json").write_text(json.dumps({"mcp_sim": 1, "name": "names", "tools": tools}))
    with pytest.raises(UsageError, match="the tool 'verify'"):
        GymServer(tmp_path / "names.json")
