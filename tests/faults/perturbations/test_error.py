"""error: an answer in the world's place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.server.deliverability import check_deliverable
from mcp_sim.types import BrokenDelivery, RpcError, ToolResult
from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import perturbations

SPRING = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
Crm = Callable[[str], Simulator]


async def answer(simulator: Simulator, tool: str = "create_deal", **arguments: Any) -> ToolResult | RpcError:
    async with simulator.open() as world:
        observation = await world.call(tool, arguments or SPRING)
    assert isinstance(observation.body, ToolResult | RpcError)
    return observation.body


async def test_an_error_answers_in_the_worlds_place_and_commits_nothing(crm: Crm) -> None:
    async with crm("perturbations: [{error: {status: 500}, id: down}]").open() as world:
        observation = await world.call("create_deal", SPRING)
        assert observation.body == ToolResult("500 Internal Server Error", form="text", is_error=True)
        assert not world.view.find("deal", "title", "Spring order")
        step = world.ledger.steps[-1]
        assert (step["truth"], step["committed"]) == (None, [])
        assert step["perturbations"] == [{"id": "down", "kind": "error", "outcome": "applied", "why": "always"}]


@pytest.mark.parametrize(
    ("options", "shown"),
    [
        ("{}", "503 Service Unavailable"),
        ("404", "404 Not Found"),
        ("{status: 503, retry_after: 1500ms}", "503 Service Unavailable; try again in 2 s"),
        ("{status: 418, message: short and stout}", "short and stout"),
        ("{status: 599}", "599 Server Error"),
        ("{status: 499}", "499 Request Refused"),
    ],
)
async def test_the_message_says_the_status_in_words_unless_another_is_given(crm: Crm, options: str, shown: str) -> None:
    body = await answer(crm(f"perturbations: [{{error: {options}}}]"), "list_companies", limit=1)
    assert body == ToolResult(shown, form="text", is_error=True)


NOTES = """\
mcp_sim: 1
name: notes
tools:
  - name: add_note
    inputSchema: {type: object, properties: {message: {type: string}, kind: {type: string}}}
errors:
  rate_limited: {text: "Wait {retry_after} s before you add '{message}'"}
  not_found: {text: "No note {note_id}"}
"""


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        ("{status: 429, retry_after: 30s}", "Wait 30 s before you add 'milk'"),
        ("429", "429 Too Many Requests"),  # the seconds are unknown
        ("404", "404 Not Found"),  # the note is unknown
    ],
)
async def test_a_vendor_words_its_own_failures_where_it_can(tmp_path: Path, status: str, shown: str) -> None:
    (tmp_path / "notes.yaml").write_text(NOTES)
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(f"mcp_sim: 1\nname: busy\ntools: notes.yaml\nperturbations: [{{error: {status}}}]")
    body = await answer(Simulator.load(scenario), "add_note", message="milk", kind="shopping")
    assert body == ToolResult(shown, form="text", is_error=True)


async def test_a_message_of_ones_own_is_said_instead_of_the_vendors_text(crm: Crm) -> None:
    assert await answer(crm("perturbations: [{error: 504}]")) == ToolResult(
        "504 Gateway Timeout: the request was not answered in time", form="text", is_error=True
    )
    assert await answer(crm("perturbations: [{error: {status: 504, message: late}}]")) == ToolResult(
        "late", form="text", is_error=True
    )


async def test_style_json_shows_the_error_as_an_object(crm: Crm) -> None:
    body = await answer(crm("perturbations: [{error: {status: 429, style: json, retry_after: 5s}}]"))
    shown = {"error": {"status": 429, "retry_after": 5, "message": "429 Too Many Requests; try again in 5 s"}}
    assert body == ToolResult(shown, form="json", is_error=True)


async def test_a_body_replaces_the_object_and_implies_style_json(crm: Crm) -> None:
    body = await answer(crm("perturbations: [{error: {status: 400, body: {code: E42, fields: [title]}}}]"))
    assert body == ToolResult({"code": "E42", "fields": ["title"]}, form="json", is_error=True)


async def test_style_rpc_is_a_json_rpc_error(crm: Crm) -> None:
    body = await answer(crm("perturbations: [{error: {status: 500, style: rpc, code: -32050, message: broken}}]"))
    assert body == RpcError(-32050, "broken", {"status": 500})


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("{status: 503, retry_after: 1500ms}",
         BrokenDelivery("http", 503, {"Content-Type": "text/plain; charset=utf-8", "Retry-After": "2"},
         "503 Service Unavailable; try again in 2 s")),
        ("{status: 429, body: {code: slow_down}, headers: {X-RateLimit-Remaining: '0'}}",
         BrokenDelivery("http", 429, {"Content-Type": "application/json", "X-RateLimit-Remaining": "0"},
         '{"code":"slow_down"}')),
        ("{status: 502, body: <h1>Bad Gateway</h1>, headers: {content-type: text/html}}",
         BrokenDelivery("http", 502, {"content-type": "text/html"}, "<h1>Bad Gateway</h1>")),
    ],
)  # fmt: skip
async def test_style_http_is_a_plain_http_response(crm: Crm, options: str, expected: BrokenDelivery) -> None:
    simulator = crm(f"perturbations: [{{error: {options.replace('{', '{style: http, ', 1)}, id: gateway}}]")
    async with simulator.open() as world:
        observation = await world.call("create_deal", SPRING)
        assert observation.body == expected
        assert not world.view.find("deal", "title", "Spring order")
        assert world.ledger.steps[-1]["served"]["broken"]["status"] == expected.status
    check_deliverable(simulator.scenario, "http", "real")
    with pytest.raises(UsageError, match=r"gateway \(error\): an HTTP status needs HTTP"):
        check_deliverable(simulator.scenario, "stdio", "real")


@pytest.mark.parametrize(
    "options",
    [
        {"status": 200},
        {"status": "503"},
        {"code": -32019},
        {"style": "text", "body": {}},
        {"statuss": 500},
        True,
        {"headers": {"X-Request-Id": "1"}},
        {"style": "http", "headers": {"X Y": "1"}},
        {"style": "http", "headers": {"X-Y": "1\r\nX-Z: 2"}},
        {"style": "http", "headers": {"Content-Length": "3"}},
    ],
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["error"].model_validate(options)
