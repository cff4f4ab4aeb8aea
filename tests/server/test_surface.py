"""What a client learns of a server: who it is, what it offers, what is listed and in which pages."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from mcp import Client
from mcp.server.connection import Connection
from mcp.server.subscriptions import ToolsListChanged
from mcp.shared.dispatcher import Outbound
from mcp.shared.exceptions import MCPError
from mcp_types import (
    Implementation,
)
from support.help_desk import Desk, Received, User, eras, scenario, settled, text, wire
from support.stdio_process import MODERN_META, serving

from mcp_sim import Simulator
from mcp_sim.server.impersonation import Impersonation
from mcp_sim.server.notifications import METHODS, Subscribers
from mcp_sim.server.protocol import Context
from mcp_sim.server.testing import connected, spawned
from mcp_sim.types import BrokenDelivery
from mcp_sim.world.world import World


@eras
async def test_a_client_learns_who_the_server_is_and_what_it_offers(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        assert client.server_info is not None
        assert wire(client.server_info) == {
            "name": "desk",
            "version": "3.1.0",
            "title": "The help desk",
            "description": "A help desk",
            "websiteUrl": "https://desk.example",
            "icons": [{"src": "https://desk.example/icon.svg", "mimeType": "image/svg+xml", "sizes": ["any"]}],
        }
        assert client.instructions == "Be kind."
        offered = client.server_capabilities
        assert offered.resources is not None
        assert offered.prompts is not None
        assert (offered.resources.subscribe, offered.resources.list_changed) == (True, True)
        assert offered.prompts.list_changed is True
        assert offered.completions is not None
        assert offered.logging is not None


@eras
async def test_what_a_spec_does_not_have_is_not_offered(mode: str) -> None:
    async with Simulator.load("calm_crm").open() as world, connected(world, mode=mode) as client:
        offered = client.server_capabilities
        assert (offered.resources, offered.prompts, offered.completions, offered.logging) == (None, None, None, None)
        with pytest.raises(MCPError) as raised:
            await client.list_resources()
        assert raised.value.code == -32601


VENDOR_TOOLS = [
    {
        "name": "tools/odd.name-1",
        "title": "Odd",
        "description": "Odd\u2028tool",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"a": {"$anchor": "x", "type": "string"}},
            "properties": {
                "a": {"$ref": "#/$defs/a"},
                "n": {"type": "number", "default": 1.0},
                "z": {"x-vendor": None},
            },
            "if": {"required": ["a"]},
            "then": {"required": ["n"]},
            "additionalProperties": False,
        },
        "outputSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "x-order": ["ok"]},
        "icons": [{"src": "data:image/png;base64,AA==", "sizes": ["1x1"], "x": 1}],
        "annotations": {"title": "T", "readOnlyHint": True, "x-vendor": {"tier": [1, None]}},
        "execution": {"taskSupport": "optional"},
        "_meta": {"vendor.example/a": {"b": [True]}},
        "x-top": 1,
    },
    {"inputSchema": {"type": "object"}, "name": "bare", "description": None, "title": None},
]
LISTING = {
    "name": "list_colours",
    "inputSchema": {"type": "object"},
    "outputSchema": {"type": "array", "items": {"type": "string"}},
}


@pytest.mark.parametrize("handshake", [True, False])
def test_a_captured_list_of_tools_is_passed_through_unchanged(tmp_path: Path, handshake: bool) -> None:
    captured = tmp_path / "vendor.tools.json"
    captured.write_text(json.dumps({"tools": VENDOR_TOOLS, "nextCursor": "abc"}), encoding="utf-8")
    (tmp_path / "vendor.yaml").write_text("mcp_sim: 1\ntools: vendor.tools.json\n", encoding="utf-8")
    with serving(str(tmp_path / "vendor.yaml"), handshake=handshake) as raw:
        raw.request(1, "tools/list", {} if handshake else {"_meta": MODERN_META})
        result = raw.answer()["result"]
    assert json.dumps(result["tools"]) == json.dumps(VENDOR_TOOLS)
    assert "nextCursor" not in result


@eras
async def test_only_newer_clients_hear_of_an_output_that_is_no_object(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "colours.yaml"
    path.write_text(json.dumps({"mcp_sim": 1, "tools": [LISTING]}), encoding="utf-8")
    async with Simulator.load(path).open() as world, connected(world, mode=mode) as client:
        (tool,) = (await client.list_tools()).tools
        assert tool.output_schema == (LISTING["outputSchema"] if mode == "auto" else None)
        result = await client.call_tool("list_colours")
        value = json.loads(text(result))
        assert isinstance(value, list)
        assert result.structured_content == (value if mode == "auto" else None)


def client_name(ctx: Context) -> str:
    """What the client of a request calls itself."""
    assert ctx.session.client_params is not None
    return ctx.session.client_params.client_info.name


@eras
async def test_changes_in_one_world_cause_no_notifications_in_another(tmp_path: Path, mode: str) -> None:
    async def world_of(ctx: Context) -> World:
        return worlds[client_name(ctx)]

    async def unbroken(_ctx: Context, _broken: BrokenDelivery) -> None:
        return

    async def listen(name: str, client: Client) -> None:
        async with client.listen(tools_list_changed=True) as stream:
            listening.append(name)
            async for event in stream:
                received[name].methods.append(METHODS[type(event)])

    def client(name: str) -> Client:
        info = Implementation(name=name, version="1")
        return Client(server, mode=mode, client_info=info, message_handler=received[name].message)

    simulator, received, listening = Simulator.load(scenario(tmp_path)), {"a": Received(), "b": Received()}, list[str]()
    server = Impersonation(simulator.scenario, "desk", world_of, unbroken)
    async with simulator:
        worlds = {name: simulator.world(name) for name in received}
        async with client("a") as a, client("b") as b, anyio.create_task_group() as tasks:
            for name, one in (("a", a), ("b", b)):
                await one.list_tools()
                if mode == "auto":
                    tasks.start_soon(listen, name, one)
            while mode == "auto" and len(listening) < 2:
                await anyio.lowlevel.checkpoint()
            await a.call_tool("update_ticket", {"ticket_id": "T-1", "title": "Out"})
            await settled()
            tasks.cancel_scope.cancel()
    heard = {name: "notifications/tools/list_changed" in one.methods for name, one in received.items()}
    assert heard == {"a": True, "b": False}


async def test_a_client_that_does_not_read_notifications_delays_no_other(tmp_path: Path) -> None:
    class Unread:
        """The way to a client that reads nothing."""

        def __init__(self) -> None:
            self.tries = 0

        async def notify(self, *_: Any) -> None:
            self.tries += 1
            await anyio.sleep_forever()

    async with Simulator.load(scenario(tmp_path)).open() as world:
        subscribers, unread = Subscribers(lambda _world, _uri: None), Unread()
        deaf: Any = SimpleNamespace(session=SimpleNamespace(_connection=Connection.for_loop(cast("Outbound", unread))))
        subscribers.peer(deaf, world)
        for _ in range(20):
            await subscribers.publish(world, ToolsListChanged())
        assert unread.tries == 1
        subscribers.peer(deaf, world)  # which is there again
        await subscribers.publish(world, ToolsListChanged())
        assert unread.tries == 2


@eras
async def test_lists_come_whole_unless_pages_are_asked_for(tmp_path: Path, mode: str) -> None:
    async with (
        Simulator.load(scenario(tmp_path, "page_size: 2\n")).open() as world,
        connected(world, mode=mode) as client,
    ):
        names, cursor = list[str](), None
        for size in (2, 2, 1):
            listed = await client.list_tools(cursor=cursor)
            assert len(listed.tools) == size
            names += [tool.name for tool in listed.tools]
            cursor = listed.next_cursor
        assert cursor is None
        assert names == list(world.scenario.servers["desk"].tools)
        assert [one.name for one in (await client.list_resources(cursor="2")).resources] == ["tickets"]
        for wrong in ("1", "0", "-2", "x", "99"):
            with pytest.raises(MCPError, match="cursor"):
                await client.list_tools(cursor=wrong)


@eras
async def test_all_of_it_goes_over_stdio(tmp_path: Path, mode: str) -> None:
    received, agrees = Received(), User(why="done")
    with (tmp_path / "log").open("w", encoding="utf-8") as log:
        options: dict[str, Any] = {"mode": mode, "errlog": log, "elicitation_callback": agrees}
        async with spawned(str(scenario(tmp_path)), "--clock", "virtual", **options) as client:
            change = {"ticket_id": "T-1", "title": "Out"}
            await client.call_tool("update_ticket", change, progress_callback=received.progressed)
            assert [progress for progress, _, _ in received.progress] == [1, 2]
            (card,) = (await client.read_resource("desk://card/T-1")).contents
            assert wire(card)["text"] == "Ticket T-1: Out"
            assert not (await client.call_tool("delete_ticket", {"ticket_id": "T-1"})).is_error
            assert len((await client.list_prompts()).prompts) == 2
