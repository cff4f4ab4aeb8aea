"""What a server offers beside plain results, written in a tool spec and seen by clients of both protocol eras."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast

import anyio
import jsonschema
import pytest
from mcp import Client
from mcp.server.connection import Connection
from mcp.server.subscriptions import ToolsListChanged
from mcp.shared.dispatcher import Outbound
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CallToolResult,
    CreateMessageResult,
    ElicitResult,
    EmptyResult,
    Implementation,
    ListRootsResult,
    LoggingLevel,
    PromptReference,
    ResourceTemplateReference,
    Root,
    SetLevelRequest,
    SetLevelRequestParams,
    SubscribeRequest,
    SubscribeRequestParams,
    TextContent,
)
from test_stdio import MODERN_META, serving

from mcp_sim import Simulator, documents, yaml12
from mcp_sim.documents.editor_schema import tool_spec_schema
from mcp_sim.server.audience import METHODS, Audience
from mcp_sim.server.impersonation import Impersonation
from mcp_sim.server.wire import Context
from mcp_sim.surface import expanded, filled, matched
from mcp_sim.testing import connected, spawned
from mcp_sim.types import BrokenDelivery
from mcp_sim.world import World

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="

SPEC = f"""\
mcp_sim: 1
name: desk
version: 3.1.0
title: The help desk
description: A help desk
instructions: Be kind.
website: https://desk.example
icons: [{{src: "https://desk.example/icon.svg", mimeType: image/svg+xml, sizes: [any]}}]
tools:
  - name: get_ticket
    description: Return one ticket.
    inputSchema: {{type: object, properties: {{ticket_id: {{type: string}}}}, required: [ticket_id]}}
  - name: update_ticket
    description: Change a ticket.
    inputSchema:
      type: object
      properties: {{ticket_id: {{type: string}}, title: {{type: string}}}}
      required: [ticket_id]
    outputSchema:
      type: object
      properties: {{id: {{type: string}}, title: {{type: string}}}}
      required: [id, title]
  - name: delete_ticket
    description: Delete a ticket.
    inputSchema: {{type: object, properties: {{ticket_id: {{type: string}}}}, required: [ticket_id]}}
  - name: draw_chart
    description: Draw a chart of the tickets.
    inputSchema: {{type: object}}
  - name: summarize_inbox
    description: Summarize the inbox.
    inputSchema: {{type: object, properties: {{style: {{type: string}}}}}}
entities:
  ticket: {{key_like: T-1, fields: {{title: {{type: string}}}}}}
sim:
  get_ticket:
    verb: get
    entity: ticket
    key: ticket_id
    blocks:
      - "{{title}} ({{id}})"
      - {{type: resource_link, uri: "desk://ticket/{{id}}", name: "{{title}}"}}
  update_ticket:
    verb: update
    entity: ticket
    key: ticket_id
    notify:
      - {{progress: 1, total: 2, message: "changing {{ticket_id}}"}}
      - {{log: started, level: debug}}
      - {{log: {{ticket: "{{id}}"}}, level: warning, logger: desk, after: 1h}}
      - {{progress: 2, total: 2}}
      - {{changed: tools}}
  delete_ticket:
    verb: delete
    entity: ticket
    key: ticket_id
    ask:
      sure:
        message: "Delete {{ticket_id}}?"
        schema: {{type: object, properties: {{why: {{type: string}}}}, required: [why]}}
  summarize_inbox:
    ask:
      - taste: {{message: How?, schema: {{type: object, properties: {{style: {{type: string}}}}}}}}
      - summary: {{sample: "Summarize as a {{taste.content.style}}."}}
        places: {{roots: true, optional: true}}
examples:
  - tool: draw_chart
    blocks: [{{type: image, data: {PIXEL}, mimeType: image/png, annotations: {{audience: [user]}}}}]
stubs:
  - {{tool: get_ticket, arguments: {{ticket_id: T-0}}, blocks: ["Canned, for {{ticket_id}}"]}}
  - {{tool: summarize_inbox, blocks: ["{{summary.content.text}} / {{style}} / {{places.roots}}"]}}
