"""A world behind an MCP server, in memory, seen by the SDK's own client in both protocol eras."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent
from support import unruly

from mcp_sim import Simulator
from mcp_sim.server.deliverability import check_deliverable
from mcp_sim.server.impersonation import Context, Impersonation
from mcp_sim.server.protocol import call_result, listing
from mcp_sim.server.testing import connected
from mcp_sim.types import BrokenDelivery, Tool, ToolResult
from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import perturbations
from mcp_sim.world.world import World


@pytest.fixture(autouse=True)
def _unruly_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kinds that are there for the tests of this file alone."""
    for name, kind in unruly.KINDS.items():
        monkeypatch.setitem(perturbations._kinds, name, kind)  # pyright: ignore[reportPrivateUsage] (looks inside on purpose)


SPRING = {"title": "Spring order", "amount": 4000, "currency": "EUR", "contact_id": "con_00001"}

eras = pytest.mark.parametrize("mode", ["auto", "legacy"])


def scenario(folder: Path, *perturbations: dict[str, Any], **parts: Any) -> Path:
    """A scenario over the shipped CRM."""
    path = folder / "odd.yaml"
    document = {"mcp_sim": 1, "name": "odd", "tools": "crm", "perturbations": list(perturbations), **parts}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def nested(levels: int) -> Any:
    return [nested(levels - 1)] if levels else []


def text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


@eras
async def test_a_client_sees_the_impersonated_server_and_its_tools(mode: str) -> None:
    async with Simulator.load("calm_crm").open() as world, connected(world, mode=mode) as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == list(world.scenario.servers["crm"].tools)
        definitions = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed]
        assert definitions == [tool.definition for tool in world.catalogue("crm")]
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("crm", "4.2.0")
        assert client.instructions == world.scenario.servers["crm"].instructions
        assert client.server_capabilities.tools is not None
        assert client.server_capabilities.tools.list_changed is True


@eras
async def test_a_result_is_structured_and_its_text_is_the_same_value(mode: str) -> None:
    async with Simulator.load("calm_crm").open() as world, connected(world, mode=mode) as client:
        result = await client.call_tool("get_contact", {"contact_id": "con_00001"})
        assert not result.is_error
        assert result.structured_content is not None
        assert result.structured_content["name"] == "Ada Vos"
        assert json.loads(text(result)) == result.structured_content


@eras
async def test_the_fault_of_flaky_crm_is_met_and_the_retry_makes_the_deal_twice(mode: str) -> None:
    async with Simulator.load("flaky_crm").open() as world, connected(world, mode=mode) as client:
        await client.list_tools()
        lost = await client.call_tool("create_deal", SPRING)
        assert lost.is_error
        assert "504" in text(lost)
        again = await client.call_tool("create_deal", SPRING)
        assert not again.is_error
        listed = await client.call_tool("list_deals", {"contact_id": "con_00001"})
        assert listed.structured_content is not None
        titles = [deal["title"] for deal in listed.structured_content["deals"]]
        assert titles.count("Spring order") == 2


@eras
async def test_arguments_may_be_left_out(mode: str) -> None:
    async with Simulator.load("calm_crm").open() as world, connected(world, mode=mode) as client:
        result = await client.call_tool("list_companies")
        assert not result.is_error
        assert world.ledger.steps[-1]["arguments"] == {}


