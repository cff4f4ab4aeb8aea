"""Faults before the call that need a transport: an error that is an HTTP response, and a call that hangs."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from support.over_http import ERAS, caller, listening

SCENARIO = """\
mcp_sim: 1
name: odd
tools: crm
perturbations:
  - error: {style: http, status: 503, retry_after: 30s, body: {code: down}, headers: {X-Request-Id: r-1}}
    tools: update_deal
  - timeout: {then: hang, commit: applied}
    tools: create_deal
"""
DEAL = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}


@pytest.mark.parametrize("era", ERAS)
async def test_an_http_error_and_a_call_that_hangs_reach_the_client_as_such(tmp_path: Path, era: str) -> None:
    path = tmp_path / "odd.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    with listening(str(path)) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as one:
            update = {"name": "update_deal", "arguments": {"deal_id": "deal_0001", "stage": "won"}}
            response = await one.post("tools/call", update)
            assert (response.status_code, response.json()) == (503, {"code": "down"})
            shown = ("retry-after", "x-request-id", "content-type")
            assert [response.headers[name] for name in shown] == ["30", "r-1", "application/json"]

            answered = list[object]()

            async def create() -> None:
                answered.append(await one.call("create_deal", DEAL))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(create)
                total = 20
                while total < 21:
                    listed = await one.call("list_deals", {"limit": 1})
                    total = listed["result"]["structuredContent"]["total"]
                tasks.cancel_scope.cancel()
            assert answered == []