resources:
  - {{uri: "desk://rules", name: rules, title: House rules, mimeType: text/markdown, text: "# Rules", _meta: {{a: 1}}}}
  - {{uri: "desk://logo", name: logo, mimeType: image/png, blob: {PIXEL}}}
  - {{uri: "desk://tickets", name: tickets, records: ticket}}
  - {{uriTemplate: "desk://ticket/{{id}}", name: ticket, record: ticket}}
  - uriTemplate: desk://card/{{id}}
    name: card
    mimeType: text/plain
    record: ticket
    text: "Ticket {{id}}: {{title}}"
prompts:
  - name: answer
    title: Answer a ticket
    description: Writes an answer.
    arguments:
      - {{name: ticket, description: Which, required: true, complete: {{entity: ticket}}}}
      - {{name: tone, complete: [calm, cheerful, cold]}}
    messages:
      - "Answer {{ticket}} in a {{tone}} tone."
      - {{role: assistant, content: {{type: audio, data: "UklGRg==", mimeType: audio/wav}}}}
      - {{type: resource, resource: {{uri: "desk://ticket/{{ticket}}", mimeType: application/json, text: "{{}}"}}}}
  - name: confirm
    ask: {{who: {{message: Who are you?, schema: {{type: object, properties: {{name: {{type: string}}}}}}}}}}
    messages: ["I am {{who.content.name}}."]
"""

SCENARIO = """\
mcp_sim: 1
tools: desk.yaml
world:
  records: {ticket: {count: 3, rows: [{id: T-1, title: Printer on fire}, {id: T-2, title: Prints nothing}]}}
"""

eras = pytest.mark.parametrize("mode", ["auto", "legacy"])

Desk = Callable[[], AbstractAsyncContextManager[World]]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A world of the help desk."""
    return lambda: Simulator.load(scenario(tmp_path)).open()


def scenario(folder: Path, ending: str = "") -> Path:
    (folder / "desk.yaml").write_text(SPEC + ending, encoding="utf-8")
    path = folder / "scenario.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


def wire(body: Any) -> Any:
    """A model as it goes over the wire, without what only marks an era."""
    dumped = body.model_dump(by_alias=True, mode="json", exclude_none=True)
    return {key: value for key, value in dumped.items() if key not in ("resultType", "ttlMs", "cacheScope")}


# the server -----------------------------------------------------------------------------------------------------------


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
async def test_what_changes_in_one_world_is_not_told_in_another(tmp_path: Path, mode: str) -> None:
    async def world_of(ctx: Context) -> World:
        return worlds[client_name(ctx)]

    async def unbroken(_ctx: Context, _broken: BrokenDelivery) -> None:
        return

    async def listen(name: str, client: Client) -> None:
        async with client.listen(tools_list_changed=True) as stream:
            listening.append(name)
            async for event in stream:
                told[name].methods.append(METHODS[type(event)])

    def client(name: str) -> Client:
        info = Implementation(name=name, version="1")
        return Client(server, mode=mode, client_info=info, message_handler=told[name].message)

    simulator, told, listening = Simulator.load(scenario(tmp_path)), {"a": Told(), "b": Told()}, list[str]()
    server = Impersonation(simulator.scenario, "desk", world_of, unbroken)
    async with simulator:
        worlds = {name: simulator.world(name) for name in told}
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
    heard = {name: "notifications/tools/list_changed" in one.methods for name, one in told.items()}
    assert heard == {"a": True, "b": False}


