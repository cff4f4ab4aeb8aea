"""Clients in browsers: preflights, and answers that a page of an allowed origin may read."""

from __future__ import annotations

from collections.abc import Generator

import httpx2
import pytest
from support.http_deals import eras
from support.over_http import Served, caller, listening

PAGE = {"origin": "http://localhost:6274"}
FOREIGN = {"origin": "https://evil.example"}
PREFLIGHT = {
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type,mcp-param-id",
    "access-control-request-private-network": "true",
}


@pytest.fixture(scope="module")
def served() -> Generator[Served]:
    with listening("calm_crm") as served:
        yield served


async def test_a_preflight_of_an_allowed_page_is_granted(served: Served) -> None:
    async with httpx2.AsyncClient(trust_env=False) as client:
        granted = await client.options(f"{served.url}/w/a/mcp", headers={**PAGE, **PREFLIGHT})
        refused = await client.options(f"{served.url}/w/a/mcp", headers={**FOREIGN, **PREFLIGHT})
    assert granted.status_code == 200
    assert granted.headers["access-control-allow-origin"] == PAGE["origin"]
    assert "DELETE" in granted.headers["access-control-allow-methods"]
    assert granted.headers["access-control-allow-headers"] == "content-type,mcp-param-id"
    assert granted.headers["access-control-allow-private-network"] == "true"
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers


@eras
async def test_an_allowed_page_may_read_answers_and_refusals(served: Served, era: str) -> None:
    async with caller(f"{served.url}/w/a/mcp", era) as one:
        for answer in [
            await one.post("tools/list", {}, PAGE),
            await one.post("tools/call", {"name": "get_deal", "arguments": {"deal_id": "deal_0001"}}, PAGE),
            await one.post("tools/list", {}, {**PAGE, "mcp-session-id": "x", "mcp-protocol-version": "2025-11-25"}),
        ]:
            assert answer.headers["access-control-allow-origin"] == PAGE["origin"]
            assert "mcp-session-id" in answer.headers["access-control-expose-headers"]
            assert "origin" in answer.headers["vary"]
        assert "access-control-allow-origin" not in (await one.post("tools/list")).headers
