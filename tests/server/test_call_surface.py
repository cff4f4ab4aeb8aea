"""What goes with a result: blocks, progress, logs, news; seen by clients of both protocol eras."""

from __future__ import annotations

from typing import Any

import anyio
from mcp_types import (
    EmptyResult,
)
from support.help_desk import PIXEL, Desk, Received, eras, set_level, settled, subscription, text, wire

from mcp_sim.server.testing import connected


@eras
async def test_a_result_is_made_of_blocks_that_show_the_record(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        result = await client.call_tool("get_ticket", {"ticket_id": "T-1"})
        assert [wire(block) for block in result.content] == [
            {"type": "text", "text": "Printer on fire (T-1)"},
            {"type": "resource_link", "uri": "desk://ticket/T-1", "name": "Printer on fire"},
        ]
        assert result.structured_content is None
        step = world.ledger.newest["step"]
        assert step["truth"]["observation"]["form"] == "blocks"
        missing = await client.call_tool("get_ticket", {"ticket_id": "T-99"})
        assert missing.is_error
        assert "T-99" in text(missing)


@eras
async def test_examples_and_stubs_have_blocks_too(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        (image,) = (await client.call_tool("draw_chart")).content
        assert wire(image) == {
            "type": "image",
            "data": PIXEL,
            "mimeType": "image/png",
            "annotations": {"audience": ["user"]},
        }
        assert text(await client.call_tool("get_ticket", {"ticket_id": "T-0"})) == "Canned, for T-0"
        assert world.ledger.newest["step"]["stub"] is True


@eras
async def test_a_call_reports_its_progress_and_its_log(desk: Desk, mode: str) -> None:
    received = Received()
    options: dict[str, Any] = {"logging_callback": received.log, "log_level": "debug" if mode == "auto" else None}
    async with desk() as world, connected(world, mode=mode, **options) as client:
        change = {"ticket_id": "T-1", "title": "Fire is out"}
        before = world.clock.elapsed()
        result = await client.call_tool("update_ticket", change, progress_callback=received.progressed)
        assert result.structured_content == {"id": "T-1", "title": "Fire is out"}
        await settled()
        assert received.progress == [(1, 2, "changing T-1"), (2, 2, None)]
        assert received.logs == [("debug", None, "started"), ("warning", "desk", {"ticket": "T-1"})]
        assert (world.clock.elapsed() - before).total_seconds() == 3601
        served = world.ledger.newest["step"]["truth"]["observation"]
        assert [notice.get("at_ms", 0) for notice in served["notifications"]] == [0, 0, 3.6e6, 3.6e6, 3.6e6]


async def test_without_sessions_nothing_is_logged_that_the_request_does_not_ask_for(desk: Desk) -> None:
    received = Received()
    async with desk() as world, connected(world, logging_callback=received.log, log_level="warning") as client:
        await client.call_tool("update_ticket", {"ticket_id": "T-1", "title": "A"})
        await settled()
        assert [level for level, _, _ in received.logs] == ["warning"]


async def test_with_a_handshake_the_client_sets_the_level_of_the_log(desk: Desk) -> None:
    received = Received()
    async with desk() as world, connected(world, mode="legacy", logging_callback=received.log) as client:
        await client.session.send_request(set_level("error"), EmptyResult)
        await client.call_tool("update_ticket", {"ticket_id": "T-1", "title": "A"})
        await client.session.send_request(set_level("info"), EmptyResult)
        await client.call_tool("update_ticket", {"ticket_id": "T-1", "title": "B"})
        await settled()
        assert [level for level, _, _ in received.logs] == ["warning"]


async def test_a_call_that_fails_sends_no_notifications(desk: Desk) -> None:
    received = Received()
    async with desk() as world, connected(world, logging_callback=received.log, log_level="debug") as client:
        result = await client.call_tool("update_ticket", {"ticket_id": "T-99", "title": "A"})
        assert result.is_error
        await settled()
        assert received.logs == []
        assert "notifications" not in world.ledger.newest["step"]["truth"]["observation"]


async def test_with_a_handshake_connections_of_a_world_are_notified_of_changes(desk: Desk) -> None:
    received = Received()
    async with desk() as world, connected(world, mode="legacy", message_handler=received.message) as client:
        await client.session.send_request(subscription("desk://ticket/T-1"), EmptyResult)
        await client.session.send_request(subscription("desk://card/T-2"), EmptyResult)
        await client.call_tool("get_ticket", {"ticket_id": "T-1"})
        await settled()
        assert received.methods == []
        await client.call_tool("update_ticket", {"ticket_id": "T-1", "title": "Fire is out"})
        await settled()
        wanted = {"notifications/tools/list_changed", "notifications/resources/updated"}
        assert {method for method in received.methods if method in wanted} == wanted
        assert received.methods.count("notifications/resources/updated") == 1


async def test_without_sessions_streams_of_a_world_are_notified_of_changes(desk: Desk) -> None:
    async with desk() as world, connected(world) as client:
        events = list[str]()
        async with anyio.create_task_group() as tasks:
            listening = anyio.Event()

            async def listen() -> None:
                async with client.listen(
                    tools_list_changed=True, resource_subscriptions=["desk://ticket/T-1", "desk://ticket/T-2"]
                ) as stream:
                    listening.set()
                    async for event in stream:
                        events.append(f"{type(event).__name__} {getattr(event, 'uri', '')}".strip())
                        if len(events) == 2:
                            return

            tasks.start_soon(listen)
            await listening.wait()
            await client.call_tool("update_ticket", {"ticket_id": "T-1", "title": "Fire is out"})
        assert sorted(events) == ["ResourceUpdated desk://ticket/T-1", "ToolsListChanged"]