async def test_a_client_that_leaves_its_news_unread_holds_nobody_up(tmp_path: Path) -> None:
    class Unread:
        """The way to a client that reads nothing."""

        def __init__(self) -> None:
            self.tries = 0

        async def notify(self, *_: Any) -> None:
            self.tries += 1
            await anyio.sleep_forever()

    async with Simulator.load(scenario(tmp_path)).open() as world:
        audience, unread = Audience(lambda _world, _uri: None), Unread()
        deaf: Any = SimpleNamespace(session=SimpleNamespace(_connection=Connection.for_loop(cast("Outbound", unread))))
        audience.peer(deaf, world)
        for _ in range(20):
            await audience.tell(world, ToolsListChanged())
        assert unread.tries == 1
        audience.peer(deaf, world)  # which is there again
        await audience.tell(world, ToolsListChanged())
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


# results --------------------------------------------------------------------------------------------------------------


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


# notifications --------------------------------------------------------------------------------------------------------


class Told:
    """What a client is told beside its answers."""

    def __init__(self) -> None:
        self.logs = list[tuple[str, str | None, Any]]()
        self.progress = list[tuple[float, float | None, str | None]]()
        self.methods = list[str]()

    async def log(self, params: Any) -> None:
        self.logs.append((params.level, params.logger, params.data))

    async def progressed(self, progress: float, total: float | None, message: str | None) -> None:
        self.progress.append((progress, total, message))

    async def message(self, message: Any) -> None:
        self.methods.append(getattr(message, "method", type(message).__name__))


@eras
async def test_a_call_tells_how_far_it_is_and_what_it_logs(desk: Desk, mode: str) -> None:
    told = Told()
    options: dict[str, Any] = {"logging_callback": told.log, "log_level": "debug" if mode == "auto" else None}
    async with desk() as world, connected(world, mode=mode, **options) as client:
        change = {"ticket_id": "T-1", "title": "Fire is out"}
        before = world.clock.elapsed()
        result = await client.call_tool("update_ticket", change, progress_callback=told.progressed)
        assert result.structured_content == {"id": "T-1", "title": "Fire is out"}
        await settled()
        assert told.progress == [(1, 2, "changing T-1"), (2, 2, None)]
        assert told.logs == [("debug", None, "started"), ("warning", "desk", {"ticket": "T-1"})]
        assert (world.clock.elapsed() - before).total_seconds() == 3601
        served = world.ledger.newest["step"]["truth"]["observation"]
        assert [notice.get("at_ms", 0) for notice in served["notifications"]] == [0, 0, 3.6e6, 3.6e6, 3.6e6]


async def test_without_sessions_nothing_is_logged_that_the_request_does_not_ask_for(desk: Desk) -> None:
    told = Told()
    async with desk() as world, connected(world, logging_callback=told.log, log_level="warning") as client:
        await client.call_tool("update_ticket", {"ticket_id": "T-1", "title": "A"})
        await settled()
        assert [level for level, _, _ in told.logs] == ["warning"]


async def test_with_a_handshake_the_client_sets_the_level_of_the_log(desk: Desk) -> None:
    told = Told()
    async with desk() as world, connected(world, mode="legacy", logging_callback=told.log) as client:
        await client.session.send_request(set_level("error"), EmptyResult)
        await client.call_tool("update_ticket", {"ticket_id": "T-1", "title": "A"})
        await client.session.send_request(set_level("info"), EmptyResult)
        await client.call_tool("update_ticket", {"ticket_id": "T-1", "title": "B"})
        await settled()
        assert [level for level, _, _ in told.logs] == ["warning"]


async def test_a_call_that_fails_tells_nothing(desk: Desk) -> None:
    told = Told()
    async with desk() as world, connected(world, logging_callback=told.log, log_level="debug") as client:
        result = await client.call_tool("update_ticket", {"ticket_id": "T-99", "title": "A"})
        assert result.is_error
        await settled()
        assert told.logs == []
        assert "notifications" not in world.ledger.newest["step"]["truth"]["observation"]