@eras
async def test_an_unknown_tool_is_a_json_rpc_error_and_a_step(mode: str) -> None:
    async with Simulator.load("calm_crm").open() as world, connected(world, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("launch_rocket", {})
        assert raised.value.code == -32602
        assert world.ledger.steps[-1]["tool"] == "launch_rocket"


@eras
async def test_a_crash_has_its_own_code_and_reveals_nothing(tmp_path: Path, mode: str) -> None:
    path = scenario(tmp_path, {"bug": None, "id": "vault", "tools": "get_*"})
    async with Simulator.load(path).open() as world, connected(world, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("get_contact", {"contact_id": "con_00001"})
        assert (raised.value.code, raised.value.data) == (-32019, {"mcp_sim": "crash"})
        for secret in ("secret", "vault", "odd", "bug", str(tmp_path)):
            assert secret not in raised.value.message
        assert world.ledger.crashes[0]["tool"] == "get_contact"
        assert len(world.ledger.steps) == 1


@eras
async def test_a_bug_in_the_server_reaches_no_client(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    async def lost(ctx: Context) -> World:
        raise ValueError("the secret of the vault")

    async def unbroken(ctx: Context, broken: BrokenDelivery) -> None:
        return

    server = Impersonation(Simulator.load("calm_crm").scenario, "crm", lost, unbroken)
    async with Client(server, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("get_contact", {"contact_id": "con_00001"})
    assert raised.value.code == -32603
    assert "secret" not in f"{raised.value.message} {raised.value.data}"
    assert "the secret of the vault" in caplog.text


@eras
async def test_arguments_that_nest_too_deeply_are_refused(mode: str) -> None:
    async with Simulator.load("calm_crm").open() as world, connected(world, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("create_deal", {**SPRING, "amount": nested(100)})
        assert raised.value.code == -32602
        assert not (await client.call_tool("create_deal", SPRING)).is_error


@eras
async def test_a_call_that_is_never_answered_ends_when_the_client_gives_up(tmp_path: Path, mode: str) -> None:
    path = scenario(tmp_path, {"undelivered": "no_answer", "tools": "create_deal", "when": {"nth": 1}})
    async with Simulator.load(path).open() as world, connected(world, mode=mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "create_deal", SPRING)
            while not world.view.find("deal", "title", "Spring order"):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        assert not (await client.call_tool("create_deal", SPRING)).is_error


def test_an_array_is_structured_content_only_where_the_protocol_knows_it() -> None:
    body = ToolResult(["red", "blue"])
    content = [{"type": "text", "text": '["red","blue"]'}]
    assert call_result(body, "2025-11-25") == {"content": content, "isError": False}
    modern = {"content": content, "isError": False, "structuredContent": ["red", "blue"], "resultType": "complete"}
    assert call_result(body, "2026-07-28") == modern


async def test_a_delay_is_waited_out_after_the_world_is_free_again(tmp_path: Path) -> None:
    path = scenario(tmp_path, {"latency": "1h", "tools": "get_contact"})
    opened = Simulator.load(path).open(clock="real")
    async with opened as world, connected(world) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "get_contact", {"contact_id": "con_00001"})
        while len(world.ledger.steps) < 2:
            await anyio.lowlevel.checkpoint()
        assert not (await client.call_tool("list_companies", {})).is_error
        tasks.cancel_scope.cancel()


async def test_under_the_virtual_clock_no_time_passes(tmp_path: Path) -> None:
    path = scenario(tmp_path, {"latency": "1h", "tools": "get_contact"})
    async with Simulator.load(path).open(clock="virtual") as world, connected(world) as client:
        assert not (await client.call_tool("get_contact", {"contact_id": "con_00001"})).is_error
        assert world.clock.elapsed().total_seconds() >= 3600


async def test_parallel_calls_of_one_client_are_steps_one_after_the_other() -> None:
    async with Simulator.load("calm_crm").open() as world, connected(world) as client:
        async with anyio.create_task_group() as tasks:
            for number in range(20):
                tasks.start_soon(client.call_tool, "create_deal", {**SPRING, "title": f"Order {number}"})
        steps = world.ledger.steps
        assert [step["index"] for step in steps[1:]] == list(range(1, 21))
        assert len({step["committed"][0]["key"] for step in steps[1:]}) == 20


@pytest.mark.parametrize(("how", "clock"), [("http", "real"), ("no_answer", "virtual")])
def test_a_fault_that_stdio_cannot_carry_is_refused_by_name(tmp_path: Path, how: unruly.Breakage, clock: Any) -> None:
    path = scenario(tmp_path, {"undelivered": how, "id": "on-the-way"})
    with pytest.raises(UsageError, match=r"on-the-way \(undelivered\)"):
        check_deliverable(Simulator.load(path).scenario, "stdio", clock)


def test_definitions_are_passed_through_untouched() -> None:
    definition = {
        "name": "a",
        "inputSchema": {"type": "object"},
        "x-vendor": {"tier": 1},
        "outputSchema": {"$ref": "#"},
    }
    tool = Tool("a", "s", definition)
    assert listing([tool], "2026-07-28") == [definition]
    assert listing([tool], "2025-11-25") == [{key: definition[key] for key in ("name", "inputSchema", "x-vendor")}]