async def test_with_a_handshake_changes_are_told_to_connections_of_that_world(desk: Desk) -> None:
    told = Told()
    async with desk() as world, connected(world, mode="legacy", message_handler=told.message) as client:
        await client.session.send_request(subscription("desk://ticket/T-1"), EmptyResult)
        await client.session.send_request(subscription("desk://card/T-2"), EmptyResult)
        await client.call_tool("get_ticket", {"ticket_id": "T-1"})
        await settled()
        assert told.methods == []
        await client.call_tool("update_ticket", {"ticket_id": "T-1", "title": "Fire is out"})
        await settled()
        wanted = {"notifications/tools/list_changed", "notifications/resources/updated"}
        assert {method for method in told.methods if method in wanted} == wanted
        assert told.methods.count("notifications/resources/updated") == 1


async def test_without_sessions_changes_are_told_to_streams_of_that_world(desk: Desk) -> None:
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


# questions ------------------------------------------------------------------------------------------------------------


class User:
    """A client's user who answers everything so."""

    def __init__(self, action: Literal["accept", "decline", "cancel"] = "accept", **content: Any) -> None:
        self.asked = list[str]()
        self._answer = ElicitResult(action=action, content=content or None)

    async def __call__(self, _ctx: Any, params: Any) -> ElicitResult:
        self.asked.append(params.message)
        return self._answer


@eras
async def test_the_user_is_asked_and_the_answer_stands_in_the_ledger(desk: Desk, mode: str) -> None:
    agrees = User(why="done")
    async with desk() as world, connected(world, mode=mode, elicitation_callback=agrees) as client:
        result = await client.call_tool("delete_ticket", {"ticket_id": "T-1"})
        assert not result.is_error
        assert agrees.asked == ["Delete T-1?"]
        assert world.view.get("ticket", "T-1") is None
        steps = world.ledger.steps
        assert [step["entry"] for step in steps] == ["reset", "call"]
        assert steps[1]["answers"]["sure"]["action"] == "accept"
        assert steps[1]["answers"]["sure"]["content"] == {"why": "done"}


@eras
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_what_the_user_does_not_want_is_not_done(desk: Desk, mode: str, action: Any) -> None:
    async with desk() as world, connected(world, mode=mode, elicitation_callback=User(action)) as client:
        result = await client.call_tool("delete_ticket", {"ticket_id": "T-1"})
        assert (result.is_error, text(result)) == (True, "Declined by the user")
        assert world.view.get("ticket", "T-1") is not None
        assert world.ledger.newest["step"]["answers"]["sure"]["action"] == action


@eras
async def test_a_client_that_cannot_ask_is_refused_with_what_it_lacks(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("delete_ticket", {"ticket_id": "T-1"})
        assert (raised.value.code, raised.value.data) == (-32021, {"requiredCapabilities": {"elicitation": {}}})
        assert world.view.get("ticket", "T-1") is not None
        assert world.ledger.newest["step"]["served"] is None


@eras
async def test_nobody_is_asked_about_a_call_that_is_invalid(desk: Desk, mode: str) -> None:
    agrees = User(why="done")
    async with desk() as world, connected(world, mode=mode, elicitation_callback=agrees) as client:
        assert (await client.call_tool("delete_ticket", {"ticket_id": 1})).is_error
        assert agrees.asked == []


@eras
async def test_an_answer_that_does_not_fit_the_form_is_an_error(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode, elicitation_callback=User(why=5)) as client:
        with pytest.raises(MCPError) as raised:
            await client.call_tool("delete_ticket", {"ticket_id": "T-1"})
        assert raised.value.code == -32602
        assert len(world.ledger.steps) == 1


@eras
@pytest.mark.parametrize("has_roots", [True, False])
async def test_questions_come_in_rounds_to_user_model_and_roots(desk: Desk, mode: str, has_roots: bool) -> None:
    prompts = list[str]()

    async def model(_ctx: Any, params: Any) -> CreateMessageResult:
        prompts.append(params.messages[0].content.text)
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="All quiet"), model="m")

    async def roots(_ctx: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri="file:///home")])  # pyright: ignore[reportArgumentType] (parsed)

    options: dict[str, Any] = {"sampling_callback": model, "elicitation_callback": User(style="haiku")}
    if has_roots:
        options["list_roots_callback"] = roots
    async with desk() as world, connected(world, mode=mode, **options) as client:
        said = text(await client.call_tool("summarize_inbox", {}))
        assert prompts == ["Summarize as a haiku."]
        shown = '[{"uri":"file:///home"}]' if has_roots else "{places.roots}"
        assert said == f"All quiet / haiku / {shown}"
        assert world.ledger.newest["step"]["arguments"] == {"style": "haiku"}


async def test_from_python_nobody_is_asked_and_answers_can_be_passed_on(desk: Desk) -> None:
    async with desk() as world:
        refused = await world.call("delete_ticket", {"ticket_id": "T-1"}, answers={"sure": {"action": "decline"}})
        assert not refused.ok
        assert (await world.call("delete_ticket", {"ticket_id": "T-1"}, answers={"sure": {}})).ok
        assert (await world.call("delete_ticket", {"ticket_id": "T-2"})).ok
        assert "answers" not in world.ledger.newest["step"]


def test_state_that_was_tampered_with_or_is_of_another_call_is_refused(tmp_path: Path) -> None:
    meta: dict[str, Any] = {
        **MODERN_META,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "sampling": {}},
    }
    with serving(str(scenario(tmp_path)), handshake=False) as raw:

        def call(number: int, tool: str, **more: Any) -> dict[str, Any]:
            raw.call(number, tool, {"ticket_id": "T-1"} if tool == "delete_ticket" else {}, _meta=meta, **more)
            return raw.answer()

        first = call(1, "summarize_inbox")["result"]
        assert first["resultType"] == "input_required"
        assert list(first["inputRequests"]) == ["taste"]
        taste = {"taste": {"action": "accept", "content": {"style": "haiku"}}}
        second = call(2, "summarize_inbox", inputResponses=taste, requestState=first["requestState"])["result"]
        assert list(second["inputRequests"]) == ["summary"]
        state = second["requestState"]
        summary = {"summary": {"role": "assistant", "content": {"type": "text", "text": "Quiet"}, "model": "m"}}
        for wrong in (state + "A", state[:-4], "x" + state[1:], "", state.swapcase()):
            assert call(3, "summarize_inbox", inputResponses=summary, requestState=wrong)["error"]["code"] == -32602
        sure = {"sure": {"action": "accept", "content": {"why": "x"}}}
        assert call(4, "delete_ticket", inputResponses=sure, requestState=state)["error"]["code"] == -32602
        done = call(5, "summarize_inbox", inputResponses=summary, requestState=state)["result"]
        assert done["content"] == [{"type": "text", "text": "Quiet / haiku / {places.roots}"}]


# resources ------------------------------------------------------------------------------------------------------------


@eras
async def test_resources_and_templates_are_listed_as_written(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        listed = (await client.list_resources()).resources
        assert [wire(one) for one in listed] == [
            {
                "uri": "desk://rules",
                "name": "rules",
                "title": "House rules",
                "mimeType": "text/markdown",
                "_meta": {"a": 1},
            },
            {"uri": "desk://logo", "name": "logo", "mimeType": "image/png"},
            {"uri": "desk://tickets", "name": "tickets", "mimeType": "application/json"},
        ]
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == ["desk://ticket/{id}", "desk://card/{id}"]


@eras
async def test_resources_show_texts_blobs_and_the_records_as_they_are_now(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:

        async def read(uri: str) -> dict[str, Any]:
            (contents,) = (await client.read_resource(uri)).contents
            return wire(contents)

        assert await read("desk://rules") == {
            "uri": "desk://rules",
            "mimeType": "text/markdown",
            "text": "# Rules",
            "_meta": {"a": 1},
        }
        assert (await read("desk://logo"))["blob"] == PIXEL
        assert (await read("desk://card/T-2"))["text"] == "Ticket T-2: Prints nothing"
        await client.call_tool("update_ticket", {"ticket_id": "T-2", "title": "Prints"})
        shown = await read("desk://ticket/T-2")
        assert shown["mimeType"] == "application/json"
        assert json.loads(shown["text"]) == world.view.get("ticket", "T-2")
        assert json.loads((await read("desk://tickets"))["text"]) == [row for _, row in world.view.rows("ticket")]
        assert len(world.ledger.steps) == 2


@pytest.mark.parametrize(("mode", "code"), [("auto", -32602), ("legacy", -32002)])
@pytest.mark.parametrize("uri", ["desk://ticket/T-99", "desk://nothing", "desk://ticket/", "desk://ticket/T-1/more"])
async def test_what_is_no_resource_is_an_error_that_names_it(desk: Desk, mode: str, code: int, uri: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.read_resource(uri)
        assert (raised.value.code, raised.value.data) == (code, {"uri": uri})


# prompts and completion -----------------------------------------------------------------------------------------------


@eras
async def test_prompts_are_listed_and_filled_in(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        listed = (await client.list_prompts()).prompts
        assert wire(listed[0]) == {
            "name": "answer",
            "title": "Answer a ticket",
            "description": "Writes an answer.",
            "arguments": [{"name": "ticket", "description": "Which", "required": True}, {"name": "tone"}],
        }
        got = await client.get_prompt("answer", {"ticket": "T-1", "tone": "calm"})
        assert got.description == "Writes an answer."
        assert [wire(message) for message in got.messages] == [
            {"role": "user", "content": {"type": "text", "text": "Answer T-1 in a calm tone."}},
            {"role": "assistant", "content": {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}},
            {
                "role": "user",
                "content": {
                    "type": "resource",
                    "resource": {"uri": "desk://ticket/T-1", "mimeType": "application/json", "text": "{}"},
                },
            },
        ]


@eras
@pytest.mark.parametrize(("name", "arguments"), [("nothing", {}), ("answer", {"tone": "calm"})])
async def test_a_prompt_that_cannot_be_had_is_an_error(desk: Desk, mode: str, name: str, arguments: Any) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.get_prompt(name, arguments)
        assert raised.value.code == -32602


@eras
async def test_a_prompt_may_ask_first(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode, elicitation_callback=User(name="Ada")) as client:
        (message,) = (await client.get_prompt("confirm")).messages
        assert wire(message.content)["text"] == "I am Ada."
    async with desk() as world, connected(world, mode=mode, elicitation_callback=User("decline")) as client:
        with pytest.raises(MCPError, match="Declined"):
            await client.get_prompt("confirm")
    async with desk() as world, connected(world, mode=mode) as client:
        with pytest.raises(MCPError) as raised:
            await client.get_prompt("confirm")
        assert raised.value.code == -32021


@eras
async def test_values_are_completed_from_lists_and_from_records(desk: Desk, mode: str) -> None:
    async with desk() as world, connected(world, mode=mode) as client:
        answer, ticket = PromptReference(type="ref/prompt", name="answer"), "desk://ticket/{id}"

        async def values(ref: Any, argument: str, begun: str) -> list[str]:
            return (await client.complete(ref, {"name": argument, "value": begun})).completion.values

        assert await values(answer, "tone", "C") == ["calm", "cheerful", "cold"]
        assert await values(answer, "tone", "ca") == ["calm"]
        assert (await values(answer, "ticket", "t-"))[:2] == ["T-1", "T-2"]
        template = ResourceTemplateReference(type="ref/resource", uri=ticket)
        assert await values(template, "id", "T-2") == ["T-2"]
        assert await values(template, "other", "") == []
        with pytest.raises(MCPError):
            await values(PromptReference(type="ref/prompt", name="nothing"), "tone", "")


# over stdio -----------------------------------------------------------------------------------------------------------


@eras
async def test_all_of_it_goes_over_stdio(tmp_path: Path, mode: str) -> None:
    told, agrees = Told(), User(why="done")
    with (tmp_path / "log").open("w", encoding="utf-8") as log:
        options: dict[str, Any] = {"mode": mode, "errlog": log, "elicitation_callback": agrees}
        async with spawned(str(scenario(tmp_path)), "--clock", "virtual", **options) as client:
            change = {"ticket_id": "T-1", "title": "Out"}
            await client.call_tool("update_ticket", change, progress_callback=told.progressed)
            assert [progress for progress, _, _ in told.progress] == [1, 2]
            (card,) = (await client.read_resource("desk://card/T-1")).contents
            assert wire(card)["text"] == "Ticket T-1: Out"
            assert not (await client.call_tool("delete_ticket", {"ticket_id": "T-1"})).is_error
            assert len((await client.list_prompts()).prompts) == 2


def test_a_request_for_answers_is_no_step_until_they_come(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    meta: dict[str, Any] = {**MODERN_META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    with serving(str(scenario(tmp_path)), "--trace", str(trace), handshake=False) as raw:
        raw.call(1, "delete_ticket", {"ticket_id": "T-1"}, _meta=meta)
        assert raw.answer()["result"]["resultType"] == "input_required"
        raw.leave()
    assert [json.loads(line).get("step", {}).get("entry") for line in trace.read_text().splitlines()] == [None, "reset"]


# documents ------------------------------------------------------------------------------------------------------------

WRONG = {
    "resources: [{name: a, text: x}]": "resources[0]: write exactly one of uri, uriTemplate",
    'resources: [{uri: "a:b", name: a}]': "resources[0]: write exactly one of text, blob, record, records",
    'resources: [{uri: "a:b", name: a, record: ticket}]': "resources[0]: record needs a uriTemplate",
    'resources: [{uriTemplate: "a:{id}", name: a, record: tickt}]': "resources[0].record: unknown entity 'tickt'",
    'resources: [{uriTemplate: "a:b", name: a, record: ticket}]': "resources[0].uriTemplate: has no variable",
    'resources: [{uriTemplate: "a:{?q}", name: a, text: x}]': "resources[0].uriTemplate: variables are written {name}",
    'resources: [{uriTemplate: "a:{b}{b}", name: a, text: x}]': "resources[0].uriTemplate: a variable stands twice",
    'resources: [{uri: "a:b", name: a, text: x}, {uri: "a:b", name: c, text: x}]': "resources[1].uri: a second 'a:b'",
    'resources: [{uri: "a:b", name: a, blob: "%%%"}]': "resources[0].blob: must be base64",
    "prompts: [{name: p, messages: []}]": "prompts[0].messages",
    "prompts: [{name: p, messages: ['{x}']}]": "warning: prompts[0].messages: {x} is neither",
    "prompts: [{name: p, messages: [{type: video}]}]": "prompts[0].messages[0]",
    "prompts: [{name: p, messages: [a]}, {name: p, messages: [b]}]": "prompts[1].name: a second 'p'",
    "sim: {get_ticket: {ask: {a: {message: Hm}}}}": "sim.get_ticket.ask.a: write exactly one of schema, url",
    "sim: {get_ticket: {ask: {a: {sample: {messages: []}}}}}": "sim.get_ticket.ask.a: the params",
    "sim: {get_ticket: {ask: [{a: {roots: true}}, {a: {roots: true}}]}}": "sim.get_ticket.ask[1].a: a second question",
    "sim: {get_ticket: {ask: {a: {message: Hm, schema: {type: string}}}}}": "sim.get_ticket.ask.a.schema: must be of",
    "sim: {get_ticket: {notify: [{changed: prompts}]}}": "sim.get_ticket.notify[0].changed: the server has no prompts",
    "sim: {get_ticket: {notify: [{progress: 1, log: a}]}}": "sim.get_ticket.notify[0]: write exactly one of",
    "sim: {get_ticket: {notify: [{log: a, total: 1}]}}": "sim.get_ticket.notify[0]: total belongs to progress",
    "sim: {list_tickets: {blocks: [a]}}": "sim.list_tickets.blocks: list_tickets has an outputSchema",
    "stubs: [{tool: list_tickets, blocks: [a]}]": "stubs[0].blocks: list_tickets has an outputSchema",
    "examples: [{tool: get_ticket}]": "examples[0]: write exactly one of result, blocks",
    "icons: [{sizes: [1x1]}]": "icons[0].src: is missing",
    "page_size: 0": "page_size: must be at least 1",
}

SMALL = """\
mcp_sim: 1
tools:
  - {name: get_ticket, inputSchema: {type: object, properties: {ticket_id: {type: string}}, required: [ticket_id]}}
  - name: list_tickets
    inputSchema: {type: object}
    outputSchema:
      type: object
      properties: {tickets: {type: array, items: {type: object, properties: {id: {type: string}}}}}
"""


@pytest.mark.parametrize("line", WRONG)
def test_what_cannot_be_served_so_is_told_with_its_place(tmp_path: Path, line: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"{SMALL}{line}\n", encoding="utf-8")
    told = [str(problem).removeprefix(f"{path}:9: ") for problem in documents.check([path])]
    assert [problem for problem in told if problem.startswith(WRONG[line])], told


def test_the_spec_of_the_desk_has_no_problem_and_fits_the_editor_schema(tmp_path: Path) -> None:
    path = scenario(tmp_path)
    assert [problem for problem in documents.check([path]) if problem.severity == "error"] == []
    validator: Any = jsonschema.Draft202012Validator(tool_spec_schema())
    validator.validate(yaml12.load(SPEC.encode(), "desk.yaml").value)


def test_namespaces_keep_the_records_of_resources_apart(tmp_path: Path) -> None:
    scenario(tmp_path)
    path = tmp_path / "two.yaml"
    records = "{a.ticket: {count: 1, rows: [{id: T-1, title: A}]}, b.ticket: {count: 1, rows: [{id: T-1, title: B}]}}"
    path.write_text(
        f"mcp_sim: 1\ntools: {{a: desk.yaml, b: desk.yaml}}\nworld: {{namespaces: true, records: {records}}}\n",
        encoding="utf-8",
    )
    loaded = documents.load(path)
    for server in ("a", "b"):
        shown = {one.entity for one in loaded.servers[server].resources if one.entity is not None}
        assert shown == {f"{server}.ticket"}
    assert set(loaded.manners) >= {"a/delete_ticket", "b/delete_ticket"}


@pytest.mark.parametrize(
    ("template", "uri", "values"),
    [
        ("crm://contact/{id}", "crm://contact/a%20b", {"id": "a b"}),
        ("crm://{+path}", "crm://a/b/c", {"path": "a/b/c"}),
        ("crm://{a}/x/{b}", "crm://1/x/2", {"a": "1", "b": "2"}),
        ("crm://c.d/{id}", "crm://cxd/1", None),
        ("crm://contact/{id}", "crm://contact/a/b", None),
        ("crm://contact/{id}", "crm://contact/", None),
    ],
)
def test_a_uri_matches_a_template(template: str, uri: str, values: dict[str, str] | None) -> None:
    assert matched(template, uri) == values
    if values is not None:
        assert expanded(template, values) == uri


def test_slots_reach_into_values_and_unknown_ones_stay() -> None:
    slots = {"a": {"b": [1, {"c": 2}]}, "s": "x"}
    assert filled('{s}-{a.b}-{a.c}-{t}-{}-{"s":"{s}"}', slots) == 'x-[1,{"c":2}]-{a.c}-{t}-{}-{"s":"x"}'
    assert filled({"n": 1, "l": ["{s}"]}, slots) == {"n": 1, "l": ["x"]}


# in general -----------------------------------------------------------------------------------------------------------


async def settled() -> None:
    """Let everything that is under way arrive."""
    for _ in range(50):
        await anyio.lowlevel.checkpoint()


def set_level(level: LoggingLevel) -> SetLevelRequest:
    return SetLevelRequest(params=SetLevelRequestParams(level=level))


def subscription(uri: str) -> SubscribeRequest:
    return SubscribeRequest(params=SubscribeRequestParams(uri=uri))
